"""Breaks one thing at a time in what judges and stores, and says which test notices.

python tests/quality/mutations.py

Each fault replaces one piece of text in a copy of the package; the tests that guard the module are run on the copy. The
tree that this script lies in is never touched. It fails where a fault is noticed by no test, and where the text that it
would replace is not there any more, so that the list cannot rot unseen.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from faults import FAULTS, GUARDS, Fault

ROOT = Path(__file__).parents[2]
# What a test run needs; no baselines, environments or caches.
COPIED = ("pytest_jitperf", "tests", "example_project", "pyproject.toml")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py)(?:::(.*?))?(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Noticed:
    """What became of a fault.

    Attributes:
        fault: The fault.
        by: Name of the first test that failed; empty where none did.
        wrong: Why nothing can be said of it; empty where something can.
    """

    fault: Fault
    by: str = ""
    wrong: str = ""


def copied(folder: Path) -> None:
    """Copies what is needed."""
    ignored = shutil.ignore_patterns("__pycache__", ".*", "*.pyc")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy(source, folder / name)


def run_tests(folder: Path, tests: tuple[str, ...]) -> tuple[int, str]:
    """Runs test files of the copy on the package of the copy.

    Returns:
        pytest's exit code, and what it printed.
    """
    files = [f"tests/unit/{name}.py" for name in tests]
    options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "--hypothesis-seed=0"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=folder,
        # Bytecode is told by the time of its source in seconds, and a fault is put in faster than that.
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, f"{done.stdout}{done.stderr}"


def broken(text: str, fault: Fault) -> str | None:
    """The text of a module with the fault; None where it does not hold what is to be replaced exactly once."""
    return text.replace(fault.old, fault.new) if text.count(fault.old) == 1 and fault.old != fault.new else None


def noticed(folder: Path, fault: Fault) -> Noticed:
    """Puts one fault into the copy, runs the tests, and takes it out again."""
    path = folder / "pytest_jitperf" / fault.file
    text = path.read_text(encoding="utf-8")
    changed = broken(text, fault)
    if changed is None:
        return Noticed(fault, wrong="the text to replace is not there once")
    path.write_text(changed, encoding="utf-8")
    try:
        code, output = run_tests(folder, fault.tests or GUARDS[fault.file])
    finally:
        path.write_text(text, encoding="utf-8")
    if code == 0:
        return Noticed(fault)
    found = FAILED.search(output)
    if code != 1 or found is None or not found[2]:
        return Noticed(fault, wrong=f"the tests did not run (pytest ended with {code})")
    return Noticed(fault, by=f"{Path(found[1]).stem}::{found[2].partition('[')[0]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="faults in modules whose path holds this")
    given = parser.parse_args()
    chosen = [each for each in FAULTS if given.only in each.file]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copied(folder)
        guards = {test for each in chosen for test in each.tests or GUARDS[each.file]}
        code, output = run_tests(folder, tuple(sorted(guards)))
        if code:
            print(f"the tests fail without any fault, so nothing can be said:\n{output}", file=sys.stderr)
            return 2
        found = []
        for number, fault in enumerate(chosen, 1):
            found.append(noticed(folder, fault))
            if sys.stderr.isatty():
                print(f"\r{number} of {len(chosen)}", end="", file=sys.stderr, flush=True)
    rows = [(each.fault.file, each.fault.what, each.by or each.wrong or "SURVIVED") for each in found]
    print(tabulate(rows, headers=("module", "fault", "noticed by"), tablefmt="plain"))
    caught = sum(bool(each.by) for each in found)
    print(f"\n{len(found)} faults, {caught} noticed, {len(found) - caught} not")
    return 0 if caught == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
