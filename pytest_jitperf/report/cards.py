"""What the HTML report says of one test: values for the template, nothing left to decide there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_jitperf.judge.envelope import total
from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.metrics import unit_of
from pytest_jitperf.report.account import Account, account_of
from pytest_jitperf.report.drawing import Figure
from pytest_jitperf.report.figures import Pasts, figures_of_sweep, figures_of_test
from pytest_jitperf.report.grouping import Group, custom_metrics, groups
from pytest_jitperf.report.guide import Advice, advise, number_of_calls
from pytest_jitperf.report.guidebook import Page, page
from pytest_jitperf.report.numbers import Table, judged_table, numbers_table
from pytest_jitperf.report.standing import Standing, standing
from pytest_jitperf.report.sweep import cheapest_by_size, growth_lines, rows_by_strategy
from pytest_jitperf.row import Row
from pytest_jitperf.units import Unit, format_quantity

__all__ = ["MOST_WITH_PLOTS", "Card", "Line", "Trouble", "cards"]

MOST_WITH_PLOTS = 400
"""Of more tests, those that are fine are shown without plots, so that the file can be opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One strategy in the table of a test.

    Attributes:
        name: What it is called there.
        cells: Numbers, one for each header of the card.
        word: Of the verdict.
        stands: How it stands.
        note: A few words beside the word.
    """

    name: str
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
        plain: Whether these and the plots were left out of it, in a report of very many tests.
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
    plain: bool = False


def cards(rows: Iterable[Row], pasts: Pasts | None = None) -> list[Card]:
    """One card per test, in the order of the table.

    Args:
        rows: All rows of a run.
        pasts: What earlier commits recorded of them, by baseline file and key of the entry.
    """
    tests: list[tuple[str, list[Group]]] = []
    for sweep, found in groupby(groups(rows), key=lambda group: group.sweep):
        same = list(found)
        tests += [(sweep, same)] if sweep else [("", [each]) for each in same]
    large = len(tests) > MOST_WITH_PLOTS
    return [
        (_sweep if sweep else _single)(same, pasts or {}, plain=large and _worst(same) is Standing.FINE)
        for sweep, same in tests
    ]


def _single(same: Sequence[Group], pasts: Pasts, *, plain: bool) -> Card:
    group = same[0]
    named = [(group.name_of(row), row) for row in group.rows]
    advice = advise(group)
    pages = tuple(page(each.device, each) for each in advice)
    figures = () if plain else figures_of_test(named, advice, pasts)
    return _card(group.title, same, named, advice, pages=pages, figures=figures, plain=plain)


def _sweep(sizes: Sequence[Group], pasts: Pasts, *, plain: bool) -> Card:
    group_of = {id(row): group for group in sizes for row in group.rows}
    named = [(group_of[id(row)].name_of(row), row) for row in rows_by_strategy(sizes)]
    several = any(group.several_devices for group in sizes)
    figures = () if plain else figures_of_sweep(named, pasts, several_devices=several)
    sentences = (*cheapest_by_size(sizes), *growth_lines(sizes))
    return _card(sizes[0].sweep, sizes, named, [], sentences=sentences, figures=figures, plain=plain)


def _card(
    title: str,
    groups: Sequence[Group],
    named: Sequence[tuple[str, Row]],
    advice: Sequence[Advice],
    *,
    pages: tuple[Page, ...] = (),
    sentences: tuple[str, ...] = (),
    figures: tuple[Figure, ...],
    plain: bool,
) -> Card:
    file, _, name = title.partition("::")
    rows = [row for _, row in named]
    calls = advice[0].calls if advice else None
    memory = any("peak_bytes" in row.metrics for row in rows)
    headers = ["compile", "run", "launches"]
    headers += ["peak memory"] if memory else []
    custom = custom_metrics(rows)
    headers += custom
    headers += [number_of_calls(calls)] if calls is not None else []
    totals = {id(row): total(each.line(row.strategy), each.calls) for each in advice for row in each.rows}
    group_of = {id(row): group for group in groups for row in group.rows}
    lines = []
    for label, row in named:
        cells = [
            format_quantity(row.compile, Unit.SECONDS),
            format_quantity(row.run, Unit.SECONDS),
            format_quantity(row.launches, Unit.COUNT),
        ]
        cells += [format_quantity(row.metrics.get("peak_bytes"), Unit.BYTES)] if memory else []
        cells += [format_quantity(row.metrics.get(name), unit_of(name)) for name in custom]
        cells += [format_quantity(totals.get(id(row)), Unit.SECONDS)] if calls is not None else []
        lines.append(
            Line(
                name=label,
                cells=tuple(cells),
                word=row.outcome,
                stands=standing(row),
                note="; ".join(group_of[id(row)].notes_on(row)),
            )
        )
    return Card(
        file=file,
        name=name,
        stands=_worst(groups),
        words=_words(rows),
        headers=tuple(headers),
        lines=tuple(lines),
        troubles=tuple(each for label, row in named if (each := _trouble(label, row)) is not None),
        pages=pages,
        sentences=sentences,
        figures=figures,
        judged=None if plain else judged_table(named),
        numbers=None if plain else numbers_table(named),
        plain=plain,
    )


def _worst(groups: Sequence[Group]) -> Standing:
    return max((standing(row) for group in groups for row in group.rows), key=_RANKS.__getitem__)


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


_RANKS = {each: rank for rank, each in enumerate(Standing)}
