"""Rows of bars."""

from __future__ import annotations

import pytest

from pytest_jitperf.report.sparkline import BLOCKS, PLAIN, bars_for, sparkline


@pytest.mark.parametrize(
    ("values", "drawn"),
    [
        ([], ""),
        ([3.0], "▅"),
        ([1, 1, 1], "▅▅▅"),
        ([1, 2, 4, 8, 16, 32, 64, 128], "▁▂▃▄▅▆▇█"),
        ([128, 1], "█▁"),
        ([1, None, 100], "▁ █"),
        ([None, None], "  "),
        ([0, 0], "▁▁"),
        ([0, 1, 100], "▁▂█"),
    ],
)
def test_equal_ratios_are_equal_steps(values: list[float | None], drawn: str) -> None:
    assert sparkline(values) == drawn


def test_noise_looks_level() -> None:
    assert set(sparkline([1.00, 1.02, 0.99, 1.01, 1.03])) <= {"▄", "▅"}
    assert sparkline([1.0, 1.0, 1.6, 1.6]) == "▁▁██"


def test_a_long_row_is_drawn_by_the_last_number_of_each_stretch() -> None:
    assert sparkline([1, 1, 1, 1, 100, 100], width=3) == "▁▁█"
    assert sparkline([1, 100], width=3) == "▁█"
    assert sparkline([1, 50, 100], width=0) == "▅"


@pytest.mark.parametrize(
    ("encoding", "bars"), [("utf-8", BLOCKS), ("UTF-16", BLOCKS), ("ascii", PLAIN), ("latin1", PLAIN), (None, PLAIN)]
)
def test_bars_are_those_that_the_encoding_has(encoding: str | None, bars: str) -> None:
    assert bars_for(encoding) == bars
    assert len(set(bars)) == 8


def test_an_unknown_encoding_gets_ascii() -> None:
    assert bars_for("no such encoding") == PLAIN
