"""Counts that never vary: Python calls and launches per call."""

from __future__ import annotations

import glob
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import jax

from pytest_jitperf.errors import MeasurementError

# Names of the profiler's host events (jaxlib 0.7.2 to 0.12, CPU): a jitted function, which JAX's own operations are, is
# called, be it with arrays or while something is traced; and within that an executable is started.
_CALL_EVENT = "ParseArguments"
_EXECUTION_EVENT = "Executable::Execute"
# Around both: which function it is.
_FUNCTION_EVENT = "PjitFunction("
_MARKER = "jitperf launches"
_PROFILER = ("ProfileData", "ProfileOptions", "TraceAnnotation", "start_trace", "stop_trace")

PROFILED = "a profiler is at work in this process"
"""Why calls cannot be counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launches:
    """What one call starts.

    Attributes:
        count: How many executables.
        names: Function or operation of JAX to how many of them are its; those without a name are left out.
    """

    count: int
    names: Mapping[str, int]


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
    try:
        sys.setprofile(profile)
        result = function()
    finally:
        sys.setprofile(before)
    return count, result


def launches(function: Callable[[], Any], wait: Callable[[Any], Any]) -> Launches:
    """Counts the executables that one warm call starts, and says what they are.

    Args:
        function: The call, warm.
        wait: Waits for its result.

    Raises:
        MeasurementError: A profile is being taken already, there is no place to write one, or this backend's profiler
            does not name launches.
    """
    missing = [name for name in _PROFILER if not hasattr(jax.profiler, name)]
    if missing:
        raise MeasurementError(f"this jax has no jax.profiler.{missing[0]}")
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    try:
        folder = tempfile.TemporaryDirectory(prefix="jitperf-")
    except OSError as error:
        raise MeasurementError(f"the profiler has no temporary directory to write to ({error})") from error
    with folder as path:
        try:
            jax.profiler.start_trace(path, profiler_options=options)
        except RuntimeError as error:
            raise MeasurementError("a JAX profile is being taken already") from error
        except BaseException:
            # A timeout or Ctrl-C: it may have started, and only one can be taken at a time.
            with suppress(RuntimeError):
                jax.profiler.stop_trace()
            raise
        try:
            # A marker of our own tells which of the host's lines is this thread.
            with jax.profiler.TraceAnnotation(_MARKER):
                wait(function())
        finally:
            jax.profiler.stop_trace()
        files = glob.glob(f"{path}/**/*.xplane.pb", recursive=True)
        if not files:
            raise MeasurementError("the profiler wrote nothing")
        found = _events_beside_marker(jax.profiler.ProfileData.from_file(files[0]))
    if found is None:
        raise MeasurementError("the profiler does not show this thread")
    return found


def _events_beside_marker(data: Any) -> Launches | None:
    for plane in data.planes:
        for line in plane.lines:
            events = list(line.events)
            if any(event.name == _MARKER for event in events):
                return _started(sorted(events, key=lambda event: (event.start_ns, -event.duration_ns)))
    return None


def _started(events: list[Any]) -> Launches:
    """The executables that were started, from the events of a thread in their order.

    Where no execution has a name that is known, each call of a jitted function stands for one, though nothing is
    executed while tracing. Parts of an execution bear its name as well, and are told from what its callbacks start by
    there being no call of a jitted function in between.
    """
    calls, executions = _Named(), _Named()
    functions: list[tuple[str, float]] = []
    end, called = 0.0, False
    for event in events:
        while functions and functions[-1][1] <= event.start_ns:
            functions.pop()
        name = functions[-1][0] if functions else ""
        if event.name.startswith(_FUNCTION_EVENT):
            functions.append((_function(event.name), event.start_ns + event.duration_ns))
        elif event.name == _CALL_EVENT:
            calls.add(name)
            called = True
        elif _EXECUTION_EVENT in event.name and (called or event.start_ns >= end):
            executions.add(name)
            end = max(end, event.start_ns + event.duration_ns)
            called = False
    return (executions if executions.count else calls).launches()


def _function(event: str) -> str:
    """``f`` of ``PjitFunction(f)``, and of ``PjitFunction(jit(f))``, which was compiled ahead of its call."""
    name = event.removeprefix(_FUNCTION_EVENT).removesuffix(")")
    return name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name


@dataclass(slots=True)
class _Named:
    """Counts what has a name and what has none."""

    count: int = 0
    names: Counter[str] = field(default_factory=Counter)

    def add(self, name: str) -> None:
        self.count += 1
        if name:
            self.names[name] += 1

    def launches(self) -> Launches:
        return Launches(count=self.count, names=dict(self.names))
