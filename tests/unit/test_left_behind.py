"""Entries and files that nothing measures any more, at the end of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, to_json
from pytest_jitperf.baseline.store import Key, read
from pytest_jitperf.baseline.update import update
from pytest_jitperf.row import Row
from pytest_jitperf.session import Gathered, Written

MakeRow = Callable[..., Row]
ADDRESS = "test_net[<Net object at 0x7f3b2c1d0e8{}>]"


@pytest.fixture(name="path")
def path_of_a_baseline(tmp_path: Path) -> Path:
    (tmp_path / "test_step.py").touch()
    return tmp_path / "__jitperf__" / "test_step.json"


@pytest.fixture(name="made")
def row_of_the_baseline(row: MakeRow, record: Callable[..., Entry], path: Path) -> MakeRow:
    def make(measurement: str = "main", **changes: Any) -> Row:
        entry = to_json(record(exact={"peak_bytes": 64}, program=None))
        return row(baseline=str(path), entry=entry, measurement=measurement, **changes)

    return make


@pytest.fixture
def store(record: Callable[..., Entry], path: Path) -> Callable[..., None]:
    """Writes entries of ``test_step`` under ``outer`` by the names of their measurements."""

    def write(*names: str, **changes: str) -> None:
        kept = record(exact={"peak_bytes": 64}, program=None)
        keys = {"test": "test_step", "strategy": "outer", "device_kind": "cpu", **changes}
        update(path, {Key(measurement=name, **keys): kept for name in names}, (), {})

    return write


def ended(rows: list[Row], *, outcome: str = "passed", judged: bool = False, **changes: Any) -> Written:
    """What a run does at its end in which one item measured the rows."""
    gathered = Gathered()
    gathered.add("a", "setup", outcome="passed", xfail=False, payload=None)
    payload = {"rows": [each.to_json() for each in rows], "judged": judged}
    gathered.add("a", "call", outcome=outcome, xfail=False, payload=payload)
    gathered.add("a", "teardown", outcome="passed", xfail=False, payload=None)
    collected: dict[str, dict[str, list[str]]] = changes.pop("collected", {})
    gathered.add_collected(collected)
    return gathered.write(**{"stored_times": False, "prune": False, "update_entries": False, **changes})


def names(path: Path) -> list[str]:
    return [key.measurement for key in read(path).keys]


def key(measurement: str) -> Key:
    return Key(test="test_step", measurement=measurement, strategy="outer", device_kind="cpu")


@pytest.mark.parametrize("how", [{}, {"outcome": "failed", "judged": True}], ids=["passed", "judged"])
def test_a_size_that_its_test_no_longer_has_is_named_and_removed_when_asked_for(
    made: MakeRow, store: Callable[..., None], path: Path, how: dict[str, Any]
) -> None:
    store("32", "64", "128")
    rows = [made("32"), made("64")]

    assert ended(rows, **how).unmeasured == {path: (key("128"),)}
    assert names(path) == ["128", "32", "64"]

    assert ended(rows, prune=True, **how).unmeasured == {}
    assert names(path) == ["32", "64"]


def test_a_test_that_did_not_come_to_its_end_may_have_measured_more(
    made: MakeRow, store: Callable[..., None], path: Path
) -> None:
    store("first", "second")

    assert ended([made("first")], outcome="failed", prune=True).unmeasured == {}
    assert names(path) == ["first", "second"]


@pytest.mark.parametrize("other", [{"device_kind": "NVIDIA H200"}, {"strategy": "both"}, {"test": "test_other"}])
def test_what_was_not_measured_on_this_device_or_under_this_strategy_is_not_missed(
    made: MakeRow, store: Callable[..., None], path: Path, other: dict[str, str]
) -> None:
    store("main")
    store("second", **other)

    assert (ended([made()], prune=True).unmeasured, sorted(names(path))) == ({}, ["main", "second"])


def test_an_id_that_changes_from_run_to_run_leaves_nothing_behind(
    made: MakeRow, store: Callable[..., None], path: Path
) -> None:
    store("main", test=ADDRESS.format(0))
    store("main", test="test_gone")
    now = ADDRESS.format(1)
    collected = {str(path): {now: ["outer"]}}

    written = ended([made(test=now)], update_entries=True, collected=collected)

    assert [each.test for each in read(path).keys] == ["test_gone", now]
    assert [[each.test for each in keys] for keys in written.orphans.values()] == [["test_gone"]]


def test_it_replaces_none_where_the_file_was_not_collected_whole(
    made: MakeRow, store: Callable[..., None], path: Path
) -> None:
    store("main", test=ADDRESS.format(0))

    ended([made(test=ADDRESS.format(1))], update_entries=True)

    assert len(read(path).keys) == 2


@pytest.mark.parametrize("prune", [False, True])
def test_a_damaged_baseline_without_a_test_file_is_told_and_is_an_error_for_pruning_alone(
    made: MakeRow, path: Path, prune: bool
) -> None:
    path.parent.mkdir()
    damaged = path.with_name("test_gone.json")
    damaged.write_bytes(b'{"format": ')

    written = ended([made()], collected={str(path): {"test_step": ["outer"]}}, prune=prune)

    assert (written.lost, [str(damaged) in each for each in written.errors]) == (
        ([], [True]) if prune else ([damaged], [])
    )
    assert damaged.read_bytes() == b'{"format": '


@pytest.mark.parametrize(
    ("files", "there", "update_entries", "expected"),
    [
        (["test_new"], [], False, "test_new"),
        (["test_new"], ["test_new"], False, None),  # it has a baseline of its own
        (["test_new", "test_other"], [], False, None),  # which of the two, nobody can say
        (["test_new"], [], True, None),  # what is written is the new baseline
        ([], [], False, None),
    ],
)
def test_of_a_test_file_that_was_renamed_the_new_name_is_known(
    store: Callable[..., None],
    path: Path,
    files: list[str],
    there: list[str],
    update_entries: bool,
    expected: str | None,
) -> None:
    store("main")
    (path.parent.parent / "test_step.py").unlink()
    others = {name: path.with_name(f"{name}.json") for name in ("test_new", "test_other", "test_third")}
    for name in there:
        others[name].write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    collected = {str(others[name]): {"test_step": ["outer"], "test_more": ["outer"]} for name in files}
    collected[str(others["test_third"])] = {"test_more": ["outer"]}

    written = ended([], collected=collected, update_entries=update_entries)

    assert written.renamed == ({path: others[expected]} if expected else {})
