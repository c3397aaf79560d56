"""What is to be measured, as plain values, and the subject made of it for one strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.inner import InnerTarget, short_names
from pytest_jitperf.strategies import Strategy, one_helper

from . import devices
from .build import build
from .inputs import Call, named_leaves, positional_names
from .jitinfo import unbound
from .subject import Subject, as_call, placed
from .targets import resolve


@dataclass(frozen=True, slots=True, kw_only=True)
class Equality:
    """How results are compared; None means the dtype's own tolerance."""

    rtol: float | None = None
    atol: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be measured.

    Attributes:
        test: Key of the test, under which reference results are remembered.
        name: Name of the measurement within the test.
        function: The user's function.
        args: Positional arguments.
        kwargs: Keyword arguments.
        make_args: Builds arguments per call, or None.
        sequence: Further inputs whose compilations are counted, or None.
        strategy: The strategy.
        references: Strategies to take the reference result from, the first that runs.
        inner: What ``inner=`` named.
        jit: Options for ``jax.jit``.
        device: As asked for, ``""`` for the default.
        equality: How results are compared, or None to leave it out.
        record: Whether it is for a baseline; then cold stages are worth a few repeats.
        guide: Whether it is for the guide: worth the same repeats, and what jitted helpers are to a trace.
    """

    test: str
    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    make_args: Callable[[], Any] | None = None
    sequence: Sequence[Any] | None = None
    strategy: str | Strategy
    references: tuple[str | Strategy, ...] = ("eager",)
    inner: tuple[InnerTarget, ...] = ()
    jit: Mapping[str, Any] = field(default_factory=dict)
    device: str = ""
    equality: Equality | None = field(default_factory=Equality)
    record: bool = False
    guide: bool = False


def subject_of(request: Request, strategy: str | Strategy) -> Subject:
    """Builds the subject for one strategy of a request.

    Raises:
        MeasurementError: The function, a helper or the inputs cannot be measured.
        devices.NoDeviceError: There is no such device here.
    """
    device = devices.find(request.device)
    function, receiver = _function(request, strategy)
    built = build(strategy, function, request.jit)
    make_args: Callable[[], Call] | None = None
    first = Call(request.args, request.kwargs)
    if request.make_args is not None:
        maker = request.make_args

        def make_args() -> Call:
            return _with(receiver, as_call(maker()))

        first = as_call(maker())
    else:
        _refuse_iterators(built.function, first)
    first = _with(receiver, first)
    return Subject(
        built=built,
        device=device,
        asked=request.device,
        inputs=placed(first.args, first.kwargs, device, request.device),
        make_args=make_args,
        helpers=resolve(_targets(request, strategy)) if built.swaps else (),
    )


def _refuse_iterators(function: Callable[..., Any], call: Call) -> None:
    """Refuses arguments that one call uses up.

    Raises:
        MeasurementError: One of them is an iterator.
    """
    named = [*zip(positional_names(function, len(call.args)), call.args, strict=True), *call.kwargs.items()]
    for name, value in named:
        if isinstance(value, Iterator):
            raise MeasurementError(
                f"{name} is an iterator ({type(value).__name__}), which one call uses up, and the function is called "
                "many times. Give what it goes through, such as a list, or make_args=, which makes arguments afresh "
                "for each call."
            )


def _targets(request: Request, strategy: str | Strategy) -> Sequence[InnerTarget]:
    """What is jitted inside: all helpers, or the one that the strategy is for."""
    helper = one_helper(strategy)
    return (short_names(request.inner)[helper],) if helper else request.inner


def sequence_of(request: Request) -> list[Call] | None:
    """The further inputs, as the request's own strategy takes them."""
    if request.sequence is None:
        return None
    _, receiver = _function(request, request.strategy)
    return [_with(receiver, as_call(each)) for each in request.sequence]


def _function(request: Request, strategy: str | Strategy) -> tuple[Any, tuple[Any, ...]]:
    """The function for a strategy, and arguments to put before the user's; a user's strategy takes it as it is."""
    return unbound(request.function) if isinstance(strategy, str) else (request.function, ())


def _with(receiver: tuple[Any, ...], call: Call) -> Call:
    return Call((*receiver, *call.args), call.kwargs)


def refuse_to_run(request: Request, subject: Subject) -> None:
    """Refuses shapes without values where they would have to be run.

    Raises:
        MeasurementError: The strategy is not one ``jax.jit``, or a sequence of inputs is to be called.
    """
    if subject.built.jitted and request.sequence is None:
        return
    named = named_leaves(subject.built.function, subject.inputs)
    path = next(each.path for each in named if isinstance(each.leaf, jax.ShapeDtypeStruct))
    runs = "inputs= is called" if request.sequence is not None else f"{subject.built.strategy} runs the function"
    raise MeasurementError(
        f"{path} is a jax.ShapeDtypeStruct, a shape without values, and {runs}. Give arrays, or measure it with "
        'strategies=["outer"], which then only compiles it.'
    )
