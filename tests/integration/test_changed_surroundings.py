"""What changed besides the code is not called a regression: other inputs, another environment."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
import os
SIZE = int(os.environ.get("SIZE", 8))

@pytest.mark.jitperf(strategies=["outer"], jit={"static_argnames": ["n"]})
def test_f(jitperf):
    jitperf(lambda x, n: library.f(x) * n, jnp.ones(SIZE), n=SIZE)
"""


def test_changed_inputs_are_told_and_nothing_is_compared(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write_tests(TESTS)
    recorded = project.record()
    monkeypatch.setenv("SIZE", "64")
    sentence = (
        "inputs changed: x: f32[8] -> f32[64]; n: static int #* -> static int #*; nothing was compared, record the new "
        "inputs with --jitperf-update"
    )
    result = project.quick_run()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            f"*JitperfWarning: test_g.py::test_f?outer?: {sentence.replace('[', '[[]')}",
            "  outer * inputs changed*",
            "1 measured, 0 gated, 0 without a baseline, 1 with changed inputs*",
        ]
    )
    assert project.baseline.read_bytes() == recorded

    strict = project.quick_run("--jitperf-strict")
    project.assert_messages(strict, {"test_f[outer]": f"{sentence}\n*: JitperfFailure"})

    project.record()
    project.quick_run().assert_outcomes(passed=1)


def test_a_changed_environment_is_told_although_the_program_is_the_same(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_tests(TESTS)
    recorded = project.record()
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_min_max=true")
    result = project.run()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*JitperfWarning: test_g.py::test_f?outer?: environment changed: XLA_FLAGS none -> "
            "--xla_cpu_enable_fast_min_max=true; *",
            "  outer * environment changed*",
            "1 measured, * 1 in a changed environment*",
        ]
    )
    assert project.baseline.read_bytes() == recorded
