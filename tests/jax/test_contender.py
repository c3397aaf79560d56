"""Either side of a comparison can be run any number of times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.probe.contender import Executable, Live, results_agree
from pytest_jitperf.probe.measure import Probed

X = jnp.arange(8.0)


def test_an_executable_leaves_its_arguments_alone(measured: Callable[..., Probed]) -> None:
    x = jax.device_put(X, jax.devices()[0])
    program = measured(lambda x, y: (x + y, y), x, x, jit={"donate_argnums": 0}).programs[""]
    assert program.donated == (0,)
    executable = Executable.of(program)
    side = executable.side()
    assert side.prepare is not None
    for _ in range(3):
        np.testing.assert_array_equal(side.call(side.prepare())[0], X + X)
    np.testing.assert_array_equal(executable.result()[0], X + X)
    assert not x.is_deleted()


def test_a_fresh_executable_is_another_one(measured: Callable[..., Probed]) -> None:
    executable = Executable.of(measured(lambda x: x + 1, X).programs[""])
    assert executable.side().prepare is None
    assert executable.fresh().compiled is not executable.compiled
    assert "ENTRY" in executable.text
    assert executable.seconds > 0


def test_what_cannot_be_exported_is_run_as_the_user_would(measured: Callable[..., Probed]) -> None:
    subject = measured(lambda x: x + 1, X).subject
    live = Live(subject=subject)
    with subject.active():
        np.testing.assert_array_equal(live.result(), X + 1)
        assert live.fresh() is live
        assert live.side().prepare is None


@pytest.mark.parametrize(
    ("old", "new", "agree"),
    [
        ([X, X + 1], [X + 1, X], True),
        ({"a": X, "b": 2.0}, {"c": 2.0, "d": X}, True),
        ([X, X + 1], [X, X + 2], False),
        ([X], [X, X], False),
        ([X], [X.astype(int)], True),
        ([X, "text"], [X], True),
        ([jnp.asarray(X, jnp.complex64)], [jnp.asarray(X, jnp.complex64)], True),
        ([X > 2, jnp.arange(3)], [jnp.arange(3), X > 2], True),
        ([jax.random.key(1)], [jax.random.key(2)], False),
    ],
)
def test_results_agree_in_whatever_order(old: Any, new: Any, agree: bool) -> None:
    assert results_agree(old, new) is agree
