"""Measuring a strategy that is one ``jax.jit``: a call starts one compiled program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import Program

from . import clock, equal
from .collector import collector_off
from .firststages import first_stages
from .flat import over_arrays
from .hlo import optimised_text, program_digest
from .inputs import Call, text_of
from .jitinfo import named_for_jit
from .lock import DeviceLock
from .parts import Parts, described, donated_positions, relative_unit, repeat_while_cheap
from .program import exported_program
from .stages import cold_stages, cold_trace, timed
from .subject import Subject, refuse_odd_result


def measure_one_program(subject: Subject, lock: DeviceLock, *, record: bool, repeat: bool) -> tuple[Parts, Any]:
    """Measures ``subject``, whose callable is a jit.

    Args:
        subject: Within ``subject.active()``.
        lock: Held for timed blocks.
        record: Whether it goes into a baseline.
        repeat: Whether cold stages are repeated while that is cheap.

    Returns:
        What was found, and the result of the first call; of arguments without values its shapes.
    """
    parts = Parts()
    jitted, inputs = subject.built.call, subject.inputs
    named, info = named_for_jit(subject.built.function, inputs, jitted, subject.built.given)
    dynamic = [leaf for leaf in named if leaf.index >= 0]
    parts.inputs = text_of(named)
    parts.host["leaves"] = len(inputs.leaves)

    # First, since it empties the caches: whatever calls the jit later should find it compiled.
    unit = relative_unit(lock)
    with lock.held(), collector_off():
        stages, counted, log = first_stages(jitted, inputs.args, inputs.kwargs, record=record)
    parts.add_calls("trace_calls", counted.calls, counted.missing)
    parts.add_compilations(log)
    if log.cache_hits:
        parts.notes.append("the compilation came from JAX's persistent cache although it was switched off")

    subject.cold = stages.spans()
    donated = donated_positions(stages.lowered)
    subject.donated = tuple(dynamic[n].index for n in donated)
    subject.callbacks = bool(stages.traced.jaxpr.effects)
    costs = parts.add_costs(stages)

    rounds = [stages]
    if repeat:
        with lock.held(), collector_off():
            rounds = repeat_while_cheap(
                lambda: cold_stages(jitted, inputs.args, inputs.kwargs), stages, stages.spans()["compile"].wall
            )
    parts.add_other_trace(counted.traced, rounds)
    if subject.abstract:
        result = stages.traced.out_info
        parts.add_nothing_run()
    else:
        result = subject.call(subject.expendable())
        refuse_odd_result(result, subject.built.function)
        subject.wait(result)
        # Of what calls back into Python nobody knows that it does the same each time.
        calls_back = "callback" in stages.lowered.as_text()
        parts.add_warm(subject, lock, first=equal.snapshot(result) if calls_back else None)

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
        program = Program(fingerprint=None, inputs=text, no_artifact=str(error), options=info.compiler_options)
        overwritten = [dynamic[n].leaf for n in donated]
    else:
        program = parts.add_flat("", flat, {})
        overwritten = [flat.leaves[n] for n in flat.donated]
    parts.add_donation(stages.compiled, overwritten)
    program = replace(program, optimised=program_digest(optimised_text(stages.compiled)))
    parts.program = described(program, costs)
    parts.add_stages(rounds, unit)
    return parts, result


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
