"""Everything that was measured and judged of one test, in tables for the HTML report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_jitperf.judge.outcome import Finding
from pytest_jitperf.judge.ratios import span
from pytest_jitperf.metrics import METRICS, unit_of
from pytest_jitperf.row import Row
from pytest_jitperf.units import format_quantity

__all__ = ["Table", "judged_table", "numbers_table"]

_CPU = "_cpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table.

    Attributes:
        headers: Of the columns, the first one of the names included.
        lines: One per line: the name, then one cell for each further header.
        aligned: For each column whether it holds numbers.
    """

    headers: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    aligned: tuple[bool, ...]


def numbers_table(named: Sequence[tuple[str, Row]]) -> Table | None:
    """Every metric of every strategy; timings with their quartiles.

    Args:
        named: Rows of one test, each with what it is called.

    Returns:
        Nothing where nothing was measured.
    """
    rows = [(name, row) for name, row in named if row.metrics]
    order = {name: rank for rank, name in enumerate(METRICS)}
    metrics = {metric for _, row in rows for metric in row.metrics}
    # CPU time stands below the wall time of the same phase.
    ordered = sorted(metrics, key=lambda each: (order.get(each.removesuffix(_CPU), len(order)), each))
    if not ordered:
        return None
    return Table(
        headers=("metric", *(name for name, _ in rows)),
        lines=tuple((metric, *(_cell(row, metric) for _, row in rows)) for metric in ordered),
        aligned=(False, *[True] * len(rows)),
    )


def judged_table(named: Sequence[tuple[str, Row]]) -> Table | None:
    """Everything that was judged: old value, new value, limit and word.

    Args:
        named: Rows of one test, each with what it is called.

    Returns:
        Nothing where no metric was judged.
    """
    lines = [
        (name, *_finding(each)) for name, row in named for each in row.findings if each.metric or each.ratio is not None
    ]
    if not lines:
        return None
    headers = ("strategy", "metric", "baseline", "now", "ratio", "limit", "verdict", "rule")
    return Table(headers=headers, lines=tuple(lines), aligned=(False, False, True, True, True, True, False, False))


def _cell(row: Row, metric: str) -> str:
    if metric not in row.metrics:
        return "-"
    unit = unit_of(metric)
    shown = format_quantity(row.metrics[metric], unit)
    sample = row.timed.get(metric)
    if sample is None or sample.rounds < 2:
        return shown
    return f"{shown} ({format_quantity(sample.low, unit)} ... {format_quantity(sample.high, unit)})"


def _finding(finding: Finding) -> tuple[str, ...]:
    unit = unit_of(finding.metric)
    ratio, limit = finding.ratio, finding.limit
    if limit is None or not math.isfinite(limit):
        shown = "-"
    elif finding.metric == "growth":
        shown = f"n^{limit:g}"
    elif ratio is not None:
        shown = f"{'' if finding.metric else 'at least '}x{limit:.3g}"
    else:
        shown = format_quantity(limit, unit)
    new = f"n^{finding.new:.2f}" if finding.metric == "growth" and finding.new is not None else None
    helper = f"{finding.helper.partition('(')[0]} " if finding.helper else ""
    return (
        f"{helper}{finding.metric or 'faster_than'}",
        format_quantity(finding.old, unit),
        new or format_quantity(finding.new, unit),
        span(ratio) if ratio is not None else "-",
        shown,
        finding.outcome.value,
        finding.rule,
    )
