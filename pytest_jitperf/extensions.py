"""What hooks of a ``conftest.py`` or of another plugin give, checked: see ``hookspecs.py``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import pytest

from pytest_jitperf.custom import CustomMetric
from pytest_jitperf.errors import HookError, JitperfError
from pytest_jitperf.judge.outcome import Verdict
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.metrics import METRICS, Metric
from pytest_jitperf.report.grouping import one_line
from pytest_jitperf.row import Row
from pytest_jitperf.spec import KEYWORDS
from pytest_jitperf.strategies import Strategy
from pytest_jitperf.wording import show

__all__ = ["added_facts", "added_lines", "added_metrics", "added_strategies", "metrics_with", "reviewed"]


def added_strategies(node: pytest.Item | pytest.Collector) -> tuple[Strategy, ...]:
    """The strategies that are registered for a node.

    Raises:
        HookError: A hook gives something else, or a name twice.
    """
    hook = "pytest_jitperf_strategies"
    try:
        given = node.ihook.pytest_jitperf_strategies(config=node.config)
    except JitperfError as error:
        _refuse(hook, str(error))
    found: dict[str, Strategy] = {}
    for answer in given:
        if isinstance(answer, (str, Strategy)) or not isinstance(answer, Sequence):
            _refuse(hook, f"returned {show(answer)}; return a list of Strategy")
        for each in answer:
            if not isinstance(each, Strategy):
                _refuse(hook, f"gave {show(each)}, which is no Strategy; write Strategy(name, build)")
            if found.setdefault(each.name, each) is not each:
                _refuse(hook, f"strategy {show(each.name)} is registered twice; give one of them another name")
    return tuple(found.values())


def added_metrics(node: pytest.Item | pytest.Collector | pytest.Config) -> tuple[CustomMetric, ...]:
    """The metrics that are registered for a node, or for all that is known before collection.

    Raises:
        HookError: A hook gives something else, a name twice, or one that means something in a marker.
    """
    hook = "pytest_jitperf_metrics"
    config = node if isinstance(node, pytest.Config) else node.config
    hooks = config.hook if isinstance(node, pytest.Config) else node.ihook
    try:
        given = hooks.pytest_jitperf_metrics(config=config)
    except JitperfError as error:
        _refuse(hook, str(error))
    found: dict[str, CustomMetric] = {}
    for answer in given:
        if isinstance(answer, (str, CustomMetric)) or not isinstance(answer, Sequence):
            _refuse(hook, f"returned {show(answer)}; return a list of CustomMetric")
        for each in answer:
            if not isinstance(each, CustomMetric):
                _refuse(hook, f"gave {show(each)}, which is no CustomMetric; write CustomMetric(name, count)")
            if each.name in KEYWORDS:
                _refuse(hook, f"metric {show(each.name)} is a keyword of the marker; give it another name")
            if found.setdefault(each.name, each) is not each:
                _refuse(hook, f"metric {show(each.name)} is registered twice; give one of them another name")
    return tuple(found.values())


def metrics_with(added: Sequence[CustomMetric]) -> Mapping[str, Metric]:
    """Every metric by name, those that were added last."""
    return {**METRICS, **{each.name: each.metric for each in added}}


def added_facts(item: pytest.Item) -> dict[str, str]:
    """Facts on the environment of an item.

    Raises:
        HookError: A hook gives something else, or two of them give one name different values.
    """
    hook = "pytest_jitperf_environment"
    found: dict[str, str] = {}
    for answer in item.ihook.pytest_jitperf_environment(config=item.config):
        if not isinstance(answer, Mapping):
            _refuse(hook, f"returned {show(answer)}; return a mapping from name to value")
        for name, value in answer.items():
            for text in (name, value):
                if not isinstance(text, str) or not text or not text.isprintable():
                    _refuse(hook, f"gave {show({name: value})}; names and values are texts of one line")
            if found.setdefault(name, value) != value:
                _refuse(hook, f"{name} is {show(found[name])} for one plugin and {show(value)} for another")
    return found


def reviewed(item: pytest.Item, measurement: Measurement, verdict: Verdict) -> Verdict:
    """A verdict after the hooks have seen it.

    Raises:
        HookError: A hook gives something else.
    """
    answer: Any = item.ihook.pytest_jitperf_verdict(item=item, measurement=measurement, verdict=verdict)
    if answer is None:
        return verdict
    if not isinstance(answer, Verdict):
        _refuse(
            "pytest_jitperf_verdict",
            f"returned {show(answer)}; return verdict.annotated(note), verdict.vetoed(reason) or None",
        )
    return answer


def added_lines(config: pytest.Config, rows: Sequence[Row]) -> tuple[str, ...]:
    """Lines for the reports; where a hook fails, a line that says so, since what was measured must not go with it."""
    try:
        given = config.hook.pytest_jitperf_report(config=config, rows=tuple(rows))
    except Exception as error:
        return (f"ERROR hook pytest_jitperf_report raised {one_line(f'{type(error).__name__}: {error}')}",)
    lines: list[str] = []
    for answer in given:
        if isinstance(answer, str) or not isinstance(answer, Sequence):
            return (f"ERROR hook pytest_jitperf_report: returned {show(answer)}; return a list of lines",)
        lines += [one_line(line) for each in answer for line in str(each).splitlines()]
    return tuple(lines)


def _refuse(hook: str, what: str) -> NoReturn:
    raise HookError(f"hook {hook}: {what}")
