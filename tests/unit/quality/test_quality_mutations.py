"""The check of the tests that guard judging and storing: a fault that none notices is told, and so is a stale one."""

from __future__ import annotations

from pathlib import Path

import pytest

import mutations
from faults import FAULTS, GUARDS, Fault
from mutations import Noticed, broken, noticed

FAULT = Fault("judge/x.py", "flipped", "a < b", "a > b", ("test_x",))


@pytest.fixture(name="copy")
def copy_of_a_package(tmp_path: Path) -> Path:
    (tmp_path / "pytest_jitperf" / "judge").mkdir(parents=True)
    (tmp_path / "pytest_jitperf" / "judge" / "x.py").write_text("return a < b\n")
    return tmp_path


@pytest.mark.parametrize(
    ("code", "output", "by", "wrong"),
    [
        (1, "F\nFAILED tests/unit/test_x.py::test_a[64-outer] - assert 1 == 2\n", "test_x::test_a", ""),
        (1, "FAILED tests/unit/quality/test_x.py::test_a\n", "test_x::test_a", ""),
        (0, "3 passed", "", ""),
        (2, "ERROR tests/unit/test_x.py - SyntaxError\n", "", "the tests did not run (pytest ended with 2)"),
        (1, "", "", "the tests did not run (pytest ended with 1)"),
    ],
)
def test_a_fault_is_put_in_told_and_taken_out(
    copy: Path, monkeypatch: pytest.MonkeyPatch, code: int, output: str, by: str, wrong: str
) -> None:
    seen = []

    def run(folder: Path, tests: tuple[str, ...]) -> tuple[int, str]:
        seen.append(((folder / "pytest_jitperf" / "judge" / "x.py").read_text(), tests))
        return code, output

    monkeypatch.setattr(mutations, "run_tests", run)

    assert noticed(copy, FAULT) == Noticed(FAULT, by=by, wrong=wrong)
    assert seen == [("return a > b\n", ("test_x",))]
    assert (copy / "pytest_jitperf" / "judge" / "x.py").read_text() == "return a < b\n"


@pytest.mark.parametrize("text", ["return a <= b\n", "return a < b < a < b\n"])
def test_a_fault_whose_text_is_not_there_once_is_told(copy: Path, text: str) -> None:
    (copy / "pytest_jitperf" / "judge" / "x.py").write_text(text)

    assert broken(text, FAULT) is None
    assert noticed(copy, FAULT) == Noticed(FAULT, wrong="the text to replace is not there once")


def test_each_fault_is_another_one_of_a_module_that_is_guarded() -> None:
    assert len({(each.file, each.what) for each in FAULTS}) == len(FAULTS)
    assert {each.file for each in FAULTS} == GUARDS.keys()
