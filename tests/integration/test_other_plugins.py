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
