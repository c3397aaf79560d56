"""Lines that an update prints: old -> new."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_jitperf.baseline.changes import changes
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.measurement import Environment, Sample

PROGRAM = StoredProgram(fingerprint="sha256:" + "a" * 64, artifact="1" * 32 + ".jaxexport")
OLD = Entry(
    inputs="f32[64]",
    program=PROGRAM,
    helpers={"lib.f(f32[8])": PROGRAM},
    exact={"peak_bytes": 8 * 2**20, "flops": 16, "mine": 3},
    timed={
        "run": Sample(median=301e-6, low=300e-6, high=302e-6, rounds=9),
        "trace_wall": Sample(median=0.02, low=0.01, high=0.03, rounds=3),
    },
    relative={"trace": 3.2},
    host={"3.11/0.10.2": {"trace_calls": 18524, "launches": 1}},
    environment=Environment(jax="0.10.2", jaxlib="0.10.2", python="3.11", platform="cpu", machine="mine"),
)


def timed(median: float, name: str = "run") -> Entry:
    return replace(OLD, timed={**OLD.timed, name: replace(OLD.timed[name], median=median)})


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        (OLD, ()),
        (replace(OLD, inputs="f32[128]"), ("inputs f32[64] -> f32[128]",)),
        (replace(OLD, inputs=""), ("inputs f32[64] -> none",)),
        (replace(OLD, program=replace(PROGRAM, fingerprint="sha256:" + "b" * 64)), ("program changed",)),
        (replace(OLD, program=replace(PROGRAM, artifact="2" * 32 + ".jaxexport")), ("program: stored again",)),
        (
            replace(OLD, program=replace(PROGRAM, artifact=None, no_artifact="above 1 MiB")),
            ("program: no longer stored (above 1 MiB)",),
        ),
        (replace(OLD, program=replace(PROGRAM, inputs="x")), ("program: inputs as called -> x",)),
        (replace(OLD, program=None), ("program removed",)),
        (
            replace(OLD, helpers={"lib.g()": replace(PROGRAM, fingerprint="sha256:" + "b" * 64)}),
            ("helper lib.g() added", "helper lib.f(f32[8]) removed"),
        ),
        (
            replace(OLD, helpers={"lib.g(f32[8])": replace(PROGRAM, exact={"flops": 2})}),
            ("helper lib.f(f32[8]) -> lib.g(f32[8])", "helper lib.g(f32[8]): flops none -> 2"),
        ),
        (
            replace(OLD, program=replace(PROGRAM, fingerprint="sha256:" + "b" * 64, fingerprint_version=2)),
            ("program: fingerprint taken by other rules (version 1 -> 2)",),
        ),
        (
            replace(OLD, helpers={"lib.f(f32[8])": replace(PROGRAM, exact={"flops": 2})}),
            ("helper lib.f(f32[8]): flops none -> 2",),
        ),
        (timed(367e-6), ("run 301 us -> 367 us",)),
        (timed(301.2e-6), ("run 301 us -> 301.2 us",)),
        (timed(0.021, "trace_wall"), ("trace_wall 20 ms -> 21 ms",)),
        (
            replace(OLD, exact={"mine": 4, "flops": 17, "peak_bytes": 16 * 2**20}),
            ("peak_bytes 8 MiB -> 16 MiB", "flops 16 -> 17", "mine 3 -> 4"),
        ),
        (
            replace(OLD, exact={"flops": 16, "mine": 3, "temp_bytes": 0}),
            ("peak_bytes 8 MiB -> none", "temp_bytes none -> 0 B"),
        ),
        (replace(OLD, relative={"trace": 3.5}), ("trace 3.2 -> 3.5 reference traces",)),
        (
            replace(OLD, host={"3.12/0.12.0": {"launches": 1}}),
            ("host 3.11/0.10.2 removed", "host 3.12/0.12.0 added"),
        ),
        (
            replace(OLD, host={"3.11/0.10.2": {"trace_calls": 20112, "launches": 1}}),
            ("trace_calls 18,524 -> 20,112 (3.11/0.10.2)",),
        ),
        (
            replace(OLD, environment=replace(OLD.environment, jax="0.12.0", machine="yours", xla_flags="--x")),
            ("jax 0.10.2 -> 0.12.0", "xla_flags none -> --x", "machine mine -> yours"),
        ),
        (
            replace(OLD, timed={**OLD.timed, "run": replace(OLD.timed["run"], high=303e-6)}),
            ("spread of the timings only",),
        ),
    ],
)
def test_each_difference_is_one_line(new: Entry, lines: tuple[str, ...]) -> None:
    assert changes(OLD, new) == lines


def test_an_entry_that_was_not_there_is_new() -> None:
    assert changes(None, OLD) == ("new",)
