"""One measurement: a function under one strategy on one device, from cold to warm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.strategies import name_of as strategy_name

from . import devices, equal
from .bindings import never_called_message
from .build import name_of
from .collector import collector_off
from .conditioning import coarsest_dtype, ill_conditioned
from .driven import measure_driven
from .environment import environment
from .helperuses import helper_uses
from .inputs import Call, content_digest, copied
from .lock import DeviceLock
from .onejit import measure_one_program
from .parts import Parts
from .program import FlatProgram
from .reference import Reference, ReferenceResults
from .request import Equality, Request, refuse_to_run, sequence_of, subject_of
from .retraces import count_compilations
from .stages import persistent_cache_off, warm_up
from .statics import explain_missing_static
from .subject import Subject, refuse_what_computes_nothing
from .tracers import tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A measurement, and what is still alive to race it.

    Attributes:
        measurement: The values.
        result: What the user's function returned under the strategy.
        subject: The callable with its inputs.
        programs: Programs that can be built again: ``""`` the whole one, else by helper and signature.
        wrong: How the result differs from the reference's, one sentence; empty where it does not.
        retraces: What compiled again, a line for each compilation after a function's first, by metric of counting.
        compiled: How often each function was traced, lowered and compiled over a sequence of inputs, one sentence.
        lowered: The one program before XLA, a ``jax.stages.Lowered``; None where Python drives several.
        executable: The same after XLA, a ``jax.stages.Compiled``.
        other_trace: Another trace of it, a ``jax.stages.Traced``; None where it was traced once.
    """

    measurement: Measurement
    result: Any
    subject: Subject
    programs: Mapping[str, FlatProgram]
    wrong: str = ""
    retraces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compiled: str = ""
    lowered: Any = None
    executable: Any = None
    other_trace: Any = None


# xdist workers take turns all the time; only a wait that somebody would wonder about is told.
_LONG_WAIT_SECONDS = 30.0


def measure(request: Request, references: ReferenceResults, progress: Callable[[str], None]) -> Probed:
    """Measures one request.

    Raises:
        MeasurementError: It cannot be measured; the message says why and what to do.
        devices.NoDeviceError: The device is not here.
        Exception: Whatever the user's function raised.
    """
    if jax.config.jax_disable_jit:  # type: ignore[attr-defined]  # made at run time
        raise MeasurementError(
            "jax_disable_jit is on (JAX_DISABLE_JIT?): nothing would be compiled, so every number would be wrong. "
            "Unset it, or run with --jitperf-disable."
        )
    subject = subject_of(request, request.strategy)
    if subject.abstract:
        refuse_to_run(request, subject)
    lock = DeviceLock(f"{subject.device.platform}:{subject.device.id}", progress)
    with ExitStack() as stack:
        stack.enter_context(persistent_cache_off())
        warm_up(subject.device)
        progress("reference result")
        reference = None if subject.abstract else references.find(request)
        with subject.active(), collector_off():
            progress("compiling")
            uses = helper_uses(subject, lock) if request.guide and not subject.abstract else ()
            parts, result = _measure(request, subject, lock)
            _refuse_uncalled(subject)
            sequence = sequence_of(request)
            if sequence is not None:
                counted = count_compilations(subject, sequence)
                parts.host.update(counted.compilations)
                parts.retraces, parts.compiled = dict(counted.retraces), counted.summary
            texts = [each.text for each in parts.flats.values()]
            wrong, notes = _compare(request, subject, reference, result, texts)
    if lock.waited_seconds > _LONG_WAIT_SECONDS:
        notes = (*notes, f"waited {lock.waited_seconds:.0f} s for another process on this device")
    traced_by = tracer()
    if traced_by:
        said = "stored as it is now; record without it" if request.record else "not gated"
        notes = (*notes, f"{traced_by} traces this process: what Python code takes is {said}")
    measurement = Measurement(
        name=request.name,
        strategy=subject.built.strategy,
        device=request.device or subject.device.platform,
        device_kind=subject.device.device_kind,
        inputs=parts.inputs,
        program=parts.program,
        helpers=parts.helpers,
        exact=parts.exact,
        host=parts.host,
        timed=parts.timed,
        # The reference trace takes longer by another factor.
        relative={} if traced_by else parts.relative,
        unavailable=parts.unavailable,
        environment=environment(subject.device),
        notes=(*subject.built.notes, *parts.notes, *notes),
        waited=parts.waited,
        launched=parts.launched,
        uses=uses,
        traced_by=traced_by,
    )
    return Probed(
        measurement=measurement,
        result=result,
        subject=subject,
        programs=parts.flats,
        wrong=wrong,
        retraces=parts.retraces,
        compiled=parts.compiled,
        lowered=parts.lowered,
        executable=parts.executable,
        other_trace=parts.other_trace,
    )


def call_once(request: Request) -> Any:
    """Calls the function once under its strategy, measuring nothing.

    Raises:
        MeasurementError: The strategy cannot be applied.
        Exception: Whatever the user's function raised.
    """
    subject = subject_of(request, request.strategy)
    with subject.active():
        if subject.abstract:
            refuse_to_run(request, subject)
            return subject.built.call.eval_shape(*subject.inputs.args, **subject.inputs.kwargs)
        result = subject.call(subject.expendable())
        subject.wait(result)
        return result


def _measure(request: Request, subject: Subject, lock: DeviceLock) -> tuple[Parts, Any]:
    try:
        way = measure_one_program if subject.built.jitted else measure_driven
        return way(subject, lock, record=request.record, repeat=request.record or request.guide)
    except MeasurementError:
        raise
    except Exception as error:
        if subject.built.jitted:
            refuse_what_computes_nothing(subject, error)
        explained = _explain(subject, error)
        if explained is None:
            raise
        raise MeasurementError(explained) from error


def _explain(subject: Subject, error: Exception) -> str | None:
    """A missing static argument or placement is the user's error, told with the line to add."""
    elsewhere = devices.explain_elsewhere(error, subject.device, subject.asked)
    if elsewhere is not None:
        return elsewhere
    if subject.swap is not None:
        found = subject.swap.explain(subject.built.strategy, error)
        if found is not None:
            return found
    if not subject.built.jitted:
        return None
    return explain_missing_static(
        subject.built.strategy,
        name_of(subject.built.function),
        subject.built.function,
        subject.inputs.args,
        subject.inputs.kwargs,
        error,
        "jit",
        options=subject.built.given,
    )


def _refuse_uncalled(subject: Subject) -> None:
    """A helper that was never called would be a number under the wrong label."""
    if subject.swap is None:
        return
    for helper in subject.swap.never_called():
        raise MeasurementError(never_called_message(helper, subject.built.function))


def _compare(
    request: Request, subject: Subject, reference: Reference | None, result: Any, texts: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """How the result differs from the reference's, and notes for the reader.

    Args:
        request: What was measured.
        subject: Within ``subject.active()``.
        reference: What to compare with, or None.
        result: What the first call gave.
        texts: StableHLO of the programs that were run.
    """
    if reference is None or request.equality is None:
        return "", ()
    if request.make_args is not None and reference.inputs != content_digest(subject.inputs):
        return "", (f"not compared with {reference.strategy}: make_args gives other values each time",)
    rtol, atol = request.equality.rtol, request.equality.atol
    got = equal.leaves_of(result)
    found = equal.difference(reference.leaves, got, rtol, atol)
    if found is None:
        return "", ()

    def run(call: Call) -> Any:
        return subject.call(copied(call, subject.donated))

    if equal.difference(got, equal.leaves_of(run(subject.inputs)), rtol, atol) is not None:
        return f"{found}, compared with {reference.strategy}; it changes from call to call", ()
    with subject.swap.paused() if subject.swap is not None else nullcontext():
        repeats = _repeats(request, reference)
    if not repeats:
        unsure = "which gives another one in each call: the function is not repeatable"
        return f"{found}, compared with {reference.strategy}, {unsure}", ()
    if ill_conditioned(run, subject.inputs, reference.leaves, got, rtol, atol):
        return "", (
            f"ill-conditioned, not compared with {reference.strategy}: one ulp in the inputs moves the result as much",
        )
    dtype, step = coarsest_dtype(texts)
    if step and ill_conditioned(run, subject.inputs, reference.leaves, got, rtol, atol, step):
        return "", (f"not compared with {reference.strategy}: rounding to {dtype} moves the result as much",)
    return f"{found}, compared with {reference.strategy}", ()


def _repeats(request: Request, reference: Reference) -> bool:
    """Whether the reference, with helpers as they are, gives the same result again."""
    subject = subject_of(
        request, next(each for each in request.references if strategy_name(each) == reference.strategy)
    )
    try:
        with subject.active():
            again = equal.leaves_of(subject.first_call(subject.expendable()))
    except Exception:  # it did not raise before
        return False
    return equal.difference(reference.leaves, again, None, None) is None


__all__ = ["Equality", "Probed", "ReferenceResults", "Request", "call_once", "measure"]
