"""One process at a time in a timed block: a lock per device and host."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from . import clock


class DeviceLock:
    """Keeps other test processes (xdist workers, a second terminal) out of timed blocks on the same device.

    Args:
        device: Label of the device, ``"cpu:0"``.
        progress: Told when another process holds the device.
    """

    def __init__(self, device: str, progress: Callable[[str], None] = lambda text: None) -> None:
        name = "".join(letter if letter.isalnum() else "-" for letter in device)
        self._path = Path(tempfile.gettempdir()) / f"pytest-jitperf-{name}.lock"
        # One lock per process and device: a second one would wait for the first for ever.
        self._lock = filelock.FileLock(self._path, mode=0o666, is_singleton=True)
        self._progress = progress
        self.waited_seconds = 0.0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the device; re-entrant within the process. The wait is added to ``waited_seconds``."""
        if not self._acquire():
            yield
            return
        try:
            yield
        finally:
            self._lock.release()

    def _acquire(self) -> bool:
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout:
            start = clock.perf_counter_ns()
            self._progress("waiting for another process on this device")
            self._lock.acquire()
            self.waited_seconds += (clock.perf_counter_ns() - start) / 1e9
        except (OSError, NotImplementedError):
            # A temporary directory that cannot be written or locked: measuring unlocked beats not measuring.
            return False
        return True
