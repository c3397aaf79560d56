"""What may be named in ``inner=``, and how the rest is refused."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.probe.targets import Helper, resolve

HERE = __name__


def plain(x: Any) -> Any:
    return x


def other(x: Any) -> Any:
    return x


def decorated_with(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any) -> Any:
        return function(*args)

    return wrapper


@decorated_with
def decorated(x: Any) -> Any:
    return x


jitted: Any = jax.jit(other)
filter_jitted = eqx.filter_jit(other)
vmapped = jax.vmap(plain)
jitted_vmap = jax.jit(vmapped)
jitted_twice = jax.jit(jitted)
jitted_partial = jax.jit(functools.partial(plain))
anonymous = lambda x: x  # noqa: E731  # a lambda is what is tested


def under_jit(self: Any, x: Any) -> Any:
    return x


class Model:
    def method(self, x: Any) -> Any:
        return x

    @staticmethod
    def static(self: Any) -> Any:  # the name must not make it a method
        return self

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x

    @classmethod
    def of_kind(kind, x: Any) -> Any:  # the name must not make it a plain function
        return x

    @property
    def size(self) -> int:
        return 0

    jitted = jax.jit(under_jit)

    class Nested:
        def method(self, x: Any) -> Any:
            return x

    partial_method = functools.partialmethod(method)

    def __call__(self, x: Any) -> Any:
        return x


class Child(Model):
    pass


class Module(eqx.Module):
    weight: Any

    def method(self, x: Any) -> Any:
        return x


class Stack:
    def __init__(self) -> None:
        self.n = 1

    def pile(self, x: Any) -> Any:
        return x * self.n


def one(target: Any, options: Any = None) -> Helper:
    """The one helper that a target stands for."""
    (helper,) = resolve([InnerTarget(target, options)])
    return helper


def name_of(value: Any) -> str:
    """A test id without addresses."""
    return value if isinstance(value, str) else getattr(value, "__qualname__", type(value).__name__)


def helper_of(function: Any, **attributes: Any) -> Helper:
    return Helper(name=f"{HERE}.{function.__qualname__}", function=function, **attributes)


# --- accepted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "function", "name", "receiver"),
    [
        (plain, plain, "plain", None),
        (anonymous, anonymous, "<lambda>", None),
        (decorated, decorated, "decorated", None),
        (jax.vmap(plain), None, "plain", None),
        (Model.method, Model.method, "Model.method", "self"),
        (Model().method, Model.method, "Model.method", "self"),
        (Child.method, Model.method, "Model.method", "self"),
        (Model.__call__, Model.__call__, "Model.__call__", "self"),
        (Model.Nested.method, Model.Nested.method, "Model.Nested.method", "self"),
        (Model.static, Model.static, "Model.static", None),
        (Model.__dict__["static"], Model.static, "Model.static", None),
        (Model.of_class, Model.__dict__["of_class"].__func__, "Model.of_class", "cls"),
        (Model.__dict__["of_class"], Model.__dict__["of_class"].__func__, "Model.of_class", "cls"),
        (Model.__dict__["of_kind"].__func__, Model.__dict__["of_kind"].__func__, "Model.of_kind", "cls"),
        (Model.__dict__["size"].fget, Model.__dict__["size"].fget, "Model.size", "self"),
        (Module(jnp.ones(2)).method, Module.method, "Module.method", "self"),
        (f"{HERE}.plain", plain, "plain", None),
        (f"{HERE}:plain", plain, "plain", None),
        (f"{HERE}.anonymous", anonymous, "<lambda>", None),
        (f"{HERE}.Model.method", Model.method, "Model.method", "self"),
        (f"{HERE}:Model.method", Model.method, "Model.method", "self"),
        (f"{HERE}.Child.method", Model.method, "Model.method", "self"),
        (f"{HERE}.Model.Nested.method", Model.Nested.method, "Model.Nested.method", "self"),
        (f"{HERE}.Model.static", Model.static, "Model.static", None),
        (f"{HERE}.Model.of_class", Model.__dict__["of_class"].__func__, "Model.of_class", "cls"),
        (f"{HERE}.Model.size.fget", Model.__dict__["size"].fget, "Model.size", "self"),
        (f"{HERE}.Module.method", Module.method, "Module.method", "self"),
    ],
    ids=name_of,
)
def test_target_is_resolved_to_the_function_beneath(target: Any, function: Any, name: str, receiver: Any) -> None:
    expected = Helper(name=f"{HERE}.{name}", function=function or target, receiver=receiver)
    assert one(target) == expected


def test_methods_of_a_class_made_in_a_function_are_known_by_their_parameter() -> None:
    class Local:
        def method(self, x: Any) -> Any:
            return x

        @staticmethod
        def static(x: Any) -> Any:
            return x

    def function(self: Any) -> Any:
        return self

    assert [one(each).receiver for each in (Local.method, Local.static, function)] == ["self", None, None]


@pytest.mark.parametrize(
    ("target", "function"),
    [
        (jitted, other),
        (f"{HERE}.jitted", other),
        (jitted_twice, other),
        (jitted_partial, plain),
        (jitted_vmap, vmapped),
        (filter_jitted, other),
        (Model.jitted, under_jit),
        (Model().jitted, under_jit),
        (f"{HERE}.Model.jitted", under_jit),
    ],
    ids=name_of,
)
def test_jitted_function_is_left_as_it_is_with_a_note(target: Any, function: Any) -> None:
    helper = one(target)
    assert helper.function is function
    assert helper.jitted.__wrapped__ is not None
    assert helper.notes == (
        f"{HERE}.{function.__qualname__} is jitted already: it is left as it is under every strategy, and only its "
        "traces are counted",
    )


def test_function_that_only_wraps_a_jitted_one_is_plain() -> None:
    @functools.wraps(jitted)
    def wrapper(x: Any) -> Any:
        return jitted(x)

    function: Any = wrapper
    assert one(wrapper) == Helper(name=f"{HERE}.other", function=function)


def test_options_are_kept_as_given() -> None:
    options = {"static_argnames": ["x"]}
    assert [one(plain, options).options, one(plain, eqx.filter_jit).options] == [options, eqx.filter_jit]


@pytest.mark.parametrize("options", [(None, {"inline": True}), ({"inline": True}, None), ({"inline": True},) * 2])
def test_function_named_twice_is_one_helper(options: tuple[Any, Any]) -> None:
    targets = [InnerTarget(plain, options[0]), InnerTarget(other), InnerTarget(f"{HERE}.plain", options[1])]
    assert resolve(targets) == (
        helper_of(plain, options={"inline": True}),
        helper_of(other),
    )


def test_function_named_twice_with_different_options_is_refused() -> None:
    with pytest.raises(MeasurementError) as caught:
        resolve([InnerTarget(plain, {"inline": True}), InnerTarget(f"{HERE}.plain", {"inline": False})])
    assert str(caught.value) == (
        f"inner helper {HERE}.plain is named twice in inner=, with different options. Name it once."
    )


def test_different_functions_of_one_name_are_told_apart() -> None:
    def make(n: int) -> Any:
        def made(x: Any) -> Any:
            return x * n

        return made

    name = f"{HERE}.test_different_functions_of_one_name_are_told_apart.<locals>.make.<locals>.made"
    helpers = resolve([InnerTarget(make(n)) for n in range(3)])
    assert [each.name for each in helpers] == [name, f"{name}#2", f"{name}#3"]


def test_name_is_imported(write_modules: Callable[[dict[str, str]], None]) -> None:
    write_modules(
        {
            "jp_pkg/__init__.py": "from .attend import attend",
            "jp_pkg/attend.py": "def attend(x): return x\nclass A:\n  def attend(self, x): return x",
        }
    )
    names = ["jp_pkg.attend", "jp_pkg.attend.attend", "jp_pkg.attend:A.attend", "jp_pkg:attend"]
    assert [one(name).name for name in names] == [
        "jp_pkg.attend.attend",
        "jp_pkg.attend.attend",
        "jp_pkg.attend.A.attend",
        "jp_pkg.attend.attend",
    ]


# --- refused ------------------------------------------------------------------------------------------------------


def generator(x: Any) -> Any:
    yield x


async def coroutine(x: Any) -> Any:
    return x


async def async_generator(x: Any) -> Any:
    yield x


@jax.custom_vjp
def with_vjp(x: Any) -> Any:
    return x


@jax.custom_jvp
def with_jvp(x: Any) -> Any:
    return x


@functools.lru_cache
def cached(x: Any) -> Any:
    return x


model = Model()
jitted_generator = eqx.filter_jit(generator)
no_value = 3
under_dot = inspect.unwrap(jnp.dot)

NOT_PYTHON = "is not written in Python and has no code that could be swapped. Name the function of yours that calls it."
JAXS_OWN = "belongs to JAX itself and is not swapped. Name the function of yours that calls it."
NOTHING_YET = "a call of it computes nothing yet, so it cannot be jitted. Name the functions it calls."
PROPERTY = f"is a property, which is read and not called. Name its getter, {HERE}.Model.size.fget."
CLASS = "is a class. Name the method that does the work, such as Model.__call__."
OBJECT = f"is an object of a class, not a function. Name its method, {HERE}.Model.__call__."


@pytest.mark.parametrize(
    ("target", "shown", "why"),
    [
        (len, "builtins.len", NOT_PYTHON),
        ("math.sin", "math.sin", NOT_PYTHON),
        (np.add, "numpy.add" if hasattr(np.add, "__qualname__") else "(numpy.ufunc object)", NOT_PYTHON),
        (jnp.dot, "jax.numpy.dot", JAXS_OWN),
        ("jax.numpy.dot", "jax.numpy.dot", JAXS_OWN),
        (under_dot, f"{under_dot.__module__}.dot", JAXS_OWN),
        (jax.jit(jnp.sin), "jax.numpy.sin", JAXS_OWN),
        (jax.lax.scan, f"{jax.lax.scan.__module__}.scan", JAXS_OWN),
        (
            functools.partial(plain),
            "(functools.partial object)",
            f"is a functools.partial object, which has no code of its own. Name the function it wraps, {HERE}.plain.",
        ),
        (
            f"{HERE}.Model.partial_method",
            f"{HERE}.Model.partial_method",
            "is a functools.partialmethod object, which has no code of its own. Name the function it wraps, "
            f"{HERE}.Model.method.",
        ),
        (Model, f"{HERE}.Model", CLASS),
        (Stack, f"{HERE}.Stack", "is a class. Name the method that does the work, such as Stack.pile."),
        (f"{HERE}.Model", f"{HERE}.Model", CLASS),
        (Model.__dict__["size"], "(builtins.property object)", PROPERTY),
        (f"{HERE}.Model.size", f"{HERE}.Model.size", PROPERTY),
        (
            with_vjp,
            f"{HERE}.with_vjp",
            "is a jax.custom_vjp object, not a plain function: its code cannot be swapped without losing its "
            "derivative rule. Name a function that calls it.",
        ),
        (
            with_jvp,
            f"{HERE}.with_jvp",
            "is a jax.custom_jvp object, not a plain function: its code cannot be swapped without losing its "
            "derivative rule. Name a function that calls it.",
        ),
        (generator, f"{HERE}.generator", f"is a generator function: {NOTHING_YET}"),
        (coroutine, f"{HERE}.coroutine", f"is a coroutine function: {NOTHING_YET}"),
        (async_generator, f"{HERE}.async_generator", f"is an asynchronous generator function: {NOTHING_YET}"),
        (jitted_generator, f"{HERE}.generator", f"is a generator function: {NOTHING_YET}"),
        (
            cached,
            f"{HERE}.cached",
            "is a _lru_cache_wrapper object around a function. Name the function: give its __wrapped__.",
        ),
        (model, f"({HERE}.Model object)", OBJECT),
        (f"{HERE}.model", f"{HERE}.model", OBJECT),
        (f"{HERE}.no_value", f"{HERE}.no_value", "is no function but of type int. Name a function."),
        (
            f"{HERE}.test.<locals>.made",
            f"{HERE}.test.<locals>.made",
            "is made inside another function or has no name, so no name leads to it. Give the function itself.",
        ),
        ("plain", "plain", 'is no dotted name. Write module and function, such as "mylib.helper".'),
        ("my lib.f", "my lib.f", 'is no dotted name. Write module and function, such as "mylib.helper".'),
        ("mylib:", "mylib:", 'is no dotted name. Write module and function, such as "mylib.helper".'),
        (
            f"{HERE}.plane",
            f"{HERE}.plane",
            f'cannot be found: {HERE} has no "plane" (did you mean plain?).',
        ),
        (
            f"{HERE}.Model.methode",
            f"{HERE}.Model.methode",
            f'cannot be found: {HERE}.Model has no "methode" (did you mean method?).',
        ),
        (f"{HERE}.Model.qqqqqq", f"{HERE}.Model.qqqqqq", f'cannot be found: {HERE}.Model has no "qqqqqq".'),
        (
            "equinoks.filter_jit",
            "equinoks.filter_jit",
            'cannot be found: there is no module "equinoks" (did you mean equinox?).',
        ),
    ],
    ids=name_of,
)
def test_target_is_refused_with_a_reason_and_a_way_out(target: Any, shown: str, why: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        one(target)
    assert str(caught.value) == f"inner helper {shown} {why}"


def test_options_for_a_jitted_function_are_refused() -> None:
    with pytest.raises(MeasurementError) as caught:
        one(jitted, {"inline": True})
    assert str(caught.value) == (
        f"inner helper {HERE}.other is jitted already, with options of its own. Name it without options."
    )


def test_jit_that_hides_its_function_is_refused() -> None:
    class Compiled:
        __wrapped__ = None

        def lower(self) -> None: ...

        def __call__(self, x: Any) -> Any: ...

    with pytest.raises(MeasurementError, match="hides the Python function beneath, so its calls cannot be counted"):
        one(Compiled())


def test_missing_submodule_is_named_with_those_there_are(write_modules: Callable[[dict[str, str]], None]) -> None:
    write_modules({"jp_models/__init__.py": "", "jp_models/attention.py": "def attend(x): return x"})
    with pytest.raises(MeasurementError) as caught:
        one("jp_models.atention.attend")
    assert str(caught.value) == (
        'inner helper jp_models.atention.attend cannot be found: jp_models has no "atention" (did you mean attention?).'
    )


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import jp_not_there", "No module named 'jp_not_there'"),
        ("from math import nothing", "ImportError: cannot import name 'nothing' from 'math'"),
    ],
)
def test_module_that_cannot_be_imported_is_named_with_its_error(
    write_modules: Callable[[dict[str, str]], None], source: str, why: str
) -> None:
    write_modules({"jp_broken/__init__.py": "", "jp_broken/mod.py": source})
    with pytest.raises(MeasurementError) as caught:
        one("jp_broken.mod.f")
    assert str(caught.value).startswith(
        f"inner helper jp_broken.mod.f cannot be found: importing jp_broken.mod failed, {why}"
    )
