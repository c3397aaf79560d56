"""Playing a project through pytest, in a fresh process, and reading what was decided."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

from tally import Decision

Make = Callable[..., Decision]
"""Makes a decision from those of its fields that a run tells."""

_INI = "[pytest]\npythonpath = .\n"


class PlayError(Exception):
    """A run of pytest did not end as one does."""


def write_project(folder: Path, files: Mapping[str, str]) -> None:
    """Writes a project; what is empty is not written."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"pytest.ini": _INI, **files}.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8")


def run_pytest(folder: Path, *options: str, ends: tuple[int, ...] = (0, 1)) -> tuple[int, str]:
    """One run in a fresh process.

    Args:
        folder: Of the project.
        options: For pytest.
        ends: Exit codes that are expected: of a run whose tests passed, and of one with failed tests.

    Returns:
        Exit code and output.

    Raises:
        PlayError: It ended otherwise.
    """
    scratch = folder / "tmp"  # also for the locks, so that nobody else on the machine is waited for
    scratch.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "JITPERF_"))}
    env = {**kept, "JAX_PLATFORMS": "cpu", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(scratch), "COLUMNS": "160"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *options]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    if done.returncode not in ends:
        raise PlayError(f"exit code {done.returncode} of {' '.join(command)}\n{output[-4000:]}")
    return done.returncode, output


def record(folder: Path, files: Mapping[str, str]) -> None:
    """Writes a project and records its baselines.

    Raises:
        PlayError: Not all of its tests passed.
    """
    write_project(folder, files)
    code, output = run_pytest(folder, "-p", "no:benchmark", "--jitperf-update-force")
    if code:
        raise PlayError(f"a baseline could not be recorded\n{output[-4000:]}")


def gate(
    base: Path, folder: Path, files: Mapping[str, str], options: tuple[str, ...], decision: Make
) -> list[Decision]:
    """Gates changed files against the baselines of a project.

    Args:
        base: The project that was recorded.
        folder: Where the changed one is put; removed afterwards.
        files: Its files.
        options: For pytest.
        decision: Makes a decision from what is known here.

    Returns:
        One decision per item.

    Raises:
        PlayError: Nothing was decided.
    """
    write_project(folder, files)
    shutil.copytree(base / "__jitperf__", folder / "__jitperf__")
    try:
        _, output = run_pytest(folder, "-p", "no:benchmark", "--junitxml=report.xml", *options)
        cases = list(ElementTree.parse(folder / "report.xml").getroot().iter("testcase"))
    finally:
        shutil.rmtree(folder)
    if not cases:
        raise PlayError(f"nothing was decided\n{output[-4000:]}")
    return [read_case(case, decision) for case in cases]


def read_case(case: ElementTree.Element, decision: Make) -> Decision:
    """What a test case of a JUnit file says about a decision.

    Raises:
        PlayError: It is none of this bench.
    """
    found = re.fullmatch(r"test_(\w+)\[(?:(.+)-)?(\w+)\]", case.get("name", ""))
    if found is None:
        raise PlayError(f"no item of this bench: {case.get('name')!r}")
    properties = {each.get("name", ""): each.get("value", "") for each in case.iter("property")}
    failure = next((each for each in case if each.tag in ("failure", "error")), None)
    outcome = properties.get("jitperf.main.outcome", "error")
    text = "" if failure is None else failure.text or ""
    if failure is not None and outcome == "error":
        text = failure.get("message", "")  # the text begins with a traceback
    said = [text.strip().partition("\n")[0], *re.findall(r"^  also  (.*)$", text, re.MULTILINE)]
    return decision(
        subject="-".join(filter(None, (found[1], found[2]))),
        strategy=found[3],
        outcome=outcome,
        failed=failure is not None,
        fired=tuple(each[1] for each in (re.search(r"(\w+) regressed: ", line) for line in said) if each),
        said=said[0],
        seconds=float(case.get("time", "0")),
        compare_seconds=float(properties.get("jitperf.main.compare_seconds", "0")),
    )
