"""A baseline that cannot be read: one clear error, never a pass, never overwritten, and other files go on."""

from __future__ import annotations

import math
from typing import Any

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["outer"])
def test_a(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_b(jitperf):
    jitperf(library.g, X)

def test_ordinary():
    pass
"""

LINES = (("a", 10), ("b", 14))


@pytest.mark.parametrize("options", [(), ("--jitperf-update",)], ids=["gate", "update"])
@pytest.mark.parametrize("damage", ["truncated", "newer"])
def test_a_damaged_file_fails_its_tests_before_they_measure(
    project: Any, damage: str, options: tuple[str, ...]
) -> None:
    project.write_tests(TESTS)
    (project.pytester.path / "test_other.py").write_text((project.pytester.path / "test_g.py").read_text())
    good = project.record("test_g.py")
    if damage == "truncated":
        damaged, told = good[:300], ", line 12, column 33, is cut off; restore it from version control, or delete it *"
    else:
        damaged = good.replace(b'"version": 1', b'"version": 99')
        told = " was written by a newer pytest-jitperf (version 99, this one reads 1); upgrade pytest-jitperf*"
    project.baseline.write_bytes(damaged)

    result = project.quick_run(*options)
    messages = {f"test_{name}[outer]": f"*__jitperf__/test_g.json{told}\ntest_g.py:{line}: *" for name, line in LINES}
    project.assert_messages(result, messages)
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(
        ["test_other.py::test_a", "  outer * *", "ERROR *__jitperf__/test_g.json*", "2 measured*"]
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert project.baseline.read_bytes() == damaged


def test_a_disabled_run_does_not_read_it(project: Any) -> None:
    project.write_tests(TESTS)
    project.baseline.parent.mkdir()
    project.baseline.write_bytes(b"damaged")
    project.quick_run("--jitperf-disable").assert_outcomes(passed=3)
    assert project.baseline.read_bytes() == b"damaged"


@pytest.mark.parametrize("value", [math.nan, -1, "64"], ids=["nan", "negative", "text"])
def test_an_entry_that_cannot_be_used_fails_its_own_test(project: Any, value: object) -> None:
    project.write_tests(TESTS)
    good = project.record()

    def edit(tests: Any) -> None:
        tests["test_a"]["main"]["outer"]["cpu"]["exact"]["peak_bytes"] = value

    damaged = project.edit_baseline(edit)
    result = project.quick_run()
    seen = {"64": '"64"', "nan": "NaN"}.get(str(value), str(value))
    project.assert_messages(
        result,
        {
            "test_a[outer]": f"*__jitperf__/test_g.json, test_a / outer / cpu: exact.peak_bytes is {seen}, expected a "
            "finite number of 0 or more; restore it from version control, or record it again with pytest "
            "--jitperf-update\ntest_g.py:10: NotMeasured"
        },
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["1 measured, 1 gated (1 same program), *, 1 not measured*"])
    assert project.baseline.read_bytes() == damaged
    if value == -1:
        repaired = project.quick_run("--jitperf-update", "-k", "test_a")
        repaired.stdout.fnmatch_lines(["  test_a / outer / cpu: replaces an entry that could not be used"])
        assert len(project.baseline.read_bytes()) == pytest.approx(len(good), abs=30)
        project.quick_run().assert_outcomes(passed=3)
