"""Baselines from results that were recorded elsewhere: what is stored, and where nothing may ever be stored."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram, to_json
from pytest_jitperf.baseline.programs import artifact_name
from pytest_jitperf.baseline.store import Key, read
from pytest_jitperf.baseline.update import update
from pytest_jitperf.errors import BaselineError, ResultsError
from pytest_jitperf.measurement import Environment
from pytest_jitperf.recording import LeftOut, baseline_of, record
from pytest_jitperf.results import Results, Unmeasured
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

MakeRow = Callable[..., Row]
PROGRAM = b"a packed program"
NAME = artifact_name(PROGRAM)
KEY = Key(test="test_step", strategy="outer", device_kind="cpu")


@pytest.fixture(name="root")
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "tests").mkdir(parents=True)
    (root / "tests" / "test_step.py").write_text("", encoding="utf-8")
    return root


@pytest.fixture(name="recorded")
def row_that_may_be_stored(row: MakeRow, record: Callable[..., Entry], environment: Environment) -> MakeRow:
    def make(peak: int = 64, **changes: Any) -> Row:
        program = StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=NAME)
        host = changes.get("environment", environment).host_key
        entry = record(
            exact={"peak_bytes": peak},
            program=program,
            host={host: {"launches": 1}},
            environment=changes.get("environment", environment),
        )
        made = row(
            status="passed",
            acceptable=True,
            entry=to_json(entry),
            programs={NAME: base64.b64encode(PROGRAM).decode()},
            environment=environment,
        )
        return replace(made, **changes)

    return make


def of(*rows: Row, **unmeasured: Status) -> Results:
    items = tuple(Unmeasured(nodeid=nodeid, status=status) for nodeid, status in unmeasured.items())
    return Results(plugin="1", mode="gate", rows=rows, unmeasured=items)


def test_what_may_be_stored_is_with_its_program(recorded: MakeRow, root: Path) -> None:
    done = record(of(recorded()), root, None)

    file = root / "tests" / "__jitperf__" / "test_step.json"
    assert [(each.path, dict(each.changed), each.programs) for each in done.written.results] == [
        (file, {KEY: ("new",)}, (NAME,))
    ]
    assert (done.left_out, done.written.errors) == ((), [])
    assert read(file).keys == (KEY,)
    assert (file.parent / "programs" / NAME).read_bytes() == PROGRAM

    again = record(of(recorded()), root, None)
    assert [(dict(each.changed), each.unchanged) for each in again.written.results] == [({}, (KEY,))]


def test_entries_of_other_devices_keep_their_bytes(
    recorded: MakeRow, record_entry: Callable[..., Entry], root: Path
) -> None:
    file = root / "tests" / "__jitperf__" / "test_step.json"
    update(file, {KEY: record_entry(program=None)})
    before = read(file).document["tests"]["test_step"]["main"]["outer"]["cpu"]

    record(of(recorded(device_kind="NVIDIA H200")), root, None)

    kinds = read(file).document["tests"]["test_step"]["main"]["outer"]
    assert (kinds["cpu"], sorted(kinds)) == (before, ["NVIDIA H200", "cpu"])


@pytest.fixture(name="record_entry")
def entry_maker(record: Callable[..., Entry]) -> Callable[..., Entry]:
    return record


def test_legs_of_a_matrix_of_versions_each_add_their_counts(
    recorded: MakeRow, environment: Environment, root: Path
) -> None:
    record(of(recorded(), recorded(environment=replace(environment, python="3.12"))), root, None)

    entry = read(root / "tests" / "__jitperf__" / "test_step.json").entry("test_step", "main", "outer", "cpu")
    assert isinstance(entry, Entry)
    assert sorted(entry.host) == ["3.11/0.10.2", "3.12/0.10.2"]


def test_of_devices_of_one_kind_the_lowest_index_is_stored(recorded: MakeRow, root: Path) -> None:
    record(of(*(recorded(peak=index, device=f"cpu:{index}") for index in (10, 2, 11))), root, None)

    entry = read(root / "tests" / "__jitperf__" / "test_step.json").entry("test_step", "main", "outer", "cpu")
    assert isinstance(entry, Entry)
    assert entry.exact == {"peak_bytes": 2}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"acceptable": False, "status": "failed", "failed": True, "outcome": "OVER BUDGET"}, "failed (OVER BUDGET)"),
        ({"acceptable": False, "status": "failed"}, "failed"),
        ({"acceptable": False, "status": "xfailed"}, "xfailed"),
        ({"acceptable": False}, "its run was stopped before it ended"),
        ({"acceptable": False, "entry": None}, "nothing to store was recorded"),
        ({"acceptable": True, "entry": None}, "nothing to store was recorded"),
        (
            {"acceptable": False, "entry": None, "device_kind": "", "outcome": "no such device", "status": "skipped"},
            "no such device",
        ),
    ],
)
def test_what_may_not_be_stored_is_left_out_and_told(
    recorded: MakeRow, root: Path, changes: dict[str, Any], reason: str
) -> None:
    row = recorded(**changes)

    done = record(of(row, other=Status.ERROR), root, None)

    assert done.left_out == (
        LeftOut(nodeid=row.nodeid, reason=reason),
        LeftOut(nodeid="other", reason="not measured (error)"),
    )
    assert (done.written.results, done.written.errors, list(root.rglob("*.json"))) == ([], [], [])


@pytest.mark.parametrize(
    ("given", "place"),
    [("ci/cpu", "ci/cpu/tests/test_step.json"), ("{root}/../outside", "../outside/tests/test_step.json")],
)
def test_a_baseline_directory_that_is_given_is_used(recorded: MakeRow, root: Path, given: str, place: str) -> None:
    row = recorded(baseline="ci/cpu/tests/test_step.json")

    done = record(of(row), root, Path(given.format(root=root)))

    assert (done.written.errors, (root / place).is_file()) == ([], True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"baseline": "ci/cpu/tests/test_step.json"},
            "was measured with its baseline as ci/cpu/tests/test_step.json; *",
        ),
        ({"baseline": ""}, "tests/test_step.py was measured with its baseline outside of the root directory; *"),
        ({"baseline": "../x/__jitperf__/test_step.json"}, "* give --baseline-dir as it was given there"),
        ({"file": "tests/test_other.py"}, "tests/test_other.py is not in */project; run this in the root directory *"),
        ({"file": "../project/tests/test_step.py"}, '"../project/tests/test_step.py" is no path of a test file *'),
        ({"file": "tests/../../x.py"}, "* is no path of a test file within the root directory; nothing is written"),
        ({"file": "{root}/tests/test_step.py"}, "* is no path of a test file within *"),
        ({"file": "C:\\tests\\test_step.py"}, "* is no path of a test file within *"),
        ({"file": "..\\x.py"}, "* is no path of a test file within *"),
        ({"file": "/tests/test_step.py"}, "* is no path of a test file within *"),
        ({"file": "tests/test_step.txt"}, "* is no path of a test file within *"),
        ({"file": "tests/\0.py"}, "* is no path of a test file within *"),
        ({"file": ""}, "* is no path of a test file within *"),
    ],
)
def test_nothing_is_written_where_no_baseline_belongs(
    recorded: MakeRow, root: Path, changes: dict[str, Any], said: str
) -> None:
    from fnmatch import fnmatchcase

    changes = {name: value.replace("{root}", str(root)) for name, value in changes.items()}
    before = sorted(root.parent.rglob("*"))

    with pytest.raises((ResultsError, BaselineError)) as caught:
        baseline_of(recorded(**changes), root, None)
    done = record(of(recorded(**changes)), root, None)

    assert fnmatchcase(str(caught.value), f"*{said}"), str(caught.value)
    assert (done.written.errors, done.written.results) == ([str(caught.value)], [])
    assert sorted(root.parent.rglob("*")) == before


@pytest.mark.parametrize("link", ["tests/__jitperf__", "tests/__jitperf__/programs"])
def test_a_symbolic_link_does_not_lead_out_of_the_root(recorded: MakeRow, root: Path, link: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(outside)

    done = record(of(recorded()), root, None)

    assert len(done.written.errors) == 1
    assert "leads out of" in done.written.errors[0]
    assert list(outside.iterdir()) == []


def test_a_damaged_baseline_is_one_error_and_the_others_are_written(recorded: MakeRow, root: Path) -> None:
    (root / "tests" / "test_other.py").write_text("", encoding="utf-8")
    (root / "tests" / "__jitperf__").mkdir()
    damaged = root / "tests" / "__jitperf__" / "test_other.json"
    damaged.write_text("<<<<<<< ours", encoding="utf-8")
    other = recorded(file="tests/test_other.py", baseline="tests/__jitperf__/test_other.json")

    done = record(of(other, recorded()), root, None)

    assert [each.path.name for each in done.written.results] == ["test_step.json"]
    assert len(done.written.errors) == 1
    assert str(damaged) in done.written.errors[0]
    assert damaged.read_text(encoding="utf-8") == "<<<<<<< ours"
