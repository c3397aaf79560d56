"""Updates that are killed at some of the places at which ``tests/quality/crashes.py`` kills them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from pytest_jitperf.baseline import atomic

if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

from crashes import SITUATIONS, Found, cut_short, kill_everywhere, together


@pytest.fixture(autouse=True)
def _locks_of_tests_lie_among_the_temporary_files_of_tests(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.getbasetemp()))


@pytest.mark.parametrize("situation", SITUATIONS)
def test_between_two_calls_to_the_system_nothing_is_half_done(tmp_path: Path, situation: str) -> None:
    found = kill_everywhere(situation, tmp_path, step=9 if situation == "entry and program changed" else 41)

    assert found.faults == []
    assert found.kills >= 5


def test_a_write_that_is_cut_short_leaves_the_old_file(tmp_path: Path) -> None:
    found = cut_short("entry and program changed", tmp_path, step=199)

    assert found.faults == []
    assert found.kills >= 3


def test_eight_processes_of_which_some_are_killed_lose_nothing_that_they_said_was_written(tmp_path: Path) -> None:
    found = together(tmp_path, seed=1)

    assert found.faults == []
    assert found.kills >= 1


def test_these_checks_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_place(path: Path, content: bytes) -> None:
        with path.open("wb") as file:
            file.write(content)

    monkeypatch.setattr(atomic, "write", in_place)
    found: Found = kill_everywhere("entry and program changed", tmp_path, step=7, first=200)
    found.faults += cut_short("entry and program changed", tmp_path / "cut", step=199).faults

    assert any("neither the old file nor the new one" in each for each in found.faults)
    assert any("cut after" in each for each in found.faults)
