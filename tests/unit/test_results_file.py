"""Results on their way out of a run and back: nothing lost, nothing of the machine in them, each damage named."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram, to_json
from pytest_jitperf.baseline.programs import artifact_name
from pytest_jitperf.errors import ResultsError
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Environment, HelperUse, Ratio, Sample
from pytest_jitperf.results import Results, Unmeasured, results_of
from pytest_jitperf.resultsfile import dump, parse, read
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

MakeRow = Callable[..., Row]
AGAIN = "make it again with pytest --jitperf-json"
ROOT = Path("/home/me/project")
PROGRAM = b"a packed program"
NAME = artifact_name(PROGRAM)
OPEN = Ratio(estimate=math.nan, low=0.0, high=math.inf, rounds=1, seconds=0.1, decided=False, first=1.5)


@pytest.fixture(name="entry")
def entry_with_a_program(record: Callable[..., Entry]) -> dict[str, Any]:
    return to_json(record(program=StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=NAME)))


@pytest.fixture(name="full")
def row_without_a_default(environment: Environment, entry: dict[str, Any]) -> Row:
    return Row(
        nodeid="tests/test_step.py::test_step[64-outer]",
        baseline="tests/__jitperf__/test_step.json",
        file="tests/test_step.py",
        line=7,
        test="test_step[64]",
        measurement="warm/64",
        strategy="outer",
        device="cpu:0",
        device_kind="cpu",
        jax="0.10.2",
        environment=environment,
        inputs="x: f32[64]",
        outcome="REGRESSED",
        effect="fail",
        status="failed",
        acceptable=True,
        note="run x1.22",
        findings=(
            Finding(
                outcome=Outcome.REGRESSED,
                sentence="run regressed",
                metric="run",
                old=0.1,
                new=0.2,
                ratio=replace(OPEN, estimate=1.22, low=1.2, high=1.24),
                limit=1.1,
                rule="tolerance run=10 % (default)",
                short="run x1.22",
                insisted=True,
                helper="m.f(f32[8])",
            ),
        ),
        failure="run regressed: …\n  why   …",
        sweep="warm",
        size="64",
        extent=64.0,
        counted=True,
        compile=0.05,
        run=0.0012,
        waited=0.25,
        launches=1,
        optimised="digest",
        helpers=("m.f(f32[8])",),
        uses=(HelperUse(name="m.f", calls=3, signatures=1, extra=0.1, saved=0.3, extra_error=0.02, saved_error=0.01),),
        expected_calls=1_000,
        failed=True,
        gated_by="race",
        metrics={"run": 0.0012, "flops": 1e18},
        timed={"run": Sample(median=0.0012, low=0.0011, high=0.0013, rounds=9)},
        why=("the program changed",),
        notes=("it was jitted",),
        entry=entry,
        programs={NAME: base64.b64encode(PROGRAM).decode()},
        compiled=("f: f32[8]",),
        moved=True,
        aged="0.8.2",
        lost=("the stored program is not there",),
        compiles=4,
        compare_seconds=0.25,
        cut=("further pairs",),
    )


@pytest.fixture(name="results")
def results_with_everything(full: Row) -> Results:
    unmeasured = (Unmeasured(nodeid="tests/test_step.py::test_other[outer]", status=Status.SKIPPED),)
    return Results(plugin="1.2.3", mode="gate", rows=(full,), unmeasured=unmeasured, lines=("from a hook",))


def outside(rows: list[Row], **unmeasured: Status) -> Results:
    return results_of(rows, unmeasured, update=False, rootdir=ROOT, invocation_dir=ROOT / "tests")


def test_everything_is_read_back(results: Results, full: Row, tmp_path: Path) -> None:
    unlike_default = {
        each.name
        for each in fields(Row)
        if (each.default_factory() if each.default_factory is not MISSING else each.default) != getattr(full, each.name)
    }
    assert unlike_default == {each.name for each in fields(Row)}, "a field of Row is not in this test"

    file = tmp_path / "results.json"
    file.write_bytes(dump(results))

    assert read(file) == results
    assert dump(read(file)) == file.read_bytes()


def test_the_form_has_a_line_for_each_measurement_and_programs_once(results: Results, full: Row) -> None:
    both = replace(results, rows=(full, replace(full, measurement="cold")))

    text = dump(both).decode()

    lines = text.splitlines()
    assert lines[:5] == [
        '{"format": "pytest-jitperf-results",',
        ' "version": 1,',
        ' "plugin": "1.2.3",',
        ' "mode": "gate",',
        ' "measurements": [',
    ]
    assert [line.startswith('  {"nodeid": "tests/test_step.py::test_step[64-outer]", ') for line in lines[5:7]] == [
        True
    ] * 2
    assert lines[7:] == [
        " ],",
        ' "unmeasured": [',
        '  {"nodeid": "tests/test_step.py::test_other[outer]", "status": "skipped"}',
        " ],",
        ' "lines": [',
        '  "from a hook"',
        " ],",
        ' "programs": {',
        f'  "{NAME}": "{base64.b64encode(PROGRAM).decode()}"',
        " }}",
    ]
    assert text.endswith("}\n")
    assert text.count(base64.b64encode(PROGRAM).decode()) == 1


def test_a_file_of_version_1_is_read_for_ever(row: MakeRow, environment: Environment) -> None:
    """Written by hand from the documented fields that cannot be missing."""
    old = {
        "format": "pytest-jitperf-results",
        "version": 1,
        "plugin": "0.1.0",
        "mode": "update",
        "measurements": [
            {
                "nodeid": "tests/test_step.py::test_step[outer]",
                "file": "tests/test_step.py",
                "baseline": "tests/__jitperf__/test_step.json",
                "test": "test_step",
                "measurement": "main",
                "strategy": "outer",
                "device": "cpu",
                "device_kind": "cpu",
                "outcome": "ok",
                "status": "passed",
                "run": 0.5,
                "timed": {"run": {"median": 0.5, "low": 0.5, "high": 0.5, "rounds": 9}},
                "environment": {"jax": "0.10.2", "jaxlib": "0.10.2", "python": "3.11", "platform": "cpu"},
                "of a later version": {},
            }
        ],
        "unmeasured": [],
        "programs": {},
        "of a later version": {},
    }

    found = parse(json.dumps(old).encode(), "r.json")

    expected = row(
        device="cpu",
        jax="",
        status="passed",
        compile=None,
        run=0.5,
        launches=None,
        environment=replace(environment, machine=""),
    )
    assert found == Results(plugin="0.1.0", mode="update", rows=(expected,))


def test_a_run_that_measured_nothing_has_results_too() -> None:
    empty = Results(plugin="1.2.3", mode="update")
    assert parse(dump(empty), "r.json") == empty


def test_an_interval_that_is_open_is_null_and_read_back_as_open(row: MakeRow) -> None:
    unbounded = Finding(outcome=Outcome.INCONCLUSIVE, sentence="run inconclusive", ratio=OPEN, new=math.inf)
    results = Results(
        plugin="1", mode="gate", rows=(row(status="passed", findings=(unbounded,), metrics={"flops": math.nan}),)
    )

    written = json.loads(dump(results), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    (finding,) = parse(dump(results), "r.json").rows[0].findings

    ratio = written["measurements"][0]["findings"][0]["ratio"]
    assert (ratio["estimate"], ratio["low"], ratio["high"], ratio["first"]) == (None, 0.0, None, 1.5)
    assert written["measurements"][0]["metrics"] == {}
    assert finding.ratio is not None
    assert math.isnan(finding.ratio.estimate)
    assert (replace(finding.ratio, estimate=1.0), finding.new) == (replace(OPEN, estimate=1.0), None)


def test_half_of_a_surrogate_pair_in_an_id_survives(row: MakeRow) -> None:
    results = Results(plugin="1", mode="gate", rows=(row(status="passed", test="test_step[\ud800é]"),))
    assert parse(dump(results), "r.json") == results
    assert "é" in dump(results).decode()


def test_paths_are_relative_to_the_root_directory(row: MakeRow) -> None:
    """Rows of a run have files as typed where pytest was started, and absolute baselines."""
    made = outside(
        [
            row(file="test_step.py", baseline=str(ROOT / "tests" / "__jitperf__" / "test_step.json")),
            row(
                file="../other/test_a.py", nodeid="other/test_a.py::test_a[outer]", baseline=str(ROOT / "ci" / "a.json")
            ),
            row(file="../../elsewhere/test_b.py", nodeid="../elsewhere/test_b.py::test_b[x/y]", baseline="/x/b.json"),
        ]
    )

    assert [(each.file, each.baseline, each.nodeid) for each in made.rows] == [
        ("other/test_a.py", "ci/a.json", "other/test_a.py::test_a[outer]"),
        ("test_b.py", "", "test_b.py::test_b[x/y]"),
        ("tests/test_step.py", "tests/__jitperf__/test_step.json", "tests/test_step.py::test_step[outer]"),
    ]


def test_texts_do_not_say_where_this_machine_keeps_things(
    row: MakeRow, monkeypatch: pytest.MonkeyPatch, environment: Environment
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    sentence = (
        "the stored program /home/me/project/tests/__jitperf__/programs/a is not there; see /home/me/project, "
        "/home/me/project2/a, /home/me/.cache/x, /home/metoo/b and /opt/home/me/c"
    )
    finding = Finding(outcome=Outcome.NOT_GATED, sentence=sentence, short="in /home/me")
    made = outside([row(findings=(finding,), failure=sentence, notes=(sentence,), environment=environment)]).rows[0]

    expected = (
        "the stored program tests/__jitperf__/programs/a is not there; see ., ~/project2/a, ~/.cache/x, /home/metoo/b "
        "and /opt/home/me/c"
    )
    assert (made.findings[0].sentence, made.findings[0].short) == (expected, "in ~")
    assert (made.failure, made.notes, made.environment) == (expected, (expected,), environment)


def test_who_has_no_home_directory_has_results_all_the_same(row: MakeRow, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the user of a container may be, whose number no list of users has."""

    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)

    assert outside([row(note=f"in {ROOT}/a")]).rows[0].note == "in a"


def test_rows_have_one_order_whatever_order_the_tests_ran_in(row: MakeRow) -> None:
    ordered = [
        row(file=file, nodeid=f"tests/{file}::{test}[{strategy}]", test=test, strategy=strategy, **size)
        for file in ("a.py", "b.py")
        for test in ("test_a", "test_b")
        for size in (
            {},
            {"sweep": "n", "extent": 8.0, "measurement": "8"},
            {"sweep": "n", "extent": 16.0, "measurement": "16"},
        )
        for strategy in ("eager", "outer")
    ]
    made = outside(list(reversed(ordered)), b=Status.ERROR, a=Status.SKIPPED)

    assert [(each.nodeid, each.measurement) for each in made.rows] == [
        (each.nodeid, each.measurement) for each in ordered
    ]
    assert [(each.nodeid, each.status) for each in made.unmeasured] == [("a", Status.SKIPPED), ("b", Status.ERROR)]


def damaged(results: Results, *path: str | int, value: Any) -> bytes:
    """The file with another value at a place."""
    document = json.loads(dump(results))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return json.dumps(document).encode()


def refusal(content: bytes) -> str:
    with pytest.raises(ResultsError) as caught:
        parse(content, "r.json")
    return str(caught.value)


def test_what_is_not_json_is_called_by_its_name(results: Results) -> None:
    good = dump(results)
    assert refusal(b"") == f"r.json is empty; {AGAIN}"
    column = 200 - good.index(b"  {") + 1
    assert refusal(good[:200]) == f"r.json, line 6, column {column}, is cut off; {AGAIN}"
    assert refusal(b"PK\x03\x04") == "r.json is a zip archive; unpack it"
    assert refusal(b"<<<<<<< ours\n" + good) == f"r.json, line 1, column 1, has git conflict markers; {AGAIN}"
    twice = good.replace(b'"version": 1,', b'"version": 1, "version": 1,')
    assert refusal(twice) == f'r.json, line 2, column 16, has the key "version" twice in one object; {AGAIN}'
    assert refusal(b"[" * 10_000) == f"r.json is nested too deeply to be results; {AGAIN}"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("version",),
            2,
            "r.json was written by a newer pytest-jitperf (version 2, this one reads 1); upgrade pytest-jitperf",
        ),
        (("version",), "1", f'r.json has version "1", expected 1; {AGAIN}'),
        (("version",), True, f"r.json has version true, expected 1; {AGAIN}"),
        (
            ("format",),
            "pytest-jitperf",
            'r.json is a baseline ("format": "pytest-jitperf"), expected results ("format": "pytest-jitperf-results"); '
            "give a file that pytest --jitperf-json has written",
        ),
        (
            ("format",),
            "other",
            'r.json holds no results: it has "format": "other" and not "format": "pytest-jitperf-results"; '
            "give a file that pytest --jitperf-json has written",
        ),
        (
            ("\ud800",),
            1,
            f'r.json has half of a surrogate pair ("\\ud800") where no text of a test stands; {AGAIN}',
        ),
        (("mode",), "x", f"r.json: mode: Invalid enum value 'x'; {AGAIN}"),
        (("measurements",), {}, f"r.json: measurements: Expected `array`, got `object`; {AGAIN}"),
        (("measurements", 0, "line"), "7", f"r.json: measurements[0].line: Expected `int`, got `str`; {AGAIN}"),
        (
            ("measurements", 0, "run"),
            True,
            f"r.json: measurements[0].run: Expected `float | null`, got `bool`; {AGAIN}",
        ),
        (
            ("measurements", 0, "findings", 0, "ratio", "low"),
            "x",
            f"r.json: measurements[0].findings[0].ratio.low: Expected `float`, got `str`; {AGAIN}",
        ),
        (
            ("measurements", 0, "entry", "timed", "run", "median"),
            -1,
            f"r.json: measurements[0].entry: timed.run.median is -1, expected a finite number of 0 or more; {AGAIN}",
        ),
        (
            ("measurements", 0, "status"),
            "pased",
            'r.json: measurements[0].status is "pased"; did you mean "passed"? Valid: passed, skipped, xfailed, '
            f"xpassed, failed, error. Written by a newer pytest-jitperf? Upgrade it, or {AGAIN}",
        ),
        (
            ("unmeasured", 0, "status"),
            "x",
            f"r.json: unmeasured[0].status: Invalid enum value 'x'; {AGAIN}",
        ),
        (
            ("programs",),
            {},
            f"r.json: measurements[0].entry names the program {NAME}, which the file does not hold; {AGAIN}",
        ),
        (("programs", "../x"), "", f'r.json: programs has "../x", which is not the name of a stored program; {AGAIN}'),
        (("programs", NAME), "=", f'r.json: programs["{NAME}"] is not base64; {AGAIN}'),
        (
            ("programs", NAME),
            base64.b64encode(b"another").decode(),
            f'r.json: programs["{NAME}"] is not what its name says (its sha256 differs); {AGAIN}',
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_path(results: Results, path: tuple[Any, ...], value: Any, said: str) -> None:
    assert refusal(damaged(results, *path, value=value)) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[]", f"r.json holds a list, expected an object; {AGAIN}"),
        (
            b"{}",
            'r.json holds no results: it lacks "format": "pytest-jitperf-results"; give a file that pytest '
            "--jitperf-json has written",
        ),
    ],
)
def test_other_json_is_refused(content: bytes, said: str) -> None:
    assert refusal(content) == said


def test_a_file_that_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    def said(path: Path) -> str:
        with pytest.raises(ResultsError) as caught:
            read(path)
        return str(caught.value).replace(str(tmp_path), "T")

    assert said(tmp_path / "r.json") == "T/r.json does not exist; give a file that pytest --jitperf-json has written"
    assert said(tmp_path) == "T is a directory, expected a results file; move it away"


def test_programs_hidden_in_a_measurement_are_not_taken(results: Results, full: Row) -> None:
    """Only what was checked against its name is ever stored."""
    content = damaged(results, "measurements", 0, "programs", value={NAME: "QUJD", "../../x": "QUJD"})
    assert parse(content, "r.json").rows == (full,)
