"""Metrics of the user's own: what they may be called and may count, and how they are judged."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.custom import CustomMetric, Inspected, counted
from pytest_jitperf.errors import MeasurementError, SpecError
from pytest_jitperf.judge.outcome import Finding, Outcome, Verdict
from pytest_jitperf.judge.verdict import Evidence, judge
from pytest_jitperf.measurement import Comparison, Measurement
from pytest_jitperf.merging import merge
from pytest_jitperf.metrics import METRICS, unit_of
from pytest_jitperf.optionvalues import read_tolerances
from pytest_jitperf.plan import Plan, make_plan
from pytest_jitperf.settings import Settings
from pytest_jitperf.spec import parse_marker
from pytest_jitperf.units import Tolerance, Unit

SEEN = Inspected(strategy="outer", device_kind="cpu", function=abs)
SAME = Evidence(program=Comparison(same=True, how="fingerprint"))


def none(seen: Inspected) -> None:
    return None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            {"name": "All reduces"},
            'CustomMetric("All reduces", ...): a name is lower-case letters, digits *',
            id="no identifier",
        ),
        pytest.param({"name": "class"}, 'CustomMetric("class", ...): a name is *', id="a word of Python"),
        pytest.param(
            {"name": "flops"},
            'CustomMetric("flops", ...): the plugin measures flops itself; give yours another name',
            id="of the plugin",
        ),
        pytest.param({"name": "xla_cpu"}, "*: the plugin measures xla_cpu itself; *", id="CPU time of the plugin"),
        pytest.param(
            {"name": "outcome"},
            'CustomMetric("outcome", ...): outcome means something else in reports; give the metric another name',
            id="in reports",
        ),
        pytest.param({"name": "outer"}, "*: outer means something else in reports; *", id="a strategy"),
        pytest.param(
            {"name": "wait_seconds"},
            'CustomMetric("wait_seconds", ...): a metric of your own is a count, and no time: it has to be the same '
            "each time for the same code",
            id="a time",
        ),
        pytest.param(
            {"count": 12},
            'CustomMetric("waves", ...): count=12 cannot be called; give a function that takes what was measured and '
            "returns a number or None",
            id="no function",
        ),
        pytest.param({"tolerance": "5 ms"}, 'CustomMetric("waves", ...): tolerance*5 ms*', id="a time for a count"),
        pytest.param({"tolerance": "few"}, 'CustomMetric("waves", ...): tolerance*few*', id="no quantity"),
    ],
)
def test_what_cannot_be_a_metric_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(SpecError) as refused:
        CustomMetric(**{"name": "waves", "count": none, **arguments})

    start, star, end = said.partition("*")
    text = str(refused.value)
    assert text.startswith(start)
    assert text.endswith(end.rstrip("*")) or end.rstrip("*") in text
    assert star or text == said


def test_the_unit_stands_in_the_name() -> None:
    assert [unit_of(name) for name in ("waves", "padding_bytes", "run", "trace_cpu", "peak_bytes")] == [
        Unit.COUNT,
        Unit.BYTES,
        Unit.SECONDS,
        Unit.SECONDS,
        Unit.BYTES,
    ]


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3.0), (3.0, 3.0), (0, 0.0), (np.int32(7), 7.0), (np.array(7), 7.0), (np.float32(2.0), 2.0), (None, None)],
)
def test_a_count_is_a_whole_number_or_none(value: Any, number: float | None) -> None:
    assert counted(CustomMetric("waves", lambda seen: value), SEEN) == number


@pytest.mark.parametrize("value", [-1, 0.5, math.nan, math.inf, True, "3", [3], np.array([3]), 1 + 0j])
def test_anything_else_is_named_with_metric_and_strategy(value: Any) -> None:
    with pytest.raises(MeasurementError) as refused:
        counted(CustomMetric("waves", lambda seen: value), SEEN)

    start, _, end = str(refused.value).partition("gave ")
    assert start == 'metric "waves": count '
    assert end.endswith(" under strategy outer; return a whole number of 0 or more, or None where there is none")


def test_what_a_count_raises_says_which_metric_it_was() -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        counted(CustomMetric("waves", lambda seen: 1 / 0), SEEN)

    assert raised.value.__notes__ == ['while counting the metric "waves" under strategy outer']


def planned(custom: CustomMetric, strategy: str = "outer", settings: Settings | None = None, **marker: Any) -> Plan:
    metrics = {**METRICS, custom.name: custom.metric}
    layer = parse_marker((), {"strategies": ["eager", "outer"], **marker}, metrics=metrics)
    return make_plan(merge([layer]), settings or Settings(), strategy, "", "cpu", metrics=metrics)


def judged(
    measure: Callable[..., Measurement], record: Callable[..., Entry], plan: Plan, old: float | None, new: float | None
) -> Verdict:
    """What is made of a program that is the same, and has another number of the user's."""
    measured, entry = measure(), record()
    now = {**measured.exact, **({} if new is None else {"waves": new})}
    before = {**entry.exact, **({} if old is None else {"waves": old})}
    return judge(plan, measure(exact=now), record(exact=before), SAME)


def said_of_waves(verdict: Verdict) -> list[tuple[str, str, str]]:
    return [(each.outcome.value, each.sentence, each.rule) for each in verdict.findings if each.metric == "waves"]


@pytest.mark.parametrize(
    ("tolerance", "marker", "old", "new", "found"),
    [
        pytest.param("0 %", {}, 3, 3, [("ok", "waves 3 -> 3", "tolerance waves=no increase (default)")], id="same"),
        pytest.param(
            "0 %",
            {},
            3,
            4,
            [("REGRESSED", "waves regressed: 3 -> 4, x1.33, allowed 3", "tolerance waves=no increase (default)")],
            id="more",
        ),
        pytest.param(
            "0 %",
            {"tolerance": {"waves": "50 %"}},
            3,
            4,
            [("ok", "waves 3 -> 4", "tolerance waves=50 % (marker)")],
            id="as much more as the marker allows",
        ),
        pytest.param(None, {}, 3, 4, [], id="without a tolerance it explains"),
        pytest.param(
            None,
            {"tolerance": {"outer": {"waves": "0 %"}}},
            3,
            4,
            [("REGRESSED", "waves regressed: 3 -> 4, x1.33, allowed 3", "tolerance waves=no increase (marker)")],
            id="until the marker gives one",
        ),
        pytest.param(
            None,
            {"waves": 3},
            None,
            4,
            [("OVER BUDGET", "waves over budget: 4, budget 3", "budget waves=3 (marker)")],
            id="a budget",
        ),
        pytest.param(
            "0 %",
            {},
            None,
            4,
            [
                (
                    "not gated",
                    "waves not gated: the baseline has none; record it with --jitperf-update",
                    "tolerance waves=no increase (default)",
                )
            ],
            id="not in the baseline yet",
        ),
        pytest.param(
            "0 %",
            {},
            3,
            None,
            [
                (
                    "not gated",
                    "waves not gated: the baseline has 3, this run none (it was not measured)",
                    "tolerance waves=no increase (default)",
                )
            ],
            id="not any more",
        ),
        pytest.param("0 %", {}, None, None, [], id="none at all"),
    ],
)
def test_it_is_judged_as_the_exact_metrics_are(
    measure: Callable[..., Measurement],
    record: Callable[..., Entry],
    tolerance: str | None,
    marker: dict[str, Any],
    old: float | None,
    new: float | None,
    found: list[tuple[str, str, str]],
) -> None:
    plan = planned(CustomMetric("waves", none, tolerance), **marker)

    assert said_of_waves(judged(measure, record, plan, old, new)) == found


def test_of_eager_it_is_gated_only_where_the_marker_says_so(
    measure: Callable[..., Measurement], record: Callable[..., Entry]
) -> None:
    custom = CustomMetric("waves", none, "0 %")

    left = judged(measure, record, planned(custom, "eager"), 3, 4)
    asked = judged(measure, record, planned(custom, "eager", tolerance={"waves": "0 %"}), 3, 4)

    assert left == Verdict(findings=(Finding(outcome=Outcome.REFERENCE, sentence="the reference, nothing is gated"),))
    assert asked.outcome is Outcome.REGRESSED


def test_why_it_moved_names_what_the_program_gained_and_no_side_of_the_plugin(
    measure: Callable[..., Measurement], record: Callable[..., Entry]
) -> None:
    verdict = judged(measure, record, planned(CustomMetric("waves", none, "0 %")), 3, 4)

    assert verdict.outcome is Outcome.REGRESSED
    assert not any("may be the cause" in line for line in verdict.why)


def test_a_marker_knows_it_like_any_other_and_suggests_it() -> None:
    metrics = {**METRICS, "waves": CustomMetric("waves", none).metric}

    right = parse_marker((), {"budgets": {"outer": {"waves": 3}}, "tolerance": {"waves": "1"}}, metrics=metrics)
    wrong = parse_marker((), {"wave": 3}, metrics=metrics)

    assert right.errors == ()
    assert right.tolerance.everywhere == {"waves": Tolerance(0.0, 1.0)}
    assert wrong.errors[0].startswith('unknown keyword wave=; did you mean "waves"? Valid: ')


def test_an_option_may_give_its_tolerance() -> None:
    metrics = {**METRICS, "waves": CustomMetric("waves", none).metric}

    assert read_tolerances(["run=5%,waves=50%"], metrics)["waves"] == Tolerance(0.5, 0.0)
