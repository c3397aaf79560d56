"""Which differences between the stored environment and today's are worth a word, and how they are written."""

from __future__ import annotations

from collections.abc import Container

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.measurement import Environment

__all__ = ["changed", "compiler_changes", "python_differs", "recorded_with", "same_machine", "surroundings"]

_VERSIONS = frozenset({"jax", "jaxlib", "platform_version"})
# What the program before XLA comes of; a stored one has the settings of its day in it.
_OF_TRACING = frozenset(
    {
        "x64",
        "jax_default_matmul_precision",
        "jax_default_prng_impl",
        "jax_numpy_dtype_promotion",
        "jax_threefry_partitionable",
    }
)
# What makes the Python code of JAX do other work for the same program.
_OF_PYTHON = frozenset({"jax_enable_checks", "jax_debug_nans", "jax_debug_infs"})
_NAMES = {"python": "Python", "xla_flags": "XLA_FLAGS", "libtpu_init_args": "LIBTPU_INIT_ARGS"}


def changed(entry: Entry, today: Environment) -> str:
    """What may have changed the compiled program: ``"XLA_FLAGS none -> --xla_…"``; empty where nothing has.

    Python's version changes no program and is left out. Versions are left out too where the entry has host counts of
    today's Python and jax but was recorded with another jax: such a file serves a matrix of versions, and an update
    leaves the entry as it is.
    """
    matrix = today.host_key in entry.host and entry.environment.jax != today.jax
    return _written(entry, today, _VERSIONS | {"python"} if matrix else {"python"})


def compiler_changes(entry: Entry, today: Environment) -> str:
    """What may make today's XLA compile a stored program to another one: ``"jaxlib 0.10.2 -> 0.12.0"``, flags.

    The version of jax is left out, for a stored program is lowered already, and so is what decides only how a function
    is traced.
    """
    return _written(entry, today, {"python", "jax"} | _OF_TRACING)


def python_differs(entry: Entry, today: Environment) -> bool:
    """Whether Python does more or less in the same code, since JAX looks through what it does on one side alone."""
    return any(key in _OF_PYTHON for key, _, _ in entry.environment.differences(today))


def surroundings(entry: Entry, today: Environment) -> str:
    """Everything but the code, in a sentence: what of it differs, or that nothing does."""
    parts = [_written(entry, today, ())] if entry.environment.differences(today) else []
    before, here = entry.environment.machine, today.machine
    if before != here:
        parts.append(f"machine {before or 'unknown'} -> {here or 'unknown'}")
    if parts:
        return f"besides the code: {', '.join(parts)}; the inputs are the baseline's"
    return "besides the code nothing differs: inputs, Python, jax, jaxlib, flags and machine are the baseline's"


def same_machine(entry: Entry, today: Environment) -> bool:
    """Whether stored times were taken on a machine like this one."""
    return bool(today.machine) and entry.environment.machine == today.machine


def recorded_with(entry: Entry, today: Environment) -> str:
    """Which Python and jax the counts of an entry are from: ``"jax 0.10.1"``, ``"Python 3.12 and jax 0.10.2"``.

    Python is named only where no counts are of today's; empty where the entry has no counts at all.
    """
    pairs = [key.partition("/")[::2] for key in entry.host]
    same_python = [f"jax {jax}" for python, jax in pairs if python == today.python]
    return " or ".join(sorted(same_python or [f"Python {python} and jax {jax}" for python, jax in pairs]))


def _written(entry: Entry, today: Environment, left_out: Container[str]) -> str:
    found = {
        _NAMES.get(key, key): f"{old or 'none'} -> {new or 'none'}"
        for key, old, new in entry.environment.differences(today)
        if key not in left_out
    }
    if "jax" in found and found["jax"] == found.get("jaxlib"):
        del found["jaxlib"]
        found = {"jax and jaxlib" if name == "jax" else name: change for name, change in found.items()}
    return ", ".join(f"{name} {change}" for name, change in found.items())
