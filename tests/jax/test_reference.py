"""Which result strategies are held against."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.measure import Equality, Probed
from pytest_jitperf.probe.reference import ReferenceResults
from pytest_jitperf.probe.request import Request

X = jnp.arange(3.0)


def counted(calls: list[Any]) -> Callable[..., Any]:
    def f(x: Any) -> Any:
        calls.append(x)
        return x * 2

    return f


def test_a_reference_is_taken_once_per_test_inputs_and_function(request_for: Callable[..., Request]) -> None:
    calls: list[Any] = []
    f, results = counted(calls), ReferenceResults()
    first = results.find(request_for(f, X))
    assert first is not None
    assert (first.strategy, len(calls)) == ("eager", 1)
    assert results.find(request_for(f, jnp.arange(3.0), strategy="both")) is first
    assert len(calls) == 1
    for other in (
        request_for(f, X + 1),
        request_for(f, X, name="second"),
        request_for(f, X, test="test_y"),
        request_for(counted(calls), X, test="test_y"),
    ):
        assert results.find(other) is not first
    assert len(calls) == 5


def test_two_measurements_of_a_test_do_not_share_a_reference(measured: Callable[..., Probed]) -> None:
    assert [measured(lambda x, k=k: x * k, X, name=f"times{k}").wrong for k in (2, 3)] == ["", ""]


def test_closures_over_other_values_do_not_share_a_reference(measured: Callable[..., Probed]) -> None:
    def run_of_a_test(k: float, strategy: str) -> str:
        return measured(lambda x: x * k, X, strategy=strategy).wrong

    assert [run_of_a_test(2.0, "outer"), run_of_a_test(3.0, "both")] == ["", ""]


def test_the_reference_has_none_itself(request_for: Callable[..., Request]) -> None:
    f, results = counted([]), ReferenceResults()
    assert results.find(request_for(f, X, strategy="eager")) is None
    assert results.find(request_for(f, X, equality=None)) is None
    assert results.find(request_for(f, X, strategy="outer", references=("outer", "eager"))) is None
    assert results.find(request_for(f, X, references=())) is None


def test_the_first_strategy_that_runs_is_the_reference(request_for: Callable[..., Request]) -> None:
    def only_traced(x: Any) -> Any:
        if not isinstance(x, jax.core.Tracer):
            raise TypeError("eager code cannot run this")
        return x * 2

    found = ReferenceResults().find(request_for(only_traced, X, strategy="both", references=("eager", "outer")))
    assert found is not None
    assert (found.strategy, [leaf.tolist() for _, leaf in found.leaves]) == ("outer", [[0.0, 2.0, 4.0]])


def test_what_cannot_be_measured_is_said_at_once(request_for: Callable[..., Request]) -> None:
    def generator() -> Any:
        return (x for x in "ab")

    with pytest.raises(MeasurementError, match="nothing was computed yet"):
        ReferenceResults().find(request_for(generator))


def test_a_wrong_result_names_the_reference(measured: Callable[..., Probed]) -> None:
    def f(x: Any) -> Any:
        return x * (1.001 if isinstance(x, jax.core.Tracer) else 1.0)

    assert measured(f, X).wrong == "result: off by 0.1 % of its largest value, allowed 0.01 %, compared with eager"
    assert measured(f, X, equality=Equality(rtol=1e-2)).wrong == ""
    assert measured(f, X, equality=None).wrong == ""


def test_a_tolerance_that_is_asked_for_is_held_to(measured: Callable[..., Probed]) -> None:
    def f(x: Any) -> Any:
        return x * (1.00003 if isinstance(x, jax.core.Tracer) else 1.0)

    assert measured(f, X).wrong == ""
    assert measured(f, X, equality=Equality(rtol=1e-6)).wrong.endswith("allowed 0.0001 %, compared with eager")


def test_inputs_that_are_made_anew_with_other_values_are_not_compared(measured: Callable[..., Probed]) -> None:
    numbers = itertools.count(1.0)
    probed = measured(lambda x: x * 2, make_args=lambda: X + next(numbers))
    assert probed.wrong == ""
    assert probed.measurement.notes == ("not compared with eager: make_args gives other values each time",)

    same = measured(
        lambda x: x * (3 if isinstance(x, jax.core.Tracer) else 2), make_args=functools.partial(jnp.ones, 3)
    )
    assert same.wrong.startswith("result: off by 50 %")
