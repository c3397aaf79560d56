"""Whether a function is another program each time it is traced, so that no baseline ever is the one of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .collector import collector_off

if TYPE_CHECKING:
    from .measure import Probed

__all__ = ["UNSTEADY", "is_unsteady"]

UNSTEADY = (
    "it is another program each time it is traced, so no update makes it the baseline's: Python puts something into it "
    "that changes (a time, a count, a random number)"
)

# To look costs as much as lowering it once more.
_DEAR_LOWERING_SECONDS = 1.0


def is_unsteady(probed: Probed) -> bool:
    """Compares the program with that of a trace that was made on the way.

    What differs from process to process alone, such as the order of a set of words, is not seen.

    Args:
        probed: A measurement of one program that can be exported; of others nobody knows.
    """
    program, subject = probed.programs.get(""), probed.subject
    if program is None or probed.lowered is None or probed.other_trace is None or subject.callbacks:
        return False
    spent = subject.cold.get("lower")
    if spent is None or spent.wall > _DEAR_LOWERING_SECONDS:
        return False
    with subject.active(), collector_off():
        return bool(probed.other_trace.lower().as_text() != probed.lowered.as_text())
