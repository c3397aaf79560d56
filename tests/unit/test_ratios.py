"""What is said of a ratio that rests on several pairs of executables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_jitperf.judge.ratios import ratio_finding
from pytest_jitperf.measurement import Ratio


@pytest.mark.parametrize(
    ("interval", "decided", "outcome", "sentence"),
    [
        (
            (1.0, 0.98, 1.02),
            True,
            "ok",
            "run x1.00 (x0.98 ... x1.02), allowed x1.10; slower with the first executables (x1.12), not with fresh "
            "ones",
        ),
        (
            (1.09, 1.05, 1.13),
            False,
            "inconclusive",
            "run inconclusive: x1.09 (x1.05 ... x1.13) after 20 pairs of executables in 9.0 s, resolution +-4 %, "
            "allowed x1.10; slower with the first executables (x1.12), not with fresh ones; --jitperf-max-time gives "
            "it more time",
        ),
        (
            (1.13, 1.12, 1.14),
            True,
            "REGRESSED",
            "run regressed: x1.13 (x1.12 ... x1.14), allowed x1.10",
        ),
    ],
)
def test_a_regression_that_fresh_executables_did_not_show_at_once_is_told_unless_it_is_one(
    ratio: Callable[..., Ratio], interval: tuple[float, float, float], decided: bool, outcome: str, sentence: str
) -> None:
    found = ratio(*interval, decided=decided, rounds=20, executables=20, seconds=9.0, first=1.12)
    finding = ratio_finding("run", found, 1.10, "tolerance run=10 % (default)")
    assert (finding.outcome.value, finding.sentence) == (outcome, sentence)


def test_a_single_pair_of_executables_is_called_one(ratio: Callable[..., Ratio]) -> None:
    found = ratio(1.0, 0.95, 1.05, decided=False, rounds=1, executables=1)
    finding = ratio_finding("run", found, 1.01, "tolerance run=1 % (marker)")
    assert "after 1 pair of executables in 1.5 s" in finding.sentence
