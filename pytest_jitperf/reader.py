"""Reads the values of a marker's keywords, noting every mistake instead of stopping at the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from pytest_jitperf.metrics import METRICS, Metric
from pytest_jitperf.quantity import is_number
from pytest_jitperf.strategies import Strategy
from pytest_jitperf.units import QuantityError, Tolerance, Unit, parse_duration, parse_quantity, parse_tolerance
from pytest_jitperf.wording import choose, show

__all__ = ["Reader"]


class Reader:
    """Reads values of the keyword at hand; a mistake is noted, and the value is None or empty then.

    Attributes:
        metrics: Every metric by name, those of the user's own too.
        keyword: The keyword at hand.
        errors: One sentence for each mistake; each begins with its keyword.
        broken: Keywords with a mistake.
    """

    def __init__(self, metrics: Mapping[str, Metric] = METRICS) -> None:
        self.metrics = metrics
        self.keyword = ""
        self.errors: list[str] = []
        self.broken: set[str] = set()

    def wrong(self, sentence: str) -> None:
        """Notes a mistake."""
        self.broken.add(self.keyword)
        self.errors.append(sentence)

    def listing(self, value: object) -> Sequence[object]:
        """A list or tuple; a set has no order, and ids must be the same in every process."""
        if isinstance(value, (list, tuple)):
            return value
        hint = f"[{show(value)}]" if isinstance(value, (str, Strategy)) or callable(value) else "[...]"
        self.wrong(f"{self.keyword}={show(value)} is not a list; write {self.keyword}={hint}")
        return ()

    def mapping(self, name: str, value: object, example: str) -> Mapping[str, object]:
        """A mapping with strings for keys."""
        if not isinstance(value, Mapping):
            self.wrong(f"{name}={show(value)} is not a mapping; write {name}={example}")
            return {}
        for key in value:
            if not isinstance(key, str):
                meant = show(key.name) if isinstance(key, Strategy) else f"{name}={example}"
                self.wrong(f"{name}: {show(key)} is not a name; write {meant}")
        return {key: each for key, each in value.items() if isinstance(key, str)}

    def flag(self, value: object) -> bool | None:
        """True or False."""
        if not isinstance(value, bool):
            self.wrong(f"{self.keyword}={show(value)} is not True or False")
            return None
        return value

    def number(self, value: object) -> float | None:
        """A plain number, finite and at least 0."""
        if not is_number(value) or not math.isfinite(float(value)) or float(value) < 0:
            self.wrong(f"{self.keyword}={show(value)} is not a finite number of 0 or more; write one such as 1e-4")
            return None
        return float(value)

    def metric(self, name: str, metric: str) -> bool:
        """Whether there is such a metric."""
        if metric not in self.metrics:
            self.wrong(f"{name}: unknown metric {show(metric)}; {choose(metric, self.metrics)}")
        return metric in self.metrics

    def limit(self, name: str, metric: str, value: object) -> float | None:
        """An absolute limit for a metric."""
        if isinstance(value, str) and value.rstrip().endswith("%"):
            meant = f'to compare with the baseline write tolerance={{"{metric}": "5 %"}}'
            self.wrong(f"{name}={show(value)} is a percentage, and a budget is absolute; {meant}")
            return None
        limit = self._quantity(name, lambda: parse_quantity(value, self.metrics[metric].unit))
        if limit == 0 and self.metrics[metric].kind == "timed":
            self.wrong(f'{name}={show(value)} can never be met; write a time above 0, such as "5 ms"')
        return limit

    def tolerance(self, name: str, metric: str, value: object) -> Tolerance | None:
        """A tolerance for a metric."""
        try:
            return parse_tolerance(value, self.metrics[metric].unit)
        except QuantityError as error:
            self.wrong(error.named(name))
            return None

    def factor(self, name: str, value: object) -> float | None:
        """A number above 0."""
        return self._quantity(name, lambda: parse_quantity(value, Unit.FACTOR))

    def count(self, name: str, value: object) -> int | None:
        """A whole number above 0."""
        count = self._quantity(name, lambda: parse_quantity(value, Unit.COUNT))
        if count == 0:
            self.wrong(f"{name}={show(value)} is not 1 or more")
        return int(count) if count else None

    def duration(self, name: str, value: object) -> float | None:
        """A time above 0, in seconds."""
        seconds = self._quantity(name, lambda: parse_duration(value))
        if seconds == 0:
            self.wrong(f'{name}={show(value)} leaves no time; write a time above 0, such as "60 s"')
        return seconds

    def _quantity(self, name: str, parse: Callable[[], float]) -> float | None:
        try:
            return parse()
        except QuantityError as error:
            self.wrong(error.named(name))
            return None
