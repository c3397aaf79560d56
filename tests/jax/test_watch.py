"""What a thread is about can be seen from another one, while it is about it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.extend.core import Primitive
from jax.interpreters import mlir

from pytest_jitperf.probe import watch
from pytest_jitperf.probe.measure import Request
from pytest_jitperf.probe.rehearse import rehearse
from pytest_jitperf.rehearsing import Call, Order, Rehearsing

X = jnp.ones(8)


class Listening(Rehearsing):
    """Who waits for a rehearsal, in the same process: nothing is ended."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Order(nodeid="", file=str(folder / "told")))
        self.called: list[str] = []
        self.told: list[tuple[str, str, str]] = []
        self.heard = threading.Event()

    def calls(self, call: Call) -> None:
        self.called.append(call.strategy)

    def exceeded(self, limit: str, phase: str) -> None:
        self.told.append((self.called[-1], limit, phase))
        self.heard.set()


@pytest.fixture
def listening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Listening:
    monkeypatch.setattr(watch, "_LOOK_SECONDS", 0.001)
    return Listening(tmp_path)


def long(x: Any) -> Any:
    """Takes a while to compile."""
    for _ in range(300):
        x = jnp.sin(x) * 2 + 1
    return x


def test_a_program_that_is_compiled_is_in_xla(request_for: Callable[..., Request], listening: Listening) -> None:
    rehearse(request_for(long, X, equality=None), (), {"xla": 1e-9, "run": 300.0}, listening)
    assert listening.told == [("outer", "xla", "xla")]


def test_lowering_counts_as_compiling(request_for: Callable[..., Request], listening: Listening) -> None:
    slow = Primitive("slow")

    def rule(context: Any, x: Any) -> Any:
        assert listening.heard.wait(600)
        return [x]

    slow.def_abstract_eval(lambda x: x)
    mlir.register_lowering(slow, rule)

    rehearse(request_for(slow.bind, X, equality=None), (), {"run": 300.0, "compile": 0.01}, listening)

    assert listening.told == [("outer", "compile", "lower")]


def test_python_is_seen_wherever_it_hangs(request_for: Callable[..., Request], listening: Listening) -> None:
    def hangs(x: Any) -> Any:
        assert listening.heard.wait(600)
        return x

    rehearse(request_for(hangs, X, equality=None), (), {"trace": 0.01, "run": 300.0}, listening)
    assert listening.told == [("outer", "trace", "trace")]

    listening.heard.clear()
    rehearse(request_for(hangs, X, strategy="eager", equality=None), (), {"trace": 300.0, "run": 0.01}, listening)
    assert listening.told[1:] == [("eager", "run", "run")]


def test_a_program_at_work_is_running(request_for: Callable[..., Request], listening: Listening) -> None:
    @jax.jit
    def hangs(x: Any) -> Any:
        def wait(x: Any) -> Any:
            assert listening.heard.wait(600)
            return x

        return jax.pure_callback(wait, x, x)

    rehearse(request_for(hangs, X, equality=None), (), {"compile": 300.0, "run": 0.01}, listening)

    assert listening.told == [("outer", "run", "run")]


def test_all_that_a_measurement_calls_is_called_in_order_of_importance(
    request_for: Callable[..., Request], listening: Listening
) -> None:
    def f(x: Any) -> Any:
        return x if isinstance(x, jax.core.Tracer) else 1 // 0

    seen = rehearse(request_for(f, X, references=("eager", "both", "outer")), ("inner",), {}, listening)

    assert (seen == X).all()
    # The reference is the first one that can be called.
    assert listening.called == ["outer", "eager", "both", "inner"]
    assert listening.told == []
