"""What the quality bench plays: edits that leave the work as it is, and planted work of a known size."""

from __future__ import annotations

import ast
import re

import pytest

from edits import HARMLESS, equal_speed, replaced
from projects import base_files
from scenarios import SCENARIOS, Scenario, changed_files
from subjects import SUBJECTS, Subject

CHANGES = [(scenario, name) for scenario in SCENARIOS for name in scenario.changes]


def programs(files: dict[str, str]) -> set[str]:
    return {name for name, text in files.items() if name.startswith("test_") and text}


@pytest.mark.parametrize(("scenario", "name"), CHANGES, ids=[f"{each.key}-{name}" for each, name in CHANGES])
def test_every_change_is_python_and_changes_each_program_that_is_still_programs(scenario: Scenario, name: str) -> None:
    before, after = base_files(scenario.base), changed_files(scenario, name)

    for text in after.values():
        ast.parse(text)
    changed = {file for file in before if before[file] != after[file]}
    shared = {"beside.py", "blocks.py"} & changed
    left = {test for test in programs(after) if not {test, test.removeprefix("test_")} & changed}
    assert left == (programs(after) if shared or scenario.key == "identical" else set())


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_a_harmless_edit_leaves_the_steps_alone(subject: Subject, name: str) -> None:
    source, test = HARMLESS[name](subject, subject.source, "TEST")

    assert source != subject.source
    assert re.findall(r"^STEPS = (\d+)$", source, re.MULTILINE) == [str(subject.steps)]
    assert test == "TEST"


def test_steps_grow_by_exactly_the_share_that_a_row_names() -> None:
    for scenario in SCENARIOS:
        if scenario.metrics != {"run"}:
            continue
        percent = int(scenario.true.strip("+ %"))
        files = changed_files(scenario, "steps")
        for subject in SUBJECTS:
            if files[f"test_{subject.name}.py"]:
                assert f"STEPS = {subject.steps * (100 + percent) // 100}\n" in files[f"{subject.name}.py"]
                assert subject.steps * percent % 100 == 0


def test_an_edit_of_equal_speed_changes_one_number_for_another() -> None:
    numbers = re.compile(r"[\d.]+")
    for subject in SUBJECTS:
        source, _ = equal_speed(subject, subject.source, "")
        assert numbers.sub("0", source) == numbers.sub("0", subject.source)
        changed = [a != b for a, b in zip(numbers.findall(source), numbers.findall(subject.source), strict=True)]
        assert sum(changed) == subject.source.count(subject.equal[0])


def test_a_text_that_is_not_there_is_not_replaced_in_silence() -> None:
    with pytest.raises(ValueError, match="'b' is not in the text"):
        replaced("a", "b", "c")
