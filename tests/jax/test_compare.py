"""Today's program against the stored one: the same, raced, or why neither could be told."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

from pytest_jitperf.judge.compileterms import CompileTerms
from pytest_jitperf.measurement import Comparison, Constant, Ratio
from pytest_jitperf.probe import contest
from pytest_jitperf.probe.compare import Stored, seed_of
from pytest_jitperf.probe.compilelog import CompileLog, compile_log
from pytest_jitperf.probe.confirmed import ConfirmedRace
from pytest_jitperf.probe.measure import Probed
from pytest_jitperf.probe.pairing import RENAMED
from pytest_jitperf.strategies import Strategy
from pytest_jitperf.units import Tolerance

X = jnp.linspace(0.1, 2.0, 64)
TABLE = np.linspace(0.0, 1.0, 64, dtype=np.float32)


def terms(tolerance: float) -> CompileTerms:
    return CompileTerms(tolerance=Tolerance(tolerance))


SAME_FINGERPRINT = Comparison(same=True, how="fingerprint")

Measured = Callable[..., Probed]
Make = Callable[..., Stored]
Compare = Callable[..., Comparison]


def f(x: Any) -> Any:
    return jnp.tanh(x) * 2.0


def other(x: Any) -> Any:
    return jnp.tanh(x) * 3.0 + 1.0


def test_the_same_fingerprint_ends_the_matter(measured: Measured, stored: Make, compared: Compare) -> None:
    probed = measured(f, X)
    assert compared(probed, stored(probed, raw=None)) == Comparison(same=True, how="fingerprint")
    # Recorded by a version whose fingerprint differs: it is computed again from the bytes.
    for recorded in ({"jax": "0.0.1"}, {"fingerprint_version": 1}):
        known = stored(probed, fingerprint="sha256:of another version", **recorded)
        assert compared(probed, known) == SAME_FINGERPRINT


@pytest.mark.parametrize("old", [lambda x: jnp.tanh(x * 1.0) * 2.0, lambda x: (jnp.tanh(x) + 0.0 * 0.0) * 2.0])
def test_a_program_that_xla_makes_the_same_is_the_same(
    measured: Measured, stored: Make, compared: Compare, old: Any
) -> None:
    found = compared(measured(f, X), stored(measured(old, X)))
    assert (found.same, found.cannot, found.run) == (True, "", None)
    assert found.how in ("optimised", "fingerprint")


def test_another_program_is_raced(measured: Measured, stored: Make, compared: Compare) -> None:
    found = compared(measured(other, X), stored(measured(f, X)), compiling=terms(9999.0))
    assert (found.same, found.how, found.cannot, found.cut) == (False, "", "", "")
    assert found.run is not None
    assert (found.run.decided, found.run.confirmed, found.run.high < 1e4) == (True, False, True)
    assert found.xla is not None
    assert found.xla.decided
    assert found.compiles == 2 * found.xla.rounds
    assert found.old_exact["peak_bytes"] == 512
    assert found.old_operations["fusion"] == found.new_operations["fusion"] == 1
    assert found.old_xla_seconds is not None
    assert found.old_xla_seconds > 0


def test_a_regression_is_confirmed_with_fresh_executables(measured: Measured, stored: Make, compared: Compare) -> None:
    new, known = measured(other, X), stored(measured(f, X))
    found = compared(new, known, run_limit=1e-4)
    assert found.run is not None
    assert (found.run.decided, found.run.confirmed, found.compiles, found.cut) == (True, True, 4, "")

    hurried = compared(new, known, run_limit=1e-4, compile_seconds=0.0)
    assert hurried.run is not None
    assert (hurried.run.confirmed, hurried.compiles) == (False, 2)
    assert hurried.cut == "confirmation with fresh executables (max-compile)"


@pytest.mark.parametrize(("seconds", "confirmed"), [(120.0, False), (200.0, True)])
def test_a_confirmation_that_does_not_fit_in_the_time_is_not_begun(
    measured: Measured,
    stored: Make,
    compared: Compare,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    confirmed: bool,
) -> None:
    """Two compilations of 40 s each are behind it, and it takes two more."""
    new, known = measured(other, X), stored(measured(f, X))
    clock = SimpleNamespace(perf_counter_ns=itertools.count(0, 40 * 10**9).__next__)
    monkeypatch.setattr("pytest_jitperf.probe.contest.clock", clock)
    found = compared(new, known, run_limit=1e-4, compile_seconds=seconds)
    assert found.run is not None
    assert (found.run.confirmed, found.compiles) == (confirmed, 4 if confirmed else 2)


def test_a_cpu_clock_that_is_too_coarse_for_compiling_leaves_the_race_its_verdict(
    measured: Measured, stored: Make, compared: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, known = measured(other, X), stored(measured(f, X))
    monkeypatch.setattr("pytest_jitperf.probe.program.clock.process_time_ns", lambda: 10**12)
    found = compared(new, known, compiling=terms(0.25))
    assert found.run is not None
    assert (found.run.decided, found.xla, found.cut) == (True, None, "")
    assert found.cannot.startswith("clock did not advance: building took 0.0 and 0.0 CPU seconds (new, old). ")


@pytest.mark.parametrize(("rounds", "cut"), [(3, ", further compile pairs (max-compile)"), (24, "")])
def test_everything_that_is_left_out_for_lack_of_time_to_compile_is_told(
    measured: Measured, stored: Make, compared: Compare, monkeypatch: pytest.MonkeyPatch, rounds: int, cut: str
) -> None:
    """Pairs that no longer fit in the time are left out though some of it is left."""
    new, known = measured(other, X), stored(measured(f, X))
    undecided = Ratio(estimate=1.2, low=1.1, high=1.3, rounds=rounds, seconds=1.0, decided=False)
    monkeypatch.setattr(contest, "paired_costs", lambda *sides, **given: undecided)
    hurried = compared(new, known, run_limit=1e-4, compiling=terms(0.25), compile_seconds=0.0)
    assert hurried.cut == f"confirmation with fresh executables (max-compile){cut}"
    assert compared(new, known, run_limit=None, compiling=terms(0.25)).cut == cut.removeprefix(", ")


def test_only_what_is_gated_is_raced(measured: Measured, stored: Make, compared: Compare) -> None:
    found = compared(measured(other, X), stored(measured(f, X)), run_limit=None)
    assert (found.same, found.run, found.xla, found.cannot, found.compiles) == (False, None, None, "", 2)


def test_what_the_stored_program_consists_of_is_told(measured: Measured, stored: Make, compared: Compare) -> None:
    found = compared(measured(f, X), stored(measured(lambda x: jnp.tanh(x) * TABLE, X)), run_limit=None)
    assert found.old_constants == (Constant(shape="f32[64]", bytes=256),)
    assert found.old_operations["multiply"] == found.new_operations["multiply"] == 1


def times_table(table: Any) -> Callable[[Any], Any]:
    return lambda x: x * table + jnp.tanh(x)


@pytest.mark.parametrize(
    "new",
    [
        times_table(TABLE * 10),
        lambda x: x * jnp.flip(jnp.asarray(TABLE)) + jnp.tanh(x),  # XLA computes the flipped table
        lambda x: x * (jnp.asarray(TABLE) * 2) + jnp.tanh(x),
    ],
)
def test_a_captured_table_with_other_values_is_another_program(
    measured: Measured, stored: Make, compared: Compare, new: Any
) -> None:
    found = compared(measured(new, X), stored(measured(times_table(TABLE), X)))
    assert (found.same, found.cannot) == (False, "")
    assert found.run is not None


def test_a_captured_table_with_the_same_values_is_the_same(measured: Measured, stored: Make, compared: Compare) -> None:
    known = stored(measured(times_table(TABLE), X))
    found = compared(measured(lambda x: jnp.tanh(x) + (jnp.asarray(TABLE)[::-1])[::-1] * (x * 1.0), X), known)
    assert (found.same, found.how, found.run) == (True, "optimised", None)


def through_python(x: Any) -> Any:
    return jax.pure_callback(lambda v: np.tanh(v) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_a_program_that_calls_back_is_never_the_same(measured: Measured, stored: Make, compared: Compare) -> None:
    new = measured(through_python, X)
    assert new.programs == {}
    assert new.measurement.program is not None
    assert new.measurement.program.fingerprint is None
    why = "it calls back into Python, which cannot be stored"
    assert compared(new, stored(new)) == Comparison(same=False, cannot="no stored program")
    assert compared(new, stored(new, missing=why)).cannot == why

    found = compared(new, stored(measured(f, X)), compiling=terms(0.25))
    assert (found.same, found.compiles) == (False, 1)
    assert found.run is not None  # as it is, against the stored one built again
    assert found.cannot == f"compile time is not compared: {why}"


def test_what_calls_back_is_compiled_again_before_its_race_and_not_in_it(
    measured: Measured, stored: Make, compared: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compilation would count as the time of a call."""
    new, old = measured(through_python, X), stored(measured(f, X))
    jax.clear_caches()
    logs: list[CompileLog] = []
    race = ConfirmedRace.run

    def watched(*args: Any) -> Any:
        with compile_log() as log:
            found = race(*args)
        logs.append(log)
        return found

    monkeypatch.setattr(ConfirmedRace, "run", watched)
    compared(new, old)
    assert [log.user for log in logs] == [[]]


def test_a_helper_that_can_no_longer_be_exported_is_not_raced_as_the_whole(
    measured: Measured, stored: Make, compared: Compare
) -> None:
    new = measured(lambda x: helper(x) + 1, X, strategy="inner", inner=[helper])
    found = compared(new, stored(measured(f, X)), key="gone")
    assert (found.same, found.run) == (False, None)


@jax.jit
def step(x: Any) -> Any:
    return jnp.tanh(x)


def steps(x: Any) -> Any:
    return step(step(x))


def steps_with_a_look(x: Any) -> Any:
    y = step(x)
    return step(y) if float(y[0]) < 9.0 else y


def steps_and_a_callback(x: Any) -> Any:
    y = step(x)
    jax.debug.callback(lambda v: None, y[0])
    return step(y)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (steps_with_a_look, "it cannot be traced as one program: ConcretizationTypeError: "),
        (steps_and_a_callback, "it calls back into Python, which cannot be stored, and Python starts "),
    ],
)
def test_what_python_drives_is_not_raced_against_all_of_it_as_one_program(
    measured: Measured, stored: Make, compared: Compare, function: Any, why: str
) -> None:
    plain = Strategy("plain", lambda f: f)
    old = measured(steps, X, strategy=plain)
    assert old.measurement.host["launches"] == 2
    assert compared(measured(steps, X, strategy=plain), stored(old)) == SAME_FINGERPRINT
    found = compared(measured(function, X, strategy=plain), stored(old))
    assert (found.same, found.run, found.cannot[: len(why)]) == (False, None, why)


def test_what_cannot_be_one_program_has_none_of_its_numbers_and_says_so(measured: Measured) -> None:
    found = measured(steps_with_a_look, X, strategy=Strategy("plain", lambda f: f)).measurement
    metrics = ("peak_bytes", "constant_bytes", "unused_donation_bytes", "trace_calls")
    assert {each: found.value(each) for each in metrics} == dict.fromkeys(metrics)
    assert {each: found.unavailable[each] for each in metrics} == dict.fromkeys(metrics, "it is not one program")


def helper(x: Any) -> Any:
    return jnp.tanh(x) * 2.0


def count_down(d: Any) -> Any:
    return jax.lax.while_loop(lambda s: s[1] > 0, lambda s: (s[0] * d["lr"], s[1] - 1), (d["lr"], d["n"]))


def count_down_renamed(d: Any) -> Any:
    return count_down({"lr": d["zlr"], "n": d["n"]})


def names_swapped(d: Any) -> Any:
    return count_down({"lr": d["n"], "n": d["a"]})


def test_a_renamed_key_gets_its_own_value(measured: Measured, stored: Make, compared: Compare) -> None:
    known = stored(measured(count_down, {"lr": 1.0, "n": 20.0}))
    assert known.inputs == "d['lr']: weak f32[]; d['n']: weak f32[]"
    assert compared(measured(count_down_renamed, {"zlr": 1.0, "n": 20.0}), known) == SAME_FINGERPRINT


def f_of_three(p: Any) -> Any:
    return {"sum": jnp.tanh(X @ p["w"]) + p["shift"], "other": jnp.sin(p["scale"] * X)}


def f_of_three_renamed(p: Any) -> Any:
    found = f_of_three({"w": p["zeta"], "shift": p["alpha"], "scale": p["beta"]})
    return {"first": found["sum"], "another": found["other"]}


def f_of_three_exchanged(p: Any) -> Any:
    return f_of_three({"w": p["w"], "shift": p["scale"], "scale": p["shift"]})


def test_renamed_leaves_of_one_kind_are_known_by_what_is_done_with_them(
    measured: Measured, stored: Make, compared: Compare
) -> None:
    square = jnp.outer(X, X)
    known = stored(measured(f_of_three, {"w": square, "shift": X, "scale": 2 * X}))
    assert known.inputs == "p['scale']: f32[64]; p['shift']: f32[64]; p['w']: f32[64,64]"
    new = measured(f_of_three_renamed, {"zeta": square, "alpha": X, "beta": 2 * X})
    assert compared(new, known) == SAME_FINGERPRINT
    # Those that have kept their names are what they are called.
    exchanged = measured(f_of_three_exchanged, {"w": square, "shift": 2 * X, "scale": X})
    assert (compared(exchanged, known).same, compared(exchanged, known).run is not None) == (False, True)


def test_renamed_numbers_are_known_by_what_is_done_with_them(
    measured: Measured, stored: Make, compared: Compare
) -> None:
    known = stored(measured(count_down, {"lr": 1.0, "n": 20.0}))
    new = measured(lambda d: count_down({"lr": d["rate"], "n": d["count"]}), {"rate": 1.0, "count": 20.0})
    assert compared(new, known) == SAME_FINGERPRINT
    changed = measured(lambda d: count_down({"lr": d["rate"] * 2, "n": d["count"]}), {"rate": 1.0, "count": 20.0})
    assert compared(changed, known) == Comparison(same=False, cannot=RENAMED)


class Before(NamedTuple):
    n: Any
    m: Any
    x: Any


class After(NamedTuple):
    heavy: Any
    cheap: Any
    x: Any


def in_two_loops(x: Any, n: Any, m: Any) -> Any:
    x = jax.lax.fori_loop(0, n, lambda _, y: jnp.tanh(y), x)
    return jax.lax.fori_loop(0, m, lambda _, y: jnp.tanh(y @ y), x)


def test_fields_and_parameters_may_be_renamed_and_reordered_at_once(
    measured: Measured, stored: Make, compared: Compare
) -> None:
    """Were the old program run with the counts exchanged, it would make other rounds of either loop."""
    square = jnp.outer(X, X) / 100
    known = stored(measured(lambda p: in_two_loops(p.x, p.n, p.m), Before(3, 80, square)))
    new = measured(lambda p: in_two_loops(p.x, p.cheap, p.heavy), After(80, 3, square))
    assert compared(new, known) == SAME_FINGERPRINT
    known = stored(measured(lambda x, n, m: in_two_loops(x, n, m), square, 3, 80))
    assert compared(measured(lambda x, b, a: in_two_loops(x, a, b), square, 80, 3), known) == SAME_FINGERPRINT


def lasting_longer(d: Any) -> Any:
    return count_down({"lr": d["zlr"] * 1.5, "n": d["n"]})


def test_a_renamed_key_is_raced_with_its_own_value(measured: Measured, stored: Make, compared: Compare) -> None:
    # With the two exchanged the old program would make one round instead of a thousand.
    known = stored(measured(count_down, {"lr": 1.0, "n": 1000.0}))
    new = measured(lambda d: jax.tree.map(lambda leaf: leaf + 0, lasting_longer(d)), {"zlr": 1.0, "n": 1000.0})
    found = compared(new, known)
    assert (found.same, found.cannot) == (False, RENAMED)
    again = compared(measured(lambda d: twice_as_far(d), {"zlr": 1.0, "n": 1000.0}), known)
    assert (again.same, again.cannot) == (False, "")
    assert again.run is not None
    assert 0.2 < again.run.estimate < 20


def twice_as_far(d: Any) -> Any:
    lr, n = count_down({"lr": d["zlr"], "n": d["n"] * 2})
    return lr, n


def test_names_that_now_mean_another_value_are_not_raced(measured: Measured, stored: Make, compared: Compare) -> None:
    known = stored(measured(count_down, {"lr": 0.5, "n": 20.0}))
    found = compared(measured(names_swapped, {"a": 20.0, "n": 0.5}), known)
    if not found.same:
        assert found.cannot == "arguments were renamed and cannot be paired with the stored program's"
    assert found.run is None


def test_a_renamed_argument_that_is_the_only_one_of_its_kind_is_raced(
    measured: Measured, stored: Make, compared: Compare
) -> None:
    found = compared(measured(lambda y: jnp.tanh(y) * 3.0, X), stored(measured(f, X)))
    assert (found.same, found.cannot) == (False, "")
    assert found.run is not None


def reads_one(x: Any, first: Any = None, last: Any = None) -> Any:
    return jnp.tanh(x) * 2.0


def reads_two(x: Any, y: Any) -> Any:
    return jnp.tanh(x) * 2.0 + y[0]


def test_a_leaf_that_is_not_read_makes_no_difference(measured: Measured, stored: Make, compared: Compare) -> None:
    alone, between = measured(f, X), measured(lambda a, x, b: f(x), X + 1, X, jnp.ones(3))
    assert compared(alone, stored(between)) == compared(between, stored(alone)) == SAME_FINGERPRINT
    # Nor where the program is another one.
    with_more = measured(lambda a, x: other(x), jnp.ones(5), X)
    for new, old in ((measured(other, X), between), (with_more, between), (with_more, alone)):
        found = compared(new, stored(old))
        assert (found.same, found.cannot) == (False, "")
        assert found.run is not None


def test_a_leaf_that_is_read_only_now_or_no_longer(measured: Measured, stored: Make, compared: Compare) -> None:
    one = measured(lambda x, y: f(x), X, jnp.ones(3))
    two = measured(reads_two, X, jnp.ones(3))
    for new, old in ((one, two), (two, one)):
        found = compared(new, stored(old))
        assert (found.same, found.cannot) == (False, "")
        assert found.run is not None


def test_many_more_leaves_are_raced_though_the_program_is_the_same(
    measured: Measured, stored: Make, compared: Compare
) -> None:
    def reads_x(d: Any) -> Any:
        return jnp.tanh(d["x"]) * 2.0

    few, many = ({"x": X, **{f"k{n}": jnp.ones(n) for n in range(count)}} for count in (2, 302))
    known = stored(measured(reads_x, few))
    new = measured(reads_x, many, equality=None)
    assert new.measurement.program is not None
    assert new.measurement.program.fingerprint == known.fingerprint
    found = compared(new, known)
    assert (found.same, found.how, found.cannot) == (False, "fingerprint", "")
    assert found.run is not None
    assert found.run.estimate > 1.5
    # It needs no stored program, for it is the same; and none of it is about fewer leaves, or a few more.
    assert compared(new, replace(known, raw=None)).run is not None
    some = {"x": X, **{f"k{n}": 1.0 for n in range(20)}}
    assert compared(measured(reads_x, some, equality=None), known) == SAME_FINGERPRINT
    assert compared(measured(reads_x, few), stored(new)) == SAME_FINGERPRINT


def train(params: Any, x: Any) -> Any:
    return {name: leaf - 0.1 * x.sum() for name, leaf in params.items()}


def test_results_may_come_in_another_order(measured: Measured, stored: Make, compared: Compare) -> None:
    before, now = ({name: jnp.ones(shape) for name, shape in zip(names, (3, 4), strict=True)} for names in ("ab", "za"))
    del now["a"]
    now["b"] = before["b"]
    known = stored(measured(train, before, X, jit={"donate_argnums": 0}))
    assert compared(measured(train, now, X, jit={"donate_argnums": 0}), known) == SAME_FINGERPRINT


def test_donated_arguments_are_raced_with_copies(measured: Measured, stored: Make, compared: Compare) -> None:
    jit = {"donate_argnums": 0}
    given = {"a": X + 0, "b": jax.random.key(0)}
    old = measured(lambda d: {"a": d["a"] * 2, "b": d["b"]}, given, jit=jit)
    new = measured(lambda d: {"a": d["a"] * 3, "b": d["b"]}, given, jit=jit)
    found = compared(new, stored(old))
    assert found.cannot == ""
    assert found.run is not None
    assert not given["a"].is_deleted()


def test_each_side_is_compiled_with_its_own_options(measured: Measured, stored: Make, compared: Compare) -> None:
    plain = measured(f, X)
    slow = measured(f, X, jit={"compiler_options": {"xla_backend_optimization_level": 0}})
    found = compared(plain, stored(slow))
    assert (found.same, found.cannot) == (False, "")
    assert found.run is not None


ELSEWHERE = bytes(export.export(jax.jit(f), platforms=["tpu"])(X).serialize())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"raw": None, "missing": "the file is gone"}, "the file is gone"),
        ({"raw": b"garbage"}, "the stored program cannot be read by jax"),
        ({"raw": b""}, "the stored program cannot be read by jax"),
        ({"raw": ELSEWHERE}, "the stored program is for tpu, not for cpu"),
        ({"inputs": "x: f32[64]; y: f32[3]"}, "the stored program takes an input f32[3] that the call no longer has"),
        ({"inputs": ""}, "the stored program takes 1 leaves, not 0"),
        ({"fingerprint": "sha256:of another program"}, "the stored program is not the one that its entry names"),
        ({"options": {"no_such_option": "1"}, "jax": ""}, "the stored program cannot be compiled: "),
    ],
)
def test_what_cannot_be_built_again_is_a_sentence(
    measured: Measured, stored: Make, compared: Compare, changes: dict[str, Any], sentence: str
) -> None:
    found = compared(measured(other, X), stored(measured(f, X), **changes))
    assert (found.same, found.run) == (False, None)
    assert found.cannot.startswith(sentence)
    assert "\n" not in found.cannot


def test_bytes_of_another_program_are_told_apart(measured: Measured, stored: Make, compared: Compare) -> None:
    known, third = stored(measured(f, X)), measured(lambda x: jnp.cos(x), X)
    swapped = replace(known, raw=stored(measured(other, X)).raw)
    assert compared(third, swapped).cannot == "the stored program is not the one that its entry names"


def test_a_stored_program_that_fails_is_a_sentence(measured: Measured, stored: Make, compared: Compare) -> None:
    jax.config.update("jax_debug_nans", True)
    try:
        known = stored(measured(lambda x: jnp.log(x), X))
        found = compared(measured(lambda x: x + 1, X - 5), known)
    finally:
        jax.config.update("jax_debug_nans", False)
    assert found.cannot.startswith("the stored program fails with today's arguments: ")
    assert "FloatingPointError: " in found.cannot


def test_a_race_that_would_not_fit_in_memory_is_not_started(
    measured: Measured, stored: Make, compared: Compare, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest, "memory_missing", lambda exact, device: f"needs {exact['peak_bytes']}")
    found = compared(measured(other, X), stored(measured(f, X)))
    assert (found.cannot, found.run) == ("needs 512", None)


def test_helpers_that_are_only_traced_have_no_values_to_run_with(
    measured: Measured, stored: Make, compared: Compare
) -> None:
    def loss(x: Any) -> Any:
        return helper(x).sum()

    new = measured(jax.grad(loss), X, strategy="inner", inner=[helper])
    (key,) = new.programs
    found = compared(new, stored(measured(other, X)), key=key)
    assert (found.same, found.run) == (False, None)
    assert found.cannot == "its arguments exist only while its caller runs, so it cannot be run alone"


def test_shuffling_is_the_same_in_every_run_of_a_test() -> None:
    assert seed_of("a").random() == seed_of("a").random() != seed_of("b").random()
