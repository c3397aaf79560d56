"""Which part of compiling moved, with the exact witness of tracing."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.outcome import Finding
from pytest_jitperf.judge.times import trace_growth
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.units import Unit, format_change

__all__ = ["compile_parts"]

_PHASES = frozenset({"compile", "trace", "lower", "xla"})


def compile_parts(measured: Measurement, entry: Entry, evidence: Evidence, moved: Sequence[Finding]) -> list[str]:
    """Splits what compile time moved by into ``trace``, ``lower`` and ``xla``, the largest first.

    All are CPU times of here and now, as they were judged: those of the baseline are what its program and its trace
    would take today.

    Returns:
        One line, or none where no such time moved or nothing is known of its parts.
    """
    metric = next((each.metric for each in moved if each.metric in _PHASES), "")
    comparison = evidence.program
    if not metric or comparison is None:
        return []
    changes: dict[str, tuple[float, float]] = {}
    if comparison.xla is not None and comparison.old_xla_seconds:
        old = comparison.old_xla_seconds
        changes["xla"] = (old, old * comparison.xla.estimate)
    for phase in ("trace", "lower"):
        growth = trace_growth(measured, entry, evidence.trace_again or measured.relative, (phase,))
        if growth is not None:
            changes[phase] = growth
    ordered = sorted(changes, key=lambda phase: -abs(changes[phase][1] - changes[phase][0]))
    whole = sum(new - old for old, new in changes.values())
    said = [f"{phase} {format_change(*changes[phase], Unit.SECONDS)}" for phase in ordered]
    if not said:
        return []
    old, new = changes[ordered[0]]
    share = (new - old) / whole if whole else 0.0
    if len(said) > 1 and share > 0:
        said[0] += f" ({min(share, 1.0):.0%} of the change)".replace("%", " %")
    witness = _trace_witness(measured, entry, longer=ordered[0] != "xla" and new > old)
    return [f"{metric}: {', '.join(said)} CPU time{witness and '; '}{witness}"]


def _trace_witness(measured: Measurement, entry: Entry, *, longer: bool) -> str:
    """The exact count of what tracing does."""
    was, here = entry.environment, measured.environment
    if was.host_key != here.host_key:
        return f"trace and lower are not compared with those of Python {was.python} and jax {was.jax}"
    old, new = entry.host.get(here.host_key, {}).get("trace_calls"), measured.host.get("trace_calls")
    if old is None or new is None:
        return ""
    if old != new:
        return f"trace_calls {format_change(old, new, Unit.COUNT)}"
    return f"trace_calls {new:,} as before{': Python takes longer between its calls' if longer else ''}"
