"""Listening to JAX's own announcements of what it traces, lowers and compiles."""

from __future__ import annotations

import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import jax

from . import clock
from .compilation import Compilation, compilation_on
from .jaxframes import is_jax_own

_PHASES = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "lower",
    "/jax/core/compile/backend_compile_duration": "xla",
}
_CACHE_HIT = "/jax/compilation_cache/cache_hits"
# From the announcement of a trace to what announces it: monitoring, and the timing of it with contextlib.
_TRACE_FRAMES = 6


@dataclass(slots=True)
class CompileLog:
    """What was traced, lowered and compiled while it was listening.

    Attributes:
        user: Names of functions that user code jits, one per executable built.
        primitives: Names of JAX's own operations that were built for eager use.
        traced: How often each of the user's functions was traced, where no other function was being traced.
        lowered: How often each of the user's functions was lowered.
        seconds: Wall seconds by phase (``trace``, ``lower``, ``xla``), none counted twice.
        cache_hits: Executables that came from the persistent compilation cache instead.
        missing: Why nothing is known; empty where it is.
        watching: Whether what is compiled is described, which takes a while for large arguments.
        compilations: Descriptions of what was compiled, in order; empty unless watching.
        told: Is told each phase that has ended, with its wall seconds less those of phases within; None for nobody.
    """

    user: list[str] = field(default_factory=list)
    primitives: list[str] = field(default_factory=list)
    traced: Counter[str] = field(default_factory=Counter)
    lowered: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: {"trace": 0.0, "lower": 0.0, "xla": 0.0})
    cache_hits: int = 0
    missing: str = ""
    watching: bool = False
    compilations: list[Compilation] = field(default_factory=list)
    told: Callable[[str, float], None] | None = None
    _spans: list[tuple[float, float]] = field(default_factory=list, repr=False)
    _traces: list[Callable[[], Any]] = field(default_factory=list, repr=False)

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
        own = max(duration - within, 0.0)
        self.seconds[phase] += own
        if self.told is not None:
            self.told(phase, own)

    def count(self, phase: str, name: str, frame: FrameType) -> None:
        """Counts what has just ended.

        Args:
            phase: Which.
            name: Of the function.
            frame: Of the announcement.
        """
        own = is_jax_own(frame)
        if phase == "xla":
            (self.primitives if own else self.user).append(name)
            if self.watching:
                self.compilations.append(compilation_on(frame, name))
        elif phase == "lower" and not own:
            self.lowered[name] += 1
        elif phase == "trace" and not own and self._is_new(_jaxpr_on(frame)):
            self.traced[name] += 1

    def _is_new(self, jaxpr: Any) -> bool:
        """Whether it is a trace that was not seen before; JAX announces those too that it finds in its cache."""
        if jaxpr is None:
            return True
        if any(each() is jaxpr for each in self._traces):
            return False
        self._traces.append(weakref.ref(jaxpr))
        return True


_ON_DURATION, _ON_EVENT = "register_event_duration_secs_listener", "register_event_listener"


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
        log.count(phase, str(kwargs.get("fun_name", "")).removeprefix("jit(").removesuffix(")"), sys._getframe(1))

    def on_event(event: str, **kwargs: Any) -> None:
        if event == _CACHE_HIT and threading.get_ident() == thread:
            log.cache_hits += 1

    for name, listener in ((_ON_DURATION, on_duration), (_ON_EVENT, on_event)):
        register = getattr(jax.monitoring, name, None)
        if register is None:
            log.missing = f"this jax has no jax.monitoring.{name}"
        else:
            register(listener)
    try:
        yield log
    finally:
        there = _unregister("unregister_event_duration_listener", on_duration)
        there &= _unregister("unregister_event_listener", on_event)
        if not there and not log.missing:
            log.missing = "the listeners of jax.monitoring were cleared meanwhile"


def _unregister(name: str, listener: Callable[..., None]) -> bool:
    """Takes a listener away; whether it was still there."""
    unregister = getattr(jax.monitoring, name, None)
    if unregister is None:
        # Private: in public, JAX 0.8 can only forget all listeners, other people's too.
        from jax._src import monitoring

        unregister = getattr(monitoring, f"_{name}_by_callback", None)
    if unregister is None:
        return False
    try:
        unregister(listener)
    except (AssertionError, ValueError):  # JAX asserts that it is there
        return False
    return True


def _jaxpr_on(frame: FrameType | None) -> Any:
    """What a trace that is announced on a frame gave.

    Private: a variable of the function of JAX's that announces it; where that is not found every trace counts.
    """
    for _ in range(_TRACE_FRAMES):
        if frame is None:
            break
        if "jaxpr" in frame.f_locals and "fun" in frame.f_locals:
            return frame.f_locals["jaxpr"]
        frame = frame.f_back
    return None
