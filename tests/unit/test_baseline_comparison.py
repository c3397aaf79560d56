"""Two states of baselines side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.changes import Difference, differences
from pytest_jitperf.baseline.comparison import EntryChange, Place, Snapshot, compare, surroundings, take
from pytest_jitperf.baseline.model import Entry, StoredProgram, to_json
from pytest_jitperf.baseline.store import Baseline, Key, Unusable
from pytest_jitperf.measurement import Sample
from pytest_jitperf.units import Unit

OTHER = StoredProgram(fingerprint="sha256:" + "b" * 64)


def place(test: str, file: str = "a.json") -> Place:
    return Place(file, Key(test=test, strategy="outer", device_kind="cpu"))


def side(name: str, entries: Mapping[str, Entry]) -> Snapshot:
    return Snapshot(name=name, entries={place(test): entry for test, entry in entries.items()})


def baseline(path: str, tests: dict[str, Any]) -> Baseline:
    nested = {test: {"main": {"outer": {"cpu": entry}}} for test, entry in tests.items()}
    return Baseline(path=Path(path), document={"tests": nested})


def slower(entry: Entry, factor: float) -> Entry:
    old = entry.timed["run"]
    new = Sample(median=old.median * factor, low=old.low * factor, high=old.high * factor, rounds=old.rounds)
    return replace(entry, timed={**entry.timed, "run": new})


def test_what_moved_most_comes_first_then_programs_circumstances_and_what_came_and_went(
    record: Callable[..., Entry],
) -> None:
    plain: Entry = record()
    machine = replace(plain.environment, machine="another")
    old = dict.fromkeys(("same", "bit", "lot", "less", "program", "machine", "gone"), plain)
    new = {
        **old,
        "bit": slower(plain, 1.2),
        "lot": slower(plain, 3.0),
        "less": slower(plain, 0.5),
        "program": replace(slower(plain, 1.01), program=OTHER),
        "machine": replace(plain, environment=machine),
        "came": plain,
    }
    del new["gone"]

    found = compare(side("old", old), side("new", new))

    assert [(each.place.key.test, each.state, each.numbers_moved, each.program_changed) for each in found] == [
        ("lot", "changed", True, False),
        ("less", "changed", True, False),
        ("bit", "changed", True, False),
        ("program", "changed", False, True),
        ("machine", "changed", False, False),
        ("came", "added", False, False),
        ("gone", "removed", False, False),
    ]
    assert [each.size for each in found[:3]] == pytest.approx([math.log(3), math.log(2), math.log(1.2)])
    assert surroundings(found) == (("machine two cores -> another", 1),)


def test_equal_sides_do_not_differ(record: Callable[..., Entry]) -> None:
    assert compare(side("old", {"a": record()}), side("new", {"a": record()})) == ()


def test_only_the_spread_of_timings_is_a_difference_of_no_kind(record: Callable[..., Entry]) -> None:
    plain: Entry = record()
    spread = replace(plain, timed={**plain.timed, "run": replace(plain.timed["run"], rounds=10)})

    assert compare(side("old", {"a": plain}), side("new", {"a": spread})) == (
        EntryChange(place=place("a"), state="changed"),
    )


def test_of_what_cannot_be_used_on_one_side_nothing_is_said(record: Callable[..., Entry]) -> None:
    good = to_json(record())
    bad = {**good, "exact": {"flops": "many"}}
    old = take("old", {"a.json": baseline("a.json", {"x": good, "y": good}), "b.json": baseline("b.json", {"z": good})})
    new = take("new", {"a.json": baseline("a.json", {"x": bad, "y": good}), "b.json": Unusable("b.json is cut off")})

    assert compare(old, new) == compare(new, old) == ()
    assert old.wrong == ()
    assert new.wrong == (
        "b.json is cut off",
        'a.json, x / outer / cpu: exact.flops is "many", expected a finite number of 0 or more; restore it from '
        "version control, or record it again with pytest --jitperf-update",
    )


@pytest.mark.parametrize(
    ("change", "moved"),
    [
        ({"run": (1.2e-3, 1.1e-3, 1.3e-3)}, None),
        ({"run": (1.4e-3, 1.2e-3, 1.5e-3)}, False),  # quartiles overlap
        ({"run": (1.31e-3, 1.305e-3, 1.315e-3)}, False),  # beyond them, and within 10 %
        ({"run": (1.34e-3, 1.33e-3, 1.35e-3)}, True),
        ({"run": (0.9e-3, 0.89e-3, 0.91e-3)}, True),
        ({"trace_cpu": (0.0075, 0.0075, 0.0075)}, False),  # compiling may take 25 % more
        ({"trace_cpu": (0.0076, 0.0076, 0.0076)}, True),
        ({"compile": (0.08, 0.08, 0.08)}, False),  # taken once
    ],
)
def test_a_timing_moved_where_more_than_noise_says_so(
    record: Callable[..., Entry], change: dict[str, tuple[float, float, float]], moved: bool | None
) -> None:
    ((name, (median, low, high)),) = change.items()
    run = Sample(median=1.2e-3, low=1.1e-3, high=1.3e-3, rounds=9)
    old = replace(record(), timed={**record().timed, "run": run})
    sample = Sample(median=median, low=low, high=high, rounds=9)
    new = replace(old, timed={**old.timed, name: sample})

    assert [each.moved for each in differences(old, new) if each.name == name] == ([] if moved is None else [moved])


def test_wall_time_of_compiling_says_nothing_beside_its_cpu_time(record: Callable[..., Entry]) -> None:
    cpu = Sample(median=0.04, low=0.04, high=0.04, rounds=5)
    old = replace(record(), timed={**record().timed, "compile_cpu": cpu})
    wall, slow = (Sample(median=each, low=each, high=each, rounds=5) for each in (0.05, 0.2))
    plain, both = replace(record(), timed={"compile": wall}), replace(old, timed={"compile": wall, "compile_cpu": cpu})
    after = {"compile": slow}

    assert [each.moved for each in differences(plain, replace(plain, timed=after))] == [True]
    found = differences(both, replace(both, timed={**both.timed, **after}))
    assert [(each.text, each.moved) for each in found] == [("compile 50 ms -> 200 ms", False)]


@pytest.mark.parametrize(
    ("name", "old", "new", "size"),
    [
        ("launches", 1, 2, math.log(3 / 2)),  # a count of one more or less
        ("launches", 0, 1, math.log(2)),
        ("constant_bytes", 0, 8, math.log((2**16 + 8) / 2**16)),  # 64 KiB more would pass
        ("run", 1.0, 2.0, math.log(2)),
        ("run", 2.0, 1.0, math.log(2)),
        ("run", 0.0, 1.0, math.inf),
        ("run", None, 1.0, 0.0),
    ],
)
def test_small_amounts_are_small_changes(name: str, old: float | None, new: float, size: float) -> None:
    unit = Unit.SECONDS if name == "run" else Unit.BYTES if "bytes" in name else Unit.COUNT
    found = Difference(kind="number", text="", name=name, old=old, new=new, unit=unit, moved=True)

    assert found.size == pytest.approx(size)
    assert replace(found, moved=False).size == 0.0


def test_counts_that_vary_by_a_few_have_not_moved(record: Callable[..., Entry]) -> None:
    host = {"3.11/0.10.2": {"compilations": 1, "launches": 1, "trace_calls": 10_015, "host_calls": 3}}
    more = {"3.11/0.10.2": {**host["3.11/0.10.2"], "trace_calls": 10_100, "launches": 2}}
    plain: Entry = record()

    few, many = (differences(plain, replace(plain, host=each)) for each in (host, more))

    assert [(each.name, each.where, each.moved) for each in few] == [("trace_calls", "3.11/0.10.2", False)]
    assert [(each.name, each.moved, each.ratio) for each in many] == [
        ("launches", True, 2.0),
        ("trace_calls", True, 1.01),
    ]
