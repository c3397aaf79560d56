"""Ctrl-C and ``-x``: what was measured until then counts, nothing is half written, and nobody is left at work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def interrupts_are_heard() -> Iterator[None]:
    """Also where these tests run in the background of a shell, which has all that it starts there ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


REPORTING = """
from pathlib import Path

def pytest_runtest_logreport(report):
    if "test_quick" in report.nodeid and report.when == "teardown" and hasattr(report, "node"):
        Path(__file__).with_name("reported").touch()
"""

TESTS = """
import time
from pathlib import Path

HERE = Path(__file__).parent

def endless(x):
    while not (HERE / "reported").exists():
        time.sleep(0.01)
    (HERE / "measuring").touch()
    time.sleep(600)
    return x

@pytest.mark.jitperf(strategies=["outer"])
def test_quick(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_endless(jitperf):
    jitperf(endless, X)
"""


# Within a helper that is jitted in place, in a timed block.
INTERRUPTED = """
import gc, signal, sys
CODE = library.f.__code__

def stopped(x):
    y = library.f(x)
    signal.raise_signal(signal.SIGINT)
    return y

@pytest.fixture(scope="session", autouse=True)
def at_the_end():
    yield
    path = Path(tempfile.gettempdir()) / "pytest-jitperf-cpu-0.lock"
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert (library.f.__code__, gc.isenabled(), sys.getprofile()) == (CODE, True, None)
    (Path(__file__).parent / "restored").touch()

@pytest.mark.jitperf(strategies=["outer"])
def test_quick(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["inner"], inner=[library.f], equal_results=False)
def test_stopped(jitperf):
    jitperf(stopped, X)
"""


def test_ctrl_c_within_a_measurement_leaves_the_process_as_it_was(project: Any) -> None:
    project.write_tests("import fcntl, tempfile\nfrom pathlib import Path\n" + INTERRUPTED)
    result = project.run("--jitperf-update")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert (project.pytester.path / "restored").exists()
    assert list(project.entries()) == ["test_quick / main / outer"]
    # The table stands above what pytest says of the interrupt.
    result.stdout.fnmatch_lines(["1 measured", "!*! KeyboardInterrupt !*"])


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")
@pytest.mark.parametrize("reaches", ["all", "the controller alone"])
def test_ctrl_c_keeps_what_was_measured_and_leaves_no_worker(project: Any, reaches: str) -> None:
    pytest.importorskip("xdist")
    project.pytester.makeconftest(REPORTING)
    project.write_tests(TESTS)
    command = [sys.executable, "-m", "pytest", "-n2", "-p", "no:cacheprovider", "--jitperf-update"]
    with subprocess.Popen(
        command,
        cwd=project.pytester.path,
        start_new_session=True,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        while not (project.pytester.path / "measuring").exists():
            assert running.poll() is None
            time.sleep(0.02)
        (os.killpg if reaches == "all" else os.kill)(running.pid, signal.SIGINT)
        printed, complaints = running.communicate()

    assert running.returncode == pytest.ExitCode.INTERRUPTED
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)
    assert list(project.entries()) == ["test_quick / main / outer"]
    assert not [*project.baseline.parent.rglob("*.tmp")]
    assert "__jitperf__/test_g.json: 1 written" in printed
    assert "pytest_jitperf" not in complaints


def test_the_first_failure_ends_both_workers_and_counts_once(project: Any) -> None:
    pytest.importorskip("xdist")
    project.write_tests(
        """
        @pytest.mark.parametrize("n", range(8, 14))
        @pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
        def test_over(jitperf, n):
            jitperf(library.f, jnp.ones(n))
        """
    )
    result = project.run("-n2", "-x", "--jitperf-update")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    failed = result.parseoutcomes()["failed"]
    assert failed in (1, 2)
    result.stdout.fnmatch_lines([f"{failed} measured, {failed} failed and not recorded"])
    assert not project.baseline.exists()
