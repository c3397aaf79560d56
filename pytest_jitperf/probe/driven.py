"""Measuring a strategy that Python drives: eager code, jitted helpers, another library's jit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.measurement import NOT_ONE_PROGRAM, Program

from . import clock, equal
from .collector import collector_off
from .compilelog import CompileLog
from .costs import program_costs, unused_donation_bytes
from .firststages import CountedTrace, counted_trace, first_stages
from .flat import FlatJit, over_arrays
from .inputs import Call, named_leaves, text_of
from .jitinfo import is_jitted, named_for_jit
from .lock import DeviceLock
from .parts import Parts, described, donated_positions, relative_unit, repeat_while_cheap, summary
from .program import FlatProgram, exported_program
from .recompile import cold_call
from .refusals import one_line
from .retraces import within
from .stages import cold_stages
from .subject import Subject
from .swap import Signature
from .targets import Helper

# Helpers called with more signatures than this are followed no further.
_MOST_SIGNATURES = 20

# What is gated of one program, and counted nowhere else.
_OF_ONE_PROGRAM = ("peak_bytes", "constant_bytes", "unused_donation_bytes", "trace_calls")


def measure_driven(subject: Subject, lock: DeviceLock, *, record: bool, repeat: bool) -> tuple[Parts, Any]:
    """Measures ``subject``, whose callable is plain Python or another library's jit.

    Args:
        subject: Within ``subject.active()``.
        lock: Held for timed blocks.
        record: Whether it goes into a baseline.
        repeat: Whether cold calls are repeated while that is cheap.

    Returns:
        What was found, and the result of the first call.
    """
    parts = Parts()
    named = named_leaves(subject.built.function, subject.inputs)
    parts.inputs = text_of(named)
    parts.host["leaves"] = len(subject.inputs.leaves)

    if subject.swap is not None:
        subject.swap.recording = True
    with lock.held(), collector_off():
        start = clock.perf_counter_ns()
        first = cold_call(subject)
        cost = (clock.perf_counter_ns() - start) / 1e9
    if subject.swap is not None:
        subject.swap.recording = False
    rounds = [first]
    if repeat:
        with lock.held(), collector_off():
            rounds = repeat_while_cheap(lambda: cold_call(subject), first, cost)
    subject.cold, log, result = first
    _add_cold(parts, log, [each.seconds for _, each, _ in rounds])
    parts.add_waited([spans["compile"] for spans, _, _ in rounds])

    parts.add_warm(subject, lock, first=equal.snapshot(result))

    if subject.swap is not None:
        _add_helpers(parts, subject, lock, record=record)
    elif subject.built.strategy == "outer" or (subject.built.strategy != "eager" and log.user):
        # ("outer" comes here with what something else than jax.jit has jitted already, such as jax.pmap, which JAX
        # compiles as one of its own operations.)
        # Also where it starts more than one program: what it computes is still one program to race, and what Python
        # does in between is in the counts.
        _add_one_program(parts, subject, lock, record=record, repeat=repeat)
    return parts, result


def _add_cold(parts: Parts, log: CompileLog, rounds: Sequence[Mapping[str, float]]) -> None:
    """Adds what the first call compiled, and how long all of the cold calls took to."""
    for phase in log.seconds:
        parts.timed[phase] = summary([seconds[phase] for seconds in rounds])
    parts.timed["compile"] = summary([sum(seconds.values()) for seconds in rounds])
    # JAX times its phases with time.time, which a fixture may have frozen.
    frozen = (log.user or log.primitives) and not sum(log.seconds.values())
    if frozen or log.missing:
        for phase in ("compile", *log.seconds):
            del parts.timed[phase]
            parts.unavailable[phase] = log.missing or "the clock did not advance while it compiled"
    parts.add_compilations(log)
    parts.retraces.update(within(log.compilations))
    if log.cache_hits:
        parts.notes.append(f"{log.cache_hits} compilations came from JAX's persistent cache")


def _add_one_program(parts: Parts, subject: Subject, lock: DeviceLock, *, record: bool, repeat: bool) -> None:
    """Another library's jit that starts one program: the same work as one ``jax.jit`` over its arrays."""
    made = over_arrays(subject.built.call, subject.built.function, subject.inputs)
    try:
        with lock.held(), collector_off():
            stages, counted, _ = first_stages(made.jitted, made.leaves, {}, record=record)
    except Exception as error:
        # The call itself has just gone well, so Python uses values in between.
        subject.driven = f"{NOT_ONE_PROGRAM}: {one_line(error)}"
        parts.program = Program(fingerprint=None, inputs=parts.inputs, no_artifact=subject.driven)
        parts.unavailable.update(dict.fromkeys(_OF_ONE_PROGRAM, "it is not one program"))
        return
    launches = parts.host.get("launches", 1)
    if launches > 1:
        subject.driven = f"Python starts {launches} programs in each call"
    parts.add_calls("trace_calls", counted.calls, counted.missing)
    costs = parts.add_costs(stages)
    rounds = [stages]
    if repeat:
        with lock.held(), collector_off():
            rounds = repeat_while_cheap(
                lambda: cold_stages(made.jitted, made.leaves, {}), stages, stages.spans()["compile"].wall
            )
    parts.add_other_trace(counted.traced, rounds)
    parts.add_stages(rounds, relative_unit(lock))
    subject.cold = stages.spans()
    subject.callbacks = bool(stages.traced.jaxpr.effects)
    where = {leaf.index: n for n, leaf in enumerate(made.arrays)}
    donated = tuple(where[index] for index in subject.donated or () if index in where)
    parts.program = described(_program(parts, "", made, donated, {}), costs)


def _program(parts: Parts, key: str, made: FlatJit, donated: tuple[int, ...], exact: dict[str, float]) -> Program:
    text = text_of(made.arrays)
    try:
        flat = exported_program(made.jitted, made.leaves, {}, made.leaves, inputs=text, donated=donated, options={})
    except MeasurementError as error:
        return Program(fingerprint=None, inputs=text, no_artifact=str(error), exact=exact)
    return parts.add_flat(key, flat, exact)


def _add_helpers(parts: Parts, subject: Subject, lock: DeviceLock, *, record: bool) -> None:
    """Each jitted helper's program per signature it was called with, and the Python calls of tracing them."""
    assert subject.swap is not None
    pairs = [(record.helper, signature) for record in subject.swap.records for signature in record.signatures]
    if len(pairs) > _MOST_SIGNATURES:
        parts.notes.append(f"{len(pairs)} helper signatures; the first {_MOST_SIGNATURES} are followed")
    traces: list[CountedTrace] = []
    for helper, signature in pairs[:_MOST_SIGNATURES]:
        try:
            key, program, counted = _helper_program(parts, helper, signature, lock, record=record)
        except Exception as error:
            parts.notes.append(f"{helper.name}: its program cannot be taken alone ({type(error).__name__})")
            continue
        parts.helpers[key] = program
        traces.append(counted)
    if parts.helpers:
        known = [each.calls for each in traces if each.calls is not None]
        missing = next((each.missing for each in traces if each.missing), "")
        parts.add_calls("trace_calls", None if missing else sum(known), missing)


def _helper_program(
    parts: Parts, helper: Helper, signature: Signature, lock: DeviceLock, *, record: bool
) -> tuple[str, Program, CountedTrace]:
    inputs, jitted = Call(signature.args, signature.kwargs), signature.jitted
    if is_jitted(jitted):
        given = helper.options if isinstance(helper.options, dict) else {}
        named, info = named_for_jit(helper.function, inputs, jitted, given)
        dynamic = [leaf for leaf in named if leaf.index >= 0]
        target, args, kwargs, leaves = jitted, inputs.args, inputs.kwargs, [leaf.leaf for leaf in dynamic]
        options = info.compiler_options
    else:
        made = over_arrays(jitted, helper.function, inputs)
        named, dynamic = made.named, made.arrays
        target, args, kwargs, leaves, options = made.jitted, made.leaves, {}, list(made.leaves), {}
    # Without the names of parameters, which a harmless edit changes.
    key = _new_key(f"{helper.name}({', '.join(leaf.described for leaf in named)})", parts.helpers)
    with lock.held(), collector_off():
        counted = counted_trace(target, args, kwargs, record=record)
    lowered = counted.traced.lower()
    compiled = lowered.compile()
    costs = program_costs(compiled, lowered.as_text())
    donated = donated_positions(lowered)
    text = text_of(dynamic)
    try:
        flat: FlatProgram = exported_program(
            target, args, kwargs, leaves, inputs=text, donated=donated, options=options
        )
    except MeasurementError as error:
        program = Program(fingerprint=None, inputs=text, no_artifact=str(error), exact=costs.exact)
    else:
        unused = unused_donation_bytes(compiled, [flat.leaves[n] for n in flat.donated])
        exact = costs.exact if unused is None else {**costs.exact, "unused_donation_bytes": unused}
        program = parts.add_flat(key, flat, exact)
    return key, described(program, costs), counted


def _new_key(key: str, known: Mapping[str, Program]) -> str:
    """The key; with a number where signatures look the same, as those of two objects' methods do."""
    number, found = 2, key
    while found in known:
        number, found = number + 1, f"{key} #{number}"
    return found
