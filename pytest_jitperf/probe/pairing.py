"""Which leaf of today's call goes into which input of a stored program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from pytest_jitperf.errors import MeasurementError

from .inputs import has_aval, named_leaves, parse_text, text_of
from .jitinfo import named_for_jit
from .program import FlatProgram
from .subject import Subject

RENAMED = "arguments were renamed and cannot be paired with the stored program's"
"""What is said where nobody can tell which value goes where."""

Leaf = tuple[str, str]
"""Path and abstract value, ``("params['w']", "f32[8,8]")``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Today's leaves for the inputs of a stored program.

    Attributes:
        places: For each input the position of a leaf in today's call.
        certain: Whether no other pairing makes sense: a program that treats each leaf as the stored one does is the
            same.
        ambiguous: Whether names have changed and values could have been mixed up by it, were the code another one.
        blind: Whether it is no more than a guess that must not be tried: several numbers in dictionaries have new keys,
            and one that is taken for another may be a trip count.
        named: Inputs whose leaf is known by its name.
    """

    places: tuple[int, ...]
    certain: bool
    ambiguous: bool
    blind: bool = False
    named: frozenset[int] = frozenset()

    @property
    def order(self) -> tuple[int, ...]:
        """The inputs of the stored program in the order of today's call."""
        return order_of(self.places)


def order_of(places: Sequence[int]) -> tuple[int, ...]:
    """The inputs of a stored program in the order of today's call, from the positions of their leaves in it."""
    return tuple(sorted(range(len(places)), key=places.__getitem__))


def stored_leaves(inputs: str, unused: Sequence[int]) -> tuple[Leaf, ...]:
    """What a stored program reads.

    Args:
        inputs: Text of its leaves.
        unused: Positions of those that it does not read.
    """
    dynamic = [pair for pair in parse_text(inputs) if not pair[1].startswith("static ")]
    return tuple(pair for n, pair in enumerate(dynamic) if n not in set(unused))


def paired(stored: Sequence[Leaf], today: Sequence[Leaf], unread: Set[int] = frozenset()) -> Pairing:
    """Finds each stored input among today's leaves, always one of the same shape and dtype.

    By path; then by the words of the path, which another container does not change (``d['w']``, ``d.w``), also without
    the name of the argument; then in order, those that today's program reads before those that it does not.

    Args:
        stored: What the stored program takes.
        today: All leaves of today's call.
        unread: Positions of those that today's program does not read.

    Raises:
        MeasurementError: An input is no longer there.
    """
    free = sorted(range(len(today)), key=lambda n: (n in unread, n))
    chosen: dict[int, int] = {}

    def choose(key: Callable[[Leaf], Hashable], *, only: bool) -> None:
        """Pairs those with the same key; with ``only`` where there is no other on either side."""
        left = [place for place in range(len(stored)) if place not in chosen]
        wanted = Counter(key(stored[place]) for place in left)
        there = Counter(key(today[n]) for n in free)
        for place in left:
            name = key(stored[place])
            if only and not wanted[name] == there[name] == 1:
                continue
            found = next((n for n in free if key(today[n]) == name), None)
            if found is not None:
                chosen[place] = found
                free.remove(found)

    choose(lambda leaf: leaf, only=False)
    choose(lambda leaf: (_words(leaf[0]), leaf[1]), only=True)
    choose(lambda leaf: (_words(leaf[0])[1:] or leaf[0], leaf[1]), only=True)
    left = [place for place in range(len(stored)) if place not in chosen]
    # JAX sorts dictionaries by their keys, so of these the order says nothing.
    named = frozenset(chosen)
    renamed = Counter(stored[place][1] for place in left if stored[place][0].endswith("']"))
    blind = any(count > 1 and described.endswith("[]") for described, count in renamed.items())
    wanted, there = Counter(stored[place][1] for place in left), Counter(today[n][1] for n in free if n not in unread)
    choose(lambda leaf: leaf[1], only=False)
    for place in left:
        if place not in chosen:
            raise MeasurementError(f"the stored program takes an input {stored[place][1]} that the call no longer has")
    # Where names have changed, an equal one may mean another thing. An only one of its kind cannot be mistaken.
    kinds = Counter(described for _, described in stored)
    return Pairing(
        places=tuple(chosen[place] for place in range(len(stored))),
        certain=all(wanted[stored[place][1]] == 1 and there[stored[place][1]] <= 1 for place in left),
        ambiguous=any(kinds[stored[place][1]] > 1 for place in left),
        blind=blind,
        named=named,
    )


def paired_by_use(
    pairing: Pairing, stored: Sequence[Leaf], used: Sequence[int], today: Sequence[Leaf], uses: Sequence[int]
) -> tuple[int, ...] | None:
    """Finds stored inputs among today's leaves by what the programs do with them, where names say nothing.

    Fields and parameters that are renamed and put in another order at once mean what is done with them, whatever their
    places are.

    Args:
        pairing: By names, and by places where these say nothing.
        stored: What the stored program takes.
        used: Their positions in the order in which the stored program uses them.
        today: All leaves of today's call.
        uses: Positions of those that today's program reads, in the order in which it uses them.

    Returns:
        For each input the position of a leaf, or None where that cannot be: their kinds differ, or a leaf that is known
        by its name would be another one.
    """
    if len(used) != len(uses):
        return None
    places = dict(zip(used, uses, strict=True))
    for place, n in places.items():
        if stored[place][1] != today[n][1] or (place in pairing.named and pairing.places[place] != n):
            return None
    return tuple(places[place] for place in range(len(stored)))


def inputs_of(new: FlatProgram | None, subject: Subject) -> tuple[tuple[Leaf, ...], tuple[Any, ...]]:
    """The leaves that today's call traces, and their values, whether or not its program can be exported."""
    if new is not None:
        return parse_text(new.inputs), new.given
    built = subject.built
    if built.jitted:
        named, _ = named_for_jit(built.function, subject.inputs, built.call, built.given)
    else:
        named = named_leaves(built.function, subject.inputs)
    traced = [leaf for leaf in named if leaf.index >= 0 and has_aval(leaf.leaf)]
    return parse_text(text_of(traced)), tuple(leaf.leaf for leaf in traced)


def _words(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", path))
