"""What has changed, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.environments import changed
from pytest_jitperf.judge.explain import explain
from pytest_jitperf.measurement import Comparison, Environment, Measurement, Program

Measure = Callable[..., Measurement]
Record = Callable[..., Entry]


def test_operations_come_first_then_memory_then_work_the_host_and_the_environment(
    measure: Measure, record: Record, environment: Environment
) -> None:
    measured = measure(
        exact={"temp_bytes": 8 * 2**20, "flops": 1250.0, "fusions": 2},
        host={**measure().host, "trace_calls": 12_000},
        environment=replace(environment, xla_flags="--xla_foo"),
    )
    comparison = Comparison(
        same=False,
        old_exact={"temp_bytes": 0, "flops": 1000.0, "fusions": 2},
        old_operations={"dot": 1, "add": 4, "copy": 9},
        new_operations={"dot": 2, "transpose": 2, "add": 3},
    )

    assert explain(measured, record(), comparison, {}) == (
        "the program changed: + 2 transpose, - 1 add, + 1 dot, temp memory 0 B -> 8 MiB, flops x1.25",
        "on the host: trace_calls 10,000 -> 12,000",
        "the environment changed: XLA_FLAGS none -> --xla_foo",
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"dot": 1}, {"dot": 1}, "the same operations, arranged otherwise"),
        ({}, {}, "nothing that is counted"),
        (
            {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1},
            {"z": 5},
            "+ 5 z, - 1 a, - 1 b, - 1 c, 2 more kinds of operation",
        ),
        ({"a": 1, "b": 1, "c": 1, "d": 1}, {"z": 5}, "+ 5 z, - 1 a, - 1 b, - 1 c, 1 more kind of operation"),
    ],
)
def test_a_change_of_operations_is_counted_by_kind(
    measure: Measure, record: Record, old: Mapping[str, int], new: Mapping[str, int], said: str
) -> None:
    comparison = Comparison(same=False, old_operations=old, new_operations=new)

    assert explain(measure(), record(), comparison, {}) == (f"the program changed: {said}",)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ({"peak_bytes": 1024}, {"peak_bytes": 2048}, "peak memory 1 KiB -> 2 KiB"),
        ({"peak_bytes": 1, "temp_bytes": 0}, {"peak_bytes": 9, "temp_bytes": 8}, "temp memory 0 B -> 8 B"),
        ({"constant_bytes": 0}, {"constant_bytes": 1024}, "captured constants 0 B -> 1 KiB"),
        ({"flops": 0.0, "hlo_ops": 3}, {"flops": 9.0, "hlo_ops": 5}, "operations 3 -> 5"),
        ({"bytes_accessed": 100}, {"bytes_accessed": 300, "fusions": 2}, "bytes accessed x3"),
        ({"flops": 1000.0}, {"flops": 1004.0}, "nothing that is counted"),
    ],
)
def test_stored_costs_serve_where_the_old_program_was_not_compiled(
    measure: Measure, record: Record, old: Any, new: Any, said: str
) -> None:
    comparison = Comparison(same=False, cannot="no program was stored")

    assert explain(measure(exact=new), record(exact=old), comparison, {}) == (f"the program changed: {said}",)


def test_each_helper_that_changed_is_named(measure: Measure, record: Record) -> None:
    helper = Program(fingerprint=None, inputs="", exact={"temp_bytes": 9})
    measured = measure(helpers={"lib.f(x: f32[8])": helper, "lib.g()": helper}, program=None)
    entry = record(helpers={"lib.f(x: f32[8])": StoredProgram(exact={"temp_bytes": 1})}, program=None)
    comparisons = {"lib.f(x: f32[8])": Comparison(same=False), "lib.g()": Comparison(same=True)}

    assert explain(measured, entry, None, comparisons) == ("helper lib.f: the program changed: temp memory 1 B -> 9 B",)


def test_the_same_program_is_said_to_be_so(measure: Measure, record: Record) -> None:
    assert explain(measure(), record(), Comparison(same=True), {}) == ("the program is the same",)


@pytest.mark.parametrize(
    ("host", "changes", "said"),
    [
        ({"3.11/0.10.2": {}}, {}, ""),
        ({"3.11/0.10.2": {}}, {"python": "3.13", "machine": "another"}, ""),
        ({"3.11/0.10.2": {}}, {"jax": "0.11.0"}, "jax 0.10.2 -> 0.11.0"),
        ({"3.11/0.10.2": {}, "3.11/0.11.0": {}}, {"jax": "0.11.0", "jaxlib": "0.11.0"}, ""),
        ({"3.11/0.10.2": {}}, {"jaxlib": "0.10.3"}, "jaxlib 0.10.2 -> 0.10.3"),
        (
            {"3.11/0.10.2": {}, "3.11/0.11.0": {}},
            {"jax": "0.11.0", "libtpu_init_args": "--a", "config": {"jax_foo": "1"}},
            "LIBTPU_INIT_ARGS none -> --a, jax_foo default -> 1",
        ),
    ],
    ids=["none", "python and machine", "a new jax", "a matrix of versions", "jaxlib alone", "flags in a matrix"],
)
def test_an_environment_has_changed_where_it_may_change_the_compiled_program(
    record: Record, environment: Environment, host: Any, changes: Any, said: str
) -> None:
    assert changed(record(host=host), replace(environment, **changes)) == said
