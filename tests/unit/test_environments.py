"""Which differences of the environment are worth a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.environments import changed, compiler_changes, same_machine, surroundings
from pytest_jitperf.measurement import Environment

Record = Callable[..., Entry]


@pytest.mark.parametrize(
    ("host", "changes", "said"),
    [
        ({"3.11/0.10.2": {}}, {}, ""),
        ({"3.11/0.10.2": {}}, {"python": "3.13", "machine": "another"}, ""),
        ({"3.11/0.10.2": {}}, {"jax": "0.11.0"}, "jax 0.10.2 -> 0.11.0"),
        ({"3.11/0.10.2": {}}, {"jax": "0.11.0", "jaxlib": "0.11.0"}, "jax and jaxlib 0.10.2 -> 0.11.0"),
        ({"3.11/0.10.2": {}}, {"jax": "0.11.0", "jaxlib": "0.11.1"}, "jax 0.10.2 -> 0.11.0, jaxlib 0.10.2 -> 0.11.1"),
        ({"3.11/0.10.2": {}, "3.11/0.11.0": {}}, {"jax": "0.11.0", "jaxlib": "0.11.0"}, ""),
        ({"3.11/0.10.2": {}}, {"jaxlib": "0.10.3"}, "jaxlib 0.10.2 -> 0.10.3"),
        (
            {"3.11/0.10.2": {}, "3.11/0.11.0": {}},
            {"jax": "0.11.0", "libtpu_init_args": "--a", "config": {"jax_foo": "1"}},
            "LIBTPU_INIT_ARGS none -> --a, jax_foo default -> 1",
        ),
    ],
    ids=[
        "none",
        "python and machine",
        "a new jax",
        "a new jax and its jaxlib",
        "different ones",
        "a matrix of versions",
        "jaxlib alone",
        "flags in a matrix",
    ],
)
def test_an_environment_has_changed_where_it_may_change_the_compiled_program(
    record: Record, environment: Environment, host: Any, changes: Any, said: str
) -> None:
    assert changed(record(host=host), replace(environment, **changes)) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"jax": "0.12.0", "jaxlib": "0.12.0"}, "jaxlib 0.10.2 -> 0.12.0"),
        ({"jax": "0.12.0", "python": "3.13", "machine": "another"}, ""),
        ({"xla_flags": "--xla_foo"}, "XLA_FLAGS none -> --xla_foo"),
        ({"config": {"jax_optimization_level": "o0"}}, "jax_optimization_level default -> o0"),
        ({"x64": True, "config": {"jax_default_matmul_precision": "highest"}}, ""),
    ],
)
def test_a_stored_program_is_compiled_otherwise_by_another_jaxlib_or_flags_and_not_by_another_jax(
    record: Record, environment: Environment, changes: Any, said: str
) -> None:
    # Also where the entry serves a matrix of versions: whatever it was recorded with is what made its numbers.
    entry = record(host={"3.11/0.10.2": {}, "3.11/0.12.0": {}})

    assert compiler_changes(entry, replace(environment, **changes)) == said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "besides the code nothing differs: inputs, Python, jax, jaxlib, flags and machine are the baseline's"),
        (
            {"python": "3.13", "jax": "0.12.0", "jaxlib": "0.12.0", "machine": "four cores"},
            "besides the code: jax and jaxlib 0.10.2 -> 0.12.0, Python 3.11 -> 3.13, machine two cores -> four cores; "
            "the inputs are the baseline's",
        ),
        ({"machine": ""}, "besides the code: machine two cores -> unknown; the inputs are the baseline's"),
    ],
)
def test_the_surroundings_are_all_that_is_not_the_code(
    record: Record, environment: Environment, changes: Any, said: str
) -> None:
    assert surroundings(record(), replace(environment, **changes)) == said


@pytest.mark.parametrize(("then", "now", "same"), [("a", "a", True), ("a", "b", False), ("", "", False)])
def test_a_machine_that_nobody_named_is_not_the_same(
    record: Record, environment: Environment, then: str, now: str, same: bool
) -> None:
    entry = record(environment=replace(environment, machine=then))

    assert same_machine(entry, replace(environment, machine=now)) is same
