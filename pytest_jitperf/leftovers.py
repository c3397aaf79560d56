"""What a baseline holds that nothing measures any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_jitperf.baseline.store import Baseline, Key, orphans
from pytest_jitperf.unstable import masked

__all__ = ["Leftovers", "Measured", "leftovers", "perhaps_renamed", "without_test_file"]

Measured = Mapping[tuple[str, str, str], Collection[str]]
"""Of tests whose bodies ran to their ends, by test, strategy and device kind: the names of their measurements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """Entries of one baseline.

    Attributes:
        gone: Those that belong to no test any more.
        replaced: Those of them whose test has come back under another id, since that changes from run to run.
        unmeasured: Those whose test is there and has no measurement of that name, such as a size of a sweep.
    """

    gone: tuple[Key, ...] = ()
    replaced: tuple[Key, ...] = ()
    unmeasured: tuple[Key, ...] = ()


def leftovers(
    baseline: Baseline,
    collected: Mapping[str, Collection[str]] | None,
    measured: Measured,
    stored: Collection[Key],
) -> Leftovers:
    """Finds them.

    Args:
        baseline: What the file holds.
        collected: Strategies by test, from a collection of the whole module; None where it was not collected whole.
        measured: What was measured in this run. An entry for a device that was not is not missed.
        stored: Keys of the entries that are about to be stored.
    """
    gone = () if collected is None else tuple(key for key in orphans(baseline, collected) if key not in stored)
    left = tuple(key for key in baseline.keys if key not in gone and _is_left(key, measured))
    come_back = set(map(_masked, stored))
    return Leftovers(gone=gone, replaced=tuple(key for key in gone if _masked(key) in come_back), unmeasured=left)


def without_test_file(baselines: Iterable[str]) -> frozenset[str]:
    """Baselines in the folders of these, and beside their test files, of which the test file is gone."""
    found = [file for folder in {Path(path).parent for path in baselines} for file in folder.glob("*.json")]
    return frozenset(str(file) for file in found if not (file.parent.parent / f"{file.stem}.py").exists())


def perhaps_renamed(
    path: Path, gone: Collection[Key], collected: Mapping[str, Mapping[str, Collection[str]]]
) -> Path | None:
    """Where a baseline may belong whose test file is gone: it was renamed, and its tests have no baseline there.

    Args:
        path: Of the baseline.
        gone: All of its entries.
        collected: Test files that were collected whole: path of the baseline to strategies by test.

    Returns:
        The one baseline beside it that is not there yet and would hold entries of all of these tests; None where there
        is none or several.
    """
    tests = {key.test for key in gone}
    beside = [
        Path(each) for each, found in collected.items() if Path(each).parent == path.parent and tests <= set(found)
    ]
    free = [each for each in beside if not each.exists()]
    return free[0] if tests and len(free) == 1 else None


def _is_left(key: Key, measured: Measured) -> bool:
    names = measured.get((key.test, key.strategy, key.device_kind))
    return names is not None and key.measurement not in names


def _masked(key: Key) -> tuple[str, ...]:
    return masked(key.test), *key.parts[1:]
