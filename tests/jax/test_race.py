"""Races between real programs, and what they leave behind."""

from __future__ import annotations

import gc
import os
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from threadpoolctl import ThreadpoolController

from pytest_jitperf.probe.clock import process_time_ns
from pytest_jitperf.probe.onecore import one_core
from pytest_jitperf.probe.race import Side, paired_costs, race, sample

needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="threads cannot be pinned here, or there is one core only",
)


def layers(count: int) -> Side:
    """That many layers of the same net, compiled."""
    weights, batch = jnp.full((64, 64), 1 / 64), jnp.ones((64, 64))

    def net(x: jax.Array) -> Any:
        return jax.lax.fori_loop(0, count, lambda _, x: jnp.tanh(x @ weights), x)

    compiled = jax.jit(net).lower(batch).compile()
    return Side(call=lambda given: compiled(batch))


def run_race(new: Side, old: Side, **options: Any) -> Any:
    given: dict[str, Any] = {"max_seconds": 10.0, "block": jax.block_until_ready, "rng": random.Random(0)} | options
    return race(new, old, **given)


def test_three_times_the_layers_are_found_to_be_slower() -> None:
    found = run_race(layers(60), layers(20), limit=1.1)
    assert found.decided
    assert 1.1 < found.low <= found.estimate <= found.high


def test_the_same_program_compiled_twice_is_not_twice_as_slow() -> None:
    found = run_race(layers(20), layers(20), limit=2.0)
    assert found.decided
    assert found.high < 2.0


def test_a_race_of_programs_that_use_up_their_inputs_makes_fresh_ones() -> None:
    def side(count: int) -> Side:
        def step(state: jax.Array) -> Any:
            return jax.lax.fori_loop(0, count, lambda _, x: jnp.sin(x), state)

        compiled = jax.jit(step, donate_argnums=0).lower(jnp.ones(1000)).compile()
        return Side(call=compiled, prepare=lambda: jax.block_until_ready(jnp.ones(1000)))

    found = run_race(side(90), side(30), limit=1.1)
    assert found.decided
    assert found.low > 1.1


def test_a_sample_of_a_real_program() -> None:
    found = sample(layers(20), block=jax.block_until_ready)
    assert 0 < found.low <= found.median <= found.high
    assert 3 <= found.rounds <= 200


def test_a_compile_of_ten_times_the_operations_is_dearer() -> None:
    def build(operations: int) -> Callable[[], float]:
        def chain(x: jax.Array) -> jax.Array:
            for n in range(operations):
                x = jnp.sin(x) @ x + n
            return x

        def cold() -> float:
            jax.clear_caches()
            lowered = jax.jit(chain).lower(jnp.ones((8, 8)))
            start = process_time_ns()
            lowered.compile()
            return (process_time_ns() - start) * 1e-9

        return cold

    found = paired_costs(build(40), build(4), limit=1.25, max_seconds=60, rng=random.Random(0))
    assert found.decided
    assert found.low > 1.25


@pytest.fixture
def other_thread() -> Iterator[threading.Thread]:
    """A thread that is alive for the length of the test."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield thread
    end.set()
    thread.join()


def cores_by_thread() -> dict[int, set[int]]:
    found = {}
    for entry in os.listdir("/proc/self/task"):
        try:
            found[int(entry)] = os.sched_getaffinity(int(entry))
        except ProcessLookupError:
            continue
    return found


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "blas"]


@needs_affinity
def test_every_thread_gets_back_the_cores_that_it_had(other_thread: threading.Thread) -> None:
    """A thread that was on one core before, by its own choice, is there again; BLAS pools have their threads again."""
    jax.block_until_ready(jnp.ones(3) + 1)
    assert other_thread.native_id is not None
    os.sched_setaffinity(other_thread.native_id, {max(os.sched_getaffinity(0))})
    before, pools = cores_by_thread(), blas_threads()
    cores = set()
    for seed in range(8):
        with one_core(random.Random(seed)) as pinned:
            assert pinned
            inside = cores_by_thread()
            assert len({frozenset(each) for each in inside.values()}) == 1
            cores |= inside[threading.get_native_id()]
            assert set(blas_threads()) <= {1}
        after = cores_by_thread()
        assert {thread: after[thread] for thread in before if thread in after} == before
        assert blas_threads() == pools
    assert cores == os.sched_getaffinity(0)


@needs_affinity
def test_threads_are_released_by_an_exception_too() -> None:
    before = os.sched_getaffinity(0)
    with pytest.raises(KeyboardInterrupt), one_core(random.Random(0)):
        raise KeyboardInterrupt
    assert os.sched_getaffinity(0) == before


@needs_affinity
def test_a_thread_born_on_the_core_is_not_left_there_and_one_that_died_there_is_no_trouble() -> None:
    before, end = os.sched_getaffinity(0), threading.Event()
    with one_core(random.Random(0)):
        born = threading.Thread(target=end.wait)
        born.start()
        short = threading.Thread(target=lambda: None)
        short.start()
        short.join()
        assert born.native_id is not None
        assert len(os.sched_getaffinity(born.native_id)) == 1
    try:
        assert os.sched_getaffinity(born.native_id) == before
    finally:
        end.set()
        born.join()


@needs_affinity
def test_a_sandbox_that_forbids_pinning_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before, real = cores_by_thread(), os.sched_setaffinity
    calls: list[int] = []

    def refuse(thread: int, cores: set[int]) -> None:
        calls.append(thread)
        if len(calls) == 2:
            raise PermissionError
        real(thread, cores)

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    with one_core(random.Random(0)) as pinned:
        assert not pinned
        after = cores_by_thread()
        # Threads of other tests may end meanwhile, this one does not.
        assert threading.get_native_id() in after
        assert after == {thread: cores for thread, cores in before.items() if thread in after}


def test_platforms_without_affinity_have_no_such_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setaffinity", raising=False)
    with one_core(random.Random(0)) as pinned:
        assert not pinned


@needs_affinity
def test_a_single_core_is_left_alone() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        with one_core(random.Random(0)) as pinned:
            assert not pinned
    finally:
        os.sched_setaffinity(0, before)


@needs_affinity
def test_a_race_that_ends_on_one_core_leaves_everything_as_it_was() -> None:
    """At a limit that is the ratio itself nothing is ever clear."""
    gc.enable()
    before, told = cores_by_thread(), list[str]()
    side = layers(20)
    run_race(side, side, limit=1.0, max_seconds=1.0, progress=told.append)
    after = cores_by_thread()
    assert "race: undecided on all cores, now on one" in told
    assert {thread: after[thread] for thread in before if thread in after} == before
    assert gc.isenabled()
