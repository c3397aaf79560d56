"""A command in a message works where it is pasted."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import pytest


def test_the_accept_command_works_in_a_sibling_folder(project: Any, slower: str) -> None:
    project.record()
    project.write_library(slower)
    folder = project.pytester.mkdir("elsewhere")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        failed = project.pytester.run(sys.executable, "-m", "pytest", "../test_g.py", "--rootdir", "..")
        printed = next(line for line in failed.outlines if "accept it with" in line)
        _, *arguments = shlex.split(printed.split("accept it with")[1])
        accepted = project.pytester.run(sys.executable, "-m", "pytest", *arguments)

    assert arguments[0].startswith("../test_g.py::")
    accepted.assert_outcomes(passed=1)
