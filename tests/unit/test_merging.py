"""Several markers on one test: what holds, what is replaced, and which items the test becomes."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from pytest_jitperf.errors import SpecError
from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.layers import Layer
from pytest_jitperf.merging import expansion, merge
from pytest_jitperf.spec import parse_marker
from pytest_jitperf.strategies import Strategy, name_of


def first(x: Any) -> Any:
    """A function for ``inner=``."""
    return x


def second(x: Any) -> Any:
    """Another one."""
    return x


def inherited(**kwargs: object) -> Layer:
    """A marker of the module."""
    return parse_marker((), kwargs, scope="inherited", where="module")


def own(**kwargs: object) -> Layer:
    """A marker of the test."""
    return parse_marker((), kwargs)


def mistakes(*layers: Layer, **options: Any) -> list[str]:
    """The lines of the message."""
    with pytest.raises(SpecError) as caught:
        merge(layers, **options)
    return str(caught.value).split("\n")


def budgets(*layers: Layer) -> dict[str, dict[str, float]]:
    """Budgets by strategy, over the layers."""
    spec = merge(layers)
    return {name_of(each): spec.budgets.of(name_of(each)) for each in spec.strategies}


def test_budget_of_one_strategy_goes_before_that_of_all_in_the_same_marker() -> None:
    assert budgets(own(run="5 ms", compile="1 s", budgets={"outer": {"run": "1 ms"}})) == {
        "eager": {"run": 0.005, "compile": 1.0},
        "outer": {"run": 0.001, "compile": 1.0},
    }


def test_inner_each_stands_for_every_helper_in_tables_too() -> None:
    marker: dict[str, Any] = {
        "inner": [first, second],
        "budgets": {"inner:each": {"run": "5 ms", "compile": "1 s"}, "inner:second": {"run": "1 ms"}},
        "tolerance": {"inner:each": {"launches": "1"}},
        "faster_than": {"inner:first": {"inner:each": 1.1}, "outer": {"inner:each": 2}},
    }
    spec = merge([own(strategies=["outer", "inner:each"], **marker)])

    assert budgets(own(strategies=["outer", "inner:each"], **marker)) == {
        "outer": {},
        "inner:first": {"run": 0.005, "compile": 1.0},
        "inner:second": {"run": 0.001, "compile": 1.0},
    }
    assert sorted(spec.tolerance.rows) == ["inner:first", "inner:second"]
    assert spec.faster_than.rows == {
        "inner:first": {"inner:second": 1.1},
        "outer": {"inner:first": 2.0, "inner:second": 2.0},
    }
    # Where one of them is named alone, it is the only one that is meant.
    alone = own(strategies=["inner:second"], inner=[first, second], budgets=marker["budgets"])
    assert budgets(alone) == {"inner:second": {"run": 0.001, "compile": 1.0}}


def test_inner_each_without_helpers_stands_for_nothing() -> None:
    assert mistakes(own(budgets={"inner:each": {"run": "5 ms"}})) == [
        'jitperf marker: budgets: unknown strategy "inner:each"; did you mean "inner"? Valid: eager, outer, inner, both'
    ]


def test_later_budget_for_all_overrides_an_earlier_one_for_a_single_strategy() -> None:
    layers = [inherited(budgets={"outer": {"run": "1 ms", "compile": "1 s"}}), own(run="5 ms")]

    assert budgets(*layers) == {"eager": {"run": 0.005}, "outer": {"run": 0.005, "compile": 1.0}}


def test_later_budget_for_one_strategy_leaves_the_others() -> None:
    layers = [inherited(run="5 ms", compile="1 s"), own(budgets={"outer": {"run": "1 ms"}})]

    assert budgets(*layers) == {
        "eager": {"run": 0.005, "compile": 1.0},
        "outer": {"run": 0.001, "compile": 1.0},
    }


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ({"run": None}, {"eager": {"compile": 1.0}, "outer": {"compile": 1.0}}),
        (
            {"budgets": {"outer": {"run": None}}},
            {"eager": {"run": 0.005, "compile": 1.0}, "outer": {"compile": 1.0}},
        ),
        ({"budgets": {"outer": None}}, {"eager": {"run": 0.005, "compile": 1.0}, "outer": {}}),
        ({"budgets": None}, {"eager": {}, "outer": {}}),
        ({"budgets": None, "run": "7 ms"}, {"eager": {"run": 0.007}, "outer": {"run": 0.007}}),
    ],
)
def test_none_removes_budgets(later: dict[str, object], expected: dict[str, dict[str, float]]) -> None:
    layers = [inherited(run="5 ms", compile="1 s", budgets={"outer": {"run": "1 ms"}}), own(**later)]

    assert budgets(*layers) == expected


def test_what_was_removed_can_be_set_again_further_in() -> None:
    layers = [inherited(run="5 ms"), inherited(budgets={"outer": None}), own(run="7 ms")]

    assert budgets(*layers) == {"eager": {"run": 0.007}, "outer": {"run": 0.007}}


def test_tolerances_and_factors_merge_like_budgets() -> None:
    spec = merge(
        [
            inherited(
                tolerance={"run": "5 %", "outer": {"compile": "1 s"}},
                faster_than={"outer": {"eager": 2.0}},
                strategies=["eager", "outer", "both"],
                inner=[first],
            ),
            own(
                tolerance={"outer": {"run": "7 %"}, "eager": {"run": None}},
                faster_than={"outer": {"both": 0.9}, "both": {"eager": 3}},
            ),
        ]
    )

    assert {
        name: {m: str(t.relative or t.absolute) for m, t in spec.tolerance.of(name).items()}
        for name in ("eager", "outer", "both")
    } == {
        "eager": {},
        "outer": {"run": "0.07", "compile": "1.0"},
        "both": {"run": "0.05"},
    }
    assert {name: spec.faster_than.of(name) for name in ("eager", "outer", "both")} == {
        "eager": {},
        "outer": {"eager": 2.0, "both": 0.9},
        "both": {"eager": 3.0},
    }


def test_lists_are_replaced_and_mappings_merge_by_key() -> None:
    spec = merge(
        [
            inherited(
                strategies=["eager"],
                devices=["cpu"],
                jit={"inline": True, "keep_unused": True},
                limit={"run": "1 s", "trace": "2 s"},
            ),
            own(
                strategies=["outer"],
                devices=["gpu:0"],
                jit={"inline": None, "static_argnames": ["n"]},
                limit={"run": "3 s"},
            ),
        ]
    )

    assert (spec.strategies, spec.devices) == (("outer",), ("gpu:0",))
    assert spec.jit == {"keep_unused": True, "static_argnames": ["n"]}
    assert spec.phase_limits == {"run": 3.0, "trace": 2.0}


def test_none_takes_a_whole_key_back() -> None:
    layers = [
        inherited(strategies=["outer"], devices=["cpu"], jit={"inline": True}, inner=[first], equal_results=False,
                  rtol=0.1, expected_calls=5, limit={"run": "1 s"}),
        own(strategies=None, devices=None, jit=None, inner=None, equal_results=None, rtol=None, expected_calls=None,
            limit=None),
    ]  # fmt: skip

    assert merge(layers) == merge([])


def test_inner_list_replaces_and_inner_mapping_adds() -> None:
    outside = inherited(inner=[first, "pkg.helper"])

    assert merge([outside, own(inner=[second])]).inner == (InnerTarget(second, None),)
    assert merge(
        [outside, own(inner={second: {"inline": True}, "pkg.helper": {"inline": False}, first: None})]
    ).inner == (
        InnerTarget("pkg.helper", {"inline": False}),
        InnerTarget(second, {"inline": True}),
    )


def test_function_named_twice_is_one() -> None:
    class Net:
        """A method is a new object whenever it is looked up."""

        def call(self, x: Any) -> Any:
            return x

    net, name = Net(), "pkg.f"
    again = "".join(["pkg", ".f"])

    assert merge([own(inner=[first, name, net.call, first, again, net.call, Net().call])]).inner[:3] == (
        InnerTarget(first, None),
        InnerTarget("pkg.f", None),
        InnerTarget(net.call, None),
    )
    assert len(merge([own(inner=[first, name, net.call, first, again, net.call, Net().call])]).inner) == 4


def test_callables_are_told_apart_without_comparing_them() -> None:
    class Layered:
        """Like an array, it answers ``==`` with what has no truth value."""

        __hash__ = object.__hash__

        def __call__(self, x: Any) -> Any:
            return x

        def __eq__(self, other: object) -> Any:
            raise TypeError("no truth value")

    one, other = Layered(), Layered()

    assert [each.target is one for each in merge([own(inner=[one, other, one])]).inner] == [True, False]


def test_inner_functions_add_strategies_where_none_is_named() -> None:
    assert expansion([own(inner=[first])]) == (("eager", "outer", "inner", "both"), (), None)
    assert expansion([inherited(inner=[first]), own()]) == (("eager", "outer", "inner", "both"), (), None)
    assert expansion([own(inner=[first], strategies=["inner"])]) == (("inner",), (), None)


def test_inner_in_a_param_comes_too_late_to_add_strategies() -> None:
    layers = [own(), parse_marker((), {"inner": [first]}, scope="param", where="pytest.param")]

    assert expansion(layers).strategies == ("eager", "outer")
    assert mistakes(*layers) == [
        "jitperf marker (pytest.param): inner: it comes too late in pytest.param to add strategies; put it on the test"
    ]


def test_param_sets_budgets_of_its_own() -> None:
    layers = [own(run="5 ms", inner=[first]), parse_marker((), {"run": "9 ms", "inner": [second]}, scope="param")]

    spec = merge(layers)

    assert spec.budgets.of("outer") == {"run": 0.009}
    assert spec.inner == (InnerTarget(second, None),)


def test_inherited_limits_for_a_strategy_that_this_test_lacks_are_no_mistake() -> None:
    layers = [inherited(budgets={"inner": {"run": "1 ms"}}, tolerance={"inner": {"run": "1 %"}}), own()]

    assert merge(layers).strategies == ("eager", "outer")


def test_inherited_factor_for_a_strategy_that_this_test_lacks_must_be_removed() -> None:
    outside = inherited(strategies=["eager", "outer"], faster_than={"outer": {"eager": 2}})

    assert mistakes(outside, own(strategies=["outer"])) == [
        'jitperf marker: faster_than: "eager" is not a strategy of this test, which has outer'
    ]
    assert merge([outside, own(strategies=["outer"], faster_than=None)]).faster_than.of("outer") == {}
    assert merge([outside, own(strategies=["outer"], faster_than={"outer": None})]).faster_than.of("outer") == {}


def test_mistakes_of_all_markers_say_where_they_stand() -> None:
    assert mistakes(inherited(run=5), own(compile=5)) == [
        'jitperf marker (module): run=5 has no unit; write "5 s" or "5 ms"',
        'jitperf marker: compile=5 has no unit; write "5 s" or "5 ms"',
    ]


def test_mistake_in_strategies_hides_only_what_follows_from_it() -> None:
    assert mistakes(own(strategies=["oter"], budgets={"oter": {"run": "5 ms"}}, compile=5)) == [
        'jitperf marker: compile=5 has no unit; write "5 s" or "5 ms"',
        'jitperf marker: strategies: unknown strategy "oter"; did you mean "outer"? '
        'Valid: eager, outer, inner, both; another one needs Strategy("oter", build)',
    ]


def test_strategies_of_the_users_are_known_by_name() -> None:
    remat = Strategy("remat", first)
    layers = [
        own(strategies=["outer", remat], budgets={"remat": {"run": "5 ms"}}, faster_than={"remat": {"outer": 1.1}})
    ]

    spec = merge(layers)

    assert spec.strategies == ("outer", remat)
    assert spec.budgets.of("remat") == {"run": 0.005}
    assert expansion(layers) == (("outer", "remat"), (), None)


def test_registered_strategies_are_named_by_a_string() -> None:
    filter_jit = Strategy("filter_jit", first)

    assert merge([own(strategies=["filter_jit"])], registered=[filter_jit]).strategies == (filter_jit,)
    assert mistakes(own(strategies=["filter_jt"]), registered=[filter_jit]) == [
        'jitperf marker: strategies: unknown strategy "filter_jt"; did you mean "filter_jit"? '
        'Valid: eager, outer, inner, both, filter_jit; another one needs Strategy("filter_jt", build)'
    ]


def test_test_is_expanded_even_if_other_keys_are_wrong() -> None:
    layers = [own(strategies=["outer", "eager"], devices=["cpu", "gpu:1"], run=5, startegies=["x"])]

    assert expansion(layers) == (("outer", "eager"), ("cpu", "gpu:1"), None)


@pytest.mark.parametrize(
    ("kwargs", "line"),
    [
        ({"strategies": "outer"}, 'jitperf marker: strategies="outer" is not a list; write strategies=["outer"]'),
        ({"devices": "cpu"}, 'jitperf marker: devices="cpu" is not a list; write devices=["cpu"]'),
    ],
)
def test_test_that_cannot_be_expanded_tells_all_mistakes(kwargs: dict[str, object], line: str) -> None:
    assert expansion([own(**kwargs, run=5)]) == (
        (),
        (),
        f'{line}\njitperf marker: run=5 has no unit; write "5 s" or "5 ms"',
    )


def test_mistake_that_a_marker_further_in_overrides_leaves_the_items() -> None:
    layers = [inherited(strategies="outer"), own(strategies=["eager"])]

    assert expansion(layers) == (("eager",), (), None)
    assert mistakes(*layers) == [
        'jitperf marker (module): strategies="outer" is not a list; write strategies=["outer"]'
    ]


@pytest.mark.parametrize(
    ("kwargs", "fallback", "expected"),
    [
        ({}, ["outer"], ("outer",)),
        ({}, ["inner", "outer"], ("outer",)),
        ({}, ["inner", "both"], ("eager", "outer")),
        ({}, ["unheard_of"], ("eager", "outer")),
        ({}, ["filter_jit"], ("filter_jit",)),
        ({"inner": [first]}, ["both", "eager"], ("both", "eager")),
        ({"strategies": ["eager"]}, ["outer"], ("eager",)),
        ({"strategies": None}, ["outer"], ("outer",)),
    ],
)
def test_strategies_of_an_option_where_no_marker_names_any(
    kwargs: dict[str, object], fallback: list[str], expected: tuple[str, ...]
) -> None:
    registered = [Strategy("filter_jit", first)]

    assert expansion([own(**kwargs)], fallback_strategies=fallback, registered=registered).strategies == expected


def test_option_that_leaves_a_strategy_out_makes_no_mistake_of_the_marker() -> None:
    layer = own(budgets={"eager": {"run": "5 ms"}}, faster_than={"outer": {"eager": 2}})

    assert merge([layer], fallback_strategies=["outer"]).strategies == ("outer",)
    assert mistakes(own(budgets={"inner": {"run": "5 ms"}}), fallback_strategies=["outer"]) == [
        'jitperf marker: budgets: "inner" is not a strategy of this test, which has outer and eager'
    ]


@pytest.mark.parametrize(
    ("devices", "expected"), [([], ("gpu",)), (["cpu"], ("cpu",))], ids=["no marker names any", "a marker does"]
)
def test_devices_of_an_option_where_no_marker_names_any(devices: list[str], expected: tuple[str, ...]) -> None:
    layer = own(devices=devices) if devices else own()

    assert merge([layer], fallback_devices=["gpu"]).devices == expected
    assert expansion([layer], fallback_devices=["gpu"]).devices == expected


@pytest.mark.parametrize("scope", ["own", "inherited"])
def test_unknown_strategy_is_a_mistake_wherever_it_stands(scope: Literal["own", "inherited"]) -> None:
    layer = parse_marker((), {"budgets": {"oter": None}, "faster_than": {"outer": {"egaer": None}}}, scope=scope)

    assert mistakes(layer) == [
        'jitperf marker: faster_than: unknown strategy "egaer"; did you mean "eager"? Valid: eager, outer, inner, both',
        'jitperf marker: budgets: unknown strategy "oter"; did you mean "outer"? Valid: eager, outer, inner, both',
    ]
