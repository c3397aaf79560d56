"""Who looks at every line of Python code is named, and what it makes longer is held to nothing."""

from __future__ import annotations

import bdb
import cProfile
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import jax.numpy as jnp
import pytest

from pytest_jitperf.probe import tracers
from pytest_jitperf.probe.measure import Probed

X = jnp.ones(8)


def look(_frame: FrameType, _event: str, _arg: object) -> None:
    """Looks at calls alone."""


@pytest.fixture
def looking() -> Any:
    before = sys.gettrace()
    sys.settrace(look)
    yield
    sys.settrace(before)


def test_a_debugger_is_named_by_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    pydevd = type("PyDB", (), {"__module__": "_pydevd_bundle.pydevd_frame", "trace": lambda self: None})()
    coverage = type("CTracer", (), {"__module__": "coverage.tracer"})()
    for tracer, name in [
        (look, "tests"),
        (bdb.Bdb().trace_dispatch, "bdb"),
        (pydevd.trace, "pydevd"),
        (coverage, "coverage"),
    ]:
        monkeypatch.setattr(sys, "gettrace", lambda tracer=tracer: tracer)
        assert tracers.tracer() == name


def test_so_is_a_profiler() -> None:
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        assert tracers.tracer() == "cProfile"
    finally:
        profiler.disable()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_so_is_a_tool_of_the_newer_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "gettrace", lambda: None)
    monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]  # from Python 3.12 on
    monitoring.use_tool_id(4, "watcher")
    try:
        assert tracers.tracer() == ""  # it asks for nothing yet
        monitoring.set_events(4, monitoring.events.LINE)
        assert tracers.tracer() == "watcher"
        monitoring.set_events(4, 0)
    finally:
        monitoring.free_tool_id(4)


def test_counts_are_the_same_under_a_tracer_and_times_of_python_are_not_kept(
    measured: Callable[..., Probed], looking: None
) -> None:
    def f(x: Any) -> Any:
        for _ in range(20):
            x = x * 2 + 1
        return x

    sys.settrace(None)
    measured(f, X)  # what Python loads once is loaded
    plain = measured(f, X).measurement
    sys.settrace(look)
    traced = measured(f, X).measurement
    assert sys.gettrace() is look
    assert (traced.host, traced.exact, traced.program) == (plain.host, plain.exact, plain.program)
    assert (plain.traced_by, sorted(plain.relative)) == ("", ["lower", "trace"])
    assert (traced.traced_by, traced.relative) == ("tests", {})
    assert "tests traces this process: what Python code takes is not gated" in traced.notes


def test_an_update_says_that_times_are_those_under_a_tracer(measured: Callable[..., Probed], looking: None) -> None:
    notes = measured(lambda x: x + 1, X, record=True).measurement.notes
    assert "tests traces this process: what Python code takes is stored as it is now; record without it" in notes
