"""What something would have taken on an idle machine."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe import idle
from pytest_jitperf.probe.clock import Clocks, thread_time_ns
from pytest_jitperf.probe.idle import Span, bounded, thread_times, watched

MS = 1_000_000


def about(value: float, abs: float | None = None) -> Any:
    """``pytest.approx``, typed so that it can stand inside a Span."""
    return pytest.approx(value, abs=abs)


@pytest.mark.parametrize(
    ("wall", "computed", "waited", "least", "most"),
    [
        pytest.param(0.1, [0.1], 0.0, 0.1, 0.1, id="one thread, nobody in its way"),
        pytest.param(0.2, [0.1], 0.1, 0.1, 0.1, id="one thread that waited half of the time"),
        pytest.param(0.1, [0.02], 0.0, 0.1, 0.1, id="asleep for most of the time"),
        pytest.param(0.2, [0.02], 0.1, 0.1, 0.1, id="asleep, and then in a queue"),
        pytest.param(0.05, [0.05, 0.04], 0.0, 0.05, 0.05, id="two threads at once"),
        pytest.param(0.07, [0.04, 0.04], 0.06, 0.04, 0.07, id="two threads, both of which waited"),
        pytest.param(0.07, [0.05, 0.03], 0.06, 0.04, 0.07, id="a thread that did the other's work while that waited"),
        pytest.param(0.09, [0.05, 0.001, 0.001], 0.08, 0.05, 0.052, id="threads that hardly take part"),
        pytest.param(0.2, [0.04, 0.04], 0.3, 0.04, 0.08, id="two threads on one core"),
        pytest.param(0.1, [0.12], 0.0, 0.1, 0.1, id="clocks that disagree a little"),
        pytest.param(0.1, [0.0], 0.2, 1e-9, 1e-9, id="clocks that disagree altogether"),
    ],
)
def test_time_without_waiting_for_a_core(
    wall: float, computed: list[float], waited: float, least: float, most: float
) -> None:
    assert bounded(wall, computed, waited) == Span(wall=wall, least=about(least), most=about(most))


@given(st.floats(1e-6, 10), st.lists(st.floats(0, 10), min_size=1, max_size=4), st.floats(0, 10))
def test_the_bounds_are_in_order(wall: float, computed: list[float], waited: float) -> None:
    span = bounded(wall, computed, waited)
    assert span.least <= span.most <= span.wall


def test_spans_one_after_the_other_add_up() -> None:
    total = Span(wall=4.0, least=1.0, most=2.0) + Span(wall=3.0, least=0.5, most=3.0)
    assert total == Span(wall=7.0, least=1.5, most=5.0)


def clocks(*, wall: int, cpu: int) -> Clocks:
    """Clocks that advance by these from their first reading to their second."""
    walls, cpus = iter([0, wall]), iter([0, cpu])
    return Clocks(wall=lambda: next(walls), process=lambda: next(cpus))


def test_other_threads_count_from_where_they_were_and_new_ones_as_a_whole() -> None:
    """One computes 30 ms and waits 70 ms, one is born meanwhile and computes 20 ms; this one waits 10 ms."""
    me = threading.get_native_id()
    looks = iter(
        [
            {me: (0, 0), 1: (500 * MS, 7 * MS), 2: (90 * MS, 0)},
            {me: (999 * MS, 10 * MS), 1: (530 * MS, 77 * MS), 3: (20 * MS, 0)},
        ]
    )
    span, result = watched(lambda: "result", clocks(wall=80 * MS, cpu=50 * MS), lambda: next(looks))
    assert result == "result"
    assert span == Span(wall=0.08, least=about(0.025, abs=1e-3), most=about(0.05, abs=1e-3))


@pytest.mark.parametrize(("cpu", "least"), [(50, 0.05), (120, 0.08), (0, 0.08)])
def test_where_threads_are_not_counted_the_cpu_time_of_the_process_is_the_least(cpu: int, least: float) -> None:
    span, _ = watched(lambda: None, clocks(wall=80 * MS, cpu=cpu * MS), dict)
    assert span == Span(wall=0.08, least=about(least), most=0.08)


def test_a_frozen_clock_is_an_error() -> None:
    with pytest.raises(MeasurementError, match="clock did not advance: a call took 0 ns"):
        watched(lambda: None, clocks(wall=0, cpu=0), dict)


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(idle, "_TASKS", tmp_path)
    return tmp_path


def test_threads_are_read_from_the_kernel_and_those_that_ended_are_left_out(tasks: Path) -> None:
    for thread, text in ((11, "120 30 4\n"), (12, "0 7 1\n")):
        (tasks / str(thread)).mkdir()
        (tasks / str(thread) / "schedstat").write_text(text)
    (tasks / "13").mkdir()
    assert thread_times() == {11: (120, 30), 12: (0, 7)}


@pytest.mark.parametrize("text", ["0 0 0\n", "", "unexpected\n"])
def test_a_kernel_that_does_not_count_says_nothing(tasks: Path, text: str) -> None:
    (tasks / "11").mkdir()
    (tasks / "11" / "schedstat").write_text(text)
    assert thread_times() == {}


def test_a_platform_without_such_files_says_nothing(tasks: Path) -> None:
    tasks.rmdir()
    assert thread_times() == {}


@pytest.mark.skipif(not thread_times(), reason="this kernel does not count")
def test_what_another_thread_computes_is_seen() -> None:
    def work() -> float:
        start = thread_time_ns()
        sum(range(3_000_000))
        return (thread_time_ns() - start) * 1e-9

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
        span, computed = watched(lambda: pool.submit(work).result())
    assert 0.8 * computed < span.least <= span.most <= span.wall
