"""What a conftest.py may add by hooks: strategies, facts on the environment, a word on verdicts, lines of text."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["outer", "remat"])
def test_g(jitperf):
    jitperf(library.g, X)
"""

LIBRARY = """
import jax.numpy as jnp

def g(x):
    return jnp.sin(x) * 2.0
"""

STRATEGY = """
from pytest_jitperf import Strategy

def remat(function):
    import jax

    return jax.jit(jax.checkpoint(function))

def pytest_jitperf_strategies(config):
    return [Strategy("remat", remat)]
"""


@pytest.fixture(name="tested")
def a_project_with_two_strategies(project: Any) -> Any:
    project.write_library(LIBRARY)
    project.write_tests(TESTS)
    return project


def test_a_strategy_of_a_hook_may_be_named(tested: Any, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(STRATEGY)

    tested.record()

    assert list(tested.entries()) == ["test_g / main / outer", "test_g / main / remat"]
    result = tested.quick_run("--jitperf-strategies=remat")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.fnmatch_lines(["1 measured, 1 gated (1 same program), 0 without a baseline"])


def test_without_the_hook_the_strategy_is_unknown(tested: Any) -> None:
    result = tested.quick_run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['*strategies: unknown strategy "remat"*'])


def test_the_hook_of_a_folder_speaks_for_its_tests_alone(tested: Any, pytester: pytest.Pytester) -> None:
    folder = pytester.mkdir("inside")
    folder.joinpath("conftest.py").write_text(STRATEGY, encoding="utf-8")
    inside = folder / "test_inside.py"
    inside.write_text(
        "import pytest\n\n@pytest.mark.jitperf(strategies=['remat'])\ndef test_in(jitperf):\n"
        "    jitperf(lambda x: x + 1, 1.0)\n",
        encoding="utf-8",
    )

    result = tested.quick_run()

    result.assert_outcomes(passed=1, errors=1, warnings=1)


def test_a_fact_that_changed_is_another_environment(tested: Any, pytester: pytest.Pytester) -> None:
    fact = "\ndef pytest_jitperf_environment(config):\n    return {'driver': '1.2'}\n"
    pytester.makeconftest(STRATEGY + fact)
    tested.record()
    (entry,) = tested.entries()["test_g / main / outer"].values()
    assert entry["environment"]["config"] == {"driver": "1.2"}

    pytester.makeconftest(STRATEGY + fact.replace("1.2", "1.3"))
    result = tested.quick_run()

    result.assert_outcomes(passed=2, warnings=2)
    result.stdout.fnmatch_lines(["*environment changed: driver 1.2 -> 1.3; the program before XLA is the same*"])


SLOWER = "    for _ in range(20):\n        x = jnp.tan(jnp.sin(x))\n    return jnp.sin(x) * 2.0"


def test_a_verdict_may_be_taken_back_with_a_reason_and_annotated(tested: Any, pytester: pytest.Pytester) -> None:
    # Compile times are left out: on a busy machine they may stay inconclusive, which is a word of its own.
    tested.write_tests(TESTS.replace('"remat"]', '"remat"], tolerance={"compile": "10000 %"}'))
    pytester.makeconftest(STRATEGY)
    tested.record()
    tested.write_library(LIBRARY.replace("    return jnp.sin(x) * 2.0", SLOWER))
    pytester.makeconftest(
        STRATEGY
        + """
def pytest_jitperf_verdict(item, measurement, verdict):
    if measurement.strategy == "outer":
        return verdict.vetoed("a fault of XLA, issue 12") if verdict.failed else None
    return verdict.annotated("remat is an experiment")
"""
    )

    result = tested.quick_run("-v")

    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*  note  remat is an experiment",
            "*JitperfWarning: test_g.py::test_g[[]outer[]]: not gated: a fault of XLA, issue 12 (* regressed: *)",
        ]
    )
    assert tested.quick_run("--jitperf-strict").parseoutcomes()["failed"] == 2


def test_lines_are_added_below_the_table(tested: Any, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        STRATEGY
        + """
def pytest_jitperf_report(config, rows):
    return ["of my own:", *(f"  {row.strategy} launches {row.launches}" for row in rows)]
"""
    )

    result = tested.quick_run()

    result.stdout.fnmatch_lines(
        ["2 measured, 0 gated, 2 without a baseline", "of my own:", "  outer launches 1", "  remat launches 1"],
        consecutive=True,
    )


@pytest.mark.parametrize(
    ("hook", "said", "outcomes"),
    [
        pytest.param(
            "def pytest_jitperf_strategies(config):\n    return 'remat'",
            'hook pytest_jitperf_strategies: returned "remat"; return a list of Strategy',
            {"errors": 1},
            id="a name for a strategy",
        ),
        pytest.param(
            f"{STRATEGY}\ndef pytest_jitperf_environment(config):\n    return {{'driver': 12}}",
            "hook pytest_jitperf_environment: gave {'driver': 12}; names and values are texts of one line",
            {"errors": 2},
            id="a number for a fact",
        ),
        pytest.param(
            f"{STRATEGY}\ndef pytest_jitperf_verdict(item, measurement, verdict):\n    return False",
            "hook pytest_jitperf_verdict: returned False; return verdict.annotated(note), ",
            {"failed": 2},
            id="no verdict",
        ),
        pytest.param(
            f"{STRATEGY}\ndef pytest_jitperf_report(config, rows):\n    return 'line'",
            'ERROR hook pytest_jitperf_report: returned "line"; return a list of lines',
            {"passed": 2, "warnings": 2},
            id="a text for lines",
        ),
    ],
)
def test_what_a_hook_gives_wrongly_is_named_in_one_sentence(
    tested: Any, pytester: pytest.Pytester, hook: str, said: str, outcomes: dict[str, int]
) -> None:
    pytester.makeconftest(hook)

    result = tested.quick_run()

    result.assert_outcomes(**outcomes)
    assert said in result.stdout.str()
    assert "Traceback" not in result.stdout.str()
