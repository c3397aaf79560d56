"""One marker is read: what it says, and every mistake in it at once."""

from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_jitperf.errors import SpecError
from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.layers import Changes, InnerChange, Layer, Spec, Table
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.spec import expansion, merge, parse_marker
from pytest_jitperf.strategies import Strategy
from pytest_jitperf.units import Tolerance

KEYWORDS = (
    "strategies, inner, jit, devices, budgets, tolerance, faster_than, equal_results, rtol, atol, expected_calls, "
    "sizes, growth, fail_on_improvement, limit"
)
SIZES = '{"1024": lambda: (jnp.ones(1024),)}'
METRIC_NAMES = ", ".join(METRICS)
JIT_OPTIONS = (
    "static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline, in_shardings, "
    "out_shardings, device, backend, compiler_options"
)


def sizes_of(*markers: Any) -> list[tuple[str, float | None, object]]:
    layers = [parse_marker((), {"sizes": each}, scope="inherited") for each in markers]
    return [(each.label, each.number, each.make) for each in merge(layers).sizes]


def small() -> int:
    return 1


def large(n: int = 2) -> int:
    return n


def helper(x: Any) -> Any:
    """A function for ``inner=``."""
    return x


def message(**kwargs: object) -> str:
    """What is said about one marker."""
    with pytest.raises(SpecError) as caught:
        merge([parse_marker((), kwargs)])
    return str(caught.value)


def test_marker_without_arguments_says_nothing() -> None:
    assert parse_marker((), {}) == Layer()
    assert merge([parse_marker((), {})]) == merge([]) == Spec(strategies=("eager", "outer"))


def test_whole_vocabulary() -> None:
    remat = Strategy("remat", helper)

    layer = parse_marker(
        (),
        {
            "strategies": ["eager", "outer", "inner", remat],
            "inner": ["pkg.helper", helper],
            "jit": {"static_argnames": ["n"]},
            "devices": ["cpu", "gpu:0"],
            "run": "5 ms",
            "compile": "2 s",
            "peak_bytes": "64 MiB",
            "compilations": 1,
            "budgets": {"outer": {"run": "1 ms", "launches": None}, "remat": None},
            "tolerance": {"run": "5 %", "compile": None, "outer": {"peak_bytes": "1 % and 1 KiB"}, "inner": None},
            "faster_than": {"outer": {"eager": 2}, "inner": None},
            "equal_results": False,
            "rtol": 1e-3,
            "atol": 0,
            "expected_calls": 1_000,
            "fail_on_improvement": True,
            "limit": {"compile": "60 s", "run": None},
        },
        where="class TestStep",
        scope="inherited",
    )

    assert layer == Layer(
        where="class TestStep",
        scope="inherited",
        given={
            "strategies": ("eager", "outer", "inner", remat),
            "inner": InnerChange(
                replaces=True,
                targets=(("pkg.helper", InnerTarget("pkg.helper", None)), (helper, InnerTarget(helper, None))),
            ),
            "jit": {"static_argnames": ["n"]},
            "devices": ("cpu", "gpu:0"),
            "equal_results": False,
            "rtol": 1e-3,
            "atol": 0.0,
            "expected_calls": 1000,
            "fail_on_improvement": True,
            "limit": {"compile": 60.0, "run": None},
        },
        budgets=Changes(
            everywhere={"run": 0.005, "compile": 2.0, "peak_bytes": 64 * 2**20, "compilations": 1},
            rows={"outer": {"run": 0.001, "launches": None}, "remat": None},
        ),
        tolerance=Changes(
            everywhere={"run": Tolerance(0.05, 0.0), "compile": None},
            rows={"outer": {"peak_bytes": Tolerance(0.01, 1024.0)}, "inner": None},
        ),
        faster_than=Changes(rows={"outer": {"eager": 2.0}, "inner": None}),
    )
    assert merge([layer]) == Spec(
        strategies=("eager", "outer", "inner", remat),
        devices=("cpu", "gpu:0"),
        inner=(InnerTarget("pkg.helper", None), InnerTarget(helper, None)),
        jit={"static_argnames": ["n"]},
        budgets=Table(
            everywhere={"run": 0.005, "compile": 2.0, "peak_bytes": 64 * 2**20, "compilations": 1},
            rows={
                "outer": {"run": 0.001, "launches": None},
                "remat": {"run": None, "compile": None, "peak_bytes": None, "compilations": None},
            },
        ),
        tolerance=Table(
            everywhere={"run": Tolerance(0.05, 0.0), "compile": None},
            rows={"outer": {"peak_bytes": Tolerance(0.01, 1024.0)}, "inner": {"run": None, "compile": None}},
        ),
        faster_than=Table(rows={"outer": {"eager": 2.0}, "inner": {}}),
        equal_results=False,
        rtol=1e-3,
        atol=0.0,
        expected_calls=1000,
        fail_on_improvement=True,
        phase_limits={"compile": 60.0},
    )


def test_methods_may_be_given_as_their_class_holds_them() -> None:
    held = classmethod(helper), staticmethod(helper), property(helper)
    assert [each.errors for each in (parse_marker((), {"inner": [one]}) for one in held)] == [(), (), ()]


def test_inner_mapping_gives_options_or_a_transform() -> None:
    layer = parse_marker((), {"inner": {helper: {"static_argnames": "n"}, "pkg.mod.Net.call": helper, "pkg.f": {}}})

    assert layer.given["inner"] == InnerChange(
        replaces=False,
        targets=(
            (helper, InnerTarget(helper, {"static_argnames": "n"})),
            ("pkg.mod.Net.call", InnerTarget("pkg.mod.Net.call", helper)),
            ("pkg.f", InnerTarget("pkg.f", None)),
        ),
    )


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        (
            {"startegies": ["outer"]},
            f'unknown keyword startegies=; did you mean "strategies"? Valid: {KEYWORDS}, {METRIC_NAMES}',
        ),
        ({"launchs": 1}, f'unknown keyword launchs=; did you mean "launches"? Valid: {KEYWORDS}, {METRIC_NAMES}'),
        ({"xyz": 1}, f"unknown keyword xyz=; valid: {KEYWORDS}, {METRIC_NAMES}"),
        ({"outer": "5 ms"}, 'outer= is a strategy; write budgets={"outer": {"run": "5 ms"}} for its own limits'),
        ({"sizes": [8, 16]}, f"sizes=[8, 16] is not a mapping; write sizes={SIZES}"),
        ({"sizes": {8: 3, 9: small}}, f"sizes[8]=3 is not a function; write sizes={SIZES}"),
        ({"sizes": {8: small}}, "sizes: one size shows no growth; give at least two"),
        ({"sizes": {}}, "sizes: no size is named; leave it out"),
        ({"sizes": {8: small, "8": small}}, 'sizes: "8" is named twice'),
        ({"sizes": {(1,): small, 2: small}}, f"sizes: (1,) is neither a name nor a number; write sizes={SIZES}"),
        (
            {"sizes": {8: lambda n: n, 9: small}},
            "sizes[8] needs n, and is called without arguments; write lambda n=n: ...",
        ),
        (
            {"growth": "n"},
            'growth="n" is not an exponent; write growth="1.2" for run time like n ** 1.2 at most',
        ),
        (
            {"growth": -1},
            'growth=-1 is not an exponent; write growth="1.2" for run time like n ** 1.2 at most',
        ),
        ({"growth": 1.2}, "growth: an exponent takes 3 sizes to fit, and there is no sizes="),
        (
            {"growth": 1.2, "sizes": {8: small, 9: small}},
            "growth: an exponent takes 3 sizes to fit, and sizes= has 2",
        ),
    ],
)
def test_keyword_that_is_none(kwargs: dict[str, object], expected: str) -> None:
    assert message(**kwargs) == f"jitperf marker: {expected}"


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({"run": 5}, 'run=5 has no unit; write "5 s" or "5 ms"'),
        ({"run": 0}, 'run=0 has no unit; write "0 s" or "0 ms"'),
        ({"run": "5"}, 'run="5" has no unit; write "5 s" or "5 ms"'),
        (
            {"run": "5 parsecs"},
            'run="5 parsecs" has unknown unit "parsecs"; a time is in ns, us, ms, s, min or h',
        ),
        ({"run": True}, 'run=True is not a time but a bool; write "5 ms"'),
        ({"run": "nan"}, 'run="nan" is not a finite number; write "5 ms"'),
        ({"run": math.nan}, 'run=nan is not a finite number; write "5 ms"'),
        ({"run": "-5 ms"}, 'run="-5 ms" is below zero; write "5 ms"'),
        ({"run": "0 s"}, 'run="0 s" can never be met; write a time above 0, such as "5 ms"'),
        (
            {"run": "-5%"},
            'run="-5%" is a percentage, and a budget is absolute; '
            'to compare with the baseline write tolerance={"run": "5 %"}',
        ),
        ({"compilations": 1.5}, "compilations=1.5 is not a whole number; write 1 or 2"),
        ({"peak_bytes": 1024}, 'peak_bytes=1024 has no unit; write "1024 MiB", "1024 KiB" or "1024 B"'),
        ({"budgets": {"outer": {"run": 5}}}, 'budgets["outer"]["run"]=5 has no unit; write "5 s" or "5 ms"'),
        (
            {"budgets": {"outer": {"rum": "5 ms"}}},
            f'budgets["outer"]: unknown metric "rum"; did you mean "run"? Valid: {METRIC_NAMES}',
        ),
        (
            {"budgets": {"oter": {"run": "5 ms"}}},
            'budgets: unknown strategy "oter"; did you mean "outer"? Valid: eager, outer, inner, both',
        ),
        (
            {"budgets": {"inner": {"run": "5 ms"}}},
            'budgets: "inner" is not a strategy of this test, which has eager and outer',
        ),
        (
            {"budgets": {"run": "5 ms"}},
            'budgets: "run" is a metric; budgets is strategy, then metric; for every strategy write run="5 ms"',
        ),
        (
            {"budgets": {"outer": "5 ms"}},
            'budgets["outer"]="5 ms" is not a mapping; write budgets["outer"]={"run": "5 ms"}',
        ),
        ({"budgets": 5}, 'budgets=5 is not a mapping; write budgets={"outer": {"run": "5 ms"}}'),
        (
            {"budgets": {3: {"run": "5 ms"}}},
            'budgets: 3 is not a name; write budgets={"outer": {"run": "5 ms"}}',
        ),
        (
            {"budgets": {Strategy("remat", helper): {"run": "5 ms"}}},
            "budgets: Strategy(name='remat') is not a name; write \"remat\"",
        ),
    ],
)
def test_wrong_budget(kwargs: dict[str, object], expected: str) -> None:
    assert message(**kwargs) == f"jitperf marker: {expected}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"run": "5"}, 'tolerance["run"]="5" may be a share or an amount; write "5 %" or "5 ms"'),
        ({"run": 10}, 'tolerance["run"]=10 may be a share or an amount; write "10 %" or "10 ms"'),
        ({"run": "-5%"}, 'tolerance["run"]="-5%" is below zero; write "5 %", "5 ms" or "5 % and 5 ms"'),
        ({"run": "nan"}, 'tolerance["run"]="nan" is not a finite number; write "5 %", "5 ms" or "5 % and 5 ms"'),
        (
            {"outer": {"run": "5 %", "launches": True}},
            'tolerance["outer"]["launches"]=True is not a count but a bool; write "5 %", "2" or "5 % and 2"',
        ),
        ({"rum": "5 %"}, f'tolerance: unknown metric "rum"; did you mean "run"? Valid: {METRIC_NAMES}'),
        (
            {"outer": {"rum": "5 %"}},
            f'tolerance["outer"]: unknown metric "rum"; did you mean "run"? Valid: {METRIC_NAMES}',
        ),
        (
            {"oter": {"run": "5 %"}},
            'tolerance: unknown strategy "oter"; did you mean "outer"? Valid: eager, outer, inner, both',
        ),
        (
            {"both": {"run": "5 %"}},
            'tolerance: "both" is not a strategy of this test, which has eager and outer',
        ),
        (
            {"run": {"outer": "5 %"}},
            'tolerance["run"]: strategy comes first; write tolerance={"outer": {"run": "5 %"}}',
        ),
        ({"outer": "5 %"}, 'tolerance["outer"]="5 %" says no metric; write tolerance["outer"]={"run": "5 %"}'),
        ("5 %", 'tolerance="5 %" is not a mapping; write tolerance={"run": "5 %"}'),
    ],
)
def test_wrong_tolerance(value: object, expected: str) -> None:
    assert message(tolerance=value) == f"jitperf marker: {expected}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            {"outer": 2.5},
            'faster_than["outer"]=2.5 names one strategy of two; write faster_than={"outer": {"eager": 2.5}}, the '
            "faster one first",
        ),
        (
            {"eager": 3},
            'faster_than["eager"]=3 names one strategy of two; write faster_than={"outer": {"eager": 3}}, the '
            "faster one first",
        ),
        (
            {"inner": "3x"},
            'faster_than["inner"]="3x" names one strategy of two; write faster_than={"inner": {"eager": 2.0}}, the '
            "faster one first",
        ),
        (2.0, 'faster_than=2.0 is not a mapping; write faster_than={"outer": {"eager": 2.0}}'),
        ({"outer": {"eager": True}}, 'faster_than["outer"]["eager"]=True is not a factor but a bool; write 2.0'),
        ({"outer": {"eager": 0}}, 'faster_than["outer"]["eager"]=0 is not above 0; write 2.0'),
        ({"outer": {"eager": -2}}, 'faster_than["outer"]["eager"]=-2 is below zero; write 2.0'),
        ({"outer": {"outer": 2}}, 'faster_than["outer"]["outer"]: a strategy is never faster than itself'),
        (
            {"outer": {"egaer": 2}},
            'faster_than: unknown strategy "egaer"; did you mean "eager"? Valid: eager, outer, inner, both',
        ),
        (
            {"oter": {"eager": 2}},
            'faster_than: unknown strategy "oter"; did you mean "outer"? Valid: eager, outer, inner, both',
        ),
        (
            {"outer": {"inner": 2}},
            'faster_than: "inner" is not a strategy of this test, which has eager and outer',
        ),
        (
            {"both": {"eager": 2}},
            'faster_than: "both" is not a strategy of this test, which has eager and outer',
        ),
    ],
)
def test_wrong_faster_than(value: object, expected: str) -> None:
    assert message(faster_than=value) == f"jitperf marker: {expected}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            ["oter"],
            'strategies: unknown strategy "oter"; did you mean "outer"? Valid: eager, outer, inner, both; '
            'another one needs Strategy("oter", build)',
        ),
        ("outer", 'strategies="outer" is not a list; write strategies=["outer"]'),
        ({"outer"}, "strategies={'outer'} is not a list; write strategies=[...]"),
        ([], "strategies: no strategy is named; leave it out for eager and outer"),
        (["outer", "outer"], 'strategies: "outer" is named twice'),
        (["outer", helper], 'strategies: helper is not a strategy; write Strategy("name", helper)'),
        (["outer", 3], 'strategies: 3 is not a strategy; write a name such as "outer"'),
        (["outer", "inner"], 'strategies: "inner" needs inner=, which names the functions to jit'),
        (["inner", "both"], 'strategies: "inner" and "both" need inner=, which names the functions to jit'),
    ],
)
def test_wrong_strategies(value: object, expected: str) -> None:
    assert message(strategies=value) == f"jitperf marker: {expected}"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (helper, "inner=helper is not a list; write inner=[helper]"),
        ("pkg.helper", 'inner="pkg.helper" is not a list; write inner=["pkg.helper"]'),
        (["helper"], 'inner: "helper" is not a dotted name such as "pkg.mod.helper"; or give the function'),
        (
            ["pkg.f.<locals>.g"],
            'inner: "pkg.f.<locals>.g" is made in another function, of which every call makes a new one; define it at '
            "the top of its module",
        ),
        ([3], "inner: 3 is not a function or a dotted name"),
        (
            {helper: {"static_argname": "n"}},
            f'inner[helper]: unknown option "static_argname"; did you mean "static_argnames"? Valid: {JIT_OPTIONS}',
        ),
        (
            {helper: 3},
            'inner[helper]=3 is not a mapping or a function; write jit options such as {"static_argnames": ["n"]}, '
            "or a transform",
        ),
        (
            {helper: None},
            "inner: helper: None removes it, and no marker further out names it; to jit it without options write {}",
        ),
    ],
)
def test_wrong_inner(value: object, expected: str) -> None:
    assert message(inner=value) == f"jitperf marker: {expected}"


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({"devices": "cpu"}, 'devices="cpu" is not a list; write devices=["cpu"]'),
        (
            {"devices": ["cup"]},
            'devices: unknown device "cup"; did you mean "cpu"? Valid: cpu, gpu, tpu, cuda, rocm, gpu:0, all, as-is',
        ),
        ({"devices": ["cpu", "cpu"]}, 'devices: "cpu" is named twice'),
        ({"jit": ["n"]}, 'jit=[\'n\'] is not a mapping; write jit={"static_argnames": ["n"]}'),
        (
            {"jit": {"donate_argnam": "x"}},
            f'jit: unknown option "donate_argnam"; did you mean "donate_argnames"? Valid: {JIT_OPTIONS}',
        ),
        ({"equal_results": 1}, "equal_results=1 is not True or False"),
        ({"fail_on_improvement": "yes"}, 'fail_on_improvement="yes" is not True or False'),
        ({"rtol": "1e-3"}, 'rtol="1e-3" is not a finite number of 0 or more; write one such as 1e-4'),
        ({"rtol": True}, "rtol=True is not a finite number of 0 or more; write one such as 1e-4"),
        ({"atol": -1}, "atol=-1 is not a finite number of 0 or more; write one such as 1e-4"),
        ({"atol": math.inf}, "atol=inf is not a finite number of 0 or more; write one such as 1e-4"),
        ({"expected_calls": 0}, "expected_calls=0 is not 1 or more"),
        ({"expected_calls": 0.5}, "expected_calls=0.5 is not a whole number; write 0 or 1"),
        ({"limit": {"compile": 60}}, 'limit["compile"]=60 has no unit; write "60 s" or "60 ms"'),
        (
            {"limit": {"compile": "0 s"}},
            'limit["compile"]="0 s" leaves no time; write a time above 0, such as "60 s"',
        ),
        (
            {"limit": {"complie": "60 s"}},
            'limit: unknown phase "complie"; did you mean "compile"? Valid: trace, lower, xla, compile, run',
        ),
        ({"limit": "60 s"}, 'limit="60 s" is not a mapping; write limit={"compile": "60 s"}'),
    ],
)
def test_wrong_value_of_another_key(kwargs: dict[str, object], expected: str) -> None:
    assert message(**kwargs) == f"jitperf marker: {expected}"


def test_jit_option_that_is_no_typo_is_left_to_jax() -> None:
    assert merge([parse_marker((), {"jit": {"something_new": 1}})]).jit == {"something_new": 1}


def test_every_mistake_is_told_one_per_line() -> None:
    assert message(run=5, equal_results=0, budgets={"outer": {"run": 7, "compile": 8}}, inner=[3]).split("\n") == [
        'jitperf marker: run=5 has no unit; write "5 s" or "5 ms"',
        "jitperf marker: equal_results=0 is not True or False",
        'jitperf marker: budgets["outer"]["run"]=7 has no unit; write "7 s" or "7 ms"',
        'jitperf marker: budgets["outer"]["compile"]=8 has no unit; write "8 s" or "8 ms"',
        "jitperf marker: inner: 3 is not a function or a dotted name",
    ]


def test_positional_arguments_are_refused() -> None:
    with pytest.raises(SpecError) as caught:
        merge([parse_marker(("outer", 3), {}, where="module")])

    assert str(caught.value) == (
        'jitperf marker (module): positional arguments are not accepted, got "outer", 3; write strategies=["outer"]'
    )


@pytest.mark.parametrize("keyword", ["strategies", "devices"])
def test_what_decides_the_items_is_refused_in_a_param(keyword: str) -> None:
    layers = [parse_marker((), {}), parse_marker((), {keyword: ["cpu"]}, scope="param", where="pytest.param")]

    with pytest.raises(SpecError) as caught:
        merge(layers)

    assert str(caught.value) == (
        f"jitperf marker (pytest.param): {keyword}= in pytest.param comes too late to say which items there are; "
        "put it on the test"
    )
    assert expansion(layers) == (("eager", "outer"), (), None)


def test_none_removes_instead_of_being_wrong() -> None:
    everything = [*KEYWORDS.split(", "), *METRICS]

    assert merge([parse_marker((), dict.fromkeys(everything))]).strategies == ("eager", "outer")


def test_sizes_that_are_numbers_stand_in_their_order() -> None:
    assert sizes_of({"1_024": small, 256: large, "64": small}) == [
        ("64", 64.0, small),
        ("256", 256.0, large),
        ("1_024", 1024.0, small),
    ]


def test_sizes_with_names_stand_as_they_are_given() -> None:
    assert sizes_of({"small": small, "2": large}) == [("small", None, small), ("2", None, large)]


def test_sizes_are_merged_by_their_labels() -> None:
    assert sizes_of({8: small, 16: small}, {32: large, 16: None}) == [("8", 8.0, small), ("32", 32.0, large)]
    assert sizes_of({8: small, 16: small}, None) == []  # None removes them all


@pytest.mark.parametrize(("given", "read"), [("1.2", 1.2), (2, 2.0), (0, 0.0), (1.5, 1.5)])
def test_growth_is_an_exponent(given: object, read: float) -> None:
    assert parse_marker((), {"growth": given}).given["growth"] == read
