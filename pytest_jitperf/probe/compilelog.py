"""Listening to JAX's own announcements of what it traces, lowers and compiles."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import jax

from . import clock

_PHASES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "xla",
}
_CACHE_HIT = "/jax/compilation_cache/cache_hits"


@dataclass(slots=True)
class CompileLog:
    """What was traced, lowered and compiled while it was listening.

    Attributes:
        user: Names of functions that user code jits, one per executable built.
        primitives: Names of JAX's own operations that were built for eager use.
        seconds: Wall seconds by phase (``trace``, ``lower``, ``xla``), none counted twice.
        cache_hits: Executables that came from the persistent compilation cache instead.
    """

    user: list[str] = field(default_factory=list)
    primitives: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: {"trace": 0.0, "lower": 0.0, "xla": 0.0})
    cache_hits: int = 0
    _spans: list[tuple[float, float]] = field(default_factory=list, repr=False)

    def add(self, phase: str, duration: float, now: float) -> None:
        """Adds a phase that has just ended.

        Phases nest: a jitted helper is traced while its caller is, and up to JAX 0.8 both are announced, the inner one
        first. What lies within the new span was added before and is taken off it.

        Args:
            phase: Which.
            duration: How long it took, seconds.
            now: The clock, seconds.
        """
        start, within = now - duration, 0.0
        while self._spans and self._spans[-1][0] >= start:
            within += self._spans.pop()[1]
        self._spans.append((start, duration))
        self.seconds[phase] += max(duration - within, 0.0)


@contextmanager
def compile_log(log: CompileLog | None = None) -> Iterator[CompileLog]:
    """Listens to this thread's compilations; the listeners are taken away again.

    Args:
        log: A log to go on with.
    """
    log = log or CompileLog()
    thread = threading.get_ident()

    def on_duration(event: str, duration_secs: float, **kwargs: Any) -> None:
        phase = _PHASES.get(event)
        if phase is None or threading.get_ident() != thread:
            return
        log.add(phase, duration_secs, clock.perf_counter_ns() / 1e9)
        if phase == "xla":
            name = str(kwargs.get("fun_name", "")).removeprefix("jit(").removesuffix(")")
            (log.primitives if _is_jax_own(sys._getframe(1)) else log.user).append(name)

    def on_event(event: str, **kwargs: Any) -> None:
        if event == _CACHE_HIT and threading.get_ident() == thread:
            log.cache_hits += 1

    jax.monitoring.register_event_duration_secs_listener(on_duration)
    jax.monitoring.register_event_listener(on_event)
    try:
        yield log
    finally:
        _unregister("unregister_event_duration_listener", on_duration)
        _unregister("unregister_event_listener", on_event)


def _unregister(name: str, listener: Callable[..., None]) -> None:
    unregister = getattr(jax.monitoring, name, None)
    if unregister is None:
        # Private: in public, JAX 0.8 can only forget all listeners, other people's too.
        from jax._src import monitoring

        unregister = getattr(monitoring, f"_{name}_by_callback")
    unregister(listener)


def _is_jax_own(frame: FrameType | None) -> bool:
    """Whether the function being compiled is JAX's own (``sin``, ``_where``) and not one that user code jitted.

    Private: the event carries only a name, and a user's helper may be called ``clip``. The function itself is a
    variable of JAX's cache-miss handler on the stack; where that is not found the compilation counts as the user's.
    """
    while frame is not None:
        if frame.f_code.co_name == "cache_miss" and "fun" in frame.f_locals:
            module = getattr(frame.f_locals["fun"], "__module__", None) or ""
            return module.partition(".")[0] == "jax"
        frame = frame.f_back
    return False
