"""The two sides of a comparison: a program that can be compiled any number of times, or what the user would call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np

from . import equal
from .inputs import copy_leaf, has_aval
from .program import FlatProgram
from .race import Side
from .subject import Subject


class Contender(Protocol):
    """One side."""

    def side(self) -> Side:
        """How to run it."""

    def fresh(self) -> Contender:
        """The same, newly compiled where that can be: two executables of one program differ by up to 1.5 %."""

    def result(self) -> Any:
        """What one call gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Executable:
    """A program, compiled.

    Attributes:
        program: The program.
        compiled: Its executable.
        seconds: Process CPU seconds that XLA took for it.
    """

    program: FlatProgram
    compiled: jax.stages.Compiled
    seconds: float

    @classmethod
    def of(cls, program: FlatProgram) -> Executable:
        """Compiles a program anew."""
        compiled, seconds = program.compile()
        return cls(program=program, compiled=compiled, seconds=seconds)

    @property
    def text(self) -> str:
        """The optimised program."""
        return self.compiled.as_text() or ""

    def fresh(self) -> Executable:
        """See Contender."""
        return Executable.of(self.program)

    def side(self) -> Side:
        """See Contender; donated leaves are made afresh before each call."""
        call: Any = self.compiled
        leaves, donated = self.program.leaves, frozenset(self.program.donated)
        if not donated:
            return Side(prepare=None, call=lambda _: call(*leaves))

        def prepare() -> tuple[Any, ...]:
            return tuple(copy_leaf(leaf) if n in donated else leaf for n, leaf in enumerate(leaves))

        return Side(prepare=prepare, call=lambda fresh: call(*fresh))

    def result(self) -> Any:
        """See Contender."""
        side = self.side()
        return side.call(side.prepare() if side.prepare is not None else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """What the user would call, where its program cannot be exported.

    Attributes:
        subject: Within ``subject.active()``.
    """

    subject: Subject

    def fresh(self) -> Live:
        """See Contender; it is compiled once."""
        return self

    def side(self) -> Side:
        """See Contender."""
        return self.subject.side()

    def result(self) -> Any:
        """See Contender."""
        return self.subject.call(self.subject.prepare())


def results_agree(old: Any, new: Any) -> bool:
    """Whether two results hold the same values, in whatever order: renaming dictionary keys moves results about."""
    return equal.difference(_in_any_order(old), _in_any_order(new), None, None) is None


def _in_any_order(result: Any) -> list[tuple[str, Any]]:
    leaves = [np.asarray(leaf) for _, leaf in equal.leaves_of(result) if has_aval(leaf)]
    return [("", leaf) for leaf in sorted(leaves, key=_order)]


def _order(leaf: Any) -> tuple[str, tuple[int, ...], float]:
    size = float(np.abs(leaf.astype(np.float64)).sum()) if leaf.dtype.kind in "biuf" else 0.0
    return str(leaf.dtype), leaf.shape, size
