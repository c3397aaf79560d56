"""Plays real workloads through the plugin: unchanged code must pass, planted regressions must fail.

    python tests/quality/workloads.py WORKLOADS [--only w01,w03] [--runs 5] [--loaded 2] [--workers 2]

``WORKLOADS`` is a folder of ``wNN_*.py`` files with ``outer``, ``inner``, ``regressed``, ``make_args``, ``SIZES``,
``JIT_OUTER`` and ``JIT_INNER``. Everything runs in a temporary folder, each run in a fresh process. Prints one table
of false alarms and one of what each planted regression set off, and why by what the plugin says. The exit code is 1
where there was a false alarm, or a regression that no strategy failed for.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tabulate import tabulate

TEST = """
import os, sys
import pytest
from pytest_jitperf import Strategy
sys.path.insert(0, {folder!r})
import {name} as w

FUNCTION = w.regressed if os.environ.get("WORKLOAD_REGRESSED") else w.outer
SIZE = w.SIZES[-1]


def options(found):
    found = dict(found)
    return found.pop("with") if "with" in found else found


INNER = {{}}
for each in w.inner:
    short = each.rsplit(".", 1)[1] if isinstance(each, str) else each.__name__
    INNER[each] = options(w.JIT_INNER.get(short, {{}}))
OUTER = options(w.JIT_OUTER)
if callable(OUTER):
    MARKER = dict(strategies=["eager", Strategy("wrapped", OUTER), "inner"], inner=INNER)
else:
    MARKER = dict(jit=OUTER, inner=INNER)


@pytest.mark.jitperf(**MARKER)
def test_{name}(jitperf):
    args, kwargs = w.make_args(SIZE)
    w.check(jitperf(FUNCTION, *args, **kwargs), SIZE)
"""


@contextmanager
def busy(cores: int) -> Iterator[None]:
    """Keeps cores busy with one Python loop each."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def pytest_run(folder: Path, *options: str, regressed: bool = False) -> tuple[int, str, float]:
    """One run in a fresh process: exit code, output, seconds."""
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "COLUMNS": "160"}
    if regressed:
        env["WORKLOAD_REGRESSED"] = "1"
    start = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *options]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, time.perf_counter() - start


def outcomes(output: str) -> dict[str, str]:
    """First line of each failure by test id, below the line with which pytest-xdist names the worker."""
    found = {}
    for match in re.finditer(
        r"^_{3,} (?:ERROR at setup of )?(\S+) _{3,}\n(?:\[gw\d+\] .*\n)?(.*?)$", output, re.MULTILINE
    ):
        found[match[1]] = match[2]
    return found


def reasons(output: str) -> dict[str, list[str]]:
    """The ``why`` lines of each failure by test id."""
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        if match := re.match(r"_{3,} (\S+) _{3,}$", line):
            lines = found.setdefault(match[1], [])
        elif found and (match := re.match(r"  why +(.*)", line)):
            lines.append(match[1])
    return found


def main() -> int:
    """Runs the two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--loaded", type=int, default=2)
    parser.add_argument("--workers", type=int, default=0, help="worker processes of pytest-xdist")
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    workers = ["-n", str(arguments.workers)] if arguments.workers else []
    names = sorted(path.stem for path in arguments.workloads.glob("w[0-9]*.py"))
    if arguments.only:
        names = [name for name in names if any(name.startswith(each) for each in arguments.only.split(","))]
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(exist_ok=True)
        (folder / "pytest.ini").write_text("[pytest]\n")
        for name in names:
            text = TEST.format(folder=str(arguments.workloads.resolve()), name=name)
            (folder / f"test_{name}.py").write_text(text)
        code, output, seconds = pytest_run(folder, *workers, "--jitperf-update")
        print(f"recorded in {seconds:.0f} s, exit code {code}")
        if code:
            print(output)
            return 1
        alarms = 0
        table = []
        for run in range(arguments.runs):
            loaded = run >= arguments.runs - arguments.loaded
            with busy((os.cpu_count() or 2) if loaded else 0):
                code, output, seconds = pytest_run(folder, *workers)
            failed = outcomes(output)
            alarms += len(failed)
            table.append([run + 1, "loaded" if loaded else "quiet", f"{seconds:.0f} s", code, len(failed)])
            for test, line in failed.items():
                print(f"FALSE ALARM {test}: {line}")
            print(last_lines(output), flush=True)
        print(tabulate(table, headers=["run", "machine", "time", "exit code", "failures"]))
        code, output, seconds = pytest_run(folder, *workers, regressed=True)
        failed, why = outcomes(output), reasons(output)
        rows, missed = [], []
        for name in names:
            wrapped = f"test_{name}[wrapped]" in output or f"test_{name}[wrapped]" in failed
            ids = [f"test_{name}[{each}]" for each in (("wrapped", "inner") if wrapped else ("outer", "inner", "both"))]
            if not any(each in failed for each in ids):
                missed.append(name)
            for each in ids:
                told = "\n".join([failed.get(each, "passed"), *(f"why: {line}" for line in why.get(each, [])[:2])])
                rows.append([name, each.partition("[")[2].rstrip("]"), told])
        print(f"\nregressed in place of outer, {seconds:.0f} s")
        print(tabulate(rows, headers=["workload", "strategy", "what fired"], maxcolwidths=[None, None, 130]))
        print(f"false alarms: {alarms}, regressions that no strategy failed for: {', '.join(missed) or 'none'}")
        if arguments.keep:
            (folder / "regressed.txt").write_text(output)
            (folder / "summary.json").write_text(json.dumps({"alarms": alarms, "missed": missed}))
    return 1 if alarms or missed else 0


def last_lines(output: str) -> str:
    """The count line and what follows it."""
    lines = output.splitlines()
    start = next((n for n, line in enumerate(lines) if re.match(r"\d+ measured", line)), len(lines) - 3)
    return "\n".join(lines[start:])


if __name__ == "__main__":
    sys.exit(main())
