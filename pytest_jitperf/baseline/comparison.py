"""Two states of baselines side by side: which entries came, went and changed, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pytest_jitperf.baseline.changes import Difference, differences
from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.baseline.store import Baseline, Key, Unusable

__all__ = ["EntryChange", "Place", "Snapshot", "compare", "surroundings", "take"]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where an entry stands: the file, by a name that both sides share, and the key in it."""

    file: str
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The entries of one side.

    Attributes:
        name: As the user gave it, ``"HEAD~20"``.
        entries: All that can be used.
        unusable: Why others cannot be, by place; nothing is said of them otherwise.
        unreadable: Why whole files cannot be, likewise.
    """

    name: str
    entries: Mapping[Place, Entry] = field(default_factory=dict)
    unusable: Mapping[Place, str] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Why something is left out, a sentence each."""
        return (*self.unreadable.values(), *self.unusable.values())

    def silent_on(self, place: Place) -> bool:
        """Whether it cannot be said what stands at a place."""
        return place in self.unusable or place.file in self.unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryChange:
    """What became of an entry.

    Attributes:
        place: Where it stands.
        state: What happened to it.
        differences: In what it differs, where it is on both sides; none where only the spread of timings does.
    """

    place: Place
    state: Literal["added", "removed", "changed"]
    differences: tuple[Difference, ...] = ()

    @property
    def program_changed(self) -> bool:
        """Whether another program runs."""
        return any(each.kind == "program" for each in self.differences)

    @property
    def numbers_moved(self) -> bool:
        """Whether a number is another one, and not only the same one measured again."""
        return any(each.moved for each in self.differences)

    @property
    def size(self) -> float:
        """That of the number that moved most; 0 where none did."""
        return max((each.size for each in self.differences), default=0.0)


def take(name: str, baselines: Mapping[str, Baseline | Unusable]) -> Snapshot:
    """Takes the entries of baseline files.

    Args:
        name: Of the side.
        baselines: By the name of the file that both sides share.
    """
    entries: dict[Place, Entry] = {}
    unusable: dict[Place, str] = {}
    unreadable: dict[str, str] = {}
    for file, baseline in sorted(baselines.items()):
        if isinstance(baseline, Unusable):
            unreadable[file] = baseline.reason
            continue
        for key in baseline.keys:
            found = baseline.entry(*key.parts)
            if isinstance(found, Entry):
                entries[Place(file, key)] = found
            elif isinstance(found, Unusable):
                unusable[Place(file, key)] = found.reason
    return Snapshot(name=name, entries=entries, unusable=unusable, unreadable=unreadable)


def compare(old: Snapshot, new: Snapshot) -> tuple[EntryChange, ...]:
    """Compares two sides.

    Returns:
        Every entry that differs, those first whose numbers moved most, then those with another program and the same
        numbers, then what differs otherwise, came and went.
    """
    found = []
    for place in sorted({*old.entries, *new.entries}):
        if old.silent_on(place) or new.silent_on(place):
            continue
        before, after = old.entries.get(place), new.entries.get(place)
        if before is None:
            found.append(EntryChange(place=place, state="added"))
        elif after is None:
            found.append(EntryChange(place=place, state="removed"))
        elif before != after:
            found.append(EntryChange(place=place, state="changed", differences=differences(before, after)))
    return tuple(sorted(found, key=_rank))


def surroundings(changed: Sequence[EntryChange]) -> tuple[tuple[str, int], ...]:
    """What changed around the code, ``"jax 0.10.1 -> 0.10.2"``, and for how many entries, most first."""
    seen = Counter(
        each.text for change in changed for each in change.differences if each.kind in ("environment", "machine")
    )
    return tuple(sorted(seen.items(), key=lambda pair: (-pair[1], pair[0])))


def _rank(change: EntryChange) -> tuple[int, float, Place]:
    states = {"changed": 0, "added": 3, "removed": 4}
    order = states[change.state]
    if change.state == "changed" and not change.numbers_moved:
        order = 1 if change.program_changed else 2
    return order, -change.size, change.place
