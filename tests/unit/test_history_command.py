"""``jitperf history``: which commit made it slow."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import update
from pytest_jitperf.cli import main
from pytest_jitperf.measurement import Sample

FILE = Path("tests", "__jitperf__", "test_step.json")
# As recorded: none is quite the same, one is far off, and from the sixth on it is slower.
MILLISECONDS = [1.00, 1.03, 0.98, 2.10, 1.01, 1.50, 1.53, 1.49]
OTHER = StoredProgram(fingerprint="sha256:" + "b" * 64)


TEMPLATE: list[Recorder] = []


class Recorder:
    """Writes baselines as updates would, a commit each."""

    def __init__(self, repository: Any, plain: Entry) -> None:
        self.repository, self.plain = repository, plain
        self.hashes: list[str] = []

    def write(self, milliseconds: float, *, test: str = "test_step", strategy: str = "outer", **changes: Any) -> None:
        seconds = milliseconds / 1000
        run = Sample(median=seconds, low=seconds, high=seconds, rounds=9)
        entry = replace(self.plain, timed={"run": run}, **changes)
        update(FILE, {Key(test=test, strategy=strategy, device_kind="cpu"): entry}, renew=[])
        document = json.loads(FILE.read_bytes())
        document["tests"][test]["main"][strategy]["cpu"]["timed"]["run"] |= {
            "median": seconds,
            "low": seconds,
            "high": seconds,
        }
        FILE.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")

    def commit(self, subject: str) -> None:
        self.hashes.append(self.repository.commit(subject))


@pytest.fixture(name="made")
def eight_commits(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    git_repository: Callable[[Path], Any],
    record: Callable[..., Entry],
) -> Recorder:
    for name in ("COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    if not TEMPLATE:
        # Made once, and copied for each test.
        folder = tmp_path_factory.mktemp("template")
        monkeypatch.chdir(folder)
        TEMPLATE.append(_eight_commits(git_repository(folder), record()))
    template = TEMPLATE[0]
    copied = tmp_path / "project"
    shutil.copytree(template.repository.root, copied)
    monkeypatch.chdir(copied)
    made = Recorder(git_repository(copied), template.plain)
    made.hashes = [*template.hashes]
    return made


def _eight_commits(repository: Any, plain: Entry) -> Recorder:
    made = Recorder(repository, plain)
    for place, each in enumerate(MILLISECONDS):
        slow = place >= 5
        exact = {**plain.exact, "peak_bytes": 2**20 * (2 if slow else 1)}
        made.write(each, exact=exact, program=OTHER if slow else plain.program)
        if place == 0:
            made.write(9.0, test="test_gone")
        made.write(5.0, strategy="eager", exact={}, program=None)
        if place == 3:
            document = json.loads(FILE.read_bytes())
            del document["tests"]["test_gone"]
            FILE.write_text(json.dumps(document))
        made.commit("A slower solver" if place == 5 else f"Change {place}")
    return made


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    assert main(["history", *arguments]) == 0
    out, err = capsys.readouterr()
    return out, err


def test_the_commit_that_made_it_slow_is_named(
    made: Recorder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("pytest_jitperf.commands.output.bars_for", lambda encoding: "▁▂▃▄▅▆▇█")

    assert run(capsys, "tests", "--table") == (
        dedent(f"""\
            {FILE}: run over 8 commits, 2026-01-01 to 2026-01-08
            test_step / eager / cpu  ▅▅▅▅▅▅▅▅  5 ms
            test_step / outer / cpu  ▁▁▁█▁▅▅▅  1 ms -> 1.49 ms  x1.49
              > {made.hashes[5][:9]} 2026-01-06  1.01 ms -> 1.5 ms  x1.49  A slower solver
                  program changed

            changes: timings by level (PELT, cost l1, on logarithms, by ruptures; it takes 4 recordings)
            """),
        "",
    )


def test_counts_and_sizes_change_with_each_value(made: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, FILE.as_posix(), "--metric", "peak_bytes", "--table")

    lines = out.splitlines()
    assert lines[2:5] == [
        f"  > {made.hashes[5][:9]} 2026-01-06  1 MiB -> 2 MiB  x2.00  A slower solver",
        "      program changed",
        "",
    ]
    assert lines[-1] == "changes: counts and sizes by value"


@pytest.mark.parametrize("path", ["tests/test_step.py", "tests/__jitperf__", ".", FILE.as_posix()])
def test_a_test_file_a_folder_or_the_baseline_is_named(
    made: Recorder, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    out, _ = run(capsys, path, "--table")
    assert f"> {made.hashes[5][:9]} 2026-01-06" in out


def test_a_shell_gets_a_line_for_each_recording(made: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, FILE.as_posix(), "--strategy", "outer")

    about = f"{FILE.as_posix()}\trun\ttest_step\tmain\touter\tcpu"
    expected = [
        [about, made.hashes[place], f"2026-01-0{place + 1}", f"{each / 1000}", "", "", "", f"Change {place}"]
        for place, each in enumerate(MILLISECONDS)
    ]
    expected[5][4:] = ["changed", "0.00101", "0.0015", "A slower solver"]
    assert out.splitlines() == ["\t".join(each) for each in expected]


def test_programs_get_json(made: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = json.loads(run(capsys, FILE.as_posix(), "--json", "--strategy", "outer")[0])

    assert (found["file"], found["metric"], found["unit"]) == (FILE.as_posix(), "run", "seconds")
    assert [each["commit"] for each in found["versions"]] == made.hashes
    (entry,) = found["entries"]
    assert entry == {
        "test": "test_step",
        "measurement": "main",
        "strategy": "outer",
        "device_kind": "cpu",
        "values": [each / 1000 for each in MILLISECONDS],
        "recorded": list(range(8)),
        "method": "PELT, cost l1, on logarithms",
        "noise": entry["noise"],
        "changes": [
            {
                "commit": made.hashes[5],
                "date": "2026-01-06",
                "subject": "A slower solver",
                "version": 5,
                "old": 0.00101,
                "new": 0.0015,
                "ratio": 0.0015 / 0.00101,
                "circumstances": ["program changed"],
            }
        ],
    }
    assert entry["noise"] >= 0.05


def test_only_the_last_commits_are_looked_at(made: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, FILE.as_posix(), "-n", "2", "--table", "--strategy=outer")
    assert out.splitlines()[0] == f"{FILE}: run over 2 commits, 2026-01-07 to 2026-01-08"
    assert out.splitlines()[1].endswith("1.53 ms -> 1.49 ms  x0.97  (2 recordings)")


def test_every_recording_can_be_listed(made: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, FILE.as_posix(), "-v", "--table", "--strategy=outer", "-n", "4")
    assert out.splitlines()[2:4] == [
        f"    {made.hashes[4][:9]} 2026-01-05  1.01 ms  Change 4",
        f"    {made.hashes[5][:9]} 2026-01-06  1.5 ms  A slower solver",
    ]


def test_entries_that_are_gone_are_left_out_unless_they_are_asked_for(
    made: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "test_gone" not in run(capsys, FILE.as_posix())[0]
    out, _ = run(capsys, FILE.as_posix(), "--all", "--table", "--test", "test_gone")
    assert out.splitlines()[1].endswith("9 ms  (gone)")

    assert main(["history", FILE.as_posix(), "--test", "test_gone"]) == 2
    assert capsys.readouterr().err == (
        "jitperf: --test=test_gone: no entry has it; only older versions have it: add --all\n"
    )


def test_a_file_that_is_gone_still_has_a_history(made: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    FILE.unlink()
    made.commit("Removed")
    out, _ = run(capsys, FILE.as_posix(), "--all", "--table", "--strategy=outer", "--test=test_step")
    assert out.splitlines()[1].endswith("1 ms -> 1.49 ms  x1.49  (gone)")


def test_what_is_not_committed_counts_too(made: Recorder, capsys: pytest.CaptureFixture[str]) -> None:
    made.write(1.51, exact={**made.plain.exact, "peak_bytes": 4 * 2**20}, program=OTHER)
    out, _ = run(capsys, FILE.as_posix(), "--table", "--metric", "peak_bytes")
    assert (
        out.splitlines()[0] == f"{FILE}: peak_bytes over 8 commits and what is not committed, 2026-01-01 to 2026-01-08"
    )
    assert "  > --------- ----------  2 MiB -> 4 MiB  x2.00  not committed yet" in out.splitlines()
    (found,) = json.loads(run(capsys, FILE.as_posix(), "--json", "--metric", "peak_bytes")[0])
    assert found["versions"][-1] == {"commit": None, "date": None, "subject": "not committed yet"}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("TestStep::test_step[8]", {"TestStep::test_step[8]"}),
        ("TestStep::test_step", {"TestStep::test_step[8]", "TestStep::test_step[16]"}),
        ("test_step[16]", {"TestStep::test_step[16]"}),
        ("test_step", {"test_step", "TestStep::test_step[8]", "TestStep::test_step[16]"}),
    ],
)
def test_a_test_is_named_with_or_without_class_and_ids(
    made: Recorder, capsys: pytest.CaptureFixture[str], name: str, found: set[str]
) -> None:
    for size in (8, 16):
        made.write(1.0, test=f"TestStep::test_step[{size}]")
    made.commit("more")
    out, _ = run(capsys, FILE.as_posix(), "--test", name)
    assert {line.split("\t")[2] for line in out.splitlines()} == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch.json"], "nosuch.json is not there, so there is no history of it; give a baseline file that git has"),
        (["new.json"], "new.json is in no commit yet, so there is no history of it; give a baseline file that git has"),
        (["empty"], "no baseline in empty; record one with  pytest --jitperf-update"),
        ([FILE.as_posix(), "--metric", "rum"], '--metric=rum: no entry has it; did you mean "run"? Valid: run, comp'),
        ([FILE.as_posix(), "--test", "tst_step"], '--test=tst_step: no entry has it; did you mean "test_step"? Valid'),
        ([FILE.as_posix(), "--strategy", "x"], "--strategy=x: no entry has it; valid: eager, outer"),
        ([FILE.as_posix(), "--device", "gpu"], '--device=gpu: no entry has it; did you mean "cpu"? Valid: cpu'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_said_in_one_line(
    made: Recorder, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    Path("empty").mkdir()
    Path("new.json").touch()

    assert main(["history", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err[: len(said) + 9], err.count("\n")) == ("", f"jitperf: {said}", 1)


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_a_number_of_commits_is_one_or_more(made: Recorder, capsys: pytest.CaptureFixture[str], number: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["history", f"-n{number}"])
    assert f"argument -n: {number} is not a number of commits; give 1 or more" in capsys.readouterr().err


def test_a_version_that_cannot_be_read_is_named_and_the_others_are_shown(
    made: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    good = FILE.read_bytes()
    FILE.write_text("<<<<<<< HEAD\n")
    made.commit("conflict")
    FILE.write_bytes(good)
    made.commit("mended")

    assert main(["history", FILE.as_posix(), "--strategy", "outer"]) == 1
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == len(MILLISECONDS)
    assert err.startswith(
        f"jitperf: {made.hashes[8][:9]}:{FILE.as_posix()}, line 1, column 1, has git conflict markers"
    )
    assert err.count("\n") == 1


def test_without_what_finds_changes_the_rows_are_drawn(
    made: Recorder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)

    assert main(["history", FILE.as_posix(), "--table"]) == 1
    out, err = capsys.readouterr()
    assert "1 ms -> 1.49 ms  x1.49" in out
    assert out.splitlines()[-1] == "changes: not looked for"
    assert err == (
        "jitperf: changes of timings are found with ruptures, which is not installed: pip install ruptures, or "
        "pytest-jitperf with its extra history\n"
    )
    assert main(["history", FILE.as_posix(), "--metric=peak_bytes"]) == 0


def test_a_shallow_clone_says_that_commits_are_missing(
    made: Recorder,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clone = tmp_path_factory.mktemp("clone") / "shallow"
    made.repository.git("clone", "-q", "--depth", "2", f"file://{made.repository.root}", str(clone))
    monkeypatch.chdir(clone)

    out, err = run(capsys, FILE.as_posix(), "--strategy=outer")
    assert len(out.splitlines()) == 2
    assert err == (
        "jitperf: this clone is shallow, so older commits are missing; fetch them with  git fetch --unshallow\n"
    )


def test_outside_a_repository_it_says_so(
    git_repository: object, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["history", "a.json"]) == 2
    assert capsys.readouterr().err == "jitperf: a.json is not in a git repository, so git has no history of it\n"


def test_bars_are_ascii_where_stdout_is(made: Recorder) -> None:
    script = "from pytest_jitperf.cli import main; raise SystemExit(main(['history', '--table']))"
    shown = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"},
        capture_output=True,
        check=True,
    )
    assert b"test_step / outer / cpu  ___#_~~~  1 ms -> 1.49 ms" in shown.stdout


def test_on_a_narrow_terminal_the_row_stands_below_its_title(
    made: Recorder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    lines = run(capsys, FILE.as_posix(), "--table", "--strategy=outer")[0].splitlines()
    assert lines[1] == "test_step / outer / cpu"
    assert lines[2][10:] == "  1 ms -> 1.49 ms  x1.49"
    assert lines[-3:] == [
        "",
        "changes: timings by level (PELT, cost l1, on",
        "logarithms, by ruptures; it takes 4 recordings)",
    ]
    assert lines[3] == f"  > {made.hashes[5][:9]} 2026-01-06  1.01 ms -> 1.5 ms  x1..."
