"""Helpers are jitted in place for a while, whatever they are called through, and left as they were."""

from __future__ import annotations

import functools
import gc
import inspect
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import equinox as eqx
import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.probe.statics import explain_missing_static
from pytest_jitperf.probe.swap import Swap, swapped
from pytest_jitperf.probe.targets import Helper, resolve
from pytest_jitperf.probe.trampoline import Trampoline

X = jnp.arange(4.0)


def helpers_of(*targets: Any) -> tuple[Helper, ...]:
    """Resolves targets, each a target or a pair (target, options)."""
    return resolve([InnerTarget(*each) if isinstance(each, tuple) else InnerTarget(each) for each in targets])


def state_of(function: Any) -> tuple[Any, ...]:
    """Everything of a function that a swap might leave changed."""
    return (
        id(function.__code__),
        function.__defaults__,
        function.__kwdefaults__,
        function.__closure__,
        dict(function.__dict__),
        function.__name__,
        function.__qualname__,
        hasattr(function, "__signature__"),
    )


def jits_in(function: Callable[..., Any], *args: Any) -> list[str]:
    """Names of the jitted functions that a fresh trace calls, without those of jax.numpy."""
    equations = jax.make_jaxpr(lambda *args: function(*args))(*args).eqns
    return [str(each.params["name"]) for each in equations if each.primitive.name in ("jit", "pjit")]


# --- everything a helper can be called through --------------------------------------------------------------------


def helper(x: Any) -> Any:
    return x * 2.0 + 1.0


alias = helper


def doubled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args) * 2.0

    return wrapper


class Net:
    """No pytree: jit has to hold it static."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def method(self, x: Any) -> Any:
        return x * self.scale

    def __call__(self, x: Any) -> Any:
        return x - self.scale

    @staticmethod
    def static(x: Any) -> Any:
        return x + 3.0

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x + float(len(cls.__name__))

    @property
    def weight(self) -> Any:
        return jnp.full(4, self.scale)


class Deep(Net):
    def method(self, x: Any) -> Any:
        return super().method(x) + 1.0


def recursive(x: Any, n: int) -> Any:
    return x if n == 0 else recursive(x * 2.0, n - 1)


def variadic(x: Any, *more: Any, scale: float = 2.0, **named: Any) -> Any:
    return (x + sum(more) + sum(named.values())) * scale


def via_module_attribute() -> tuple[Any, Callable[..., Any]]:
    return helper, lambda x: globals()["helper"](x)


def via_alias() -> tuple[Any, Callable[..., Any]]:
    return helper, lambda x: alias(x)


def via_closure_cell() -> tuple[Any, Callable[..., Any]]:
    held = helper

    def outer(x: Any) -> Any:
        return held(x)

    return helper, outer


def via_lambda_closure() -> tuple[Any, Callable[..., Any]]:
    def make(held: Any) -> Callable[..., Any]:
        return lambda x: held(x)

    return helper, make(helper)


def via_default_argument() -> tuple[Any, Callable[..., Any]]:
    def outer(x: Any, held: Any = helper) -> Any:
        return held(x)

    return helper, outer


def via_partial() -> tuple[Any, Callable[..., Any]]:
    return helper, functools.partial(helper)


def via_container() -> tuple[Any, Callable[..., Any]]:
    table = {"f": [helper]}
    return helper, lambda x: table["f"][0](x)


def via_decorator() -> tuple[Any, Callable[..., Any]]:
    return helper, doubled(helper)


def via_instance() -> tuple[Any, Callable[..., Any]]:
    net = Net(3.0)
    return Net.method, lambda x: net.method(x)


def via_bound_method() -> tuple[Any, Callable[..., Any]]:
    bound = Net(3.0).method
    return bound, lambda x: bound(x)


def via_staticmethod() -> tuple[Any, Callable[..., Any]]:
    return Net.__dict__["static"], lambda x: Net(1.0).static(x)


def via_classmethod() -> tuple[Any, Callable[..., Any]]:
    return Net.of_class, lambda x: Net(1.0).of_class(x)


def via_recursion() -> tuple[Any, Callable[..., Any]]:
    return (recursive, {"static_argnames": ["n"]}), lambda x: recursive(x, 0)


def via_super() -> tuple[Any, Callable[..., Any]]:
    return Deep.method, lambda x: Deep(3.0).method(x)


def via_call() -> tuple[Any, Callable[..., Any]]:
    return Net.__call__, lambda x: Net(3.0)(x)


def via_getter() -> tuple[Any, Callable[..., Any]]:
    return Net.__dict__["weight"].fget, lambda x: Net(3.0).weight + x


def via_decorated_target() -> tuple[Any, Callable[..., Any]]:
    decorated = doubled(lambda x: x + 1.0)
    return decorated, lambda x: decorated(x)


def via_lambda_target() -> tuple[Any, Callable[..., Any]]:
    target: Any = lambda x: x * 7.0  # noqa: E731  # a lambda is what is tested
    return target, lambda x: target(x)


def via_free_variables() -> tuple[Any, Callable[..., Any]]:
    zeta, alpha, args, slot = 1.0, 2.0, 4.0, 8.0

    def target(x: Any) -> Any:
        return x * zeta + alpha * args - slot

    return target, lambda x: target(x)


def via_all_kinds_of_parameters() -> tuple[Any, Callable[..., Any]]:
    return variadic, lambda x: variadic(x, x, x, scale=3.0, other=x)


def via_defaults() -> tuple[Any, Callable[..., Any]]:
    def target(x: Any, shape: tuple[int, ...] = (2, 2), *, axis: int = 0) -> Any:
        return x.reshape(shape).sum(axis)

    return target, lambda x: target(x)


def via_vmap() -> tuple[Any, Callable[..., Any]]:
    return helper, jax.vmap(helper)


KINDS = [value for name, value in list(globals().items()) if name.startswith("via_")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__[4:])
def test_call_reaches_the_jitted_copy_and_the_function_is_left_as_it_was(kind: Callable[[], Any]) -> None:
    target, outer = kind()
    helpers = helpers_of(target)
    (function,) = [each.function for each in helpers]
    before, expected = state_of(function), outer(X)
    plain = jits_in(outer, X)

    with swapped(helpers) as swap:
        got = outer(X)
        calls = swap.records[0].calls
        jitted = jits_in(outer, X)

    np.testing.assert_allclose(got, expected, rtol=1e-6)
    assert (calls, jitted.count(function.__name__) - plain.count(function.__name__)) == (1, 1)
    assert state_of(function) == before
    assert jits_in(outer, X) == plain


def test_recursive_calls_are_each_counted() -> None:
    with swapped(helpers_of((recursive, {"static_argnames": "n"}))) as swap:
        got = recursive(X, 3)
    assert (swap.records[0].calls, got.tolist()) == (4, (X * 8).tolist())


def test_result_of_nested_helpers_is_right_and_both_are_counted() -> None:
    net = Deep(3.0)
    with swapped(helpers_of(Deep.method, Net.method)) as swap:
        got = net.method(X)
    assert [record.calls for record in swap.records] == [1, 1]
    assert got.tolist() == (X * 3 + 1).tolist()


def test_signature_and_name_can_be_read_meanwhile() -> None:
    with swapped(helpers_of(variadic)):
        assert (
            str(inspect.signature(variadic))
            == "(x: 'Any', *more: 'Any', scale: 'float' = 2.0, **named: 'Any') -> 'Any'"
        )
        assert (variadic.__name__, variadic.__code__.co_name) == ("variadic", "variadic")


def test_free_variables_can_be_read_meanwhile() -> None:
    zeta, alpha = 1.0, 2.0

    def target(x: Any) -> Any:
        return x * zeta + alpha

    with swapped(helpers_of(target)):
        assert inspect.getclosurevars(target).nonlocals == {"alpha": 2.0, "zeta": 1.0}


def test_signature_that_the_user_has_set_is_kept() -> None:
    def target(*args: Any) -> Any:
        return args[0]

    own = inspect.Signature([inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    target.__signature__ = own  # type: ignore[attr-defined]  # Python's own protocol
    with swapped(helpers_of(target)):
        assert inspect.signature(target) == own
    assert target.__dict__ == {"__signature__": own}


# --- restoring ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_error_in_the_body_passes_and_the_function_is_restored(error: type[BaseException]) -> None:
    before = state_of(helper)

    def body() -> None:
        with swapped(helpers_of(helper)):
            helper(X)
            raise error

    with pytest.raises(error):
        body()
    assert state_of(helper) == before


def test_error_in_the_helper_passes_unchanged_and_the_function_is_restored() -> None:
    raised = ZeroDivisionError("mine")

    def target(x: Any) -> Any:
        raise raised

    before = state_of(target)
    with pytest.raises(ZeroDivisionError) as caught, swapped(helpers_of(target)):
        target(X)
    assert caught.value is raised
    assert state_of(target) == before


def test_interrupt_while_entering_restores_what_was_swapped_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def second(x: Any) -> Any:
        return x

    def interrupted() -> None:
        assert helper.__code__ is not code
        raise KeyboardInterrupt

    code, before = helper.__code__, state_of(helper)
    monkeypatch.setattr(jax, "clear_caches", lambda: None)
    install = Trampoline.install
    monkeypatch.setattr(
        Trampoline,
        "install",
        lambda self: install(self) if helper.__code__ is code else interrupted(),
    )
    with pytest.raises(KeyboardInterrupt), swapped(helpers_of(helper, second)):
        pytest.fail("entered")
    assert state_of(helper) == before


def test_interrupt_while_restoring_does_not_leave_the_rest_swapped(monkeypatch: pytest.MonkeyPatch) -> None:
    def second(x: Any) -> Any:
        return x

    before = state_of(helper), state_of(second)
    remove, interrupts = Trampoline.remove, [KeyboardInterrupt]

    def interrupted(self: Any) -> None:
        if interrupts:
            raise interrupts.pop()
        remove(self)

    monkeypatch.setattr(Trampoline, "remove", interrupted)
    with pytest.raises(KeyboardInterrupt), swapped(helpers_of(helper, second)):
        pass
    assert (state_of(helper), state_of(second)) == before


def test_nothing_is_changed_when_the_second_helper_is_refused() -> None:
    before = state_of(helper)
    refused = helpers_of(helper, (recursive, {"static_argnames": "steps"}))
    with pytest.raises(MeasurementError, match=r"jax\.jit refuses the options"), swapped(refused):
        pytest.fail("entered")
    assert state_of(helper) == before


def test_second_swap_of_a_swapped_function_is_refused_and_the_first_stays() -> None:
    before = state_of(helper)
    with swapped(helpers_of(helper)) as first:
        with pytest.raises(MeasurementError) as caught, swapped(helpers_of(helper)):
            pytest.fail("entered")
        helper(X)
    assert str(caught.value) == (
        f"inner helper {__name__}.helper is jitted for another measurement at this moment. "
        "Do not call jitperf() within a function that is being measured."
    )
    assert first.records[0].calls == 1
    assert state_of(helper) == before


def test_swaps_of_different_functions_nest_and_repeat() -> None:
    def second(x: Any) -> Any:
        return helper(x)

    before = state_of(helper), state_of(second)
    for _ in range(3):
        with swapped(helpers_of(helper)) as outer, swapped(helpers_of(second)) as inner:
            second(X)
            assert (outer.records[0].calls, inner.records[0].calls) == (1, 1)
        assert (state_of(helper), state_of(second)) == before


def test_functions_traced_before_and_within_are_traced_anew() -> None:
    def outer(x: Any) -> Any:
        return helper(x)

    jitted = jax.jit(outer)

    def inner_names() -> list[str]:
        return [str(each.params["name"]) for each in jitted.trace(X).jaxpr.eqns if "name" in each.params]

    names = [inner_names()]
    with swapped(helpers_of(helper)):
        names.append(inner_names())
    names.append(inner_names())
    assert names == [[], ["helper"], []]


def test_trampoline_lets_go_of_the_jitted_function() -> None:
    def target(x: Any) -> Any:
        return x

    with swapped(helpers_of(target)) as swap:
        target(X)
        code = target.__code__
        jitted = weakref.ref(swap.records[0].jitted)
    swap.recording = True
    del swap
    gc.collect()
    assert jitted() is None
    stale = FunctionType(code, {})
    with pytest.raises(MeasurementError, match="called through a copy of its code"):
        stale(X)


# --- methods ------------------------------------------------------------------------------------------------------


@jax.tree_util.register_dataclass
@dataclass
class Registered:
    weight: Any

    def method(self, x: Any) -> Any:
        return self.weight * x


class Module(eqx.Module):
    weight: jax.Array

    def method(self, x: Any) -> Any:
        return self.weight * x


@dataclass
class Unhashable:
    weight: Any

    def method(self, x: Any) -> Any:
        return self.weight * x


class Base:
    def method(self, x: Any) -> Any:
        return x * self.weight  # type: ignore[attr-defined]  # of the classes below


class PlainChild(Base):
    weight = 2.0


@jax.tree_util.register_dataclass
@dataclass
class PytreeChild(Base):
    weight: Any


@pytest.mark.parametrize("kind", [Registered, Module])
def test_self_that_is_a_pytree_is_traced(kind: Any) -> None:
    first, second = kind(jnp.full(4, 2.0)), kind(jnp.full(4, 3.0))
    with swapped(helpers_of(kind.method)) as swap:
        swap.recording = True
        results = first.method(X).tolist(), second.method(X).tolist()
    assert results == ((X * 2).tolist(), (X * 3).tolist())
    assert [each.calls for each in swap.records[0].signatures] == [2]


def test_self_that_is_no_pytree_is_static() -> None:
    first, second = Net(2.0), Net(3.0)
    with swapped(helpers_of(Net.method)) as swap:
        swap.recording = True
        results = first.method(X).tolist(), second.method(X).tolist(), first.method(X).tolist()
    assert results == ((X * 2).tolist(), (X * 3).tolist(), (X * 2).tolist())
    assert [(each.args[0], each.calls) for each in swap.records[0].signatures] == [(first, 2), (second, 1)]


def test_method_shared_by_plain_and_pytree_classes_serves_both() -> None:
    plain, pytree = PlainChild(), PytreeChild(jnp.full(4, 3.0))
    with swapped(helpers_of(Base.method)) as swap:
        swap.recording = True
        results = plain.method(X).tolist(), pytree.method(X).tolist()
        again = [each.jitted(*each.args).tolist() for each in swap.records[0].signatures]
    assert results == ((X * 2).tolist(), (X * 3).tolist())
    assert again == list(results)


def test_self_that_can_be_neither_traced_nor_static_is_refused() -> None:
    with (
        pytest.raises(
            MeasurementError, match=r"neither trace its self \(a Unhashable is no pytree\) nor hold it static"
        ),
        swapped(helpers_of(Unhashable.method)),
    ):
        Unhashable(X).method(X)


class Switch:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def method(self, x: Any, flip: bool = False, power: int = 1) -> Any:
        return (-x if flip else x) * self.scale**power

    def gather(self, *shape: int) -> Any:
        return jnp.full(shape, self.scale)


@pytest.mark.parametrize(
    "options",
    [
        {"static_argnames": ["flip", "power"]},
        {"static_argnames": ("self", "flip", "power")},
        {"static_argnums": (2, 3)},
        {"static_argnums": (0, -1, 2)},
        {"static_argnums": [2], "static_argnames": ["flip"]},
        {"static_argnums": 2, "static_argnames": ()},
    ],
    ids=str,
)
def test_options_of_the_user_and_a_static_self_go_together(options: dict[str, Any]) -> None:
    switch = Switch(3.0)
    with swapped(helpers_of((Switch.method, options))):
        assert switch.method(X, True).tolist() == (X * -3).tolist()
        if -1 in list(np.ravel(options.get("static_argnums", ()))) or "power" in options.get("static_argnames", ()):
            assert switch.method(X, flip=True, power=2).tolist() == (X * -9).tolist()


def test_self_is_static_beside_variadic_arguments() -> None:
    with swapped(helpers_of((Switch.gather, {"static_argnums": (1, 2)}))):
        assert Switch(2.0).gather(2, 3).shape == (2, 3)


# --- options ------------------------------------------------------------------------------------------------------


def flagged(x: Any, flip: bool, shape: tuple[int, ...] = (2, 2)) -> Any:
    return (-x if flip else x).reshape(shape)


@pytest.mark.parametrize(
    "options",
    [
        {"static_argnames": ["flip", "shape"]},
        {"static_argnames": ["flip", "shape"], "static_argnums": ()},
        {"static_argnums": [1, 2], "static_argnames": ()},
        {"static_argnums": [-2, -1], "static_argnames": None},
    ],
    ids=str,
)
def test_static_arguments_are_static_however_they_are_given(options: dict[str, Any]) -> None:
    with swapped(helpers_of((flagged, options))):
        got = flagged(X, True, (4, 1)), flagged(X, flip=True, shape=(4, 1))
    assert [each.tolist() for each in got] == [(-X).reshape(4, 1).tolist()] * 2


def test_parameters_of_a_decorated_helper_are_those_of_what_it_wraps() -> None:
    @doubled
    def target(x: Any, n: int) -> Any:
        return recursive(x, n)

    with swapped(helpers_of((target, {"static_argnames": "n"}))):
        assert target(X, 2).tolist() == (X * 8).tolist()


def test_other_options_reach_jit() -> None:
    with swapped(helpers_of((helper, {"donate_argnums": 0}))):
        given = X + 0.0
        helper(given)
        assert given.is_deleted()


@pytest.mark.parametrize("options", [{"static_argname": "x"}, {"static_argnames": "y"}, {"static_argnums": 5}], ids=str)
def test_options_that_jit_refuses_are_refused(options: dict[str, Any]) -> None:
    with (
        pytest.raises(MeasurementError, match=rf"helper {__name__}.helper: jax.jit refuses"),
        swapped(helpers_of((helper, options))),
    ):
        pytest.fail("entered")


def test_transform_takes_the_place_of_jit() -> None:
    def target(x: Any, mode: str) -> Any:
        return x * 2 if mode == "double" else x

    with swapped(helpers_of((target, eqx.filter_jit))) as swap:
        assert target(X, "double").tolist() == (X * 2).tolist()
        assert jits_in(lambda x: target(x, "double"), X) == ["target"]
        assert swap.records[0].jitted.__wrapped__ is not target


def test_transform_gets_self_as_it_is() -> None:
    with swapped(helpers_of((Net.method, eqx.filter_jit))):
        assert Net(2.0).method(X).tolist() == (X * 2).tolist()


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (lambda _: None, "its transform returned NoneType, expected a callable"),
        (lambda _: 1 / 0, r"its transform raised ZeroDivisionError\('division by zero'\)"),
    ],
)
def test_transform_that_does_not_work_is_refused(transform: Any, message: str) -> None:
    with pytest.raises(MeasurementError, match=message), swapped(helpers_of((helper, transform))):
        pytest.fail("entered")


# --- helpers that are jitted already ------------------------------------------------------------------------------


def times(x: Any, n: int) -> Any:
    return x * n


jitted_helper: Any = jax.jit(times, static_argnames="n")


def test_jitted_helper_keeps_its_own_jit_and_is_counted() -> None:
    before = state_of(times)
    helpers = helpers_of(jitted_helper)
    with swapped(helpers) as swap:
        swap.recording = True
        got = jitted_helper(X, 3)
        names = jits_in(lambda x: jitted_helper(x, 3), X)
        (signature,) = swap.records[0].signatures
        again = signature.jitted.trace(*signature.args, **signature.kwargs)
    assert (got.tolist(), names) == ((X * 3).tolist(), ["times"])
    assert swap.records[0].calls >= 1
    assert swap.records[0].jitted is jitted_helper
    assert (signature.args[1:], signature.concrete) == ((3,), False)
    assert [str(each) for each in again.jaxpr.in_avals] == ["float32[4]"]
    assert state_of(times) == before


def test_jitted_method_is_counted() -> None:
    class Model:
        @functools.partial(jax.jit, static_argnums=0)
        def method(self, x: Any) -> Any:
            return x + 1

    with swapped(helpers_of(Model.method)) as swap:
        Model().method(X)
    assert [record.calls for record in swap.records] == [1]


# --- recording ----------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded() -> Iterator[Swap]:
    """A swap of ``helper`` and ``scaled`` that records."""
    with swapped(helpers_of(helper, (scaled, {"static_argnames": "n"}))) as swap:
        swap.recording = True
        yield swap


def scaled(x: Any, n: int, y: Any = 1.0) -> Any:
    return jax.tree.map(lambda leaf: leaf * n * y, x)


def test_nothing_is_recorded_until_it_is_turned_on_nor_after_it_is_turned_off() -> None:
    with swapped(helpers_of(helper)) as swap:
        helper(X)
        swap.recording = True
        helper(X)
        swap.recording = False
        helper(X[:2])
        assert (swap.records[0].calls, [each.calls for each in swap.records[0].signatures]) == (3, [1])
    swap.recording = True
    assert helper(X).tolist() == (X * 2 + 1).tolist()
    assert swap.records[0].calls == 3


def test_concrete_arguments_are_kept_as_given(recorded: Swap) -> None:
    given = {"a": X}
    scaled(given, n=2)
    (signature,) = recorded.records[1].signatures
    assert (signature.concrete, signature.args, signature.kwargs) == (True, (given,), {"n": 2})
    assert signature.args[0]["a"] is X


def test_tracers_are_kept_as_shape_dtype_and_weak_type(recorded: Swap) -> None:
    jax.jit(lambda x, w: scaled((x, w, x), 3))(X, 2.0)
    (signature,) = recorded.records[1].signatures
    kept = signature.args[0]
    assert (signature.concrete, signature.args[1]) == (False, 3)
    assert kept == (
        jax.ShapeDtypeStruct((4,), jnp.float32),
        jax.ShapeDtypeStruct((), jnp.float32, weak_type=True),
        jax.ShapeDtypeStruct((4,), jnp.float32),
    )


def test_random_keys_are_kept_too() -> None:
    def draw(key: Any) -> Any:
        return jax.random.normal(key, (2,))

    with swapped(helpers_of(draw)) as swap:
        swap.recording = True
        jax.jit(lambda key: draw(key))(jax.random.key(0))
        (signature,) = swap.records[0].signatures
        lowered = signature.jitted.trace(*signature.args).lower()
    assert (signature.args[0].shape, "normal" in lowered.as_text()) == ((), True)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([lambda: scaled(X, 2), lambda: scaled(X + 1, 2)], [2]),
        ([lambda: scaled(X, 2), lambda: scaled(X, 3), lambda: scaled(X, 2)], [2, 1]),
        ([lambda: scaled(X, 2), lambda: scaled(X, n=2)], [1, 1]),
        ([lambda: scaled(X, 2, 1.0), lambda: scaled(X, 2, 5.0)], [2]),
        ([lambda: scaled(X, 2, 1.0), lambda: scaled(X, 2, 1)], [1, 1]),
        ([lambda: scaled(X, 2, True), lambda: scaled(X, 2, 1)], [1, 1]),
        ([lambda: scaled(X, 2), lambda: scaled(X[:2], 2)], [1, 1]),
        ([lambda: scaled(X, 2), lambda: scaled(X.astype(jnp.int32), 2)], [1, 1]),
        ([lambda: scaled([X], 2), lambda: scaled((X,), 2)], [1, 1]),
        ([lambda: scaled(X, 1), lambda: scaled(X, True)], [1, 1]),
        (
            [lambda: scaled(X, n=2), lambda: scaled(X, n=3), lambda: scaled(n=2, x=X), lambda: scaled(x=X, n=2)],
            [1, 1, 2],
        ),
        ([lambda: scaled(np.asarray(X), 2), lambda: jax.jit(lambda x: scaled(x, 2))(X)], [1, 1]),
        ([lambda: jax.jit(lambda x: (scaled(x, 2), scaled(x, 2)))(X)], [2]),
    ],
    ids=[
        "values of arrays",
        "static values",
        "position or keyword",
        "values of traced numbers",
        "types of numbers",
        "bool and int",
        "shapes",
        "dtypes",
        "containers",
        "types of static values",
        "keywords",
        "concrete and traced",
        "both traced",
    ],
)
def test_signatures_are_told_apart_as_jit_does(recorded: Swap, calls: list[Any], expected: list[int]) -> None:
    for call in calls:
        call()
    assert [each.calls for each in recorded.records[1].signatures] == expected


def test_transform_tells_numbers_apart_by_value() -> None:
    with swapped(helpers_of((scaled, eqx.filter_jit))) as swap:
        swap.recording = True
        for y in (1.0, 5.0, 1.0):
            scaled(X, 2, y)
    assert [(each.args[2], each.calls) for each in swap.records[0].signatures] == [(1.0, 2), (5.0, 1)]


def test_program_of_each_signature_can_be_exported_within(recorded: Swap) -> None:
    scaled(X, 2)
    jax.jit(lambda x: scaled(x, 3))(X)
    results = []
    for signature in recorded.records[1].signatures:
        exported = jax.export.export(signature.jitted)(*signature.args, **signature.kwargs)
        results.append(exported.call(X).tolist())
    assert results == [(X * 2).tolist(), (X * 3).tolist()]


def test_helpers_without_a_call_are_named() -> None:
    helpers = helpers_of(helper, scaled)
    with swapped(helpers) as swap:
        helper(X)
    assert swap.never_called() == (helpers[1],)


# --- failing calls ------------------------------------------------------------------------------------------------


def bend(x: Any, flip: bool) -> Any:
    return -x if flip else x


def caller(x: Any, flip: bool) -> Any:
    return bend(x, flip) * 2


def test_arguments_of_the_innermost_failing_helper_are_kept_and_explained() -> None:
    with swapped(helpers_of((caller, {"static_argnames": "flip"}), bend)) as swap:
        with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
            caller(X, True)
        within = swap.explain("inner", caught.value)
    outer, inner = swap.records
    assert (outer.failed, inner.failed) == (None, ((jax.ShapeDtypeStruct((4,), jnp.float32), True), {}))
    assert (
        within
        == swap.explain("inner", caught.value)
        == (
            f"inner needs a static argument: {__name__}.bend got flip=True (bool). "
            f'Add  inner={{"{__name__}.bend": {{"static_argnames": ["flip"]}}}}  to the marker'
        )
    )


def test_explanation_keeps_the_options_given_and_takes_a_plain_self_for_granted() -> None:
    name = f"{__name__}.Switch.method"
    with swapped(helpers_of((Switch.method, {"static_argnames": ["power"]}))) as swap:
        with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
            Switch(1.0).method(X, flip=True, power=2)
        explained = swap.explain("both", caught.value)
    assert explained == (
        f"both needs a static argument: {name} got flip=True (bool). "
        f'Make it  inner={{"{name}": {{"static_argnames": ["power", "flip"]}}}}  in the marker'
    )


def test_explanation_looks_through_a_function_that_is_swapped_at_the_time() -> None:
    with swapped(helpers_of(bend)):
        with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
            bend(X, True)
        within = explain_missing_static("inner", "f", bend, (X, True), {}, caught.value, "inner")
    assert within is not None
    assert within.startswith("inner needs a static argument: f got flip=True (bool).")


def test_error_of_the_users_own_is_not_explained() -> None:
    def target(x: Any, n: int) -> Any:
        raise ValueError("mine")

    with swapped(helpers_of(target)) as swap:
        with pytest.raises(ValueError, match="mine") as caught:
            target(X, 2)
        assert swap.explain("inner", caught.value) is None
        assert swap.records[0].failed is not None
