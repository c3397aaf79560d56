"""What a run gathers from its reports, and what it writes at the end."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram, entry_from_measurement, to_json
from pytest_jitperf.baseline.programs import artifact_name, pack, program_directory
from pytest_jitperf.baseline.store import Key, read
from pytest_jitperf.baseline.update import update
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.row import Row
from pytest_jitperf.session import Gathered
from pytest_jitperf.status import Status

MakeRow = Callable[..., Row]
KEY = Key(test="test_step", strategy="outer", device_kind="cpu")


@pytest.fixture(name="path")
def path_of_a_baseline(tmp_path: Path) -> Path:
    return tmp_path / "__jitperf__" / "test_step.json"


@pytest.fixture(name="recorded")
def row_that_records(row: MakeRow, record: Callable[..., Entry], path: Path) -> MakeRow:
    def make(peak: int = 64, **changes: Any) -> Row:
        entry = to_json(record(exact={"peak_bytes": peak}, program=None))
        return row(baseline=str(path), entry=entry, **changes)

    return make


def report(
    gathered: Gathered,
    nodeid: str,
    rows: list[Row],
    *,
    teardown: str = "passed",
    judged: bool = False,
    **changes: Any,
) -> None:
    """The reports of an item that passes, unless told otherwise of its call."""
    call = {"outcome": "passed", "xfail": False, **changes}
    worker = changes.get("worker", "")
    gathered.add(nodeid, "setup", outcome="passed", xfail=False, payload=None, worker=worker)
    gathered.add(nodeid, "call", payload={"rows": [each.to_json() for each in rows], "judged": judged}, **call)
    if teardown:
        gathered.add(nodeid, "teardown", outcome=teardown, xfail=False, payload=None, worker=worker)


def write(gathered: Gathered, **changes: bool) -> Any:
    return gathered.write(**{"stored_times": False, "prune": False, "update_entries": True, **changes})


def peaks(path: Path) -> dict[Key, Any]:
    baseline = read(path)
    return {key: baseline.document["tests"][key.test]["main"][key.strategy]["cpu"]["exact"] for key in baseline.keys}


def test_rows_of_items_that_passed_are_written(recorded: MakeRow, path: Path) -> None:
    gathered = Gathered()
    report(gathered, "a", [recorded()])

    written = write(gathered)

    assert [(each.path, dict(each.changed)) for each in written.results] == [(path, {KEY: ("new",)})]
    assert (peaks(path), written.orphans, written.errors) == ({KEY: {"peak_bytes": 64}}, {}, [])


@pytest.mark.parametrize(
    "how",
    [{"outcome": "failed"}, {"xfail": True}, {"teardown": ""}],
    ids=["failed or skipped", "expected to fail", "not finished"],
)
def test_rows_of_other_items_are_not(recorded: MakeRow, path: Path, how: dict[str, Any]) -> None:
    gathered = Gathered()
    report(gathered, "a", [recorded()], **how)

    assert (write(gathered).results, path.exists()) == ([], False)


@pytest.mark.parametrize("when", ["call", "teardown"])
def test_a_failing_subtest_or_teardown_keeps_an_item_from_being_written(
    recorded: MakeRow, path: Path, when: str
) -> None:
    gathered = Gathered()
    report(gathered, "a", [recorded()])
    gathered.add("a", when, outcome="failed", xfail=False, payload=None)

    assert (write(gathered).results, path.exists()) == ([], False)


def test_a_run_that_does_not_update_writes_nothing(recorded: MakeRow, path: Path) -> None:
    gathered = Gathered()
    report(gathered, "a", [recorded()])

    assert (write(gathered, update_entries=False).results, path.exists()) == ([], False)


def test_the_last_attempt_of_an_item_counts(recorded: MakeRow, path: Path) -> None:
    gathered = Gathered()
    report(gathered, "a", [recorded(peak=1)], outcome="failed")
    report(gathered, "a", [recorded(peak=2)])

    write(gathered)

    assert [each.to_json() for each in gathered.rows] == [recorded(peak=2, status="passed", acceptable=True).to_json()]
    assert peaks(path) == {KEY: {"peak_bytes": 2}}


@pytest.mark.parametrize(
    ("how", "status", "acceptable"),
    [
        pytest.param({}, "passed", True, id="passed"),
        pytest.param({"outcome": "failed", "judged": True}, "failed", True, id="failed by the comparison alone"),
        pytest.param({"outcome": "failed"}, "failed", False, id="failed in its body"),
        pytest.param({"outcome": "skipped", "xfail": True}, "xfailed", False, id="expected to fail"),
        pytest.param({"xfail": True}, "xpassed", False, id="passed though expected to fail"),
        pytest.param({"outcome": "skipped"}, "skipped", False, id="skipped"),
        pytest.param({"teardown": "failed"}, "error", False, id="failed in its teardown"),
        pytest.param({"outcome": "failed", "judged": True, "teardown": "failed"}, "error", False, id="in both"),
        pytest.param({"teardown": ""}, "passed", False, id="not finished"),
    ],
)
def test_a_row_says_how_its_item_ended_and_whether_an_update_may_store_it(
    recorded: MakeRow, how: dict[str, Any], status: str, acceptable: bool
) -> None:
    gathered = Gathered()
    regressed = Finding(outcome=Outcome.REGRESSED, sentence="run regressed")
    report(gathered, "a", [recorded(findings=(regressed,))], **how)

    assert [(each.status, each.acceptable) for each in gathered.rows] == [(status, acceptable)]


@pytest.mark.parametrize("outcome", [Outcome.OVER_BUDGET, Outcome.NOT_FASTER, Outcome.WRONG_RESULT])
def test_what_an_update_would_not_put_right_may_not_be_stored(recorded: MakeRow, outcome: Outcome) -> None:
    gathered = Gathered()
    findings = (
        Finding(outcome=outcome, sentence="worse than was asked for"),
        Finding(outcome=Outcome.REGRESSED, sentence="run regressed"),
    )
    report(gathered, "a", [recorded(findings=findings)], outcome="failed", judged=True)

    assert [each.acceptable for each in gathered.rows] == [False]


def test_what_was_not_recorded_may_not_be_stored(row: MakeRow) -> None:
    gathered = Gathered()
    report(gathered, "a", [row()])

    assert [(each.status, each.acceptable) for each in gathered.rows] == [("passed", False)]


def test_of_devices_of_one_kind_the_lowest_index_writes_their_entry(recorded: MakeRow, path: Path) -> None:
    gathered = Gathered()
    for index in (10, 2, 11):
        report(gathered, f"a[{index}]", [recorded(peak=index, device=f"cpu:{index}")])

    write(gathered)

    assert peaks(path) == {KEY: {"peak_bytes": 2}}


def test_programs_travel_with_their_entries(row: MakeRow, measure: Callable[..., Measurement], path: Path) -> None:
    measured = measure()
    assert measured.program is not None
    entry, files = entry_from_measurement(replace(measured, program=replace(measured.program, artifact=b"a program")))
    packed = {name: base64.b64encode(content).decode() for name, content in files.items()}
    gathered = Gathered()
    report(gathered, "a", [row(baseline=str(path), entry=to_json(entry), programs=packed)])

    write(gathered)

    assert {each.name: each.read_bytes() for each in (path.parent / "programs").glob("*.jaxexport")} == files


def test_entries_without_a_test_are_named_and_removed_when_asked_to(
    recorded: MakeRow, record: Callable[..., Entry], path: Path
) -> None:
    gone = Key(test="test_gone", strategy="outer", device_kind="cpu")
    other = Key(test="test_step", strategy="inner", device_kind="cpu")
    update(path, {key: record(program=None) for key in (KEY, gone, other)})
    gathered = Gathered()
    gathered.add_collected({str(path): {"test_step": ["outer"]}})

    named = write(gathered, update_entries=False)
    assert (named.results, named.orphans) == ([], {path: (gone, other)})
    assert set(peaks(path)) == {KEY, gone, other}

    pruned = write(gathered, update_entries=False, prune=True)
    assert ([each.removed for each in pruned.results], pruned.orphans) == ([(gone, other)], {})
    assert set(peaks(path)) == {KEY}


def test_a_test_is_there_if_any_process_collected_it(record: Callable[..., Entry], path: Path) -> None:
    update(path, {KEY: record(program=None)})
    gathered = Gathered()
    gathered.add_collected({str(path): {"test_step": ["outer"]}})
    gathered.add_collected({str(path): {"test_step": ["eager"], "test_other": ["outer"]}})

    assert write(gathered).orphans == {}


def test_a_damaged_file_is_one_error_and_the_others_are_written(recorded: MakeRow, path: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "__jitperf__" / "damaged.json"
    damaged.parent.mkdir()
    damaged.write_text("<<<<<<< ours", encoding="utf-8")
    gathered = Gathered()
    report(gathered, "a", [replace(recorded(), baseline=str(damaged)), recorded()])

    written = write(gathered)

    assert ([each.path for each in written.results], len(written.errors)) == ([path], 1)
    assert str(damaged) in written.errors[0]
    assert damaged.read_text(encoding="utf-8") == "<<<<<<< ours"


def test_items_without_a_row_are_counted(row: MakeRow) -> None:
    gathered = Gathered()
    assert (gathered.anything, gathered.unmeasured, gathered.knows("a")) == (False, {}, False)

    gathered.add("unmarked", "setup", outcome="passed", xfail=False, payload=None)
    assert not gathered.anything

    report(gathered, "a", [row()])
    report(gathered, "b", [])
    assert (gathered.anything, gathered.unmeasured, gathered.knows("a")) == (True, {"b": Status.PASSED}, True)


def test_reports_of_subtests_bring_their_items_rows_once(row: MakeRow) -> None:
    """Each report of an item carries all that was measured so far."""
    gathered = Gathered()
    gathered.add("a", "setup", outcome="passed", xfail=False, payload={"rows": []})
    first, second = row(measurement="n8").to_json(), row(measurement="n16").to_json()
    for rows in ([first], [first, second], [first, second]):
        gathered.add("a", "call", outcome="passed", xfail=False, payload={"rows": rows})

    assert [each.measurement for each in gathered.rows] == ["n8", "n16"]


def test_an_item_in_which_its_worker_died_is_not_measured_and_has_an_error(row: MakeRow) -> None:
    gathered = Gathered()
    report(gathered, "fine", [row()], worker="gw0")
    gathered.add("killed", "setup", outcome="passed", xfail=False, payload={}, worker="gw1")
    gathered.add("killed", "???", outcome="failed", xfail=False, payload=None)

    assert (gathered.anything, gathered.unmeasured) == (True, {"killed": Status.ERROR})


@pytest.fixture(name="with_program")
def row_that_stores_a_program(row: MakeRow, record: Callable[..., Entry], path: Path) -> MakeRow:
    def make(content: bytes, file: Path = path, **changes: Any) -> Row:
        packed = pack(content)
        program = StoredProgram(fingerprint=f"sha256:{content.hex():0>64}", artifact=artifact_name(packed))
        stored = {artifact_name(packed): base64.b64encode(packed).decode()}
        return row(baseline=str(file), entry=to_json(record(program=program)), programs=stored, **changes)

    return make


def written_of(*rows: Row, **changes: bool) -> Any:
    gathered = Gathered()
    for number, each in enumerate(rows):
        report(gathered, str(number), [each])
    return write(gathered, **changes)


def stored(path: Path) -> set[str]:
    return {each.name for each in program_directory(path.parent).glob("*.jaxexport")}


def test_an_update_names_the_programs_that_it_leaves_behind(with_program: MakeRow, path: Path) -> None:
    old, new = (artifact_name(pack(each)) for each in (b"old", b"new"))
    assert written_of(with_program(b"old")).unreferred == {}

    assert written_of(with_program(b"new")).unreferred == {path.parent: (old,)}
    # One that changes nothing is no news, and a run that only compares says nothing of what is stored.
    assert written_of(with_program(b"new")).unreferred == {}
    assert written_of(with_program(b"new"), update_entries=False).unreferred == {}
    assert stored(path) == {old, new}


def test_a_program_that_another_file_refers_to_is_not_left_behind(with_program: MakeRow, path: Path) -> None:
    written_of(with_program(b"old"), with_program(b"old", file=path.with_name("test_other.json")))

    assert written_of(with_program(b"new")).unreferred == {}


def test_pruning_removes_programs_too(with_program: MakeRow, path: Path) -> None:
    old, new = (artifact_name(pack(each)) for each in (b"old", b"new"))
    written_of(with_program(b"old"))

    written = written_of(with_program(b"new"), prune=True)

    assert (written.pruned, written.unreferred, stored(path)) == ({path.parent: (old,)}, {}, {new})


def test_pruning_removes_programs_where_nothing_is_updated(with_program: MakeRow, path: Path) -> None:
    old = artifact_name(pack(b"old"))
    written_of(with_program(b"old"))
    written_of(with_program(b"new"))
    gathered = Gathered()
    gathered.add_collected({str(path): {"test_step": ["outer"]}})

    assert write(gathered, prune=True, update_entries=False).pruned == {path.parent: (old,)}


@pytest.mark.parametrize("prune", [False, True])
def test_no_program_is_named_or_removed_while_a_baseline_beside_it_cannot_be_read(
    with_program: MakeRow, path: Path, prune: bool
) -> None:
    written_of(with_program(b"old"))
    path.with_name("test_other.json").write_bytes(b"{")

    written = written_of(with_program(b"new"), prune=prune)

    assert (written.unreferred, written.pruned, len(stored(path))) == ({}, {}, 2)
    assert [str(path.parent / "test_other.json") in each for each in written.errors] == [True] * prune
