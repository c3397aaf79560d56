"""``jitperf merge``, ``jitperf update`` and ``jitperf schema``, on files as a run writes them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, to_json
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import update
from pytest_jitperf.cli import main
from pytest_jitperf.measurement import Environment
from pytest_jitperf.results import Results, Unmeasured
from pytest_jitperf.resultsfile import dump, read
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

KEY = {"test": "test_step", "measurement": "main", "strategy": "outer", "device_kind": "cpu"}


@pytest.fixture(autouse=True)
def in_a_project_outside_any_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("BITBUCKET_", "BUILD", "CHANGE_", "CI", "GITHUB_", "GITLAB_", "SYSTEM_", "TRAVIS")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    Path("tests").mkdir()
    Path("tests", "test_step.py").write_text("", encoding="utf-8")


@pytest.fixture(name="item")
def row_that_may_be_stored(
    row: Callable[..., Row], record: Callable[..., Entry], environment: Environment
) -> Callable[..., Row]:
    def make(name: str = "test_step", **changes: Any) -> Row:
        made = row(
            nodeid=f"tests/test_step.py::{name}[outer]",
            test=name,
            device="cpu",
            status="passed",
            acceptable=True,
            entry=to_json(record(program=None)),
            environment=environment,
        )
        return replace(made, **changes)

    return make


def write(name: str, *rows: Row, mode: Any = "gate", **unmeasured: Status) -> Results:
    items = tuple(Unmeasured(nodeid=nodeid, status=status) for nodeid, status in unmeasured.items())
    results = Results(plugin="1", mode=mode, rows=rows, unmeasured=items)
    Path(name).write_bytes(dump(results))
    return results


def test_merge_joins_files_and_says_how_many(item: Callable[..., Row], capsys: pytest.CaptureFixture[str]) -> None:
    write("a.json", item("test_a"))
    write("b.json", item("test_b"))

    assert main(["merge", "a.json", "b.json", "-o", "c.json"]) == 0

    assert capsys.readouterr() == ("c.json: 2 measurements of 2 files\n", "")
    assert read(Path("c.json")).rows == (item("test_a"), item("test_b"))


def test_merge_prints_what_is_asked_of_it_and_tells_conflicts_beside_it(
    item: Callable[..., Row], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    write("a.json", item(status="failed", outcome="REGRESSED"))
    write("b.json", item("test_größe"), item(run=0.5))

    assert main(["merge", "a.json", "b.json", "-o", "-"]) == 0

    out, err = capfdbinary.readouterr()
    assert out == dump(replace(read(Path("b.json")), rows=(item("test_größe"), item(run=0.5))))
    assert err == (
        b"jitperf: tests/test_step.py::test_step[outer] on cpu: failed (REGRESSED) in a.json and passed (ok) in "
        b"b.json; the last was taken\n"
    )


def test_a_file_may_be_joined_onto_itself(item: Callable[..., Row]) -> None:
    write("all.json", item("test_a"))
    write("b.json", item("test_b"))
    assert main(["merge", "all.json", "b.json", "-o", "all.json"]) == 0
    assert read(Path("all.json")).rows == (item("test_a"), item("test_b"))


def test_baselines_are_not_merged(record: Callable[..., Entry], capsys: pytest.CaptureFixture[str]) -> None:
    file = Path("tests", "__jitperf__", "test_step.json")
    update(file, {Key(test="test_step", strategy="outer", device_kind="cpu"): record(program=None)})

    assert main(["merge", str(file), str(file), "-o", "c.json"]) == 2

    assert capsys.readouterr() == (
        "",
        f'jitperf: {file} is a baseline ("format": "pytest-jitperf"), expected results ("format": '
        '"pytest-jitperf-results"); give a file that pytest --jitperf-json has written\n',
    )
    assert not Path("c.json").exists()


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("nowhere/c.json", "jitperf: nowhere/c.json: there is no directory nowhere; make it, or give another path\n"),
        ("tests", "jitperf: tests: it is a directory; give a file\n"),
    ],
)
def test_an_output_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str], output: str, said: str) -> None:
    write("a.json")
    assert main(["merge", "a.json", "-o", output]) == 2
    assert capsys.readouterr() == ("", said)


def test_merge_refuses_what_does_not_belong_together(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.json")
    write("b.json", mode="update")
    assert main(["merge", "a.json", "b.json", "-o", "c.json"]) == 2
    assert "b.json was recorded with --jitperf-update and a.json without it" in capsys.readouterr().err


def test_update_writes_the_baselines_and_says_what_was_left_out(
    item: Callable[..., Row], capsys: pytest.CaptureFixture[str]
) -> None:
    write("a.json", item(), item("test_bad", acceptable=False, status="failed", failed=True, outcome="OVER BUDGET"))
    write("b.json", item("test_b"), z=Status.SKIPPED)

    assert main(["update", "--from", "a.json", "b.json"]) == 0

    assert capsys.readouterr() == (
        "tests/__jitperf__/test_step.json: 2 written\n"
        "  test_b / outer / cpu: new\n"
        "  test_step / outer / cpu: new\n"
        "left out tests/test_step.py::test_bad[outer]: failed (OVER BUDGET)\n"
        "left out z: not measured (skipped)\n",
        "",
    )
    assert main(["update", "--from", "a.json"]) == 0
    assert capsys.readouterr().out.startswith("tests/__jitperf__/test_step.json: 0 written, 1 unchanged\n")


def test_update_as_json_says_the_same(item: Callable[..., Row], capsys: pytest.CaptureFixture[str]) -> None:
    write("a.json", item(), item("test_gone", file="tests/test_gone.py"), z=Status.SKIPPED)

    assert main(["update", "--from", "a.json", "--json"]) == 1

    out, err = capsys.readouterr()
    printed = json.loads(out)
    (error,) = printed.pop("errors")
    assert printed == {
        "files": [
            {
                "file": "tests/__jitperf__/test_step.json",
                "changed": [{**KEY, "changes": ["new"]}],
                "unchanged": [],
                "programs": [],
            }
        ],
        "left_out": [{"nodeid": "z", "reason": "not measured (skipped)"}],
    }
    assert (error.startswith("tests/test_gone.py is not in "), err) == (True, f"jitperf: {error}\n")


def test_update_works_from_elsewhere(
    item: Callable[..., Row], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write("a.json", item(baseline="ci/tests/test_step.json"))
    Path("other").mkdir()
    monkeypatch.chdir("other")

    assert main(["update", "--from", "../a.json", "--root", "..", "--baseline-dir", "ci"]) == 0

    assert capsys.readouterr().out.startswith("../ci/tests/test_step.json: 1 written\n")
    assert (tmp_path / "ci" / "tests" / "test_step.json").is_file()


def test_update_is_refused_in_the_pipeline_of_a_pull_request(
    item: Callable[..., Row], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write("a.json", item())
    monkeypatch.setenv("GITHUB_EVENT_NAME", "pull_request")

    assert main(["update", "--from", "a.json"]) == 2
    assert capsys.readouterr() == (
        "",
        "jitperf: update in the pipeline of a pull request (GITHUB_EVENT_NAME=pull_request) would accept the change "
        "that is to be judged. Update on your own machine and commit the baseline, or use --force.\n",
    )
    assert not Path("tests", "__jitperf__").exists()

    assert main(["update", "--from", "a.json", "--force"]) == 0
    assert Path("tests", "__jitperf__", "test_step.json").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "a.json"], "jitperf: no measurement in the results may be stored, so there is nothing to update\n"),
        (
            ["--from", "a.json", "--root", "no"],
            "jitperf: --root=no is not a directory; give the root directory of the *",
        ),
        (["--from", "b.json"], "jitperf: b.json does not exist; give a file that pytest --jitperf-json has written\n"),
    ],
)
def test_where_there_is_nothing_to_do_update_says_so(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    write("a.json")
    assert main(["update", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.startswith(said.rstrip("*"))) == ("", True)


def test_a_schema_that_there_is_not_is_told_with_the_likely_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "result"]) == 2
    said = 'jitperf: there is no schema of "result"; did you mean "results"? Valid: results, baseline\n'
    assert capsys.readouterr() == ("", said)


def test_schema_prints_that_of_results_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for arguments in ([], ["results"], ["baseline"]):
        assert main(["schema", *arguments]) == 0
        printed.append(json.loads(capsys.readouterr().out)["title"])
    assert printed == ["Results of pytest-jitperf", "Results of pytest-jitperf", "Baseline of pytest-jitperf"]
