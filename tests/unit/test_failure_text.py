"""The text of a failure, whole."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from pytest_jitperf.judge.outcome import Finding, Outcome, Verdict
from pytest_jitperf.measurement import Measurement, Ratio
from pytest_jitperf.report.failure import accept_command, failure_text

WHERE = "tests/__jitperf__/test_step.json, test_step / outer / cpu"
NODEID = "tests/test_step.py::test_step[outer]"
RULE = "tolerance run=5 % (marker)"
RACE = Ratio(estimate=1.22, low=1.2, high=1.24, rounds=20, seconds=1, decided=True, confirmed=True)
RUN = Finding(
    outcome=Outcome.REGRESSED,
    sentence="run regressed: 301 us -> 367 us, x1.22 (x1.20 ... x1.24), allowed x1.05",
    metric="run",
    ratio=RACE,
    rule=RULE,
)
MEMORY = Finding(
    outcome=Outcome.REGRESSED,
    sentence="peak_bytes regressed: 8 MiB -> 16 MiB, x2.00, allowed 8.4 MiB",
    metric="peak_bytes",
    rule="tolerance peak_bytes=5 % and 64 KiB (default)",
)
BUDGET = Finding(
    outcome=Outcome.OVER_BUDGET,
    sentence="run over budget: 367 us, budget 300 us",
    metric="run",
    rule="budget run=300 us (marker)",
)
OK = Finding(outcome=Outcome.OK, sentence="launches 1 -> 1", rule="tolerance launches=no increase (default)")
WHY = ("the program changed: + 1 dot", "on the host: launches 1 -> 2", "the environment changed: x64 False -> True")


@pytest.fixture(name="text")
def text_of_a_verdict(measure: Callable[..., Measurement]) -> Callable[..., str]:
    def write(*findings: Finding, verbose: bool = False, why: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> str:
        return failure_text(
            Verdict(findings=findings, why=why, notes=("a note of the verdict",) if notes else ()),
            nodeid=NODEID,
            strategy="outer",
            measured=measure(notes=notes),
            where=WHERE,
            verbose=verbose,
        )

    return write


def test_a_regression_says_what_where_why_by_which_rule_and_how_to_accept_it(text: Callable[..., str]) -> None:
    assert text(OK, RUN, why=WHY[:1]) == (
        "run regressed: 301 us -> 367 us, x1.22 (x1.20 ... x1.24), allowed x1.05\n"
        "  strategy outer, device cpu; tests/__jitperf__/test_step.json, test_step / outer / cpu\n"
        "  why   the program changed: + 1 dot\n"
        "  rule  tolerance run=5 % (marker)\n"
        '  accept it with   pytest "tests/test_step.py::test_step[outer]" --jitperf-update'
    )


def test_everything_that_fails_is_said_run_time_first_with_each_rule_once(text: Callable[..., str]) -> None:
    other = Finding(outcome=Outcome.REGRESSED, sentence="helper f: run regressed", rule=RULE)

    assert text(MEMORY, other, RUN, why=WHY, notes=("g was jitted already",)) == (
        "run regressed: 301 us -> 367 us, x1.22 (x1.20 ... x1.24), allowed x1.05\n"
        "  strategy outer, device cpu; tests/__jitperf__/test_step.json, test_step / outer / cpu\n"
        "  also  peak_bytes regressed: 8 MiB -> 16 MiB, x2.00, allowed 8.4 MiB\n"
        "  also  helper f: run regressed\n"
        "  why   the program changed: + 1 dot\n"
        "  why   on the host: launches 1 -> 2\n"
        "        (1 more with -vv)\n"
        "  rule  tolerance run=5 % (marker)\n"
        "  rule  tolerance peak_bytes=5 % and 64 KiB (default)\n"
        "  note  g was jitted already\n"
        "  note  a note of the verdict\n"
        '  accept it with   pytest "tests/test_step.py::test_step[outer]" --jitperf-update'
    )


def test_all_of_the_explanation_is_there_when_asked_for(text: Callable[..., str]) -> None:
    lines = text(RUN, why=WHY, verbose=True).splitlines()

    assert lines[2:5] == [f"  why   {line}" for line in WHY]
    assert "with -vv" not in "".join(lines)


@pytest.mark.parametrize(("outcome", "metric"), [(Outcome.REGRESSED, "run"), (Outcome.NOT_FASTER, "")])
def test_a_race_that_there_was_no_time_to_confirm_says_so(
    text: Callable[..., str], outcome: Outcome, metric: str
) -> None:
    unconfirmed = Finding(
        outcome=outcome,
        sentence="run regressed",
        metric=metric,
        ratio=Ratio(estimate=1.22, low=1.2, high=1.24, rounds=20, seconds=1, decided=True),
    )

    assert text(unconfirmed).splitlines()[2] == (
        "  note  not confirmed with fresh executables: the time for extra compiling was used up; "
        "--jitperf-max-compile gives it more"
    )
    assert "not confirmed" not in text(RUN)


@pytest.mark.parametrize(
    "outcome", [Outcome.OVER_BUDGET, Outcome.WRONG_RESULT, Outcome.NOT_FASTER, Outcome.NOT_MEASURED]
)
def test_what_an_update_would_not_pass_is_not_offered_one(text: Callable[..., str], outcome: Outcome) -> None:
    alone = Finding(outcome=outcome, sentence="it failed")

    assert "--jitperf-update" not in text(alone)
    assert "--jitperf-update" not in text(alone, RUN)


def test_an_improvement_that_is_to_be_recorded_is_accepted_by_an_update(text: Callable[..., str]) -> None:
    better = Finding(outcome=Outcome.IMPROVED, sentence="run improved", insisted=True, rule="fail_on_improvement")

    assert text(better).splitlines()[-2:] == [
        "  rule  fail_on_improvement",
        '  accept it with   pytest "tests/test_step.py::test_step[outer]" --jitperf-update',
    ]


@pytest.mark.parametrize(
    ("outcome", "said", "offered"),
    [
        (Outcome.NEW, ["not gated: no program was stored", "  also  it is unsettled"], True),
        (Outcome.INCONCLUSIVE, ["it is unsettled", "  also  not gated: no program was stored"], False),
    ],
)
def test_under_strict_all_that_is_unsettled_is_said_worst_first(
    text: Callable[..., str], outcome: Outcome, said: list[str], offered: bool
) -> None:
    unsettled = Finding(outcome=outcome, sentence="it is unsettled")
    missing = Finding(outcome=Outcome.NOT_GATED, sentence="not gated: no program was stored")

    lines = text(OK, missing, unsettled).splitlines()

    assert lines[0:3:2] == said
    assert ("--jitperf-update" in lines[-1]) == offered


def test_without_a_measurement_no_device_is_named() -> None:
    verdict = Verdict(findings=(Finding(outcome=Outcome.NOT_MEASURED, sentence="it cannot be measured"),))

    text = failure_text(verdict, nodeid="t", strategy="outer", measured=None, where=WHERE, verbose=False)

    assert text == f"it cannot be measured\n  strategy outer; {WHERE}"


@pytest.mark.parametrize(
    ("nodeid", "quoted"),
    [
        ("t.py::test[outer]", '"t.py::test[outer]"'),
        ("my tests/t.py::test[a b-outer]", '"my tests/t.py::test[a b-outer]"'),
        ("t.py::test[it's-outer]", '"t.py::test[it\'s-outer]"'),
        ('t.py::test["$x"-outer]', "'t.py::test[\"$x\"-outer]'"),
        ("t.py::test[`a`!\\-outer]", "'t.py::test[`a`!\\-outer]'"),
    ],
)
def test_the_command_reaches_pytest_as_the_node_id_that_it_names(nodeid: str, quoted: str) -> None:
    command = accept_command(nodeid)

    assert command == f"pytest {quoted} --jitperf-update"
    assert shlex.split(command) == ["pytest", nodeid, "--jitperf-update"]


def test_the_command_repeats_the_options_that_say_what_the_item_is_called() -> None:
    options = ["--jitperf-devices=cpu", "--jitperf-baseline-dir=a b"]

    assert accept_command("t.py::test[outer-cpu]", options) == (
        "pytest \"t.py::test[outer-cpu]\" --jitperf-devices=cpu '--jitperf-baseline-dir=a b' --jitperf-update"
    )
