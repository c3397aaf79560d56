"""No home directory, an ASCII locale, folders with spaces and other letters: everything is written and read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = """
import jax.numpy as jnp
import pytest

@pytest.mark.jitperf(strategies=["outer"])
@pytest.mark.parametrize("n", [pytest.param(2, id="größe 🙂"), pytest.param(3, id="\\udc80")])
def test_f(jitperf, n):
    jitperf(lambda x: x * n, jnp.ones(8))
"""

# What later versions of Python do by themselves is switched off, so that open() and stdout are ASCII.
ASCII = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "PYTHONIOENCODING")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**environment, **ASCII},
        capture_output=True,
        check=False,
    )


def test_without_a_home_and_under_an_ascii_locale(pytester: pytest.Pytester) -> None:
    """JAX itself reads no source there whose path has other letters."""
    folder = pytester.path / "with space"
    folder.mkdir()
    (folder / "test_a.py").write_text(TESTS, encoding="utf-8")
    files = ["json", "summary", "html", "guide-file", "codequality"]

    recorded = run(folder, "--jitperf-update")
    gated = run(folder, *(f"--jitperf-{each}=report ß.{each}" for each in files))

    assert (recorded.returncode, gated.returncode) == (0, 0), (recorded.stdout, gated.stdout, gated.stderr)
    assert b"2 measured, 2 gated (2 same program), 0 without a baseline" in gated.stdout
    assert b"Traceback" not in gated.stdout + gated.stderr
    document: Any = json.loads((folder / "__jitperf__" / "test_a.json").read_bytes().decode("utf-8"))
    assert list(document["tests"]) == ["test_f[\\udc80]", "test_f[gr\\xf6\\xdfe \\U0001f642]"]
    contents = {each: (folder / f"report ß.{each}").read_bytes().decode("utf-8") for each in files}
    assert all(contents.values())
    assert str(pytester.path) not in "".join(contents.values())


def test_in_a_folder_with_spaces_and_other_letters(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project.pytester.path / "with space 🙂" / "ü"
    folder.mkdir(parents=True)
    (folder / "test_é.py").write_text(TESTS, encoding="utf-8")
    monkeypatch.chdir(folder)

    project.quick_run("--jitperf-update").assert_outcomes(passed=2)
    result = project.quick_run("--jitperf-json=ß.json")

    result.stdout.fnmatch_lines(["2 measured, 2 gated (2 same program), 0 without a baseline"])
    assert [each.name for each in sorted((folder / "__jitperf__").iterdir())] == ["programs", "test_é.json"]
    rows = json.loads((folder / "ß.json").read_bytes())["measurements"]
    assert {row["baseline"] for row in rows} == {"with space 🙂/ü/__jitperf__/test_é.json"}
