"""The ``jitperf`` command, on files as an update writes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram, from_json
from pytest_jitperf.baseline.programs import artifact_name, pack, program_directory, store
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import update
from pytest_jitperf.cli import main

KEY = Key(test="test_step", strategy="outer", device_kind="cpu")
PACKED = pack(b"program")
TABLE = dedent("""\
    test              strategy    device      compile     run    peak memory
    test_step         outer       cpu           50 ms  1.2 ms          8 MiB
    test_step / warm  eager       cpu               -       -              -
    """)


@pytest.fixture(name="file")
def baseline_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: Callable[..., Entry]) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("tests", "__jitperf__", "test_step.json")
    program = StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=artifact_name(PACKED))
    eager = Key(test="test_step", measurement="warm", strategy="eager", device_kind="cpu")
    entries = {KEY: record(program=program), eager: record(program=None, timed={}, exact={})}
    update(path, entries, files={artifact_name(PACKED): PACKED})
    return path


def damage(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_bytes())
    document["tests"]["test_step"]["main"]["outer"]["cpu"].update(changes)
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    "argument", [[], ["."], ["tests"], ["tests/__jitperf__"], ["tests/__jitperf__/test_step.json"]]
)
def test_show_prints_the_entries_of_files_and_folders(
    file: Path, capsys: pytest.CaptureFixture[str], argument: list[str]
) -> None:
    assert main(["show", "--table", *argument]) == 0
    assert capsys.readouterr() == (f"{file}\n{TABLE}", "")


def test_show_prints_what_a_shell_takes_where_there_is_no_terminal(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(file, exact={"peak_bytes": "many"})
    odd = Key(test="test_odd[\t\n]", strategy="outer", device_kind="NVIDIA H200")
    update(file, {odd: from_json(json.loads(file.read_bytes())["tests"]["test_step"]["warm"]["eager"]["cpu"])})

    assert main(["show"]) == 1
    out, err = capsys.readouterr()
    assert out == (
        f"{file}\ttest_odd[\\t\\n]\tmain\touter\tNVIDIA H200\t\t\t\n"
        f"{file}\ttest_step\tmain\touter\tcpu\tunusable\t\t\n"
        f"{file}\ttest_step\twarm\teager\tcpu\t\t\t\n"
    )
    assert err.startswith(f"jitperf: {file}, test_step / outer / cpu: exact.peak_bytes")


def test_show_gives_numbers_without_units_to_a_shell(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{file}\ttest_step\tmain\touter\tcpu\t0.05\t0.0012\t8388608"


def test_on_a_narrow_terminal_each_test_has_a_line_of_its_own(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "70")

    assert main(["show", "--table"]) == 0
    assert capsys.readouterr().out == dedent(f"""\
        {file}
          strategy    device      compile     run    peak memory
        test_step
          outer       cpu           50 ms  1.2 ms          8 MiB
        test_step / warm
          eager       cpu               -       -              -
        """)


def test_a_test_file_stands_for_its_baseline(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("tests", "test_step.py").touch()
    Path("tests", "test_other.py").touch()

    assert main(["show", "--table", "tests/test_step.py"]) == 0
    assert capsys.readouterr().out == f"{file}\n{TABLE}"
    assert main(["show", "tests/test_other.py"]) == 1
    missing = Path("tests", "__jitperf__", "test_other.json")
    assert capsys.readouterr() == ("", f"jitperf: {missing} is not there; record it with  pytest --jitperf-update\n")


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, True),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": ""}, True),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_on_a_terminal_it_is_a_table_with_colours_unless_they_are_not_wanted(
    file: Path, variables: dict[str, str], coloured: bool
) -> None:
    pty = pytest.importorskip("pty")
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    master, slave = pty.openpty()
    script = "from pytest_jitperf.cli import main; raise SystemExit(main(['show']))"
    try:
        subprocess.run(
            [sys.executable, "-c", script], env={**plain, "TERM": "xterm", **variables}, stdout=slave, check=True
        )
        shown = os.read(master, 10_000).decode().replace("\r\n", "\n")
    finally:
        os.close(slave)
        os.close(master)

    assert shown.replace("\x1b[1m", "").replace("\x1b[0m", "") == f"{file}\n{TABLE}"
    assert ("\x1b[1m" in shown) == coloured


@pytest.mark.parametrize(
    "arguments",
    [["--table", "tests", "more"], ["tests", "--table", "more"], ["tests", "--table", "--", "more"], ["tests", "more"]],
    ids=" ".join,
)
def test_options_may_stand_anywhere_among_files(
    file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    Path("more").mkdir()
    Path("more", "a.json").write_bytes(file.read_bytes())

    assert main(["show", *arguments]) == 0
    shown = {line.split("\t")[0] for line in capsys.readouterr().out.splitlines()}
    assert {f"{file}", "more/a.json"} <= shown


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["show", "tests", "--tabel"], "--tabel"),
        (["show", "tests", "--json", "more", "--nosuch", "--", "tests"], "more --nosuch -- tests"),
        (["schema", "results", "more"], "more"),
    ],
)
def test_what_a_command_does_not_take_is_named(
    capsys: pytest.CaptureFixture[str], arguments: list[str], named: str
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert capsys.readouterr().err.endswith(f"error: unrecognized arguments: {named}\n")


def test_a_command_that_there_is_not_is_told_with_the_likely_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["shwo"])
    said = 'there is no command "shwo"; did you mean "show"? Valid: show, diff, history, prune, merge, update, '
    assert capsys.readouterr().err.endswith(f"jitperf: error: {said}report, schema\n")


def test_a_file_that_is_named_twice_is_shown_once(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--table", "tests", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}\n{TABLE}"


def test_a_baseline_directory_is_found_by_what_its_files_say(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = Path("ci", "cpu", "test_step.json")
    moved.parent.mkdir(parents=True)
    file.rename(moved)
    (moved.parent / "foreign.json").write_text("{}", encoding="utf-8")

    assert main(["show", "--table", "ci"]) == 0
    assert capsys.readouterr() == (f"{moved}\n{TABLE}", "")


def test_show_as_json_gives_keys_and_entries(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--json"]) == 0

    stored = json.loads(file.read_bytes())["tests"]["test_step"]
    key = {"test": "test_step", "device_kind": "cpu"}
    assert json.loads(capsys.readouterr().out) == {
        file.as_posix(): [
            {**key, "measurement": "main", "strategy": "outer", "entry": stored["main"]["outer"]["cpu"]},
            {**key, "measurement": "warm", "strategy": "eager", "entry": stored["warm"]["eager"]["cpu"]},
        ]
    }


def test_an_entry_that_cannot_be_used_is_named_with_its_reason(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(file, exact={"peak_bytes": "many"})

    assert main(["show", "--table"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines()[2].split() == ["test_step", "outer", "cpu", "unusable"]
    assert err.startswith(f"jitperf: {file}, test_step / outer / cpu: exact.peak_bytes")

    assert main(["show", "--json"]) == 1
    first = json.loads(capsys.readouterr().out)[file.as_posix()][0]
    assert first["unusable"] in err


def test_a_damaged_file_does_not_hide_the_others(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "a.json").write_text("{", encoding="utf-8")

    assert main(["show", "--table"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == (f"{file}\n{TABLE}", 1)
    assert err.startswith(f"jitperf: {file.parent / 'a.json'}")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["show", "empty"], "jitperf: no baseline in empty; record one with  pytest --jitperf-update\n"),
        (["show", "nowhere"], "jitperf: nowhere does not exist; give a baseline file or a folder\n"),
        (["prune", "empty"], "jitperf: no baseline in empty, so there is nothing to prune\n"),
    ],
)
def test_where_there_is_nothing_to_do_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()

    assert main(command) == 2
    assert capsys.readouterr() == ("", said)


def test_prune_removes_what_no_entry_refers_to(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spare = pack(b"spare")
    store(file.parent, spare)

    assert main(["prune", "--dry-run", "--table"]) == 0
    assert capsys.readouterr().out == f"{file.parent}: 1 program would be removed\n  {artifact_name(spare)}\n"
    assert main(["prune", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {file.parent.as_posix(): [artifact_name(spare)]}
    assert main(["prune", "--dry-run"]) == 0
    assert capsys.readouterr() == (f"{file.parent}\t{artifact_name(spare)}\n", "")
    assert len(list(program_directory(file.parent).glob("*.jaxexport"))) == 2

    assert main(["prune", "--table"]) == 0
    assert capsys.readouterr() == (f"{file.parent}: 1 program removed\n  {artifact_name(spare)}\n", "")
    assert [each.name for each in program_directory(file.parent).glob("*.jaxexport")] == [artifact_name(PACKED)]

    file.unlink()
    assert main(["prune", "--table", "tests"]) == 0
    assert main(["prune", "--table", str(file.parent)]) == 0
    assert capsys.readouterr().out == (
        f"{file.parent}: 1 program removed\n  {artifact_name(PACKED)}\n{file.parent}: 0 programs removed\n"
    )


def test_nothing_is_removed_while_a_file_cannot_be_read(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spare = pack(b"spare")
    store(file.parent, spare)
    (file.parent / "a.json").write_text("{", encoding="utf-8")

    assert main(["prune"]) == 1
    out, err = capsys.readouterr()
    assert (out, err.startswith(f"jitperf: {file.parent}: nothing removed: {file.parent / 'a.json'}")) == ("", True)
    assert (program_directory(file.parent) / artifact_name(spare)).exists()


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["--version"], 0), ([], 2), (["shwo"], 2)])
def test_help_and_mistakes_end_as_is_usual(capsys: pytest.CaptureFixture[str], arguments: list[str], code: int) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)

    assert stopped.value.code == code
    out = capsys.readouterr().out
    assert (out == f"pytest-jitperf {version('pytest-jitperf')}\n") == (arguments == ["--version"])


@pytest.mark.parametrize("command", ["show", "diff", "history", "prune"])
def test_each_command_says_what_its_exit_codes_and_lines_are(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])

    out = capsys.readouterr().out
    assert "--json" in out
    assert "--table" in out
    assert "Exit codes: 0" in out
    assert "fields separated by tabs" in out
    assert max(map(len, out.splitlines())) <= 110


def test_an_interrupted_command_leaves_no_traceback(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_jitperf.commands.show.read", interrupt)
    assert main(["show"]) == 130


def test_names_that_the_terminal_cannot_show_are_escaped(file: Path, record: Callable[..., Entry]) -> None:
    names = ("test_größe", "test_größe[\n]")
    update(file, {Key(test=name, strategy="outer", device_kind="cpu"): record(program=None) for name in names})

    shown = subprocess.run(
        [sys.executable, "-c", "from pytest_jitperf.cli import main; raise SystemExit(main(['show', '--table']))"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )

    assert [line.split()[0] for line in shown.stdout.splitlines()[2:4]] == [
        rb"test_gr\xf6\xdfe",
        rb"test_gr\xf6\xdfe[\n]",
    ]


def test_a_reader_that_has_seen_enough_is_no_error(file: Path) -> None:
    script = "from pytest_jitperf.cli import main; raise SystemExit(main(['show'] + ['tests']))"
    reader, writer = os.pipe()
    os.close(reader)

    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}

    with os.fdopen(writer, "wb") as closed:
        shown = subprocess.run(
            [sys.executable, "-c", script], env=buffered, stdout=closed, stderr=subprocess.PIPE, check=False
        )

    assert (shown.returncode, shown.stderr) == (0, b"")
