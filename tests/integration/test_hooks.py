"""What a conftest.py may add by hooks: strategies, metrics, facts on the environment, a word on verdicts, lines."""

from __future__ import annotations

import json
import re
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


METRICS = """
from pytest_jitperf import CustomMetric

def sines(seen):
    return seen.lowered and seen.lowered.as_text().count("stablehlo.sine")

def result_bytes(seen):
    return seen.result.nbytes

def pytest_jitperf_metrics(config):
    return [CustomMetric("sines", sines, tolerance="0 %"), CustomMetric("result_bytes", result_bytes)]
"""

ONE_MORE_SINE = LIBRARY.replace("jnp.sin(x) * 2.0", "jnp.sin(jnp.sin(x)) * 2.0")


@pytest.fixture(name="counted")
def a_project_with_metrics_of_its_own(project: Any, pytester: pytest.Pytester) -> Any:
    pytester.makeconftest(METRICS)
    project.write_library(LIBRARY)
    # Of times nothing is asked: on a busy machine they may stay inconclusive.
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["eager", "outer"], tolerance={"run": "10000 %", "compile": "10000 %"})
        def test_g(jitperf):
            jitperf(library.g, X)
        """
    )
    return project


def test_a_metric_of_ones_own_is_stored_gated_and_shown(counted: Any, pytester: pytest.Pytester) -> None:
    counted.record()
    entries = counted.entries()
    numbers = {
        strategy: {name: entry["exact"][name] for name in ("sines", "result_bytes") if name in entry["exact"]}
        for strategy in ("eager", "outer")
        for entry in entries[f"test_g / main / {strategy}"].values()
    }
    assert numbers == {"eager": {"result_bytes": 32}, "outer": {"sines": 1, "result_bytes": 32}}

    counted.write_library(ONE_MORE_SINE)
    result = counted.quick_run("--jitperf-json=results.json", "--junitxml=junit.xml", "--jitperf-summary=summary.md")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "sines regressed: 1 -> 2, x2.00, allowed 1",
            "  rule  tolerance sines=no increase (default)",
            "*compile * run * launches * result_bytes * sines",
            "  eager * 32 B * -   reference",
            "  outer * 32 B * 2   REGRESSED*",
        ]
    )
    measured = json.loads((pytester.path / "results.json").read_bytes())["measurements"]
    assert [each["metrics"].get("sines") for each in measured] == [None, 2]
    junit = (pytester.path / "junit.xml").read_text(encoding="utf-8")
    assert '<property name="jitperf.main.sines" value="2.0" />' in junit
    summary = (pytester.path / "summary.md").read_text(encoding="utf-8")
    assert re.search(r"\| +launches \| +`result_bytes` \| +`sines` \|", summary)


def test_its_budget_and_tolerance_stand_in_marker_and_option_like_any_other(
    counted: Any, pytester: pytest.Pytester
) -> None:
    counted.record()
    counted.write_library(ONE_MORE_SINE)

    allowed = counted.quick_run("--jitperf-tolerance=sines=1")
    counted.write_tests(
        "@pytest.mark.jitperf(strategies=['outer'], sines=1)\ndef test_h(jitperf):\n    jitperf(library.g, X)"
    )
    over = counted.quick_run()
    wrong = counted.quick_run("--jitperf-tolerance=sine=1")

    allowed.assert_outcomes(passed=2)
    over.assert_outcomes(failed=1)
    over.stdout.fnmatch_lines(["sines over budget: 2, budget 1", "  rule  budget sines=1 (marker)"])
    assert wrong.ret == pytest.ExitCode.USAGE_ERROR
    wrong.stderr.fnmatch_lines(['*--jitperf-tolerance="sine=1" names unknown metric "sine"; did you mean "sines"?*'])


def test_a_metric_that_is_new_is_not_gated_until_it_is_recorded(counted: Any, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("")
    counted.record()
    pytester.makeconftest(METRICS)

    before = counted.quick_run()
    counted.record()
    after = counted.quick_run()

    before.assert_outcomes(passed=2, warnings=1)
    before.stdout.fnmatch_lines(["*not gated: the baseline has none; record it with --jitperf-update*"])
    after.assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param("-1", "gave -1 under strategy eager", id="below nothing"),
        pytest.param("float('nan')", "gave nan under strategy eager", id="NaN"),
        pytest.param("'three'", 'gave "three" under strategy eager', id="a text"),
    ],
)
def test_what_is_no_count_fails_the_test_with_a_sentence(
    counted: Any, pytester: pytest.Pytester, answer: str, said: str
) -> None:
    pytester.makeconftest(
        "from pytest_jitperf import CustomMetric\n\ndef pytest_jitperf_metrics(config):\n"
        f"    return [CustomMetric('waves', lambda seen: {answer})]\n"
    )

    result = counted.quick_run("-k", "eager")

    result.assert_outcomes(failed=1, deselected=1)
    whole = f'metric "waves": count {said}; return a whole number of 0 or more, or None where there is none'
    assert whole in result.stdout.str()


def test_what_a_count_raises_is_the_failure_of_its_test(counted: Any, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(METRICS.replace("return seen.result.nbytes", "return 1 / 0"))

    result = counted.quick_run("-k", "eager")

    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        ["E*ZeroDivisionError: division by zero", 'E*while counting the metric "result_bytes" under strategy eager']
    )


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


def test_the_same_lines_stand_in_every_other_report(tested: Any, pytester: pytest.Pytester) -> None:
    pytest.importorskip("jinja2")
    pytester.makeconftest(
        STRATEGY
        + """
CALLS = []

def pytest_jitperf_report(config, rows):
    CALLS.append(rows)
    return [f"call {len(CALLS)} of <hook>", f"  in {config.rootpath}/x"]
"""
    )

    result = tested.quick_run("--jitperf-json=all.json", "--jitperf-html=all.html", "--jitperf-summary=all.md")

    result.stdout.fnmatch_lines(["call 1 of <hook>", f"  in {pytester.path}/x"], consecutive=True)
    written = {name: (pytester.path / name).read_text(encoding="utf-8") for name in ("all.json", "all.html", "all.md")}
    assert json.loads(written["all.json"])["lines"] == ["call 1 of <hook>", "  in x"]
    assert "\n```\ncall 1 of <hook>\n  in x\n```\n" in written["all.md"]
    assert "<pre>call 1 of &lt;hook&gt;\n  in x</pre>" in written["all.html"]


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
        pytest.param(
            f"{STRATEGY}\ndef pytest_jitperf_report(config, rows):\n    return rows[2].run",
            "ERROR hook pytest_jitperf_report raised IndexError: tuple index out of range",
            {"passed": 2, "warnings": 2},
            id="an error of its own",
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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param("'waves'", 'returned "waves"; return a list of CustomMetric', id="a name"),
        pytest.param("[len]", "gave len, which is no CustomMetric; write CustomMetric(name, count)", id="a function"),
        pytest.param("[CustomMetric('run', len)]", "the plugin measures run itself; *", id="one of the plugin's"),
        pytest.param(
            "[CustomMetric('sizes', len)]",
            'metric "sizes" is a keyword of the marker; give it another name',
            id="a keyword",
        ),
        pytest.param(
            "[CustomMetric('waves', len), CustomMetric('waves', str)]",
            'metric "waves" is registered twice; give one of them another name',
            id="twice",
        ),
    ],
)
def test_a_metric_that_cannot_be_one_ends_the_run_before_any_test(
    tested: Any, pytester: pytest.Pytester, given: str, said: str
) -> None:
    pytester.makeconftest(
        f"from pytest_jitperf import CustomMetric\n\ndef pytest_jitperf_metrics(config):\n    return {given}\n"
    )

    result = tested.quick_run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert f"hook pytest_jitperf_metrics: {said}".rstrip("*") in result.stderr.str() or said.rstrip("*") in (
        result.stderr.str()
    )
    assert "Traceback" not in result.stderr.str()


def test_the_metrics_of_a_folder_are_its_own_and_their_mistakes_too(tested: Any, pytester: pytest.Pytester) -> None:
    pytester.makeconftest(STRATEGY)
    folder = pytester.mkdir("inside")
    folder.joinpath("conftest.py").write_text(
        "from pytest_jitperf import CustomMetric\n\ndef pytest_jitperf_metrics(config):\n    return [CustomMetric]\n",
        encoding="utf-8",
    )
    folder.joinpath("test_inside.py").write_text(
        "def test_in(jitperf):\n    jitperf(lambda x: x + 1, 1.0)\n", encoding="utf-8"
    )

    result = tested.quick_run()

    result.assert_outcomes(passed=2, errors=1, warnings=2)
    result.stdout.fnmatch_lines(["hook pytest_jitperf_metrics: gave CustomMetric, which is no CustomMetric; *"])
