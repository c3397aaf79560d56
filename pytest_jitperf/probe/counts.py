"""Counts that never vary: Python calls, launches per call, executables built."""

from __future__ import annotations

import glob
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError

_TRACE = "/jax/core/compile/jaxpr_trace_duration"
_LOWER = "/jax/core/compile/jaxpr_to_mlir_module_duration"
_COMPILE = "/jax/core/compile/backend_compile_duration"
_CACHE_HIT = "/jax/compilation_cache/cache_hits"

# Name of the profiler's host event for one execution of one executable (jaxlib 0.7.2 to 0.12, CPU).
_LAUNCH_EVENT = "ParseArguments"


@dataclass(slots=True)
class CompileLog:
    """What was traced, lowered and compiled while it was listening.

    Attributes:
        user: Names of functions that user code jits, one per executable built.
        primitives: Names of JAX's own operations that were built for eager use.
        seconds: Wall seconds by phase (``trace``, ``lower``, ``xla``).
        cache_hits: Executables that came from the persistent compilation cache instead.
    """

    user: list[str] = field(default_factory=list)
    primitives: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: {"trace": 0.0, "lower": 0.0, "xla": 0.0})
    cache_hits: int = 0


@contextmanager
def compile_log() -> Iterator[CompileLog]:
    """Listens to this thread's compilations; the listeners are taken away again."""
    log = CompileLog()
    thread = threading.get_ident()
    phases = {_TRACE: "trace", _LOWER: "lower", _COMPILE: "xla"}

    def on_duration(event: str, duration_secs: float, **kwargs: Any) -> None:
        if event not in phases or threading.get_ident() != thread:
            return
        log.seconds[phases[event]] += duration_secs
        if event == _COMPILE:
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
        jax.monitoring.unregister_event_duration_listener(on_duration)
        jax.monitoring.unregister_event_listener(on_event)


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


def python_calls(function: Callable[[], Any]) -> tuple[int | None, Any]:
    """Counts Python and C function calls on this thread while ``function`` runs.

    A profile function that was there before is put back (it does not see this call).

    Returns:
        The count, and what ``function`` returned. The count is None where a profiler written in C is at work (as
        cProfile is up to Python 3.11): Python cannot put such a one back, so it is left alone.
    """
    count = 0

    def profile(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before: object = sys.getprofile()
    if before is not None and not callable(before):
        return None, function()
    sys.setprofile(profile)
    try:
        result = function()
    finally:
        sys.setprofile(before)
    return count, result


def launches(function: Callable[[], Any], wait: Callable[[Any], Any]) -> int:
    """Counts the executables that one warm call starts.

    Args:
        function: The call, warm.
        wait: Waits for its result.

    Raises:
        MeasurementError: A profile is being taken already, or this backend's profiler does not name launches.
    """
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with tempfile.TemporaryDirectory(prefix="jitperf-") as folder:
        try:
            jax.profiler.start_trace(folder, profiler_options=options)
        except RuntimeError as error:
            raise MeasurementError("a JAX profile is being taken already") from error
        try:
            # A marker of our own tells which of the host's lines is this thread.
            with jax.profiler.TraceAnnotation("jitperf launches"):
                wait(function())
        finally:
            jax.profiler.stop_trace()
        files = glob.glob(f"{folder}/**/*.xplane.pb", recursive=True)
        if not files:
            raise MeasurementError("the profiler wrote nothing")
        counts = _events_beside_marker(jax.profiler.ProfileData.from_file(files[0]), "jitperf launches")
    if counts is None:
        raise MeasurementError("the profiler does not show this thread")
    return counts


def _events_beside_marker(data: Any, marker: str) -> int | None:
    for plane in data.planes:
        for line in plane.lines:
            names = [event.name for event in line.events]
            if marker in names:
                return names.count(_LAUNCH_EVENT)
    return None
