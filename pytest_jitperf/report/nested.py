"""What the jitted helpers of a test do for it, from what was measured: alone, and under an outer jit."""

from __future__ import annotations

import math

from pytest_jitperf.judge.envelope import apart
from pytest_jitperf.judge.payback import payback
from pytest_jitperf.measurement import HelperUse
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.report.guide import Advice, calls_until, number_of_calls
from pytest_jitperf.row import Row
from pytest_jitperf.strategies import one_helper
from pytest_jitperf.units import Unit, format_quantity
from pytest_jitperf.wording import listed

__all__ = ["nested_facts"]

# What tells two optimised programs apart for people.
_PROGRAM = ("hlo_ops", "fusions", "custom_calls", "flops", "temp_bytes")

# By the CPU clock of the thread, repeats of one trace varied by 3 %, under full load by 4 %.
_CPU_FLOOR = 0.05

_MOST_NAMES = 3


def nested_facts(advice: Advice) -> tuple[str, ...]:
    """Sentences on what ``inner`` and ``both`` give, nothing but this run's numbers; empty where neither was measured.

    Args:
        advice: The strategies of one measurement on one device.
    """
    inner, outer, both = (advice.row(name) for name in ("inner", "outer", "both"))
    found = []
    if outer is not None and both is not None:
        found += [_programs(outer, both), _tracing(outer, both)]
    if both is not None:
        most = sorted(both.uses, key=lambda use: -use.calls)[:_MOST_NAMES]
        found += [_pays_from(use) for use in most]
    found.append(_each_helper(advice))
    if inner is not None:
        found.append(_dispatch(inner, advice.row("eager"), both or outer))
        found.append(_when_inner(advice, inner, outer or both))
    return tuple(each for each in found if each)


def _programs(outer: Row, both: Row) -> str:
    if not outer.optimised or not both.optimised:
        return ""
    if outer.optimised == both.optimised:
        return (
            "both and outer are the same optimised program: no call of a jitted helper is left in it, so the two run "
            "alike"
        )
    differing = [
        f"{name} {_shown(both, name)} against {_shown(outer, name)}"
        for name in _PROGRAM
        if name in both.metrics and name in outer.metrics and both.metrics[name] != outer.metrics[name]
    ]
    what = f": {', '.join(differing)}" if differing else f", though {listed(_PROGRAM)} are equal"
    return f"both and outer are not the same optimised program{what}"


def _tracing(outer: Row, both: Row) -> str:
    """How much trace and lower time the jitted helpers save under an outer jit, in CPU time of the thread."""
    phases = ("trace_cpu", "lower_cpu")
    if not all(phase in row.timed for row in (outer, both) for phase in phases):
        return ""
    alone, nested = (sum(row.timed[phase].median for phase in phases) for row in (outer, both))
    if not apart(alone, nested, _CPU_FLOOR * alone, _CPU_FLOOR * nested):
        return f"both and outer take as long to trace and lower ({_seconds(nested)} and {_seconds(alone)} of CPU time)"
    why = (
        "a jitted helper is traced and lowered once for each shape, and then called"
        if nested < alone
        else "the helpers are too small, or too seldom called with the same shapes, for their jit to save anything here"
    )
    return f"both takes {_seconds(nested)} of CPU time to trace and lower, outer {_seconds(alone)}: {why}"


def _pays_from(use: HelperUse) -> str:
    """From how many calls a helper's jit saves anything under an outer jit."""
    often = "once" if use.calls == 1 else f"{use.calls:,} times"
    signatures = "1 signature" if use.signatures == 1 else f"{use.signatures:,} signatures"
    here = f"while tracing, {use.name} is called {often} with {signatures}: under an outer jit its own jit"
    found = payback(use)
    if math.isinf(found.low):
        return f"{here} saves nothing, however often it is called"
    low = math.ceil(found.low)
    if math.isinf(found.high) and low == 1:
        return f"{here} makes no difference that can be told"
    if math.isinf(found.high):
        return f"{here} pays from {number_of_calls(low)} with the same signature on at the earliest, if ever"
    high = math.ceil(found.high)
    latest = "" if low == high else f", or from {high:,} at the latest"
    return f"{here} pays from {number_of_calls(low)} with the same signature on{latest}"


def _each_helper(advice: Advice) -> str:
    """What each helper contributes when it alone is jitted, the one that saves most first."""
    eager = next((line for line in advice.lines if line.strategy == "eager"), None)
    alone = [line for line in advice.lines if one_helper(line.strategy)]
    if eager is None or not alone:
        return ""
    parts = []
    for line in sorted(alone, key=lambda line: line.run):
        saved, later = eager.run - line.run, line.start - eager.start
        if not apart(eager.run, line.run, eager.run_sd, line.run_sd):
            said = "makes no difference to a call that can be told"
        else:
            said = f"{'saves' if saved > 0 else 'costs'} {_seconds(abs(saved))} a call"
        if apart(eager.start, line.start, eager.start_sd, line.start_sd):
            said += f" and starts {_seconds(abs(later))} {'later' if later > 0 else 'sooner'}"
        parts.append(f"{one_helper(line.strategy)} {said}")
    return f"of eager's {_seconds(eager.run)} a call, each helper jitted alone: {'; '.join(parts)}"


def _dispatch(inner: Row, eager: Row | None, one_program: Row | None) -> str:
    if inner.launches is None:
        return ""
    text = f"inner launches {_count(inner.launches)} in each call"
    if eager is not None and eager.launches is not None:
        text += f", eager {eager.launches:,}"
    if one_program is not None and one_program.launches is not None:
        text += f", {one_program.strategy} {one_program.launches:,}: under an outer jit no helper is dispatched"
    return text


def _when_inner(advice: Advice, inner: Row, outer: Row | None) -> str:
    """Whether ``inner`` is right here, and when it would be."""
    if outer is None:
        return ""
    turns = [each.strategy for each in advice.segments]
    gap = advice.line(outer.strategy).start - advice.line("inner").start
    if "inner" in turns:
        place = turns.index("inner")
        after = advice.segments[place + 1 :]
        if place > 0:
            since = f"from {calls_until(advice.segments[place])} on"
            return f"inner is right here {since}{f' and up to {calls_until(after[0])}' if after else ''}"
        until = f"up to {calls_until(after[0])}" if after else _for_ever(advice)
        until += ", as far as can be told" if advice.segments[0].high > 1 else ""
        if gap <= 0:
            return f"inner is right here {until}"
        sooner = format_quantity(gap, Unit.SECONDS, 2)
        return f"inner is right here {until}: it starts {sooner} sooner than {outer.strategy}; {_compiled(inner)}"
    return (
        f"inner would be right where {outer.strategy} compiles long and the helpers are called many times with the "
        f"same shapes; here {outer.strategy} compiles in {_seconds(outer.timed['compile'].median)}, inner in "
        f"{_seconds(inner.timed['compile'].median)}"
    )


def _for_ever(advice: Advice) -> str:
    faster = any(line.run < advice.line("inner").run for line in advice.lines)
    return "for all that these run times tell" if faster else "however often it is called"


def _compiled(inner: Row) -> str:
    """Of how many programs the calls of the helpers make do with."""
    names = list(dict.fromkeys(key.partition("(")[0] for key in inner.helpers))
    if not names:
        return "its helpers are compiled once for each shape and used again"
    text = listed(names) if len(names) <= _MOST_NAMES else f"{len(names)} helpers"
    be = "is" if len(names) == 1 else "are"
    return f"{text} {be} compiled once for each shape ({_count(len(inner.helpers))}) and used again"


def _shown(row: Row, metric: str) -> str:
    return format_quantity(row.metrics[metric], METRICS[metric].unit)


def _count(programs: int) -> str:
    return "1 program" if programs == 1 else f"{programs:,} programs"


def _seconds(value: float) -> str:
    return format_quantity(value, Unit.SECONDS)
