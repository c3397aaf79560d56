"""Plans, measurements and baseline entries as the judging and the reports get them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.measurement import Environment, Measurement, Program, Ratio, Sample
from pytest_jitperf.merging import merge
from pytest_jitperf.plan import Plan, make_plan
from pytest_jitperf.row import Row
from pytest_jitperf.settings import Settings
from pytest_jitperf.spec import parse_marker
from pytest_jitperf.strategies import Strategy

ENVIRONMENT = Environment(jax="0.10.2", jaxlib="0.10.2", python="3.11", platform="cpu", machine="two cores")
FINGERPRINT = "sha256:" + "a" * 64
COSTS = {"peak_bytes": 8 * 2**20, "constant_bytes": 0, "temp_bytes": 0, "flops": 1000.0}
HOST = {"compilations": 1, "launches": 1, "trace_calls": 10_000, "host_calls": 3}
TIMED = {
    "compile": Sample(median=0.050, low=0.050, high=0.050, rounds=1),
    "run": Sample(median=0.0012, low=0.0011, high=0.0013, rounds=9),
    "trace_cpu": Sample(median=0.006, low=0.006, high=0.006, rounds=1),
    "lower_cpu": Sample(median=0.004, low=0.004, high=0.004, rounds=1),
}
RELATIVE = {"trace": 0.6, "lower": 0.4}


def _same(x: Any) -> Any:
    return x


@pytest.fixture
def plan_for() -> Callable[..., Plan]:
    """Makes the plan of a strategy from marker arguments."""

    def make(strategy: str = "outer", settings: Settings | None = None, **marker: Any) -> Plan:
        every = {"strategies": ["eager", "outer", "inner", "both", Strategy("mine", _same)], "inner": [_same]}
        return make_plan(merge([parse_marker((), {**every, **marker})]), settings or Settings(), strategy, "", "cpu")

    return make


@pytest.fixture
def environment() -> Environment:
    """The environment of today, and of the baseline unless a test says otherwise."""
    return ENVIRONMENT


@pytest.fixture
def measure() -> Callable[..., Measurement]:
    """Makes what was measured of one compiled program, unless told otherwise."""

    def make(**changes: Any) -> Measurement:
        measured = Measurement(
            strategy="outer",
            device="cpu",
            device_kind="cpu",
            inputs="x: f32[64]",
            program=Program(fingerprint=FINGERPRINT, inputs="x: f32[64]", exact=COSTS),
            exact=COSTS,
            host=HOST,
            timed=TIMED,
            relative=RELATIVE,
            environment=ENVIRONMENT,
        )
        return replace(measured, **changes)

    return make


@pytest.fixture
def record() -> Callable[..., Entry]:
    """Makes the entry that holds what ``measure`` gives, unless told otherwise."""

    def make(**changes: Any) -> Entry:
        entry = Entry(
            inputs="x: f32[64]",
            program=StoredProgram(fingerprint=FINGERPRINT),
            exact=COSTS,
            timed=TIMED,
            relative=RELATIVE,
            host={"3.11/0.10.2": HOST},
            environment=ENVIRONMENT,
        )
        return replace(entry, **changes)

    return make


@pytest.fixture
def ratio() -> Callable[..., Ratio]:
    """Makes a decided ratio with its interval."""

    def make(estimate: float, low: float, high: float, **changes: Any) -> Ratio:
        found = Ratio(estimate=estimate, low=low, high=high, rounds=20, seconds=1.5, decided=True, confirmed=False)
        return replace(found, **changes)

    return make


@pytest.fixture
def row() -> Callable[..., Row]:
    """Makes a row of ``tests/test_step.py::test_step`` under ``outer``."""

    def make(**changes: Any) -> Row:
        plain = Row(
            nodeid="tests/test_step.py::test_step[outer]",
            baseline="tests/__jitperf__/test_step.json",
            file="tests/test_step.py",
            test="test_step",
            measurement="main",
            strategy="outer",
            device="",
            device_kind="cpu",
            jax="0.10.2",
            outcome="ok",
            compile=0.041,
            run=0.000367,
            launches=1,
        )
        made = replace(plain, **changes)
        if "timed" in changes:
            return made
        times = {"compile": (made.compile, 1), "run": (made.run, 9)}
        timed = {
            name: Sample(median=value, low=value, high=value, rounds=rounds)
            for name, (value, rounds) in times.items()
            if value is not None
        }
        return replace(made, timed=timed)

    return make
