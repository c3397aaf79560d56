"""What holds of every verdict, whatever was measured, stored and found out."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.judge.strictness import effect_of
from pytest_jitperf.judge.verdict import Evidence, input_changes, judge
from pytest_jitperf.measurement import Comparison, Environment, Measurement, Program, Ratio, Sample, Settled
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.plan import Plan
from pytest_jitperf.report.failure import failure_text

SECONDS = st.floats(min_value=0, max_value=1e4)
FACTORS = st.floats(min_value=1e-3, max_value=1e3)
COUNTS = st.integers(min_value=0, max_value=10**12)
SAMPLES = st.tuples(SECONDS, SECONDS, SECONDS).map(
    lambda three: Sample(median=sorted(three)[1], low=min(three), high=max(three), rounds=3)
)
RATIOS = st.builds(
    lambda three, **rest: Ratio(estimate=sorted(three)[1], low=min(three), high=max(three), **rest),
    st.tuples(FACTORS, FACTORS, FACTORS),
    rounds=st.integers(1, 99),
    seconds=SECONDS,
    decided=st.booleans(),
    one_core=st.booleans(),
    confirmed=st.booleans(),
)
SETTLED = st.builds(
    lambda three, **rest: Settled(estimate=sorted(three)[1], low=min(three), high=max(three), **rest),
    st.tuples(SECONDS, SECONDS, SECONDS),
    rounds=st.integers(1, 99),
    seconds=SECONDS,
    one_core=st.booleans(),
    timed_out=st.booleans(),
)
ENVIRONMENTS = st.builds(
    Environment,
    jax=st.sampled_from(["0.10.1", "0.10.2"]),
    jaxlib=st.sampled_from(["0.10.1", "0.10.2"]),
    python=st.sampled_from(["3.11", "3.12"]),
    platform=st.just("cpu"),
    xla_flags=st.sampled_from(["", "--xla_foo"]),
    config=st.dictionaries(st.just("jax_numpy_rank_promotion"), st.just("warn")),
    machine=st.sampled_from(["a", "b"]),
)
TIMES = ("run", "compile", "trace_cpu", "lower_cpu", "xla_cpu", "compile_cpu")


def values(names: list[str]) -> st.SearchStrategy[dict[str, int]]:
    return st.dictionaries(st.sampled_from(names), COUNTS)


PROGRAM_METRICS = values([name for name, metric in METRICS.items() if metric.side == "program"])
HOST_METRICS = values([name for name, metric in METRICS.items() if metric.side == "host"])
TIMED = st.dictionaries(st.sampled_from(TIMES), SAMPLES)
RELATIVE = st.dictionaries(st.sampled_from(["trace", "lower"]), FACTORS)
INPUTS = st.lists(
    st.tuples(st.sampled_from(["x", "y", "p['a']"]), st.sampled_from(["f32[8]", "f32[4]", "static int #aa"])),
    max_size=3,
).map(lambda leaves: "; ".join(f"{path}: {described}" for path, described in leaves))
KEYS = st.sampled_from(["lib.f(x: f32[8])", "lib.f(x: f32[4])", "lib.g(x: f32[8])"])
PROGRAMS = st.builds(Program, fingerprint=st.none(), inputs=st.just(""), exact=PROGRAM_METRICS)
STORED = st.builds(StoredProgram, exact=PROGRAM_METRICS)
OPERATIONS = st.dictionaries(st.sampled_from(["dot", "add", "while", "custom-call lapack_spotrf_ffi"]), COUNTS)
COMPARISONS = st.builds(
    Comparison,
    same=st.booleans(),
    run=st.none() | RATIOS,
    xla=st.none() | RATIOS,
    cannot=st.sampled_from(["", "no program was stored"]),
    old_exact=PROGRAM_METRICS,
    how=st.sampled_from(["fingerprint", "optimised"]),
    old_operations=OPERATIONS,
    new_operations=OPERATIONS,
    old_xla_seconds=st.none() | SECONDS,
)
ENTRIES = st.builds(
    Entry,
    inputs=INPUTS,
    program=st.none() | STORED,
    helpers=st.dictionaries(KEYS, STORED),
    exact=PROGRAM_METRICS,
    timed=TIMED,
    relative=RELATIVE,
    host=st.dictionaries(st.sampled_from(["3.11/0.10.1", "3.11/0.10.2", "3.12/0.10.2"]), HOST_METRICS),
    environment=ENVIRONMENTS,
)
MEASUREMENTS = st.builds(
    Measurement,
    strategy=st.just("outer"),
    device=st.just("cpu"),
    device_kind=st.just("cpu"),
    inputs=INPUTS,
    program=st.none() | PROGRAMS,
    helpers=st.dictionaries(KEYS, PROGRAMS),
    exact=PROGRAM_METRICS,
    host=HOST_METRICS,
    timed=TIMED,
    relative=RELATIVE,
    unavailable=st.just({"peak_bytes": "no statistics"}),
    environment=ENVIRONMENTS,
)
EVIDENCE = st.builds(
    Evidence,
    program=st.none() | COMPARISONS,
    helpers=st.dictionaries(KEYS, COMPARISONS),
    faster=st.dictionaries(st.just("eager"), RATIOS | st.just("it does not run")),
    wrong=st.sampled_from(["", "leaf 0 differs"]),
    retraces=st.just(("x: f32[8] -> f32[9]",)),
    trace_again=st.none() | RELATIVE,
    budgets=st.dictionaries(st.just("run"), SETTLED),
)
STRATEGIES = st.sampled_from(["eager", "outer", "inner", "both", "mine"])
MARKERS = st.fixed_dictionaries(
    {},
    optional={
        "run": st.just("1 ms"),
        "tolerance": st.dictionaries(
            st.sampled_from(["run", "trace", "lower", "xla", "compile"]),
            st.sampled_from(["1 %", "2 ms", "5 % and 1 ms"]),
        ),
        "faster_than": st.just({"outer": {"eager": 2}}),
        "fail_on_improvement": st.booleans(),
    },
)
quick = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def beyond(plan: Plan, side: str, old: Mapping[str, float], new: Mapping[str, float]) -> list[str]:
    """Gated exact metrics that are beyond their tolerance, found without the code under test."""
    found = []
    for name, allowed in plan.allowed.items():
        metric = METRICS[name]
        if metric.kind == "exact" and metric.side == side and allowed.gated and name in old and name in new:
            share = old[name] * (1 + allowed.tolerance.relative)
            amount = old[name] + allowed.tolerance.absolute
            if new[name] > max(share, amount) * (1 + 1e-9):
                found.append(name)
    return found


@quick
@given(STRATEGIES, MARKERS, MEASUREMENTS, st.none() | ENTRIES, EVIDENCE)
def test_every_verdict_has_a_word_a_sentence_a_text_and_an_effect(
    plan_for: Callable[..., Plan],
    strategy: str,
    marker: dict[str, object],
    measured: Measurement,
    entry: Entry | None,
    evidence: Evidence,
) -> None:
    verdict = judge(plan_for(strategy, **marker), measured, entry, evidence)

    assert all(each.sentence and "None" not in each.sentence for each in verdict.findings)
    assert verdict.worst in verdict.findings
    assert verdict.failed == (effect_of(verdict, strict=False, missing="ok") is Effect.FAIL)
    assert bool(verdict.why) == bool(verdict.moved)
    assert all(verdict.why)
    text = failure_text(verdict, nodeid="t", strategy=strategy, measured=measured, where="f", verbose=True)
    assert text.isascii()


@quick
@given(STRATEGIES, MEASUREMENTS, ENTRIES, EVIDENCE)
def test_nothing_passes_while_a_gated_exact_metric_is_beyond_its_tolerance(
    plan_for: Callable[..., Plan], strategy: str, measured: Measurement, entry: Entry, evidence: Evidence
) -> None:
    plan = plan_for(strategy)
    same_inputs = not input_changes(measured, entry)
    today = measured.environment.host_key
    over = beyond(plan, "program", entry.exact, measured.exact)
    over += beyond(plan, "host", entry.host.get(today, {}), measured.host)

    verdict = judge(plan, measured, entry, evidence)

    said = {each.metric for each in verdict.findings if each.outcome is Outcome.REGRESSED}
    if same_inputs:
        assert {*over} <= said
    else:
        assert strategy == "eager" or Outcome.INPUTS_CHANGED in {each.outcome for each in verdict.findings}


@quick
@given(INPUTS, ENVIRONMENTS, st.randoms(use_true_random=False))
def test_the_order_of_inputs_is_no_change(
    measure: Callable[..., Measurement], inputs: str, environment: Environment, random: object
) -> None:
    leaves = inputs.split("; ") if inputs else []
    shuffled = "; ".join(random.sample(leaves, len(leaves)))  # type: ignore[attr-defined]  # hypothesis's own Random

    assert input_changes(measure(inputs=shuffled), Entry(inputs=inputs, environment=environment)) == ""
