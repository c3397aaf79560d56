"""How long a call has been in which phase, seen from another thread: by looking at the stack of the one that calls.

A program that XLA compiles or a device runs holds up its thread until it is done, and announces nothing before. From
another thread it can be seen what that thread is about, and for how long; to end it takes the end of its process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

from pytest_jitperf.rehearsing import COMPILING, Call, Rehearsing

from . import clock
from .jaxframes import frames

__all__ = ["Watch", "phase_on"]

_LOOK_SECONDS = 0.05
_TELL_SECONDS = 0.5


def phase_on(frame: FrameType | None) -> str:
    """What a thread is about: ``"trace"``, ``"lower"``, ``"xla"``, or ``"run"`` for all else.

    Private: names of JAX's modules and functions, by the innermost frame that tells. Where they are not found it is
    taken for running.
    """
    for each in frames(frame):
        module, name = each.f_globals.get("__name__"), each.f_code.co_name
        if module == "jax._src.compiler":
            return "xla"
        if module == "jax._src.interpreters.mlir" and name.startswith("lower_jaxpr_to_module"):
            return "lower"
        if module == "jax._src.interpreters.partial_eval" and name.startswith("trace_to_jaxpr"):
            return "trace"
    return "run"


class Watch:
    """Tells whoever waits for a rehearsal what its calls spend their time on, and which limit they exceed.

    Args:
        limits: Seconds by phase, ``compile`` for those of compiling together.
        rehearsing: Who is told.
    """

    def __init__(self, limits: Mapping[str, float], rehearsing: Rehearsing) -> None:
        self._limits = limits
        self._rehearsing = rehearsing
        self._thread = threading.get_ident()
        self._spent: dict[str, float] = {}
        self._calling = False
        self._since = self._told = 0
        self._stop = threading.Event()
        self._lock = threading.Lock()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within it, calls are watched."""
        watcher = threading.Thread(target=self._run, name="jitperf-watch", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            self._stop.set()
            watcher.join()

    @contextmanager
    def call(self, call: Call) -> Iterator[None]:
        """Within it, the time counts for this call."""
        with self._lock:
            self._rehearsing.calls(call)
            self._spent = dict.fromkeys((*COMPILING, "compile", "run"), 0.0)
            self._since = self._told = clock.perf_counter_ns()
            self._calling = True
        try:
            yield
        finally:
            with self._lock:
                self._calling = False
                self._rehearsing.returned()

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            self._rehearsing.end_if_alone()
            with self._lock:
                if self._calling:
                    self._look(phase_on(sys._current_frames().get(self._thread)))

    def _look(self, phase: str) -> None:
        now = clock.perf_counter_ns()
        for name in (phase, "compile") if phase in COMPILING else (phase,):
            self._spent[name] += (now - self._since) * 1e-9
        self._since = now
        exceeded = [name for name, limit in self._limits.items() if self._spent[name] > limit]
        if exceeded:
            self._rehearsing.exceeded(exceeded[0], phase)
            self._calling = False  # said once
        elif now - self._told > _TELL_SECONDS * 1e9:
            self._told = now
            self._rehearsing.spent(phase, self._spent[phase])
