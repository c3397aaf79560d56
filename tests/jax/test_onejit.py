"""One jit: what its cold stages, its program and its warm calls give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.compilelog import compile_log
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.onejit import relative_again

X = jnp.linspace(0.0, 1.0, 64)


def f(x: Any) -> Any:
    return 2.0 * x + jnp.sin(x)


def test_a_small_program_is_measured_whole(measured: Callable[..., Probed]) -> None:
    probed = measured(f, X)
    found = probed.measurement
    np.testing.assert_array_equal(probed.result, jax.jit(f)(X))

    assert (found.inputs, found.device, found.device_kind, found.notes) == ("x: f32[64]", "cpu", "cpu", ())
    assert {name: found.host[name] for name in found.host if "calls" not in name} == {
        "leaves": 1,
        "launches": 1,
        "compilations": 1,
        "primitive_compilations": 0,
    }
    assert found.host["trace_calls"] > 100
    assert 0 < found.host["host_calls"] < 20
    exact = {
        key: found.exact[key] for key in ("peak_bytes", "constant_bytes", "jaxpr_eqns", "stablehlo_ops", "fusions")
    }
    assert exact == {"peak_bytes": 512, "constant_bytes": 0, "jaxpr_eqns": 3, "stablehlo_ops": 5, "fusions": 1}
    assert set(found.timed) == {
        "run", "compile", "compile_cpu", "trace", "trace_cpu", "lower", "lower_cpu", "xla", "xla_cpu",
    }  # fmt: skip
    assert all(sample.median > 0 and sample.low <= sample.median <= sample.high for sample in found.timed.values())
    assert set(found.relative) == {"trace", "lower"}
    assert found.unavailable == {
        "unused_donation_bytes": 'nothing is donated; add  jit={"donate_argnums": ...}',
    }
    program = found.program
    assert program is not None
    assert program.fingerprint is not None
    assert program.artifact == probed.programs[""].raw
    assert (program.inputs, program.no_artifact, program.donated, program.optimised != "") == (
        "x: f32[64]",
        "",
        (),
        True,
    )


@pytest.mark.parametrize("why", ["record", "guide"])
def test_a_baseline_and_a_guide_are_worth_a_few_cold_samples(measured: Callable[..., Probed], why: str) -> None:
    assert measured(f, X).measurement.timed["trace"].rounds == 1
    recorded = measured(f, X, **{why: True}).measurement
    assert 1 < recorded.timed["trace"].rounds <= 5
    assert recorded.timed["compile"].rounds == recorded.timed["xla_cpu"].rounds == recorded.timed["trace"].rounds


def test_whatever_comes_after_a_measurement_finds_the_program_compiled(measured: Callable[..., Probed]) -> None:
    probed = measured(f, X)
    with probed.subject.active(), compile_log() as log:
        probed.subject.call(probed.subject.prepare())
    assert (log.user, log.primitives) == ([], [])


def test_what_is_compiled_while_tracing_is_counted_once(measured: Callable[..., Probed]) -> None:
    table = np.ones(3, np.float32)

    @jax.jit
    def constant(x: Any) -> Any:
        return x * 2

    def with_constant(x: Any) -> Any:
        with jax.ensure_compile_time_eval():
            return x + constant(table).sum()

    assert measured(with_constant, X).measurement.host["compilations"] == 2


def test_side_effects_of_tracing_are_few(measured: Callable[..., Probed]) -> None:
    traces: list[int] = []

    def counted(x: Any) -> Any:
        traces.append(1)
        return x + 1

    measured(counted, X, equality=None)
    # Two whose cost is not used, one for the stages, and at most one each for exporting and for the warm calls.
    assert 3 <= len(traces) <= 5


def test_static_arguments_are_no_inputs_of_the_program(measured: Callable[..., Probed]) -> None:
    def power(x: Any, n: int, *, how: str) -> Any:
        return x**n if how == "up" else x

    found = measured(power, X, 3, kwargs={"how": "up"}, jit={"static_argnames": ("n", "how")}).measurement
    assert found.program is not None
    assert found.program.inputs == "x: f32[64]"
    assert [part.split(" #")[0] for part in found.inputs.split("; ")] == [
        "x: f32[64]",
        "n: static int",
        "how: static str",
    ]


def test_a_program_with_a_callback_cannot_be_stored(measured: Callable[..., Probed]) -> None:
    heard: list[Any] = []

    def told(x: Any) -> Any:
        jax.debug.callback(heard.append, x.sum())
        return x + 1

    probed = measured(told, X)
    program = probed.measurement.program
    assert program is not None
    assert (program.fingerprint, program.artifact) == (None, None)
    assert program.no_artifact == "it calls back into Python, which cannot be stored"
    assert program.optimised != ""
    assert probed.programs == {}
    assert probed.subject.callbacks
    assert len(heard) >= 2
    assert not measured(f, X).subject.callbacks


@pytest.mark.parametrize("result", [lambda x: (y for y in [x]), lambda x: [coroutine(x)]])
def test_a_jitted_function_that_computes_nothing_is_refused(measured: Callable[..., Probed], result: Any) -> None:
    with pytest.raises(MeasurementError, match="nothing was computed yet"):
        measured(result, X)


async def coroutine(x: Any) -> Any:
    return x


def test_many_leaves(measured: Callable[..., Probed]) -> None:
    def total(tree: Any) -> Any:
        return sum(jax.tree.leaves(tree))

    found = measured(total, {f"k{n}": float(n) for n in range(2000)}, equality=None).measurement
    assert found.host["leaves"] == 2000
    assert found.program is not None
    assert found.program.fingerprint is not None
    assert found.inputs.count("weak f32[]") == 2000


def test_a_second_look_at_trace_and_lower(measured: Callable[..., Probed]) -> None:
    found = relative_again(measured(f, X).subject)
    assert set(found) == {"trace", "lower"}
    assert all(value > 0 for value in found.values())
