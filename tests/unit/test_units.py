"""Quantities are read as people write them, and refused with what was probably meant."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_jitperf.units import (
    QuantityError,
    Tolerance,
    Unit,
    format_change,
    format_quantity,
    parse_duration,
    parse_quantity,
    parse_tolerance,
)

SECONDS, BYTES, COUNT, FACTOR = Unit.SECONDS, Unit.BYTES, Unit.COUNT, Unit.FACTOR


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("5 ms", SECONDS, 0.005),
        ("5ms", SECONDS, 0.005),
        (" 1.5  s ", SECONDS, 1.5),
        ("2 min", SECONDS, 120.0),
        ("1 h", SECONDS, 3600.0),
        ("301 us", SECONDS, 301e-6),
        ("100 \N{MICRO SIGN}s", SECONDS, 100e-6),
        ("100 \N{GREEK SMALL LETTER MU}s", SECONDS, 100e-6),
        ("7 ns", SECONDS, 7e-9),
        ("1_000 ms", SECONDS, 1.0),
        ("1e3 ms", SECONDS, 1.0),
        (".5 s", SECONDS, 0.5),
        ("0 s", SECONDS, 0.0),
        ("64 MiB", BYTES, 64 * 2**20),
        ("10 kB", BYTES, 10_000),
        ("1.5 GiB", BYTES, 1.5 * 2**30),
        ("12 B", BYTES, 12),
        (3, COUNT, 3),
        ("3", COUNT, 3),
        ("1_000", COUNT, 1000),
        ("18,524", COUNT, 18524),
        (1e9, COUNT, 10**9),
        (0, COUNT, 0),
        (2, FACTOR, 2.0),
        (1.05, FACTOR, 1.05),
        ("2x", FACTOR, 2.0),
        ("x2", FACTOR, 2.0),
    ],
)
def test_quantity_is_read(text: object, unit: Unit, expected: float) -> None:
    assert parse_quantity(text, unit) == expected


A_TIME = "a time is in ns, us, ms, s, min or h"


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("5", SECONDS, 'run="5" has no unit; write "5 s" or "5 ms"'),
        (5, SECONDS, 'run=5 has no unit; write "5 s" or "5 ms"'),
        (0.5, SECONDS, 'run=0.5 has no unit; write "0.5 s" or "0.5 ms"'),
        ("8", BYTES, 'run="8" has no unit; write "8 MiB", "8 KiB" or "8 B"'),
        ("5 parsecs", SECONDS, f'run="5 parsecs" has unknown unit "parsecs"; {A_TIME}'),
        ("5 sec", SECONDS, f'run="5 sec" has unknown unit "sec"; did you mean "5 s"? {A_TIME.capitalize()}'),
        ("5 MS", SECONDS, f'run="5 MS" has unknown unit "MS"; did you mean "5 ms"? {A_TIME.capitalize()}'),
        ("5 m", SECONDS, f'run="5 m" has unknown unit "m"; did you mean "5 ms" or "5 min"? {A_TIME.capitalize()}'),
        ("5 ms ms", SECONDS, f'run="5 ms ms" has unknown unit "ms ms"; {A_TIME}'),
        (
            "8 mib",
            BYTES,
            'run="8 mib" has unknown unit "mib"; did you mean "8 MiB"? '
            "A size is in B, kB, MB, GB, TB, KiB, MiB, GiB or TiB",
        ),
        ("50%", SECONDS, 'run="50%" is a percentage, which only a tolerance may be; write "5 ms"'),
        (True, SECONDS, 'run=True is not a time but a bool; write "5 ms"'),
        (True, COUNT, "run=True is not a count but a bool; write 3"),
        (None, BYTES, 'run=None is not a size but NoneType; write "64 MiB"'),
        ([5], SECONDS, 'run=[5] is not a time but a list; write "5 ms"'),
        ("nan", SECONDS, 'run="nan" is not a finite number; write "5 ms"'),
        ("inf s", SECONDS, 'run="inf s" is not a finite number; write "5 ms"'),
        ("-Infinity", SECONDS, 'run="-Infinity" is not a finite number; write "5 ms"'),
        ("1e999 s", SECONDS, 'run="1e999 s" is not a finite number; write "5 ms"'),
        (math.nan, COUNT, "run=nan is not a finite number; write 3"),
        (math.inf, SECONDS, 'run=inf is not a finite number; write "5 ms"'),
        ("-5 ms", SECONDS, 'run="-5 ms" is below zero; write "5 ms"'),
        (-3, COUNT, "run=-3 is below zero; write 3"),
        ("", SECONDS, 'run="" is empty; write "5 ms"'),
        ("  ", SECONDS, 'run="  " is empty; write "5 ms"'),
        ("ms", SECONDS, 'run="ms" does not begin with a number; write "5 ms"'),
        ("\N{ARABIC-INDIC DIGIT FIVE} ms", SECONDS, 'run="\u0665 ms" does not begin with a number; write "5 ms"'),
        ("1,5 ms", SECONDS, 'run="1,5 ms" has a comma in its number; write "1.5 ms"'),
        ("1,000", SECONDS, 'run="1,000" has a comma in its number; write "1.000"'),
        ("1.5", COUNT, 'run="1.5" is not a whole number; write 1 or 2'),
        ("3 calls", COUNT, 'run="3 calls" has unit "calls", and a count has none; write 3'),
        (0, FACTOR, "run=0 is not above 0; write 2.0"),
    ],
)
def test_wrong_quantity_is_refused_with_value_rule_and_way_out(text: object, unit: Unit, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text, unit)

    assert caught.value.named("run") == message


def test_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(QuantityError, match="is not a finite number"):
        parse_quantity(10**400, COUNT)


def test_error_carries_what_its_message_is_made_of() -> None:
    with pytest.raises(QuantityError) as caught:
        parse_duration("5")

    error = caught.value
    assert (error.value, error.rule, error.way_out) == ("5", "has no unit", 'write "5 s" or "5 ms"')
    assert str(error) == '"5" has no unit; write "5 s" or "5 ms"'


def test_duration_is_read_into_seconds() -> None:
    assert parse_duration("1.5 min") == 90.0


@pytest.mark.parametrize(
    ("text", "unit", "expected", "described"),
    [
        ("5 %", SECONDS, Tolerance(0.05, 0.0), "5 %"),
        ("12.5%", SECONDS, Tolerance(0.125, 0.0), "12.5 %"),
        ("5 ms", SECONDS, Tolerance(0.0, 0.005), "5 ms"),
        ("5% and 64 KiB", BYTES, Tolerance(0.05, 65536.0), "5 % and 64 KiB"),
        ("64 KiB and 5 %", BYTES, Tolerance(0.05, 65536.0), "5 % and 64 KiB"),
        ("0 %", SECONDS, Tolerance(0.0, 0.0), "no increase"),
        ("150 %", SECONDS, Tolerance(1.5, 0.0), "150 %"),
        (2, COUNT, Tolerance(0.0, 2.0), "2"),
        (0, COUNT, Tolerance(0.0, 0.0), "no increase"),
        ("10 % and 2,000", COUNT, Tolerance(0.1, 2000.0), "10 % and 2,000"),
    ],
)
def test_tolerance_is_read_and_described(text: object, unit: Unit, expected: Tolerance, described: str) -> None:
    tolerance = parse_tolerance(text, unit)

    assert tolerance == expected
    assert tolerance.describe(unit) == described


WRITE_TIME = 'write "5 %", "5 ms" or "5 % and 5 ms"'
WRITE_COUNT = 'write "5 %", "2" or "5 % and 2"'


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("5", SECONDS, 'run="5" may be a share or an amount; write "5 %" or "5 ms"'),
        (10, SECONDS, 'run=10 may be a share or an amount; write "10 %" or "10 ms"'),
        (0, SECONDS, 'run=0 may be a share or an amount; write "0 %" or "0 ms"'),
        (0.05, SECONDS, 'run=0.05 may be a share or an amount; write "5 %" or "0.05 ms"'),
        ("10", BYTES, 'run="10" may be a share or an amount; write "10 %" or "10 KiB"'),
        ("-5 %", SECONDS, f'run="-5 %" is below zero; {WRITE_TIME}'),
        ("nan", SECONDS, f'run="nan" is not a finite number; {WRITE_TIME}'),
        ("nan %", SECONDS, f'run="nan %" is not a finite number; {WRITE_TIME}'),
        (math.nan, SECONDS, f"run=nan is not a finite number; {WRITE_TIME}"),
        ("", SECONDS, f'run="" is empty; {WRITE_TIME}'),
        ("5 % and", SECONDS, f'run="5 % and" is incomplete; {WRITE_TIME}'),
        ("5 % and 3 %", SECONDS, f'run="5 % and 3 %" gives two percentages; {WRITE_TIME}'),
        ("5 % and 3 s and 1 s", SECONDS, f'run="5 % and 3 s and 1 s" gives two amounts; {WRITE_TIME}'),
        ("5 ms and 3 s", SECONDS, f'run="5 ms and 3 s" gives two amounts; {WRITE_TIME}'),
        ("5 percent", SECONDS, 'run="5 percent" has unknown unit "percent"; write "5 %"'),
        ("5 % and 3 parsecs", SECONDS, f'run="5 % and 3 parsecs" has unknown unit "parsecs"; {A_TIME}'),
        (True, SECONDS, f"run=True is not a time but a bool; {WRITE_TIME}"),
        (-2, COUNT, f"run=-2 is below zero; {WRITE_COUNT}"),
        (True, COUNT, f"run=True is not a count but a bool; {WRITE_COUNT}"),
    ],
)
def test_wrong_tolerance_is_refused_with_value_rule_and_way_out(text: object, unit: Unit, message: str) -> None:
    with pytest.raises(QuantityError) as caught:
        parse_tolerance(text, unit)

    assert caught.value.named("run") == message


@pytest.mark.parametrize(
    ("tolerance", "old", "limit"),
    [
        (Tolerance(0.05, 64 * 1024), 10 * 2**20, 10.5 * 2**20),
        (Tolerance(0.05, 64 * 1024), 100 * 1024, 164 * 1024),
        (Tolerance(0.05, 64 * 1024), 0, 64 * 1024),
        (Tolerance(0.10, 0.0), 0, 0),
        (Tolerance(0.0, 0.0), 7, 7),
    ],
)
def test_limit_is_the_larger_of_share_and_amount(tolerance: Tolerance, old: float, limit: float) -> None:
    assert tolerance.limit(old) == limit
    assert tolerance.allows(old, limit)
    assert not tolerance.allows(old, limit + 1)


@example(old=300, percent=201)  # 300 + 300 * 2.01 is a little less than 903
@given(old=st.integers(1, 10**12), percent=st.integers(0, 400))
def test_share_of_whole_numbers_allows_its_end_and_no_more(old: int, percent: int) -> None:
    """An increase of exactly the share passes, and the next whole number fails, whatever the last bit says."""
    tolerance = parse_tolerance(f"{percent} %", COUNT)
    end = old + old * percent // 100

    assert tolerance.allows(old, end)
    assert not tolerance.allows(old, end + 1)


def test_no_increase_means_not_one_byte_of_many() -> None:
    assert not Tolerance(0.0, 0.0).allows(64 * 2**30, 64 * 2**30 + 1)


@pytest.mark.parametrize(("old", "new"), [(math.nan, 1.0), (1.0, math.nan), (math.nan, math.nan)])
def test_what_is_not_a_number_never_passes(old: float, new: float) -> None:
    assert not Tolerance(0.5, 5.0).allows(old, new)


@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_tolerance_itself_is_finite_and_not_below_zero(value: float) -> None:
    with pytest.raises(QuantityError, match="cannot be the relative part of a tolerance"):
        Tolerance(value, 0.0)
    with pytest.raises(QuantityError, match="cannot be the absolute part of a tolerance"):
        Tolerance(0.0, value)


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (None, SECONDS, "-"),
        (301e-6, SECONDS, "301 us"),
        (0.041, SECONDS, "41 ms"),
        (1.2345, SECONDS, "1.23 s"),
        (9.997e-4, SECONDS, "1 ms"),
        (999.6, SECONDS, "1000 s"),
        (1234.0, SECONDS, "1234 s"),
        (3e-10, SECONDS, "0.3 ns"),
        (0, SECONDS, "0 s"),
        (0, BYTES, "0 B"),
        (8 * 2**20, BYTES, "8 MiB"),
        (1000, BYTES, "1000 B"),
        (2**20 - 1, BYTES, "1 MiB"),
        (2**60, BYTES, "1048576 TiB"),
        (18524, COUNT, "18,524"),
        (0, COUNT, "0"),
        (9_999_999, COUNT, "9,999,999"),
        (10_000_000, COUNT, "1e+07"),
        (35_620_000, COUNT, "3.56e+07"),
        (1.5, COUNT, "1.5"),
        (1.2249, FACTOR, "x1.22"),
        (100, FACTOR, "x100"),
        (446.4, FACTOR, "x446"),
        (1e308, SECONDS, "1e+308 s"),
        (1e308, BYTES, "9.09e+295 TiB"),
        (1e308, FACTOR, "x1e+308"),
        (math.nan, SECONDS, "nan"),
    ],
)
def test_quantity_is_written_for_people_in_ascii(value: float | None, unit: Unit, expected: str) -> None:
    assert format_quantity(value, unit) == expected
    assert expected.isascii()


@given(st.sampled_from([SECONDS, BYTES, COUNT]), st.integers(1, 999), st.integers(0, 12))
def test_what_is_written_is_read_again(unit: Unit, digits: int, exponent: int) -> None:
    value = float(Decimal(digits).scaleb(exponent - (9 if unit is SECONDS else 0)))

    assert parse_quantity(format_quantity(value, unit), unit) == pytest.approx(value, rel=0.006)


@pytest.mark.parametrize(
    ("old", "new", "unit", "expected"),
    [
        (301e-6, 367e-6, SECONDS, "301 us -> 367 us"),
        (None, 2, COUNT, "- -> 2"),
        (8 * 2**20, 8 * 2**20, BYTES, "8 MiB -> 8 MiB"),
        (8 * 2**20, 8 * 2**20 + 4, BYTES, "8 MiB -> 8.000004 MiB"),
        (35_620_000, 35_620_001, COUNT, "35620000 -> 35620001"),
    ],
)
def test_change_is_written_with_enough_digits_to_be_seen(
    old: float | None, new: float, unit: Unit, expected: str
) -> None:
    assert format_change(old, new, unit) == expected
