"""``--jitperf-html``: a report to look at, written by the one process that sees all tests."""

from __future__ import annotations

import getpass
import json
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TWO = """
    @pytest.mark.jitperf(strategies=["eager", "outer"])
    def test_f(jitperf):
        jitperf(library.f, X)
    """


def headline(project: Any, name: str = "report.html") -> str:
    found = re.search(r"<h1[^>]*>(.*?)</h1>", (project.pytester.path / name).read_text(encoding="utf-8"))
    assert found
    return found[1]


def test_a_regression_is_told_with_its_race_and_what_accepts_it(project: Any, slower: str) -> None:
    project.record()
    project.write_library(slower)
    result = project.quick_run("--jitperf-html=report.html")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["report written to report.html"])
    text = (project.pytester.path / "report.html").read_text(encoding="utf-8")
    assert headline(project) == "1 of 2 failed"
    assert re.search(r'<p class="sentence lead">run regressed: .*, allowed x1.10</p>', text)
    assert '<title id="t-test-g-py-test-g-f1-t">Time of now over time of the baseline&#39;s</title>' in text
    command = "pytest &#34;test_g.py::test_g[outer]&#34; --jitperf-update"
    assert f'<code class="command">{command}</code>' in text


def test_nothing_of_this_machine_is_in_it(project: Any, slower: str) -> None:
    project.record()
    project.write_library(slower)
    project.quick_run("--jitperf-html=report.html")
    text = (project.pytester.path / "report.html").read_text(encoding="utf-8")
    private = {
        str(project.pytester.path), str(Path.home()), str(Path(sys.prefix)), platform.node(), str(Path(__file__).parent)
    }  # fmt: skip
    words = {rf"(?<!\w){re.escape(each)}(?!\w)" for each in private if each not in ("/", "")}
    assert [each for each in words if re.search(each, text)] == []
    # The style sheet has a word in common with some.
    assert re.search(rf"\b{re.escape(getpass.getuser())}\b", text.partition("</style>")[2]) is None
    # No path that begins at the root of a file system, in any text.
    assert re.findall(r"(?<![\w.<])/(?:home|root|tmp|usr|var|work)/", text) == []


def test_the_controller_of_xdist_writes_it_for_all_workers(project: Any) -> None:
    pytest.importorskip("xdist")
    project.write_tests(TWO)
    result = project.run("-n", "2", "--jitperf-html=report.html")
    result.assert_outcomes(passed=2)
    assert result.stdout.str().count("report written to report.html") == 1
    assert headline(project) == "Nothing failed, 1 of 2 unsettled"


def test_the_ini_file_can_ask_for_it_and_the_command_line_goes_first(project: Any) -> None:
    project.write_tests(TWO)
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_html = ini.html\n")
    project.quick_run("-k", "eager")
    assert headline(project, "ini.html") == "Nothing failed"
    project.quick_run("-k", "eager", "--jitperf-html=line.html")
    assert headline(project, "line.html") == "Nothing failed"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("folder", '--jitperf-html="folder": it is a directory; give a file'),
        ("no/such/report.html", '--jitperf-html="no/such/report.html": there is no directory */no/such; make it*'),
    ],
)
def test_a_path_that_cannot_be_written_is_a_usage_error_before_any_test(project: Any, value: str, said: str) -> None:
    (project.pytester.path / "folder").mkdir()
    project.write_tests(TWO)
    result = project.quick_run(f"--jitperf-html={value}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: jitperf: {said}"])
    result.stdout.no_fnmatch_line("*test_g.py*")


def test_without_jinja2_that_is_said_before_any_test(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    project.write_tests(TWO)
    result = project.quick_run("--jitperf-html=report.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            'ERROR: jitperf: --jitperf-html="report.html": the HTML report needs jinja2: pip install jinja2, or '
            "pytest-jitperf with its extra report"
        ]
    )
    # Nobody else needs it.
    project.quick_run("-k", "eager").assert_outcomes(passed=1, deselected=1)


def test_nothing_is_written_where_nothing_is_measured(project: Any) -> None:
    project.write_tests(TWO)
    project.quick_run("--jitperf-disable", "--jitperf-html=report.html").assert_outcomes(passed=2)
    project.quick_run("--collect-only", "--jitperf-html=report.html")
    project.write_tests("def test_ordinary():\n    pass\n")
    project.quick_run("--jitperf-html=report.html").assert_outcomes(passed=1)
    assert not (project.pytester.path / "report.html").exists()


def test_a_report_that_can_no_longer_be_written_is_an_error_and_the_old_one_stays(project: Any) -> None:
    project.write_tests(TWO + "\n    import os\n    os.mkdir('report.html')\n")
    result = project.quick_run("--jitperf-html=report.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR the report could not be written: report.html: Is a directory"])


@pytest.fixture(name="git")
def commits(project: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes a repository of the project and commits its baseline."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.com")

    def run(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=project.pytester.path, check=True, capture_output=True)

    return run


def test_where_git_knows_the_baseline_its_history_is_drawn(project: Any, git: Callable[..., None]) -> None:
    project.record()
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "First")

    def slower(tests: dict[str, Any]) -> None:
        tests["test_g"]["main"]["outer"]["cpu"]["timed"]["run"] = {
            "rounds": 9,
            **dict.fromkeys(("median", "low", "high"), 1e-3),
        }

    project.edit_baseline(slower)
    git("commit", "-q", "-am", "Second")
    project.quick_run("--jitperf-html=report.html")
    text = (project.pytester.path / "report.html").read_text(encoding="utf-8")
    assert "Run time in the baseline, from commit to commit" in text
    assert re.search(r"<desc id=[^>]*>outer: 2 recordings, [^<]* in [0-9a-f]{9}, 1 ms in [0-9a-f]{9}, [^<]* now", text)
    assert "somebody" not in text


@pytest.mark.parametrize("shards", [1, 2])
def test_the_command_makes_it_of_results(project: Any, shards: int) -> None:
    project.write_tests(TWO)
    for strategy in ("eager", "outer")[:shards]:
        project.quick_run("-k", strategy, f"--jitperf-json={strategy}.json")
    files = [f"{strategy}.json" for strategy in ("eager", "outer")[:shards]]
    result = project.pytester.run("jitperf", "report", *files, "-o", "report.html")
    assert result.ret == 0
    counted = {1: "report of 1 measurement", 2: "report of 2 measurements in 2 files"}[shards]
    result.stdout.fnmatch_lines([f"report.html: {counted}"])
    assert headline(project) == {1: "Nothing failed", 2: "Nothing failed, 1 of 2 unsettled"}[shards]


def test_of_one_run_the_command_and_the_option_make_the_same(project: Any) -> None:
    project.write_tests(TWO)
    project.quick_run("--jitperf-json=results.json", "--jitperf-html=option.html")
    assert project.pytester.run("jitperf", "report", "results.json", "-o", "command.html").ret == 0
    folder = project.pytester.path
    assert (folder / "command.html").read_bytes() == (folder / "option.html").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.json", "-o", "r.html"], "jitperf: missing.json does not exist; *"),
        (["results.json", "-o", "."], "jitperf: .: it is a directory; give a file"),
        (
            ["results.json", "-o", "./results.json"],
            "jitperf: results.json: it is one of the results; give another path",
        ),
        (["results.json", "-o", "test_g.py"], "jitperf: test_g.py: it is a source file, *"),
        (["broken.json", "-o", "r.html"], "jitperf: broken.json*; make it again with pytest --jitperf-json"),
        (["results.json"], "*the following arguments are required: -o/--output"),
    ],
)
def test_what_the_command_cannot_do_it_says_in_a_line(project: Any, arguments: list[str], said: str) -> None:
    project.write_tests(TWO)
    project.quick_run("-k", "eager", "--jitperf-json=results.json")
    (project.pytester.path / "broken.json").write_text(json.dumps({"format": "pytest-jitperf-results", "version": 1}))
    result = project.pytester.run("jitperf", "report", *arguments)
    assert result.ret == 2
    result.stderr.fnmatch_lines([said])
    assert not (project.pytester.path / "r.html").exists()
