"""What compiles again: said when a budget is exceeded, when a baseline is, and in a verbose table."""

from __future__ import annotations

from typing import Any

BUDGETS = """
@pytest.mark.jitperf(
    strategies=["outer", "inner"], inner=[library.f], jit={"static_argnames": "how"}, compilations=2,
    equal_results=False,
)
def test_step(jitperf):
    jitperf.measure(library.step, inputs=[
        ({"w": X}, 1.0, "sum"),
        ({"w": jnp.ones(9)}, 1.0, "sum"),
        ({"w": jnp.ones(9)}, jnp.float32(1), "sum"),
        ({"w": jnp.ones(9), "b": X}, 1.0, "mean"),
        ({"w": X}, 1.0, lambda x: x),
        ({"w": X}, 1.0, lambda x: x),
    ])

@pytest.mark.jitperf(strategies=["eager"], primitive_compilations=2)
def test_scan(jitperf):
    jitperf.measure(library.total, inputs=[X, X])
"""

STEP = """
import jax
import jax.numpy as jnp

def f(x):
    return 2 * x

def step(params, rate, how):
    return jax.tree.map(lambda leaf: f(leaf) * rate, params)

def total(x):
    return jax.lax.scan(lambda carry, v: (carry + v, v), jnp.float32(0), x)[0]
"""

MESSAGES = {
    "test_step[outer]": """compilations over budget: 6, budget 2
    input 2: step, params['w']: f32[8] -> f32[9] (pad or bucket the shapes)
    input 3: step, rate: weak f32[] -> f32[] (jnp.asarray with a dtype at every caller)
    input 4: step, params['b']: absent -> f32[8]; how: static 'sum' -> 'mean' (always the same structure; trace it, or \
keep to few values)
    input 5: step, how: static 'sum' -> function <lambda> (few functions, each made once)
    input 6: step, how: a new function <lambda> (hoist the lambda: make it once)
  strategy outer, device cpu; __jitperf__/test_g.json, test_step / outer / cpu
  rule  budget compilations=2 (marker)
*: OverBudget""",
    "test_scan[eager]": """primitive_compilations over budget: 3, budget 2
    input 1: convert_element_type at library.py:*, scan at library.py:12, for the first time
    input 2: scan at library.py:12, a new body <lambda> (hoist the lambda: make it once)
  strategy eager, device cpu; __jitperf__/test_g.json, test_scan / eager / cpu
  rule  budget primitive_compilations=2 (marker)
  note  compiles again in every call: scan at library.py:12, a new body <lambda> (hoist the lambda: make it once)
*: OverBudget""",
}


def test_a_budget_that_is_exceeded_names_each_compilation(project: Any) -> None:
    project.write_library(STEP)
    project.write_tests(BUDGETS)
    result = project.quick_run()
    project.assert_messages(result, MESSAGES)
    # The helper is compiled twice, for two shapes.
    result.assert_outcomes(passed=1, failed=2)


def test_a_verbose_table_says_what_was_compiled(project: Any) -> None:
    project.write_library(STEP)
    project.write_tests(BUDGETS)
    result = project.quick_run("-v", "-k", "inner")
    result.stdout.fnmatch_lines(
        [
            "  inner *",
            "      over 6 inputs: f traced 2, lowered 2, compiled 2; JAX's own operations",
            "        compiled *",
            "      input 2: f, x: f32[[]8[]] -> f32[[]9[]] (pad or bucket the shapes)",
        ]
    )
    assert "over 6 inputs" not in project.quick_run("-k", "inner").stdout.str()


BASELINE = """
@pytest.mark.jitperf(strategies=["inner"], inner=[library.f])
def test_halves(jitperf):
    jitperf(library.halves, X)
"""

HALVES = """
import jax.numpy as jnp

def f(x):
    return 2 * x

def halves(x):
    return jnp.concatenate([f(x[:4]), f(x[4:])])
"""


def test_more_compilations_than_in_the_baseline_are_named_without_a_budget(project: Any) -> None:
    project.write_library(HALVES)
    project.write_tests(BASELINE)
    project.record()
    project.write_library(HALVES.replace("4", "3"))

    result = project.quick_run()

    assert "compilations regressed: 1 -> 2" in result.stdout.str()
    assert "f, x: f32[3] -> f32[5] (pad or bucket the shapes)" in result.stdout.str()
    result.assert_outcomes(failed=1)


def test_a_jit_made_anew_in_each_call_is_a_warning_under_the_default_strategies_and_fails_under_strict(
    project: Any,
) -> None:
    library = """
import jax
import jax.numpy as jnp

def layer(x):
    return jnp.tanh(x)

{once}
def predict(x):
    return {jitted}(x)
"""
    project.write_library(library.format(once="jitted = jax.jit(layer)\n", jitted="jitted"))
    project.write_tests("@pytest.mark.jitperf\ndef test_predict(jitperf):\n    jitperf(library.predict, X)\n")
    project.record()
    project.quick_run().assert_outcomes(passed=2)
    project.write_library(library.format(once="", jitted="jax.jit(lambda v: layer(v))"))

    result = project.quick_run()

    result.assert_outcomes(passed=2, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*JitperfWarning: test_g.py::test_predict?eager?: not gated: compilations 1 -> *, compiled again in every "
            "call: <lambda>*, a new function object is jitted (jit it once, outside the call); eager is the reference; "
            'gate it with  tolerance={"eager": {"compilations": 0}}'
        ]
    )
    project.quick_run("--jitperf-strict").assert_outcomes(passed=1, failed=1)
