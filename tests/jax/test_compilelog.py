"""What was compiled, by whom, and for how long."""

from __future__ import annotations

import functools
import threading
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import monitoring  # the listeners that there are can be seen nowhere else

from pytest_jitperf.probe.compilelog import CompileLog, compile_log

X = np.linspace(0.0, 1.0, 64, dtype=np.float32)


@jax.jit
def clip(x: Any) -> Any:
    return jnp.sin(x) * 3


class Model:
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x: Any) -> Any:
        return x - 3


@pytest.fixture(autouse=True)
def _cold() -> None:
    jax.clear_caches()


def test_functions_of_the_users_are_told_from_jaxs_own() -> None:
    with compile_log() as log:
        y = clip(X)  # called as one of JAX's own
        y = jnp.clip(y, 0, 1)
        y = jax.jit(lambda x: x + 1)(y)
        Model().step(y)
    assert log.user == ["clip", "<lambda>", "step"]
    assert len(log.primitives) >= 1
    assert log.cache_hits == 0


def test_traces_lowerings_and_compilations_are_counted_by_function() -> None:
    uncommitted = jax.numpy.ones(8)
    with compile_log() as log:
        for x in (X, X[:3], uncommitted[:3], jax.device_put(X, jax.devices()[0])):
            clip(x)
        jnp.clip(uncommitted, 0, 1)
    # An array that is committed needs a program of its own, though not a trace of its own.
    assert (log.traced, log.lowered, log.user) == ({"clip": 2}, {"clip": 3}, ["clip"] * 3)


def test_transposed_functions_of_jaxs_own_are_not_the_users() -> None:
    with compile_log() as log:
        jax.grad(lambda x: jnp.sum(clip(x)))(jnp.ones(5))
    assert set(log.user) == {"clip"}


def test_what_is_compiled_is_described_where_asked_for() -> None:
    with compile_log() as log:
        clip(X)
        with compile_log(CompileLog(watching=True)) as watching:
            clip(X[:3])
    assert log.compilations == []
    assert [(each.name, each.own, set(each.seen or ())) for each in watching.compilations] == [("clip", False, {"x"})]


def test_nothing_is_logged_for_what_is_compiled_already() -> None:
    clip(X)
    with compile_log() as log:
        clip(X)
        with compile_log(log):
            clip(X)
    assert (log.user, log.primitives) == ([], [])


def test_stages_called_by_hand_are_the_users() -> None:
    with compile_log() as log:
        clip.lower(X).compile()
        jax.jit(jnp.sin).lower(X).compile()
    assert log.user == ["clip", "sin"]
    assert all(seconds > 0 for seconds in log.seconds.values())


def test_other_threads_are_not_heard() -> None:
    with compile_log() as log:
        thread = threading.Thread(target=lambda: clip(X))
        thread.start()
        thread.join()
    assert (log.user, log.seconds) == ([], {"trace": 0.0, "lower": 0.0, "xla": 0.0})


def listeners() -> tuple[list[Any], list[Any]]:
    return list(monitoring.get_event_duration_listeners()), list(monitoring.get_event_listeners())


def _forget(listener: Any) -> None:
    # Public from JAX 0.8.2 on.
    public = getattr(jax.monitoring, "unregister_event_duration_listener", None)
    private: Any = monitoring
    (public or private._unregister_event_duration_listener_by_callback)(listener)


def test_no_listener_stays_and_nobody_elses_goes() -> None:
    heard: list[str] = []

    def users(event: str, duration_secs: float, **kwargs: Any) -> None:
        heard.append(event)

    jax.monitoring.register_event_duration_secs_listener(users)
    try:
        before = listeners()
        with compile_log():
            assert listeners() != before
        with pytest.raises(ZeroDivisionError), compile_log():
            _ = 1 // 0
        with compile_log(), compile_log():
            clip(X)
        assert listeners() == before
        assert heard != []
    finally:
        _forget(users)


def test_time_within_another_phase_is_counted_once() -> None:
    # helper is traced within its caller from 1.0 to 1.5, a constant compiled from 2.0 to 2.25; the caller is done at 3.
    log = CompileLog()
    log.add("trace", 0.5, 1.5)
    log.add("xla", 0.25, 2.25)
    log.add("trace", 3.0, 3.0)
    log.add("lower", 1.0, 4.5)
    assert log.seconds == {"trace": 2.75, "lower": 1.0, "xla": 0.25}
    log.add("trace", 10.0, 5.0)
    assert sum(log.seconds.values()) == 10.0
