"""The example project serially and in two processes: are verdicts and the bytes of an update the same?

    python tests/quality/workers.py

Prints what differs, and ends with 1 where anything does. Times differ from run to run; entries, which an update
rewrites only where a program or a count changed, do not.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "example_project"
TWO = ("-n2", "--dist=worksteal")


def verdicts(project: Path, *options: str) -> list[str]:
    """One line for each measurement of a run: test and strategy, outcome, what decided, how the test ended."""
    results = project / "results.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--jitperf-json={results}", *options]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    print(f"pytest {' '.join(options)}: {done.stdout.strip().splitlines()[-1]}", flush=True)
    found = json.loads(results.read_bytes())["measurements"]
    return [f"{each['nodeid']}: {each['outcome']}, {each['gated_by']}, {each['status']}" for each in found]


def stored(project: Path) -> dict[str, bytes]:
    """Everything that the baselines consist of."""
    folder = project / "tests" / "__jitperf__"
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def main() -> int:
    """Plays all four runs."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "example"
        shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        verdicts(project, "--jitperf-update")
        recorded = stored(project)
        verdicts(project, "--jitperf-update", *TWO)
        bytes_differ = sorted(name for name in recorded if stored(project).get(name) != recorded[name])
        serial, parallel = verdicts(project), verdicts(project, *TWO)
    differ = [f"{one}  |  {two}" for one, two in zip(serial, parallel, strict=True) if one != two]
    print(f"{len(serial)} verdicts, {len(differ)} differ", *differ, sep="\n")
    print(f"{len(recorded)} files, {len(bytes_differ)} differ after the second update", *bytes_differ, sep="\n")
    return 1 if differ or bytes_differ else 0


if __name__ == "__main__":
    sys.exit(main())
