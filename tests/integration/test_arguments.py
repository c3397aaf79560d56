"""Arguments of all kinds: donated, random keys, made afresh for each call, several inputs."""

from __future__ import annotations

from typing import Any

TESTS = """
def draw(key, n):
    return jax.random.normal(key, (n,))

MADE = []

def make():
    MADE.append(jnp.full(8, 2.0))
    return (MADE[-1],)

@pytest.mark.jitperf(jit={"donate_argnums": 0})
def test_donated(jitperf):
    x = jnp.full(8, 3.0)
    y = jitperf(library.g, x)
    assert not x.is_deleted() and x[0] == 3
    assert not y.is_deleted() and y.shape == (8,)

@pytest.mark.jitperf(jit={"static_argnames": ["n"]})
def test_keys(jitperf):
    new = jitperf(draw, jax.random.key(0), 4)
    old = jitperf.measure(draw, args=(jax.random.PRNGKey(0),), kwargs={"n": 4}, name="old")
    assert jnp.array_equal(new, old)

@pytest.mark.jitperf(jit={"donate_argnums": 0})
def test_made(jitperf):
    MADE.clear()
    y = jitperf.measure(library.g, make_args=make)
    assert jnp.allclose(y, library.g(jnp.full(8, 2.0)))
    assert len(MADE) > 4

@pytest.mark.jitperf(strategies=["outer"], compilations=1)
def test_inputs(jitperf):
    y = jitperf.measure(
        lambda x, scale, n: x * scale, inputs=[(X, 1.0, 2), (X, jnp.float32(1), 2), ((X, 1.0), {"n": 2})]
    )
    assert y.shape == (8,)

@pytest.mark.jitperf(strategies=["outer"])
def test_two_ways(jitperf):
    jitperf.measure(library.f, args=(X,), inputs=[(X,)])

@pytest.mark.jitperf(strategies=["outer"])
def test_not_a_tuple(jitperf):
    jitperf.measure(library.f, args=X)

@pytest.mark.jitperf(strategies=["outer"])
def test_made_already(jitperf):
    jitperf.measure(library.f, make_args=(X,))

@pytest.mark.jitperf(strategies=["outer"])
def test_nothing(jitperf):
    jitperf.measure(library.f, inputs=[])

@pytest.mark.jitperf(strategies=["eager", "outer"])
def test_traced(jitperf):
    jax.vmap(lambda x: jitperf(library.f, x))(X)
"""


def test_arguments_are_taken_as_they_are_and_stay_usable(project: Any) -> None:
    project.write_tests(TESTS)
    result = project.quick_run("--jitperf-update")
    project.assert_messages(
        result,
        {
            "test_inputs[outer]": "compilations over budget: *, budget 1\n    input 2: <lambda> (test_g.py:*), "
            "scale: weak f32[] -> f32[] (*)\n    input 3: <lambda> (test_g.py:*), n: by position -> by keyword (*)\n*",
            "test_two_ways[outer]": "jitperf.measure() got args and inputs; give one of them\n*: NotMeasured",
            "test_not_a_tuple[outer]": "jitperf.measure(args=...) got ArrayImpl, expected a tuple; write "
            "args=(x,) for one "
            "argument\n*: NotMeasured",
            "test_made_already[outer]": "jitperf.measure(make_args=...) got tuple, expected a function; write "
            "make_args=lambda: (x,)\n*: NotMeasured",
            "test_nothing[outer]": "jitperf.measure(inputs=[]) has nothing to run; give at least one input\n*: "
            "NotMeasured",
            "test_traced[eager]": "its arguments are being traced by JAX (jit, grad, vmap, scan), *: NotMeasured",
            "test_traced[outer]": "its arguments are being traced by JAX (jit, grad, vmap, scan), *: NotMeasured",
        },
    )
    result.assert_outcomes(passed=6, failed=7)
    gated = project.quick_run("-k", "donated or keys or (made and not already)")
    gated.assert_outcomes(passed=6, deselected=7)
    gated.stdout.fnmatch_lines(["8 measured, 4 gated (4 same program), 4 reference, 0 without a baseline"])
