"""What never ends is ended: at the limit that the marker gives for its phase, and the run goes on."""

from __future__ import annotations

from typing import Any

import pytest

NEVER_ENDING = """
def traced_for_ever(x):
    while isinstance(x, jax.core.Tracer):
        pass
    return x

def run_for_ever(x):
    return jax.lax.while_loop(lambda x: x[0] < 2, lambda x: x * 0.5, x)

@pytest.mark.jitperf(strategies=["outer"], limit={"trace": "200 ms", "xla": "60 s"})
def test_trace(jitperf):
    jitperf(traced_for_ever, X)

@pytest.mark.jitperf(strategies=["eager", "outer"], limit={"run": "300 ms", "compile": "60 s"})
def test_run(jitperf):
    jitperf.measure(run_for_ever, args=(X,), name="loop")

def test_ordinary():
    pass
"""

MESSAGES = {
    "test_trace[outer]": "trace exceeded 200 ms under outer and was ended: limit trace=200 ms (marker)\ntest_g.py:18: "
    "NotMeasured",
    "test_run[eager]": 'run of "loop" exceeded 300 ms under eager and was ended: limit run=300 ms (marker)\n'
    "test_g.py:22: NotMeasured",
    "test_run[outer]": 'run of "loop" exceeded 300 ms under outer and was ended: limit run=300 ms (marker)\n'
    "test_g.py:22: NotMeasured*",
}


def test_what_exceeds_a_limit_is_ended_and_the_run_goes_on(project: Any) -> None:
    project.write_tests(NEVER_ENDING)
    # Files that a second process must not write over, and options that would not hold for it.
    result = project.quick_run(
        "--jitperf-update",
        "--junitxml=junit.xml",
        "--basetemp=temp",
        "-k",
        "not nothing",
        "test_g.py",
        "-x",
        "--maxfail=9",
    )
    project.assert_messages(result, MESSAGES)
    result.assert_outcomes(passed=1, failed=3)
    assert project.entries() == {}
    assert (project.pytester.path / "junit.xml").read_text().count("<testcase") == 4


SLOW_REFERENCE = """
import time

def slow_unless_jitted(x):
    if not isinstance(x, jax.core.Tracer):
        time.sleep(600)
    return x * 2

@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")

@pytest.mark.jitperf(faster_than={"outer": {"eager": 2.0}}, limit={"run": "1 s"})
@pytest.mark.parametrize("n", ["a\\tb"])
def test_faster(jitperf, folder, n):
    assert (jitperf(slow_unless_jitted, X) == 2).all()
"""


def test_a_reference_that_exceeds_a_limit_is_left_out_and_said_to_be(project: Any) -> None:
    pytest.importorskip("xdist")
    project.write_tests(SLOW_REFERENCE)
    sentence = "run exceeded 1 s under eager and was ended: limit run=1 s (marker)"
    result = project.run("-n1", "-v", "-k", "not eager")
    project.assert_messages(result, {"test_faster[a\\tb-outer]": f"*{sentence}*\ntest_g.py:21: *"})
    result.assert_outcomes(failed=1)
    assert f"not compared with a reference: {sentence}" in " ".join(" ".join(result.outlines).split())


@pytest.mark.parametrize(
    ("conftest", "message"),
    [
        (
            "import os\nif 'PYTEST_JITPERF_REHEARSAL' in os.environ:\n    raise OSError('only one of us')\n",
            "limit= takes a process of its own, and pytest ended there with exit code 4 before it came to the test; "
            "see what it printed, or leave limit= out\ntest_g.py:10: NotMeasured\n-* rehearsal *-\n*only one of us",
        ),
        (
            "import os, pytest\nALONE = 'PYTEST_JITPERF_REHEARSAL' in os.environ\n\n"
            "@pytest.fixture(autouse=True)\ndef kill():\n    yield\n\n"
            "def pytest_pyfunc_call():\n    if ALONE:\n        os.kill(os.getpid(), 9)\n",
            "not measured: called in a process of its own, it ended that with SIGKILL\ntest_g.py:10: NotMeasured*",
        ),
    ],
    ids=["not started", "killed"],
)
def test_a_limit_that_cannot_be_kept_is_no_silent_promise(project: Any, conftest: str, message: str) -> None:
    project.pytester.makeconftest(conftest)
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"], limit={"run": "60 s"})
        def test_f(jitperf):
            jitperf(library.f, X)
        """
    )
    result = project.quick_run()
    project.assert_messages(result, {"test_f[outer]": message})


def test_what_keeps_to_its_limits_is_measured_as_ever(project: Any) -> None:
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"], limit={"compile": "300 s", "run": "300 s"})
        @pytest.mark.parametrize("n", [8])
        def test_f(jitperf, n):
            jitperf(library.f, jnp.ones(n))
            assert jitperf.measurement.value("launches") == 1
        """
    )
    project.record()
    assert list(project.entries()) == ["test_f[8] / main / outer"]
