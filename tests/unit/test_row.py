"""A judged measurement as it travels on a report."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pytest_jitperf.baseline.model import Entry, entry_from_measurement
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.judge.outcome import Effect, Finding, Outcome, Verdict
from pytest_jitperf.measurement import Measurement, Program, Ratio
from pytest_jitperf.row import Row, row_of, skipped_row
from pytest_jitperf.tried import Tried

KEY = Key(test="test_step[64]", measurement="warm", strategy="outer", device_kind="cpu")
RATIO = Ratio(estimate=1.0, low=0.98, high=1.02, rounds=12, seconds=0.2, decided=True)
VERDICT = Verdict(
    findings=(
        Finding(outcome=Outcome.OVER_BUDGET, sentence="run over budget: 2 ms, budget 1 ms", short="run 2 ms"),
        Finding(outcome=Outcome.OK, sentence="fine", metric="run", old=1.5, new=1.5, ratio=RATIO),
    ),
    why=("the program changed",),
    notes=("launches not gated",),
    gated_by="race",
)


def tried(measured: Measurement, **changes: Any) -> Tried:
    plain = Tried(
        key=KEY,
        measurement=measured,
        entry=None,
        verdict=VERDICT,
        result=None,
        compiles=4,
        cut=("further pairs",),
        moved=True,
    )
    return replace(plain, **changes)


def test_a_row_has_the_worst_word_the_numbers_and_the_key(measure: Callable[..., Measurement]) -> None:
    measured = measure(
        notes=("it was jitted",),
        device="cpu:0",
        exact={"flops": 7.0},
        host={"launches": 1},
        helpers={"m.f(f32[64])": Program(fingerprint=None, inputs="f32[64]")},
    )

    row = row_of(
        tried(measured, compare_seconds=0.23456),
        nodeid="t.py::test_step[64-outer]",
        baseline="/b.json",
        file="t.py",
        line=7,
        effect=Effect.FAIL,
        failure="run over budget",
        expected_calls=1_000,
    )

    assert row == Row(
        nodeid="t.py::test_step[64-outer]",
        baseline="/b.json",
        file="t.py",
        line=7,
        test="test_step[64]",
        measurement="warm",
        strategy="outer",
        device="cpu:0",
        device_kind="cpu",
        jax="0.10.2",
        environment=measured.environment,
        inputs=measured.inputs,
        outcome="OVER BUDGET",
        effect="fail",
        note="run 2 ms",
        findings=VERDICT.findings,
        failure="run over budget",
        compile=0.050,
        run=0.0012,
        launches=1,
        failed=True,
        gated_by="race",
        metrics={
            "flops": 7.0,
            "launches": 1.0,
            "compile": 0.050,
            "run": 0.0012,
            "trace_cpu": 0.006,
            "lower_cpu": 0.004,
        },
        timed=measured.timed,
        helpers=("m.f(f32[64])",),
        expected_calls=1_000,
        why=("the program changed",),
        notes=("it was jitted", "launches not gated"),
        moved=True,
        compiles=4,
        compare_seconds=0.235,
        cut=("further pairs",),
    )
    assert row.key == KEY


def test_a_row_is_the_same_after_its_journey_and_holds_what_an_update_stores(
    measure: Callable[..., Measurement],
) -> None:
    measured = measure()
    assert measured.program is not None
    program = replace(measured.program, artifact=b"\x00 program", optimised="digest")
    recorded: tuple[Entry, dict[str, bytes]] = entry_from_measurement(replace(measured, program=program))

    row = row_of(tried(replace(measured, program=program), recorded=recorded), nodeid="a", baseline="b", file="c")
    arrived = Row.from_json(json.loads(json.dumps(row.to_json())))

    assert arrived.to_json() == row.to_json()
    assert arrived.timed == measured.timed
    assert arrived.findings == VERDICT.findings
    assert arrived.environment == measured.environment
    assert arrived.to_store() == recorded
    assert arrived.optimised == "digest"


def test_what_is_not_recorded_stores_nothing(measure: Callable[..., Measurement]) -> None:
    assert row_of(tried(measure()), nodeid="a", baseline="b", file="c").to_store() == (None, {})


def test_an_item_without_its_device_has_a_row_without_numbers() -> None:
    row = skipped_row(
        nodeid="a",
        file="t.py",
        line=3,
        test="test_step",
        strategy="outer",
        device="gpu:0",
        reason="no gpu here",
        effect=Effect.SKIP,
    )

    assert (row.outcome, row.note, row.run, row.device_kind) == ("no such device", "no gpu here", None, "")
    assert (row.line, row.effect) == (3, "skip")
    assert row.to_store() == (None, {})
