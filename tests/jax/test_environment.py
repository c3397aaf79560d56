"""What is recorded of the environment."""

from __future__ import annotations

import jax
import pytest

from pytest_jitperf.probe.environment import environment, without_paths

CPU = jax.devices("cpu")[0]


def test_an_untouched_process_has_nothing_to_say() -> None:
    found = environment(CPU)
    assert found.config == {}
    assert (found.jax, found.platform, found.x64) == (jax.__version__, "cpu", False)
    assert found.host_key == f"{found.python}/{jax.__version__}"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("jax_debug_nans", True, "true"),
        ("jax_default_matmul_precision", "highest", "highest"),
        ("jax_numpy_dtype_promotion", "strict", "strict"),
        ("jax_default_prng_impl", "rbg", "rbg"),
        ("jax_threefry_partitionable", False, "false"),
        ("jax_compiler_enable_remat_pass", False, "false"),
    ],
)
def test_switches_that_change_the_program_are_recorded(name: str, value: object, shown: str) -> None:
    before = getattr(jax.config, name)
    jax.config.update(name, value)
    try:
        assert environment(CPU).config == {name: shown}
    finally:
        jax.config.update(name, before)


@pytest.mark.parametrize(
    ("name", "value"), [("jax_disable_most_optimizations", True), ("jax_cpu_enable_async_dispatch", False)]
)
def test_a_switch_that_is_no_attribute_is_recorded_too(name: str, value: bool) -> None:
    jax.config.update(name, value)
    try:
        assert environment(CPU).config == {name: str(value).lower()}
    finally:
        jax.config.update(name, not value)


def test_contexts_count_as_the_settings_that_they_are() -> None:
    with jax.enable_x64(True), jax.default_matmul_precision("highest"):
        found = environment(CPU)
    assert (found.x64, found.config) == (True, {"jax_default_matmul_precision": "highest"})


def test_flags_are_kept_without_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "XLA_FLAGS", "--xla_b=2 --xla_dump_to=/home/me/x --xla_dump_hlo_as_text --xla_data_dir=/opt/x --xla_a=1"
    )
    monkeypatch.setenv("LIBTPU_INIT_ARGS", "--t=1")
    found = environment(CPU)
    assert (found.xla_flags, found.libtpu_init_args) == ("--xla_a=1 --xla_b=2", "--t=1")
    assert without_paths("") == ""


def test_no_host_or_user_name_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "somebody-special")
    monkeypatch.setenv("HOSTNAME", "secret-host")
    assert [word for word in ("somebody", "secret", "/") if word in str(environment(CPU))] == []
