"""The subject: its inputs are never used up, and what computed nothing is refused."""

from __future__ import annotations

import concurrent.futures
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe.equal import difference, leaves_of
from pytest_jitperf.probe.inputs import Call
from pytest_jitperf.probe.request import Request, subject_of
from pytest_jitperf.probe.resultparts import has_parts, waited_leaves
from pytest_jitperf.probe.subject import as_call, placed, refuse_odd_result

CPU = jax.devices("cpu")[0]


@pytest.mark.parametrize(
    ("made", "call"),
    [
        (3, ((3,), {})),
        ((1, 2), ((1, 2), {})),
        (((1, 2), {"k": 3}), ((1, 2), {"k": 3})),
        ((1, {"k": 3}), ((1, {"k": 3}), {})),
        ([1, 2], (([1, 2],), {})),
        ((), ((), {})),
        (None, ((None,), {})),
    ],
)
def test_arguments_can_be_made_in_three_forms(made: Any, call: Any) -> None:
    assert as_call(made) == Call(*call)


def test_the_first_call_finds_out_what_is_overwritten(request_for: Callable[..., Request]) -> None:
    def f(a: Any, b: Any) -> Any:
        return jax.jit(lambda v: v + 1, donate_argnums=0)(b) + a

    x = jnp.ones(3)
    subject = subject_of(request_for(f, x, x, strategy="eager"), "eager")
    subject.first_call(subject.expendable())
    assert subject.donated == (1,)
    for _ in range(2):
        side = subject.side()
        assert side.prepare is not None
        subject.wait(side.call(side.prepare()))
    assert not x.is_deleted()


def test_inputs_are_prepared_only_where_calls_use_them_up(request_for: Callable[..., Request]) -> None:
    made: list[int] = []

    def make() -> Any:
        made.append(1)
        return jnp.ones(3)

    plain = subject_of(request_for(lambda x: x + 1, jnp.ones(3)), "outer")
    assert plain.side().prepare is not None  # what it uses up is not known yet
    plain.first_call(plain.expendable())
    assert plain.side().prepare is None
    fresh = subject_of(request_for(lambda x: x + 1, make_args=make), "outer")
    side = fresh.side()
    assert side.prepare is not None
    first, second = side.prepare(), side.prepare()
    assert first.args[0] is not second.args[0]
    assert len(made) == 3


def test_deleted_arguments_are_refused() -> None:
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(MeasurementError, match=r"argument leaf 1 was deleted .donated. before it was measured"):
        placed((1.0, x), {}, CPU, "")


def generate() -> Iterator[int]:
    yield 1


async def coroutine() -> int:
    return 1


class Box:
    """No pytree, so JAX does not look into it."""

    def __init__(self, held: Any) -> None:
        self.held = held
        self.itself = self


@pytest.mark.parametrize(
    "made",
    [generate, coroutine, lambda: map(abs, [1]), lambda: iter([1]), concurrent.futures.Future],
    ids=["generator", "coroutine", "map", "iterator", "future"],
)
@pytest.mark.parametrize(
    "around",
    [lambda each: each, lambda each: {"a": [each]}, lambda each: (each, coroutine()), Box],
    ids=["alone", "in a tree", "beside another", "in an object"],
)
def test_results_that_are_still_to_be_computed_are_refused_without_a_warning(made: Any, around: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(MeasurementError, match=r"<locals>.<lambda> returned a \w+: nothing was computed yet"):
            refuse_odd_result(around(made()), lambda: 0)


@pytest.mark.parametrize("result", [None, 1.5, "text", {"a": jnp.ones(2)}, np.ones(2), object(), ()])
def test_other_results_are_fine(result: Any) -> None:
    refuse_odd_result(result, lambda: 0)


def test_what_is_inside_of_a_plain_object_is_waited_for_and_compared() -> None:
    x = jnp.ones(3)
    result = {"a": Box([x, Box(2 * x)]), "b": 1}
    assert has_parts(result)
    assert not has_parts([x, np.ones(2), "text", None, object(), abs, Box])
    assert [float(each.sum()) for each in waited_leaves(result)] == [3, 6]
    assert [path for path, _ in leaves_of(result)][:2] == ["result['a'].held[0]", "result['a'].held[1].held"]
    assert difference(leaves_of(result), leaves_of({"a": Box([x, Box(3 * x)]), "b": 1}), None, None) is not None


def test_a_call_that_returns_a_plain_object_waits(request_for: Callable[..., Request]) -> None:
    released = threading.Event()

    def slow(x: Any) -> Any:
        released.wait(0.2)
        return x

    subject = subject_of(request_for(lambda x: Box(jax.pure_callback(slow, x, x)), jnp.ones(3)), "eager")
    with subject.active():
        assert subject.first_call(subject.inputs).held.is_ready()


def test_calls_run_on_the_subjects_device(request_for: Callable[..., Request]) -> None:
    subject = subject_of(request_for(lambda: jnp.ones(3), device="cpu:0"), "eager")
    with subject.active():
        assert jax.config.jax_default_device == CPU  # type: ignore[attr-defined]  # made at run time
    assert jax.config.jax_default_device is None  # type: ignore[attr-defined]  # made at run time
