"""How a row stands once its test has ended: what every report outside the terminal sorts by."""

from __future__ import annotations

import enum
from collections.abc import Iterable

from pytest_jitperf.judge.outcome import Effect
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

__all__ = ["Standing", "failed_otherwise", "failing", "standing"]

# The empty one is that of a row whose test nobody has seen the end of.
_NOT_PASSED = frozenset({"", Status.FAILED.value, Status.ERROR.value})


class Standing(enum.Enum):
    """How a row stands; later ones want more attention."""

    FINE = "fine"
    UNSETTLED = "unsettled"
    FAILED = "failed"


def standing(row: Row) -> Standing:
    """How a row stands.

    ======================  =====================  =========
    its verdict             its test               stands as
    ======================  =====================  =========
    fails                   failed                 failed
    fails                   xfailed, or skipped    unsettled
    warns, or no device     any                    unsettled
    passes                  failed by itself       unsettled
    passes                  passed                 fine
    ======================  =====================  =========
    """
    fails = row.failed or row.effect == Effect.FAIL.value
    if fails and row.status in _NOT_PASSED:
        return Standing.FAILED
    if fails or row.effect != Effect.PASS.value or failed_otherwise(row):
        return Standing.UNSETTLED
    return Standing.FINE


def failing(rows: Iterable[Row]) -> list[Row]:
    """Those that failed their test in the end; neither expected failures nor what a rerun put right."""
    return [row for row in rows if standing(row) is Standing.FAILED]


def failed_otherwise(row: Row) -> bool:
    """Whether the test failed although nothing that was measured did: by an assertion of its own, or at its end."""
    fails = row.failed or row.effect == Effect.FAIL.value
    return not fails and row.status in (Status.FAILED.value, Status.ERROR.value)
