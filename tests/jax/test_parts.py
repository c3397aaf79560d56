"""The arithmetic that every strategy shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.measurement import Constant, Program, Sample
from pytest_jitperf.probe.idle import Span
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.parts import Parts, donated_positions, equation_count, repeat_while_cheap, summary
from pytest_jitperf.probe.stages import ColdStages, Seconds


@pytest.mark.parametrize(
    ("values", "sample"),
    [
        ([3.0], Sample(median=3.0, low=3.0, high=3.0, rounds=1)),
        ([4.0, 2.0], Sample(median=3.0, low=2.5, high=3.5, rounds=2)),
        ([5.0, 1.0, 3.0, 2.0, 4.0], Sample(median=3.0, low=2.0, high=4.0, rounds=5)),
    ],
)
def test_rounds_are_summed_up_by_quartiles(values: list[float], sample: Sample) -> None:
    assert summary(values) == sample


def stages(trace: float, lower: float, xla: float) -> ColdStages:
    phases = [Seconds(each, 2 * each, Span(wall=each, least=each / 2, most=each)) for each in (trace, lower, xla)]
    return ColdStages(phases[0], phases[1], phases[2], None, None, None)


def test_cold_stages_become_timings_and_multiples_of_the_reference() -> None:
    parts = Parts()
    parts.add_stages([stages(1.0, 2.0, 4.0), stages(3.0, 2.0, 8.0)], (0.5, 0.0))
    assert {name: sample.median for name, sample in parts.timed.items()} == {
        "trace": 2.0,
        "trace_cpu": 4.0,
        "lower": 2.0,
        "lower_cpu": 4.0,
        "xla": 6.0,
        "xla_cpu": 12.0,
        "compile": 10.0,
        "compile_cpu": 20.0,
    }
    assert parts.relative == {"trace": 8.0}
    assert parts.waited == 5.0


def test_a_count_that_could_not_be_had_is_unavailable() -> None:
    parts = Parts()
    parts.add_calls("host_calls", 3)
    parts.add_calls("trace_calls", None)
    assert (parts.host, parts.unavailable) == (
        {"host_calls": 3},
        {"trace_calls": "a profiler is at work in this process"},
    )


@pytest.mark.parametrize(("cost", "rounds"), [(0.5, 3), (0.25, 5), (1.0, 1), (100.0, 1)])
def test_cold_compilations_are_repeated_while_they_are_cheap(cost: float, rounds: int) -> None:
    assert len(repeat_while_cheap(lambda: "again", "first", cost)) == rounds


def test_equations_within_equations_count() -> None:
    def f(x: Any) -> Any:
        x = jax.jit(lambda v: v * 2 + 1)(x)  # 1 + 2
        x = jax.lax.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, x)  # sum, gt, convert, cond and 1 + 1
        return jnp.sin(x)  # 1

    assert equation_count(jax.jit(f).trace(jnp.ones(3)).jaxpr) == 10
    assert equation_count(jax.jit(lambda x: x).trace(1.0).jaxpr) == 0


def test_donated_leaves_are_counted_among_those_that_are_not_static() -> None:
    jitted = jax.jit(lambda n, a, b, *, c: (a, b, c), static_argnums=0, donate_argnums=2, donate_argnames="c")
    x = {"v": jnp.ones(2), "w": jnp.ones(2)}
    assert donated_positions(jitted.lower(3, x, x, c=x)) == (2, 3, 4, 5)
    assert donated_positions(jax.jit(lambda x: x).lower(1.0)) == ()


X = jnp.linspace(0.1, 2.0, 64)
TABLE = np.linspace(0.0, 1.0, 64, dtype=np.float32)


def with_table(x: Any) -> Any:
    return jnp.tanh(x) * TABLE


def through_python(x: Any) -> Any:
    return jax.pure_callback(np.tanh, jax.ShapeDtypeStruct(x.shape, x.dtype), x) * TABLE


def outer(x: Any) -> Any:
    return with_table(x) + 1.0


@pytest.mark.parametrize(
    ("function", "fields"),
    [(with_table, {}), (through_python, {}), (outer, {"strategy": "inner", "inner": [with_table]})],
    ids=["one program", "one that cannot be exported", "a helper"],
)
def test_every_program_says_what_it_consists_of(measured: Callable[..., Probed], function: Any, fields: Any) -> None:
    found = measured(function, X, **fields).measurement
    [program] = [found.program] if isinstance(found.program, Program) else found.helpers.values()

    assert program.constants == (Constant(shape="f32[64]", bytes=256),)
    assert program.operations["multiply"] == 1
    assert any(name.startswith("custom-call ") for name in program.operations) == (function is through_python)
