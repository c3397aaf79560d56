"""How old a stored program is: by how many months its jax is older than the one that runs.

JAX promises to read what it exported for six months. After that newer versions refuse it, and older ones may fail in
any way. So a program is exported anew while it can still be read, and one that nobody has exported anew is spoken of.
"""

from __future__ import annotations

import re

from pytest_jitperf.baseline.model import Entry

__all__ = ["PROMISED_MONTHS", "exported_by", "grown_old", "months_apart", "spoken_of"]

PROMISED_MONTHS = 6
"""For so long after the release of the jax that exported a program, newer ones read it."""
_RENEWED_AFTER, _SPOKEN_OF_FROM = 3, 5

# Since 0.7 a minor version has come out every three months (0.8 in October 2025, 0.9 in January 2026, ...), and patches
# of it in the months between.
_MONTHS_OF_A_MINOR, _MOST_PATCHES = 3, 2
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def months_apart(old: str, new: str) -> int | None:
    """By about how many months a version of jax is older than another.

    Args:
        old: The version that exported, ``"0.8.2"``.
        new: The version that runs.

    Returns:
        0 or less where it is not older; None where the versions do not tell.
    """
    parts = [_VERSION.match(each) for each in (old, new)]
    majors = {each[1] for each in parts if each is not None}
    if None in parts or len(majors) != 1:
        return None
    before, now = (
        int(each[2]) * _MONTHS_OF_A_MINOR + min(int(each[3] or 0), _MOST_PATCHES) for each in parts if each is not None
    )
    return now - before


def exported_by(entry: Entry) -> str:
    """The jax that exported the programs of an entry; empty where none is stored."""
    every = [*entry.helpers.values(), *([entry.program] if entry.program is not None else [])]
    return entry.environment.jax if any(each.artifact is not None for each in every) else ""


def grown_old(entry: Entry, jax: str) -> bool:
    """Whether an update has to export the programs of an entry anew, though nothing else says so.

    Args:
        entry: Of the baseline.
        jax: The version that runs.
    """
    exported = exported_by(entry)
    months = months_apart(exported, jax)
    # Of another major version nobody knows for how long it will be read.
    return bool(exported) and (months is None or months > _RENEWED_AFTER)


def spoken_of(entry: Entry, jax: str) -> str:
    """The jax that exported the programs of an entry, where these soon can no longer be read; else nothing.

    Args:
        entry: Of the baseline.
        jax: The version that runs.
    """
    exported = exported_by(entry)
    months = months_apart(exported, jax)
    return exported if months is not None and months >= _SPOKEN_OF_FROM else ""
