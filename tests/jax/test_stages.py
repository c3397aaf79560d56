"""Cold stages are cold, whatever was done before, and JAX is left configured as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.compilation_cache import compilation_cache

from pytest_jitperf.probe.compilelog import compile_log
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.stages import cold_stages, cold_trace, persistent_cache_off, reference_trace_seconds, warm_up

X = jnp.ones((8, 8))
CPU = jax.devices("cpu")[0]
SETTINGS = ("jax_enable_compilation_cache", "jax_compilation_cache_dir")


@pytest.fixture
def cache_folder(tmp_path: Path) -> Iterator[Path]:
    """JAX's compilation cache on disk, for every program however small."""
    settings = {
        "jax_compilation_cache_dir": str(tmp_path),
        "jax_persistent_cache_min_compile_time_secs": 0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    yield tmp_path
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def test_each_sample_starts_from_nothing() -> None:
    traces: list[int] = []

    def helper(x: Any) -> Any:
        traces.append(1)
        return x + 1

    jitted = jax.jit(lambda x: jax.jit(helper)(x))
    for _ in range(3):
        with compile_log() as log:
            stages = cold_stages(jitted, (X,), {})
        assert (log.user, log.primitives) == (["<lambda>"], [])
    assert len(traces) == 3
    assert stages.compiled(X).shape == X.shape
    seconds = [
        getattr(getattr(stages, phase), clock) for phase in ("trace", "lower", "xla") for clock in ("wall", "cpu")
    ]
    assert all(each > 0 for each in seconds)


def test_a_cold_trace_takes_keyword_arguments() -> None:
    _, traced = cold_trace(jax.jit(lambda x, *, n: x * n, static_argnames="n"), (X,), {"n": 3})
    assert len(traced.jaxpr.eqns) == 1


def cache_hits(function: Callable[[], Any]) -> int:
    jax.clear_caches()
    with compile_log() as log:
        function()
    return log.cache_hits


def test_the_cache_on_disk_is_off_for_samples_and_on_again_after(cache_folder: Path) -> None:
    before = [getattr(jax.config, name) for name in SETTINGS]
    program = jax.jit(lambda x: jnp.tanh(x @ x))
    program(X)
    files = sorted(cache_folder.iterdir())
    assert files != []
    assert cache_hits(lambda: program(X)) == 1

    with persistent_cache_off():
        assert cache_hits(lambda: program(X)) == 0
        jax.jit(lambda x: jnp.tanh(x @ x) + 1)(X)

    assert [getattr(jax.config, name) for name in SETTINGS] == before
    assert sorted(path for path in cache_folder.iterdir() if "atime" not in path.name) == sorted(
        path for path in files if "atime" not in path.name
    )
    assert cache_hits(lambda: program(X)) == 1


def test_a_measurement_never_takes_a_program_from_disk(cache_folder: Path, measured: Callable[..., Probed]) -> None:
    jax.jit(cached)(X)
    for _ in range(2):
        measurement = measured(cached, X).measurement
        assert measurement.notes == ()
        assert measurement.host["compilations"] == 1
    assert [getattr(jax.config, name) for name in SETTINGS] == [True, str(cache_folder)]


def cached(x: Any) -> Any:
    return jnp.cos(x @ x)


def test_without_a_cache_on_disk_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(jax.config, "update", fail)
    with persistent_cache_off():
        pass


def test_a_user_who_has_it_off_finds_it_off(cache_folder: Path) -> None:
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        with pytest.raises(ZeroDivisionError), persistent_cache_off():
            _ = 1 // 0
        assert jax.config.jax_enable_compilation_cache is False  # type: ignore[attr-defined]  # made at run time
    finally:
        jax.config.update("jax_enable_compilation_cache", True)


def test_the_warm_up_is_paid_once_per_device() -> None:
    warm_up(CPU)
    with compile_log() as log:
        warm_up(CPU)
    assert log.user == []


def test_the_reference_trace_takes_time() -> None:
    trace, lower = reference_trace_seconds()
    assert trace > 0
    assert lower > 0


def test_the_reference_trace_is_the_same_whatever_promotions_the_user_refuses() -> None:
    with jax.numpy_rank_promotion("raise"), jax.numpy_dtype_promotion("strict"):
        trace, lower = reference_trace_seconds()
    assert trace > 0
    assert lower > 0
