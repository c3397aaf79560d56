"""How growth is told: an exponent above what the smallest size takes, so that start-up hides nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spending
from playing import PlayError
from spending import growth, spend

SIZES = (50, 1000, 10_000)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_the_exponent_is_that_of_what_grows(exponent: float) -> None:
    values = [2.0 + 1e-4 * (size - SIZES[0]) ** exponent for size in SIZES]

    assert growth(SIZES, values) == pytest.approx(exponent)


def test_what_stays_within_a_tenth_of_the_smallest_does_not_grow() -> None:
    assert growth(SIZES, [2.0, 2.3, 2.1]) is None


def test_what_only_the_largest_needs_is_worse_than_quadratic() -> None:
    found = growth(SIZES, [2.0, 1.9, 9.0])
    assert found is not None
    assert found > 2


def test_equal_runs_that_differ_a_little_make_no_steep_growth() -> None:
    assert growth(SIZES, [2.03, 2.02, 2.5]) == growth(SIZES, [2.03, 2.04, 2.5])


def test_a_command_that_ends_otherwise_is_told_with_what_it_printed(tmp_path: Path) -> None:
    with pytest.raises(PlayError, match=r"exit code 3 of .*\nhello"):
        spend([sys.executable, "-c", "print('hello'); raise SystemExit(3)"], tmp_path)


def test_memory_is_that_of_the_command(tmp_path: Path) -> None:
    """Asked in a small process, since a child begins with the memory of its parent."""
    code = (
        "import sys; from pathlib import Path; from spending import spend; "
        "print(spend([sys.executable, '-c', 'x = bytearray(500 * 2**20)'], Path(sys.argv[1])).mib)"
    )
    search = {"PYTHONPATH": str(Path(spending.__file__).parent)}

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env={**os.environ, **search}, stdout=subprocess.PIPE, check=True
    )

    assert 500 < float(done.stdout) < 600
