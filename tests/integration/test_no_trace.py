"""A run that measures nothing leaves no trace: no byte, no time stamp, no section in the output."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
import os

@pytest.mark.jitperf(strategies=["eager", "outer"])
def test_f(jitperf):
    y = jitperf(library.f, X)
    assert y.shape == (8,)
    assert jitperf.measurement is None or "MEASURED" in os.environ

def test_ordinary():
    pass
"""


def stamp(project: Any) -> list[tuple[str, int, bytes]]:
    files = sorted(each for each in project.baseline.parent.rglob("*") if each.is_file())
    return [(each.name, each.stat().st_mtime_ns, each.read_bytes()) for each in files]


@pytest.mark.parametrize(
    "options",
    [
        ("--jitperf-disable",),
        ("--collect-only",),
        ("--setup-plan",),
        ("-m", "not jitperf"),
        ("-k", "ordinary", "--jitperf-update"),
        ("-k", "nothing_matches", "--jitperf-update"),
        ("--deselect", "test_g.py::test_f", "--jitperf-update", "--jitperf-prune"),
    ],
    ids=" ".join,
)
def test_nothing_is_written_or_printed(project: Any, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]) -> None:
    project.write_tests(TESTS)
    with monkeypatch.context() as patch:
        patch.setenv("MEASURED", "1")
        project.record()
    before = stamp(project)
    result = project.quick_run(*options)
    assert result.parseoutcomes().get("failed", 0) == 0
    assert stamp(project) == before
    result.stdout.no_fnmatch_line("*= jitperf*")
    result.stdout.no_fnmatch_line("*measured*")


def test_disabled_the_ids_stay_and_the_function_runs_under_its_strategy(project: Any) -> None:
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_disable = true\n")
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["eager", "outer"], peak_bytes="1 B", run="1 ns")
        def test_f(jitperf):
            traced = []
            jitperf(lambda x: traced.append(isinstance(x, jax.core.Tracer)) or x, X)
            assert traced == [jitperf.strategy == "outer"]
        """
    )
    result = project.quick_run("-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["test_g.py::test_f?eager? PASSED *", "test_g.py::test_f?outer? PASSED *"])
    assert not project.baseline.parent.exists()


def test_an_unchanged_update_touches_no_file(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEASURED", "1")
    project.write_tests(TESTS)
    project.record()
    before = stamp(project)
    project.quick_run("--jitperf-update").stdout.fnmatch_lines(["__jitperf__/test_g.json: 0 written, 2 unchanged"])
    assert stamp(project) == before


def test_a_gating_run_in_a_read_only_project_writes_nothing(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEASURED", "1")
    project.write_tests(TESTS)
    project.record()
    before = stamp(project)
    project.quick_run().assert_outcomes(passed=3)
    assert stamp(project) == before
