"""What an update makes of an entry that is there: nothing, a part, or all of the new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.merge import merge_entry
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.measurement import Environment, Sample

HERE, OTHER = "3.11/0.10.2", "3.12/0.11.0"
ONE, TWO = "1" * 32 + ".jaxexport", "2" * 32 + ".jaxexport"
PROGRAM = StoredProgram(fingerprint="sha256:" + "a" * 64, artifact=ONE)
CHANGED = StoredProgram(fingerprint="sha256:" + "b" * 64, artifact=TWO)
ENVIRONMENT = Environment(jax="0.10.2", jaxlib="0.10.2", python="3.11", platform="cpu", machine="mine")
UPGRADED = replace(ENVIRONMENT, jax="0.11.0", jaxlib="0.11.0", python="3.12", platform_version="2")
LATER = replace(UPGRADED, jax="0.12.0", jaxlib="0.12.0")
OLD = Entry(
    inputs="x: f32[8]",
    program=PROGRAM,
    helpers={"f": StoredProgram(fingerprint="sha256:" + "c" * 64, artifact=ONE, exact={"flops": 8})},
    exact={"peak_bytes": 64, "flops": 16},
    timed={"run": Sample(median=3.0, low=2.9, high=3.1, rounds=9)},
    relative={"trace": 3.2},
    host={HERE: {"trace_calls": 1000, "launches": 1}},
    environment=ENVIRONMENT,
)
# Measured again: the timings of unchanged code never come out the same.
JITTER = replace(
    OLD,
    timed={"run": Sample(median=3.05, low=2.95, high=3.2, rounds=7)},
    relative={"trace": 3.4},
    environment=replace(ENVIRONMENT, machine="yours"),
)
SLOWER = replace(JITTER, timed={"run": Sample(median=4.0, low=3.9, high=4.1, rounds=7)})


def counted(entry: Entry, **counts: Mapping[str, int]) -> Entry:
    return replace(entry, host={{"here": HERE, "other": OTHER}[key]: value for key, value in counts.items()})


def test_an_entry_that_is_not_there_yet_is_taken_whole() -> None:
    assert merge_entry(None, OLD) is OLD


@pytest.mark.parametrize("new", [OLD, JITTER, SLOWER])
def test_unchanged_code_leaves_the_entry_as_it_is_whatever_was_timed(new: Entry) -> None:
    assert merge_entry(OLD, new) is OLD


@pytest.mark.parametrize(
    "new",
    [
        replace(JITTER, inputs="x: f32[9]"),
        replace(JITTER, program=CHANGED),
        replace(JITTER, program=None),
        replace(JITTER, program=replace(PROGRAM, inputs="y: f32[9]")),
        replace(JITTER, inputs="x: f32[8]; y: f32[3]"),
        replace(JITTER, inputs="y: f32[8]", program=CHANGED),
        replace(JITTER, helpers={}),
        replace(JITTER, helpers={**JITTER.helpers, "g": JITTER.helpers["f"]}),
        replace(JITTER, helpers={"f": CHANGED}),
        replace(JITTER, helpers={"f": replace(OLD.helpers["f"], exact={"flops": 9})}),
        replace(JITTER, exact={"peak_bytes": 65, "flops": 16}),
        replace(JITTER, exact={"peak_bytes": 64}),
        replace(JITTER, timed={**JITTER.timed, "compile": JITTER.timed["run"]}),
        replace(JITTER, environment=replace(ENVIRONMENT, xla_flags="--xla_x")),
        replace(JITTER, environment=replace(UPGRADED, x64=True)),
        counted(JITTER, here={"trace_calls": 1021, "launches": 1}),
        counted(JITTER, here={"trace_calls": 1000, "launches": 2}),
        counted(JITTER, here={"trace_calls": 1000}),
    ],
)
def test_any_change_that_is_not_noise_brings_all_new_numbers(new: Entry) -> None:
    assert merge_entry(OLD, new) == new


def test_only_names_are_written_where_only_names_changed() -> None:
    new = replace(JITTER, inputs="another: f32[8]", helpers={"renamed": replace(OLD.helpers["f"], artifact=TWO)})

    merged = merge_entry(OLD, new)

    assert merged == replace(OLD, inputs="another: f32[8]", helpers={"renamed": OLD.helpers["f"]})
    assert merge_entry(merged, new) is merged


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (("x: f32[8]", ()), ("unread: f32[3]; x: f32[8]", (0,))),
        (("unread: f32[3]; x: f32[8]", (0,)), ("x: f32[8]", ())),
        (("x: f32[8]; unread: f32[3]; n: static int #1", (1,)), ("y: f32[8]; unread: f32[4]; n: static int #1", (1,))),
    ],
)
def test_an_argument_that_nothing_reads_is_written_as_a_name_is(
    before: tuple[str, tuple[int, ...]], after: tuple[str, tuple[int, ...]]
) -> None:
    def entry(inputs: str, unused: tuple[int, ...], entry: Entry) -> Entry:
        of_program = "; ".join(leaf for leaf in inputs.split("; ") if ": static" not in leaf)
        program = replace(PROGRAM, inputs="" if of_program == inputs else of_program, unused=unused)
        leaves = {"leaves": inputs.count(":"), "launches": 1}
        return counted(replace(entry, inputs=inputs, program=program), here=leaves)

    old = counted(entry(*before, OLD), here=entry(*before, OLD).host[HERE], other={"leaves": 7, "launches": 2})
    new = entry(*after, JITTER)

    merged = merge_entry(old, new)

    leaves = new.host[HERE]["leaves"]
    assert merged == counted(entry(*after, OLD), here=new.host[HERE], other={"leaves": leaves, "launches": 2})
    assert merge_entry(merged, new) is merged


def test_a_fingerprint_taken_by_other_rules_replaces_the_old_one_of_the_same_bytes() -> None:
    renewed = replace(PROGRAM, fingerprint="sha256:" + "e" * 64, fingerprint_version=2)

    assert merge_entry(OLD, replace(JITTER, program=renewed)) == replace(OLD, program=renewed)

    for artifact in (TWO, None):
        other = replace(JITTER, program=replace(renewed, artifact=artifact))
        assert merge_entry(OLD, other) == other


@pytest.mark.parametrize(("before", "after"), [(1000, 1020), (1000, 980), (0, 20), (100_000, 100_500)])
def test_python_calls_may_vary_by_20_or_half_a_percent(before: int, after: int) -> None:
    old = counted(OLD, here={"trace_calls": before, "host_calls": before, "launches": 1})

    assert merge_entry(old, counted(JITTER, here={"trace_calls": after, "host_calls": after, "launches": 1})) is old


def test_a_timing_lost_for_lack_of_time_does_not_rewrite_the_entry() -> None:
    assert merge_entry(OLD, replace(JITTER, timed={})) is OLD


def test_another_python_or_jax_adds_its_counts_and_nothing_else() -> None:
    new = replace(counted(SLOWER, other={"trace_calls": 1300, "launches": 1}), environment=UPGRADED)

    merged = merge_entry(OLD, new)

    assert merged == replace(OLD, host={**OLD.host, **new.host})
    assert merge_entry(merged, new) is merged


def test_two_jobs_of_a_matrix_do_not_overwrite_each_other_in_turn() -> None:
    new = replace(counted(SLOWER, other={"trace_calls": 1300, "launches": 1}), environment=UPGRADED)
    merged = merge_entry(OLD, new)

    assert merge_entry(merged, JITTER) is merged
    assert merge_entry(merged, new) is merged


def test_counts_of_other_versions_go_where_the_program_changed() -> None:
    old = counted(OLD, here={"launches": 1}, other={"launches": 1})

    assert merge_entry(old, replace(JITTER, program=CHANGED)).host == JITTER.host


def test_counts_of_other_versions_go_where_the_python_side_changed() -> None:
    """Kept, they would fail the other jobs of a matrix over a change that was accepted here."""
    old = counted(OLD, here={"launches": 1}, other={"launches": 1})

    assert merge_entry(old, counted(JITTER, here={"launches": 2})).host == {HERE: {"launches": 2}}


@pytest.mark.parametrize(
    "new",
    [
        replace(JITTER, environment=replace(ENVIRONMENT, xla_flags="--xla_x")),
        replace(JITTER, exact={"peak_bytes": 65, "flops": 16}),
    ],
)
def test_counts_of_other_versions_stay_where_only_the_environment_or_the_compiler_changed(new: Entry) -> None:
    old = replace(OLD, host={**OLD.host, OTHER: {"launches": 1}})

    assert merge_entry(old, new) == replace(new, host={**new.host, OTHER: {"launches": 1}})


@pytest.mark.parametrize(("low", "high"), [(2.95, 3.2), (3.1, 3.5), (2.0, 2.9)])
def test_stored_times_are_kept_while_their_quartiles_overlap_or_touch(low: float, high: float) -> None:
    new = replace(JITTER, timed={"run": Sample(median=(low + high) / 2, low=low, high=high, rounds=7)})

    assert merge_entry(OLD, new, stored_times=True) is OLD


@pytest.mark.parametrize("median", [2.0, 4.0])
def test_stored_times_are_replaced_once_their_quartiles_are_apart(median: float) -> None:
    new = replace(JITTER, timed={"run": Sample(median=median, low=median - 0.1, high=median + 0.1, rounds=7)})

    assert merge_entry(OLD, new, stored_times=True) == replace(
        OLD, timed=new.timed, relative=new.relative, environment=new.environment
    )


def test_stored_times_are_recorded_again_after_an_upgrade() -> None:
    new = replace(counted(JITTER, other={"launches": 1}), environment=UPGRADED)

    assert merge_entry(OLD, new, stored_times=True) == replace(new, host={**OLD.host, **new.host})


def test_an_accepted_or_aged_entry_is_renewed_though_nothing_differs() -> None:
    new = counted(replace(JITTER, program=replace(PROGRAM, artifact=TWO)), here={"trace_calls": 1009, "launches": 1})
    old = replace(OLD, host={**OLD.host, OTHER: {"launches": 1}})

    assert merge_entry(old, new, renew=True) == replace(new, host={**new.host, OTHER: {"launches": 1}})


def test_programs_of_a_jax_more_than_three_months_older_are_recorded_anew() -> None:
    """JAX reads what it exported for six months, so the last chance to export it anew must not be missed."""
    new = replace(counted(JITTER, other={"trace_calls": 1300, "launches": 1}), environment=LATER)
    new = replace(new, program=replace(PROGRAM, artifact=TWO))

    merged = merge_entry(OLD, new)

    assert merged == replace(new, host={**OLD.host, **new.host})
    assert merge_entry(merged, new) == merged
    # Nor is it recorded back and forth where a matrix has both.
    assert merge_entry(merged, JITTER) is merged


@pytest.mark.parametrize(
    "lacking",
    [
        {"program": replace(PROGRAM, artifact=None, no_artifact="x")},
        {"helpers": {"f": replace(OLD.helpers["f"], artifact=None)}},
    ],
    ids=["program", "helper"],
)
def test_aged_programs_stay_where_there_is_nothing_to_take_their_place(lacking: Mapping[str, Any]) -> None:
    assert merge_entry(OLD, replace(JITTER, environment=replace(LATER, python="3.11"), **lacking)).program is PROGRAM


def test_what_stores_no_program_does_not_age() -> None:
    lost = replace(PROGRAM, artifact=None, no_artifact="above 1 MiB")
    old = replace(OLD, program=lost, helpers={})

    assert merge_entry(old, replace(JITTER, program=lost, helpers={}, host={}, environment=LATER)) is old


def test_an_artifact_that_was_not_stored_is_added_alone() -> None:
    lost = StoredProgram(fingerprint=PROGRAM.fingerprint, no_artifact="above 1 MiB")
    old = replace(OLD, program=lost, helpers={"f": replace(OLD.helpers["f"], artifact=None)})

    assert merge_entry(old, JITTER) == OLD


def test_an_artifact_of_the_same_program_is_neither_replaced_nor_dropped() -> None:
    assert merge_entry(OLD, replace(JITTER, program=replace(PROGRAM, artifact=TWO))) is OLD
    assert merge_entry(OLD, replace(JITTER, program=replace(PROGRAM, artifact=None, no_artifact="x"))) is OLD


@pytest.mark.parametrize("renew", [False, True])
@pytest.mark.parametrize("stored_times", [False, True])
@pytest.mark.parametrize(
    "new", [JITTER, SLOWER, replace(JITTER, program=CHANGED), replace(JITTER, environment=UPGRADED)]
)
def test_the_same_update_twice_changes_nothing_more(new: Entry, stored_times: bool, renew: bool) -> None:
    merged = merge_entry(OLD, new, stored_times=stored_times, renew=renew)

    assert merge_entry(merged, new, stored_times=stored_times, renew=renew) == merged


def test_a_trace_that_became_slower_without_a_call_more_is_recorded() -> None:
    """Otherwise accepting it would change nothing, and the gate would fail again."""
    slower = replace(OLD, relative={"trace": 24.0})

    assert merge_entry(OLD, slower) == slower
    assert merge_entry(OLD, replace(OLD, relative={"trace": 4.4})) is OLD
    quick = replace(OLD, relative={"trace": 0.2})
    assert merge_entry(quick, replace(OLD, relative={"trace": 0.5})) is quick
