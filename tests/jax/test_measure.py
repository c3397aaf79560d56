"""A whole measurement: the four strategies side by side, and the process left as it was."""

from __future__ import annotations

import dataclasses
import functools
import gc
import itertools
import os
import sys
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import monitoring  # the listeners that there are can be seen nowhere else

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.measure import Probed, Request, call_once

X = jnp.linspace(0.0, 1.0, 64)
STRATEGIES = ("eager", "outer", "inner", "both")


def f(x: Any) -> Any:
    return 2.0 * x + jnp.sin(x)


def g(x: Any) -> Any:
    y = f(f(x))
    return jnp.exp(y) - x


def all_four(measured: Callable[..., Probed], order: tuple[str, ...] = STRATEGIES) -> dict[str, Probed]:
    return {strategy: measured(g, X, strategy=strategy, inner=[f]) for strategy in order}


def test_the_four_strategies_side_by_side(measured: Callable[..., Probed]) -> None:
    found = all_four(measured)
    measurements = {name: probed.measurement for name, probed in found.items()}

    assert {name: each.host["launches"] for name, each in measurements.items()} == {
        "eager": 8,
        "outer": 1,
        "inner": 4,
        "both": 1,
    }
    assert {name: each.host["compilations"] for name, each in measurements.items()} == {
        "eager": 0,
        "outer": 1,
        "inner": 1,
        "both": 1,
    }
    assert {each.inputs for each in measurements.values()} == {"x: f32[64]"}
    assert {probed.wrong for probed in found.values()} == {""}
    outer, both = measurements["outer"].program, measurements["both"].program
    assert outer is not None
    assert both is not None
    assert outer.optimised == both.optimised
    assert outer.fingerprint == both.fingerprint  # XLA puts the helper in the place of its calls
    np.testing.assert_array_equal(found["outer"].result, found["both"].result)
    np.testing.assert_array_equal(found["eager"].result, g(X))


def exact_values(probed: Probed) -> tuple[Any, ...]:
    found = probed.measurement
    program = found.program
    helpers = {key: (each.fingerprint, dict(each.exact)) for key, each in found.helpers.items()}
    return dict(found.exact), dict(found.host), helpers, program and (program.fingerprint, program.optimised)


def test_the_order_of_strategies_changes_no_count(measured: Callable[..., Probed]) -> None:
    all_four(measured)  # what Python loads once is loaded
    first = {name: exact_values(each) for name, each in all_four(measured).items()}
    jax.clear_caches()
    second = {name: exact_values(each) for name, each in all_four(measured, STRATEGIES[::-1]).items()}
    assert first == second


def settings() -> dict[str, Any]:
    # Not every name can be read everywhere.
    return {name: getattr(jax.config, name, None) for name in jax.config.values}


def state(folder: Path) -> tuple[Any, ...]:
    code = (f.__code__, g.__code__, dict(f.__dict__), f.__defaults__, f.__closure__)
    listeners = list(monitoring.get_event_duration_listeners()), list(monitoring.get_event_listeners())
    process = os.getcwd(), dict(os.environ), sys.getprofile(), sys.gettrace(), gc.isenabled(), gc.get_threshold()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    return code, listeners, process, cores, settings(), list(warnings.filters), sys.getrecursionlimit()


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("collector", [True, False])
def test_the_process_is_left_as_it_was(
    measured: Callable[..., Probed], tmp_path: Path, strategy: str, collector: bool
) -> None:
    enabled = gc.isenabled()
    (gc.enable if collector else gc.disable)()
    try:
        before = state(tmp_path)
        measured(g, X, strategy=strategy, inner=[f])
        assert state(tmp_path) == before

        def fails(x: Any) -> Any:
            f(x)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            measured(fails, X, strategy=strategy, inner=[f])
        assert state(tmp_path) == before
    finally:
        (gc.enable if enabled else gc.disable)()


def test_nothing_is_kept_alive(measured: Callable[..., Probed]) -> None:
    def run() -> tuple[weakref.ref[Any], weakref.ref[Any]]:
        def once(x: Any) -> Any:
            return f(x) + 1

        jitted = measured(once, X, inner=[f], strategy="both").subject.built.call
        return weakref.ref(once), weakref.ref(jitted)

    function, jitted = run()
    measured(f, X, test="test_y")  # the next test
    jax.clear_caches()
    gc.collect()
    assert (function(), jitted()) == (None, None)


@functools.partial(jax.tree_util.register_dataclass, data_fields=["a", "b"], meta_fields=[])
@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_users_arrays_are_alive_after_every_strategy(measured: Callable[..., Probed], strategy: str) -> None:
    x = jax.device_put(X, jax.devices()[0])
    given = {"p": Pair(x, x + 1), "k": jax.random.key(0), "n": None, "s": 2.0}

    def step(state: Any, other: Any) -> Any:
        return {**state, "p": Pair(f(state["p"].a), state["p"].b + other["p"].a)}, other["k"]

    probed = measured(
        step,
        given,
        given,
        strategy=strategy,
        inner=[f],
        jit={"donate_argnums": 0} if strategy in ("outer", "both") else {},
    )
    assert probed.wrong == ""
    assert not any(leaf.is_deleted() for leaf in jax.tree.leaves(given) if isinstance(leaf, jax.Array))
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(probed.result[0]["p"].a, f(X), rtol=1e-5)


@pytest.mark.parametrize("strategy", ["eager", "outer"])
@pytest.mark.parametrize(
    ("args", "inputs"),
    [
        ((np.ones(3),), "x: f32[3]"),
        ((2.5,), "x: weak f32[]"),
        ((np.float32(2.5),), "x: f32[]"),
        ((np.float64(2.5),), "x: f32[]"),
        ((jnp.zeros((0, 3)),), "x: f32[0,3]"),
        ((jnp.ones(3, jnp.bfloat16),), "x: bf16[3]"),
        ((True,), "x: bool[]"),
    ],
)
def test_any_kind_of_number_is_an_input(
    measured: Callable[..., Probed], strategy: str, args: tuple[Any, ...], inputs: str
) -> None:
    probed = measured(lambda x: jnp.multiply(x, 2), *args, strategy=strategy)
    assert (probed.measurement.inputs, probed.wrong) == (inputs, "")
    assert probed.measurement.host["launches"] == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_users_own_exception_comes_through(measured: Callable[..., Probed], strategy: str) -> None:
    class OwnError(Exception): ...

    def fails(x: Any) -> Any:
        f(x)
        raise OwnError("mine")

    with pytest.raises(OwnError, match=r"^mine"):
        measured(fails, X, strategy=strategy, inner=[f])


def test_results_that_jit_cannot_give_are_jaxs_own_error(measured: Callable[..., Probed]) -> None:
    with pytest.raises(TypeError, match="not a valid JAX type"):
        measured(lambda x: "text", X)


@pytest.mark.parametrize("strategy", ["eager", "outer"])
def test_a_result_that_is_still_to_be_computed_is_refused_without_a_reference_too(
    measured: Callable[..., Probed], strategy: str
) -> None:
    async def later(x: Any) -> Any:
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MeasurementError, match="returned a coroutine: nothing was computed yet"):
            measured(lambda x: later(x), X, strategy=strategy, equality=None)


def test_a_missing_static_argument_is_told_with_the_line_to_add(measured: Callable[..., Probed]) -> None:
    def power(x: Any, n: int) -> Any:
        return x * 2 if n > 1 else x

    with pytest.raises(MeasurementError, match="static_argnames"):
        measured(power, X, 3)


def test_a_helper_that_is_never_called_is_an_error(measured: Callable[..., Probed]) -> None:
    with pytest.raises(MeasurementError, match=r"f was never called by .*<lambda>"):
        measured(lambda x: x + 1, X, strategy="inner", inner=[f])


def test_without_jit_there_is_nothing_to_measure(measured: Callable[..., Probed]) -> None:
    with jax.disable_jit(), pytest.raises(MeasurementError, match="jax_disable_jit is on"):
        measured(g, X)


def test_double_precision_is_recorded_and_left_on(measured: Callable[..., Probed]) -> None:
    single = measured(g, X).measurement
    with jax.enable_x64(True):
        double = measured(g, jnp.linspace(0.0, 1.0, 64)).measurement
        assert jax.config.jax_enable_x64 is True  # type: ignore[attr-defined]  # made at run time
    assert (single.environment.x64, double.environment.x64) == (False, True)
    assert double.inputs == "x: f64[64]"
    assert double.exact["peak_bytes"] == 2 * single.exact["peak_bytes"]
    assert single.environment.differences(double.environment) == (("x64", "False", "True"),)


def test_fresh_arguments_are_made_for_every_call_that_may_use_them_up(measured: Callable[..., Probed]) -> None:
    made: list[Any] = []

    def make() -> tuple[Any, ...]:
        made.append(jnp.ones(3))
        return (made[-1],)

    probed = measured(lambda x: x + 1, make_args=make, jit={"donate_argnums": 0})
    assert probed.wrong == ""
    assert probed.measurement.program is not None
    assert probed.measurement.program.donated == (0,)
    assert len(made) > 4


def test_a_call_without_measuring(request_for: Callable[..., Request]) -> None:
    calls: list[bool] = []

    def seen(x: Any) -> Any:
        calls.append(isinstance(x, jax.core.Tracer))
        return x + 1

    for strategy in STRATEGIES:
        np.testing.assert_array_equal(
            call_once(request_for(lambda x: seen(x) * 2, X, strategy=strategy, inner=[seen])), (X + 1) * 2
        )
    assert calls == [False, True, True, True]


def test_a_result_that_changes_from_call_to_call_is_wrong_and_not_ill_conditioned(
    measured: Callable[..., Probed],
) -> None:
    calls = [0]

    def noise(x: Any) -> Any:
        calls[0] += 1
        return np.asarray(x + calls[0] * 1000.0, x.dtype)

    def unsteady(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            return x
        return jax.pure_callback(noise, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    found = measured(unsteady, X, strategy="outer")

    assert found.wrong.endswith("compared with eager; it changes from call to call")


def test_a_reference_that_changes_from_call_to_call_is_told(measured: Callable[..., Probed]) -> None:
    numbers = itertools.count(1)
    found = measured(lambda x: x * next(numbers), X)
    assert found.wrong.endswith(
        "compared with eager, which gives another one in each call: the function is not repeatable"
    )
    assert not any("ill-conditioned" in note for note in found.measurement.notes)


@pytest.mark.parametrize("strategy", ["inner", "both"])
def test_a_reference_is_repeated_with_its_helpers_as_they_are(measured: Callable[..., Probed], strategy: str) -> None:
    def wave(x: Any) -> Any:
        for _ in range(6):
            x = jnp.sin(x) * 1.01 + jnp.tanh(x)
        return x

    def cancelling(x: Any) -> Any:
        return jax.vmap(wave)(x.reshape(8, 8)).sum()  # of an odd function around zero: rounding errors alone are left

    found = measured(cancelling, jnp.linspace(-1, 1, 64), strategy=strategy, inner=[wave])

    assert found.wrong == ""
    assert any(note.startswith("ill-conditioned") for note in found.measurement.notes)


def test_what_compiles_in_every_call_is_counted_and_named(measured: Callable[..., Probed]) -> None:
    class ById:
        """Equal to itself alone, so that each call has a new static value."""

    scaled = functools.partial(jax.jit, static_argnums=1)(lambda x, config: x * 2)

    found = measured(scaled, strategy="outer", make_args=lambda: (X, ById()))

    assert found.measurement.host["compilations"] == 2
    line = found.retraces["compilations"][0]
    assert line.startswith("every call: <lambda> (test_measure.py:")
    assert line.endswith(", config: another ById (reuse one object, or give its class __eq__ and __hash__)")
