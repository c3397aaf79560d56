"""Costs that never vary are compared as numbers, beside the race of the two programs."""

from __future__ import annotations

from typing import Any

TESTS = """
@pytest.mark.jitperf(strategies=["outer"])
def test_memory(jitperf):
    jitperf(library.memory, jnp.ones(200))

@pytest.mark.jitperf(strategies=["outer"])
def test_constant(jitperf):
    jitperf(library.constant, X)

@pytest.mark.jitperf(strategies=["outer"], fail_on_improvement=True)
def test_improved(jitperf):
    jitperf(library.improved, jnp.ones(200))
"""

SMALL = "return x.sum()"
LARGE = "return (jnp.outer(x, x) @ jnp.outer(x, x))[0, 0] - x.sum() ** 2 + 2 * x.sum() - x.size"

LIBRARY = """
import jax.numpy as jnp
import numpy as np

TABLE = np.arange({size}, dtype=np.float32)

def memory(x):
    {memory}

def constant(x):
    return x + TABLE[3] + jnp.asarray(TABLE)[x.astype(int)]

def improved(x):
    {improved}
"""

BEFORE = LIBRARY.format(size=300_000, memory=SMALL, improved=LARGE)
AFTER = LIBRARY.format(size=900_000, memory=LARGE, improved=SMALL)


def test_memory_constants_and_unrecorded_improvements(project: Any) -> None:
    project.write_library(BEFORE)
    project.write_tests(TESTS)
    recorded = project.record()

    project.write_library(AFTER)
    result = project.quick_run("--jitperf-max-time=2 s")
    project.assert_messages(
        result,
        {
            "test_memory[outer]": "run regressed: * -> *, x*, allowed x1.10\n*peak_bytes regressed: * B -> * KiB, x*, "
            "allowed 64.8 KiB\n*  why   the program changed: *flops x*\n*"
            "  rule  tolerance peak_bytes=5 % and 64 KiB (default)\n*\ntest_g.py:10: Regressed",
            "test_constant[outer]": "*constant_bytes regressed: 1.14 MiB -> 3.43 MiB, x3.00, allowed 1.21 MiB\n*"
            "\ntest_g.py:14: Regressed",
            "test_improved[outer]": "run improved: * -> *; record it with --jitperf-update\n*"
            "peak_bytes improved: * KiB -> * B; record it with --jitperf-update\n*"
            "  rule  fail_on_improvement: what is better is to be recorded (marker)\n  accept it with *"
            "\ntest_g.py:18: JitperfFailure",
        },
    )
    result.assert_outcomes(failed=3)
    assert project.baseline.read_bytes() == recorded

    accepted = project.quick_run("--jitperf-update")
    accepted.assert_outcomes(passed=3)
    accepted.stdout.fnmatch_lines(["__jitperf__/test_g.json: 3 written", "*constant_bytes 1.14 MiB -> 3.43 MiB*"])


def test_python_work_in_every_call_of_inner_fails_by_its_calls(project: Any) -> None:
    """Run time of inner cannot be raced, so this is what sees it."""
    loop = """

def nothing():
    pass

def h(x, n=0):
    for _ in range(n):
        nothing()
    return f(x)
"""
    text = (project.pytester.path / "library.py").read_text()
    project.write_library(text + loop)
    project.write_tests(
        """
@pytest.mark.jitperf(strategies=["inner"], inner=[library.f])
def test_h(jitperf):
    jitperf(library.h, X)
"""
    )
    project.record()
    project.write_library(text + loop.replace("n=0", "n=5000"))

    result = project.quick_run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["host_calls regressed: * -> *, allowed *"])
