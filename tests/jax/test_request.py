"""Requests: methods that are jitted in their class are measured with their object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.request import Request, sequence_of, subject_of
from pytest_jitperf.strategies import Strategy

X = jnp.arange(3.0)


class Model:
    def __init__(self, k: float) -> None:
        self.k = k

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x: Any) -> Any:
        return x * self.k

    def plain(self, x: Any) -> Any:
        return x * self.k


@pytest.mark.parametrize("strategy", ["eager", "outer"])
@pytest.mark.parametrize("method", ["step", "plain"])
def test_methods_are_measured_with_their_object(measured: Callable[..., Probed], strategy: str, method: str) -> None:
    model = Model(3.0)
    probed = measured(getattr(model, method), X, strategy=strategy)
    np.testing.assert_array_equal(probed.result, X * 3)
    assert probed.wrong == ""
    assert probed.measurement.host["launches"] == 1
    if strategy == "outer":
        assert probed.measurement.host["compilations"] == 1
        assert probed.measurement.program is not None
        assert probed.measurement.program.inputs == "x: f32[3]"
        assert probed.measurement.program.fingerprint is not None


def test_the_object_goes_before_whatever_arguments_there_are(request_for: Callable[..., Request]) -> None:
    model = Model(3.0)
    request = request_for(model.step, make_args=lambda: (X,), sequence=[X, ((X,), {}), (X,)])
    subject = subject_of(request, "outer")
    calls = [subject.inputs, subject.prepare(), *(sequence_of(request) or [])]
    assert [(call.args[0], len(call.args)) for call in calls] == [(model, 2)] * 5


def test_a_strategy_of_the_users_gets_the_method_as_it_is(request_for: Callable[..., Request]) -> None:
    model = Model(3.0)
    request = request_for(model.step, X, strategy=Strategy("same", lambda function: function))
    subject = subject_of(request, request.strategy)
    assert (subject.built.call, len(subject.inputs.args)) == (model.step, 1)


@pytest.mark.parametrize(
    ("args", "kwargs", "told"),
    [
        ((iter([1.0]),), {}, "batches is an iterator (list_iterator), which one call uses up"),
        (((n for n in (1.0,)),), {}, "batches is an iterator (generator), "),
        (([1.0],), {"rest": zip([1], [2], strict=True)}, "rest is an iterator (zip), "),
    ],
)
def test_what_one_call_uses_up_is_refused(measured: Callable[..., Probed], args: Any, kwargs: Any, told: str) -> None:
    def total(batches: Any, rest: Any = ()) -> Any:
        return sum(jnp.float32(each) for each in (*batches, *rest))

    with pytest.raises(MeasurementError) as caught:
        measured(total, *args, kwargs=kwargs, strategy="eager")
    assert str(caught.value).startswith(told)
    assert "make_args=, which makes arguments afresh for each call." in str(caught.value)
