"""The table of a run and its closing lines, whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import UpdateResult
from pytest_jitperf.judge.outcome import Outcome
from pytest_jitperf.report.counting import count_sentences
from pytest_jitperf.report.terminal import count_line, heading, table, written_lines
from pytest_jitperf.row import Row
from pytest_jitperf.session import Written

MakeRow = Callable[..., Row]


def lines(text: str) -> list[str]:
    return dedent(text).strip("\n").splitlines()


@pytest.fixture(name="four")
def rows_of_all_strategies(row: MakeRow) -> list[Row]:
    regressed = {"outcome": "REGRESSED", "failed": True, "gated_by": "race", "note": "run x1.22 (x1.20 ... x1.24)"}
    return [
        row(strategy="both", compile=0.04, run=0.000366, optimised="p", **regressed),
        row(strategy="eager", compile=0.096, run=0.000912, launches=64, outcome="reference"),
        row(strategy="outer", compile=0.041, run=0.000367, optimised="p", **regressed),
        row(
            strategy="inner",
            compile=0.038,
            run=0.000541,
            launches=32,
            outcome="ok (same program)",
            gated_by="same program",
        ),
    ]


def test_strategies_stand_in_one_order_with_numbers_verdict_and_note(four: list[Row]) -> None:
    assert table(four) == lines("""
        tests/test_step.py::test_step
                   compile     run    launches
          eager      96 ms  912 us          64   reference
          outer      41 ms  367 us           1   REGRESSED   run x1.22 (x1.20 ... x1.24)
          inner      38 ms  541 us          32   ok (same program)
          both       40 ms  366 us           1   REGRESSED
              run x1.22 (x1.20 ... x1.24); same program as outer
          guide  outer from the first call, or from 50 calls on at the latest (both
                 alike within noise; eager starts 55 ms later; inner runs x1.48 as long)
        """)
    assert count_line(four, 0, update=False) == [
        "4 measured, 3 gated (1 same program, 2 raced), 1 reference, 0 without a",
        "baseline, 2 failed",
    ]


def test_what_was_compiled_stands_below_a_strategy_where_more_is_wanted(row: MakeRow) -> None:
    compiled = (
        "over 2 inputs: step traced 2, lowered 2, compiled 2",
        "input 2: step, batch['images']: f32[8,28,28] -> f32[9,28,28] (pad or bucket the shapes)",
    )
    rows = [row(strategy="outer", compile=0.041, run=0.000367, compiled=compiled)]
    below = table(rows, verbose=True)[3:]
    assert below == [
        "      over 2 inputs: step traced 2, lowered 2, compiled 2",
        "      input 2: step, batch['images']: f32[8,28,28] -> f32[9,28,28] (pad or",
        "        bucket the shapes)",
    ]
    assert table(rows) == table(rows, verbose=True)[:3]


def test_tests_measurements_and_kinds_of_device_stand_apart(row: MakeRow) -> None:
    rows = [
        row(device_kind="cpu", test="test_b"),
        row(device_kind="NVIDIA H200", test="test_b"),
        row(device_kind="cpu", test="test_a", measurement="second"),
        row(device_kind="cpu", test="test_a", strategy="remat"),
        row(device_kind="cpu", test="test_a"),
        row(file="tests/test_z.py", outcome="no such device", device_kind="", note="no tpu here", device="tpu",
            compile=None, run=None, launches=None),
    ]  # fmt: skip

    assert table(rows) == lines("""
        tests/test_step.py::test_b  (NVIDIA H200)
                   compile     run    launches
          outer      41 ms  367 us           1   ok
        tests/test_step.py::test_a  (cpu)
                   compile     run    launches
          outer      41 ms  367 us           1   ok
          remat      41 ms  367 us           1   ok
          guide  outer and remat cannot be told apart
        tests/test_step.py::test_a / second  (cpu)
                   compile     run    launches
          outer      41 ms  367 us           1   ok
        tests/test_step.py::test_b  (cpu)
                   compile     run    launches
          outer      41 ms  367 us           1   ok
        tests/test_z.py::test_step
                   compile    run    launches
          outer          -      -           -   no such device   no tpu here
        """)


def test_devices_of_one_kind_are_told_apart_and_are_not_each_others_twins(row: MakeRow) -> None:
    rows = [
        row(strategy="both", device="gpu:1", optimised="p"),
        row(strategy="both", device="gpu:0", optimised="p"),
        row(strategy="outer", device="gpu:0", optimised="p"),
    ]

    assert table(rows) == lines("""
        tests/test_step.py::test_step
                         compile     run    launches
          outer gpu:0      41 ms  367 us           1   ok
          both gpu:0       41 ms  367 us           1   ok   same program as outer
          both gpu:1       41 ms  367 us           1   ok
          guide gpu:0  outer and both cannot be told apart
        """)


def test_the_guide_recommends_for_the_calls_that_the_marker_expects(row: MakeRow) -> None:
    rows = [
        row(strategy="eager", compile=0.02, run=0.005, expected_calls=20_000),
        row(strategy="outer", compile=0.10, run=0.001, expected_calls=20_000),
    ]

    assert table(rows)[-2:] == [
        "  guide  eager up to 20 +-3 calls, from there outer",
        "         for 20,000 calls: outer, 20 s in all (eager 100 s)",
    ]


def test_on_a_narrow_terminal_no_line_is_longer_than_it(four: list[Row]) -> None:
    assert table(four, width=50) == lines("""
        tests/test_step.py::test_step
                   compile     run    launches
          eager      96 ms  912 us          64   reference
          outer      41 ms  367 us           1   REGRESSED
              run x1.22 (x1.20 ... x1.24)
          inner      38 ms  541 us          32
              ok (same program)
          both       40 ms  366 us           1   REGRESSED
              run x1.22 (x1.20 ... x1.24); same program as
              outer
          guide  outer from the first call, or from 50
                 calls on at the latest (both alike within
                 noise; eager starts 55 ms later; inner
                 runs x1.48 as long)
        """)
    assert count_line(four, 0, update=False, width=50) == [
        "4 measured, 3 gated (1 same program, 2 raced), 1",
        "reference, 0 without a baseline, 2 failed",
    ]


def test_a_line_for_people_is_folded_and_one_for_other_programs_is_not() -> None:
    written = Written(orphans={Path("a.json"): (Key(test="test_a", strategy="outer", device_kind="cpu"),)})
    whole = "a.json: 1 entry without a test: test_a / outer / cpu; remove with --jitperf-prune"

    assert written_lines(written, str) == written_lines(written, str, 81) == [whole]
    assert written_lines(written, str, 60) == [
        "a.json: 1 entry without a test: test_a / outer / cpu; remove",
        "  with --jitperf-prune",
    ]


@pytest.mark.parametrize(
    "changes", [{"outcome": "WRONG RESULT", "failed": True}, {"run": None, "compile": None, "outcome": "not measured"}]
)
def test_where_one_strategy_is_left_there_is_no_guide(row: MakeRow, changes: dict[str, object]) -> None:
    assert len(table([row(strategy="eager"), row(**changes)])) == 4


def test_long_notes_are_wrapped_and_names_stay_as_they_are(row: MakeRow) -> None:
    note = "environment changed: XLA_FLAGS none -> --xla_cpu_enable_fast_math=true --xla_dump_to=/tmp/a/very/long/path"
    rows = [row(test="test_größe[1e5]", strategy="1e5", note=note, notes=("second\nline",))]

    assert table(rows) == lines("""
        tests/test_step.py::test_größe[1e5]
                 compile     run    launches
          1e5      41 ms  367 us           1   ok
              environment changed: XLA_FLAGS none -> --xla_cpu_enable_fast_math=true
              --xla_dump_to=/tmp/a/very/long/path; second\\nline
        """)
    assert max(map(len, table(rows))) <= 80


def test_all_that_is_not_a_name_is_ascii(four: list[Row]) -> None:
    assert all(line.isascii() for line in [heading(four), *table(four), *count_line(four, 1, update=False)])


def test_the_heading_names_devices_and_versions_once(row: MakeRow) -> None:
    assert heading([row(), row(), row(device_kind="NVIDIA H200")]) == "jitperf: cpu, NVIDIA H200, jax 0.10.2"
    assert heading([]) == "jitperf: nothing measured"
    assert heading([row(device_kind="", jax="")]) == "jitperf: nothing measured"


@pytest.mark.parametrize(
    ("outcome", "changes", "expected"),
    [
        (Outcome.REFERENCE, {}, "0 gated, 1 reference, 0 without a baseline"),
        (Outcome.OK, {"gated_by": "race"}, "1 gated (1 raced), 0 without a baseline"),
        (Outcome.OK, {"gated_by": "counts"}, "1 gated (1 by counts), 0 without a baseline"),
        (Outcome.OK, {"gated_by": "stored times"}, "1 gated (1 by stored times), 0 without a baseline"),
        (Outcome.OK_SAME, {"gated_by": "same program"}, "1 gated (1 same program), 0 without a baseline"),
        (Outcome.IMPROVED, {"gated_by": "race"}, "1 gated (1 raced), 0 without a baseline"),
        (Outcome.NEW, {"gated_by": "limits"}, "0 gated, 1 without a baseline"),
        (Outcome.NOT_GATED, {"gated_by": "counts"}, "0 gated, 0 without a baseline, 1 not gated"),
        (
            Outcome.ENVIRONMENT_CHANGED,
            {"gated_by": "same program"},
            "0 gated, 0 without a baseline, 1 in a changed environment",
        ),
        (Outcome.INPUTS_CHANGED, {}, "0 gated, 0 without a baseline, 1 with changed inputs"),
        (Outcome.INCONCLUSIVE, {"gated_by": "race"}, "0 gated, 0 without a baseline, 1 inconclusive"),
        (Outcome.NOT_MEASURED, {"failed": True}, "0 gated, 0 without a baseline, 1 failed"),
        (
            Outcome.NOT_FASTER,
            {"failed": True, "gated_by": "limits"},
            "1 gated (1 by limits), 0 without a baseline, 1 failed",
        ),
        (
            Outcome.OVER_BUDGET,
            {"failed": True, "gated_by": "race"},
            "1 gated (1 raced), 0 without a baseline, 1 failed",
        ),
        (Outcome.WRONG_RESULT, {"failed": True}, "0 gated, 0 without a baseline, 1 failed"),
        (Outcome.REGRESSED, {"failed": True, "gated_by": "race"}, "1 gated (1 raced), 0 without a baseline, 1 failed"),
    ],
)
def test_each_outcome_is_counted_once_as_gated_or_by_its_reason(
    row: MakeRow, outcome: Outcome, changes: dict[str, object], expected: str
) -> None:
    assert count_line([row(outcome=outcome.value, **changes)], 0, update=False) == [f"1 measured, {expected}"]


def test_what_was_not_measured_is_counted_apart(row: MakeRow) -> None:
    absent = row(outcome="no such device", device_kind="")

    assert count_line([absent], 2, update=False) == [
        "0 measured, 0 gated, 0 without a baseline, 1 skipped (no such device), 2 not",
        "measured (skipped or failed before)",
    ]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 program has moved on since recorded and will be raced in every run; record"),
        (2, "2 programs have moved on since recorded and will be raced in every run; record"),
    ],
)
def test_programs_that_moved_on_without_failing_are_counted(row: MakeRow, count: int, said: str) -> None:
    rows = [row(moved=True)] * count + [row(moved=True, failed=True)]

    assert count_line(rows, 0, update=False)[1:] == [said, "with --jitperf-update"]
    assert len(count_line(rows, 0, update=True)) == 1


@pytest.mark.parametrize(("compiles", "said"), [(1, "1 extra compilation"), (6, "6 extra compilations")])
def test_what_was_cut_is_said_once_with_what_was_spent(row: MakeRow, compiles: int, said: str) -> None:
    rows = [row(compiles=compiles, cut=("further pairs",)), row(cut=("further pairs", "confirmation"))]

    assert count_line(rows, 0, update=False)[1:] == [f"{said}; cut for lack of time: further pairs, confirmation"]


def test_a_stored_program_that_is_lost_is_told_before_it_is_needed(row: MakeRow) -> None:
    lost = {"gated_by": "same program", "lost": ("the stored program a is not there; add it",)}
    other = {"gated_by": "same program", "lost": ("the stored program b is damaged",)}
    one = "1 stored program could not be raced against if the code changed: the stored program a is not there; add it"

    def said(*rows: Row, update: bool = False) -> list[str]:
        return count_sentences(rows, 0, update)[1:]

    assert said(row(**lost), row(**lost)) == [one]
    assert said(row(**lost), row(**other)) == [one.replace("1 stored program", "2 stored programs") + " (and 1 more)"]
    # A verdict that it was missed for has said so.
    assert said(row(**{**lost, "gated_by": ""}), row(gated_by="same program")) == []
    assert said(row(**lost), update=True) == []


def test_programs_that_will_soon_not_be_read_any_more_are_counted_by_the_jax_that_exported_them(row: MakeRow) -> None:
    rows = [row(aged="0.8.2"), row(aged="0.9.0", jax="0.10.2"), row(aged="0.9.0", jax="0.10.2"), row()]

    assert count_sentences(rows, 0, update=False)[1:] == [
        "the programs of 1 entry were exported by jax 0.8.2, about 6 months before jax 0.10.2, and JAX promises to "
        "read them for 6; export them anew with --jitperf-update",
        "the programs of 2 entries were exported by jax 0.9.0, about 5 months before jax 0.10.2, and JAX promises to "
        "read them for 6; export them anew with --jitperf-update",
    ]
    assert len(count_sentences(rows, 0, update=True)) == 1


def test_an_update_counts_what_failed_and_so_is_not_recorded(row: MakeRow) -> None:
    rows = [row(), row(outcome="OVER BUDGET", failed=True)]

    assert count_line(rows, 0, update=True) == ["2 measured, 1 failed and not recorded"]


def test_each_change_of_a_baseline_is_printed_and_what_is_left_over() -> None:
    path = Path("tests/__jitperf__/test_step.json")
    first = Key(test="test_a", strategy="outer", device_kind="cpu")
    second = Key(test="test_b", measurement="warm", strategy="outer", device_kind="cpu")
    gone = [Key(test=f"test_{n}", strategy="outer", device_kind="cpu") for n in range(6)]
    written = Written(
        results=[
            UpdateResult(
                path=path,
                changed={first: ("new",), second: ("program changed", "run 1 ms -> 2 ms")},
                unchanged=(gone[0],),
                removed=(gone[1],),
            ),
            UpdateResult(path=Path("b.json"), unchanged=(first, second)),
        ],
        orphans={Path("c.json"): tuple(gone), Path("d.json"): (first,), Path("d2.json"): (first,)},
        renamed={Path("d2.json"): Path("d3.json")},
        unreferred={Path("e"): ("one",), Path("f"): ("one", "two")},
        pruned={Path("g"): ("one",), Path("h"): ("one", "two")},
        errors=["e.json cannot be read"],
    )

    assert written_lines(written, lambda path: path.name) == lines("""
        test_step.json: 2 written, 1 unchanged, 1 removed
          test_a / outer / cpu: new
          test_b / warm / outer / cpu:
            program changed
            run 1 ms -> 2 ms
          test_1 / outer / cpu: removed
        b.json: 0 written, 2 unchanged
        c.json: 6 entries without a test: NAMES and 1 more; remove with --jitperf-prune
        d.json: 1 entry without a test: test_a / outer / cpu; remove with --jitperf-prune
        d2.json: 1 entry without a test: test_a / outer / cpu; rename it to d3.json if its tests are there now, else \
remove with --jitperf-prune
        e: 1 stored program that no entry refers to any more; remove with --jitperf-prune
        f: 2 stored programs that no entry refers to any more; remove with --jitperf-prune
        g: 1 stored program removed
        h: 2 stored programs removed
        ERROR e.json cannot be read
        """.replace("NAMES", ", ".join(map(str, gone[:5]))))  # fmt: skip
