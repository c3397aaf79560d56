"""Reads the values of options that are more than one quantity."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_jitperf.devices import check_devices
from pytest_jitperf.metrics import METRICS, Metric
from pytest_jitperf.strategies import BUILTIN, is_name
from pytest_jitperf.units import QuantityError, Tolerance, parse_tolerance
from pytest_jitperf.wording import choose, listed, show

__all__ = ["WrongValueError", "read_devices", "read_missing", "read_strategies", "read_tolerances"]

MISSING = ("ok", "warn", "fail")


class WrongValueError(ValueError):
    """What is wrong with an option's value, to be read after ``--option="value"``."""


def _names(texts: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(","))


def read_strategies(texts: list[str]) -> tuple[str, ...]:
    """Names of strategies; which of them the tests have is known only after collection."""
    names = _names(texts)
    for name in names:
        if name in METRICS:
            raise WrongValueError(
                f"names {show(name)}, which is a metric; strategies are {listed(BUILTIN)}, and your own"
            )
        if not is_name(name):
            raise WrongValueError(f"names {show(name)}, which is no strategy; {choose(name, BUILTIN)}, and your own")
        if names.count(name) > 1:
            raise WrongValueError(f"names {show(name)} twice")
    return names


def read_devices(texts: list[str]) -> tuple[str, ...]:
    """Devices as they are asked for."""
    names = _names(texts)
    for sentence in check_devices(names):
        raise WrongValueError(f"is wrong: {sentence}")
    return names


def read_tolerances(texts: list[str], metrics: Mapping[str, Metric] = METRICS) -> Mapping[str, Tolerance]:
    """Tolerances by metric.

    Later texts override earlier ones, as options on a command line do; within one text each metric stands
    once.

    Args:
        texts: As given.
        metrics: Every metric by name, those of the user's own too.
    """
    found: dict[str, Tolerance] = {}
    for text in texts:
        here: dict[str, Tolerance] = {}
        for part in text.split(","):
            metric, sign, tolerance = (each.strip() for each in part.partition("="))
            if not sign:
                raise WrongValueError(f"has {show(part.strip())} without a metric; write run=10%,compile=25%")
            if metric not in metrics:
                raise WrongValueError(f"names unknown metric {show(metric)}; {choose(metric, metrics)}")
            if metric in here:
                raise WrongValueError(f"names {metric} twice")
            try:
                here[metric] = parse_tolerance(tolerance, metrics[metric].unit)
            except QuantityError as error:
                raise WrongValueError(f"is wrong: {error.named(metric)}") from error
        found |= here
    return found


def read_missing(text: str) -> str:
    """What a test without a baseline does."""
    if text not in MISSING:
        raise WrongValueError(f"is not one of the policies; {choose(text, MISSING)}")
    return text
