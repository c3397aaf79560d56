"""A metric of an entry over the versions of its file, and the versions that changed it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.history import Series, metrics_of, series, unusable
from pytest_jitperf.baseline.model import Entry, StoredProgram, to_json
from pytest_jitperf.baseline.store import Baseline, Key
from pytest_jitperf.judge.trend import Trend, trend
from pytest_jitperf.measurement import Sample
from pytest_jitperf.units import Unit

KEY = Key(test="test_step", strategy="outer", device_kind="cpu")
OTHER = StoredProgram(fingerprint="sha256:" + "b" * 64)


def version(entry: Entry | dict[str, Any] | None) -> Baseline:
    """A file with one entry, or none."""
    stored = to_json(entry) if isinstance(entry, Entry) else entry
    tests: dict[str, Any] = {} if stored is None else {"test_step": {"main": {"outer": {"cpu": stored}}}}
    return Baseline(path=Path("a.json"), document={"tests": tests})


def timed(entry: Entry, seconds: float) -> Entry:
    return replace(entry, timed={"run": Sample(median=seconds, low=seconds, high=seconds, rounds=9)})


def only(versions: Sequence[Baseline | None], metric: str = "run") -> Series:
    (found,) = series(versions, metric)
    return found


def test_a_row_has_a_number_for_each_version_and_one_recording_for_equal_ones(record: Callable[..., Entry]) -> None:
    one, two = timed(record(), 1e-3), timed(record(), 2e-3)
    entries = [None, one, one, two, one, None]

    found = only([version(each) for each in entries])

    assert found == Series(
        key=KEY,
        metric="run",
        unit=Unit.SECONDS,
        timed=True,
        values=(None, 1e-3, 1e-3, 2e-3, 1e-3, None),
        recordings=found.recordings,
    )
    assert [(each.version, each.value) for each in found.recordings] == [(1, 1e-3), (3, 2e-3), (4, 1e-3)]
    assert not found.present


def test_the_same_median_with_another_spread_is_another_recording(record: Callable[..., Entry]) -> None:
    one = timed(record(), 1e-3)
    again = replace(one, timed={"run": replace(one.timed["run"], high=1.1e-3)})

    assert [each.version for each in only([version(one), version(again), version(again)]).recordings] == [0, 1]


def test_what_cannot_be_used_is_left_out_and_named(record: Callable[..., Entry]) -> None:
    good = timed(record(), 1e-3)
    versions = [version(good), version({"exact": 3}), None, version(good)]

    assert only(versions).values == (1e-3, None, None, 1e-3)
    assert [reason.split(";")[0] for reason in unusable(versions)] == [
        "a.json, test_step / outer / cpu: exact is 3, expected an object"
    ]


def test_counts_are_those_of_the_python_and_jax_that_recorded_the_entry(record: Callable[..., Entry]) -> None:
    entry: Entry = record(host={"3.10/0.10.2": {"launches": 7}, "3.11/0.10.2": {"launches": 1}})
    added = replace(entry, host={"3.13/0.12.0": {"launches": 5}})

    assert only([version(entry), version(added)], "launches").values == (1, 5)
    assert series([version(entry)], "trace_calls") == ()


def test_the_metrics_that_there_are_stand_in_the_order_of_tables(record: Callable[..., Entry]) -> None:
    entry: Entry = record(exact={"mine": 1, "flops": 2}, host={"3.11/0.10.2": {"launches": 1}})

    assert metrics_of([None, version(entry)]) == (
        "compile",
        "run",
        "launches",
        "flops",
        "lower_cpu",
        "mine",
        "trace_cpu",
    )


def changes(found: Trend) -> list[tuple[int, float, float, tuple[str, ...]]]:
    return [(each.version, each.old, each.new, each.circumstances) for each in found.changes]


def test_an_exact_metric_changes_with_each_value(record: Callable[..., Entry]) -> None:
    values = [8, 8, 16, 16, 8]
    entries = [record(exact={"peak_bytes": each}) for each in values]
    entries[2] = replace(entries[2], program=OTHER)
    entries[3] = replace(entries[3], program=OTHER)

    found = trend(only([version(each) for each in entries], "peak_bytes"))

    assert changes(found) == [(2, 8, 16, ("program changed",)), (4, 16, 8, ("program changed",))]
    assert (found.method, found.noise, found.enough) == ("each change of value", None, True)
    assert [each.ratio for each in found.changes] == [2.0, 0.5]


def test_the_same_program_does_not_change_its_run_time(record: Callable[..., Entry]) -> None:
    seconds = [1.00e-3, 1.03e-3, 0.98e-3, 1.01e-3, 1.50e-3, 1.53e-3, 1.49e-3]
    same = [timed(record(), each) for each in seconds]
    python = [replace(each, program=None) for each in same]
    no_export = [replace(each, program=StoredProgram(no_artifact="a Python callback")) for each in same]

    rows = [trend(only([version(each) for each in entries])) for entries in (same, python, no_export)]

    assert [[each.version for each in row.changes] for row in rows] == [[], [4], [4]]
    assert [row.changes[0].circumstances for row in rows[1:]] == [(), ()]


def test_calls_that_vary_by_a_few_do_not_change_but_many_few_do(record: Callable[..., Entry]) -> None:
    counts = [10_000, 10_045, 10_000, 10_048, 10_096]
    entries = [record(host={"3.11/0.10.2": {"trace_calls": each}}) for each in counts]

    found = trend(only([version(each) for each in entries], "trace_calls"))

    assert changes(found) == [(4, 10_000, 10_096, ("same program",))]


def test_from_nothing_there_is_no_ratio(record: Callable[..., Entry]) -> None:
    entries = [record(exact={"temp_bytes": each}) for each in (0, 8)]
    (change,) = trend(only([version(each) for each in entries], "temp_bytes")).changes
    assert (change.old, change.new, change.ratio) == (0, 8, None)


def test_a_timing_changes_with_its_level_at_the_version_that_recorded_it(record: Callable[..., Entry]) -> None:
    seconds = [1.00e-3, 1.03e-3, 0.98e-3, 1.01e-3, 1.50e-3, 1.53e-3, 1.49e-3]
    entries = [timed(record(), each) for each in seconds]
    for place in (4, 5, 6):
        environment = replace(entries[place].environment, machine="another")
        entries[place] = replace(entries[place], program=OTHER, environment=environment)
    # Each stays for one more commit, which changed another entry.
    versions = [version(each) for each in entries for _ in range(2)]

    found = trend(only(versions))

    assert changes(found) == [(8, 1.005e-3, 1.5e-3, ("program changed", "machine two cores -> another"))]
    assert (found.method, found.enough) == ("PELT, cost l1, on logarithms", True)
    assert found.noise == pytest.approx(0.05)


@pytest.mark.parametrize(("recordings", "enough"), [(1, False), (3, False), (4, True)])
def test_few_recordings_are_not_enough_for_a_timing(
    record: Callable[..., Entry], recordings: int, enough: bool
) -> None:
    versions = [version(timed(record(), (1 + place) * 1e-3)) for place in range(recordings)]
    assert trend(only(versions)).enough == enough


def test_a_timing_of_nothing_is_no_error(record: Callable[..., Entry]) -> None:
    versions = [version(timed(record(), each)) for each in (0.0, 1e-9, 0.0, 1e-9)]
    assert trend(only(versions)).changes == ()
