"""Strategies of the user's, functions that are jitted already, and another library's jit."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
@jax.jit
def jitted(x):
    return library.g(x)

remat = Strategy("remat", lambda f: jax.jit(jax.checkpoint(f)))
loop = Strategy("loop", lambda f: lambda x: f(x))

@pytest.mark.jitperf(strategies=["outer", remat, loop])
def test_own(jitperf):
    y = jitperf(library.g, X)
    assert jitperf.strategy in ("outer", "remat", "loop")
    assert jitperf.device == jax.devices()[0]
    assert jitperf.measurement.host["launches"] == {"loop": 8}.get(jitperf.strategy, 1)
    assert jnp.allclose(y, library.g(X))

@pytest.mark.jitperf(inner=[library.f])
def test_jitted(jitperf):
    jitperf(jitted, X)
"""


def test_each_is_measured_recorded_and_gated(project: Any) -> None:
    project.write_tests(TESTS)
    project.record()
    assert list(project.entries()) == [
        "test_jitted / main / both",
        "test_jitted / main / eager",
        "test_jitted / main / inner",
        "test_jitted / main / outer",
        "test_own / main / loop",
        "test_own / main / outer",
        "test_own / main / remat",
    ]
    result = project.quick_run()
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines(
        [
            "test_g.py::test_jitted",
            "  eager * 8   reference*",
            "*jitted is jitted already; eager measures what it wraps*",
            "  outer * 1   ok (same program)*",
            "*jitted is jitted already; measured with its own options*",
            "  inner * ok (same program)*",
            "*jitted is jitted already; inner measures what it wraps*",
            "  both * 1   ok (same program)*",
            "*same program as outer*",
            "test_g.py::test_own",
            "  outer * 1   ok (same program)*",
            "  loop * 8   ok*",
            "  remat * 1   ok (same program)*",
        ]
    )


def test_equinox_is_a_strategy(project: Any) -> None:
    pytest.importorskip("equinox")
    project.write_tests(
        """
        import equinox as eqx

        @pytest.mark.jitperf(strategies=["eager", "outer", Strategy("filter_jit", eqx.filter_jit)])
        def test_mlp(jitperf):
            mlp = eqx.nn.MLP(2, 2, 4, 1, key=jax.random.key(0))
            jitperf(lambda mlp, x: mlp(x), mlp, jnp.ones(2))
        """
    )
    recorded = project.quick_run("--jitperf-update")
    project.assert_messages(
        recorded,
        {
            "test_mlp[outer]": "outer needs static values: *<lambda> got mlp, *"
            'strategies=[Strategy("filter_jit", eqx.filter_jit)]  in the marker\n*: NotMeasured'
        },
    )
    result = project.quick_run("-k", "not outer")
    result.assert_outcomes(passed=2, deselected=1)
    result.stdout.fnmatch_lines(["  eager *", "  filter_jit * 1   ok (same program)*"])
