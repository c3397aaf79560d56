"""Which rows stand together in reports, and under which title."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_jitperf.measurement import Environment
from pytest_jitperf.report.grouping import groups
from pytest_jitperf.row import Row

MakeRow = Callable[..., Row]


def titles(*rows: Row) -> list[tuple[str, list[str]]]:
    return [(group.title, [row.strategy for row in group.rows]) for group in groups(rows)]


def test_legs_of_a_matrix_stand_apart_each_under_its_versions(row: MakeRow, environment: Environment) -> None:
    newer = replace(environment, python="3.12", jax="0.12.0")
    rows = [row(strategy=name, environment=each) for each in (newer, environment) for name in ("outer", "eager")]
    assert titles(*rows) == [
        ("tests/test_step.py::test_step  (Python 3.11, jax 0.10.2)", ["eager", "outer"]),
        ("tests/test_step.py::test_step  (Python 3.12, jax 0.12.0)", ["eager", "outer"]),
    ]
    assert titles(*rows[:2]) == [("tests/test_step.py::test_step", ["eager", "outer"])]


def test_devices_of_other_kinds_and_other_versions_are_both_told(row: MakeRow, environment: Environment) -> None:
    newer = replace(environment, jax="0.12.0")
    assert [title for title, _ in titles(row(environment=newer, device_kind="H200"), row(environment=environment))] == [
        "tests/test_step.py::test_step  (H200, Python 3.11, jax 0.12.0)",
        "tests/test_step.py::test_step  (cpu, Python 3.11, jax 0.10.2)",
    ]


def test_a_row_names_the_strategy_whose_program_it_shares(row: MakeRow) -> None:
    rows = [row(optimised="p"), row(strategy="both", optimised="p", note="as before", notes=("it was jitted",))]
    (group,) = groups(rows)
    assert [group.notes_on(each) for each in group.rows] == [
        [],
        ["as before", "same program as outer", "it was jitted"],
    ]
