"""What the HTML report says of each test, and of the run before them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Environment, Ratio, Sample
from pytest_jitperf.report.account import Account
from pytest_jitperf.report.cards import MOST_WITH_PLOTS, Line, Trouble, cards
from pytest_jitperf.report.numbers import Table
from pytest_jitperf.report.overview import Place, overview, sections
from pytest_jitperf.report.standing import Standing
from pytest_jitperf.results import Results, Unmeasured
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

MakeRow = Callable[..., Row]
MakeRatio = Callable[..., Ratio]

SENTENCE = "run regressed: 301 us -> 367 us, x1.22 (x1.20 ... x1.24), allowed x1.05"


def results(*rows: Row, **changes: object) -> Results:
    return replace(Results(plugin="1.2", mode="gate", rows=rows), **changes)  # type: ignore[arg-type]  # of fields


@pytest.fixture(name="regressed")
def regressed_row(row: MakeRow, ratio: MakeRatio) -> Row:
    finding = Finding(
        outcome=Outcome.REGRESSED,
        sentence=SENTENCE,
        metric="run",
        old=301e-6,
        new=367e-6,
        ratio=ratio(1.22, 1.20, 1.24, confirmed=True),
        limit=1.05,
        rule="tolerance run=5 % (marker)",
        short="run x1.22",
    )
    return row(
        outcome="REGRESSED",
        effect="fail",
        status="failed",
        failed=True,
        note="run x1.22",
        findings=(finding,),
        why=("the program changed: flops x1.25",),
        failure=f"{SENTENCE}\n  accept it with   pytest t.py --jitperf-update",
    )


@pytest.fixture(name="pair")
def two_strategies(row: MakeRow, regressed: Row) -> list[Row]:
    return [
        replace(regressed, metrics={"peak_bytes": 8 * 2.0**20}),
        row(strategy="eager", compile=0.096, run=912e-6, launches=64, outcome="reference", status="passed"),
    ]


def test_strategies_stand_side_by_side_with_their_costs_and_words(pair: list[Row]) -> None:
    (card,) = cards(pair)
    assert (card.file, card.name, card.stands) == ("tests/test_step.py", "test_step", Standing.FAILED)
    assert card.headers == ("compile", "run", "launches", "peak memory", "1,000 calls")
    assert card.lines == (
        Line(
            name="eager",
            cells=("96 ms", "912 us", "64", "-", "1.01 s"),
            word="reference",
            stands=Standing.FINE,
            note="",
        ),
        Line(
            name="outer",
            cells=("41 ms", "367 us", "1", "8 MiB", "408 ms"),
            word="REGRESSED",
            stands=Standing.FAILED,
            note="run x1.22",
        ),
    )
    assert card.words == (("REGRESSED", Standing.FAILED, 1), ("reference", Standing.FINE, 1))


def test_what_failed_is_told_with_cause_rule_and_remedy(pair: list[Row]) -> None:
    (card,) = cards(pair)
    assert card.troubles == (
        Trouble(
            name="outer",
            word="REGRESSED",
            stands=Standing.FAILED,
            account=Account(
                sentence=SENTENCE,
                why=("the program changed: flops x1.25",),
                rules=("tolerance run=5 % (marker)",),
                accept="pytest t.py --jitperf-update",
            ),
        ),
    )


def test_of_what_passes_only_a_change_is_told(row: MakeRow) -> None:
    better = Finding(outcome=Outcome.IMPROVED, sentence="run improved: 2 ms -> 1 ms", metric="run")
    improved = row(strategy="both", outcome="improved", status="passed", findings=(better,), why=("dot 2 -> 1",))
    (card,) = cards([row(status="passed"), improved])
    assert [(each.name, each.account.sentence, each.account.why) for each in card.troubles] == [
        ("both", "run improved: 2 ms -> 1 ms", ("dot 2 -> 1",))
    ]
    assert card.stands is Standing.FINE


def test_the_guide_and_the_plots_are_on_the_card(pair: list[Row]) -> None:
    (card,) = cards(pair)
    (page,) = card.pages
    assert page.choice == "outer from the first call (eager starts 55 ms later)"
    assert [figure.title for figure in card.figures] == [
        "Time of now over time of the baseline's",
        "Cost against the number of calls",
    ]


def test_races_between_strategies_have_a_figure_of_their_own_and_name_the_other(row: MakeRow, ratio: MakeRatio) -> None:
    faster = Finding(
        outcome=Outcome.NOT_FASTER,
        sentence="not fast enough",
        ratio=ratio(1.5, 1.4, 1.6),
        limit=2.0,
        rule="faster_than outer: eager x2 (marker)",
    )
    helper = Finding(
        outcome=Outcome.OK, sentence="ok", metric="run", ratio=ratio(1.0, 0.9, 1.1), limit=1.1, helper="m.f(f32[8])"
    )
    (card,) = cards([row(findings=(faster,)), row(strategy="inner", findings=(helper,))])
    assert [(figure.title, figure.description) for figure in card.figures[:2]] == [
        ("Time of now over time of the baseline's", "inner f run x1.00 (x0.90 ... x1.10), allowed x1.1: ok."),
        (
            "How many times as fast as another strategy",
            "outer against eager x1.50 (x1.40 ... x1.60), at least x2: NOT FASTER.",
        ),
    ]
    assert card.judged is not None
    assert [line[:6] for line in card.judged.lines] == [
        ("outer", "faster_than", "-", "-", "x1.50 (x1.40 ... x1.60)", "at least x2"),
        ("inner", "m.f run", "-", "-", "x1.00 (x0.90 ... x1.10)", "x1.1"),
    ]


def test_what_fails_is_drawn_before_what_is_fine(row: MakeRow, ratio: MakeRatio, regressed: Row) -> None:
    fine = Finding(outcome=Outcome.OK, sentence="ok", metric="run", ratio=ratio(1.0, 0.9, 1.1), limit=1.1)
    (card,) = cards([row(strategy="eager", findings=(fine,)), regressed])
    assert [each.text for each in card.figures[0].shapes if each.attributes["class"] == "label"] == [
        "outer run",
        "eager run",
    ]


def test_a_sweep_is_one_card(row: MakeRow) -> None:
    rows = [
        row(
            strategy=strategy,
            measurement=str(n),
            sweep="main",
            size=str(n),
            extent=float(n),
            timed={name: Sample(median=1e-6 * n, low=1e-6 * n, high=1e-6 * n, rounds=9) for name in ("run", "compile")},
        )
        for n in (64, 256, 1024)
        for strategy in ("eager", "outer")
    ]
    (card,) = cards(rows)
    assert [line.name for line in card.lines] == [
        "eager 64", "eager 256", "eager 1024", "outer 64", "outer 256", "outer 1024"
    ]  # fmt: skip
    assert [figure.title for figure in card.figures] == ["Run time against the size", "Compile time against the size"]
    assert card.sentences[0] == "for 1,000 calls: outer at every size"
    assert card.sentences[1].startswith("eager: run n^1.00")
    assert card.pages == ()


def test_everything_that_was_judged_is_a_table(pair: list[Row]) -> None:
    growth = Finding(outcome=Outcome.OVER_BUDGET, sentence="growth", metric="growth", new=2.1, limit=1.5, rule="budget")
    memory = Finding(outcome=Outcome.OK, sentence="fine", metric="peak_bytes", old=2048, new=2048, limit=67584)
    plain = Finding(outcome=Outcome.OK_SAME, sentence="the program is the same as the baseline's")
    (card,) = cards([replace(pair[0], findings=(*pair[0].findings, growth, memory, plain))])
    assert card.judged == Table(
        headers=("strategy", "metric", "baseline", "now", "ratio", "limit", "verdict", "rule"),
        lines=(
            ("outer", "run", "301 us", "367 us", "x1.22 (x1.20 ... x1.24)", "x1.05", "REGRESSED",
             "tolerance run=5 % (marker)"),
            ("outer", "growth", "-", "n^2.10", "-", "n^1.5", "OVER BUDGET", "budget"),
            ("outer", "peak_bytes", "2 KiB", "2 KiB", "-", "66 KiB", "ok", ""),
        ),
        aligned=(False, False, True, True, True, True, False, False),
    )  # fmt: skip


def test_everything_that_was_measured_is_a_table_with_quartiles(row: MakeRow) -> None:
    timed = {
        "run": Sample(median=1e-3, low=0.9e-3, high=1.2e-3, rounds=9),
        "trace_cpu": Sample(median=2e-3, low=2e-3, high=2e-3, rounds=1),
    }
    outer = row(timed=timed, metrics={"run": 1e-3, "trace_cpu": 2e-3, "flops": 8448.0, "mine": 3.0})
    eager = row(strategy="eager", timed={}, metrics={"run": 2e-3})
    (card,) = cards([outer, eager])
    assert card.numbers == Table(
        headers=("metric", "eager", "outer"),
        lines=(
            ("trace_cpu", "-", "2 ms"),
            ("run", "2 ms", "1 ms (900 us ... 1.2 ms)"),
            ("flops", "-", "8,448"),
            ("mine", "-", "3"),
        ),
        aligned=(False, True, True),
    )


def test_of_very_many_tests_those_that_are_fine_have_no_plots(row: MakeRow, pair: list[Row]) -> None:
    many = [
        row(test=f"test_{n}", strategy=strategy, status="passed", metrics={"run": 1e-3})
        for n in range(MOST_WITH_PLOTS)
        for strategy in ("eager", "outer")
    ]
    assert [card.plain for card in cards(many)] == [False] * MOST_WITH_PLOTS
    found = {card.name: card for card in cards([*many, *pair])}
    assert found.pop("test_step").figures != ()
    assert {(card.plain, card.figures, card.numbers) for card in found.values()} == {(True, (), None)}
    assert all(card.pages for card in found.values())


# The run


@pytest.mark.parametrize(
    ("changes", "headline", "stands"),
    [
        ({}, "Nothing failed", Standing.FINE),
        ({"outcome": "new", "effect": "warn"}, "Nothing failed, 1 of 2 unsettled", Standing.UNSETTLED),
        ({"outcome": "REGRESSED", "failed": True, "status": "failed"}, "1 of 2 failed", Standing.FAILED),
        ({"outcome": "REGRESSED", "failed": True, "status": "xfailed"}, "Nothing failed, 1 of 2 unsettled",
         Standing.UNSETTLED),
    ],
    ids=["fine", "new", "failed", "expected"],
)  # fmt: skip
def test_the_headline_is_the_verdict_of_the_run(
    row: MakeRow, changes: dict[str, object], headline: str, stands: Standing
) -> None:
    run = overview(results(row(**{"status": "passed", **changes}), row(strategy="both", status="passed")))
    assert (run.headline, run.stands) == (headline, stands)


def test_a_run_without_a_measurement_says_so() -> None:
    skipped = Unmeasured(nodeid="t.py::test_f[outer]", status=Status.SKIPPED)
    run = overview(results(unmeasured=(skipped,)))
    assert (run.headline, run.unmeasured, run.tally) == (
        "Nothing was measured",
        (("t.py::test_f[outer]", "skipped"),),
        (),
    )


def test_the_strategies_are_counted_by_how_they_stand_and_by_their_words(pair: list[Row], row: MakeRow) -> None:
    run = overview(results(*pair, row(strategy="both", status="passed"), row(strategy="inner", status="passed")))
    assert run.tally == ((Standing.FAILED, 1), (Standing.FINE, 3))
    assert run.words == {
        Standing.FAILED: (("REGRESSED", 1),),
        Standing.FINE: (("ok", 2), ("reference", 1)),
    }
    assert run.sentences[0] == "4 measured, 0 gated, 1 reference, 0 without a baseline, 1 failed"


def test_each_environment_is_told_once_without_what_is_usual(row: MakeRow) -> None:
    usual = Environment(jax="0.10.2", jaxlib="0.10.1", python="3.11", platform="cpu", machine="two cores")
    special = replace(usual, xla_flags="--xla_x=1", x64=True, device_count=4, config={"jax_debug_nans": "true"})
    run = overview(
        results(
            row(environment=usual), row(strategy="eager", environment=usual), row(strategy="both", environment=special)
        )
    )
    common = (("jax", "0.10.2"), ("jaxlib", "0.10.1"), ("python", "3.11"), ("platform", "cpu"))
    assert run.places == (
        Place(kind="cpu", facts=(*common, ("machine", "two cores"))),
        Place(
            kind="cpu",
            facts=(
                *common,
                ("device count", "4"),
                ("xla flags", "--xla_x=1"),
                ("x64", "True"),
                ("jax_debug_nans", "true"),
                ("machine", "two cores"),
            ),
        ),
    )


def test_tests_are_in_sections_the_worst_first(pair: list[Row], row: MakeRow) -> None:
    found = cards([*pair, row(test="test_b", status="passed"), row(test="test_a", status="passed")])
    made = sections([(card.name, card) for card in found])
    assert [(each.stands, [anchor for anchor, _ in each.cards]) for each in made] == [
        (Standing.FAILED, ["test_step"]),
        (Standing.FINE, ["test_a", "test_b"]),
    ]
    assert [(anchor, each.name) for anchor, _, each in made[0].troubles] == [("test_step", "outer")]
