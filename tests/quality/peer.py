"""The same subjects under pytest-benchmark: stored times, and a limit on how much the least of them may grow."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from playing import Make, PlayError, run_pytest, write_project
from subjects import SUBJECTS
from tally import Decision

_TEST = """
import jax
import {name} as subject

def test_{name}(benchmark):
    args = subject.example()
    call = jax.jit(subject.{main})
    jax.block_until_ready(call(*args))
    benchmark(lambda: jax.block_until_ready(call(*args)))
"""

_ALONE = ("-p", "no:jitperf", "--benchmark-storage=file://stored", "--benchmark-columns=min")
_USAGE_ERROR = 4  # which it also ends with when something has become slower
_FIRED = re.compile(r"test_(\w+) \(\w+\) - (Field 'min' has failed .*)")


def as_benchmarks(files: Mapping[str, str]) -> dict[str, str]:
    """The same project with its tests written for pytest-benchmark."""
    tests = {
        f"test_{each.name}.py": _TEST.format(name=each.name, main=each.main)
        for each in SUBJECTS
        if files[f"test_{each.name}.py"]
    }
    return {**{name: text for name, text in files.items() if not name.startswith("test_")}, **tests}


def record_peer(folder: Path, files: Mapping[str, str]) -> None:
    """Writes a project and stores its times.

    Raises:
        PlayError: Not all of its tests passed.
    """
    write_project(folder, as_benchmarks(files))
    code, output = run_pytest(folder, *_ALONE, "--benchmark-save=base")
    if code:
        raise PlayError(f"times could not be stored\n{output[-4000:]}")


def gate_peer(base: Path, folder: Path, files: Mapping[str, str], percent: int, decision: Make) -> list[Decision]:
    """Compares a changed project with the stored times of another.

    Args:
        base: The project whose times were stored.
        folder: Where the changed one is put; removed afterwards.
        files: Its files, as this bench has them for the plugin.
        percent: By how much the least time may grow.
        decision: Makes a decision from what is known here.

    Returns:
        One decision per benchmark.

    Raises:
        PlayError: It was not compared.
    """
    tests = as_benchmarks(files)
    write_project(folder, tests)
    shutil.copytree(base / "stored", folder / "stored")
    try:
        limit = f"--benchmark-compare-fail=min:{percent}%"
        code, output = run_pytest(folder, *_ALONE, "--benchmark-compare", limit, ends=(0, 1, _USAGE_ERROR))
    finally:
        shutil.rmtree(folder)
    fired = dict(_FIRED.findall(output))
    if bool(code) != bool(fired) or "Comparing against benchmarks from" not in output:
        raise PlayError(f"nothing was compared\n{output[-4000:]}")
    names = [name.removeprefix("test_").removesuffix(".py") for name in tests if name.startswith("test_")]
    return [
        decision(
            subject=name,
            strategy="outer",
            outcome="slower" if name in fired else "ok",
            failed=name in fired,
            said=fired.get(name, ""),
        )
        for name in names
    ]
