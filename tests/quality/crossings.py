"""The guide's crossing points against reality: fresh processes that make so many calls, below them and above.

    python tests/quality/crossings.py [--repeats 3]

A function whose helper is called 45 times is measured under ``inner`` and ``outer`` by a run of pytest, which predicts
from how many calls on outer is the cheaper one. Then fresh processes make N calls under either strategy, and what they
took from the first call to the last is printed beside the prediction: the shortest of the repeats, in turns.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from tabulate import tabulate

from playing import run_pytest, write_project
from pytest_jitperf.judge.envelope import Line, crossing, total

DEEP = """
import jax
import jax.numpy as jnp

def block(x):
    y = jax.nn.softmax(x @ x.T, axis=-1) @ x + x
    return 0.5 * (y - y.mean(-1, keepdims=True))

def deep(x):
    for _ in range(45):
        x = block(x)
    return x

def example():
    return jnp.linspace(0.0, 1.0, 256).reshape(16, 16)
"""

TEST = """
import pytest
import deep

@pytest.mark.jitperf(strategies=["inner", "outer"], inner=[deep.block])
def test_deep(jitperf):
    jitperf(deep.deep, deep.example())
"""

PROCESS = """
import sys, time
import jax
import deep

x = deep.example()
jax.block_until_ready(jax.jit(lambda x: x + 1)(x))  # the compiler is loaded
strategy, calls = sys.argv[1], int(sys.argv[2])
if strategy == "inner":
    deep.block = jax.jit(deep.block)
    function = deep.deep
else:
    function = jax.jit(deep.deep)
start = time.perf_counter()
for _ in range(calls):
    jax.block_until_ready(function(x))
print(time.perf_counter() - start)
"""


def predicted(folder: Path) -> tuple[dict[str, Line], str]:
    """What the plugin measured, and what its guide says."""
    write_project(folder, {"deep.py": DEEP, "test_deep.py": TEST})
    _, output = run_pytest(folder, "--junitxml=report.xml")
    lines = {}
    for case in ElementTree.parse(folder / "report.xml").getroot().iter("testcase"):
        strategy = re.fullmatch(r"test_deep\[(\w+)\]", case.get("name", ""))
        values = {each.get("name"): each.get("value", "") for each in case.iter("property")}
        start, run = (float(values[f"jitperf.main.{name}"]) for name in ("compile", "run"))
        assert strategy is not None
        lines[strategy[1]] = Line(strategy=strategy[1], start=start, run=run)
    guide = re.search(r"^  guide  (.*(?:\n {9}.*)*)", output, re.MULTILINE)
    return lines, " ".join(guide[1].split()) if guide else "no guide"


def took(folder: Path, strategy: str, calls: int) -> float:
    """Seconds of so many calls in a fresh process."""
    command = [sys.executable, "-c", PROCESS, strategy, str(calls)]
    return float(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Prints the table; 1 where the cheaper one was another than predicted, a half or a double from the crossing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="processes for each number of calls and strategy")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "deep")
        lines, guide = predicted(folder)
        print(f"guide: {guide}\n")
        point = crossing(lines["inner"], lines["outer"]).first
        rows, wrong = [], 0
        for share in (0.1, 0.25, 0.5, 2.0, 4.0):
            calls = max(round(point * share), 1)
            times: dict[str, list[float]] = {"inner": [], "outer": []}
            for _ in range(repeats):
                for strategy, found in times.items():
                    found.append(took(folder, strategy, calls))
            said = min(lines, key=lambda name: total(lines[name], calls))
            real = min(times, key=lambda name: min(times[name]))
            wrong += said != real
            cells = [f"{each:.2f} s" for name in times for each in (total(lines[name], calls), min(times[name]))]
            rows.append([f"{calls:,}", *cells, said, real])
    headers = ["calls", "inner predicted", "real", "outer predicted", "real", "cheaper predicted", "real"]
    print(tabulate(rows, headers=headers, stralign="right", disable_numparse=True))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
