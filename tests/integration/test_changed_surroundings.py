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


def test_what_python_does_more_in_jax_itself_under_its_checks_is_no_regression(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_tests(
        """
        def f(x):
            for _ in range(60):
                x = jnp.sin(x) + x @ x
            return x

        @pytest.mark.jitperf(strategies=["outer", "inner"], inner=[library.f])
        def test_f(jitperf):
            jitperf(f if jitperf.strategy == "outer" else library.g, jnp.eye(8))
        """
    )
    project.record()
    monkeypatch.setenv("JAX_ENABLE_CHECKS", "1")
    result = project.run()
    result.assert_outcomes(passed=2, warnings=2)
    result.stdout.fnmatch_lines(
        [
            "  outer * environment changed",
            "      jax_enable_checks default -> true",
            "  inner * environment changed",
            "      jax_enable_checks default -> true",
        ]
    )


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (False, "not the code: the program before XLA is the same"),
        (True, "the code, with the same XLA on both sides: peak_bytes the same, *; the program changed: *"),
    ],
    ids=["the same code", "other code"],
)
def test_memory_that_another_compiler_takes_is_a_regression_and_not_the_codes(
    project: Any, monkeypatch: pytest.MonkeyPatch, changed: bool, why: str
) -> None:
    project.write_tests(
        """
@pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100000 %", "compile": "100000 %"})
def test_f(jitperf):
    jitperf(library.g, jnp.ones(40_000))
"""
    )
    project.record()
    if changed:
        library = project.pytester.path / "library.py"
        library.write_text(library.read_text().replace("- x", "+ x"))
    monkeypatch.setenv("XLA_FLAGS", "--xla_disable_hlo_passes=fusion")

    result = project.run("--jitperf-max-time=1 s")

    project.assert_messages(
        result,
        {
            "test_f[outer]": "peak_bytes regressed: * -> *, allowed *\n"
            "  strategy *\n"
            "  why   XLA_FLAGS none -> --xla_disable_hlo_passes=fusion: the baseline's own program has it too, "
            f"peak_bytes * -> *\n  why   {why}\n*\ntest_g.py:10: Regressed"
        },
    )
