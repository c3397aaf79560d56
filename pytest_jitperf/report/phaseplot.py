"""What the first call of each strategy costs, and of which phases of compiling."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_jitperf.report.drawing import WIDTH, Axis, Figure, Shape, box, label, line, seconds_label
from pytest_jitperf.row import Row

__all__ = ["PHASES", "phase_plot"]

PHASES = {
    "trace": "trace: Python to a jaxpr",
    "lower": "lower: jaxpr to StableHLO",
    "xla": "xla: StableHLO to an executable",
}

_ROW, _TOP, _BAR = 36.0, 2.0, 14.0
_LEFT, _RIGHT = 1.0, WIDTH - 1.0
_MOST = 16


def phase_plot(rows: Sequence[tuple[str, Row]]) -> Figure | None:
    """Draws one bar per strategy, its phases end to end, all on one scale.

    Args:
        rows: Each with what it is called in the figure.

    Returns:
        Nothing where no phases were timed.
    """
    known = [(name, row, _phases(row)) for name, row in rows if _phases(row)][:_MOST]
    if not known:
        return None
    longest = max(sum(phases.values()) for _, _, phases in known)
    axis = Axis(low=0.0, high=longest, start=_LEFT, end=_RIGHT, logarithmic=False)
    shapes: list[Shape] = []
    for n, (name, row, phases) in enumerate(known):
        top = _TOP + _ROW * n
        whole = row.compile if row.compile is not None else sum(phases.values())
        shapes += [label(_LEFT, top + 11, name), label(_RIGHT, top + 11, seconds_label(whole), "value", "end")]
        shapes += _bar(phases, top + 16, axis)
    return Figure(
        title="Compile time by phase",
        description="; ".join(
            f"{name}: {', '.join(f'{phase} {seconds_label(value)}' for phase, value in phases.items())}"
            for name, _, phases in known
        )
        + ".",
        height=_TOP + _ROW * len(known),
        shapes=tuple(shapes),
        caption="Cold cost of the first call beyond running, by the wall clock.",
        key=tuple((f"phase-{phase}", meaning) for phase, meaning in PHASES.items()),
    )


def _phases(row: Row) -> dict[str, float]:
    found = {phase: row.timed[phase].median for phase in PHASES if phase in row.timed}
    return found if sum(found.values()) > 0 else {}


def _bar(phases: dict[str, float], top: float, axis: Axis) -> list[Shape]:
    shapes: list[Shape] = []
    done = 0.0
    for phase, value in phases.items():
        start, end = axis.at(done), axis.at(done + value)
        shapes.append(box(start, top, end - start, _BAR, f"phase-{phase}"))
        done += value
    return [*shapes, line(axis.at(done), top - 2, axis.at(done), top + _BAR + 2, "axis")]
