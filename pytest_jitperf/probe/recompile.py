"""Whether compiling takes more than an absolute limit, here, on an idle machine: from a few cold compiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax

from pytest_jitperf.judge.stats import ERROR, error_spent, paired_interval
from pytest_jitperf.measurement import Settled

from . import clock
from .clock import CLOCKS, Clocks
from .compilelog import CompileLog, compile_log
from .flat import over_arrays
from .idle import Look, Span, between, look, watched
from .inputs import Call
from .stages import cold_stages, cold_trace, timed
from .subject import Subject

__all__ = ["cold_again", "cold_call", "settled_cold"]

# Least standard deviation of the logarithm of one cold compile, taken on trust as in `paired_interval`. What compiling
# takes at the least and at the most is CPU time for the most part, which varies by 2.5 % on a quiet machine and by 5 to
# 10 % on one with twice as many busy processes as cores.
_COLD_SD = 0.05
# Ten compiles of that kind are known to 10 %; more of them would be dear for what they tell.
_MOST_COMPILES = 10

_PHASES = ("trace", "lower", "xla")
_SHORTEST_SECONDS = 1e-9
_NOTHING = Span(wall=_SHORTEST_SECONDS, least=_SHORTEST_SECONDS, most=_SHORTEST_SECONDS)


def settled_cold(
    first: Mapping[str, Span],
    again: Callable[[], Mapping[str, Span]],
    limits: Mapping[str, float],
    *,
    max_seconds: float,
    rough: bool = False,
    clocks: Clocks = CLOCKS,
    error: float = ERROR,
) -> dict[str, Settled]:
    """Repeats a cold compile until it is clear on which side of its limit each phase lies.

    The interval is that of `paired_interval`, at an error that all looks share: its lower end for the time at the least
    (`Span.least`), its upper end for the time at the most.

    Example:
        A first compile took 0.51 s, on an idle machine 0.50 s at the least. A single one is known to a factor of 1.32,
        and 0.50 / 1.32 is 0.38: a limit of 0.3 s is broken, and with one of 0.4 s it is compiled again.

    Args:
        first: The first compile by phase, ``compile`` for the whole.
        again: Compiles once more, from cold; gives the phases of ``limits`` at least.
        limits: Seconds by phase, more than 0.
        rough: Whether the first one was looked at less closely than those that follow, which do without it then.
        max_seconds: Wall time for compiling. A compile that would go beyond it is not begun.
        clocks: Tells the time.
        error: Probability, both ends together, that an interval leaves out the true time.

    Returns:
        For each limit the time with its interval; ``rounds`` counts the first compile too.
    """
    start = clocks.wall()
    compiles = [first]
    found: dict[str, Settled] = {}
    while True:
        look = len(compiles)
        seconds = (clocks.wall() - start) * 1e-9
        late = seconds + (seconds / (look - 1) if look > 1 else first["compile"].wall) > max_seconds
        for phase, limit in limits.items():
            if phase not in found or not _clear(found[phase], limit):
                spans = [each[phase] for each in (compiles[1:] if rough and look > 1 else compiles)]
                settled = _settled(spans, error_spent(error, look))
                timed_out = late and not _clear(settled, limit)
                found[phase] = replace(settled, rounds=look, seconds=seconds, timed_out=timed_out)
        if late or look >= _MOST_COMPILES or all(_clear(found[phase], limit) for phase, limit in limits.items()):
            return found
        compiles.append(again())


def _settled(spans: Sequence[Span], error: float) -> Settled:
    def ends(values: list[float]) -> tuple[float, float, float]:
        return paired_interval([math.log(value) for value in values], floor_sd=_COLD_SD, confidence=1 - error)

    estimate = ends([span.wall for span in spans])[0]
    low, high = ends([span.least for span in spans])[1], ends([span.most for span in spans])[2]
    return Settled(
        estimate=math.exp(min(max(estimate, low), high)),
        low=math.exp(low),
        high=math.exp(high),
        rounds=len(spans),
        seconds=0.0,
    )


def _clear(settled: Settled, limit: float) -> bool:
    return settled.low > limit or settled.high < limit


def cold_call(subject: Subject) -> tuple[dict[str, Span], CompileLog, Any]:
    """Calls what Python drives once, from empty caches.

    Args:
        subject: Within ``subject.active()``.

    Returns:
        What compiling took by phase, ``compile`` for the whole; what was compiled; and the result.
    """
    call = subject.expendable()
    jax.clear_caches()
    with compile_log(CompileLog(watching=True)) as log:
        span, result = watched(lambda: subject.first_call(call))
    phases = {**log.seconds, "compile": sum(log.seconds.values())}
    return {phase: _part(seconds, span) for phase, seconds in phases.items()}, log, result


@dataclass(slots=True)
class _Phases:
    """The phases of a call that compiles many programs: the clocks are looked at whenever one has ended."""

    spans: dict[str, Span] = field(default_factory=lambda: dict.fromkeys((*_PHASES, "compile"), _NOTHING))
    last: Look = field(default_factory=look)

    def ended(self, phase: str, seconds: float) -> None:
        """Adds a phase, of that wall time."""
        now = look()
        part = _part(seconds, between(self.last, now))
        for name in (phase, "compile"):
            self.spans[name] += part
        self.last = now


def _part(seconds: float, whole: Span) -> Span:
    """A part of something, of which the wall time alone is known: what the whole lost to load, the part may have."""
    wall = max(seconds, _SHORTEST_SECONDS)
    return Span(
        wall=wall,
        least=max(wall - (whole.wall - whole.least), _SHORTEST_SECONDS),
        most=max(min(wall, whole.most), _SHORTEST_SECONDS),
    )


def cold_again(subject: Subject, *, one_program: bool, deep: bool) -> Mapping[str, Span]:
    """Compiles once more from cold, in the way in which ``subject.cold`` came about.

    Args:
        subject: Within ``subject.active()``.
        one_program: Whether it was traced, lowered and compiled as one program, or called.
        deep: Whether XLA is asked for; else one program is only traced and lowered.
    """
    if not one_program:
        call, phases = subject.expendable(), _Phases()
        jax.clear_caches()
        with compile_log(CompileLog(told=phases.ended)):
            subject.first_call(call)
        return phases.spans
    jitted, inputs = subject.built.call, subject.inputs
    if not subject.built.jitted:
        made = over_arrays(jitted, subject.built.function, inputs)
        jitted, inputs = made.jitted, Call(made.leaves, {})
    if deep:
        return cold_stages(jitted, inputs.args, inputs.kwargs).spans()
    trace, traced = cold_trace(jitted, inputs.args, inputs.kwargs)
    lower, _ = timed(traced.lower, clock.thread_time_ns)
    return {"trace": trace.span, "lower": lower.span}
