"""A conftest that stands for a naive gate: what the program's texts look like, and the least of many times.

Run with ``-p no:jitperf``, it gives tests a ``jitperf`` fixture of its own, which calls the function under the first
strategy of the marker and appends a line of JSON to the file that ``NAIVE`` names.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from pytest_jitperf import Strategy
from pytest_jitperf.probe.hlo import program_digest
from pytest_jitperf.probe.stablehlo import canonical_module


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "jitperf: of the plugin that is not there")


@pytest.fixture
def jitperf(request: pytest.FixtureRequest) -> Callable[..., None]:
    marker = request.node.get_closest_marker("jitperf")
    assert marker is not None

    def measure(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        jit = marker.kwargs.get("jit", {})
        strategy = marker.kwargs["strategies"][0]
        call: Any = function
        if isinstance(strategy, Strategy):
            call = strategy.build(function)
        elif strategy == "inner":
            for helper in marker.kwargs["inner"]:
                setattr(request.module, helper.__name__, jax.jit(helper))
        else:
            call = jax.jit(function, **jit)
        seen: dict[str, object] = {"test": request.node.name}
        if hasattr(call, "lower"):
            lowered = call.lower(*args, **kwargs)
            before_xla = canonical_module(lowered.compiler_ir("stablehlo"))
            seen["stablehlo"] = hashlib.sha256(before_xla.encode()).hexdigest()
            # As JAX shows it, without the values of large constants.
            seen["hlo"] = program_digest(lowered.compile().as_text().replace("{...}", ""))
        seen["seconds"] = _least(call, args, kwargs, copies="donate_argnums" in jit)
        with open(os.environ["NAIVE"], "a", encoding="utf-8") as file:
            print(json.dumps(seen), file=file)

    return measure


def _least(call: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, copies: bool) -> float:
    """Seconds of the fastest of the calls that fit in half a second."""
    times: list[float] = []
    end = time.perf_counter() + 0.5
    while len(times) < 5 or time.perf_counter() < end:
        given = jax.tree.map(jnp.copy, args) if copies else args
        start = time.perf_counter()
        jax.block_until_ready(call(*given, **kwargs))
        jax.effects_barrier()
        times.append(time.perf_counter() - start)
    return min(times)
