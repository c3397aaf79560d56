"""Results of several files as one: what stands side by side, and what replaces what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.errors import ResultsError
from pytest_jitperf.joining import join, refuse_mixed
from pytest_jitperf.measurement import Environment
from pytest_jitperf.results import Results, Unmeasured
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

MakeRow = Callable[..., Row]


@pytest.fixture(name="item")
def row_of_an_item(row: MakeRow, environment: Environment) -> MakeRow:
    """Makes the row of one item, which passed unless told otherwise."""

    def make(name: str = "test_a", **changes: Any) -> Row:
        plain = row(
            nodeid=f"tests/test_step.py::{name}[outer]",
            test=name,
            device="cpu",
            status="passed",
            environment=environment,
        )
        return replace(plain, **changes)

    return make


def found(*rows: Row, plugin: str = "1", mode: Any = "gate", without: Mapping[str, Status] | None = None) -> Results:
    items = tuple(Unmeasured(nodeid=nodeid, status=status) for nodeid, status in (without or {}).items())
    return Results(plugin=plugin, mode=mode, rows=rows, unmeasured=items)


def test_shards_make_the_whole_whatever_their_order(item: MakeRow) -> None:
    a, b, c = (item(f"test_{name}") for name in "abc")
    first, second = found(a, c, without={"z": Status.SKIPPED}), found(b, without={"y": Status.ERROR})
    whole = found(a, b, c, without={"y": Status.ERROR, "z": Status.SKIPPED})

    for given in ([("1", first), ("2", second)], [("2", second), ("1", first)]):
        joined = join(given)
        assert (joined.results, joined.conflicts) == (whole, ())


def test_one_file_stays_what_it_is(item: MakeRow) -> None:
    only = found(item(), without={"z": Status.FAILED})
    assert join([("1", only), ("1", only)]).results == join([("1", only)]).results == only
    assert join([("1", only), ("1", only)]).conflicts == ()


@pytest.mark.parametrize("absent_last", [False, True])
def test_an_attempt_that_measured_nothing_replaces_none_that_did(item: MakeRow, absent_last: bool) -> None:
    measured, absent = item(), item(outcome="no such device", status="skipped")
    given = [("1", found(absent)), ("2", found(measured))]

    joined = join(given[::-1] if absent_last else given)

    assert (joined.results.rows, joined.conflicts) == ((measured,), ())


def test_of_two_attempts_the_one_given_last_counts_and_the_other_is_told(item: MakeRow) -> None:
    failed = item(outcome="REGRESSED", status="failed", failed=True)
    passed = item(outcome="ok")

    joined = join([("a.json", found(failed)), ("b.json", found(passed))])

    assert joined.results == found(passed)
    assert joined.conflicts == (
        "tests/test_step.py::test_a[outer] on cpu: failed (REGRESSED) in a.json and passed (ok) in b.json; the last "
        "was taken",
    )
    assert join([("b.json", found(passed)), ("a.json", found(failed))]).results == found(failed)


def test_an_attempt_is_taken_whole(item: MakeRow) -> None:
    """A measurement that the rerun no longer has does not stay behind."""
    earlier = found(item(measurement="16"), item(measurement="8"))
    later = found(item(measurement="8", run=0.5))
    assert join([("a", earlier), ("b", later)]).results == later


@pytest.mark.parametrize(
    "difference",
    [
        {"device_kind": "NVIDIA H200"},
        {"device": "cpu:1"},
        {"environment": Environment(jax="0.10.2", jaxlib="0.10.2", python="3.12", platform="cpu")},
        {"environment": Environment(jax="0.11.0", jaxlib="0.10.2", python="3.11", platform="cpu")},
    ],
    ids=["device", "several of one kind", "Python", "jax"],
)
def test_legs_of_a_matrix_stand_side_by_side(item: MakeRow, difference: dict[str, Any]) -> None:
    here, there = item(), item(**difference)
    joined = join([("a", found(here)), ("b", found(there))])
    assert ({*map(str, joined.results.rows)}, joined.conflicts) == ({str(here), str(there)}, ())


def test_what_had_no_device_in_one_leg_is_what_was_measured_in_the_other(item: MakeRow) -> None:
    absent = item(outcome="no such device", device_kind="", device="gpu", environment=None, status="skipped")
    there = item(device="gpu", device_kind="NVIDIA H200")

    for given in ([("a", found(absent)), ("b", found(there))], [("b", found(there)), ("a", found(absent))]):
        assert join(given).results == found(there)
    assert join([("a", found(absent)), ("b", found(absent))]).results == found(absent)


def test_an_item_that_measured_nothing_gives_way_to_one_that_did(item: MakeRow) -> None:
    here = item()
    nodeid = here.nodeid
    skipped, broken = found(without={nodeid: Status.SKIPPED}), found(without={nodeid: Status.ERROR})

    # Skipped here, measured there: whatever comes first.
    assert join([("a", skipped), ("b", found(here))]).results == found(here)
    assert join([("b", found(here)), ("a", skipped)]).results == found(here)
    # An error is put right by a rerun alone.
    rerun = join([("a", broken), ("b", found(here))])
    assert rerun.results == found(here)
    assert rerun.conflicts == (f"{nodeid}: error in a without a measurement, measured in b; the latter was taken",)
    assert join([("b", found(here)), ("a", broken)]).results == found(here, without={nodeid: Status.ERROR})


def test_versions_of_the_plugin_are_all_named(item: MakeRow) -> None:
    joined = join([("a", found(plugin="2")), ("b", found(plugin="1")), ("c", found(plugin="2"))])
    assert joined.results.plugin == "1, 2"


def test_results_of_updates_and_of_gates_are_not_mixed() -> None:
    gate, update = found(), found(mode="update")
    refuse_mixed([("a", gate), ("b", gate)])
    refuse_mixed([("a", update)])
    with pytest.raises(ResultsError) as caught:
        refuse_mixed([("a.json", gate), ("b.json", update), ("c.json", gate)])
    assert str(caught.value) == (
        "b.json was recorded with --jitperf-update and a.json and c.json without it, so outcomes do not mean the same "
        "in them; join files of one kind"
    )
