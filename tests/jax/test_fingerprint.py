"""The text that a fingerprint is taken of; what it tells apart is tested with whole programs."""

from __future__ import annotations

from pytest_jitperf.probe.fingerprint import normalized


def test_only_functions_of_the_module_itself_are_renumbered() -> None:
    one = "module @jit_f { func.func public @main() { call @g() : custom_call @lapack_a() }\n func.func private @g() }"
    other = (
        "module @jit_h { func.func public @main() { call @k() : custom_call @lapack_a() }\n func.func private @k() }"
    )
    assert normalized(one) == normalized(other)
    assert normalized(one) != normalized(one.replace("lapack_a", "lapack_b"))


def test_names_of_the_module_and_of_results_are_dropped() -> None:
    one = 'module @jit_f { func.func public @main(%a: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "result"}) }'
    other = 'module @jit_g { func.func public @main(%a: tensor<2xf32>) -> (tensor<2xf32> {jax.result_info = "[0]"}) }'
    assert (
        normalized(one) == normalized(other) == "module { func.func public @f0(%a: tensor<2xf32>) -> (tensor<2xf32>) }"
    )
