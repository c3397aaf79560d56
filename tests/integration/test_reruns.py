"""With pytest-rerunfailures, the last attempt of an item decides, and it counts once."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pytest_rerunfailures")

TESTS = """
from pathlib import Path

ATTEMPTS = Path(__file__).with_name("attempts.txt")

@pytest.mark.jitperf(strategies=["outer"], compilations=1)
def test_f(jitperf):
    first = not ATTEMPTS.exists()
    ATTEMPTS.write_text("")
    jitperf.measure(library.f, inputs=[(jnp.ones(n),) for n in ((8, 9) if first else (8,))])

@pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
def test_never(jitperf):
    jitperf(library.f, X)
"""


def test_the_last_attempt_decides_and_is_counted_once(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--reruns", "1", "--jitperf-update", "--junitxml=junit.xml")
    outcomes = result.parseoutcomes()
    assert {name: outcomes[name] for name in ("passed", "failed", "rerun")} == {"passed": 1, "failed": 1, "rerun": 2}
    result.stdout.fnmatch_lines(
        ["test_g.py::test_f", "  outer * ok*", "test_g.py::test_never", "  outer * OVER BUDGET*", "2 measured*"]
    )
    assert result.stdout.str().count("test_g.py::test_f\n") == 1
    assert list(project.entries()) == ["test_f / main / outer"]
    junit = (project.pytester.path / "junit.xml").read_text()
    # One for each attempt, none of them carried over to the next.
    ok, over = (junit.count(f'name="jitperf.main.outcome" value="{word}"') for word in ("ok", "OVER BUDGET"))
    # Older versions of the plugin write the last attempts alone.
    assert (ok, over) == (1, junit.count("<testcase ") - 1)
