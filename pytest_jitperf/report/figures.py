"""The plots of one test of the HTML report: which there are, and what is in each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from pytest_jitperf.baseline.store import Key
from pytest_jitperf.judge.outcome import Effect, Finding
from pytest_jitperf.report.costplot import cost_plot
from pytest_jitperf.report.drawing import Figure
from pytest_jitperf.report.guide import Advice
from pytest_jitperf.report.historyplot import Past, Step, history_plot
from pytest_jitperf.report.phaseplot import phase_plot
from pytest_jitperf.report.ratioplot import Compared, ratio_plot
from pytest_jitperf.report.sweepplot import sweep_plot
from pytest_jitperf.row import Row

__all__ = ["Pasts", "figures_of_sweep", "figures_of_test"]

Pasts = Mapping[tuple[str, Key], tuple[Step, ...]]
"""Recordings of earlier commits, by baseline file and key of the entry."""

_Named = Sequence[tuple[str, Row]]


def figures_of_test(named: _Named, advice: Sequence[Advice], pasts: Pasts) -> tuple[Figure, ...]:
    """The plots of a test.

    Args:
        named: Its rows, each with what it is called.
        advice: Its strategies compared, for each device.
        pasts: What earlier commits recorded.
    """
    return _there([*_ratios(named), *map(cost_plot, advice), phase_plot(named), _history(named, pasts)])


def figures_of_sweep(named: _Named, pasts: Pasts, *, several_devices: bool) -> tuple[Figure, ...]:
    """The plots of a sweep over sizes.

    Args:
        named: Its rows, each strategy's together, the smallest size first.
        pasts: What earlier commits recorded.
        several_devices: Whether lines have to be told apart by device.
    """
    rows = [row for _, row in named]
    plots = [sweep_plot(rows, metric, several_devices=several_devices) for metric in ("run", "compile")]
    return _there([*_ratios(named), *plots, _history(named, pasts)])


def _there(figures: Iterable[Figure | None]) -> tuple[Figure, ...]:
    return tuple(each for each in figures if each is not None)


def _ratios(named: _Named) -> list[Figure | None]:
    """What was compared with the baseline, and what with another strategy."""
    found = [
        Compared(
            name=" ".join(filter(None, (name, _subject(each)))),
            ratio=each.ratio,
            limit=each.limit,
            at_least=not each.metric,
            outcome=each.outcome,
            effect=each.effect,
        )
        for name, row in named
        for each in row.findings
        if each.ratio is not None and math.isfinite(each.ratio.estimate)
    ]
    found.sort(key=lambda each: each.effect is not Effect.FAIL)
    return [ratio_plot([each for each in found if each.at_least is at_least]) for at_least in (False, True)]


def _history(named: _Named, pasts: Pasts) -> Figure | None:
    return history_plot(
        [
            Past(name=name, strategy=row.strategy, steps=pasts[row.baseline, row.key], now=row.run)
            for name, row in named
            if (row.baseline, row.key) in pasts
        ]
    )


def _subject(finding: Finding) -> str:
    if not finding.metric:
        # Its rule names the other strategy: "faster_than outer: eager x2 (marker)".
        return f"against {finding.rule.partition(': ')[2].partition(' x')[0]}"
    helper = finding.helper.partition("(")[0].rpartition(".")[2]
    return f"{helper} {finding.metric}" if helper else finding.metric
