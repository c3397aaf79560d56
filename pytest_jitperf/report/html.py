"""The HTML report: one file that holds all of a run and asks the network for nothing.

It works without scripts, is read on paper and on a phone, and its plots (``drawing.py``) are part of the page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_jitperf.metrics import METRICS
from pytest_jitperf.report.cards import MOST_WITH_PLOTS, Card, cards
from pytest_jitperf.report.drawing import WIDTH
from pytest_jitperf.report.figures import Pasts
from pytest_jitperf.report.overview import overview, sections
from pytest_jitperf.results import Results

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["html", "why_not_available"]

_TEMPLATE = "report.html.jinja"
_UNBROKEN = re.compile(r"(\S+ -> \S+|\S+)")
# What is longer has to break somewhere on a phone.
_WHOLE = 28


def why_not_available() -> str:
    """Says what is missing for this report; empty where nothing is."""
    if find_spec("jinja2") is None:
        return "the HTML report needs jinja2: pip install jinja2, or pytest-jitperf with its extra report"
    return ""


def html(results: Results, pasts: Pasts | None = None) -> str:
    """Writes the report of a run.

    Args:
        results: What the run found; it names no path or user of the machine.
        pasts: What earlier commits recorded of it, where that is known.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("pytest_jitperf.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    return environment.get_template(_TEMPLATE).render(
        run=overview(results),
        sections=sections(_anchored(cards(results.rows, pasts))),
        lines=results.lines,
        metrics=list(METRICS.values()),
        width=WIDTH,
        most=MOST_WITH_PLOTS,
    )


def _prose(text: str) -> Markup:
    """Text that is not broken at the hyphens of its options, nor beside its arrows."""
    from markupsafe import Markup, escape

    parts = _UNBROKEN.split(text)
    return Markup("").join(
        Markup('<span class="whole">{}</span>').format(each) if "-" in each and len(each) <= _WHOLE else escape(each)
        for each in parts
    )


def _anchored(found: Iterable[Card]) -> list[tuple[str, Card]]:
    """Each card with a name for links that is the same in the next report of the same tests."""
    taken: set[str] = set()
    last: dict[str, int] = defaultdict(lambda: 1)
    anchored = []
    for card in found:
        plain = re.sub(r"[^a-z0-9]+", "-", f"{card.file} {card.name}".lower()).strip("-")
        anchor = plain
        while anchor in taken:
            # Thousands of tests may differ in letters alone that no link has.
            last[plain] += 1
            anchor = f"{plain}-{last[plain]}"
        taken.add(anchor)
        anchored.append((f"t-{anchor}", card))
    return anchored
