from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from wavelab.training import init_state, predict, sample_batch, train_step


@pytest.fixture
def state():
    return init_state(jax.random.key(0), widths=(2, 32, 32, 1))


@pytest.fixture
def batch():
    return sample_batch(jax.random.key(1), size=64, features=2)


@pytest.mark.jitperf(inner=["wavelab.training.dense"], compile="60 s")
class TestNetwork:
    """The class's marker holds for each test that uses the fixture; a test's own marker adds to it."""

    def test_predict(self, jitperf, state, batch):
        points, heights = batch

        assert jitperf(predict, state.params, points).shape == heights.shape

    @pytest.mark.jitperf(
        inner=["wavelab.training.dense", "wavelab.training.adam_update"],
        jit={"donate_argnames": ["state"]},  # the new state is written over the old one
        tolerance={"outer": {"run": "15 %"}, "both": {"run": "15 %"}},
    )
    def test_train_step(self, jitperf, state, batch):
        new_state, loss = jitperf(train_step, state, *batch)

        assert new_state.step == 1
        assert jnp.isfinite(loss)

    def test_loss_falls(self, state, batch):
        step = jax.jit(train_step)
        state, first = step(state, *batch)
        for _ in range(50):
            state, last = step(state, *batch)

        assert last < 0.5 * first
