"""What Python drives: eager code, jitted helpers, another library's jit."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.strategies import Strategy

X = jnp.linspace(0.0, 1.0, 64)


def f(x: Any) -> Any:
    return 2.0 * x + jnp.sin(x)


def g(x: Any) -> Any:
    y = f(f(x))
    return jnp.exp(y) - x


def test_eager_code_has_no_program(measured: Callable[..., Probed]) -> None:
    probed = measured(g, X, strategy="eager")
    found = probed.measurement
    np.testing.assert_array_equal(probed.result, g(X))
    assert (found.program, found.exact, dict(found.helpers), probed.programs) == (None, {}, {}, {})
    assert (found.host["launches"], found.host["compilations"], found.host["leaves"]) == (8, 0, 1)
    assert found.host["primitive_compilations"] >= 4
    assert "trace_calls" not in found.host
    assert set(found.timed) == {"run", "compile", "trace", "lower", "xla"}


def test_a_jitted_helper_has_a_program_of_its_own(measured: Callable[..., Probed]) -> None:
    found = measured(g, X, strategy="inner", inner=[f]).measurement
    (key,) = found.helpers
    assert key == f"{f.__module__}.f(f32[64])"
    program = found.helpers[key]
    assert program.fingerprint is not None
    assert program.artifact is not None
    assert program.exact["peak_bytes"] == 512
    assert (found.host["launches"], found.host["compilations"]) == (4, 1)
    assert found.host["trace_calls"] > 100
    alone = measured(f, X).measurement.program
    assert alone is not None
    assert program.fingerprint == alone.fingerprint


@pytest.mark.parametrize("strategy", ["eager", "inner"])
def test_a_baseline_and_a_guide_are_worth_a_few_cold_calls(measured: Callable[..., Probed], strategy: str) -> None:
    once = measured(g, X, strategy=strategy, inner=[f]).measurement
    recorded = measured(g, X, strategy=strategy, inner=[f], record=True).measurement
    guided = measured(g, X, strategy=strategy, inner=[f], guide=True).measurement

    assert once.timed["compile"].rounds == once.timed["xla"].rounds == 1
    assert 1 < recorded.timed["compile"].rounds == recorded.timed["xla"].rounds <= 5
    assert 1 < guided.timed["compile"].rounds <= 5
    assert (recorded.host, recorded.helpers.keys()) == (once.host, once.helpers.keys())


def test_helpers_are_kept_apart_by_signature(measured: Callable[..., Probed]) -> None:
    def two(x: Any) -> Any:
        return f(x), f(x[:3]), f(x + 1)

    found = measured(two, X, strategy="inner", inner=[f]).measurement
    assert [key.partition("(")[2] for key in found.helpers] == ["f32[64])", "f32[3])"]


class Scale:
    def __init__(self, k: float) -> None:
        self.k = k

    def apply(self, x: Any) -> Any:
        return x * self.k


def test_methods_of_two_objects_that_look_alike_are_two_helpers(measured: Callable[..., Probed]) -> None:
    first, second = Scale(2.0), Scale(3.0)
    probed = measured(lambda x: second.apply(first.apply(x)), X, strategy="inner", inner=[Scale.apply])
    keys = list(probed.measurement.helpers)
    assert len(keys) == 2
    assert keys[1] == f"{keys[0]} #2"
    assert len({program.fingerprint for program in probed.measurement.helpers.values()}) == 2


def test_a_helper_that_donates_leaves_the_users_array_alone(measured: Callable[..., Probed]) -> None:
    x = jax.device_put(X, jax.devices()[0])
    donating = jax.jit(lambda v: v + 1, donate_argnums=0)
    probed = measured(lambda v: donating(v) * 2, x, strategy="eager")
    np.testing.assert_array_equal(probed.result, (X + 1) * 2)
    assert probed.subject.donated == (0,)
    assert not x.is_deleted()


def test_a_result_that_changes_from_call_to_call_is_noted(measured: Callable[..., Probed]) -> None:
    numbers = itertools.count()
    found = measured(lambda x: x + next(numbers), X, strategy="eager").measurement
    assert found.notes == ("the result changes from call to call: the function is not repeatable",)
    state: list[Any] = []

    def trains(x: Any) -> Any:
        state.append(x)
        return x * len(state)

    assert measured(trains, X, strategy="eager").measurement.notes == found.notes
    assert measured(lambda x: x + 1, X, strategy="eager").measurement.notes == ()


def test_so_is_one_that_changes_late_or_in_place(measured: Callable[..., Probed]) -> None:
    note = ("the result changes from call to call: the function is not repeatable",)
    calls = itertools.count()
    late = measured(lambda x: x if next(calls) < 4 else x + 1, X, strategy="eager")
    assert late.measurement.notes == note

    held = np.zeros(3)

    def in_place(x: Any) -> Any:
        held[0] += 1
        return held

    assert measured(in_place, X, strategy="eager").measurement.notes == note

    def called_back(x: Any) -> Any:
        return jax.pure_callback(lambda x: np.asarray(x) + next(calls), x, x)

    assert measured(called_back, X, equality=None).measurement.notes == note


def test_compilations_are_not_known_where_nobody_may_listen(measured: Callable[..., Probed]) -> None:
    def deafens(x: Any) -> Any:
        jax.monitoring.clear_event_listeners()
        return x + 1

    found = measured(deafens, X, strategy="eager").measurement
    assert found.unavailable["compilations"] == "the listeners of jax.monitoring were cleared meanwhile"
    assert "compilations" not in found.host


@pytest.mark.parametrize("strategy", ["eager", "outer"])
def test_what_a_newer_jax_no_longer_has_takes_its_own_metric_along(
    measured: Callable[..., Probed], monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    measured(lambda x: x + 1, X, strategy=strategy)  # the first in the process
    monkeypatch.delattr(jax.monitoring, "register_event_duration_secs_listener")
    monkeypatch.delattr(jax.profiler, "ProfileData")
    found = measured(lambda x: x + 1, X, strategy=strategy).measurement
    listener = "this jax has no jax.monitoring.register_event_duration_secs_listener"
    timed = ["compile", "trace", "lower", "xla"] if strategy == "eager" else []
    unavailable = {name: why for name, why in found.unavailable.items() if "donat" not in name}
    assert unavailable == {
        **dict.fromkeys(["compilations", "primitive_compilations", *timed], listener),
        "launches": "this jax has no jax.profiler.ProfileData",
    }
    assert found.timed["run"].median > 0
    assert "host_calls" in found.host


def test_arguments_that_are_made_anew_may_differ(measured: Callable[..., Probed]) -> None:
    numbers = itertools.count()
    found = measured(lambda x: x * 2, strategy="eager", make_args=lambda: X + next(numbers)).measurement
    assert found.notes == ()


@pytest.mark.parametrize(("dear", "least"), [(2.0, 4), (0.0, 3)])
def test_side_effects_happen_a_known_number_of_times(
    measured: Callable[..., Probed], monkeypatch: pytest.MonkeyPatch, dear: float, least: int
) -> None:
    calls: list[int] = []

    def slow(x: Any) -> Any:
        calls.append(1)
        return x * len(str(sum(range(6_000_000))))

    # A call that takes longer than the sample of the run time may last is made once for it.
    monkeypatch.setattr("pytest_jitperf.probe.parts._RUN_SECONDS", 0.0)
    monkeypatch.setattr("pytest_jitperf.probe.parts._DEAR_CALL_SECONDS", dear)
    found = measured(slow, X, strategy="eager").measurement
    # From cold, for its time, for its Python calls, for its launches; of a dear call one serves for both.
    # Its time may take a second one, where a call is not very slow.
    assert len(calls) in (least, least + 1)
    assert found.host["launches"] == measured(slow, X, strategy="eager").measurement.host["launches"] == 1


@pytest.mark.parametrize(
    ("function", "args", "result"),
    [
        (lambda x: None, (X,), None),
        (lambda x: 1.5, (X,), 1.5),
        (lambda x: "text", (X,), "text"),
        (lambda names: len(names), (np.array(["a", "b"]),), 2),
        (lambda n: n + 1, (2**40,), 2**40 + 1),
        (lambda: 3, (), 3),
        (lambda x, y: x is y, (X, None), False),
    ],
)
def test_odd_arguments_and_results_of_eager_code(
    measured: Callable[..., Probed], function: Any, args: Any, result: Any
) -> None:
    assert measured(function, *args, strategy="eager").result == result


def test_what_computes_nothing_is_refused(measured: Callable[..., Probed]) -> None:
    with pytest.raises(MeasurementError, match="returned a generator: nothing was computed yet"):
        measured(lambda x: (y for y in [x]), X, strategy="eager")


FILTERED = Strategy("filtered", eqx.filter_jit)


def linear(layer: Any, x: Any, how: str) -> Any:
    return layer(x) * 2 if how == "twice" else x


def test_another_librarys_jit_is_one_program(measured: Callable[..., Probed]) -> None:
    layer = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    probed = measured(linear, layer, jnp.ones(3), "twice", strategy=FILTERED)
    found = probed.measurement
    assert (found.strategy, probed.wrong) == ("filtered", "")
    assert found.program is not None
    assert found.program.inputs == "layer.weight: f32[2,3]; layer.bias: f32[2]; x: f32[3]"
    assert found.program.fingerprint is not None
    assert (found.host["launches"], found.host["compilations"]) == (1, 1)
    assert {"trace", "lower"} == set(found.relative)
    assert found.exact["peak_bytes"] > 0


def test_a_strategy_that_starts_several_programs_has_none(measured: Callable[..., Probed]) -> None:
    several = Strategy("several", lambda function: lambda x: function(x) + 1)
    assert measured(f, X, strategy=several).measurement.program is None
