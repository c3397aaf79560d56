"""The clocks, taken before any test can replace them.

Test suites freeze time: by ``monkeypatch.setattr(time, "perf_counter_ns", ...)``, or with packages that look through
*every* module for the functions of ``time`` and replace them there too. The names below are objects of our own, which
such packages do not know. This module imports nothing heavy: import it when the plugin is loaded, before the first
test has a chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from pytest_jitperf.errors import MeasurementError

__all__ = [
    "CLOCKS",
    "Clocks",
    "clock_stood_still",
    "elapsed_seconds",
    "perf_counter_ns",
    "process_time_ns",
    "thread_time_ns",
]

#: Wall time, ns.
perf_counter_ns: Final[Callable[[], int]] = partial(time.perf_counter_ns)
#: CPU time of all threads of this process, ns; what other processes take is not in it.
process_time_ns: Final[Callable[[], int]] = partial(time.process_time_ns)
#: CPU time of the calling thread, ns.
thread_time_ns: Final[Callable[[], int]] = partial(time.thread_time_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """The clocks of a race, so that a test can give it others.

    Attributes:
        wall: Wall time, ns.
        process: CPU time of the process, ns.
    """

    wall: Callable[[], int] = perf_counter_ns
    process: Callable[[], int] = process_time_ns


#: The real clocks.
CLOCKS: Final = Clocks()


def elapsed_seconds(start: int, end: int, what: str) -> float:
    """Seconds from one reading of a clock to a later one.

    Args:
        start: Earlier reading, ns.
        end: Later reading, ns.
        what: What was timed between them, for the message: "a block of 40 calls".

    Raises:
        MeasurementError: The clock stood still or ran backwards.
    """
    if end <= start:
        raise clock_stood_still(what, end - start)
    return (end - start) * 1e-9


def clock_stood_still(what: str, nanoseconds: int) -> MeasurementError:
    """The error for a clock that does not advance, or not enough to be true."""
    return MeasurementError(
        f"clock did not advance: {what} took {nanoseconds} ns. "
        "Something froze or replaced the system's clock (a fixture, a plugin, a debugger): "
        "do not freeze time in tests that are measured."
    )
