"""The baseline file of one test module: where it is, what it says. Reading never writes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_jitperf.baseline.atomic import real_path
from pytest_jitperf.baseline.codec import FieldError
from pytest_jitperf.baseline.document import empty, read_document
from pytest_jitperf.baseline.model import Entry, from_json
from pytest_jitperf.errors import BaselineError

__all__ = ["FOLDER", "Baseline", "Key", "Unusable", "baseline_path", "orphans", "read"]


FOLDER = "__jitperf__"
"""Folder beside the test files in which their baselines are."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Key:
    """Where an entry stands in its file.

    Attributes:
        test: ``"Class::test_step[64]"``: class and function with the user's own ids, never a whole node id.
        measurement: ``"main"`` unless the test named it.
        strategy: Name of the strategy.
        device_kind: As JAX names it.
    """

    test: str
    measurement: str = "main"
    strategy: str
    device_kind: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The keys of the nested objects, outermost first."""
        return self.test, self.measurement, self.strategy, self.device_kind

    def __str__(self) -> str:
        """``test_step / outer / cpu``, on one line whatever the ids hold."""
        shown = [part for place, part in enumerate(self.parts) if (place, part) != (1, "main")]
        text = " / ".join(shown)
        return text if text.isprintable() else text.encode("unicode_escape").decode()


@dataclass(frozen=True, slots=True)
class Unusable:
    """An entry that is there and wrong; ``reason`` names file, entry, key and cure. Nothing may pass because of it."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What one baseline file says.

    Attributes:
        path: As asked for, for messages.
        document: Content of the file; that of an empty one where there is none.
    """

    path: Path
    document: Mapping[str, Any]

    @property
    def directory(self) -> Path:
        """Where the file really lies, which is where its programs are: the argument of ``programs.load``."""
        return real_path(self.path).parent

    def entry(self, test: str, measurement: str, strategy: str, device_kind: str) -> Entry | Unusable | None:
        """The entry under a key, or what is wrong with it, or None where there is none."""
        key = Key(test=test, measurement=measurement, strategy=strategy, device_kind=device_kind)
        value: Any = self.document["tests"]
        for part in key.parts:
            if not isinstance(value, dict):
                return Unusable(self._wrong(key, f"what is there before {part!r} is not an object"))
            if part not in value:
                return None
            value = value[part]
        try:
            return from_json(value)
        except FieldError as error:
            return Unusable(self._wrong(key, str(error)))

    @property
    def keys(self) -> tuple[Key, ...]:
        """Keys of all entries, unusable ones too, sorted."""
        parts = _leaves(self.document["tests"], depth=4)
        return tuple(sorted(Key(test=a, measurement=b, strategy=c, device_kind=d) for a, b, c, d in parts))

    def _wrong(self, key: Key, seen: str) -> str:
        cure = "restore it from version control, or record it again with pytest --jitperf-update"
        return f"{self.path}, {key}: {seen}; {cure}"


def baseline_path(test_file: Path, baseline_dir: Path | None, rootdir: Path) -> Path:
    """Says where the baseline of a test module is.

    ``tests/test_step.py`` has ``tests/__jitperf__/test_step.json``; with a baseline directory ``ci/cpu`` it has
    ``ci/cpu/tests/test_step.json``.

    Args:
        test_file: The module, absolute.
        baseline_dir: Directory for all baselines, absolute or relative to ``rootdir``; None for the usual place.
        rootdir: pytest's root directory, absolute.

    Raises:
        BaselineError: With a baseline directory, the module lies outside ``rootdir`` and so has no place in it.
    """
    if baseline_dir is None:
        return test_file.parent / FOLDER / f"{test_file.stem}.json"
    try:
        relative = test_file.relative_to(rootdir)
    except ValueError as error:
        raise BaselineError(
            f"{test_file} lies outside the root directory {rootdir}, and the baseline directory {baseline_dir} mirrors "
            "only what is inside; give a --rootdir that holds both, or leave the baseline directory out"
        ) from error
    return rootdir / baseline_dir / relative.with_suffix(".json")


def read(path: Path) -> Baseline:
    """Reads a baseline file; one that is not there has no entries.

    Raises:
        BaselineError: It is damaged as a whole or cannot be read. What is wrong inside one entry makes that entry
            ``Unusable``.
    """
    return Baseline(path=path, document=read_document(path) or empty())


def orphans(baseline: Baseline, collected: Mapping[str, Collection[str]]) -> tuple[Key, ...]:
    """Entries whose test or strategy is no longer in a module.

    Args:
        baseline: Of the module.
        collected: Strategies by test, from a collection of the whole module.
    """
    return tuple(key for key in baseline.keys if key.strategy not in collected.get(key.test, ()))


def _leaves(value: object, depth: int) -> Iterator[tuple[str, ...]]:
    """Paths of ``depth`` keys; what is no object on the way has none."""
    if depth == 0:
        yield ()
    elif isinstance(value, dict):
        for key, inner in value.items():
            for rest in _leaves(inner, depth - 1):
                yield (key, *rest)
