"""Compilations over a sequence of inputs: what caused each of them, and the line about it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf import Strategy
from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.probe.measure import Probed

HERE = Path(__file__).name
X = jnp.ones(8)
KEY = jax.random.key(0)
STATIC = {"static_argnames": ("n",)}

SHAPES = "pad or bucket the shapes"
DTYPE = "fix the dtype"
STRUCTURE = "always the same structure"
VALUES = "trace it, or keep to few values"
HOIST = "hoist the lambda: make it once"
ONCE = "a new function object is jitted (jit it once, outside the call)"
PLACE = "jax.device_put it once to where it stays"


def f(x: Any, n: Any = 2, how: Any = None) -> Any:
    return jax.tree.map(lambda leaf: leaf, x)


def calls_f(*args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


class Plain:
    pass


@dataclass(frozen=True)
class Config:
    width: int = 3
    name: str = "a"


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["act"])
@dataclass
class Layer:
    w: Any
    b: Any = None
    act: Any = None


class Module(eqx.Module):
    w: jax.Array
    act: Any = eqx.field(static=True, default=jnp.sin)

    def __call__(self, x: Any) -> Any:
        return self.act(self.w * x)


def positional(*args: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, {}


CAUSES: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "shape": (X, jnp.ones(9), f"x: f32[8] -> f32[9] ({SHAPES})", {}),
    "dtype": (X, X.astype(int), f"x: f32[8] -> i32[8] ({DTYPE})", {}),
    "shape and dtype": (X, jnp.ones(9, int), f"x: f32[8] -> i32[9] ({SHAPES}; {DTYPE})", {}),
    "weak type": (
        1.0,
        jnp.float32(1),
        "x: weak f32[] -> f32[] (jnp.asarray with a dtype at every caller)",
        {},
    ),
    "a Python int for a float": (
        1.0,
        1,
        "x: weak f32[] -> weak i32[] (always the same Python type, or jnp.asarray with a dtype)",
        {},
    ),
    "keyword": (
        (X, 1),
        ((X,), {"n": 1}),
        "n: by position -> by keyword (always pass it the same way)",
        {},
    ),
    "a default that is given": (X, ((X,), {"how": None}), f"how: left out -> None ({STRUCTURE})", {}),
    "length of a list": (([X],), ([X, X],), f"x: list of 1 -> list of 2 ({STRUCTURE})", {}),
    "list for a tuple": (([X],), positional((X,)), f"x: list of 1 -> tuple of 1 ({STRUCTURE})", {}),
    "key of a dict": (({"a": X},), ({"a": X, "b": X},), f"x['b']: absent -> f32[8] ({STRUCTURE})", {}),
    "key of a dict gone": (({"a": X, "b": X},), ({"a": X},), f"x['b']: f32[8] -> absent ({STRUCTURE})", {}),
    "array for None": ((X, 1, None), (X, 1, X), f"how: None -> f32[8] ({STRUCTURE})", {}),
    "nested": (
        ({"l": [{"w": X}]},),
        ({"l": [{"w": X[:4]}]},),
        f"x['l'][0]['w']: f32[8] -> f32[4] ({SHAPES})",
        {},
    ),
    "many leaves": (
        (dict.fromkeys("abcde", X),),
        (dict.fromkeys("abcde", X[:4]),),
        f"x['a']: f32[8] -> f32[4]; x['b']: f32[8] -> f32[4]; x['c']: f32[8] -> f32[4]; 2 more ({SHAPES})",
        {},
    ),
    "registered dataclass": ((Layer(X),), (Layer(X, X),), f"x.b: None -> f32[8] ({STRUCTURE})", {}),
    "static field of one": (
        (Layer(X, act="relu"),),
        (Layer(X, act="gelu"),),
        f"x.act: static 'relu' -> 'gelu' ({VALUES})",
        {},
    ),
    "equinox module": ((Module(X),), (Module(X[:1]),), f"x.w: f32[8] -> f32[1] ({SHAPES})", {}),
    "lambda in a module": (
        (Module(X, lambda v: v),),
        (Module(X, lambda v: v),),
        f"x.act: a new function <lambda> ({HOIST})",
        {},
    ),
    "typed key": (KEY, jax.random.split(KEY, 3), f"x: key<fry>[] -> key<fry>[3] ({SHAPES})", {}),
    "implementation of keys": (KEY, jax.random.key(0, impl="rbg"), f"x: key<fry>[] -> key<rbg>[] ({DTYPE})", {}),
    "static value": ((X, 3), (X, 4), f"n: static 3 -> 4 ({VALUES})", STATIC),
    "type of a static value": ((X, 1), (X, True), f"n: static 1 -> True ({VALUES})", STATIC),
    "field of a static value": ((X, Config(3)), (X, Config(4)), f"n.width: static 3 -> 4 ({VALUES})", STATIC),
    "static lambda": ((X, lambda: 1), (X, lambda: 1), f"n: a new function <lambda> ({HOIST})", STATIC),
    "other static function": (
        (X, jnp.sin),
        (X, jnp.cos),
        "n: static function sin -> function cos (few functions, each made once)",
        STATIC,
    ),
    "static partial": (
        (X, functools.partial(f)),
        (X, functools.partial(f)),
        "n: a new partial of f (hoist the partial: make it once)",
        STATIC,
    ),
    "static object": (
        (X, Plain()),
        (X, Plain()),
        "n: another Plain (reuse one object, or give its class __eq__ and __hash__)",
        STATIC,
    ),
}


def is_call(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], tuple) and isinstance(value[1], dict)


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("strategy", ["outer", "inner"])
def test_each_compilation_names_its_cause(measured: Callable[..., Probed], cause: str, strategy: str) -> None:
    first, second, line, jit = CAUSES[cause]
    args, kwargs = first if is_call(first) else (first if isinstance(first, tuple) else (first,), {})
    how: dict[str, Any] = {"jit": jit} if strategy == "outer" else {"inner": [InnerTarget(f, jit)]}
    function = f if strategy == "outer" else calls_f

    found = measured(function, *args, kwargs=kwargs, strategy=strategy, sequence=[first, second], equality=None, **how)

    assert found.measurement.host["compilations"] == 2
    assert found.retraces == {"compilations": (f"input 2: f, {line}",), "primitive_compilations": ()}
    assert found.compiled == "over 2 inputs: f traced 2, lowered 2, compiled 2"


@pytest.mark.parametrize(
    "same",
    [
        (X, X + 1),
        (X, np.ones(8, np.float32)),
        (1.0, 2.0),
        (({"a": X, "b": X},), ({"b": X, "a": X},)),
        (((X,), {"n": 1, "how": X}), ((X,), {"how": X, "n": 1})),
        ((X, KEY), (X, jax.random.key(3))),
    ],
)
def test_what_needs_no_compilation_is_not_named(measured: Callable[..., Probed], same: Any) -> None:
    args, kwargs = same[0] if is_call(same[0]) else (same[0] if isinstance(same[0], tuple) else (same[0],), {})
    found = measured(f, *args, kwargs=kwargs, sequence=same, equality=None)
    assert found.measurement.host["compilations"] == 1
    assert found.retraces == {"compilations": (), "primitive_compilations": ()}


class Stepper:
    def step(self, x: Any) -> Any:
        return x + 1

    @functools.partial(jax.jit, static_argnums=0)
    def jitted_step(self, x: Any) -> Any:
        return x + 1


STEPPER = Stepper()


@jax.jit
def add_one(x: Any) -> Any:
    return x + 1


def jits_a_lambda(x: Any) -> Any:
    return jax.jit(lambda v: v + 1)(x)


def jits_a_partial(x: Any) -> Any:
    return jax.jit(functools.partial(f, n=3))(x)


def jits_a_method(x: Any) -> Any:
    return jax.jit(STEPPER.step)(x)


def filters_a_lambda(x: Any) -> Any:
    return eqx.filter_jit(lambda v: v + 1)(x)


def makes_its_object(x: Any) -> Any:
    return Stepper().jitted_step(x)


def jits_the_same(x: Any) -> Any:
    return jax.jit(f)(x)


def line_of(function: Any) -> str:
    """The line after its ``def``."""
    return f"{HERE}:{function.__code__.co_firstlineno + 1}"


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (jits_a_lambda, f"<lambda> ({line_of(jits_a_lambda)}), {ONCE}"),
        (jits_a_partial, f"f, {ONCE}"),
        (jits_a_method, f"step, {ONCE}"),
        (filters_a_lambda, f"<lambda> ({line_of(filters_a_lambda)}), {ONCE}"),
        (
            makes_its_object,
            "jitted_step, self: another Stepper (reuse one object, or give its class __eq__ and __hash__)",
        ),
    ],
)
def test_what_is_made_anew_in_each_call_is_found(
    measured: Callable[..., Probed], function: Callable[..., Any], line: str
) -> None:
    in_sequence = measured(function, X, strategy="eager", sequence=[X, X, X])
    assert in_sequence.measurement.host["compilations"] == 3
    assert in_sequence.retraces["compilations"] == (f"input 2: {line}", f"input 3: {line}")

    alone = measured(function, X, strategy="eager")
    assert alone.measurement.host["compilations"] == 2
    assert alone.retraces["compilations"] == (f"every call: {line}",)
    assert alone.measurement.notes == (f"compiles again in every call: {line}",)


def test_the_same_function_jitted_anew_costs_nothing(measured: Callable[..., Probed]) -> None:
    found = measured(jits_the_same, X, strategy="eager", sequence=[X, X])
    assert (found.measurement.host["compilations"], found.retraces["compilations"]) == (1, ())


def body(carry: Any, x: Any) -> Any:
    return carry + x, x


def scans_a_lambda(x: Any) -> Any:
    return jax.lax.scan(lambda carry, v: (carry + v, v), jnp.float32(0), x)[0]


def branches_on_lambdas(x: Any) -> Any:
    return jax.lax.cond(True, lambda v: v + 1, lambda v: v - 1, x)


def scans_a_function(x: Any) -> Any:
    return jax.lax.scan(body, jnp.float32(0), x)[0]


@pytest.mark.parametrize(("function", "operation"), [(scans_a_lambda, "scan"), (branches_on_lambdas, "cond")])
def test_a_new_body_in_each_call_of_eager_code_is_found(
    measured: Callable[..., Probed], function: Callable[..., Any], operation: str
) -> None:
    line = f"{operation} at {line_of(function)}, a new body <lambda> ({HOIST})"
    found = measured(function, X, strategy="eager", sequence=[X, X])
    again = [each for each in found.retraces["primitive_compilations"] if "for the first time" not in each]
    assert again == [f"input 2: {line}"]
    assert found.measurement.notes == (f"compiles again in every call: {line}",)
    assert found.retraces["compilations"] == ()


def test_a_body_made_once_is_compiled_once(measured: Callable[..., Probed]) -> None:
    found = measured(scans_a_function, X, strategy="eager", sequence=[X, X])
    assert not [each for each in found.retraces["primitive_compilations"] if "for the first time" not in each]
    assert found.measurement.notes == ()


def sliced(x: Any, n: int) -> Any:
    return x[:n]


def test_a_slice_of_another_size_is_found_in_eager_code(measured: Callable[..., Probed]) -> None:
    found = measured(sliced, X, 3, strategy="eager", sequence=[(X, 3), (X, 4), (X, 3), (jnp.ones(9), 4)])
    where = f"dynamic_slice at {line_of(sliced)}"
    assert found.measurement.host["primitive_compilations"] == 3
    assert found.retraces["primitive_compilations"] == (
        f"input 2: {where}, slice_sizes: static (3,) -> (4,) (slice to few sizes, or mask)",
        f"input 4: 1 operation ({where}), x: f32[8] -> f32[9] ({SHAPES})",
    )


def under_x64(x: Any, on: bool) -> Any:
    with jax.enable_x64(on):
        return add_one(x)


def a_number_under_x64(x: Any, on: bool) -> Any:
    with jax.enable_x64(on):
        return add_one(2.0)


def under_precision(x: Any, precision: str) -> Any:
    with jax.default_matmul_precision(precision):
        return add_one(x)


@pytest.mark.parametrize(
    ("function", "values", "change"),
    [
        (under_x64, (False, True), "x64 off -> on"),
        (a_number_under_x64, (False, True), "x64 off -> on"),
        (under_precision, ("float32", "bfloat16"), "matmul precision float32 -> bfloat16"),
    ],
)
def test_settings_of_jax_are_named(
    measured: Callable[..., Probed], function: Callable[..., Any], values: tuple[Any, Any], change: str
) -> None:
    found = measured(function, X, values[0], strategy="eager", sequence=[(X, each) for each in values], equality=None)
    assert found.retraces["compilations"] == (f"input 2: add_one, {change} (set it once, for the whole process)",)


def test_an_array_that_moved_is_compiled_for_again_and_not_traced(measured: Callable[..., Probed]) -> None:
    arrays = [jnp.ones(8), jax.device_put(X, jax.devices("cpu")[0])]
    found = measured(f, arrays[0], device="as-is", sequence=arrays)
    assert found.retraces["compilations"] == (f"input 2: f, x: uncommitted -> cpu:0 ({PLACE})",)
    assert found.compiled == "over 2 inputs: f traced 1, lowered 2, compiled 2"


def several(x: Any) -> Any:
    return f(x), f(x[:4]), calls_f(x[:4])


def test_helpers_are_named_by_their_own_arguments(measured: Callable[..., Probed]) -> None:
    found = measured(several, X, strategy="inner", inner=[f, calls_f])
    assert found.measurement.host["compilations"] == 3
    assert found.retraces["compilations"] == (
        "first call: f, calls_f, for the first time",
        f"first call: f, x: f32[8] -> f32[4] ({SHAPES})",
    )


def test_a_caller_that_is_jitted_has_one_program(measured: Callable[..., Probed]) -> None:
    found = measured(several, X, strategy="both", inner=[f, calls_f], sequence=[X, jnp.ones(9)])
    assert found.retraces["compilations"] == (f"input 2: several, x: f32[8] -> f32[9] ({SHAPES})",)


def square(v: Any) -> Any:
    return v * v


def differentiated(x: Any) -> Any:
    return jax.grad(lambda v: square(v).sum())(x), square(x)


def test_transformations_of_a_helper_have_programs_of_their_own(measured: Callable[..., Probed]) -> None:
    found = measured(differentiated, X, strategy="inner", inner=[square], sequence=[X, jnp.ones(9)])
    shape = f"v: f32[8] -> f32[9] ({SHAPES})"
    assert found.measurement.host["compilations"] == 6
    assert found.retraces["compilations"] == (
        "input 1: square, square (transposed), for the first time",
        "input 1: square, called under grad -> plainly (jit around the transformation)",
        f"input 2: square, {shape}",
        f"input 2: square (transposed), x: f32[8] -> f32[9] ({SHAPES})",
        f"input 2: square, {shape}",
    )


def batched(x: Any) -> Any:
    return jax.vmap(square)(x)


def test_the_size_of_a_batch_is_seen_through_vmap(measured: Callable[..., Probed]) -> None:
    found = measured(batched, X, strategy="inner", inner=[square], sequence=[X, jnp.ones(9)])
    assert found.retraces["compilations"] == (f"input 2: square, v: f32[8] -> f32[9] ({SHAPES})",)


def apply(model: Any, x: Any, n: int = 1) -> Any:
    return model(x) * n


def test_another_librarys_jit_is_named_by_the_users_arguments(measured: Callable[..., Probed]) -> None:
    model = Module(X)
    sequence = [(model, X, 1), (model, X, 2), (model, X, np.array(2)), (model, X[:1], 2)]
    found = measured(apply, *sequence[0], strategy=Strategy("filtered", eqx.filter_jit), sequence=sequence)
    assert found.retraces["compilations"] == (
        f"input 2: apply, n: static 1 -> 2 ({VALUES})",
        "input 3: apply, n: static 2 -> i32[] (always an array: jnp.asarray)",
        f"input 4: apply, x: f32[8] -> f32[1] ({SHAPES})",
    )


def calls_a_module(x: Any, w: Any) -> Any:
    return eqx.filter_jit(Module(w))(x)


def test_a_module_that_is_called_is_an_argument_too(measured: Callable[..., Probed]) -> None:
    found = measured(calls_a_module, X, X, strategy="eager", sequence=[(X, X), (X, X + 1), (X, X[:1])])
    assert found.retraces["compilations"] == (f"input 3: Module, self.w: f32[8] -> f32[1] ({SHAPES})",)


SCALES = [lambda x, k=k: x * k for k in range(3)]
LAYERS = [jax.jit(each) for each in SCALES]


def stacked(x: Any) -> Any:
    for layer in LAYERS:
        x = layer(x)
    return x


def test_functions_of_one_code_are_not_taken_for_one_made_anew(measured: Callable[..., Probed]) -> None:
    found = measured(stacked, X, strategy="eager", sequence=[X, X])
    name = f"<lambda> ({HERE}:{SCALES[0].__code__.co_firstlineno})"
    assert found.retraces["compilations"] == (f"input 1: {name} x3, for the first time",)


def test_a_call_is_compared_with_the_one_most_like_it(measured: Callable[..., Probed]) -> None:
    sequence = [X, jnp.ones(9, int), jnp.ones(10)]
    found = measured(f, X, sequence=sequence)
    assert found.retraces["compilations"][1] == f"input 3: f, x: f32[8] -> f32[10] ({SHAPES})"


def test_many_compilations_are_told_in_ten_lines(measured: Callable[..., Probed]) -> None:
    found = measured(f, X, sequence=[jnp.ones(size) for size in range(1, 20)])
    lines = found.retraces["compilations"]
    assert len(lines) == 11
    assert lines[0] == f"input 2: f, x: f32[1] -> f32[2] ({SHAPES})"
    assert lines[-1] == "and 8 more"


def test_values_are_never_told(measured: Callable[..., Probed]) -> None:
    secret = 31337.5
    first = ({"w": jnp.full(8, secret)}, secret, Module(jnp.full(8, secret)))
    second = ({"w": jnp.full(4, secret)}, secret, Module(jnp.full(4, secret)))
    found = measured(f, *first, sequence=[first, second], equality=None)
    assert found.measurement.host["compilations"] == 2
    assert "31337" not in str(found.retraces)


class Unfriendly:
    """Refuses to be compared."""

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    def __hash__(self) -> int:
        return 1


def test_a_static_object_that_cannot_be_compared_is_in_nobodys_way(measured: Callable[..., Probed]) -> None:
    value = Unfriendly()
    found = measured(f, X, value, jit=STATIC, strategy="outer", sequence=[(X, value), (X[:4], value)], equality=None)
    assert found.retraces["compilations"] == (f"input 2: f, x: f32[8] -> f32[4] ({SHAPES})",)


def test_ragged_batches_cost_one_more_compilation_and_padded_ones_none(measured: Callable[..., Probed]) -> None:
    data = np.ones((100, 4), np.float32)
    ragged = [data[i : i + 32] for i in range(0, 100, 32)]
    padded = [np.pad(each, ((0, 32 - len(each)), (0, 0))) for each in ragged]

    def loss(x: Any) -> Any:
        return jnp.mean(x**2)

    first, second = (measured(loss, each[0], sequence=each) for each in (ragged, padded))
    assert (first.measurement.host["compilations"], first.retraces["compilations"]) == (
        2,
        (f"input 4: loss, x: f32[32,4] -> f32[4,4] ({SHAPES})",),
    )
    assert (second.measurement.host["compilations"], second.retraces["compilations"]) == (1, ())


def test_the_users_arrays_live_on_where_calls_donate(measured: Callable[..., Probed]) -> None:
    arrays = [jax.device_put(jnp.ones(n), jax.devices()[0]) for n in (3, 4, 3)]
    measured(lambda x: x + 1, arrays[0], jit={"donate_argnums": 0}, sequence=arrays)
    assert [each.is_deleted() for each in arrays] == [False] * 3
