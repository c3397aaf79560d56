"""A test without a baseline: never passed by a number it has just minted itself."""

from __future__ import annotations

from typing import Any

import pytest

TEST = """
@pytest.mark.jitperf(strategies=["outer"])
def test_f(jitperf):
    jitperf(library.f, X)
"""

TOLD = """no baseline yet; record one with --jitperf-update
  strategy outer, device cpu; __jitperf__/test_g.json, test_f / outer / cpu
*  accept it with   pytest "test_g.py::test_f[outer]" --jitperf-update
test_g.py:9: JitperfFailure"""


@pytest.mark.parametrize(
    ("options", "outcomes"),
    [
        ((), {"passed": 1, "warnings": 1}),
        (("--jitperf-missing=ok",), {"passed": 1, "warnings": 0}),
        (("--jitperf-missing=warn",), {"passed": 1, "warnings": 1}),
        (("--jitperf-missing=fail",), {"failed": 1, "warnings": 0}),
        (("--jitperf-strict", "--jitperf-missing=ok"), {"failed": 1, "warnings": 0}),
        (("-W", "error::pytest_jitperf.JitperfWarning"), {"failed": 1, "warnings": 0}),
        (("-W", "ignore::pytest_jitperf.JitperfWarning"), {"passed": 1, "warnings": 0}),
    ],
    ids=["default", "ok", "warn", "fail", "strict", "warnings_are_errors", "warnings_are_ignored"],
)
def test_the_policy_decides(project: Any, options: tuple[str, ...], outcomes: dict[str, int]) -> None:
    project.write_tests(TEST)
    result = project.quick_run(*options)
    result.assert_outcomes(**outcomes)
    project.assert_messages(result, {"test_f[outer]": TOLD.replace(":9:", ":10:")} if "failed" in outcomes else {})
    result.stdout.fnmatch_lines(["  outer * new*", "1 measured, 0 gated, 1 without a baseline*"])
    if outcomes["warnings"]:
        result.stdout.fnmatch_lines(
            ["*test_g.py:10: JitperfWarning: test_g.py::test_f?outer?: no baseline yet; record *"]
        )
    assert not project.baseline.exists()


def test_the_command_that_is_printed_works_from_where_pytest_was_started(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.pytester.mkdir("a folder")
    project.write_tests(TEST)
    (project.pytester.path / "test_g.py").rename(folder / "test_g.py")
    monkeypatch.chdir(folder)
    result = project.quick_run("--jitperf-missing=fail")
    result.stdout.fnmatch_lines(
        [
            "  strategy outer, device cpu; __jitperf__/test_g.json, test_f / outer / cpu",
            '  accept it with   pytest "test_g.py::test_f?outer?" --jitperf-update',
            "a folder/test_g.py:10: JitperfFailure",
            "test_g.py::test_f",
        ]
    )
    accepted = project.quick_run("test_g.py::test_f[outer]", "--jitperf-update")
    accepted.stdout.fnmatch_lines(["__jitperf__/test_g.json: 1 written"])
    assert (folder / "__jitperf__" / "test_g.json").exists()


def test_an_entry_of_another_device_is_named_and_not_compared_with(project: Any) -> None:
    project.write_tests(TEST)
    project.record()

    def elsewhere(tests: dict[str, Any]) -> None:
        kinds = tests["test_f"]["main"]["outer"]
        kinds["NVIDIA H200"] = kinds.pop("cpu")

    recorded = project.edit_baseline(elsewhere)
    result = project.quick_run()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*no baseline for cpu yet (there is one for NVIDIA H200); record one with *"])
    assert project.baseline.read_bytes() == recorded


def test_the_other_entries_are_compared_all_the_same(project: Any) -> None:
    project.write_tests(TEST)
    recorded = project.record()
    project.write_tests(TEST + TEST.replace("test_f", "test_new"))
    result = project.quick_run()
    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(["2 measured, 1 gated (1 same program), 1 without a baseline*"])
    assert project.baseline.read_bytes() == recorded
