"""Test ids that hold what changes from run to run, and so never find their baseline again."""

from __future__ import annotations

import re

__all__ = ["masked", "unstable_part"]

# An address, a uuid, a time of day to the fraction of a second, seconds since 1970 with a fraction.
_UNSTABLE = re.compile(
    r"0x[0-9a-f]{6,}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\d[T _]\d\d:\d\d:\d\d\.\d{3,}"
    r"|(?<![\d.])1[5-9]\d{8}\.\d{3,}",
    re.IGNORECASE,
)


def unstable_part(test: str) -> str:
    """What of a test's id looks as if it were another one in each run; empty where nothing does.

    Example:
        >>> unstable_part("test_net[<Net object at 0x7f3b2c1d0e80>]")
        '0x7f3b2c1d0e80'
    """
    found = _UNSTABLE.search(test)
    return found[0] if found is not None else ""


def masked(test: str) -> str:
    """The id without such parts: what two runs of the same test have in common."""
    return _UNSTABLE.sub("#", test)
