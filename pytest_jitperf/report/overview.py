"""What the HTML report says of a whole run, before its tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from pytest_jitperf.measurement import Environment
from pytest_jitperf.report.cards import Card, Trouble
from pytest_jitperf.report.counting import count_sentences
from pytest_jitperf.report.standing import Standing, failing, standing
from pytest_jitperf.results import Results
from pytest_jitperf.row import Row

__all__ = ["Overview", "Place", "Section", "overview", "sections"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something was measured.

    Attributes:
        kind: Kind of device.
        facts: What besides the code decides times there, by name.
    """

    kind: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """The tests that stand alike.

    Attributes:
        stands: How.
        cards: Each with its anchor.
    """

    stands: Standing
    cards: tuple[tuple[str, Card], ...]

    @property
    def plain(self) -> bool:
        """Whether plots were left out of some."""
        return any(card.plain for _, card in self.cards)

    @property
    def troubles(self) -> list[tuple[str, Card, Trouble]]:
        """What failed, or is unsettled, with the anchor of its card."""
        return [
            (anchor, card, each) for anchor, card in self.cards for each in card.troubles if each.stands is self.stands
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A run in a few lines.

    Attributes:
        headline: The verdict of the run.
        stands: How the worst of it stands.
        sentences: What it closes with on the terminal, too.
        tally: How many strategies stand how, the worst first, none that would be 0.
        words: How many have which word, by how they stand.
        places: Where it was measured.
        unmeasured: Node ids of marked items that measured nothing, and how they ended.
        update: Whether the run wrote baselines.
        plugin: Version that wrote the results.
    """

    headline: str
    stands: Standing
    sentences: tuple[str, ...]
    tally: tuple[tuple[Standing, int], ...]
    words: Mapping[Standing, tuple[tuple[str, int], ...]]
    places: tuple[Place, ...]
    unmeasured: tuple[tuple[str, str], ...]
    update: bool
    plugin: str


def overview(results: Results) -> Overview:
    """Sums a run up."""
    rows = results.rows
    update = results.mode == "update"
    stands = [standing(row) for row in rows]
    tally = tuple((each, stands.count(each)) for each in reversed(Standing) if each in stands)
    return Overview(
        headline=_headline(rows),
        stands=tally[0][0] if tally else Standing.UNSETTLED,
        sentences=tuple(count_sentences(rows, len(results.unmeasured), update)),
        tally=tally,
        words={each: _words(row for row in rows if standing(row) is each) for each, _ in tally},
        places=_places(rows),
        unmeasured=tuple((each.nodeid, each.status.value) for each in results.unmeasured),
        update=update,
        plugin=results.plugin,
    )


def sections(anchored: Sequence[tuple[str, Card]]) -> list[Section]:
    """The tests by how they stand, the worst first.

    Args:
        anchored: All cards, each with its anchor.
    """
    found = [
        Section(stands=stands, cards=tuple(each for each in anchored if each[1].stands is stands))
        for stands in reversed(Standing)
    ]
    return [each for each in found if each.cards]


def _headline(rows: Sequence[Row]) -> str:
    if not rows:
        return "Nothing was measured"
    failed = len(failing(rows))
    if failed:
        return f"{failed} of {len(rows)} failed"
    unsettled = sum(standing(row) is Standing.UNSETTLED for row in rows)
    if unsettled:
        return f"Nothing failed, {unsettled} of {len(rows)} unsettled"
    return "Nothing failed"


def _words(rows: Iterable[Row]) -> tuple[tuple[str, int], ...]:
    found = Counter(row.outcome for row in rows)
    return tuple(found.most_common())


def _places(rows: Sequence[Row]) -> tuple[Place, ...]:
    found = [
        Place(kind=row.device_kind, facts=tuple(_facts(row.environment))) for row in rows if row.environment is not None
    ]
    return tuple(dict.fromkeys(found))


def _facts(environment: Environment) -> list[tuple[str, str]]:
    """All that is set, by the names under which the baseline keeps it."""
    found: list[tuple[str, str]] = []
    for each in fields(environment):
        value = getattr(environment, each.name)
        if each.name == "config":
            found += sorted(value.items())
        elif value not in ("", False) and not (each.name == "device_count" and value == 1):
            found.append((each.name.replace("_", " "), str(value)))
    return found
