"""One process at a time in a timed block: a lock per device and host."""

from __future__ import annotations

import contextlib
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
        path: Path | None = None
        with contextlib.suppress(OSError):
            path = Path(tempfile.gettempdir()) / f"pytest-jitperf-{name}.lock"
        # One lock per process and device: a second one would wait for the first for ever.
        self._lock = None if path is None else filelock.FileLock(path, mode=0o666, is_singleton=True)
        self._progress = progress
        self.waited_seconds = 0.0

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the device; re-entrant within the process. The wait is added to ``waited_seconds``."""
        lock = self._lock
        # Without a temporary directory that can be written and locked: measuring unlocked beats not measuring.
        if lock is None:
            yield
            return
        before = lock.lock_counter
        try:
            self._acquire(lock)
            yield
        finally:
            # A timeout or Ctrl-C may come at any moment, and whatever is held then would be held to the end of the run.
            while lock.lock_counter > before:
                lock.release()

    def _acquire(self, lock: filelock.BaseFileLock) -> None:
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            start = clock.perf_counter_ns()
            self._progress("waiting for another process on this device")
            lock.acquire()
            self.waited_seconds += (clock.perf_counter_ns() - start) / 1e9
        except (OSError, NotImplementedError):
            pass  # see ``held``
