"""The guide's crossing points against reality: fresh processes that make so many calls, below them and above.

    python tests/quality/crossings.py [--repeats 3]

Each function is measured under two strategies by a run of pytest, which predicts from how many calls on the later one
is the cheaper one. Then fresh processes make N calls under either strategy, and what they took from the first call to
the last is printed beside the prediction: the shortest of the repeats, in turns. In the same way it is told from how
many uses of a helper in one trace its own jit pays under an outer one, and what tracing and lowering really took.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
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

def run(x, uses=45):
    for _ in range(uses):
        x = block(x)
    return x

def example():
    return jnp.linspace(0.0, 1.0, 256).reshape(16, 16)
"""

LONG = """
import jax.numpy as jnp

def block(x):
    return 0.5 * jnp.sin(x) + x

def run(x, uses=300):
    for _ in range(uses):
        x = block(x)
    return x

def example():
    return jnp.linspace(0.0, 1.0, 4096)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A function under two strategies.

    Attributes:
        name: For people.
        source: A module with ``block``, ``run`` and ``example``.
        early: The strategy that starts sooner.
        late: The strategy that runs faster, or as fast.
    """

    name: str
    source: str
    early: str
    late: str


CASES = (
    Case(name="45 uses of a block", source=DEEP, early="inner", late="outer"),
    Case(name="300 small steps", source=LONG, early="eager", late="outer"),
    Case(name="45 uses of a block, same program", source=DEEP, early="both", late="outer"),
)

TEST = """
import pytest
import lib

@pytest.mark.jitperf(strategies=["{early}", "{late}"], inner=[lib.block])
def test_run(jitperf):
    jitperf(lib.run, lib.example())
"""

PROCESS = """
import sys, time
import jax
import lib

x = lib.example()
jax.block_until_ready(jax.jit(lambda x: x + 1)(x))  # the compiler is loaded
strategy, calls = sys.argv[1], int(sys.argv[2])
if strategy in ("inner", "both"):
    lib.block = jax.jit(lib.block)
function = jax.jit(lib.run) if strategy in ("outer", "both") else lib.run
start = time.perf_counter()
for _ in range(calls):
    jax.block_until_ready(function(x))
print(time.perf_counter() - start)
"""

TRACE = """
import sys, time
import jax
import lib

x = lib.example()
strategy, uses = sys.argv[1], int(sys.argv[2])
if strategy == "both":
    lib.block = jax.jit(lib.block)

def once():
    jax.clear_caches()
    jitted = jax.jit(lambda x: lib.run(x, uses))
    start = time.thread_time()
    jitted.trace(x).lower()
    return time.thread_time() - start

once()
print(min(once() for _ in range(5)))
"""

SHARES = (0.25, 0.5, 2.0)
NO_CROSSING = (1, 10, 100)


def predicted(folder: Path, case: Case) -> tuple[dict[str, Line], str, str]:
    """What the plugin measured, what its guide says, and what it says of the uses of helpers."""
    write_project(folder, {"lib.py": case.source, "test_lib.py": TEST.format(early=case.early, late=case.late)})
    _, output = run_pytest(folder, "--junitxml=report.xml", "--jitperf-guide")
    lines = {}
    for each in ElementTree.parse(folder / "report.xml").getroot().iter("testcase"):
        strategy = re.fullmatch(r"test_run\[(\w+)\]", each.get("name", ""))
        values = {given.get("name"): given.get("value", "") for given in each.iter("property")}
        start, run = (float(values[f"jitperf.main.{name}"]) for name in ("compile", "run"))
        assert strategy is not None
        lines[strategy[1]] = Line(strategy=strategy[1], start=start, run=run)
    guide = re.search(r"^  guide  (.*(?:\n {9}.*)*)", output, re.MULTILINE)
    uses = re.search(r"^  - (while tracing, .*(?:\n {4}.*)*)", output, re.MULTILINE)
    return lines, _one_line(guide), _one_line(uses)


def _one_line(found: re.Match[str] | None) -> str:
    return " ".join(found[1].split()) if found else "nothing"


def took(folder: Path, code: str, strategy: str, count: int) -> float:
    """Seconds that a fresh process prints."""
    command = [sys.executable, "-c", code, strategy, str(count)]
    return float(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)


def shortest(folder: Path, code: str, strategies: tuple[str, ...], count: int, repeats: int) -> dict[str, float]:
    """The shortest of the repeats by strategy, taken in turns."""
    times: dict[str, list[float]] = {each: [] for each in strategies}
    for _ in range(repeats):
        for strategy, found in times.items():
            found.append(took(folder, code, strategy, count))
    return {strategy: min(found) for strategy, found in times.items()}


def checked(folder: Path, case: Case, repeats: int) -> int:
    """Prints one function's table; how often the cheaper one was another than predicted."""
    lines, guide, _ = predicted(folder, case)
    print(f"{case.name}: {case.early} against {case.late}\nguide: {guide}\n")
    pair = (case.early, case.late)
    # Of two that run alike the one that starts sooner is the cheaper one whatever the number of calls.
    crosses = case.early != "both"
    point = crossing(lines[case.early], lines[case.late]).first if crosses else 0.0
    counts = [max(round(point * share), 1) for share in SHARES] if crosses else NO_CROSSING
    rows, wrong = [], 0
    for calls in dict.fromkeys(counts):
        real = shortest(folder, PROCESS, pair, calls, repeats)
        said = min(pair, key=lambda name: total(lines[name], calls)) if crosses else case.early
        said = "either" if "told apart" in guide else said
        wrong += said not in ("either", min(pair, key=real.__getitem__))
        cells = [f"{each:.2f} s" for name in pair for each in (total(lines[name], calls), real[name])]
        rows.append([f"{calls:,}", *cells, said, min(pair, key=real.__getitem__)])
    headers = ["calls", f"{pair[0]} predicted", "real", f"{pair[1]} predicted", "real", "cheaper predicted", "real"]
    print(tabulate(rows, headers=headers, stralign="right", disable_numparse=True), end="\n\n")
    return wrong


def uses_of_a_helper(folder: Path, repeats: int) -> None:
    """Prints from how many uses on a helper's own jit pays under an outer one, and what was really saved."""
    case = Case(name="uses", source=DEEP, early="both", late="outer")
    _, _, said = predicted(folder, case)
    print(f"uses of a block under an outer jit, CPU time of trace and lower\nguide: {said}\n")
    rows = []
    for uses in (1, 2, 3, 4, 6, 8, 16, 45):
        real = shortest(folder, TRACE, ("outer", "both"), uses, repeats)
        sooner = min(real, key=real.__getitem__)
        rows.append([uses, *(f"{1e3 * each:.1f} ms" for each in real.values()), sooner])
    print(tabulate(rows, headers=["uses", "outer", "both", "sooner"], stralign="right", disable_numparse=True))


def main() -> int:
    """Prints the tables; 1 where the cheaper one was another than predicted, a half or a double from the crossing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="processes for each number of calls and strategy")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as scratch:
        wrong = sum(checked(Path(scratch, f"case{n}"), case, repeats) for n, case in enumerate(CASES))
        uses_of_a_helper(Path(scratch, "uses"), repeats)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
