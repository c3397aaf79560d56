"""The whole process on one core, for as long as a block lasts.

On a busy machine, a program of several threads is as slow as the one among them that has to wait for its core, and that
is a matter of luck. With all threads on one core there is a single thing to wait for, and the fastest of a few
calls is likely to be one that did not have to.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

_UNTOUCHED = os.environ.get("KMP_DUPLICATE_LIB_OK")
from threadpoolctl import threadpool_limits  # noqa: E402  # it sets this variable, which is the user's

if _UNTOUCHED is None:
    os.environ.pop("KMP_DUPLICATE_LIB_OK", None)

__all__ = ["Pin", "one_core"]

Pin = Callable[[random.Random], AbstractContextManager[bool]]
"""Pins the process to one core, which a random number draws, and gives whether that was possible."""

_TASKS = Path("/proc/self/task")

# Threads may be born while the list is gone through, of parents not yet moved: it is gone through again until nobody
# is new, but not for ever.
_PASSES = 10


@contextmanager
def one_core(rng: random.Random) -> Iterator[bool]:
    """Pins every thread of the process to one core and BLAS pools to one thread; restores both exactly.

    The core is drawn at random from those the caller may use. Threads that start inside the block inherit the core, and
    are given the caller's cores at its end; threads that end inside the block are forgotten.

    Args:
        rng: Draws the core.

    Yields:
        True; or False, with nothing changed, where the platform cannot pin threads (macOS, Windows), there is only one
        core, or a sandbox forbids it.
    """
    if not hasattr(os, "sched_setaffinity") or not _TASKS.is_dir():
        yield False
        return
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        yield False
        return
    saved: dict[int, set[int]] = {}
    try:
        if _pin(rng.choice(sorted(cores)), saved):
            with threadpool_limits(limits=1, user_api="blas"):
                yield True
        else:
            _restore(saved)
            yield False
    finally:
        _restore(saved)


def _pin(core: int, saved: dict[int, set[int]]) -> bool:
    """Pins all threads to ``core`` and notes what they had; False where that is forbidden."""
    met: set[int] = set()
    for attempt in range(_PASSES):
        new = _threads() - met
        if not new:
            break
        met |= new
        for thread in new:
            try:
                before = os.sched_getaffinity(thread)
                os.sched_setaffinity(thread, {core})
            except ProcessLookupError:
                continue
            except OSError:
                return False
            # Who turns up later and is on the core already got there by inheritance, not by choice.
            if attempt == 0 or before != {core}:
                saved[thread] = before
    return True


def _restore(saved: dict[int, set[int]]) -> None:
    """Gives all threads their cores back; a second call does nothing."""
    if not saved:
        return
    inherited = saved.get(threading.get_native_id()) or os.sched_getaffinity(0)
    met: set[int] = set()
    for _ in range(_PASSES):
        new = _threads() - met
        if not new:
            break
        met |= new
        for thread in new:
            # The thread may be gone by now; and whatever else one thread has against the cores that it had before, the
            # others must get theirs.
            with suppress(OSError):
                os.sched_setaffinity(thread, saved.get(thread, inherited))
    saved.clear()


def _threads() -> set[int]:
    return {int(entry.name) for entry in _TASKS.iterdir()}
