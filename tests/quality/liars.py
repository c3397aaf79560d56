"""Plays changes that a naive gate misses, or takes for regressions, through the plugin.

    python tests/quality/liars.py [--only captured_table,x64]

Each file of ``tests/quality/lies`` is a test of a user's with one such change. It is played in a temporary folder: the
baseline is recorded as it stands, then it is gated with ``CHANGED`` set and with the variables of its ``ENVIRONMENT``.
Each run is a fresh process. Beside it, a naive gate looks at the same calls: at the texts of the programs and at the
least time, of which 10 % more fails. Prints one table and fails unless every verdict is the file's ``RIGHT``, those
of files that say why they are ``MISSED`` apart.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tabulate import tabulate

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """One file of the folder.

    Attributes:
        path: The file.
        about: Its docstring: what changes.
        right: What a right verdict looks like, ``"outcome: sentence"`` with wildcards.
        missed: Why the plugin is known to miss it; empty where it does not.
        always: Variables for both runs.
        environment: Further variables for the second.
    """

    path: Path
    about: str
    right: str
    missed: str = ""
    always: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> dict[str, str]:
        """The variables of the second run."""
        return {**self.always, **self.environment, "CHANGED": "1"}

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.path.stem


def read(path: Path) -> Lie:
    """Reads what a file says of itself, without running it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    said = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                said[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                continue
    return Lie(
        path=path,
        about=" ".join((ast.get_docstring(tree) or "").split()),
        right=said["RIGHT"],
        missed=said.get("MISSED", ""),
        always=said.get("ALWAYS", {}),
        environment=said.get("ENVIRONMENT", {}),
    )


def record(lies: Sequence[Lie], folder: Path) -> None:
    """Records lies that always have the same variables."""
    for lie in lies:
        shutil.copy(lie.path, folder / f"test_{lie.name}.py")
    (folder / "pytest.ini").write_text("[pytest]\n")
    shutil.copy(HERE / "verdicts.py", folder / "conftest.py")
    pytest_run(folder, "VERDICTS", lies[0].always, "--jitperf-update")


def gate(lies: Sequence[Lie], folder: Path) -> dict[str, dict[str, Any]]:
    """Gates recorded lies that have the same variables; returns what the plugin made of each, by name."""
    found = pytest_run(folder, "VERDICTS", lies[0].changed, *(f"test_{lie.name}.py" for lie in lies))
    return {lie.name: next(each for each in found if f"test_{lie.name}.py::test_lie" in each["test"]) for lie in lies}


def verdict(found: Mapping[str, Any]) -> str:
    """The outcome and the first sentence, as ``Lie.right`` has them."""
    return f"{found['outcome']}: {found['sentence']}"


def look(lie: Lie, folder: Path) -> str:
    """What a naive gate sees: ``"StableHLO same, HLO same, least time x1.01"``."""
    shutil.copy(lie.path, folder / f"test_{lie.name}.py")
    (folder / "pytest.ini").write_text("[pytest]\n")
    shutil.copy(HERE / "naive.py", folder / "conftest.py")
    off = ("-p", "no:jitperf", "-k", "test_lie")
    (old,), (new,) = (pytest_run(folder, "NAIVE", given, *off) for given in (lie.always, lie.changed))
    parts = [
        f"{label} {'same' if old[key] == new[key] else 'differs'}"
        for key, label in (("stablehlo", "StableHLO"), ("hlo", "HLO"))
        if key in old and key in new
    ]
    ratio = new["seconds"] / old["seconds"]
    return ", ".join([*parts, f"least time x{ratio:.3g} {'FAILS' if ratio > 1.1 else 'passes'}"])


def pytest_run(folder: Path, variable: str, environment: Mapping[str, str], *options: str) -> list[dict[str, Any]]:
    """One run in a fresh process, and the lines that its conftest wrote."""
    lines = folder / "lines.json"
    lines.unlink(missing_ok=True)
    # Locks of its own, so that other runs on this machine are not waited for.
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "TMPDIR": str(folder), **environment, variable: str(lines)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *options]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    if not lines.exists():
        raise RuntimeError(f"{' '.join(command)} in {folder} measured nothing:\n{done.stdout}{done.stderr}")
    return [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of lies, separated by commas")
    parser.add_argument("--verbose", action="store_true", help="print every finding and its reasons too")
    arguments = parser.parse_args()
    names = [name for name in arguments.only.split(",") if name]
    lies = [read(path) for path in sorted((HERE / "lies").glob("*.py")) if not names or path.stem in names]
    rows, wrong, unknown = [], 0, 0
    for lie in lies:
        with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as naive:
            record([lie], Path(ours))
            found = gate([lie], Path(ours))[lie.name]
            seen = look(lie, Path(naive))
        said = verdict(found)
        right = fnmatchcase(said, lie.right)
        wrong += not right
        unknown += not right and not lie.missed
        remark = "yes" if right else f"no: {lie.missed}" if lie.missed else f"NO, expected {lie.right}"
        rows.append([f"{lie.name}: {lie.about}", seen, said, remark])
        print(f"{lie.name}: {said}", flush=True)
        if arguments.verbose:
            print(*(f"    {each}" for each in (*found["findings"], *found["why"])), sep="\n", flush=True)
    headers = ["lie", "what a naive gate sees", "what the plugin says", "right?"]
    print(tabulate(rows, headers=headers, tablefmt="grid", maxcolwidths=[44, 28, 56, 22]))
    print(f"{len(rows) - wrong} of {len(rows)} right")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
