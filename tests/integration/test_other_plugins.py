"""xdist, in any distribution, and a random order change neither verdicts nor baselines."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
@pytest.mark.parametrize("n", [8, 9])
@pytest.mark.jitperf(inner=[library.f])
def test_f(jitperf, n):
    jitperf(library.g, jnp.ones(n))

@pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
def test_over(jitperf):
    jitperf(library.f, X)
"""


@pytest.mark.parametrize("options", [("--dist=each",), ("--dist=worksteal",)], ids=" ".join)
def test_workers_write_nothing_and_nothing_is_written_twice(project: Any, options: tuple[str, ...]) -> None:
    pytest.importorskip("xdist")
    project.write_tests(
        "@pytest.mark.jitperf(strategies=['outer'])\ndef test_gone(jitperf):\n    jitperf(library.f, X)\n"
    )
    project.record()
    project.write_tests(TESTS)
    result = project.run("-n2", *options, "--jitperf-update", "--jitperf-prune")
    times = 2 if options == ("--dist=each",) else 1
    result.assert_outcomes(passed=8 * times, failed=1 * times)
    result.stdout.fnmatch_lines(["__jitperf__/test_g.json: 8 written, 1 removed", "9 measured*"])
    assert list(project.entries()) == [
        f"test_f[{n}] / main / {strategy}" for n in (8, 9) for strategy in ("both", "eager", "inner", "outer")
    ]
    assert sum(line.startswith("test_g.py::test_over") for line in result.outlines) == 1


def test_a_worker_that_dies_loses_its_test_alone(project: Any) -> None:
    pytest.importorskip("xdist")
    project.write_tests(TESTS.replace(', peak_bytes="1 B"', ""))
    project.record()
    before = project.baseline.read_bytes()

    project.write_tests(
        TESTS.replace(', peak_bytes="1 B"', "").replace(
            "(library.f, X)", "(library.f, X)\n    __import__('os')._exit(3)"
        )
    )
    result = project.run("-n2", "--jitperf-update", "--jitperf-prune")

    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(["8 measured, *1 not measured*"])
    assert project.baseline.read_bytes() == before


@pytest.mark.parametrize("mode", ["load", "loadscope", "loadfile", "loadgroup", "worksteal", "no"])
def test_every_distribution_gives_the_verdicts_and_the_bytes_of_one_process(project: Any, mode: str) -> None:
    pytest.importorskip("xdist")
    project.write_tests(TESTS)
    project.quick_run("--jitperf-update").assert_outcomes(passed=8, failed=1)
    before = project.baseline.read_bytes()

    result = project.run("-n2", f"--dist={mode}", "--jitperf-update")

    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(["__jitperf__/test_g.json: 0 written, 8 unchanged"])
    assert project.baseline.read_bytes() == before


def test_a_random_order_gives_the_same_verdicts(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pytest_randomly")
    monkeypatch.delenv("PYTEST_ADDOPTS")
    project.write_tests(TESTS)
    recorded = project.quick_run("-p", "no:randomly", "--jitperf-update")
    recorded.assert_outcomes(passed=8, failed=1)
    before = project.baseline.read_bytes()
    result = project.quick_run("-p", "randomly", "--randomly-seed=2")
    result.assert_outcomes(passed=8, failed=1)
    result.stdout.fnmatch_lines(["9 measured, 7 gated (6 same program, 1 by limits), 2 reference, 0 without *"])
    assert project.baseline.read_bytes() == before
