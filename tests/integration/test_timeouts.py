"""pytest-timeout ends a measured test as it ends any other: that test alone fails, and nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pytest_timeout")

TESTS = """
import fcntl, gc, sys, tempfile, time
from pathlib import Path

CODE = library.f.__code__

def slow(x):
    y = library.f(x)
    time.sleep(600)
    return y

@pytest.mark.timeout(2)
@pytest.mark.jitperf(strategies=["inner"], inner=[library.f], equal_results=False)
def test_slow(jitperf):
    jitperf(slow, X)

def test_nothing_is_left():
    assert (library.f.__code__, gc.isenabled(), sys.getprofile()) == (CODE, True, None)
    with (Path(tempfile.gettempdir()) / "pytest-jitperf-cpu-0.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

@pytest.mark.jitperf(strategies=["inner"], inner=[library.f])
def test_next(jitperf):
    jitperf(library.g, X)
"""


def test_a_test_that_a_signal_ends_fails_alone_without_a_frame_of_the_plugin(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.run("--timeout-method=signal", "--jitperf-update")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       jitperf(slow, X)",
            ">       time.sleep(600)",
            "E       Failed: Timeout *",
            "1 measured, 1 not measured (skipped or failed before)",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_jitperf/*")
    assert list(project.entries()) == ["test_next / main / inner"]


def test_where_a_thread_ends_the_process_the_baseline_stays_as_it_is(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.run("--timeout-method=thread", "--jitperf-update")
    assert result.ret == 1
    assert not project.baseline.parent.exists()
