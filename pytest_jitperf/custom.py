"""Metrics of the user's own: counts that a hook adds to those of the plugin.

They are exact, as a gate without a race can only be on what never varies: a number that differs from run to run of the
same code would fail tests at random.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_jitperf.errors import MeasurementError, SpecError
from pytest_jitperf.metrics import Metric, is_custom, unit_of
from pytest_jitperf.quantity import is_number
from pytest_jitperf.strategies import BUILTIN
from pytest_jitperf.units import QuantityError, parse_tolerance
from pytest_jitperf.wording import show

__all__ = ["CustomMetric", "Inspected", "counted"]

_NAME = re.compile(r"[a-z][a-z0-9_]*")
# What stands in JUnit properties beside the metrics, ``jitperf.main.outcome``.
_TAKEN = ("compare_seconds", "device_kind", "gated_by", "outcome", "strategy", "why")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """What a metric of the user's own may count in: one measurement.

    Attributes:
        strategy: Name of the strategy.
        device_kind: As JAX names it, ``"cpu"`` or ``"NVIDIA H200"``.
        function: The function under test, as the test gave it.
        args: Its positional arguments; empty where ``make_args`` or ``inputs`` made them.
        kwargs: Its keyword arguments.
        result: What it returned under the strategy.
        lowered: The one program of the strategy before XLA, a ``jax.stages.Lowered``; None where Python drives several.
        compiled: The same after XLA, a ``jax.stages.Compiled``.
    """

    strategy: str
    device_kind: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    lowered: Any = None
    compiled: Any = None


@dataclass(frozen=True, slots=True)
class CustomMetric:
    """A metric of the user's own: a count that is better when smaller, the same each time for the same code.

    It is stored in the baseline, compared with it, and may be given a budget or a tolerance in the marker, as the exact
    metrics of the plugin.

    Example:
        ``CustomMetric("collectives", lambda seen: seen.compiled and seen.compiled.as_text().count("all-reduce("))``

    Attributes:
        name: Lower-case letters, digits and ``_``, beginning with a letter. What ends in ``_bytes`` is a size in bytes,
            anything else a plain count.
        count: Takes what was measured, returns the number, whole and at least 0, or None where the measurement has
            none, such as that of a program under ``eager``.
        tolerance: How much more than in the baseline is still fine, ``"0 %"`` or ``"5 % and 2"``; a marker or an option
            goes before it. None where the metric only explains, until one of these gives it a tolerance or a budget.

    Raises:
        SpecError: The name cannot be used, ``count`` is not callable, or the tolerance is none.
    """

    name: str
    count: Callable[[Inspected], float | None] = field(repr=False)
    tolerance: str | None = None

    def __post_init__(self) -> None:
        at = f"CustomMetric({show(self.name)}, ...)"
        if not isinstance(self.name, str) or _NAME.fullmatch(self.name) is None or keyword.iskeyword(self.name):
            raise SpecError(
                f"{at}: a name is lower-case letters, digits and '_', and begins with a letter, such as \"collectives\""
            )
        if not is_custom(self.name):
            raise SpecError(f"{at}: the plugin measures {self.name} itself; give yours another name")
        if self.name in (*BUILTIN, *_TAKEN):
            raise SpecError(f"{at}: {self.name} means something else in reports; give the metric another name")
        if self.name.endswith(("_seconds", "_ms", "_us", "_ns", "_time")):
            raise SpecError(
                f"{at}: a metric of your own is a count, and no time: it has to be the same each time for the same code"
            )
        if not callable(self.count):
            raise SpecError(
                f"{at}: count={show(self.count)} cannot be called; give a function that takes what was measured and "
                "returns a number or None"
            )
        if self.tolerance is not None:
            try:
                parse_tolerance(self.tolerance, unit_of(self.name))
            except QuantityError as error:
                raise SpecError(f"{at}: {error.named('tolerance')}") from error

    @property
    def metric(self) -> Metric:
        """The metric as the plugin has its own."""
        return Metric(
            name=self.name,
            unit=unit_of(self.name),
            kind="exact",
            side="program",
            default=None if self.tolerance is None else parse_tolerance(self.tolerance, unit_of(self.name)),
            gated=self.tolerance is not None,
            meaning="a count of your own",
        )


def counted(metric: CustomMetric, seen: Inspected) -> float | None:
    """The number of one measurement, or None where it has none.

    Raises:
        MeasurementError: ``count`` gave something else.
        Exception: Whatever it raised.
    """
    try:
        value: Any = metric.count(seen)
        # A scalar of JAX or numpy is an array to Python.
        value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    except Exception as error:
        error.add_note(f"while counting the metric {show(metric.name)} under strategy {seen.strategy}")
        raise
    if value is None:
        return None
    if not is_number(value) or not math.isfinite(float(value)) or float(value) < 0 or float(value) % 1:
        raise MeasurementError(
            f"metric {show(metric.name)}: count gave {show(value)} under strategy {seen.strategy}; return a whole "
            "number of 0 or more, or None where there is none"
        )
    return float(value)
