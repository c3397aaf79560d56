"""A device that is not in the machine: never a measurement on another one."""

from __future__ import annotations

from typing import Any

TESTS = """
@pytest.mark.jitperf(strategies=["outer"], devices=["cpu", "tpu:1"])
def test_f(jitperf):
    jitperf(library.f, X)
"""


def test_it_is_skipped_and_the_other_devices_are_measured(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update", "-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "*= jitperf: cpu, jax *",
            "test_g.py::test_f",
            "  outer * 1   ok*",
            "test_g.py::test_f",
            "  outer * no such device*no tpu device here",
            "1 measured, 1 skipped (no such device)",
            "SKIPPED * no tpu device here",
        ]
    )
    assert {key: sorted(kinds) for key, kinds in project.entries().items()} == {"test_f / main / outer": ["cpu"]}


def test_under_strict_it_fails(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-strict", "--jitperf-missing=ok", "--jitperf-devices=tpu:1")
    project.assert_messages(
        result,
        {"test_f[outer-tpu:1]": "no tpu device here, and --jitperf-strict does not let that pass\ntest_g.py:10: *"},
    )
    result.assert_outcomes(errors=1, deselected=1)
