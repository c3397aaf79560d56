"""What the HTML report says of one test: values for the template, nothing left to decide there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_jitperf.baseline.store import Key
from pytest_jitperf.judge.envelope import total
from pytest_jitperf.judge.outcome import Effect, Finding, Outcome
from pytest_jitperf.report.account import Account, account_of
from pytest_jitperf.report.costplot import cost_plot
from pytest_jitperf.report.drawing import Figure, series_class
from pytest_jitperf.report.grouping import Group, groups
from pytest_jitperf.report.guide import Advice, advise, number_of_calls
from pytest_jitperf.report.guidebook import Page, page
from pytest_jitperf.report.historyplot import Past, Step, history_plot
from pytest_jitperf.report.numbers import Table, judged_table, numbers_table
from pytest_jitperf.report.phaseplot import phase_plot
from pytest_jitperf.report.ratioplot import Compared, ratio_plot
from pytest_jitperf.report.standing import Standing, standing
from pytest_jitperf.report.sweep import cheapest_by_size, growth_lines, rows_by_strategy
from pytest_jitperf.report.sweepplot import sweep_plot
from pytest_jitperf.row import Row
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["Card", "Line", "Pasts", "Trouble", "cards"]

Pasts = Mapping[tuple[str, Key], tuple[Step, ...]]
"""Recordings of earlier commits, by baseline file and key of the entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One strategy in the table of a test.

    Attributes:
        name: What it is called there.
        kind: Class by which its lines are drawn, as a key to the figures.
        cells: Numbers, one for each header of the card.
        word: Of the verdict.
        stands: How it stands.
        note: A few words beside the word.
    """

    name: str
    kind: str
    cells: tuple[str, ...]
    word: str
    stands: Standing
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why a strategy failed or is unsettled, or what changed of one that passes.

    Attributes:
        name: What the strategy is called in the table.
        word: Of the verdict.
        stands: How it stands.
        account: What it has to say of itself.
    """

    name: str
    word: str
    stands: Standing
    account: Account


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One test: a measurement of it on one kind of device, or all sizes of a sweep.

    Attributes:
        file: Path of the test file.
        name: The test, with measurement and kind of device where there are several.
        stands: How the worst of its strategies stands.
        words: Words of its verdicts, the worst first, each with how it stands and how many strategies have it.
        headers: Of the numbers in the table.
        lines: The table, one line per strategy.
        troubles: What failed or is unsettled, then what changed otherwise.
        pages: The guide, one page per device on which there is a choice.
        sentences: How times of a sweep grow, and which strategy is the cheapest at which size.
        figures: The plots.
        judged: Everything that was judged.
        numbers: Everything that was measured.
    """

    file: str
    name: str
    stands: Standing
    words: tuple[tuple[str, Standing, int], ...]
    headers: tuple[str, ...]
    lines: tuple[Line, ...]
    troubles: tuple[Trouble, ...]
    pages: tuple[Page, ...] = ()
    sentences: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    judged: Table | None = None
    numbers: Table | None = None


def cards(rows: Iterable[Row], pasts: Pasts | None = None) -> list[Card]:
    """One card per test, in the order of the table.

    Args:
        rows: All rows of a run.
        pasts: What earlier commits recorded of them, by baseline file and key of the entry.
    """
    known = pasts or {}
    found: list[Card] = []
    for sweep, of_one in groupby(groups(rows), key=lambda group: group.sweep):
        same = list(of_one)
        found += [_sweep(sweep, same, known)] if sweep else [_single(each, known) for each in same]
    return found


def _single(group: Group, pasts: Pasts) -> Card:
    named = [(group.name_of(row), row) for row in group.rows]
    advice = advise(group)
    pages = tuple(page(each.device, each) for each in advice)
    figures = [*_ratios(named), *map(cost_plot, advice), phase_plot(named), _history(named, pasts)]
    return _card(group.title, [group], named, advice, pages=pages, figures=figures)


def _sweep(title: str, sizes: Sequence[Group], pasts: Pasts) -> Card:
    group_of = {id(row): group for group in sizes for row in group.rows}
    rows = rows_by_strategy(sizes)
    named = [(group_of[id(row)].name_of(row), row) for row in rows]
    several = any(group.several_devices for group in sizes)
    plots = [sweep_plot(rows, metric, several_devices=several) for metric in ("run", "compile")]
    sentences = (*cheapest_by_size(sizes), *growth_lines(sizes))
    return _card(
        title, sizes, named, [], sentences=sentences, figures=[*_ratios(named), *plots, _history(named, pasts)]
    )


def _card(
    title: str,
    groups: Sequence[Group],
    named: Sequence[tuple[str, Row]],
    advice: Sequence[Advice],
    *,
    pages: tuple[Page, ...] = (),
    sentences: tuple[str, ...] = (),
    figures: Sequence[Figure | None],
) -> Card:
    file, _, name = title.partition("::")
    rows = [row for _, row in named]
    calls = advice[0].calls if advice else None
    memory = any("peak_bytes" in row.metrics for row in rows)
    headers = ["compile", "run", "launches"]
    headers += ["peak memory"] if memory else []
    headers += [number_of_calls(calls)] if calls is not None else []
    totals = {id(row): total(each.line(row.strategy), each.calls) for each in advice for row in each.rows}
    strategies = [row.strategy for row in rows]
    group_of = {id(row): group for group in groups for row in group.rows}
    lines = []
    for label, row in named:
        cells = [
            format_quantity(row.compile, Unit.SECONDS),
            format_quantity(row.run, Unit.SECONDS),
            format_quantity(row.launches, Unit.COUNT),
        ]
        cells += [format_quantity(row.metrics.get("peak_bytes"), Unit.BYTES)] if memory else []
        cells += [format_quantity(totals.get(id(row)), Unit.SECONDS)] if calls is not None else []
        lines.append(
            Line(
                name=label,
                kind=series_class(row.strategy, list(dict.fromkeys(strategies))),
                cells=tuple(cells),
                word=row.outcome,
                stands=standing(row),
                note="; ".join(group_of[id(row)].notes_on(row)),
            )
        )
    return Card(
        file=file,
        name=name,
        stands=max((standing(row) for row in rows), key=_RANKS.__getitem__),
        words=_words(rows),
        headers=tuple(headers),
        lines=tuple(lines),
        troubles=tuple(each for label, row in named if (each := _trouble(label, row)) is not None),
        pages=pages,
        sentences=sentences,
        figures=tuple(each for each in figures if each is not None),
        judged=judged_table(named),
        numbers=numbers_table(named),
    )


def _words(rows: Sequence[Row]) -> tuple[tuple[str, Standing, int], ...]:
    found = [(row.outcome, standing(row)) for row in rows]
    ranks = {outcome.value: outcome.rank for outcome in Outcome}
    order = sorted(set(found), key=lambda each: (-_RANKS[each[1]], -ranks[each[0]]))
    return tuple((*each, found.count(each)) for each in order)


def _trouble(name: str, row: Row) -> Trouble | None:
    """What there is to tell of a strategy; nothing of one that is as it was."""
    stands = standing(row)
    if stands is Standing.FINE and not row.why:
        return None
    return Trouble(name=name, word=row.outcome, stands=stands, account=account_of(row))


def _ratios(named: Sequence[tuple[str, Row]]) -> list[Figure | None]:
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


def _history(named: Sequence[tuple[str, Row]], pasts: Pasts) -> Figure | None:
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


_RANKS = {each: rank for rank, each in enumerate(Standing)}
