"""The results of a run for other programs: written whatever happens, joined, and stored as baselines elsewhere."""

from __future__ import annotations

import getpass
import json
import platform
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.cli import main
from pytest_jitperf.results import Results
from pytest_jitperf.resultsfile import read
from pytest_jitperf.row import Row
from pytest_jitperf.schemas import results_schema

TESTS = """
@pytest.mark.jitperf(inner=[library.f], strategies=["eager", "outer", "inner"])
def test_g(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(strategies=["outer"], sizes={n: lambda n=n: (jnp.ones(n),) for n in (4, 8)})
def test_sizes(jitperf):
    jitperf(library.f)

@pytest.mark.jitperf(strategies=["outer"])
@pytest.mark.parametrize("n", [3, 5])
def test_f(jitperf, n):
    jitperf(library.f, jnp.ones(n))
"""

TWO = """
@pytest.mark.jitperf(strategies=["outer"])
def test_a(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_b(jitperf):
    jitperf(library.f, X)
"""

# Python calls vary by a few from process to process.
VARYING = {"trace_calls", "host_calls"}


def facts(row: Row) -> dict[str, Any]:
    """What is the same in every run of unchanged code: all but what was timed."""
    assert row.entry is not None
    return {
        **{name: getattr(row, name) for name in ("nodeid", "file", "line", "baseline", "sweep", "size", "extent")},
        **{name: getattr(row, name) for name in ("outcome", "effect", "status", "acceptable", "gated_by", "inputs")},
        **{name: getattr(row, name) for name in ("key", "helpers", "optimised", "environment")},
        "counts": {name: value for name, value in row.metrics.items() if name not in {*row.timed, *VARYING}},
        "varying": {name: round(row.metrics[name], -3) for name in VARYING & row.metrics.keys()},
        "programs": fingerprints(row.entry),
    }


def fingerprints(entry: Any) -> list[str]:
    programs = [*entry.get("helpers", {}).values(), *([entry["program"]] if "program" in entry else [])]
    return [each["fingerprint"] for each in programs]


def same(one: Results, other: Results) -> bool:
    assert list(map(facts, one.rows)) == list(map(facts, other.rows))
    assert (one.plugin, one.mode, one.unmeasured) == (other.plugin, other.mode, other.unmeasured)
    return True


@pytest.fixture(name="folder")
def where_it_runs(project: Any) -> Path:
    path: Path = project.pytester.path
    return path


def stored(folder: Path) -> dict[str, bytes]:
    """Every file of the baselines, programs too."""
    files = sorted((folder / "__jitperf__").rglob("*"))
    return {each.relative_to(folder).as_posix(): each.read_bytes() for each in files if each.is_file()}


def test_shards_joined_are_the_whole(project: Any, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project.write_tests(TESTS)
    project.record()
    project.quick_run("--jitperf-json=whole.json").assert_outcomes(passed=6)
    project.quick_run("--jitperf-json=a.json", "-k", "test_f or eager").assert_outcomes(passed=3, deselected=3)
    project.quick_run("--jitperf-json=b.json", "-k", "not (test_f or eager)").assert_outcomes(passed=3, deselected=3)
    capsys.readouterr()

    assert main(["merge", "b.json", "a.json", "-o", "joined.json"]) == 0

    assert capsys.readouterr() == ("joined.json: 7 measurements of 2 files\n", "")
    whole, joined = read(folder / "whole.json"), read(folder / "joined.json")
    assert len({row.nodeid for row in whole.rows}) == 6
    assert {row.outcome for row in whole.rows} == {"reference", "ok (same program)"}
    assert same(joined, whole)


def test_the_controller_of_xdist_writes_those_of_all_workers(project: Any, folder: Path) -> None:
    pytest.importorskip("xdist")
    project.write_tests(TESTS)
    project.quick_run("--jitperf-json=serial.json").assert_outcomes(passed=6)
    result = project.run("-n", "2", "--dist", "worksteal", "--jitperf-json=parallel.json")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["results written to parallel.json"])
    assert same(read(folder / "parallel.json"), read(folder / "serial.json"))


def test_results_hold_to_their_schema_and_say_nothing_of_the_machine(project: Any, folder: Path, library: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    project.write_tests(
        """
        @pytest.mark.jitperf(inner=[library.f], strategies=["eager", "outer", "inner"])
        def test_g(jitperf):
            jitperf(library.g, X)

        @pytest.mark.jitperf(strategies=["outer"])
        def test_fails(jitperf):
            assert jitperf(library.f, X) is None

        @pytest.mark.jitperf(strategies=["outer"])
        def test_breaks(jitperf):
            assert X is None

        @pytest.mark.jitperf(devices=["tpu:7"], strategies=["outer"])
        def test_elsewhere(jitperf):
            jitperf(library.f, X)

        @pytest.mark.jitperf(strategies=["outer"], peak_bytes="1 B")
        def test_over_budget(jitperf):
            jitperf(library.f, X)
        """
    )
    project.quick_run("--jitperf-update")
    # What is said of a program that changed and of which the old one is missing names its path.
    project.write_library(library.replace("2 * x", "3 * x"))
    for program in (folder / "__jitperf__" / "programs").glob("*.jaxexport"):
        program.unlink()
    project.quick_run("--jitperf-json=r.json").assert_outcomes(passed=3, failed=3, skipped=1)

    text = (folder / "r.json").read_text(encoding="utf-8")

    jsonschema.Draft202012Validator(results_schema()).validate(json.loads(text))
    results = read(folder / "r.json")
    assert [(row.nodeid.partition("::")[2], row.status, row.acceptable) for row in results.rows] == [
        ("test_elsewhere[outer-tpu:7]", "skipped", False),
        ("test_fails[outer]", "failed", False),
        ("test_g[eager]", "passed", True),
        ("test_g[inner]", "passed", True),
        ("test_g[outer]", "passed", True),
        ("test_over_budget[outer]", "failed", False),
    ]
    assert [(each.nodeid, each.status.value) for each in results.unmeasured] == [
        ("test_g.py::test_breaks[outer]", "failed")
    ]
    assert "the stored program __jitperf__/programs/" in text
    # Programs are packed: any short word may be among their letters.
    told = json.dumps({**json.loads(text), "programs": {}})
    for private in (str(folder), str(Path.home()), platform.node(), f"/{getpass.getuser()}/"):
        assert re.search(rf"(?<!\w){re.escape(private)}(?!\w)", told) is None


@pytest.mark.parametrize("how", ["-x", "Ctrl-C"])
def test_they_are_written_when_a_run_is_stopped(project: Any, folder: Path, how: str) -> None:
    stop = "raise KeyboardInterrupt" if how == "Ctrl-C" else "assert X is None"
    project.write_tests(TWO.replace("def test_b(jitperf):", f"def test_b(jitperf):\n    {stop}"))
    project.run("--jitperf-json=r.json", "-x")
    assert [row.nodeid for row in read(folder / "r.json").rows] == ["test_g.py::test_a[outer]"]


def test_a_shard_without_a_marked_test_has_results_too(project: Any, folder: Path) -> None:
    project.write_tests("def test_ordinary():\n    pass\n")
    result = project.quick_run("--jitperf-json=r.json")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["results written to r.json"])
    result.stdout.no_fnmatch_line("*= jitperf: *")
    assert (read(folder / "r.json").rows, read(folder / "r.json").unmeasured) == ((), ())


@pytest.mark.parametrize("option", ["--collect-only", "--jitperf-disable"])
def test_nothing_is_written_where_nothing_is_measured(project: Any, folder: Path, option: str) -> None:
    project.write_tests(TWO)
    result = project.quick_run("--jitperf-json=r.json", option)
    assert result.ret == pytest.ExitCode.OK
    assert not (folder / "r.json").exists()


def test_the_ini_file_can_ask_for_them(project: Any, folder: Path) -> None:
    project.write_tests("def test_ordinary():\n    pass\n")
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_json = r.json\n")
    project.quick_run().assert_outcomes(passed=1)
    assert (folder / "r.json").is_file()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--jitperf-json=no/r.json"],
            '--jitperf-json="no/r.json": there is no directory *no; make it, or give another *',
        ),
        (["--jitperf-json=."], '--jitperf-json=".": it is a directory; give a file'),
        (
            ["--jitperf-guide-file=r", "--jitperf-json=./r"],
            '--jitperf-json="./r": --jitperf-guide-file names the same file; give each its own',
        ),
        (["--jitperf-json="], '--jitperf-json="" is empty; give PATH, or leave it out'),
    ],
)
def test_a_path_that_cannot_be_written_stops_the_run_before_any_test(
    project: Any, options: list[str], said: str
) -> None:
    result = project.quick_run(*options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: jitperf: {said}"])
    result.stdout.no_fnmatch_line("*passed*")


def test_a_file_that_can_no_longer_be_written_at_the_end_is_an_error(project: Any) -> None:
    project.write_tests(TWO + "\n    import os\n    os.mkdir('r.json')\n")
    result = project.quick_run("--jitperf-json=r.json")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR the results could not be written: r.json: Is a directory"])


def test_paths_are_relative_to_the_root_directory_wherever_pytest_was_started(
    project: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sub").mkdir()
    (folder / "test_g.py").unlink()
    (folder / "sub" / "test_s.py").write_text(
        "import jax.numpy as jnp\nimport pytest\nimport library\nX = jnp.ones(8)\n" + TWO
    )
    monkeypatch.chdir(folder / "sub")

    project.quick_run("--jitperf-json=r.json").assert_outcomes(passed=2)

    assert [(row.file, row.baseline, row.nodeid) for row in read(folder / "sub" / "r.json").rows] == [
        ("sub/test_s.py", "sub/__jitperf__/test_s.json", f"sub/test_s.py::test_{name}[outer]") for name in "ab"
    ]


def test_what_an_update_wrote_is_written_again_from_its_results(project: Any, folder: Path) -> None:
    """To the byte, programs and all, in a project where nothing is stored yet."""
    project.write_tests(TESTS)
    project.record("--jitperf-json=r.json")
    in_place = stored(folder)
    shutil.rmtree(folder / "__jitperf__")

    assert main(["update", "--from", "r.json"]) == 0

    assert stored(folder) == in_place
    assert len(in_place) > 3


def test_a_run_that_compared_can_be_stored_later(
    project: Any, folder: Path, library: str, slower: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipeline measures; whoever reviews accepts it, without measuring again."""
    project.record()
    project.write_library(slower)
    project.quick_run("--jitperf-json=r.json").assert_outcomes(passed=1, failed=1)
    before = stored(folder)
    (outer,) = (row for row in read(folder / "r.json").rows if row.strategy == "outer")
    assert (outer.outcome, outer.status, outer.acceptable) == ("REGRESSED", "failed", True)
    capsys.readouterr()

    assert main(["update", "--from", "r.json"]) == 0

    said = capsys.readouterr().out
    assert "  test_g / outer / cpu:\n    program changed\n" in said
    assert "    run " in said.partition("test_g / outer / cpu:")[2]
    assert stored(folder).keys() > before.keys()
    project.quick_run("--jitperf-strict").assert_outcomes(passed=2)
    project.write_library(library)


def test_entries_of_other_devices_keep_their_bytes(project: Any, folder: Path) -> None:
    project.write_tests(TWO)
    project.record("--jitperf-json=r.json")

    def elsewhere(tests: dict[str, Any]) -> None:
        for test in tests.values():
            test["main"]["outer"] = {"NVIDIA H200": test["main"]["outer"]["cpu"]}

    other = json.loads(project.edit_baseline(elsewhere))["tests"]

    assert main(["update", "--from", "r.json"]) == 0

    now = json.loads(project.baseline.read_bytes())["tests"]
    assert sorted(now["test_a"]["main"]["outer"]) == ["NVIDIA H200", "cpu"]
    for test in now.values():
        del test["main"]["outer"]["cpu"]
    assert now == other


def test_a_baseline_directory_has_to_be_named_again(
    project: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write_tests(TWO)
    project.quick_run("--jitperf-json=r.json", "--jitperf-baseline-dir=ci").assert_outcomes(passed=2)
    capsys.readouterr()

    assert main(["update", "--from", "r.json"]) == 1
    assert capsys.readouterr() == (
        "",
        "jitperf: test_g.py was measured with its baseline as ci/test_g.json; give --baseline-dir as it was given "
        "there\n",
    )
    assert not (folder / "ci").exists()

    assert main(["update", "--from", "r.json", "--baseline-dir", "ci"]) == 0
    assert capsys.readouterr().out.startswith("ci/test_g.json: 2 written\n")
    project.quick_run("--jitperf-strict", "--jitperf-baseline-dir=ci").assert_outcomes(passed=2)


def test_a_rerun_replaces_what_failed(project: Any, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project.write_tests(
        TWO.replace("    jitperf(library.f, X)\n\n@", "    assert jitperf(library.f, X) is None\n\n@", 1)
    )
    project.quick_run("--jitperf-json=first.json").assert_outcomes(passed=1, failed=1)
    project.write_tests(TWO)
    project.quick_run("--jitperf-json=rerun.json", "-k", "test_a").assert_outcomes(passed=1, deselected=1)
    capsys.readouterr()

    assert main(["merge", "first.json", "rerun.json", "-o", "r.json"]) == 0

    assert capsys.readouterr().err == (
        "jitperf: test_g.py::test_a[outer] on cpu: failed (new) in first.json and passed (new) in rerun.json; the last "
        "was taken\n"
    )
    assert [(row.test, row.status) for row in read(folder / "r.json").rows] == [
        ("test_a", "passed"),
        ("test_b", "passed"),
    ]
