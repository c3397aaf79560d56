"""The guide of a whole run: for each test where to put the jit, what there is to gain, and what nested jit does."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass

from tabulate import tabulate

from pytest_jitperf.judge.envelope import total
from pytest_jitperf.report.grouping import groups
from pytest_jitperf.report.guide import Advice, advise, choice, number_of_calls, recommendation
from pytest_jitperf.report.markup import code
from pytest_jitperf.report.nested import nested_facts
from pytest_jitperf.report.terminal import WIDTH
from pytest_jitperf.row import Row
from pytest_jitperf.units import Unit, format_quantity
from pytest_jitperf.wording import listed

__all__ = ["HEADING", "Page", "markdown", "page", "pages", "printed"]

HEADING = "jitperf guide: where to put the jit"

_INTRODUCTION = (
    "Most to gain first: what the cheapest strategy saves against outer, which keeps a function's own jit if it has "
    "one (where outer was not measured, against the first strategy after eager), over the calls that expected_calls= "
    "names, else over 1,000. What is compiled is compiled once. All numbers are of this run."
)
_NOTHING = "No test was measured under two strategies, so there is nothing to choose from."


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The guide to one test on one device.

    Attributes:
        title: The test.
        gain: What there is to gain.
        choice: Which strategy up to how many calls.
        recommendation: Which strategy for the calls at hand.
        headers: Of the table.
        table: One line of cells per strategy.
        facts: What nested jit does here.
    """

    title: str
    gain: str
    choice: str
    recommendation: str
    headers: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    facts: tuple[str, ...]


def pages(rows: Iterable[Row]) -> list[Page]:
    """One page per test and device where there is a choice, most to gain first.

    Args:
        rows: All rows of a run.
    """
    found = [(group.title, advice) for group in groups(rows) for advice in advise(group)]
    found.sort(key=lambda each: -each[1].saving)
    return [page(title, advice) for title, advice in found]


def printed(rows: Iterable[Row], width: int = WIDTH) -> list[str]:
    """The guide in lines of at most that many columns, but for the rows of its tables."""
    found = pages(rows)
    lines = _wrapped(_INTRODUCTION if found else _NOTHING, width)
    for each in found:
        lines += ["", each.title, *_wrapped(f"gain   {each.gain}", width, 2, 9)]
        lines += _wrapped(f"guide  {each.choice}", width, 2, 9)
        lines += _wrapped(each.recommendation, width, 9, 9)
        table = tabulate(
            each.table,
            headers=each.headers,
            tablefmt="plain",
            colalign=("left", *["right"] * (len(each.headers) - 1)),
            disable_numparse=True,
        )
        lines += [f"  {line}".rstrip() for line in table.splitlines()]
        for fact in each.facts:
            lines += _wrapped(f"- {fact}", width, 2, 4)
    return lines


def markdown(rows: Iterable[Row]) -> str:
    """The guide as a Markdown document."""
    found = pages(rows)
    parts = ["# Where to put the jit", _INTRODUCTION if found else _NOTHING]
    for each in found:
        rule = ("---", *["---:"] * (len(each.headers) - 1))
        parts += [
            f"## {code(each.title)}",
            f"**{each.choice}**",
            f"{each.recommendation}; to gain: {each.gain}",
            "\n".join(map(_cells, (each.headers, rule, *each.table))),
        ]
        if each.facts:
            parts.append("\n".join(f"- {fact}" for fact in each.facts))
    return "\n\n".join(parts) + "\n"


def page(title: str, advice: Advice) -> Page:
    """The guide to one test on one device.

    Args:
        title: The test.
        advice: Its strategies, compared.
    """
    return Page(
        title=f"{title} on {advice.device}" if advice.device else title,
        gain=_gain(advice),
        choice=choice(advice),
        recommendation=recommendation(advice),
        headers=("", "compile", "run", "launches", number_of_calls(advice.calls)),
        table=tuple(
            (
                row.strategy,
                format_quantity(row.compile, Unit.SECONDS),
                # What the sentences reckon with: strategies of one optimised program share their run time.
                format_quantity(line.run, Unit.SECONDS),
                format_quantity(row.launches, Unit.COUNT),
                format_quantity(total(line, advice.calls), Unit.SECONDS),
            )
            for row, line in zip(advice.rows, advice.lines, strict=True)
        ),
        facts=nested_facts(advice),
    )


def _gain(advice: Advice) -> str:
    present, best, calls = advice.present, advice.best, number_of_calls(advice.calls)
    if advice.saving > 0:
        before = format_quantity(total(present, advice.calls), Unit.SECONDS)
        saved = format_quantity(advice.saving, Unit.SECONDS)
        return f"{saved} of {before} over {calls}, with {best.strategy} instead of {present.strategy}"
    # One that is shown below to cost less, though by less than noise, must not read as dearer.
    rivals = [line.strategy for line in advice.lines if total(line, advice.calls) < total(best, advice.calls)]
    if best is present and rivals:
        return f"nothing that can be told over {calls}: {listed([best.strategy, *rivals])} are alike within noise"
    if best is present:
        return f"nothing over {calls}: {present.strategy} is the cheapest"
    return f"nothing that can be told over {calls}: {best.strategy} and {present.strategy} are alike within noise"


def _wrapped(text: str, width: int, first: int = 0, further: int = 0) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=" " * first,
        subsequent_indent=" " * further,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cells(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
