"""A plugin for pytest that stands in for pytest-jitperf: the same items, and of what the probe does only JAX's part.

Each item runs its function eagerly, jits it with emptied caches, calls and exports it. With the variable ``REPLAY``
each test does so once, whatever its file, and returns the result from then on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from scaling.stopwatch import left_out

_RESULTS: dict[str, Any] = {}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "jitperf: stands for the plugin's")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "jitperf" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("jitperf")
        metafunc.parametrize("jitperf", mark.kwargs["strategies"] if mark else ["outer"], indirect=True)


@pytest.fixture
def jitperf(request: pytest.FixtureRequest) -> Callable[..., Any]:
    name = request.node.name

    def call(function: Callable[..., Any], *args: Any) -> Any:
        if not os.environ.get("REPLAY"):
            return _measured(function, args)
        if name not in _RESULTS:
            with left_out():
                _RESULTS[name] = _measured(function, args)
        return _RESULTS[name]

    return call


def _measured(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    import jax
    from jax import export

    jax.clear_caches()
    jax.block_until_ready(function(*args))
    jax.clear_caches()
    jitted = jax.jit(function)
    result = jax.block_until_ready(jitted(*args))
    export.export(jitted)(*args).serialize()
    return result
