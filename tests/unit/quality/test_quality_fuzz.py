"""Files that nobody thought of; a few of each kind, the same in every run. ``tests/quality/fuzz.py`` tries more."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

import fuzz

EXAMPLES = {"commands, any bytes": 10, "branches merged by git": 10}


@pytest.mark.parametrize("name", fuzz.PROPERTIES)
def test_whatever_is_in_a_file_is_refused_in_a_line_or_read_and_nothing_is_lost(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "git" in name and shutil.which("git") is None:
        pytest.skip("there is no git")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # for locks
    (tmp_path / "files").mkdir()
    examples = EXAMPLES.get(name, 25)

    words, faults, text = fuzz.tried(name, examples, 0, tmp_path / "files")

    assert (faults, text) == (0, "")
    assert words.total() >= examples
