"""How the quality bench reads, keeps and counts decisions."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from peer import as_benchmarks
from playing import PlayError, read_case
from projects import base_files
from scenarios import SCENARIOS
from tally import Decision, append, load, peer_table, table, verdict_on, wrong_decisions

ABOUT = partial(Decision, tool="jitperf", scenario="run+20", variant="steps", machine="quiet")
PASSED = ABOUT(subject="mlp", strategy="outer", outcome="ok", failed=False)
FAILED = replace(PASSED, outcome="REGRESSED", failed=True, fired=("run",), said="run regressed: x1.20")
BY_KEY = {each.key: each for each in SCENARIOS}

CASE = """
<testcase classname="test_mlp" name="test_mlp[outer]" time="1.5"><properties>
<property name="jitperf.main.run" value="0.1" />
<property name="jitperf.main.outcome" value="REGRESSED" />
<property name="jitperf.main.compare_seconds" value="0.25" />
</properties><failure message="helper f: run regressed: 1 us">helper f: run regressed: 1 us -&gt; 2 us, x2.00
  strategy outer, device cpu; __jitperf__/test_mlp.json, test_mlp / outer / cpu
  also  compile regressed: 40 ms -&gt; 60 ms
  why   the program changed
test_mlp.py:5: Regressed</failure></testcase>
"""


def test_a_test_case_is_read_with_all_that_has_fired() -> None:
    assert read_case(ElementTree.fromstring(CASE), ABOUT) == ABOUT(
        subject="mlp",
        strategy="outer",
        outcome="REGRESSED",
        failed=True,
        fired=("run", "compile"),
        said="helper f: run regressed: 1 us -> 2 us, x2.00",
        seconds=1.5,
        compare_seconds=0.25,
    )


def test_an_item_that_broke_is_an_error_and_a_parameter_belongs_to_the_subject() -> None:
    case = '<testcase name="test_reduced[64-both]" time="0.1"><error message="NameError: x">f = 1</error></testcase>'

    assert read_case(ElementTree.fromstring(case), ABOUT) == ABOUT(
        subject="reduced-64", strategy="both", outcome="error", failed=True, said="NameError: x", seconds=0.1
    )
    with pytest.raises(PlayError, match="no item of this bench: 'test_mlp'"):
        read_case(ElementTree.fromstring('<testcase name="test_mlp" />'), ABOUT)


@pytest.mark.parametrize(
    ("scenario", "decision", "expected"),
    [
        ("identical", PASSED, "right"),
        ("identical", replace(PASSED, outcome="ok (same program)"), "right"),
        ("identical", replace(PASSED, outcome="improved"), "wrong"),
        ("identical", replace(PASSED, outcome="inconclusive"), "undecided"),
        ("identical", FAILED, "wrong"),
        ("run+20", FAILED, "right"),
        ("run+20", replace(FAILED, fired=("compile",)), "wrong"),
        ("run+20", replace(FAILED, fired=("compile", "run")), "right"),
        ("run+20", PASSED, "wrong"),
        ("run+20", replace(PASSED, outcome="improved"), "wrong"),
        ("run+20", replace(PASSED, outcome="not gated"), "undecided"),
        ("run+2-tight", FAILED, "right"),
    ],
)
def test_a_verdict_is_right_undecided_or_wrong(scenario: str, decision: Decision, expected: str) -> None:
    assert verdict_on(decision, BY_KEY[scenario]) == expected


def test_decisions_are_kept_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    assert load(path) == []

    append(path, [PASSED])
    append(path, [FAILED])

    assert load(path) == [PASSED, FAILED]


def test_the_tables_count_and_name_what_was_wrong() -> None:
    loaded = replace(FAILED, machine="loaded", compare_seconds=1.0)
    undecided = replace(loaded, outcome="inconclusive", failed=False, fired=(), said="", compare_seconds=3.0)
    peer = replace(PASSED, tool="pytest-benchmark")
    decisions = [undecided, PASSED, FAILED, FAILED, FAILED, loaded, peer, replace(peer, failed=True)]

    assert wrong_decisions(decisions) == ["run+20 (steps), quiet: mlp[outer] ok"]
    assert [" ".join(line.split()) for line in table(decisions).splitlines()[1:]] == [
        "more work in run 10 % +20 % quiet 4 3 75.0 % 0 1 0.00 0.00",
        "more work in run 10 % +20 % loaded 2 1 50.0 % 1 0 2.00 3.00",
    ]
    assert [" ".join(line.split()) for line in peer_table(decisions).splitlines()[1:]] == [
        "more work in run min:10% +20 % quiet 2 50.0 % 4 75.0 %"
    ]


def test_a_full_table_fits_100_columns() -> None:
    decisions = [
        replace(PASSED, tool=tool, scenario=each.key, machine=machine, compare_seconds=12.3)
        for each in SCENARIOS
        for machine in ("quiet", "loaded")
        for tool in ("jitperf", "pytest-benchmark")
        for _ in range(200)
    ]

    tables = table(decisions).splitlines() + peer_table(decisions).splitlines()

    assert len(tables) >= 2 * len(SCENARIOS)
    assert max(map(len, tables)) <= 100


def test_the_same_programs_are_played_under_the_other_tool() -> None:
    files = base_files("subjects")
    files["test_mlp.py"] = ""

    others = as_benchmarks(files)

    assert others["chain.py"] == files["chain.py"]
    assert "jax.jit(subject.settle)" in others["test_chain.py"]
    assert "test_mlp.py" not in others
