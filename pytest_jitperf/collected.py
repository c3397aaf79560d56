"""Which test files a process collected whole: only of those can an entry be said to belong to no test any more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from pytest_jitperf.errors import BaselineError
from pytest_jitperf.markers import baseline_key
from pytest_jitperf.run import case_of

__all__ = ["whole_files"]


def whole_files(
    session: pytest.Session, path_of: Callable[[pytest.Item], Path], deselected: Collection[Path]
) -> dict[str, dict[str, list[str]]]:
    """Tests and strategies of the files that were collected whole.

    A file is not, where anything was deselected (``-k``, ``-m``, ``--lf``, ``--deselect``, ``--jitperf-strategies``, a
    plugin) or a node id was asked for, or where a marker in it cannot be expanded.

    Args:
        session: After collection.
        path_of: Path of an item's baseline file.
        deselected: Test files that something was left out of.

    Returns:
        Baseline path to test key to strategies; empty where the collection was partial.
    """
    config = session.config
    partial = any(config.getoption(name, None) for name in ("keyword", "markexpr", "deselect", "lf", "stepwise"))
    if partial or any("::" in argument for argument in config.args):
        return {}
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    broken: set[str] = set()
    for item in session.items:
        case = case_of(item)
        if case is None or not isinstance(item, pytest.Function) or item.path in deselected:
            continue
        try:
            path = str(path_of(item))
        except BaselineError:  # told at the set-up of the test
            continue
        if case.error:
            broken.add(path)
        found[path][baseline_key(item, case.id)].append(case.strategy)
    return {
        path: {test: sorted(set(names)) for test, names in tests.items()}
        for path, tests in found.items()
        if path not in broken
    }
