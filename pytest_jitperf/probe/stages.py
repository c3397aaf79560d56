"""The cold stages of a compilation: trace, lower, compile, each timed from empty caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

from . import clock
from .idle import Span, watched


@dataclass(frozen=True, slots=True)
class Seconds:
    """What one phase took.

    Attributes:
        wall: Wall time.
        cpu: CPU time, of the thread for trace and lower, of the process for XLA.
        span: What it takes on an idle machine.
    """

    wall: float
    cpu: float
    span: Span


@dataclass(frozen=True, slots=True)
class ColdStages:
    """One cold compilation, and what it left to go on with.

    Attributes:
        trace: Python to jaxpr.
        lower: jaxpr to StableHLO.
        xla: StableHLO to executable.
        traced: ``jax.stages.Traced``.
        lowered: ``jax.stages.Lowered``.
        compiled: ``jax.stages.Compiled``; calling the same jit again uses it.
    """

    trace: Seconds
    lower: Seconds
    xla: Seconds
    traced: Any
    lowered: Any
    compiled: Any

    def spans(self) -> dict[str, Span]:
        """By phase, and ``compile`` for the whole, what they take on an idle machine."""
        trace, lower, xla = self.trace.span, self.lower.span, self.xla.span
        return {"trace": trace, "lower": lower, "xla": xla, "compile": trace + lower + xla}


@contextmanager
def persistent_cache_off() -> Iterator[None]:
    """Keeps JAX's compilation cache on disk out of cold samples.

    JAX decides once whether to use it, so the decision is reset after each change of the flag.
    """
    if not jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]  # made at run time
        yield
        return
    from jax.experimental.compilation_cache import compilation_cache

    before = jax.config.jax_enable_compilation_cache  # type: ignore[attr-defined]  # made at run time
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
        compilation_cache.reset_cache()


def warm_up(device: jax.Device) -> None:
    """Pays what the first compilation of a process on a device costs, once."""
    _warm_up(device)


@cache
def _warm_up(device: jax.Device) -> None:
    with jax.default_device(device):
        if jax.__version_info__ < (0, 9):
            # Up to 0.8.3, running a stored program with LAPACK calls crashes unless one was lowered here before.
            jax.jit(jnp.linalg.cholesky).lower(jnp.eye(2))
        jax.jit(lambda x: x + 1).lower(jnp.zeros(2)).compile()
        reference_trace_seconds()


def timed(function: Callable[[], Any], cpu: Callable[[], int]) -> tuple[Seconds, Any]:
    """Runs ``function`` once.

    Args:
        function: What is timed.
        cpu: ``clock.thread_time_ns`` or ``clock.process_time_ns``.
    """

    def once() -> tuple[int, int, Any]:
        wall_start, cpu_start = clock.perf_counter_ns(), cpu()
        result = function()
        return clock.perf_counter_ns() - wall_start, cpu() - cpu_start, result

    span, (wall, used, result) = watched(once)
    return Seconds(wall / 1e9, used / 1e9, span), result


def cold_trace(jitted: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Seconds, Any]:
    """Traces from empty caches: ``clear_caches`` with the same objects is JAX's only true cold reset."""
    jax.clear_caches()
    return timed(lambda: jitted.trace(*args, **kwargs), clock.thread_time_ns)


def cold_stages(jitted: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ColdStages:
    """Traces, lowers and compiles from empty caches.

    Args:
        jitted: What ``jax.jit`` returned.
        args: Positional arguments, on their device.
        kwargs: Keyword arguments.
    """
    trace, traced = cold_trace(jitted, args, kwargs)
    lower, lowered = timed(traced.lower, clock.thread_time_ns)
    xla, compiled = timed(lowered.compile, clock.process_time_ns)
    return ColdStages(trace, lower, xla, traced, lowered, compiled)


def _reference(params: tuple[tuple[Any, Any], ...], x: Any) -> Any:
    """A fixed piece of work for the tracer: what its trace takes here and now is the unit for other traces."""
    for weights, bias in params:
        x = jax.nn.gelu(x @ weights + bias)
        x = (x - jnp.mean(x, -1, keepdims=True)) / jnp.sqrt(jnp.var(x, -1, keepdims=True) + 1e-6)
    return jnp.sum(jax.nn.softmax(x, -1) ** 2)


def reference_trace_seconds() -> tuple[float, float]:
    """Thread CPU seconds of a cold trace and a lowering of the fixed reference program."""
    x = jax.ShapeDtypeStruct((8, 16), jnp.float32)
    params = ((jax.ShapeDtypeStruct((16, 16), jnp.float32), jax.ShapeDtypeStruct((16,), jnp.float32)),) * 3
    # The user's settings may refuse what is written here.
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        trace, traced = cold_trace(jax.jit(_reference), (params, x), {})
        lower, _ = timed(traced.lower, clock.thread_time_ns)
    return trace.cpu, lower.cpu
