"""How long something would have taken on an idle machine, from what its threads did meanwhile.

On a busy machine threads wait for a core, and the wall time is stretched by it. CPU time alone does not tell by how
much: a program of several threads uses more of it than it takes. The kernel knows, for each thread, how long it
computed and how long it waited for a core (``/proc/self/task/*/schedstat`` of Linux), and that bounds the time that
there would have been without any waiting.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from .clock import CLOCKS, Clocks, elapsed_seconds, thread_time_ns

__all__ = ["Look", "Span", "Threads", "between", "bounded", "look", "thread_times", "waited_seconds", "watched"]

_TASKS = Path("/proc/self/task")

# The part of all computing from which on a thread is counted among those that share the work.
_TAKES_PART = 0.05
# A nanosecond, so that there is a logarithm of it.
_SHORTEST = 1e-9

#: Thread to nanoseconds that it has computed and that it has waited for a core; empty where nobody counts them.
Threads = Mapping[int, tuple[int, int]]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """How long something took, in seconds, and how long it would have taken on an idle machine.

    Attributes:
        wall: As it was.
        least: On an idle machine, at the least.
        most: On an idle machine, at the most.
    """

    wall: float
    least: float
    most: float

    def __add__(self, other: Span) -> Span:
        """One after the other."""
        return Span(wall=self.wall + other.wall, least=self.least + other.least, most=self.most + other.most)


def bounded(wall: float, computed: Sequence[float], waited: float) -> Span:
    """Bounds the time on an idle machine.

    It is no shorter than what is left of the wall time when all waiting is taken off it; nor than what the busiest
    thread computed, or what it would have computed had those that took part shared the work evenly, since a thread that
    gets no core leaves its part to the others. It is no longer than what the threads computed one after the other,
    together with the time in which none of them computed or waited for a core (but slept, or waited for a disk).

    Example:
        Two threads compute 50 ms and 30 ms, on a busy machine in 70 ms, of which they wait 30 ms each. Idle, that takes
        40 ms or more, and not more than the 70 ms in which it was done.

    Args:
        wall: Wall time, seconds.
        computed: CPU time of each thread, seconds, at least one.
        waited: What all of them together waited for a core, seconds.
    """
    running, together = max(wall - waited, _SHORTEST), sum(computed)
    took_part = sum(each >= _TAKES_PART * together for each in computed)
    evenly = together / max(took_part, 1)
    return Span(
        wall=wall,
        least=min(wall, max(running, min(max(computed), evenly))),
        most=min(wall, max(running, together)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the clocks say at some time, nanoseconds.

    Attributes:
        wall: Wall time.
        cpu: CPU time of the process.
        own: CPU time of this thread.
        threads: What each thread has done so far.
    """

    wall: int
    cpu: int
    own: int
    threads: Threads


def look(threads: Threads | None = None, clocks: Clocks = CLOCKS) -> Look:
    """Looks at the clocks, which takes a fraction of a millisecond where ``threads`` are not given.

    Args:
        threads: What the threads have done so far, or None to look.
        clocks: Tells the time.
    """
    threads = thread_times() if threads is None else threads
    return Look(threads=threads, own=thread_time_ns(), cpu=clocks.process(), wall=clocks.wall())


def between(before: Look, after: Look) -> Span:
    """How long it took from one look to the next.

    Where the kernel does not count, the CPU time of the process is taken for the least, and the wall time for the most.

    Raises:
        MeasurementError: The clock did not advance.
    """
    wall = elapsed_seconds(before.wall, after.wall, "a call")
    if not before.threads or not after.threads:
        cpu = (after.cpu - before.cpu) * 1e-9
        return Span(wall=wall, least=min(wall, cpu) if cpu > 0 else wall, most=wall)
    pairs = {thread: (before.threads.get(thread, (0, 0)), now) for thread, now in after.threads.items()}
    computed = {thread: (now - then) * 1e-9 for thread, ((then, _), (now, _)) in pairs.items()}
    # The thread that looks has a clock of its own, which is up to date.
    computed[threading.get_native_id()] = (after.own - before.own) * 1e-9
    return bounded(wall, list(computed.values()), waited_seconds(before.threads, after.threads))


def waited_seconds(before: Threads, after: Threads) -> float:
    """What the threads together have waited for a core, from one look to the next; 0 where nobody counts."""
    return sum(waited - before.get(thread, (0, 0))[1] for thread, (_, waited) in after.items()) * 1e-9


def watched(
    function: Callable[[], T], clocks: Clocks = CLOCKS, threads: Callable[[], Threads] | None = None
) -> tuple[Span, T]:
    """Runs ``function`` once, which should take a millisecond or more: it takes a fraction of one to look.

    Args:
        function: What is timed.
        clocks: Tells the time.
        threads: Tells what the threads have done so far, `thread_times` unless a test says otherwise.

    Raises:
        MeasurementError: The clock did not advance.
    """
    threads = threads or thread_times
    before = look(threads(), clocks)
    result = function()
    after = look({}, clocks)
    # To look at the threads takes time that is not the function's.
    return between(before, replace(after, threads=threads())), result


def thread_times() -> Threads:
    """What each thread of this process has computed and waited so far; empty where the kernel does not say."""
    found: dict[int, tuple[int, int]] = {}
    try:
        for task in _TASKS.iterdir():
            try:
                computed, waited, _ = (task / "schedstat").read_bytes().split()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile, or there is no such file at all
            found[int(task.name)] = int(computed), int(waited)
    except (OSError, ValueError):
        return {}
    # Kernels that do not count say 0.
    return found if any(computed for computed, _ in found.values()) else {}
