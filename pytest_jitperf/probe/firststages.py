"""The first cold stages of a program, and the count of Python calls in its trace, without tracing too often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

from . import clock
from .compilelog import CompileLog, compile_log
from .counts import PROFILED, python_calls
from .stages import ColdStages, Seconds, cold_stages, cold_trace, timed

__all__ = ["CountedTrace", "counted_trace", "first_stages"]

# A trace that takes longer than this is not repeated to have it timed apart from the one that counts calls.
_DEAR_TRACE_SECONDS = 3.0
# One that takes longer than this, in CPU time, is not repeated for the count either, which takes twice as long.
_UNCOUNTED_TRACE_SECONDS = 10.0
# A count that the baseline has should not be missed where a trace takes somewhat longer than when it was recorded.
_LEEWAY = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTrace:
    """A function traced for the first time.

    Attributes:
        first: What the first trace took.
        traced: The last trace.
        calls: Python calls in a cold trace that was not the first, or None.
        missing: Why there is no count; empty where there is one.
        log: What the first trace compiled.
    """

    first: Seconds
    traced: Any
    calls: int | None
    missing: str
    log: CompileLog


def counted_trace(jitted: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, record: bool) -> CountedTrace:
    """Traces from empty caches, and once more for the count of Python calls unless that is dear.

    The first trace pays for what Python loads and caches once, so its count would not be the same each time.

    Args:
        jitted: What ``jax.jit`` returned.
        args: Positional arguments.
        kwargs: Keyword arguments.
        record: Whether the count goes into a baseline.
    """
    with compile_log() as log:
        first, traced = cold_trace(jitted, args, kwargs)
    if first.cpu > _UNCOUNTED_TRACE_SECONDS * (1 if record else _LEEWAY):
        missing = f"its trace took {first.cpu:.0f} s, too long to be repeated for a count"
        return CountedTrace(first=first, traced=traced, calls=None, missing=missing, log=log)
    jax.clear_caches()
    # Not within a log, whose own calls would be counted.
    calls, traced = python_calls(lambda: jitted.trace(*args, **kwargs))
    missing = PROFILED if calls is None else ""
    return CountedTrace(first=first, traced=traced, calls=calls, missing=missing, log=log)


def first_stages(
    jitted: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, record: bool
) -> tuple[ColdStages, CountedTrace, CompileLog]:
    """Cold stages, the count of Python calls in a cold trace, and what was compiled on the way.

    The time of the first trace is not used either, unless it was so dear that tracing again only for the clock would
    be a waste.

    Args:
        jitted: What ``jax.jit`` returned.
        args: Positional arguments, on their device.
        kwargs: Keyword arguments.
        record: Whether the count goes into a baseline.
    """
    counted = counted_trace(jitted, args, kwargs, record=record)
    if counted.first.wall < _DEAR_TRACE_SECONDS:
        with compile_log() as log:
            return cold_stages(jitted, args, kwargs), counted, log
    with compile_log(counted.log) as log:
        lower, lowered = timed(counted.traced.lower, clock.thread_time_ns)
        xla, compiled = timed(lowered.compile, clock.process_time_ns)
    return ColdStages(counted.first, lower, xla, counted.traced, lowered, compiled), counted, log
