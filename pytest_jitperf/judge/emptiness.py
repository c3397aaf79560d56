"""Programs that compute nothing: XLA has found their results to be constant, or to be their arguments."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Comparison, Program

__all__ = ["EMPTIED", "EMPTY", "emptied", "is_empty"]

EMPTY = "the compiled program computes nothing: its result is constant, or is its arguments"
"""What is said of one."""

EMPTIED = "the compiled program computes nothing any more"
"""What is said of one where the baseline's did compute."""

_IDLE = frozenset(
    {
        *("bitcast", "broadcast", "call", "constant", "copy", "fusion", "get-tuple-element", "iota", "parameter"),
        "tuple",
    }
)


def is_empty(program: Program | None) -> bool:
    """Whether it is known of a program that it computes nothing."""
    return program is not None and _nothing(program.operations)


def emptied(program: Program | None, comparison: Comparison | None) -> list[Finding]:
    """A finding where a program no longer computes anything: being faster is no improvement then."""
    if comparison is None or comparison.same or not is_empty(program):
        return []
    if not comparison.old_operations or _nothing(comparison.old_operations):
        return []
    sentence = f"not gated: {EMPTIED}, so what it takes says nothing about the function; is its result still returned?"
    return [Finding(outcome=Outcome.NOT_GATED, sentence=sentence, short=EMPTIED)]


def _nothing(operations: Mapping[str, int]) -> bool:
    return bool(operations) and operations.keys() <= _IDLE
