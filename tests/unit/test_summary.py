"""The summary of a run in Markdown, annotations and the code-quality report, whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Ratio
from pytest_jitperf.report.annotations import error_commands
from pytest_jitperf.report.codequality import code_quality
from pytest_jitperf.report.markdown import summary
from pytest_jitperf.report.markup import code, fenced, prose
from pytest_jitperf.report.standing import Standing, standing
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status

MakeRow = Callable[..., Row]
ID = "test_step[a|b`<i>%\n]"


def regressed(ratio: Ratio) -> dict[str, Any]:
    """What a row has whose run time regressed."""
    finding = Finding(
        outcome=Outcome.REGRESSED,
        sentence="run regressed: x1.22 (x1.20 ... x1.24), allowed x1.05",
        metric="run",
        ratio=ratio,
        rule="tolerance run=5 % (marker)",
        short="run x1.22 (x1.20 ... x1.24)",
    )
    return {
        "test": ID,
        "line": 7,
        "outcome": "REGRESSED",
        "effect": "fail",
        "failed": True,
        "status": "failed",
        "gated_by": "race",
        "note": finding.short,
        "findings": (finding,),
        "why": ("flops x2, `a|b`", "more", "most"),
        "failure": 'run regressed\n  accept it with   pytest "t.py::test_step" --jitperf-update',
    }


@pytest.fixture(name="rows")
def rows_of_three_tests(row: MakeRow, ratio: Callable[..., Ratio]) -> list[Row]:
    new = Finding(outcome=Outcome.NEW, sentence="no baseline yet")
    return [
        row(test=ID, strategy="eager", outcome="reference"),
        row(**regressed(ratio(1.22, 1.20, 1.24, confirmed=True))),
        row(test="test_new", outcome="new", effect="warn", findings=(new,), line=3),
        row(test="test_same", outcome="ok (same program)", gated_by="same program"),
    ]


SUMMARY = r"""
## jitperf: 1 failed, 1 without a measurement, 1 unsettled

**4 measured, 2 gated (1 same program, 1 raced), 1 reference, 1 without a baseline, 1 failed, 2 not measured (skipped or failed before).** On cpu, jax 0.10.2.

#### ``tests/test_step.py::test_step[a|b`<i>%\n]``

`outer` **REGRESSED**: run regressed: x1.22 (x1.20 ... x1.24), allowed x1.05

- why: flops x2, \`a\|b\`
- why: more
- why: most
- rule: tolerance run=5 % (marker)

Accept it with

```sh
pytest "t.py::test_step" --jitperf-update
```

| strategy   |   compile |    run |   launches |   run against the baseline | outcome   |
|:-----------|----------:|-------:|-----------:|---------------------------:|:----------|
| eager      |     41 ms | 367 us |          1 |                            | reference |
| outer      |     41 ms | 367 us |          1 |    x1.22 (x1.20 ... x1.24) | REGRESSED |

### Not measured

- `t.py::test_lost` error

### Unsettled

#### `tests/test_step.py::test_new`

`outer` **new**: no baseline yet

| strategy   |   compile |    run |   launches | outcome   |
|:-----------|----------:|-------:|-----------:|:----------|
| outer      |     41 ms | 367 us |          1 | new       |

<details>
<summary>1 test is fine</summary>

#### `tests/test_step.py::test_same`

| strategy   |   compile |    run |   launches | outcome           |
|:-----------|----------:|-------:|-----------:|:------------------|
| outer      |     41 ms | 367 us |          1 | ok (same program) |

</details>
"""  # noqa: E501  (a paragraph of Markdown is one line)
UNMEASURED = {"t.py::test_lost": Status.ERROR, "t.py::test_skipped": Status.SKIPPED}


def test_what_needs_attention_comes_first_and_what_is_fine_is_folded(rows: list[Row]) -> None:
    assert summary(rows, UNMEASURED) == SUMMARY.lstrip("\n")


def test_what_does_not_fit_is_left_out_from_the_end_and_counted(rows: list[Row]) -> None:
    whole = summary(rows, UNMEASURED)
    assert summary(rows, UNMEASURED, most_bytes=len(whole)) == whole
    cut = summary(rows, UNMEASURED, most_bytes=len(whole) - 1)
    kept = whole.partition("### Unsettled")[0]
    room = f"since there is room for {len(whole) - 1:,} bytes only"
    assert cut == f"{kept}Tests left out, {room}: 1 unsettled, 1 fine. The log has them all.\n"
    assert summary(rows, UNMEASURED, most_bytes=100) == ""


def test_a_run_in_which_all_is_well_says_so(row: MakeRow) -> None:
    assert summary([row(gated_by="race")], {}).startswith("## jitperf: passed\n\n**1 measured, 1 gated (1 raced), ")
    assert summary([row()], {}, update=True).startswith("## jitperf: recorded\n\n**1 measured.** On cpu, ")


def test_a_failure_is_a_workflow_command_with_everything_escaped(rows: list[Row]) -> None:
    assert error_commands(rows, "lib,a") == [
        "::error file=lib%2Ca/tests/test_step.py,line=7,"
        "title=REGRESSED%3A tests/test_step.py%3A%3Atest_step[a|b`<i>%25\\n] under outer::"
        "run regressed: x1.22 (x1.20 ... x1.24), allowed x1.05%0Awhy: flops x2, `a|b`%0Awhy: more%0A"
        'rule: tolerance run=5 %25 (marker)%0Aaccept it with: pytest "t.py::test_step" --jitperf-update'
    ]


def test_a_file_outside_of_the_checkout_is_not_pointed_at(rows: list[Row]) -> None:
    [command] = error_commands(rows, "..")
    assert command.startswith("::error title=REGRESSED%3A ")


@pytest.mark.parametrize(("count", "more"), [(10, ""), (11, "(1 more failure: "), (13, "(3 more failures: ")])
def test_ten_are_annotated_at_most(row: MakeRow, ratio: Callable[..., Ratio], count: int, more: str) -> None:
    failing = regressed(ratio(1.22, 1.20, 1.24))
    found = error_commands([row(**{**failing, "test": f"test_{n}"}) for n in range(count)])
    assert len(found) == 10
    last = found[-1].rpartition("%0A")[2]
    assert last.startswith(more or "accept it with")
    assert not any("more failure" in each for each in found[:-1])


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"effect": "fail", "status": "failed"}, Standing.FAILED),
        ({"effect": "fail", "status": "error"}, Standing.FAILED),
        ({"effect": "fail", "status": "xfailed"}, Standing.UNSETTLED),
        ({"effect": "fail", "status": "skipped"}, Standing.UNSETTLED),
        ({"effect": "warn", "status": "passed"}, Standing.UNSETTLED),
        ({"effect": "skip", "status": "skipped"}, Standing.UNSETTLED),
        ({"effect": "pass", "status": "failed"}, Standing.UNSETTLED),
        ({"effect": "pass", "status": "passed"}, Standing.FINE),
    ],
)
def test_how_a_row_stands_hangs_on_its_verdict_and_on_the_end_of_its_test(
    row: MakeRow, changes: dict[str, str], expected: Standing
) -> None:
    found = row(**changes)
    assert standing(found) is expected
    assert bool(error_commands([found])) == (expected is Standing.FAILED)


def test_the_code_quality_report_has_what_failed_and_what_is_open(rows: list[Row]) -> None:
    found = json.loads(code_quality(rows, "lib"))
    prints = [each.pop("fingerprint") for each in found]
    assert found == [
        {
            "description": "tests/test_step.py::test_new under outer: no baseline yet",
            "check_name": "jitperf.new",
            "severity": "info",
            "location": {"path": "lib/tests/test_step.py", "lines": {"begin": 3}},
        },
        {
            "description": "tests/test_step.py::test_step[a|b`<i>%\\n] under outer: "
            "run regressed: x1.22 (x1.20 ... x1.24), allowed x1.05",
            "check_name": "jitperf.regressed",
            "severity": "major",
            "location": {"path": "lib/tests/test_step.py", "lines": {"begin": 7}},
        },
    ]
    assert len(set(prints)) == 2
    assert all(len(each) == 64 for each in prints)


def test_an_issue_is_known_again_whatever_was_measured_and_wherever_its_marker_stands(
    row: MakeRow, ratio: Callable[..., Ratio]
) -> None:
    def fingerprint(**changes: Any) -> str:
        [issue] = json.loads(code_quality([row(**{**regressed(ratio(1.22, 1.20, 1.24)), **changes})]))
        return str(issue["fingerprint"])

    assert fingerprint() == fingerprint(line=99, run=1.0, why=())
    assert len({fingerprint(), fingerprint(strategy="both"), fingerprint(test="other"), fingerprint(file="a.py")}) == 4


def test_an_expected_failure_is_no_issue(row: MakeRow, ratio: Callable[..., Ratio]) -> None:
    expected = row(**{**regressed(ratio(1.22, 1.20, 1.24)), "status": "xfailed"})
    open_one = row(outcome="new", effect="warn", status="xfailed")
    assert code_quality([expected, open_one]) == "[]\n"


def test_any_text_is_shown_as_it_is() -> None:
    assert prose("a_b _c_ *d* [e](f) <g> & h|i ~j~ $k$ \\l `m` f32[8] -> x\ny") == (
        "a_b \\_c\\_ \\*d\\* \\[e](f) &lt;g> &amp; h\\|i \\~j\\~ \\$k\\$ \\\\l \\`m\\` f32\\[8] -> x\\\\ny"
    )
    assert (code("a`b``c"), code("`"), code("a\nb")) == ("```a`b``c```", "`` ` ``", "`a\\nb`")
    assert fenced("a```b", "sh") == "````sh\na```b\n````"
