"""Which helper of today is which of the baseline: the user may have renamed it, or given it an argument more."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import Protocol

__all__ = ["match_helpers", "name_of", "signature_of"]


class Identified(Protocol):
    """A helper's program, of today or stored."""

    @property
    def fingerprint(self) -> str | None:
        """What tells its compiled code from another's, or None."""


def match_helpers(today: Mapping[str, Identified], stored: Mapping[str, Identified]) -> dict[str, str]:
    """Finds each helper of today in the baseline.

    By its key (of several that look alike, the one with the same program); else by its program; else by its name and
    what it takes in whatever order, or by what it takes alone, where just one is left over on either side.

    Args:
        today: Programs of helpers, keyed ``"pkg.mod.f(f32[8])"``.
        stored: Likewise.

    Returns:
        Key of today to key of the baseline. Helpers that are in one of them alone are left out.
    """
    found: dict[str, str] = {}

    def pair(rule: Callable[[str, Identified], Hashable], *, only: bool = False) -> None:
        """Pairs those to which a rule gives the same name; with ``only`` where there is no other."""
        taken = set(found.values())
        named: dict[Hashable, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        for side, helpers in enumerate((today, stored)):
            for key, each in helpers.items():
                if key not in (taken if side else found):
                    named[rule(key, each)][side].append(key)
        named.pop(None, None)
        for here, there in named.values():
            if not only or len(here) == len(there) == 1:
                found.update(zip(here, there, strict=False))

    pair(lambda key, each: (key, each.fingerprint))
    pair(lambda key, each: (_without_number(key), each.fingerprint))
    pair(lambda key, each: key)
    pair(lambda key, each: each.fingerprint)
    # Fields of a class and parameters may have been put in another order.
    pair(lambda key, each: (name_of(key), _takes(key)), only=True)
    pair(lambda key, each: signature_of(key), only=True)
    pair(lambda key, each: _takes(key), only=True)
    return found


def name_of(key: str) -> str:
    """The dotted name in a key, ``"pkg.mod.f"``."""
    return key.partition("(")[0]


def signature_of(key: str) -> str:
    """What the helper of a key takes, ``"(f32[8])"``."""
    return _without_number(key)[len(name_of(key)) :]


def _takes(key: str) -> tuple[str, ...]:
    """What the helper of a key takes, in no particular order."""
    return tuple(sorted(signature_of(key).strip("()").split(", ")))


def _without_number(key: str) -> str:
    """The key as it is for the first of several that look alike."""
    return re.sub(r" #\d+$", "", key)
