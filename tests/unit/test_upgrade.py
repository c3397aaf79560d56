"""What a changed environment did to a program that the code did not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.judge.upgrade import raced_in_another, same_in_another, slower_in_another
from pytest_jitperf.measurement import Comparison, Environment, Measurement, Ratio, Sample

Measure = Callable[..., Measurement]
Record = Callable[..., Entry]

SAME = Comparison(same=True, how="fingerprint")


def test_where_the_environment_is_the_same_there_is_nothing_to_say(measure: Measure, record: Record) -> None:
    assert same_in_another(measure(), record(), "the program", SAME) is None


@pytest.mark.parametrize(
    ("changes", "comparison", "noun", "said"),
    [
        (
            {"xla_flags": "--xla_cpu_foo=1"},
            SAME,
            "the program",
            "environment changed: XLA_FLAGS none -> --xla_cpu_foo=1; the program before XLA is the same; today's XLA "
            "changed its temp memory 0 B -> 1 KiB; recorded -> now, on this machine: run 1.2 ms -> 1.2 ms",
        ),
        (
            {"jaxlib": "0.12.0", "machine": "another"},
            replace(SAME, how="optimised"),
            "the program",
            "environment changed: jaxlib 0.10.2 -> 0.12.0; the program after XLA is the same; today's XLA changed its "
            "temp memory 0 B -> 1 KiB",
        ),
        (
            {"device_count": 4},
            None,
            "the helpers' programs",
            "environment changed: device_count 1 -> 4; the helpers' programs before XLA are the same; today's XLA "
            "changed its temp memory 0 B -> 1 KiB",
        ),
    ],
)
def test_it_is_told_with_what_it_did_to_the_program_and_on_the_same_machine_to_its_times(
    measure: Measure, record: Record, environment: Environment, changes: Any, comparison: Any, noun: str, said: str
) -> None:
    exact = {**measure().exact, "temp_bytes": 1024, "peak_bytes": 8 * 2**20 + 1024}
    measured = measure(exact=exact, environment=replace(environment, **changes))

    found = same_in_another(measured, record(), noun, comparison)

    assert found == Finding(
        outcome=Outcome.ENVIRONMENT_CHANGED,
        sentence=said,
        short=said.partition(": ")[2].partition(";")[0],
    )


@pytest.fixture
def raced(measure: Measure, record: Record, environment: Environment) -> Callable[..., list[Finding]]:
    """The stored program took 1 ms to 1.1 ms; today's takes ``run`` times 1 ms, and ``ratio`` times the stored one."""

    def judged(run: float, ratio: float | None, **changes: Any) -> list[Finding]:
        def sample(value: float) -> Sample:
            return Sample(median=value * 1e-3, low=value * 0.9e-3, high=value * 1.1e-3, rounds=9)

        found = None
        if ratio is not None:
            found = Ratio(estimate=ratio, low=ratio, high=ratio, rounds=9, seconds=1, decided=True)
        measured = measure(timed={"run": sample(run)}, environment=replace(environment, **changes))
        return slower_in_another(measured, record(timed={"run": sample(1)}), Comparison(same=False, run=found))

    return judged


def test_a_stored_time_that_moved_by_more_than_half_is_a_warning_though_the_race_is_even(
    raced: Callable[..., list[Finding]],
) -> None:
    assert raced(2, 1.0, jaxlib="0.12.0") == [
        Finding(
            outcome=Outcome.ENVIRONMENT_CHANGED,
            sentence="environment changed: jaxlib 0.10.2 -> 0.12.0; on this machine the baseline's own program takes "
            "1 ms -> 2 ms now, and today's x1.00 (x1.00 ... x1.00) of that",
            short="jaxlib 0.10.2 -> 0.12.0",
        )
    ]


@pytest.mark.parametrize(
    ("run", "ratio", "changes"),
    [
        (1.5, 1.0, {"jaxlib": "0.12.0"}),
        (0.2, 1.0, {"jaxlib": "0.12.0"}),
        (2.0, 1.6, {"jaxlib": "0.12.0"}),
        (2.0, 1.0, {}),
        (2.0, 1.0, {"jaxlib": "0.12.0", "machine": "another"}),
        (2.0, None, {"jaxlib": "0.12.0"}),
    ],
    ids=["by half", "faster", "by the code", "the same environment", "another machine", "not raced"],
)
def test_otherwise_nothing_is_said_of_it(
    raced: Callable[..., list[Finding]], run: float, ratio: float | None, changes: Any
) -> None:
    assert raced(run, ratio, **changes) == []


def test_that_a_raced_program_is_in_another_environment_is_said_though_it_is_no_slower(
    measure: Measure, record: Record, environment: Environment
) -> None:
    even = Ratio(estimate=1, low=1, high=1, rounds=9, seconds=1, decided=True)
    elsewhere = measure(environment=replace(environment, x64=True))
    assert raced_in_another(elsewhere, record(), Comparison(same=False, run=even)) == [
        Finding(
            outcome=Outcome.ENVIRONMENT_CHANGED,
            sentence="environment changed: x64 False -> True; the program is another one, and both were compiled in "
            "today's",
            short="x64 False -> True",
        )
    ]
    assert raced_in_another(measure(), record(), Comparison(same=False, run=even)) == []
    assert raced_in_another(elsewhere, record(), Comparison(same=False)) == []
