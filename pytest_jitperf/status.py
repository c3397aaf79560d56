"""How an item ended, as pytest's reports say."""

from __future__ import annotations

import enum

__all__ = ["Status", "status_of"]


class Status(enum.Enum):
    """How an item ended; the value is the word in reports. Of several reports the latest word here holds."""

    PASSED = "passed"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    FAILED = "failed"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Larger is worse."""
        return _RANKS[self]


_RANKS = {status: rank for rank, status in enumerate(Status)}


def status_of(when: str, outcome: str, *, xfail: bool) -> Status:
    """What one report says of its item.

    Args:
        when: ``"setup"``, ``"call"`` or ``"teardown"``.
        outcome: ``"passed"``, ``"failed"`` or ``"skipped"``.
        xfail: Whether it belongs to an expected failure.
    """
    if outcome == "failed":
        return Status.FAILED if when == "call" else Status.ERROR
    if xfail:
        return Status.XFAILED if outcome == "skipped" else Status.XPASSED
    return Status.SKIPPED if outcome == "skipped" else Status.PASSED
