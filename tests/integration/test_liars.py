"""Changes that a naive gate misses, or takes for regressions, are judged rightly.

The changes stand in ``tests/quality/lies``, one file each, with what is right about it.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

QUALITY = Path(__file__).parents[1] / "quality"
LIARS = runpy.run_path(str(QUALITY / "liars.py"))
LIES = [LIARS["read"](path) for path in sorted((QUALITY / "lies").glob("*.py"))]


@pytest.fixture(scope="module")
def verdict_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], str]:
    """Plays a lie, together with those that can share its runs."""
    folders: dict[str, Path] = {}
    known: dict[str, str] = {}

    def verdict(lie: Any) -> str:
        if str(lie.always) not in folders:
            folders[str(lie.always)] = tmp_path_factory.mktemp("lies")
            LIARS["record"]([each for each in LIES if each.always == lie.always], folders[str(lie.always)])
        if lie.name not in known:
            alike = [each for each in LIES if (each.always, each.changed) == (lie.always, lie.changed)]
            found = LIARS["gate"](alike, folders[str(lie.always)])
            known.update({name: LIARS["verdict"](each) for name, each in found.items()})
        return known[lie.name]

    return verdict


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param(lie, id=lie.name, marks=[pytest.mark.xfail(reason=lie.missed)] if lie.missed else [])
        for lie in LIES
    ],
)
def test_a_lie_is_judged_rightly(verdict_of: Callable[[Any], str], lie: Any) -> None:
    said = verdict_of(lie)
    assert fnmatchcase(said, lie.right), said
