"""Python's garbage collector: kept out of what is timed, and run before it as far as that is cheap."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from . import clock

__all__ = ["Collections", "collector_off"]

# Of all time, the most that whole collections take.
_SHARE = 0.05
# The oldest generation that is looked through in between.
_YOUNG = 1


@dataclass(slots=True)
class Collections:
    """Collects garbage: of late each time, and all of it so seldom that this takes a small share of the time.

    A whole collection takes as long as there are objects alive, 50 ms for 140,000, and so the longer the more a suite
    has loaded and kept. It cannot be left out, though: arrays and executables in old garbage hold memory.

    Attributes:
        now: Tells the time, nanoseconds.
    """

    now: Callable[[], int] = clock.perf_counter_ns
    _ended: int | None = None
    _took: int = 0

    def collect(self) -> None:
        """Collects what was made since the last time, or everything where it is time for that."""
        start = self.now()
        if self._ended is not None and (start - self._ended) * _SHARE < self._took:
            gc.collect(_YOUNG)
            return
        gc.collect()
        self._ended = self.now()
        self._took = self._ended - start


_COLLECTIONS = Collections()


@contextmanager
def collector_off(collections: Collections = _COLLECTIONS) -> Iterator[None]:
    """Collects garbage, then keeps the collector out of timed blocks; leaves it as it was.

    Within another such block, or where the user keeps it off, nothing is done.

    Args:
        collections: Collects it; what is given here matters to tests.
    """
    enabled = gc.isenabled()
    if enabled:
        collections.collect()
        gc.disable()
    try:
        yield
    finally:
        # The user's function may have turned it on or off.
        (gc.enable if enabled else gc.disable)()
