"""Which differences between the stored environment and today's are worth a word."""

from __future__ import annotations

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.measurement import Environment

__all__ = ["changed"]

_VERSIONS = ("jax", "jaxlib", "platform_version")


def changed(entry: Entry, today: Environment) -> str:
    """What differs, as ``"XLA_FLAGS '' -> '--xla_…'"``; empty where the numbers are those of this environment.

    Python's version changes no program and is left out, and so are the versions of jax where the entry already has
    host counts recorded with them: such a file serves a matrix of versions.
    """
    known = today.host_key in entry.host
    words = []
    for key, old, new in entry.environment.differences(today):
        if key == "python" or (known and key in _VERSIONS):
            continue
        name = {"xla_flags": "XLA_FLAGS", "libtpu_init_args": "LIBTPU_INIT_ARGS"}.get(key, key)
        words.append(f"{name} {old or 'none'} -> {new or 'none'}")
    return ", ".join(words)
