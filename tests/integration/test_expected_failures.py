"""A verdict is a failure like any other: xfail, ``raises=`` and strict xfail see it."""

from __future__ import annotations

from typing import Any

TESTS = """
from pytest_jitperf import OverBudget, Regressed

over = pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")

@pytest.mark.xfail
@over
def test_plain(jitperf):
    jitperf(library.f, X)

@pytest.mark.xfail(strict=True, reason="too big")
@over
def test_strict(jitperf):
    jitperf(library.f, X)

@pytest.mark.xfail(raises=OverBudget)
@over
def test_raises(jitperf):
    jitperf(library.f, X)

@pytest.mark.xfail(raises=Regressed)
@over
def test_raises_other(jitperf):
    jitperf(library.f, X)

@pytest.mark.xfail(strict=True)
@pytest.mark.jitperf(strategies=["outer"])
def test_strict_passes(jitperf):
    jitperf(library.f, X)

@pytest.mark.xfail(run=False)
@over
def test_not_run(jitperf):
    jitperf(library.f, X)

@pytest.mark.skip
@over
def test_skipped(jitperf):
    jitperf(library.f, X)
"""


def test_a_failure_that_is_expected_is_xfailed_and_recorded_nowhere(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update")
    result.assert_outcomes(xfailed=4, failed=2, skipped=1)
    project.assert_messages(
        result,
        {
            "test_raises_other[outer]": "peak_bytes over budget: *: OverBudget",
            "test_strict_passes[outer]": "*XPASS(strict)*",
        },
    )
    result.stdout.fnmatch_lines(
        ["5 measured, 1 failed and not recorded, 3 failed as expected and not recorded, 2", "not measured*"]
    )
    assert not project.baseline.exists()
    named = project.quick_run("-rx", "--tb=no")
    named.stdout.fnmatch_lines(["XFAIL test_g.py::test_strict?outer? - too big"])


def test_a_regression_can_be_expected(project: Any) -> None:
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"], tolerance={"peak_bytes": "0 B"})
        def test_f(jitperf):
            jitperf(library.f, X)
        """
    )
    project.record()

    def smaller(tests: Any) -> None:
        tests["test_f"]["main"]["outer"]["cpu"]["exact"]["peak_bytes"] = 60

    edited = project.edit_baseline(smaller)
    text = (project.pytester.path / "test_g.py").read_text()
    for mark in ("xfail", "xfail(strict=True)"):
        project.write_test(text.replace("@pytest.mark.jitperf", f"@pytest.mark.{mark}\n@pytest.mark.jitperf"))
        project.quick_run().assert_outcomes(xfailed=1)
        assert project.baseline.read_bytes() == edited
