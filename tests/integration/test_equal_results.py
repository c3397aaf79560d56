"""Fast and wrong is wrong: each strategy's result is held against the reference's."""

from __future__ import annotations

from typing import Any

TESTS = """
wrong = Strategy("wrong", lambda f: jax.jit(lambda x: f(x) + 1))

@pytest.mark.jitperf(strategies=["eager", wrong])
def test_wrong(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(strategies=[wrong], peak_bytes="1 B")
def test_alone(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(strategies=[Strategy("shape", lambda f: jax.jit(lambda x: f(x)[:4]))])
def test_shape(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(strategies=[wrong], equal_results=False)
def test_not_compared(jitperf):
    assert jitperf(library.g, X)[0] == library.g(X)[0] + 1

@pytest.mark.jitperf(strategies=[wrong], rtol=0.5)
def test_wide(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(strategies=[wrong], atol=0.5)
def test_narrow(jitperf):
    jitperf(library.g, X)
"""

WRONG = "wrong result: result: off by 0.254 % of its largest value, allowed 0.01 %, compared with eager\n"


def test_a_wrong_result_fails_whatever_else_is_true(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update")
    project.assert_messages(
        result,
        {
            "test_wrong[wrong]": f"{WRONG}  strategy wrong, device cpu; *\ntest_g.py:12: WrongResult",
            "test_alone[wrong]": f"{WRONG}*\n  also  peak_bytes over budget: 64 B, budget 1 B\n*\ntest_g.py:16: "
            f"WrongResult",
            "test_shape[shape]": "wrong result: result: shape [4] instead of [8], compared with eager\n*",
            "test_narrow[wrong]": f"{WRONG}*\ntest_g.py:32: WrongResult",
        },
    )
    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines(["  wrong * WRONG RESULT*"])
    assert list(project.entries()) == [
        "test_not_compared / main / wrong",
        "test_wide / main / wrong",
        "test_wrong / main / eager",
    ]
