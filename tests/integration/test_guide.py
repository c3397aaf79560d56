"""Where to put the jit: the line below each test, the guide of a whole run, and the file that holds it."""

from __future__ import annotations

import re
from typing import Any

import pytest

# A helper that is called many times: jitted alone it is compiled once and in no time, within an outer jit XLA has to
# optimise all of its calls together.
DEEP = """
import jax
import jax.numpy as jnp

def block(x):
    y = jax.nn.softmax(x @ x.T, axis=-1) @ x + x
    return 0.5 * (y - y.mean(-1, keepdims=True))

def deep(x):
    for _ in range(45):
        x = block(x)
    return x

def f(x):
    return 2 * x + jnp.sin(x)
"""

TWO = """
    @pytest.mark.jitperf(strategies=["eager", "outer"])
    def test_f(jitperf):
        jitperf(library.f, X)
    """


@pytest.fixture(name="deep")
def deep_project(project: Any) -> Any:
    project.write_library(DEEP)
    project.write_tests(
        """
        @pytest.mark.jitperf(inner=[library.block], strategies=["inner", "outer", "both"], expected_calls=3)
        def test_deep(jitperf):
            jitperf(library.deep, jnp.linspace(0.0, 1.0, 256).reshape(16, 16))

        @pytest.mark.jitperf(strategies=["eager", "outer"])
        def test_f(jitperf):
            jitperf(library.f, X)
        """
    )
    return project


def test_inner_is_named_first_where_a_helper_is_called_many_times(deep: Any) -> None:
    result = deep.run("--jitperf-guide", "--jitperf-guide-file=guide.md")

    result.assert_outcomes(passed=5)
    table = " ".join(result.stdout.str().partition("jitperf guide")[0].split())
    assert re.search(r" guide inner (up to|from the first call)", table)
    assert re.search(r" for 3 calls: inner, [\d.]+ m?s in all \((both|outer) ", table)
    guide = " ".join(result.stdout.str().partition("jitperf guide")[2].split())
    assert "- both and outer are the same optimised program: no call of a jitted helper is left in it" in guide
    assert re.search(
        r"- both takes [\d.]+ m?s of CPU time to trace and lower, outer [\d.]+ m?s: a jitted helper is", guide
    )
    assert "- inner launches 45 programs in each call, both 1: under an outer jit no helper is dispatched" in guide
    assert re.search(r"- inner is right here .*; library.block is compiled once for each shape \(1 program\)", guide)
    # There is the more to gain.
    assert guide.index("test_g.py::test_deep") < guide.index("test_g.py::test_f")
    written = (deep.pytester.path / "guide.md").read_text(encoding="utf-8")
    assert written.startswith("# Where to put the jit\n\n")
    assert written.index("## `test_g.py::test_deep`") < written.index("## `test_g.py::test_f`")
    result.stdout.fnmatch_lines(["guide written to guide.md"])


def test_the_controller_of_xdist_prints_and_writes_it_for_all_workers(project: Any) -> None:
    pytest.importorskip("xdist")
    project.write_tests(TWO)
    result = project.run("-n", "2", "--jitperf-guide", "--jitperf-guide-file=guide.md")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["  guide  *", "=* jitperf guide: where to put the jit =*", "test_g.py::test_f", "  gain *"]
    )
    assert result.stdout.str().count("jitperf guide") == 1
    assert "## `test_g.py::test_f`" in (project.pytester.path / "guide.md").read_text(encoding="utf-8")


def test_without_a_second_strategy_there_is_no_line_and_the_guide_says_so(project: Any) -> None:
    project.write_tests(TWO)
    result = project.quick_run("-k", "outer", "--jitperf-guide")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.no_fnmatch_line("  guide *")
    result.stdout.fnmatch_lines(["No test was measured under two strategies, so there is nothing to choose from."])


def test_a_strategy_with_a_wrong_result_is_never_advised(project: Any) -> None:
    project.write_tests(
        """
        wrong = Strategy("wrong", lambda f: jax.jit(lambda x: x))

        @pytest.mark.jitperf(strategies=["eager", wrong])
        def test_f(jitperf):
            jitperf(library.f, X)
        """
    )
    result = project.quick_run("--jitperf-guide")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["  wrong * WRONG RESULT*", "No test was measured under two strategies*"])
    result.stdout.no_fnmatch_line("  guide *")


def test_the_ini_file_can_ask_for_it(project: Any) -> None:
    project.write_tests(TWO)
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_guide = true\njitperf_guide_file = guide.md\n")
    result = project.quick_run()
    result.stdout.fnmatch_lines(["=* jitperf guide: where to put the jit =*", "guide written to guide.md"])
    assert (project.pytester.path / "guide.md").exists()


def test_nothing_is_said_or_written_where_nothing_is_measured(project: Any) -> None:
    project.write_tests(TWO)
    disabled = project.quick_run("--jitperf-disable", "--jitperf-guide", "--jitperf-guide-file=guide.md")
    disabled.assert_outcomes(passed=2)
    disabled.stdout.no_fnmatch_line("*guide*")
    project.write_tests("def test_ordinary():\n    pass\n")
    ordinary = project.quick_run("--jitperf-guide", "--jitperf-guide-file=guide.md")
    ordinary.assert_outcomes(passed=1)
    ordinary.stdout.no_fnmatch_line("*guide*")
    assert not (project.pytester.path / "guide.md").exists()


def test_a_file_that_can_no_longer_be_written_at_the_end_is_an_error(project: Any) -> None:
    project.write_tests(TWO + "\n    import os\n    os.mkdir('guide.md')\n")
    result = project.quick_run("--jitperf-guide-file=guide.md")
    result.assert_outcomes(passed=2)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.fnmatch_lines(["ERROR the guide could not be written: guide.md: Is a directory"])
