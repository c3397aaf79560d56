"""A wrong option or ini key is a usage error: exit code 4, one sentence, and no test is run."""

from __future__ import annotations

from typing import Any

import pytest

WRONG = {
    "unknown metric": (
        ["--jitperf-tolerance=rnu=5%"],
        '--jitperf-tolerance="rnu=5%" names unknown metric "rnu"; did you mean "run"? Valid: *',
    ),
    "no metric": (["--jitperf-tolerance=5%"], '--jitperf-tolerance="5%" has "5%" without a metric; write run=10%*'),
    "no unit": (["--jitperf-max-time=5"], '--jitperf-max-time="5" has no unit; write "5 s" or "5 ms"'),
    "policy": (
        ["--jitperf-missing=fial"],
        '--jitperf-missing="fial" is not one of the policies; did you mean "fail"? Valid: ok, warn, fail',
    ),
    "device": (
        ["--jitperf-devices=gup"],
        '--jitperf-devices="gup" is wrong: unknown device "gup"; did you mean "gpu"? *',
    ),
    "no strategy": (["--jitperf-strategies=run"], '--jitperf-strategies="run" names "run", which is a metric; *'),
    "strategy of no test": (
        ["--jitperf-strategies=oter"],
        '--jitperf-strategies: no test here has strategy "oter"; did you mean "outer"? Valid: eager, outer, '
        "inner, both",
    ),
    "guide in no directory": (
        ["--jitperf-guide-file=nowhere/guide.md"],
        '--jitperf-guide-file="nowhere/guide.md": there is no directory *nowhere; make it, or give another path',
    ),
    "guide below a file": (
        ["--jitperf-guide-file=test_g.py/guide.md"],
        '--jitperf-guide-file="test_g.py/guide.md": there is no directory *test_g.py; make it, or give another path',
    ),
    "guide is a directory": (["--jitperf-guide-file=."], '--jitperf-guide-file=".": it is a directory; give a file'),
    "its value forgotten": (
        ["--jitperf-html", "test_g.py"],
        '--jitperf-html="test_g.py": it is a source file, which would be overwritten; give another path',
    ),
    "a file for baselines": (
        ["--jitperf-baseline-dir=test_g.py"],
        '--jitperf-baseline-dir="test_g.py": it is a file; give a directory',
    ),
    "guide where no file can be made": (
        ["--jitperf-guide-file=/proc/guide.md"],
        '--jitperf-guide-file="/proc/guide.md": no file can be made in /proc: *; give another path',
    ),
    "contradiction": (
        ["--jitperf-update", "--jitperf-disable"],
        "--jitperf-update and --jitperf-disable contradict each other: nothing would be measured. *",
    ),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_stops_the_run_before_any_test(project: Any, options: list[str], message: str) -> None:
    result = project.quick_run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: jitperf: {message.replace('[', '[[]')}"])
    result.stdout.no_fnmatch_line("*passed*")
    assert not project.baseline.exists()


def test_so_does_a_wrong_ini_key(project: Any) -> None:
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_missing = fial\n")
    result = project.quick_run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['ERROR: jitperf: ini jitperf_missing="fial" is not one of the policies; *'])


def test_an_ini_key_with_a_wrong_path_is_named(project: Any) -> None:
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_guide_file = nowhere/guide.md\n")
    result = project.quick_run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(['ERROR: jitperf: ini jitperf_guide_file="nowhere/guide.md": there is no directory *'])


@pytest.mark.parametrize(("variable", "value"), [("GITHUB_EVENT_NAME", "pull_request"), ("CI_MERGE_REQUEST_IID", "12")])
def test_an_update_is_refused_in_the_pipeline_of_a_pull_request(
    project: Any, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    refused = project.quick_run("--jitperf-update")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        [f"ERROR: jitperf: --jitperf-update in the pipeline of a pull request ({variable}={value}) would accept the *"]
    )
    assert not project.baseline.exists()


def test_an_update_can_be_forced_in_the_pipeline_of_a_pull_request(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")
    project.write_tests("@pytest.mark.jitperf(strategies=['outer'])\ndef test_f(jitperf):\n    jitperf(library.f, X)\n")
    project.quick_run("--jitperf-update-force").assert_outcomes(passed=1)
    assert list(project.entries()) == ["test_f / main / outer"]


def test_a_test_outside_the_root_directory_has_no_place_in_a_baseline_directory(project: Any) -> None:
    project.write_tests(
        "@pytest.mark.jitperf(strategies=['outer'])\ndef test_f(jitperf):\n    jitperf(library.f, X)\n\n"
        "def test_ordinary():\n    pass\n"
    )
    root = project.pytester.mkdir("root")
    result = project.quick_run("--rootdir", str(root), "--jitperf-baseline-dir=perf", "test_g.py")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["* lies outside the root directory *; give a --rootdir that holds both, or leave the *"]
    )
