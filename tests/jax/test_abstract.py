"""Arguments without values: a program is compiled and not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.judge.compileterms import CompileTerms
from pytest_jitperf.measurement import Comparison
from pytest_jitperf.probe.compare import Stored
from pytest_jitperf.probe.measure import Probed, Request, call_once
from pytest_jitperf.units import Tolerance

# Far more than there is memory for.
SHAPE = jax.ShapeDtypeStruct((2**20, 2**20), jnp.float32)
ROW = jax.ShapeDtypeStruct((2**20,), jnp.float32)


def step(w: Any, x: Any) -> Any:
    return {"y": jnp.tanh(w @ x)}


def dearer(w: Any, x: Any) -> Any:
    return {"y": jnp.tanh(jnp.sort(w) @ x)}


def test_what_can_be_known_without_running_is(measured: Callable[..., Probed]) -> None:
    probed = measured(step, SHAPE, ROW)

    found = probed.measurement
    assert found.inputs == "w: f32[1048576,1048576]; x: f32[1048576]"
    assert found.exact["peak_bytes"] >= 2**42
    assert (found.host["compilations"], found.program is not None, "compile" in found.timed) == (1, True, True)
    reason = "compiled and not run: the arguments are shapes without values"
    assert {name: found.unavailable[name] for name in ("run", "host_calls", "launches")} == dict.fromkeys(
        ("run", "host_calls", "launches"), reason
    )
    assert found.notes == (reason,)
    assert "run" not in found.timed
    assert probed.result["y"].shape == (2**20,)


def test_programs_are_compared_but_for_their_run_time(
    measured: Callable[..., Probed], stored: Callable[..., Stored], compared: Callable[..., Comparison]
) -> None:
    known = stored(measured(step, SHAPE, ROW))
    assert compared(measured(lambda w, x: step(w, x), SHAPE, ROW), known).same

    terms = CompileTerms(tolerance=Tolerance(9999.0))
    found = compared(measured(dearer, SHAPE, ROW), known, compiling=terms)

    assert (found.same, found.run, found.cannot, found.xla is not None) == (False, None, "", True)
    assert found.old_exact["peak_bytes"] >= 2**42


def test_nothing_is_called_with_them(measured: Callable[..., Probed]) -> None:
    given: list[Any] = []

    def f(x: Any) -> Any:
        given.append(x)
        return x + 1

    measured(f, ROW)

    assert given
    assert all(isinstance(each, jax.core.Tracer) for each in given)


def test_one_among_arrays_is_enough(measured: Callable[..., Probed]) -> None:
    assert "run" not in measured(step, SHAPE, jnp.ones(2**20)).measurement.timed


@pytest.mark.parametrize("strategy", ["eager", "inner"])
def test_what_would_run_it_refuses(measured: Callable[..., Probed], strategy: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        measured(step, SHAPE, ROW, strategy=strategy)

    assert str(caught.value) == (
        f"w is a jax.ShapeDtypeStruct, a shape without values, and {strategy} runs the function. Give arrays, or "
        'measure it with strategies=["outer"], which then only compiles it.'
    )


def test_so_does_a_sequence_of_inputs(measured: Callable[..., Probed]) -> None:
    with pytest.raises(MeasurementError, match=r"w is a jax.ShapeDtypeStruct, .* and inputs= is called. Give arrays"):
        measured(step, SHAPE, ROW, sequence=[(SHAPE, ROW)])


def test_unmeasured_its_result_is_a_shape_too(request_for: Callable[..., Request]) -> None:
    assert call_once(request_for(step, SHAPE, ROW))["y"].shape == (2**20,)
