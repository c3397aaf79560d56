"""Jitting helpers in place for the time of a measurement, and watching how they are called.

The user's code is not edited and no name is rebound: see trampoline.py for how calls are rerouted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError

from .arguments import StaticArguments, is_opaque, static_arguments
from .signatures import Signature, example_of, signature_key
from .statics import explain_missing_static
from .targets import Helper
from .trampoline import Slot, Trampoline, plain_copy, rerouted_copy

__all__ = ["HelperRecord", "Signature", "Swap", "swapped"]


@contextmanager
def swapped(helpers: Sequence[Helper]) -> Iterator[Swap]:
    """Within it, every call of a helper goes to its jitted copy, whichever reference it is made through.

    JAX's caches are cleared on both sides: it keys traces by function, and the functions stay the same objects. Swaps
    of other functions may be nested. Helpers that are jitted already keep their own jit and are only counted.

    Args:
        helpers: What to jit; see targets.resolve.

    Yields:
        The record of the calls. It can be read afterwards; what it holds can be traced and lowered only within.

    Raises:
        MeasurementError: A helper is swapped already, or jit refuses the options given for it. Nothing is changed then.
    """
    swap = Swap(helpers)
    try:
        for trampoline in swap.trampolines:
            trampoline.install()
        jax.clear_caches()
        yield swap
    finally:
        try:
            _remove(swap.trampolines)
        finally:
            # A second Ctrl-C may have cut this short; what is removed already is left as it is.
            _remove(swap.trampolines)
        jax.clear_caches()


def _remove(trampolines: Sequence[Trampoline]) -> None:
    for trampoline in trampolines:
        trampoline.remove()


class Swap:
    """The helpers while they are swapped, and afterwards what was seen of their calls.

    Attributes:
        records: One for each helper, in the same order.
        trampolines: Their trampolines.
    """

    def __init__(self, helpers: Sequence[Helper]) -> None:
        """Prepares everything; changes nothing yet."""
        self.records = tuple(HelperRecord(helper) for helper in helpers)
        self.trampolines = tuple(Trampoline(record.helper.function, record.slot) for record in self.records)
        self.recording = False
        self._seen: Exception | None = None
        for record in self.records:
            record.slot.failed = functools.partial(self._failed, record)

    @property
    def recording(self) -> bool:
        """Whether the signatures of calls are recorded; off at first, since it costs several microseconds per call.

        A helper that the user has jitted is seen only while it is traced: turn recording on before it is first called,
        or clear JAX's caches after turning it on.
        """
        return self._recording

    @recording.setter
    def recording(self, on: bool) -> None:
        self._recording = on
        for record in self.records:
            record.record_signatures(on)

    def never_called(self) -> tuple[Helper, ...]:
        """The helpers that were not called so far."""
        return tuple(record.helper for record in self.records if record.calls == 0)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within it, while swapped, the helpers are what they were. JAX's caches are cleared on both sides."""
        for trampoline in self.trampolines:
            trampoline.pause()
        jax.clear_caches()
        yield
        # Whatever is raised meanwhile leaves them as they were, which is what the end of the swap wants.
        for trampoline in self.trampolines:
            trampoline.install()
        jax.clear_caches()

    def explain(self, strategy: str, error: BaseException) -> str | None:
        """Explains an error by a static argument that is missing for a helper.

        Args:
            strategy: Name of the strategy, for the message.
            error: What was raised.

        Returns:
            The message, or None where no helper raised or static arguments would not have helped.
        """
        for record in self.records:
            message = record.explain(strategy, error)
            if message is not None:
                return message
        return None

    def _failed(self, record: HelperRecord, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> None:
        """Keeps the innermost helper's arguments: the error then passes through those that called it."""
        if self._seen is not None and self._seen in (error, error.__cause__):
            return
        self._seen = error
        record.note_failure(args, kwargs)


class HelperRecord:
    """What was seen of one helper.

    Attributes:
        helper: The helper.
        slot: What its trampoline reads.
        signatures: The distinct signatures of the calls made while recording was on, in the order first seen.
        failed: Arguments ``(args, kwargs)`` of the last call that raised, tracers as ``jax.ShapeDtypeStruct``; where
            helpers call each other, only the innermost one has it. None if no call raised.
    """

    def __init__(self, helper: Helper) -> None:
        """Makes the jitted copy."""
        if rerouted_copy(helper.function) is not None:
            raise MeasurementError(
                f"inner helper {helper.name} is jitted for another measurement at this moment. "
                "Do not call jitperf() within a function that is being measured."
            )
        self.helper = helper
        self.slot = Slot()
        self.slot.original = self._copy = plain_copy(helper.function)
        self.signatures: list[Signature] = []
        self.failed: tuple[tuple[Any, ...], dict[str, Any]] | None = None
        self._by_key: dict[Hashable, Signature] = {}
        self._by_class: dict[type, _Way] = {}
        self._way = _way(helper, self._copy, static_receiver=False)
        # Whether to trace the object that a method is called on is known only when there is one.
        self._by_receiver = helper.receiver is not None and self._way.static is not None

    @property
    def calls(self) -> int:
        """How often it was called; for a helper that is jitted already: traced."""
        return self.slot.calls

    @property
    def unjitted(self) -> FunctionType:
        """The helper as it was, which a swap does not reach."""
        return self._copy

    @property
    def jitted(self) -> Any:
        """The jitted function, or what the transform made. For methods: what served the first object's class."""
        return next(iter(self._by_class.values()), self._way).jitted

    def record_signatures(self, on: bool) -> None:
        """Turns recording on or off; without effect once the helper is no longer swapped."""
        if self.slot.original is not None:
            direct = self._dispatch if self._by_receiver else self._way.call
            self.slot.call = self._observe if on else direct

    def note_failure(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Keeps the arguments of a call that raised."""
        try:
            args, kwargs, _ = example_of(args, kwargs)
        except Exception:  # a pytree of the user's that takes nothing but arrays: the error at hand matters more
            return
        self.failed = (args, kwargs)

    def explain(self, strategy: str, error: BaseException) -> str | None:
        """See Swap.explain."""
        if self.failed is None or self._way.static is None:
            return None
        args, kwargs = self.failed
        options = self.helper.options
        return explain_missing_static(
            strategy,
            self.helper.name,
            self._copy,
            args,
            kwargs,
            error,
            "inner",
            options=options if isinstance(options, Mapping) else None,
        )

    def _dispatch(self, *args: Any, **kwargs: Any) -> Any:
        return self._way_for(args).call(*args, **kwargs)

    def _observe(self, *args: Any, **kwargs: Any) -> Any:
        way = self._way_for(args)
        key = signature_key(args, kwargs, way.static)
        signature = self._by_key.get(key)
        if signature is None:
            kept_args, kept_kwargs, concrete = example_of(args, kwargs)
            signature = Signature(args=kept_args, kwargs=kept_kwargs, concrete=concrete, jitted=way.jitted)
            self._by_key[key] = signature
            self.signatures.append(signature)
        signature.calls += 1
        return way.call(*args, **kwargs)

    def _way_for(self, args: tuple[Any, ...]) -> _Way:
        if not self._by_receiver or not args:
            return self._way
        kind = type(args[0])
        way = self._by_class.get(kind)
        if way is None:
            static = _must_be_static(self.helper, args[0])
            way = _way(self.helper, self._copy, static_receiver=True) if static else self._way
            self._by_class[kind] = way
        return way


@dataclass(frozen=True, slots=True)
class _Way:
    """What serves a call: ``static`` is what it holds static, None where that is not known."""

    call: Callable[..., Any]
    jitted: Any
    static: StaticArguments | None


def _way(helper: Helper, copy: FunctionType, *, static_receiver: bool) -> _Way:
    if helper.jitted is not None:
        return _Way(copy, helper.jitted, None)
    if helper.options is None or isinstance(helper.options, Mapping):
        return _jitted(helper, copy, helper.options or {}, static_receiver=static_receiver)
    try:
        made = helper.options(copy)
    except Exception as error:
        raise MeasurementError(f"inner helper {helper.name}: its transform raised {error!r}") from error
    if not callable(made):
        raise MeasurementError(
            f"inner helper {helper.name}: its transform returned {type(made).__name__}, expected a callable. "
            "Give options for jax.jit, or a function that takes the helper and returns what is to be called."
        )
    return _Way(made, made, None)


def _jitted(helper: Helper, copy: FunctionType, options: Mapping[str, Any], *, static_receiver: bool) -> _Way:
    try:
        static = static_arguments(copy, options)
        if static_receiver:
            static = static.with_receiver(copy)
        jitted = jax.jit(copy, **{**options, **static.options()})
    except (TypeError, ValueError) as error:
        raise MeasurementError(
            f"inner helper {helper.name}: jax.jit refuses the options {dict(options)}: {error}"
        ) from error
    return _Way(jitted, jitted, static)


def _must_be_static(helper: Helper, receiver: Any) -> bool:
    """Whether the object that a method is called on is no pytree, so that jit cannot trace it."""
    if not is_opaque(receiver):
        return False
    try:
        hash(receiver)
    except TypeError as error:
        raise MeasurementError(
            f"inner helper {helper.name}: jit can neither trace its {helper.receiver} (a {type(receiver).__name__} is "
            f"no pytree) nor hold it static ({error}). Register the class with jax.tree_util.register_dataclass, make "
            "it hashable (eq=False), or take the method out of inner=."
        ) from error
    return True
