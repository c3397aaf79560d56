"""Which strategy is told to be the cheapest for how many calls, in whole sentences."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from pytest_jitperf.judge.envelope import Segment
from pytest_jitperf.measurement import Sample
from pytest_jitperf.report.grouping import groups
from pytest_jitperf.report.guide import Advice, advise, calls_until, choice, recommendation
from pytest_jitperf.row import Row

MakeRow = Callable[..., Row]
Advise = Callable[..., Advice]


@pytest.fixture(name="advice")
def advice_on(row: MakeRow) -> Advise:
    """Compares strategies by their cost: compile and run time in seconds."""

    def make(expected_calls: int | None = None, **costs: tuple[float, float]) -> Advice:
        rows = [
            row(strategy=name, compile=start, run=run, expected_calls=expected_calls)
            for name, (start, run) in costs.items()
        ]
        [found] = advise(groups(rows)[0])
        return found

    return make


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        (
            {"eager": (0.59, 98e-3), "outer": (2.14, 1.3e-3), "inner": (0.19, 4.3e-3)},
            "inner up to 650 +-70 calls, from there outer; eager never",
        ),
        (
            {"eager": (0.01, 5e-3), "outer": (5.0, 1e-3), "inner": (0.5, 2e-3)},
            "eager up to 163 +-18 calls, then inner up to 4,500 +-500 calls, from there outer",
        ),
        ({"eager": (0.096, 912e-6), "outer": (0.041, 367e-6)}, "outer from the first call (eager starts 55 ms later)"),
        (
            {"eager": (0.02, 0.5), "outer": (0.1, 1e-3)},
            "outer from the first call (eager starts 80 ms sooner, but runs x500 as long)",
        ),
        ({"eager": (0.10, 1e-3), "outer": (0.10, 0.5e-3)}, "outer from the first call (eager runs x2.00 as long)"),
        (
            {"eager": (0.02, 1e-3), "outer": (0.20, 1e-3)},
            "eager from the first call (outer starts 180 ms later and runs no faster)",
        ),
        ({"eager": (0.100, 1.00e-3), "outer": (0.105, 0.99e-3)}, "nothing beats eager (outer alike within noise)"),
        (
            {"eager": (0.100, 1.00e-3), "outer": (0.280, 0.99e-3)},
            "eager from the first call (outer starts 180 ms later and runs alike within noise)",
        ),
        (
            {"eager": (0.3, 9e-3), "outer": (0.1, 1e-3), "both": (0.1, 1e-3), "remat": (0.1, 1e-3)},
            "outer from the first call (both and remat alike within noise; eager starts 200 ms later)",
        ),
        (
            {"eager": (0.3, 9e-3), "outer": (0.9, 1e-3), "inner": (0.1, 5e-3), "both": (0.9, 1e-3)},
            "inner up to 200 +-20 calls, from there outer; both like outer within noise; eager never",
        ),
        (
            {"eager": (0.10, 0.004), "outer": (0.11, 0.001)},
            "outer from the first call, or from 8 calls on at the latest (eager runs x4.00 as long)",
        ),
    ],
)
def test_the_cheapest_is_named_and_why_the_others_are_not(
    advice: Advise, costs: dict[str, tuple[float, float]], sentence: str
) -> None:
    assert choice(advice(**costs)) == sentence


@pytest.mark.parametrize(
    ("calls", "sentence"),
    [
        (1_000, "for 1,000 calls: outer, 3.4 s in all (inner 4.5 s, eager 99 s)"),
        (650, "for 650 calls: outer, 3 s in all (inner alike within noise, eager 64 s)"),
        (1, "for 1 call: inner, 194 ms in all (eager 688 ms, outer 2.1 s)"),
        (
            1_000_000_000,
            "for 1,000,000,000 calls: outer, 1,300,002 s in all (inner 4,300,000 s, eager 98,000,001 s)",
        ),
    ],
)
def test_the_cheapest_for_the_expected_calls_is_recommended(advice: Advise, calls: int, sentence: str) -> None:
    costs = {"eager": (0.59, 98e-3), "outer": (2.14, 1.3e-3), "inner": (0.19, 4.3e-3)}
    assert recommendation(advice(calls, **costs)) == sentence


def test_what_there_is_to_gain_is_told_against_outer_at_the_expected_calls_or_a_thousand(advice: Advise) -> None:
    costs = {"outer": (2.14, 1.3e-3), "inner": (0.19, 4.3e-3)}

    few, usual = advice(100, **costs), advice(**costs)

    assert (few.present.strategy, few.best.strategy, few.calls) == ("outer", "inner", 100)
    assert few.saving == pytest.approx(2.27 - 0.62)
    assert (usual.present.strategy, usual.best.strategy, usual.calls, usual.saving) == ("outer", "outer", 1_000, 0.0)


def test_where_outer_is_missing_the_first_strategy_that_jits_is_what_one_has(advice: Advise) -> None:
    found = advice(100, eager=(0.1, 1e-3), inner=(0.5, 1e-3))
    assert (found.present.strategy, found.best.strategy) == ("inner", "eager")
    assert found.saving == pytest.approx(0.4)


def test_a_gain_that_cannot_be_told_from_none_is_none(advice: Advise) -> None:
    assert advice(650, outer=(2.14, 1.3e-3), inner=(0.19, 4.3e-3)).saving == 0.0


def test_strategies_of_one_optimised_program_share_their_run_time_and_differ_in_start_alone(row: MakeRow) -> None:
    rows = [
        row(strategy="outer", compile=2.0, run=1.0e-3, optimised="p"),
        row(strategy="both", compile=1.0, run=2.0e-3, optimised="p"),
        row(strategy="remat", compile=1.0, run=5.0e-3, optimised="q"),
        row(strategy="loop", compile=1.0, run=5.0e-3),
    ]

    [found] = advise(groups(rows)[0])

    assert {line.strategy: line.run for line in found.lines} == {
        "outer": 1.5e-3, "both": 1.5e-3, "loop": 5.0e-3, "remat": 5.0e-3,
    }  # fmt: skip
    # Half of the difference of the two: that much is not known of the run time.
    assert found.line("outer").run_sd == pytest.approx(0.5e-3)
    assert choice(found).startswith("both from the first call (outer starts 1 s later and runs no faster; ")


def test_an_error_comes_from_the_quartiles_and_is_never_below_what_a_repeat_varies_by(row: MakeRow) -> None:
    wide = {
        "compile": Sample(median=1.0, low=0.8, high=1.2, rounds=4),
        "run": Sample(median=1e-3, low=0.9e-3, high=1.1e-3, rounds=25),
    }
    narrow = {
        "compile": Sample(median=1.0, low=1.0, high=1.0, rounds=4),
        "run": Sample(median=1e-3, low=1e-3, high=1e-3, rounds=25),
    }

    [found] = advise(groups([row(strategy="outer", timed=wide), row(strategy="both", timed=narrow)])[0])

    wide_line, narrow_line = found.lines
    assert (wide_line.start_sd, wide_line.run_sd) == pytest.approx(
        (0.93 * math.log(1.5) / 2, 0.93e-3 * math.log(1.1 / 0.9) / 5)
    )
    assert (narrow_line.start_sd, narrow_line.run_sd) == pytest.approx((0.05 / 2, 0.01e-3))


def test_rounds_that_a_busy_machine_made_much_longer_leave_no_doubt_of_a_large_difference(row: MakeRow) -> None:
    def timed(median: float, low: float, high: float, rounds: int) -> dict[str, Sample]:
        run = Sample(median=median, low=low, high=high, rounds=rounds)
        return {"compile": Sample(median=0.5, low=0.5, high=0.5, rounds=1), "run": run}

    eager = row(strategy="eager", timed=timed(868e-6, 819e-6, 7_354e-6, 39))
    outer = row(strategy="outer", timed=timed(40e-6, 22e-6, 62e-6, 200))

    [found] = advise(groups([eager, outer])[0])

    assert choice(found) == "outer from the first call (eager runs x21.70 as long)"


def test_nobody_is_sent_to_a_strategy_that_costs_more_as_measured(row: MakeRow) -> None:
    def timed(compiled: float, run: float) -> dict[str, Sample]:
        times = {"compile": (compiled, 1), "run": (run, 200)}
        return {name: Sample(median=each, low=each, high=each, rounds=rounds) for name, (each, rounds) in times.items()}

    rows = [
        row(strategy="outer", timed=timed(79e-3, 37.7e-6), waited=70e-3),
        row(strategy="inner", timed=timed(124e-3, 27.7e-6), waited=110e-3),
    ]

    [found] = advise(groups(rows)[0])

    assert choice(found) == (
        "inner from the first call, or from 17,000 calls on at the latest (outer runs x1.36 as long)"
    )
    assert recommendation(found) == "for 1,000 calls: outer, 117 ms in all (inner alike within noise)"


def test_small_differences_that_add_up_are_heeded_for_the_calls_at_hand(row: MakeRow) -> None:
    def timed(compiled: float, run: float) -> dict[str, Sample]:
        times = {"compile": (compiled, 1), "run": (run, 1)}
        return {
            name: Sample(median=value, low=0.886 * value, high=1.129 * value, rounds=n)
            for name, (value, n) in times.items()
        }

    rows = [
        row(strategy="eager", timed=timed(1.7, 1.7e-3), expected_calls=1_000),
        row(strategy="outer", timed=timed(1.0, 1.0e-3), expected_calls=1_000),
    ]

    [found] = advise(groups(rows)[0])

    assert choice(found) == "nothing beats eager (outer alike within noise)"
    assert recommendation(found) == "for 1,000 calls: outer, 2 s in all (eager 3.4 s)"


@pytest.mark.parametrize(
    ("waited", "said"),
    [
        (0.2, "outer and both cannot be told apart"),
        (0.0, "both from the first call (outer starts 100 ms later and runs no faster)"),
    ],
)
def test_what_a_compile_may_have_waited_for_others_is_not_known_of_its_time(
    row: MakeRow, waited: float, said: str
) -> None:
    def timed(wall: float) -> dict[str, Sample]:
        times = {"compile": wall, "run": 1e-3}
        return {name: Sample(median=value, low=value, high=value, rounds=1) for name, value in times.items()}

    rows = [row(strategy=name, waited=waited, timed=timed(wall)) for name, wall in (("outer", 0.3), ("both", 0.2))]

    [found] = advise(groups(rows)[0])

    assert choice(found) == said


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": "WRONG RESULT", "failed": True, "compile": 0.001},
        {"outcome": "not measured", "compile": None, "run": None},
        {"outcome": "no such device", "compile": None, "run": None},
    ],
)
def test_a_strategy_without_numbers_or_with_a_wrong_result_is_left_out(
    row: MakeRow, changes: dict[str, object]
) -> None:
    left = [row(strategy="eager", compile=0.2), row(strategy="outer", compile=0.1)]

    [found] = advise(groups([*left, row(strategy="inner", **changes)])[0])

    wrong = "; left out for a wrong result: inner" if changes["outcome"] == "WRONG RESULT" else ""
    assert choice(found) == f"outer from the first call (eager starts 100 ms later and runs no faster){wrong}"
    assert advise(groups([left[0], row(strategy="inner", **changes)])[0]) == []


def test_a_strategy_that_fails_its_gate_is_still_compared(row: MakeRow) -> None:
    rows = [row(strategy="eager", compile=0.2), row(strategy="outer", outcome="REGRESSED", failed=True)]
    assert len(advise(groups(rows)[0])) == 1


def test_devices_are_compared_each_by_itself(row: MakeRow) -> None:
    rows = [row(strategy=name, device=device) for name in ("eager", "outer") for device in ("gpu:0", "gpu:1")]
    rows.append(row(strategy="eager", device="gpu:2"))

    assert [(each.device, len(each.rows)) for each in advise(groups(rows)[0])] == [("gpu:0", 2), ("gpu:1", 2)]


@pytest.mark.parametrize(
    ("first", "low", "high", "text"),
    [
        (633.3, 593.0, 673.0, "630 +-40 calls"),
        (633.3, 633.1, 633.5, "633 calls"),
        (633.3, 630.0, 637.0, "633 +-4 calls"),
        (45_210.0, 30_000.0, 60_000.0, "45,000 +-15,000 calls"),
        (640.0, 481.0, 962.0, "640 (480 ... 960) calls"),
        (640.0, 480.0, math.inf, "480 calls or more"),
        (1.2, 1.1, 1.3, "1 call"),
        (3.4, 1.6, 5.2, "3 +-2 calls"),
    ],
)
def test_a_crossing_is_written_as_exactly_as_it_is_known(first: float, low: float, high: float, text: str) -> None:
    assert calls_until(Segment(strategy="outer", first=first, low=low, high=high)) == text
