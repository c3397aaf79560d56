"""Which differences between the stored environment and today's are worth a word, and how they are written."""

from __future__ import annotations

from collections.abc import Container

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.measurement import Environment

__all__ = ["changed", "every_difference", "recorded_with"]

_VERSIONS = frozenset({"jax", "jaxlib", "platform_version"})
_NAMES = {"xla_flags": "XLA_FLAGS", "libtpu_init_args": "LIBTPU_INIT_ARGS"}


def changed(entry: Entry, today: Environment) -> str:
    """What may have changed the compiled program: ``"XLA_FLAGS none -> --xla_…"``; empty where nothing has.

    Python's version changes no program and is left out. Versions are left out too where the entry has host counts of
    today's Python and jax but was recorded with another jax: such a file serves a matrix of versions, and an update
    leaves the entry as it is.
    """
    matrix = today.host_key in entry.host and entry.environment.jax != today.jax
    return _written(entry, today, _VERSIONS | {"python"} if matrix else {"python"})


def every_difference(entry: Entry, today: Environment) -> str:
    """All that differs, Python's version too."""
    return _written(entry, today, ())


def recorded_with(entry: Entry, today: Environment) -> str:
    """Which Python and jax the counts of an entry are from: ``"jax 0.10.1"``, ``"Python 3.12 and jax 0.10.2"``.

    Python is named only where no counts are of today's; empty where the entry has no counts at all.
    """
    pairs = [key.partition("/")[::2] for key in entry.host]
    same_python = [f"jax {jax}" for python, jax in pairs if python == today.python]
    return " or ".join(sorted(same_python or [f"Python {python} and jax {jax}" for python, jax in pairs]))


def _written(entry: Entry, today: Environment, left_out: Container[str]) -> str:
    return ", ".join(
        f"{_NAMES.get(key, key)} {old or 'none'} -> {new or 'none'}"
        for key, old, new in entry.environment.differences(today)
        if key not in left_out
    )
