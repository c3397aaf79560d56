"""Settings of JAX are left as they were found."""

from __future__ import annotations

import jax
import pytest

from pytest_jitperf.probe.jaxconfig import config_kept


def test_what_is_changed_meanwhile_is_named_and_put_back() -> None:
    before = dict(jax.config.values)

    def change() -> None:
        with config_kept() as changed:
            assert changed() == ()
            jax.config.update("jax_enable_x64", not before["jax_enable_x64"])
            jax.config.update("jax_default_matmul_precision", "highest")
            assert sorted(changed()) == ["jax_default_matmul_precision", "jax_enable_x64"]
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change()
    assert dict(jax.config.values) == before


def test_a_context_that_holds_before_and_after_is_nobodys_change() -> None:
    with jax.enable_x64(True):
        with config_kept() as changed:
            assert changed() == ()
        assert jax.config.jax_enable_x64  # type: ignore[attr-defined]  # made at run time
    assert not jax.config.jax_enable_x64  # type: ignore[attr-defined]  # made at run time
