"""The guide of a run, whole: on the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from pytest_jitperf.report.guidebook import markdown, pages, printed
from pytest_jitperf.row import Row

MakeRow = Callable[..., Row]


def dedented(text: str) -> str:
    return dedent(text).strip("\n") + "\n"


@pytest.fixture(name="rows")
def rows_of_two_tests(row: MakeRow) -> list[Row]:
    return [
        row(test="test_a[`x|y`]", strategy="eager", compile=0.096, run=0.000912, launches=64),
        row(test="test_a[`x|y`]", strategy="outer"),
        row(test="test_b", strategy="eager", compile=0.59, run=98e-3, launches=2_100, expected_calls=400),
        row(test="test_b", strategy="outer", compile=2.14, run=1.3e-3, optimised="p", expected_calls=400),
        row(test="test_b", strategy="inner", compile=0.19, run=4.3e-3, launches=300, expected_calls=400),
        row(test="test_b", strategy="both", compile=1.55, run=1.3e-3, optimised="p", expected_calls=400),
        row(test="test_c"),
    ]


INTRODUCTION = """
    Most to gain first: what the cheapest strategy saves against outer, which keeps
    a function's own jit if it has one (where outer was not measured, against the
    first strategy after eager), over the calls that expected_calls= names, else
    over 1,000. What is compiled is compiled once. All numbers are of this run.
    """


def test_most_to_gain_comes_first_with_costs_choice_and_facts(rows: list[Row]) -> None:
    text = """
        tests/test_step.py::test_b
          gain   750 ms of 2.66 s over 400 calls, with inner instead of outer
          guide  inner up to 450 +-50 calls, from there both; eager and outer never
                 for 400 calls: inner, 1.9 s in all (both 2.1 s, outer 2.7 s, eager 40
                 s)
                   compile     run    launches    400 calls
          eager     590 ms   98 ms       2,100       39.8 s
          outer     2.14 s  1.3 ms           1       2.66 s
          inner     190 ms  4.3 ms         300       1.91 s
          both      1.55 s  1.3 ms           1       2.07 s
          - both and outer are the same optimised program: no call of a jitted helper is
            left in it, so the two run alike
          - inner launches 300 programs in each call, eager 2,100, both 1: under an
            outer jit no helper is dispatched
          - inner is right here up to 450 +-50 calls: it starts 2 s sooner than outer;
            its helpers are compiled once for each shape and used again

        tests/test_step.py::test_a[`x|y`]
          gain   nothing over 1,000 calls: outer is the cheapest
          guide  outer from the first call (eager starts 55 ms later)
                 for 1,000 calls: outer, 408 ms in all (eager 1 s)
                   compile     run    launches    1,000 calls
          eager      96 ms  912 us          64         1.01 s
          outer      41 ms  367 us           1         408 ms
        """
    assert printed(rows) == [*dedented(INTRODUCTION).splitlines(), "", *dedented(text).splitlines()]


def test_the_same_as_markdown(rows: list[Row]) -> None:
    introduction = " ".join(INTRODUCTION.split())
    rest = """
        ## `tests/test_step.py::test_b`

        **inner up to 450 +-50 calls, from there both; eager and outer never**

        for 400 calls: inner, 1.9 s in all (both 2.1 s, outer 2.7 s, eager 40 s); to gain: 750 ms of 2.66 s over 400 calls, with inner instead of outer

        |  | compile | run | launches | 400 calls |
        | --- | ---: | ---: | ---: | ---: |
        | eager | 590 ms | 98 ms | 2,100 | 39.8 s |
        | outer | 2.14 s | 1.3 ms | 1 | 2.66 s |
        | inner | 190 ms | 4.3 ms | 300 | 1.91 s |
        | both | 1.55 s | 1.3 ms | 1 | 2.07 s |

        - both and outer are the same optimised program: no call of a jitted helper is left in it, so the two run alike
        - inner launches 300 programs in each call, eager 2,100, both 1: under an outer jit no helper is dispatched
        - inner is right here up to 450 +-50 calls: it starts 2 s sooner than outer; its helpers are compiled once for each shape and used again

        ## ``tests/test_step.py::test_a[`x|y`]``

        **outer from the first call (eager starts 55 ms later)**

        for 1,000 calls: outer, 408 ms in all (eager 1 s); to gain: nothing over 1,000 calls: outer is the cheapest

        |  | compile | run | launches | 1,000 calls |
        | --- | ---: | ---: | ---: | ---: |
        | eager | 96 ms | 912 us | 64 | 1.01 s |
        | outer | 41 ms | 367 us | 1 | 408 ms |
        """  # noqa: E501  (a paragraph of Markdown is one line)
    assert markdown(rows) == f"# Where to put the jit\n\n{introduction}\n\n{dedented(rest)}"


def test_a_gain_that_cannot_be_told_is_not_promised(row: MakeRow) -> None:
    rows = [row(strategy="eager", compile=0.1, run=1e-3), row(strategy="outer", compile=0.1, run=1e-3)]
    assert [page.gain for page in pages(rows)] == [
        "nothing that can be told over 1,000 calls: eager and outer are alike within noise"
    ]


def test_devices_have_pages_of_their_own(row: MakeRow) -> None:
    rows = [row(strategy=name, device=device) for name in ("eager", "outer") for device in ("gpu:0", "gpu:1")]
    titles = [page.title for page in pages(rows)]
    assert titles == ["tests/test_step.py::test_step on gpu:0", "tests/test_step.py::test_step on gpu:1"]


def test_where_there_is_no_choice_that_is_said(row: MakeRow) -> None:
    sentence = "No test was measured under two strategies, so there is nothing to choose from."
    assert printed([row()]) == [sentence]
    assert markdown([row()]) == f"# Where to put the jit\n\n{sentence}\n"


def test_what_the_table_shows_adds_up_and_no_cheaper_row_is_denied(row: MakeRow) -> None:
    (found,) = pages(
        [
            row(strategy="outer", compile=0.0525, run=25e-6, optimised="p"),
            row(strategy="both", compile=0.0515, run=41e-6, optimised="p"),
        ]
    )
    assert found.table == (
        ("outer", "52.5 ms", "33 us", "1", "85.5 ms"),
        ("both", "51.5 ms", "33 us", "1", "84.5 ms"),
    )
    assert found.gain == "nothing that can be told over 1,000 calls: outer and both are alike within noise"
