"""What GitHub Actions and GitLab show of a run: the summary of the step, annotations, the code-quality report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
@pytest.mark.parametrize("kind", ["a|b%<script>"])
def test_over(jitperf, kind):
    jitperf(library.f, X)

@pytest.mark.xfail
@pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
def test_expected(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["eager"])
def test_fine(jitperf):
    jitperf(library.f, X)
"""

TITLE = "title=OVER BUDGET%3A test_g.py%3A%3Atest_over[a|b%25<script>] under outer"


@pytest.fixture(name="summary_file")
def on_github(project: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of the step's summary; the run belongs to a workflow of GitHub."""
    path = tmp_path / "step_summary"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.pytester.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


@pytest.fixture
def annotated() -> Callable[[pytest.RunResult], list[str]]:
    """The annotations of a run."""
    return lambda result: [line for line in result.outlines if line.startswith("::")]


@pytest.mark.parametrize(
    "options", [(), ("-q",), ("-qq", "--no-summary"), ("-p", "no:terminal"), ("-s", "--color=yes")], ids=" ".join
)
def test_a_failing_run_is_summarised_and_annotated(
    project: Any, summary_file: Path, annotated: Any, options: tuple[str, ...]
) -> None:
    summary_file.write_text("before")
    project.write_tests(TESTS)

    result = project.quick_run(*options)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    [annotation] = annotated(result)
    folder = project.pytester.path.name
    assert annotation.startswith(f"::error file={folder}/test_g.py,line=10,{TITLE}::peak_bytes over budget: ")
    before, _, text = summary_file.read_text().partition("\n")
    assert before == "before"
    head, counts, title, sentence, *_ = text.split("\n\n")
    assert head == "## jitperf: 1 failed, 1 unsettled"
    assert counts.startswith("**3 measured, 2 gated (2 by limits), 1 reference, 0 without a baseline, 1 failed, ")
    assert title == "#### `test_g.py::test_over[a|b%<script>]`"
    assert sentence.startswith("`outer` **OVER BUDGET**: peak_bytes over budget: ")
    assert "| outer      |" in text
    assert text.index("test_over") < text.index("### Unsettled") < text.index("test_expected")
    assert text.index("<summary>1 test is fine</summary>") < text.index("test_fine")
    assert str(project.pytester.path) not in text


def test_the_controller_of_xdist_alone_writes_and_annotates(project: Any, summary_file: Path, annotated: Any) -> None:
    pytest.importorskip("xdist")
    project.write_tests(TESTS)
    result = project.run("-n", "2")
    result.assert_outcomes(passed=1, failed=1, xfailed=1)
    assert [TITLE in line for line in annotated(result)] == [True]
    assert summary_file.read_text().count("## jitperf: 1 failed, 1 unsettled") == 1


def test_what_passes_when_run_again_is_not_annotated(project: Any, summary_file: Path, annotated: Any) -> None:
    pytest.importorskip("pytest_rerunfailures")
    project.write_tests(
        """
        from pathlib import Path

        @pytest.mark.jitperf(strategies=["outer"], compilations=1)
        def test_f(jitperf):
            again = Path("again").exists()
            Path("again").touch()
            jitperf.measure(library.f, inputs=[(jnp.ones(n),) for n in ((8,) if again else (8, 9))])
        """
    )
    result = project.quick_run("--reruns", "1")
    assert result.parseoutcomes()["rerun"] == 1
    assert annotated(result) == []
    assert summary_file.read_text().startswith("## jitperf: passed, 1 unsettled\n")


def test_ten_failures_are_annotated_and_the_last_says_how_many_more(
    project: Any, summary_file: Path, annotated: Any
) -> None:
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
        @pytest.mark.parametrize("n", range(12))
        def test_over(jitperf, n):
            jitperf(library.f, X)
        """
    )
    found = annotated(project.quick_run())
    assert len(found) == 10
    more = "%0A(2 more failures: see the summary or the log of the run)"
    assert [line.endswith(more) for line in found] == [False] * 9 + [True]
    assert summary_file.read_text().startswith("## jitperf: 12 failed\n")


@pytest.mark.parametrize("options", [("--jitperf-disable",), ("--collect-only",), ("-k", "ordinary")], ids=" ".join)
def test_nothing_is_said_where_nothing_is_measured(
    project: Any, summary_file: Path, annotated: Any, options: tuple[str, ...]
) -> None:
    project.write_tests(TESTS + "\ndef test_ordinary():\n    pass\n")
    assert annotated(project.quick_run(*options)) == []
    assert not summary_file.exists()


def test_a_summary_of_the_step_that_cannot_be_written_is_a_warning(
    project: Any, summary_file: Path, annotated: Any
) -> None:
    summary_file.mkdir()
    project.write_tests(TESTS)
    result = project.quick_run("-k", "fine")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["WARNING the summary of the step could not be written to GITHUB_STEP_SUMMARY: Is a directory"]
    )


def test_a_full_summary_of_the_step_is_left_as_it_is(project: Any, summary_file: Path) -> None:
    summary_file.write_bytes(b"x" * 1024 * 1024)
    project.write_tests(TESTS)
    result = project.quick_run("-k", "fine")
    result.stdout.fnmatch_lines(["WARNING the summary of the step was not written: the file is full"])
    assert summary_file.stat().st_size == 1024 * 1024


def test_elsewhere_files_are_written_where_options_or_the_ini_file_say(
    project: Any, monkeypatch: pytest.MonkeyPatch, annotated: Any
) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    monkeypatch.setenv("CI_PROJECT_DIR", str(project.pytester.path.parent))
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_codequality = quality.json\n")
    project.write_tests(TESTS)

    result = project.quick_run("--jitperf-summary=summary.md")

    assert annotated(result) == []
    result.stdout.fnmatch_lines(["summary written to summary.md", "code-quality report written to quality.json"])
    folder = project.pytester.path
    assert (folder / "summary.md").read_text().startswith("## jitperf: 1 failed, 1 unsettled\n")
    [issue] = json.loads((folder / "quality.json").read_text())
    assert (issue["check_name"], issue["severity"]) == ("jitperf.over-budget", "major")
    assert issue["location"] == {"path": f"{folder.name}/test_g.py", "lines": {"begin": 10}}

    project.quick_run("-k", "fine")
    assert json.loads((folder / "quality.json").read_text()) == []


@pytest.mark.parametrize("name", ["summary", "codequality"])
def test_a_path_that_cannot_be_written_stops_the_run_before_any_test(project: Any, name: str) -> None:
    result = project.quick_run(f"--jitperf-{name}=nowhere/file")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f'ERROR: jitperf: --jitperf-{name}="nowhere/file": there is no directory *'])


@pytest.mark.parametrize("name", [".github/workflows/perf.yml", ".gitlab-ci.yml"])
def test_the_pipelines_of_the_example_run_what_there_is(pytester: pytest.Pytester, name: str) -> None:
    yaml = pytest.importorskip("yaml")
    text = (Path(__file__).parents[2] / "example_project" / name).read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    if "jobs" in document:
        commands = [step["run"] for step in document["jobs"]["gate"]["steps"] if "run" in step]
    else:
        commands = document["performance"]["script"]
    install, gate = commands
    assert install == 'python -m pip install -e ".[test]"'
    program, *options = gate.split()
    assert program == "pytest"
    pytester.makepyfile("def test_ordinary():\n    pass\n")
    pytester.runpytest_inprocess(*options).assert_outcomes(passed=1)
