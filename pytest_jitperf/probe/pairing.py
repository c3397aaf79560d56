"""Which leaf of today's call goes into which input of a stored program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_jitperf.errors import MeasurementError

from .inputs import has_aval, named_leaves, parse_text, text_of
from .jitinfo import named_for_jit
from .program import FlatProgram
from .subject import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Today's values for a stored program.

    Attributes:
        leaves: One value per input of the stored program.
        ambiguous: Whether names have changed and values could have been mixed up by it.
    """

    leaves: tuple[Any, ...]
    ambiguous: bool


def paired(stored: str, today: str, leaves: Sequence[Any]) -> Pairing:
    """Finds each stored input among today's: by path, then in order among equal abstract values.

    Args:
        stored: Text of the stored program's inputs.
        today: Text of today's leaves.
        leaves: Their values.

    Raises:
        MeasurementError: An input is no longer there.
    """
    wanted = [pair for pair in parse_text(stored) if not pair[1].startswith("static ")]
    free = dict(enumerate(parse_text(today)))
    chosen: dict[int, Any] = {}

    def choose(place: int, *, by_path: bool) -> bool:
        parts = slice(None) if by_path else slice(1, None)
        found = next((n for n, each in free.items() if each[parts] == wanted[place][parts]), None)
        if found is None:
            return False
        chosen[place] = leaves[found]
        del free[found]
        return True

    left = [place for place in range(len(wanted)) if not choose(place, by_path=True)]
    for place in left:
        if not choose(place, by_path=False):
            raise MeasurementError(f"the stored program takes an input {wanted[place][1]} that the call no longer has")
    # Where names have changed, an equal one may mean another thing. An only one of its kind cannot be mistaken.
    kinds = Counter(described for _, described in wanted)
    ambiguous = any(kinds[wanted[place][1]] > 1 for place in left)
    return Pairing(leaves=tuple(chosen[place] for place in range(len(wanted))), ambiguous=ambiguous)


def inputs_of(new: FlatProgram | None, subject: Subject) -> tuple[str, tuple[Any, ...]]:
    """Text and values of the leaves that today's call traces, whether or not its program can be exported."""
    if new is not None:
        return new.inputs, new.leaves
    built = subject.built
    if built.jitted:
        named, _ = named_for_jit(built.function, subject.inputs, built.call, built.given)
    else:
        named = named_leaves(built.function, subject.inputs)
    traced = [leaf for leaf in named if leaf.index >= 0 and has_aval(leaf.leaf)]
    return text_of(traced), tuple(leaf.leaf for leaf in traced)
