"""Measuring a strategy that is one ``jax.jit``: a call starts one compiled program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import Program

from . import clock
from .block import collector_off
from .compilelog import CompileLog, compile_log
from .counts import python_calls
from .flat import over_arrays
from .inputs import Call, text_of
from .jitinfo import named_for_jit
from .lock import DeviceLock
from .optimised import program_digest
from .parts import Parts, donated_positions, relative_unit, repeat_while_cheap
from .program import exported_program
from .stages import ColdStages, cold_stages, cold_trace, timed
from .subject import Subject, refuse_odd_result

# A trace that takes longer than this is not repeated to have it timed apart from the one that counts calls.
_DEAR_TRACE_SECONDS = 3.0
_RECORD_SECONDS = 1.5
_RECORD_ROUNDS = 5


def measure_one_program(subject: Subject, lock: DeviceLock, *, record: bool) -> tuple[Parts, Any]:
    """Measures ``subject``, whose callable is a jit.

    Args:
        subject: Within ``subject.active()``.
        lock: Held for timed blocks.
        record: Whether cold stages are repeated while that is cheap.

    Returns:
        What was found, and the result of the first call.
    """
    parts = Parts()
    jitted, inputs = subject.built.call, subject.inputs
    named, info = named_for_jit(subject.built.function, inputs, jitted, subject.built.given)
    dynamic = [leaf for leaf in named if leaf.index >= 0]
    parts.inputs = text_of(named)
    parts.host["leaves"] = len(inputs.leaves)

    stages, calls, log = _first_stages(subject, lock)
    parts.add_calls("trace_calls", calls)
    parts.host["compilations"] = len(log.user)
    parts.host["primitive_compilations"] = len(log.primitives)
    if log.cache_hits:
        parts.notes.append("the compilation came from JAX's persistent cache although it was switched off")

    donated = donated_positions(stages.lowered)
    subject.donated = tuple(dynamic[n].index for n in donated)
    subject.callbacks = bool(stages.traced.jaxpr.effects)
    parts.add_costs(stages.compiled, stages.lowered.as_text(), stages.traced.jaxpr)

    rounds = [stages]
    if record:
        with lock.held(), collector_off():
            rounds = repeat_while_cheap(
                lambda: cold_stages(jitted, inputs.args, inputs.kwargs), stages, _RECORD_SECONDS, _RECORD_ROUNDS
            )
    result = subject.call(subject.expendable())
    refuse_odd_result(result, subject.built.function)
    subject.wait(result)
    parts.add_warm(subject, lock)

    text = text_of(dynamic)
    try:
        flat = exported_program(
            jitted,
            inputs.args,
            inputs.kwargs,
            [leaf.leaf for leaf in dynamic],
            inputs=text,
            donated=donated,
            options=info.compiler_options,
        )
    except MeasurementError as error:
        parts.program = Program(fingerprint=None, inputs=text, no_artifact=str(error), options=info.compiler_options)
    else:
        parts.program = parts.add_flat("", flat, {})
    optimised = stages.compiled.as_text()
    if optimised:
        parts.program = replace(parts.program, optimised=program_digest(optimised, stages.lowered.as_text()))
    # Last, since it empties the caches that the warm calls needed.
    parts.add_stages(rounds, relative_unit(lock))
    return parts, result


def _first_stages(subject: Subject, lock: DeviceLock) -> tuple[ColdStages, int | None, CompileLog]:
    """Cold stages, the count of Python calls in a cold trace, and what was compiled on the way.

    The first trace pays for what Python loads and caches once, so neither its time nor its count is used, unless it
    was so dear that tracing again only for the clock would be a waste.
    """
    jitted, inputs = subject.built.call, subject.inputs
    with lock.held(), collector_off():
        with compile_log() as log:
            first, _ = cold_trace(jitted, inputs.args, inputs.kwargs)
        jax.clear_caches()
        # Not within a log, whose own calls would be counted.
        calls, traced = python_calls(lambda: jitted.trace(*inputs.args, **inputs.kwargs))
        if first.wall < _DEAR_TRACE_SECONDS:
            with compile_log() as log:
                return cold_stages(jitted, inputs.args, inputs.kwargs), calls, log
        with compile_log(log):
            lower, lowered = timed(traced.lower, clock.thread_time_ns)
            xla, compiled = timed(lowered.compile, clock.process_time_ns)
        return ColdStages(first, lower, xla, traced, lowered, compiled), calls, log


def relative_again(subject: Subject) -> dict[str, float]:
    """A second look at trace and lower, relative to the reference trace: what one look suspects has to show twice."""
    lock = DeviceLock(f"{subject.device.platform}:{subject.device.id}")
    jitted, inputs = subject.built.call, subject.inputs
    found: dict[str, float] = {}
    with subject.active(), lock.held(), collector_off():
        if not subject.built.jitted:
            made = over_arrays(jitted, subject.built.function, inputs)
            jitted, inputs = made.jitted, Call(made.leaves, {})
        trace, traced = cold_trace(jitted, inputs.args, inputs.kwargs)
        lower, _ = timed(traced.lower, clock.thread_time_ns)
    for phase, spent, unit in zip(("trace", "lower"), (trace, lower), relative_unit(lock), strict=True):
        if unit > 0:
            found[phase] = spent.cpu / unit
    return found
