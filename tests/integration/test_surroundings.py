"""Surroundings that no test asked for: a coverage tool, settings that a function leaves behind, JAX half there."""

from __future__ import annotations

import os
from typing import Any

import pytest

TESTS = """
import sys

@pytest.mark.jitperf(compile="1 ns", run="1 min", inner=[library.f])
def test_f(jitperf):
    jitperf(library.g, X)
"""

TRACER = """
import pytest, sys

def tracer(frame, event, arg):
    return tracer

@pytest.fixture(autouse=True)
def debugged():
    before = sys.gettrace()
    sys.settrace(tracer)
    yield
    assert sys.gettrace() is tracer
    sys.settrace(before)
"""


def test_under_a_debugger_verdicts_are_the_same_and_budgets_on_python_time_wait(project: Any) -> None:
    project.write_tests(TESTS.replace('compile="1 ns"', 'compile="10 min"'))
    project.record()
    project.write_tests(TESTS)
    project.pytester.makeconftest(TRACER)
    result = project.quick_run()
    result.assert_outcomes(passed=4, warnings=4)
    result.stdout.fnmatch_lines(
        ["*compile not held to its budget: * conftest traces this process, so Python code takes *"]
    )
    project.write_tests(TESTS.replace('compile="1 ns"', 'compile="10 min"'))
    result = project.quick_run()
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["4 measured, 3 gated (3 same program), 1 reference, 0 without a baseline"])


def test_a_setting_that_a_function_leaves_behind_is_put_back_and_told(project: Any) -> None:
    project.write_tests(
        """
        def wide(x):
            jax.config.update("jax_enable_x64", True)
            return x * 2

        @pytest.mark.jitperf(strategies=["eager", "outer"])
        def test_wide(jitperf):
            jitperf(wide, X)
            assert jnp.arange(3.0).dtype == jnp.float32

        @pytest.mark.jitperf(strategies=["outer"])
        def test_x64(jitperf):
            with jax.enable_x64(True):
                assert jitperf(lambda x: x * 2, jnp.arange(3.0)).dtype == jnp.float64
            assert not jax.config.jax_enable_x64

        @pytest.mark.jitperf(strategies=["outer"])
        def test_after(jitperf):
            assert jitperf(lambda: jnp.arange(3.0) * 2).dtype == jnp.float32
        """
    )
    result = project.quick_run("--jitperf-update")
    result.assert_outcomes(passed=4)
    text = " ".join(" ".join(result.outlines).split())
    assert text.count("the function sets jax_enable_x64, which is put back as it was after the measurement") >= 1
    x64 = {name: kinds["cpu"]["environment"].get("x64", False) for name, kinds in project.entries().items()}
    assert x64 == {
        "test_after / main / outer": False,
        "test_wide / main / eager": True,
        "test_wide / main / outer": True,
        "test_x64 / main / outer": True,
    }
    gated = project.quick_run("-p", "no:randomly", "-k", "x64 or after")
    gated.assert_outcomes(passed=2, deselected=2)


@pytest.mark.parametrize(
    ("jax", "said"),
    [
        (None, "ModuleNotFoundError: No module named 'jax'"),
        ("raise RuntimeError('jaxlib 0.4 is incompatible')", "RuntimeError: jaxlib 0.4 is incompatible"),
        ("__version__ = '0.3.1'", "*Error: *"),
    ],
    ids=["missing", "unfit", "old"],
)
def test_without_a_jax_that_works_marked_tests_say_so_in_a_line(project: Any, jax: str | None, said: str) -> None:
    library = project.pytester.mkdir("library_of_old")
    if jax is not None:
        (library / "jax.py").write_text(jax)
    hide = f"import sys\nsys.path.insert(0, {str(library)!r})\n"
    project.pytester.makeconftest(hide if jax is not None else f"{hide}sys.modules['jax'] = None\n")
    project.write_test(
        "import pytest\n\ndef test_ordinary():\n    pass\n\n"
        "@pytest.mark.jitperf(strategies=['outer'])\ndef test_f(jitperf):\n    jitperf(abs, 1)\n"
    )
    result = project.run("-p", "no:jaxtyping")
    result.assert_outcomes(passed=1, errors=1)
    text = result.stdout.str()
    if jax is None:
        said = "ModuleNotFoundError: import of jax halted; None in sys.modules"
    project.assert_messages(
        result,
        {
            "test_f[outer]": f"JAX cannot be used here ({said}); what is measured needs jax 0.8 or newer and the "
            "jaxlib that fits it\ntest_g.py:6: test_g.py::test_f[outer]"
        },
    )
    assert "Traceback" not in text


FORK = """
import os

def pytest_collection_finish(session):
    import jax.numpy as jnp
    jnp.ones(3)
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_was_forked_from_one_with_jax_at_work_is_refused(project: Any) -> None:
    project.pytester.makeconftest(FORK)
    project.write_tests("@pytest.mark.jitperf(strategies=['outer'])\ndef test_f(jitperf):\n    jitperf(library.f, X)\n")
    result = project.run("-W", "ignore::RuntimeWarning", "-W", "ignore::DeprecationWarning")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["this process was forked from one in which JAX was at work already, where JAX hangs: *"]
    )
