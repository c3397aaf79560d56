"""The text of a call's arguments as entries hold it, ``"x: f32[8]; n: static int #9f2c…"``, taken apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_jitperf.baseline.model import Entry, StoredProgram

__all__ = ["Leaf", "leaves_of", "program_inputs", "read_leaves", "without"]

Leaf = tuple[str, str]
"""Path and abstract value, or digest of a static value."""


def leaves_of(inputs: str) -> list[Leaf]:
    """The leaves of a text."""
    parts = (part.rpartition(": ") for part in inputs.split("; ") if part)
    return [(path, described) for path, _, described in parts]


def program_inputs(stored: StoredProgram, entry: Entry) -> str:
    """Inputs of a stored program, which are left out where they are the entry's own; a program takes no static ones."""
    if stored.inputs or ": static " in entry.inputs:
        return stored.inputs
    return entry.inputs


def read_leaves(inputs: str, of_program: str, unused: Sequence[int]) -> list[Leaf]:
    """The leaves of a call without those that its one program does not read.

    Args:
        inputs: Text of the call.
        of_program: Text of the program's leaves, static ones left out.
        unused: Positions among these that the program does not read.
    """
    leaves = leaves_of(of_program)
    return without(leaves_of(inputs), [leaves[place] for place in unused if place < len(leaves)])


def without(leaves: Sequence[Leaf], others: Sequence[Leaf]) -> list[Leaf]:
    """The leaves that are not among the others."""
    left = Counter(others)
    left.subtract(leaves)
    return [leaf for leaf in leaves if left[leaf] < 0]
