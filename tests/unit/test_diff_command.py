"""``jitperf diff``: two files, two folders, two results, or what git has."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram, to_json
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import update
from pytest_jitperf.cli import main
from pytest_jitperf.measurement import Sample
from pytest_jitperf.results import Results
from pytest_jitperf.resultsfile import dump
from pytest_jitperf.row import Row

FILE = Path("tests", "__jitperf__", "test_step.json")
OTHER = StoredProgram(fingerprint="sha256:" + "b" * 64)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(name="entries")
def stored_entries(record: Callable[..., Entry]) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """By test, before and after."""
    plain: Entry = record()
    run = Sample(median=0.0024, low=0.0023, high=0.0025, rounds=9)
    compiling = Sample(median=0.051, low=0.051, high=0.051, rounds=1)
    slow = replace(
        plain,
        program=OTHER,
        timed={**plain.timed, "run": run, "compile": compiling},
        exact={**plain.exact, "temp_bytes": 4096},
        environment=replace(plain.environment, jax="0.12.0"),
    )
    renewed = replace(plain, environment=replace(plain.environment, jax="0.12.0"))
    old = {"test_slow": plain, "test_same": plain, "test_gone": plain, "test_renewed": plain, "test_refactored": plain}
    new = {
        "test_slow": slow,
        "test_same": plain,
        "test_new": plain,
        "test_renewed": renewed,
        "test_refactored": replace(plain, program=OTHER),
    }
    return old, new


def write(path: Path, entries: Mapping[str, Entry]) -> Path:
    path.unlink(missing_ok=True)
    update(path, {Key(test=test, strategy="outer", device_kind="cpu"): entry for test, entry in entries.items()})
    return path


def expected(file: str, old: str, new: str) -> str:
    return dedent(f"""\
        {old} -> {new}: 3 changed, 1 added, 1 removed of 6 entries

        {file}, test_slow / outer / cpu
          program changed
          run 1.2 ms -> 2.4 ms     x2.00
          temp_bytes 0 B -> 4 KiB
          may be noise: compile x1.02

        another program, the same numbers
          {file}, test_refactored / outer / cpu
            program changed

        neither program nor numbers
          {file}, test_renewed / outer / cpu

        added
          {file}, test_new / outer / cpu

        removed
          {file}, test_gone / outer / cpu

        around the code
          jax 0.10.2 -> 0.12.0  (2 entries)
        """)


def test_two_files_are_compared_whatever_they_are_called(
    entries: tuple[dict[str, Entry], dict[str, Entry]], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = write(Path("a.json"), entries[0]), write(Path("b.json"), entries[1])

    assert main(["diff", "a.json", "b.json", "--table"]) == 1
    assert capsys.readouterr() == (expected("b.json", str(old), str(new)), "")


def test_two_folders_are_compared_file_by_file(
    entries: tuple[dict[str, Entry], dict[str, Entry]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("main", FILE), entries[0])
    write(Path("branch", FILE), entries[1])

    assert main(["diff", "main", "branch/", "--table"]) == 1
    assert capsys.readouterr() == (expected(FILE.as_posix(), "main", "branch"), "")


@pytest.fixture(name="repository")
def two_commits(
    entries: tuple[dict[str, Entry], dict[str, Entry]], git_repository: Callable[[Path], Any], tmp_path: Path
) -> Any:
    """A repository whose second commit has the new entries, and further files."""
    repository = git_repository(tmp_path)
    Path("main.json").write_text("{}")
    write(FILE, entries[0])
    repository.commit("first")
    write(FILE, entries[1])
    repository.commit("second")
    return repository


@pytest.mark.parametrize(
    ("arguments", "old", "new"),
    [
        (["HEAD~1", "HEAD"], "HEAD~1", "HEAD"),
        (["HEAD~1"], "HEAD~1", "the work tree"),
        (["HEAD~1..HEAD"], "HEAD~1", "HEAD"),
        (["HEAD~1.."], "HEAD~1", "HEAD"),
        (["HEAD~1...main"], "HEAD~1...main", "main"),
        (["HEAD~1", "HEAD", "tests"], "HEAD~1", "HEAD"),
        (["HEAD~1", "HEAD", "--", "tests/__jitperf__"], "HEAD~1", "HEAD"),
        (["HEAD~1", "tests/test_step.py"], "HEAD~1", "the work tree"),
        (["HEAD~1", "--", FILE.as_posix()], "HEAD~1", "the work tree"),
        (["HEAD~1", "--table", "HEAD", "tests"], "HEAD~1", "HEAD"),
        (["HEAD~1", "--table", "--", "tests"], "HEAD~1", "the work tree"),
    ],
    ids=" ".join,
)
def test_revisions_are_compared_with_each_other_or_with_the_work_tree(
    repository: Any, capsys: pytest.CaptureFixture[str], arguments: list[str], old: str, new: str
) -> None:
    Path("tests", "test_step.py").touch()

    assert main(["diff", *arguments] if "--table" in arguments else ["diff", "--table", *arguments]) == 1
    assert capsys.readouterr() == (expected(FILE.as_posix(), old, new), "")


def test_without_a_revision_it_is_what_the_work_tree_has_changed(
    repository: Any, entries: tuple[dict[str, Entry], dict[str, Entry]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "--table"]) == 0
    assert capsys.readouterr().out == "HEAD -> the work tree: no difference in 5 entries\n"

    # New files count, and what is ignored does not.
    write(Path("more", "__jitperf__", "test_more.json"), {"test_more": entries[0]["test_same"]})
    write(Path("build", "__jitperf__", "test_more.json"), {"test_more": entries[0]["test_same"]})
    Path(".gitignore").write_text("build/\n")
    assert main(["diff"]) == 1
    assert (
        capsys.readouterr().out
        == "more/__jitperf__/test_more.json\ttest_more\tmain\touter\tcpu\tadded" + 5 * "\t" + "\n"
    )
    assert main(["diff", "tests"]) == 0


def test_a_file_that_is_only_in_one_revision_came_or_went(repository: Any, capsys: pytest.CaptureFixture[str]) -> None:
    FILE.unlink()
    repository.commit("removed")
    assert main(["diff", "HEAD~1", "HEAD", "--", FILE.as_posix()]) == 1
    assert {line.split("\t")[5] for line in capsys.readouterr().out.splitlines()} == {"removed"}
    assert main(["diff", "HEAD", "HEAD~1", "--", FILE.as_posix()]) == 1
    assert {line.split("\t")[5] for line in capsys.readouterr().out.splitlines()} == {"added"}


def test_paths_are_shown_as_one_would_type_them(
    repository: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("tests")
    assert main(["diff", "HEAD~1", "HEAD", "."]) == 1
    assert {line.split("\t")[0] for line in capsys.readouterr().out.splitlines()} == {"__jitperf__/test_step.json"}


def test_a_baseline_directory_is_found_where_it_is_named(
    repository: Any, entries: tuple[dict[str, Entry], dict[str, Entry]], capsys: pytest.CaptureFixture[str]
) -> None:
    for part in entries:
        write(Path("ci", "cpu", "test_step.json"), part)
        Path("ci", "foreign.json").write_text("[1]")
        repository.commit("directory")

    assert main(["diff", "HEAD~1", "HEAD", "ci", "--table"]) == 1
    assert capsys.readouterr() == (expected("ci/cpu/test_step.json", "HEAD~1", "HEAD"), "")


def test_a_shell_gets_one_line_for_each_difference(
    entries: tuple[dict[str, Entry], dict[str, Entry]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("a.json"), entries[0])
    write(Path("b.json"), entries[1])

    assert main(["diff", "a.json", "b.json"]) == 1
    slow = "b.json\ttest_slow\tmain\touter\tcpu\tchanged\t"
    assert capsys.readouterr().out.splitlines() == [
        f"{slow}program changed\t\t\t\t",
        f"{slow}compile\t\t0.05\t0.051\t1.02",
        f"{slow}run\t\t0.0012\t0.0024\t2.0",
        f"{slow}temp_bytes\t\t0\t4096\t",
        f"{slow}jax 0.10.2 -> 0.12.0\t\t\t\t",
        "b.json\ttest_refactored\tmain\touter\tcpu\tchanged\tprogram changed\t\t\t\t",
        "b.json\ttest_renewed\tmain\touter\tcpu\tchanged\tjax 0.10.2 -> 0.12.0\t\t\t\t",
        "b.json\ttest_new\tmain\touter\tcpu\tadded\t\t\t\t\t",
        "b.json\ttest_gone\tmain\touter\tcpu\tremoved\t\t\t\t\t",
    ]


def test_programs_get_json(
    entries: tuple[dict[str, Entry], dict[str, Entry]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("a.json"), entries[0])
    write(Path("b.json"), entries[1])

    assert main(["diff", "--json", "a.json", "b.json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["old"], found["new"]) == ("a.json", "b.json")
    assert [(each["test"], each["state"]) for each in found["entries"]] == [
        ("test_slow", "changed"),
        ("test_refactored", "changed"),
        ("test_renewed", "changed"),
        ("test_new", "added"),
        ("test_gone", "removed"),
    ]
    numbers = {"of": "", "unit": "seconds"}
    assert found["entries"][0] == {
        "file": "b.json",
        "test": "test_slow",
        "measurement": "main",
        "strategy": "outer",
        "device_kind": "cpu",
        "state": "changed",
        "program_changed": True,
        "numbers": [
            {**numbers, "metric": "compile", "old": 0.05, "new": 0.051, "ratio": 1.02, "moved": False},
            {**numbers, "metric": "run", "old": 0.0012, "new": 0.0024, "ratio": 2.0, "moved": True},
            {**numbers, "metric": "temp_bytes", "unit": "bytes", "old": 0, "new": 4096, "ratio": None, "moved": True},
        ],
        "environment": [{"name": "jax", "old": "0.10.2", "new": "0.12.0"}],
        "changes": [
            "program changed",
            "compile 50 ms -> 51 ms",
            "run 1.2 ms -> 2.4 ms",
            "temp_bytes 0 B -> 4 KiB",
            "jax 0.10.2 -> 0.12.0",
        ],
    }


def test_two_results_are_compared_by_what_they_would_store(
    entries: tuple[dict[str, Entry], dict[str, Entry]],
    row: Callable[..., Row],
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, part in zip(("a.json", "b.json"), entries, strict=True):
        rows = tuple(
            row(nodeid=f"tests/test_step.py::{test}[outer]", test=test, entry=to_json(entry), status="passed")
            for test, entry in part.items()
        )
        skipped = row(test="test_skipped", outcome="not measured", status="skipped", baseline="")
        Path(name).write_bytes(dump(Results(plugin="1", mode="gate", rows=(*rows, skipped))))

    assert main(["diff", "a.json", "b.json", "--table"]) == 1
    assert capsys.readouterr() == (expected(FILE.as_posix(), "a.json", "b.json"), "")
    assert main(["diff", "a.json", "a.json", "--table"]) == 0
    assert capsys.readouterr().out == "a.json -> a.json: no difference in 5 entries\n"

    write(Path("c.json"), entries[0])
    assert main(["diff", "c.json", "b.json"]) == 2
    assert capsys.readouterr() == ("", "jitperf: b.json holds results and c.json does not; give two of a kind\n")


def test_what_cannot_be_compared_is_named_and_the_rest_shown(
    entries: tuple[dict[str, Entry], dict[str, Entry]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("old", "__jitperf__", "a.json"), entries[0])
    write(Path("old", "__jitperf__", "b.json"), entries[0])
    write(Path("new", "__jitperf__", "a.json"), entries[0])
    Path("new", "__jitperf__", "b.json").write_text('{"format": ')

    assert main(["diff", "old", "new", "--table"]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "old -> new: no difference in 10 entries"
    assert err.startswith(f"jitperf: {Path('new', '__jitperf__', 'b.json')}, line 1, column 11, is cut off;")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "nosuch is neither a file or folder nor a revision of this repository"),
        (["HEAD", "HEAD~1", "main"], "diff takes two revisions at most, not 3; paths are files or folders that exist"),
        (["HEAD", "tests", "gone"], "gone does not exist; revisions come first, and what is only in one of them after"),
        (["tests", "tests/x.json"], "tests is a folder and tests/x.json a file; give two of a kind"),
        (["tests", "tests", "tests"], "diff takes two files or folders, not 3; for what changed in files since a com"),
        (["HEAD", "--", "empty"], "there is no baseline in empty, neither in HEAD nor in the work tree"),
        (["HEAD", "--", "../x"], "../x lies outside the repository at hand"),
        (["empty", "tests"], "no baseline in empty, so there is nothing to compare"),
        (["tests/x.json", "tests/missing.py"], "tests/__jitperf__/missing.json is not there; give a baseline file or"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_said_in_one_line(
    repository: Any, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    Path("empty").mkdir()
    for name in ("x.json", "missing.py"):
        Path("tests", name).touch()

    assert main(["diff", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err[: len(said) + 9], err.count("\n")) == ("", f"jitperf: {said}", 1)


def test_outside_a_repository_only_files_can_be_compared(
    git_repository: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "HEAD~1"]) == 2
    assert capsys.readouterr() == (
        "",
        "jitperf: HEAD~1 is no file or folder, so it would be a git revision: this folder is not in a git repository, "
        "so git has no history of it; without git, two files or folders can be compared\n",
    )
    assert main(["diff"]) == 2
    assert capsys.readouterr().err.startswith("jitperf: this folder is not in a git repository, so git has no history")


def test_long_lines_are_broken_on_a_narrow_terminal(
    repository: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert main(["diff", "HEAD~1", "HEAD", "--table"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert lines[:2] == ["HEAD~1 -> HEAD: 3 changed, 1 added, 1", "    removed of 6 entries"]
    assert lines[3:5] == ["tests/__jitperf__/test_step.json,", "    test_slow / outer / cpu"]


def test_what_is_slower_is_red_and_what_is_faster_is_green(
    entries: tuple[dict[str, Entry], dict[str, Entry]],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    write(Path("a.json"), entries[0])
    write(Path("b.json"), entries[1])

    main(["diff", "a.json", "b.json", "--table"])
    assert "  run 1.2 ms -> 2.4 ms     \x1b[31mx2.00\x1b[0m\n" in capsys.readouterr().out
    main(["diff", "b.json", "a.json", "--table"])
    assert "  run 2.4 ms -> 1.2 ms     \x1b[32mx0.50\x1b[0m\n" in capsys.readouterr().out
