"""One quantity read from what people write: a number with a unit, refused with a sentence where it is none."""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import TypeGuard

from pytest_jitperf.wording import listed, show

__all__ = [
    "EXAMPLE",
    "QuantityError",
    "Unit",
    "alternatives",
    "amount",
    "is_number",
    "parse_duration",
    "parse_quantity",
    "refuse_unfit",
    "split",
    "to_decimal",
]


class Unit(enum.Enum):
    """What a number counts; smaller is better for all but ``FACTOR``, whose reader decides."""

    SECONDS = "time"
    BYTES = "size"
    COUNT = "count"
    FACTOR = "factor"


class QuantityError(ValueError):
    """A value is not the quantity that was expected.

    Attributes:
        value: As it was given.
        rule: What is wrong, to be read after the value: ``has no unit``.
        way_out: What to write instead.
    """

    def __init__(self, value: object, rule: str, way_out: str) -> None:
        super().__init__(f"{show(value)} {rule}; {way_out}")
        self.value = value
        self.rule = rule
        self.way_out = way_out

    def named(self, name: str) -> str:
        """The message with the name of what was set: ``run=5 has no unit; write …``."""
        return f"{name}={self}"


_SCALES: Mapping[Unit, Mapping[str, Decimal]] = {
    Unit.SECONDS: {
        "ns": Decimal("1e-9"),
        "us": Decimal("1e-6"),
        "ms": Decimal("1e-3"),
        "s": Decimal(1),
        "min": Decimal(60),
        "h": Decimal(3600),
    },
    Unit.BYTES: {
        "B": Decimal(1),
        "kB": Decimal(10**3),
        "MB": Decimal(10**6),
        "GB": Decimal(10**9),
        "TB": Decimal(10**12),
        "KiB": Decimal(2**10),
        "MiB": Decimal(2**20),
        "GiB": Decimal(2**30),
        "TiB": Decimal(2**40),
    },
    Unit.COUNT: {"": Decimal(1)},
    Unit.FACTOR: {"": Decimal(1), "x": Decimal(1)},
}
# Both code points that keyboards and editors give for "micro".
_SAME_UNIT = {"\N{MICRO SIGN}s": "us", "\N{GREEK SMALL LETTER MU}s": "us"}
# Words that a prefix would not lead from; the unit that each probably means.
_LIKELY_UNIT = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("nsec", "nanos", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("byte", "bytes"), "B"),
}
_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(?P<unit>.*)", re.DOTALL
)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)\b", re.IGNORECASE)
_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3})+")
_NOUN = {Unit.SECONDS: "a time", Unit.BYTES: "a size", Unit.COUNT: "a count", Unit.FACTOR: "a factor"}
EXAMPLE = {Unit.SECONDS: '"5 ms"', Unit.BYTES: '"64 MiB"', Unit.COUNT: "3", Unit.FACTOR: "2.0"}


def parse_quantity(text: object, unit: Unit) -> float:
    """Reads an absolute amount.

    Args:
        text: ``"5 ms"``, ``"1.5s"``, ``"2 min"``, ``"64 MiB"``, ``"10 kB"``; for a count ``3``, ``"3"`` or ``"2,000"``;
            for a factor ``2.0``, ``"2"`` or ``"2x"``.
        unit: What is expected.

    Returns:
        Seconds, bytes, a whole count or a factor; finite and at least 0, a factor more than 0.

    Raises:
        QuantityError: Not a quantity of this unit. The message says what was probably meant.
    """
    return amount(text, unit, text, f"write {EXAMPLE[unit]}")


def parse_duration(text: object) -> float:
    """Reads a time, ``"5 ms"`` or ``"2 min"``, into seconds; like ``parse_quantity``, for ends and allowances."""
    return parse_quantity(text, Unit.SECONDS)


def is_number(value: object) -> TypeGuard[Real]:
    """Whether it is a number to Python or numpy; a bool is not, though Python counts it among the integers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def to_decimal(value: Real) -> Decimal:
    """The number as it is written, so that 0.1 of a unit is exactly a tenth."""
    return Decimal(int(value)) if isinstance(value, Integral) else Decimal(repr(float(value)))


def amount(text: object, unit: Unit, whole: object, way_out: str) -> float:
    """One number with its unit; ``whole`` is what the message shows."""
    if is_number(text):
        number, word = to_decimal(text), ""
    else:
        number, word = split(text, whole, unit, way_out)
    refuse_unfit(number, whole, way_out)
    word = _SAME_UNIT.get(word, word)
    if word == "%":
        raise QuantityError(whole, "is a percentage, which only a tolerance may be", way_out)
    if word not in _SCALES[unit]:
        raise _wrong_unit(number, word, unit, whole)
    value = float(number * _SCALES[unit][word])
    if unit is Unit.COUNT and value != round(value):
        raise QuantityError(whole, "is not a whole number", f"write {math.floor(value)} or {math.ceil(value)}")
    if unit is Unit.FACTOR and value == 0:
        raise QuantityError(whole, "is not above 0", way_out)
    return value


def split(text: object, whole: object, unit: Unit, way_out: str) -> tuple[Decimal, str]:
    """The number and the word behind it, which is empty where there is none."""
    if not isinstance(text, str):
        name = type(text).__name__
        article = "" if text is None else "an " if name[0] in "aeiou" else "a "
        raise QuantityError(whole, f"is not {_NOUN[unit]} but {article}{name}", way_out)
    text = text.strip()
    if not text:
        raise QuantityError(whole, "is incomplete" if str(whole).strip() else "is empty", way_out)
    if unit is Unit.COUNT and _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    if _NOT_FINITE.match(text):
        raise QuantityError(whole, "is not a finite number", way_out)
    match = _NUMBER.fullmatch(text.removeprefix("x") if unit is Unit.FACTOR else text)
    if match is None:
        raise QuantityError(whole, "does not begin with a number", way_out)
    if match["unit"].startswith(","):
        raise QuantityError(whole, "has a comma in its number", f"write {show(text.replace(',', '.', 1))}")
    return Decimal(match["number"]), match["unit"]


def refuse_unfit(number: Decimal, whole: object, way_out: str) -> None:
    """Raises QuantityError where the number is below zero or not finite."""
    if not math.isfinite(float(number)):
        raise QuantityError(whole, "is not a finite number", way_out)
    if number < 0:
        raise QuantityError(whole, "is below zero", way_out)


def _wrong_unit(number: Decimal, word: str, unit: Unit, whole: object) -> QuantityError:
    if unit in (Unit.COUNT, Unit.FACTOR):
        return QuantityError(whole, f"has unit {show(word)}, and {_NOUN[unit]} has none", f"write {number}")
    valid = _SCALES[unit]
    if not word:
        likely = ("s", "ms") if unit is Unit.SECONDS else ("MiB", "KiB", "B")
        return QuantityError(whole, "has no unit", f"write {alternatives(number, likely)}")
    lower = word.lower()
    close = [each for each in valid if each.lower() == lower or each == _LIKELY_UNIT.get(lower)]
    close = close or [each for each in valid if each.lower().startswith(lower)]
    every = f"{_NOUN[unit]} is in {listed(valid, 'or')}"
    way_out = f"did you mean {alternatives(number, close)}? {every[0].upper() + every[1:]}" if close else every
    return QuantityError(whole, f"has unknown unit {show(word)}", way_out)


def alternatives(number: Decimal, units: Iterable[str]) -> str:
    """Spellings of a number with each of the units: ``"5 s" or "5 ms"``."""
    return listed((f'"{number} {each}"' for each in units), "or")
