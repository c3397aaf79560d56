"""The thing under measurement, alive: a built callable, its inputs on their device, and how to call it safely."""

from __future__ import annotations

import gc
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError

from . import devices
from .build import Built, name_of
from .idle import Span
from .inputs import Call, copied, deleted
from .race import Side
from .resultparts import has_parts, waited_leaves, yet_to_be_computed
from .swap import Swap, swapped
from .targets import Helper


@dataclass(slots=True, kw_only=True)
class Subject:
    """A strategy of a function with its inputs.

    Attributes:
        built: The callable.
        device: Where it runs.
        asked: The device as asked for.
        inputs: Arguments on the device; never handed to a call that may overwrite them.
        make_args: Builds fresh arguments per call, or None.
        helpers: What ``inner=`` named.
        donated: Leaves of ``inputs`` that a call overwrites; they are copied before each call. None as long as that is
            not known: then all of them are.
        callbacks: Whether a call may leave Python callbacks running after its results are ready.
        parts: Whether results hold objects with more to wait for inside.
        driven: Why a call is more than one compiled program that Python starts; empty where it is one.
        cold: What the first compile took by phase, ``compile`` for the whole; empty before it.
    """

    built: Built
    device: jax.Device
    asked: str
    inputs: Call
    make_args: Callable[[], Call] | None = None
    helpers: tuple[Helper, ...] = ()
    donated: tuple[int, ...] | None = None
    callbacks: bool = True
    parts: bool = False
    driven: str = ""
    cold: Mapping[str, Span] = field(default_factory=dict)
    swap: Swap | None = field(default=None)

    @property
    def abstract(self) -> bool:
        """Whether an argument is a shape without values (``jax.ShapeDtypeStruct``): it is compiled and never called."""
        return any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in self.inputs.leaves)

    @contextmanager
    def active(self) -> Iterator[Subject]:
        """Within it, calls run on the device and the helpers of ``inner=`` are jitted where the strategy says so."""
        with ExitStack() as stack:
            stack.enter_context(devices.on(self.device, self.asked))
            if self.built.swaps:
                self.swap = stack.enter_context(swapped(self.helpers))
            try:
                yield self
            finally:
                self.swap = None

    def prepare(self) -> Call:
        """Arguments for one call that may be overwritten by it. Not timed."""
        if self.make_args is not None:
            fresh = self.make_args()
            args, kwargs = devices.place((fresh.args, dict(fresh.kwargs)), self.device, self.asked)
            call = Call(args, kwargs)
            jax.block_until_ready([leaf for leaf in call.leaves if isinstance(leaf, jax.Array)])
            return call
        return self.inputs if self.donated == () else copied(self.inputs, self.donated)

    def call(self, call: Call) -> Any:
        """One call of what the user would call."""
        return self.built.call(*call.args, **call.kwargs)

    def wait(self, result: Any) -> None:
        """Waits for every array of a result, and for callbacks where there may be some."""
        jax.block_until_ready(waited_leaves(result) if self.parts else result)
        if self.callbacks:
            jax.effects_barrier()

    def side(self) -> Side:
        """The subject as one side of a race; inputs are made afresh only where calls use them up."""
        if self.make_args is None and self.donated == ():
            inputs = self.inputs
            target, args, kwargs = self.built.call, inputs.args, inputs.kwargs
            return Side(prepare=None, call=lambda _: target(*args, **kwargs))
        return Side(prepare=self.prepare, call=self.call)

    def expendable(self) -> Call:
        """Copies of the inputs for a first call, of which it is not known yet what it overwrites."""
        return copied(self.inputs)

    def first_call(self, call: Call) -> Any:
        """The first call, on ``expendable()`` arguments; remembers which of them it overwrote."""
        result = self.call(call)
        refuse_odd_result(result, self.built.function)
        self.parts = has_parts(result)
        self.wait(result)
        self.donated = deleted(call)
        return result


def refuse_odd_result(result: Any, function: Callable[..., Any]) -> None:
    """Refuses results that mean nothing was computed yet.

    Raises:
        MeasurementError: A leaf is a generator, iterator, coroutine or future.
    """
    found = yet_to_be_computed(result)
    for leaf in filter(inspect.iscoroutine, found):
        leaf.close()  # else Python warns that it was never awaited
    if found:
        raise MeasurementError(
            f"{name_of(function)} returned a {type(found[0]).__name__}: nothing was computed yet, so there is nothing "
            "to measure. Return arrays."
        )


def refuse_what_computes_nothing(subject: Subject, error: Exception) -> None:
    """Refuses a function whose result JAX has refused while tracing, if nothing was computed for it yet.

    Args:
        subject: Within ``subject.active()``.
        error: What JAX raised. It gives up its frames, and with them the coroutine that nobody will await.

    Raises:
        MeasurementError: It returns a generator, iterator, coroutine or future.
    """
    if not isinstance(error, TypeError) or "valid JAX type" not in str(error):
        return
    found: list[Any] = []

    def look(*args: Any, **kwargs: Any) -> None:
        found.append(subject.built.function(*args, **kwargs))

    with suppress(Exception):
        jax.eval_shape(look, *subject.inputs.args, **subject.inputs.kwargs)
    try:
        refuse_odd_result(found, subject.built.function)
    except MeasurementError:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for each in (error, error.__cause__, error.__context__):
                if each is not None:
                    each.__traceback__ = None
            gc.collect()
        raise


def as_call(made: Any) -> Call:
    """What ``make_args`` returned, as arguments: ``(args, kwargs)``, a tuple of arguments, or one argument."""
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], tuple) and isinstance(made[1], dict):
        return Call(made[0], made[1])
    return Call(made if isinstance(made, tuple) else (made,), {})


def placed(args: tuple[Any, ...], kwargs: Mapping[str, Any], device: jax.Device, asked: str) -> Call:
    """Arguments on the device of the measurement.

    Raises:
        MeasurementError: An argument is being traced, no longer exists, or is spread over several devices.
    """
    if any(isinstance(leaf, jax.core.Tracer) for leaf in Call(args, kwargs).leaves):
        raise MeasurementError(
            "its arguments are being traced by JAX (jit, grad, vmap, scan), so there is nothing to time. Measure "
            "outside of it: jitperf(jax.vmap(f), x) instead of jax.vmap(lambda x: jitperf(f, x))(x)."
        )
    gone = deleted(Call(args, kwargs))
    if gone:
        raise MeasurementError(
            f"argument leaf {gone[0]} was deleted (donated) before it was measured. Build the arguments in the test, "
            "or give make_args=."
        )
    placed_args, placed_kwargs = devices.place((args, dict(kwargs)), device, asked)
    return Call(placed_args, placed_kwargs)
