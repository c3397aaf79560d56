"""Quantities with units: read from what people write, compared, and written for people again.

Inside the plugin a time is in seconds, a size in bytes and a count a plain number. Text is met in the marker and the
options (``"5 ms"``, ``"64 MiB"``, ``"10 %"``) and in messages. A bare number is refused wherever it could mean more
than one thing.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from pytest_jitperf.quantity import (
    EXAMPLE,
    QuantityError,
    Unit,
    alternatives,
    amount,
    is_number,
    parse_duration,
    parse_quantity,
    refuse_unfit,
    split,
    to_decimal,
)
from pytest_jitperf.wording import show

__all__ = [
    "QuantityError",
    "Tolerance",
    "Unit",
    "format_change",
    "format_quantity",
    "parse_duration",
    "parse_quantity",
    "parse_tolerance",
]

_SHOWN_UNITS: Mapping[Unit, tuple[tuple[str, float], ...]] = {
    Unit.SECONDS: (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)),
    Unit.BYTES: (("B", 1.0), ("KiB", 2.0**10), ("MiB", 2.0**20), ("GiB", 2.0**30), ("TiB", 2.0**40)),
}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How much more than before is still fine: within a share of the old value or within an absolute amount.

    Both must be exceeded to fail, so that the share judges large values and the amount small ones.

    ======================  =======  =======  ======================================
    tolerance               old      limit    decided by
    ======================  =======  =======  ======================================
    5 % and 64 KiB          10 MiB   10.5 MiB the share
    5 % and 64 KiB          100 KiB  164 KiB  the amount
    5 % and 64 KiB          0 B      64 KiB   the amount: a share of nothing is nothing
    10 %                    0        0        any increase fails
    0 %                     7        7        any increase fails
    ======================  =======  =======  ======================================

    Attributes:
        relative: Share of the old value, 0.05 for 5 %; finite and at least 0.
        absolute: Amount in the metric's own unit (seconds, bytes or a count); finite and at least 0.
    """

    relative: float = 0.0
    absolute: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("relative", self.relative), ("absolute", self.absolute)):
            if not (math.isfinite(value) and value >= 0):
                raise QuantityError(value, f"cannot be the {name} part of a tolerance", "give a number, 0 or more")

    def limit(self, old: float) -> float:
        """The largest value that still passes, in the unit of ``old``."""
        return max(old + old * self.relative, old + self.absolute)

    def allows(self, old: float, new: float) -> bool:
        """Whether ``new`` passes; a value that is not a number never does.

        The share is taken a few last bits larger, so that 201 % of 300 does not hang on those of 2.01.
        """
        return new <= max(self.limit(old), old + old * self.relative * (1 + 1e-15))

    def describe(self, unit: Unit) -> str:
        """The tolerance as one writes it: ``5 % and 64 KiB``, or ``no increase``."""
        parts = []
        if self.relative:
            parts.append(f"{_digits(self.relative * 100)} %")
        if self.absolute:
            parts.append(format_quantity(self.absolute, unit))
        return " and ".join(parts) or "no increase"


def parse_tolerance(text: object, unit: Unit) -> Tolerance:
    """Reads how much worse than the baseline is still fine.

    Args:
        text: ``"5 %"``, ``"64 KiB"``, or both joined by ``and``; for a count also a number, ``2`` meaning 2 more.
        unit: Unit of the metric, which the absolute part is in.

    Returns:
        The tolerance; ``"0 %"`` means that any increase fails.

    Raises:
        QuantityError: A bare number that may be a share or an amount, a wrong unit, below zero, not finite, empty.
    """
    example = "2" if unit is Unit.COUNT else EXAMPLE[unit].strip('"')
    way_out = f'write "5 %", "{example}" or "5 % and {example}"'
    if not isinstance(text, str):
        if unit is not Unit.COUNT and is_number(text):
            raise _share_or_amount(to_decimal(text), text, unit, way_out)
        return Tolerance(absolute=amount(text, unit, text, way_out))
    relative: list[float] = []
    absolute: list[float] = []
    for part in re.split(r"\band\b", text):
        number, word = split(part, text, unit, way_out)
        refuse_unfit(number, text, way_out)
        if word == "%":
            relative.append(float(number / 100))
        elif word.lower() in ("percent", "per cent", "pct"):
            raise QuantityError(text, f"has unknown unit {show(word)}", f'write "{number} %"')
        elif not word and unit is not Unit.COUNT:
            raise _share_or_amount(number, text, unit, way_out)
        else:
            absolute.append(amount(part, unit, text, way_out))
    if len(relative) > 1 or len(absolute) > 1:
        raise QuantityError(text, f"gives two {'percentages' if len(relative) > 1 else 'amounts'}", way_out)
    return Tolerance(sum(relative, 0.0), sum(absolute, 0.0))


def format_quantity(value: float | None, unit: Unit, digits: int = 3) -> str:
    """Writes a value for people, in ASCII: ``301 us``, ``8 MiB``, ``18,524``, ``x1.22``; ``-`` for None.

    Args:
        value: Seconds, bytes, a count or a factor.
        unit: Its unit.
        digits: Significant digits; whole counts below ten million are always written in full.
    """
    if value is None:
        return "-"
    if not math.isfinite(value):
        return str(value)
    if unit is Unit.FACTOR:
        return f"x{value:.2f}" if value < 100 else f"x{_digits(value, 1)}"
    if unit is Unit.COUNT:
        return f"{value:,.0f}" if value == round(value) and abs(value) < 1e7 else f"{value:.{digits}g}"
    units = _SHOWN_UNITS[unit]
    if not value:
        return f"0 {'s' if unit is Unit.SECONDS else 'B'}"
    # The unit is chosen by what will be shown: 999.7 us rounds to 1 ms, not to 1000 us.
    for (name, scale), (_, larger) in itertools.pairwise(units):
        if abs(value) < larger:
            shown = _digits(value / scale, digits)
            if abs(float(shown)) * scale < larger:
                return f"{shown} {name}"
    name, scale = units[-1]
    return f"{_digits(value / scale, digits)} {name}"


def format_change(old: float | None, new: float | None, unit: Unit) -> str:
    """Writes ``301 us -> 367 us``, with as many digits as it takes to tell the two apart."""
    for digits in (3, 5, 7, 10, 17):
        before, after = format_quantity(old, unit, digits), format_quantity(new, unit, digits)
        if before != after or old == new:
            break
    return f"{before} -> {after}"


def _share_or_amount(number: Decimal, whole: object, unit: Unit, way_out: str) -> QuantityError:
    """The refusal of a bare number in a tolerance; a fraction such as 0.05 most likely means 5 %."""
    refuse_unfit(number, whole, way_out)
    share = f'"{_digits(float(number) * 100)} %"' if 0 < number < 1 else f'"{number} %"'
    amounts = alternatives(number, ("ms",) if unit is Unit.SECONDS else ("KiB",))
    return QuantityError(whole, "may be a share or an amount", f"write {share} or {amounts}")


def _digits(value: float, digits: int = 3) -> str:
    """``digits`` significant digits, never fewer than the whole part has, up to where nobody would read them."""
    if abs(value) >= 1e15:
        return f"{value:.{digits}g}"
    shown = f"{value:.{max(digits, len(str(int(abs(value)))))}g}"
    return f"{value:.0f}" if "e+" in shown else shown
