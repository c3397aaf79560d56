"""Plants a program that compiles for about a minute and shows what recording and gating it costs.

    python tests/quality/minute.py [--seconds 60] [--small 30] [--trace 60]

The program is a chain of unequal matrix products, unrolled; its length is found by compiling shorter ones. It is
recorded, and then gated as it stands, changed harmlessly, with twice the work in each call, and with half as much again
to compile; the last three also with ``--jitperf-max-compile`` at ``--small`` seconds, by default half of ``--seconds``.
With ``--trace`` its trace is dear too. Each run is a fresh process. Counted are all executables that XLA builds in it,
by JAX's own announcements.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

from tabulate import tabulate

HERE = Path(__file__).parent

LIBRARY = """
import os
import jax
import jax.numpy as jnp

BLOCKS = int(os.environ["BLOCKS"])
ROUNDS = int(os.environ.get("ROUNDS", BLOCKS))
CHANGED = "CHANGED" in os.environ
# Python work of the trace, in calls: as much as a library of layers would make.
CALLS = int(os.environ.get("CALLS", 0))


def nothing():
    pass


def block(x, n):
    for _ in range(CALLS):
        nothing()
    y = jnp.tanh(x @ x.T[:, : 8 + n % 9] / (5 + n))
    return x / 2 + (y @ jnp.cos(y).T) / 32


def f(x):
    with open("traces", "a") as file:
        print("trace", file=file)

    def step(_, y):
        return y / (1 + jnp.max(abs(y @ y)))

    y = jax.lax.fori_loop(0, ROUNDS, step, x)
    for n in range(BLOCKS):
        y = block(y, n)
    return (y + y) - y / 3 if CHANGED else y * 2 - y / 3
"""

TEST = """
import jax.numpy as jnp
import library
import pytest

@pytest.mark.jitperf(strategies=["outer"])
def test_f(jitperf):
    jitperf(library.f, jnp.linspace(0.0, 1.0, 32 * 32).reshape(32, 32))
"""

CONFTEST = """
import json
import os

import jax
import pytest

FOUND = []


def listen(event, seconds, **kwargs):
    if event == "/jax/core/compile/backend_compile_duration":
        FOUND.append(seconds)


jax.monitoring.register_event_duration_secs_listener(listen)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish():
    with open("compiles.json", "w") as file:
        json.dump(FOUND, file)
"""

PLAIN = """
import jax, jax.numpy as jnp, library, sys, time
function = library.f if "eager" in sys.argv else jax.jit(library.f)
start = time.perf_counter()
jax.block_until_ready(function(jnp.linspace(0.0, 1.0, 32 * 32).reshape(32, 32)))
print(time.perf_counter() - start)
"""


def environment(**given: object) -> dict[str, str]:
    """Variables of one run; upper-case ones are read by the planted program."""
    return {**os.environ, "JAX_PLATFORMS": "cpu", "COLUMNS": "200", **{k: str(v) for k, v in given.items()}}


def plain(folder: Path, how: str, **given: object) -> float:
    """Seconds of a first call without the plugin, ``how`` being ``"jit"`` or ``"eager"``."""
    command = [sys.executable, "-c", PLAIN, how]
    done = subprocess.run(command, cwd=folder, env=environment(**given), capture_output=True, text=True, check=True)
    return float(done.stdout)


def blocks_for(folder: Path, seconds: float) -> int:
    """Length of the chain that compiles for so long, from shorter ones: the time grows a little more than linearly."""
    # Compiling grows faster than the number of blocks, so the last doubling says by which power.
    blocks, took, power = 40, plain(folder, "jit", BLOCKS=40), 1.0
    while took < seconds / 3:
        before, blocks = took, blocks * 2
        took = plain(folder, "jit", BLOCKS=blocks)
        power = max(math.log2(took / before), 1.0)
    factor: float = (seconds / took) ** (1 / power)
    return round(blocks * factor)


def call_seconds() -> float:
    """What a Python call that does nothing takes."""
    number = 1_000_000
    return (
        timeit.timeit("for _ in range(number): nothing()", "def nothing(): pass", globals={"number": number}, number=1)
        / number
    )


def gate(folder: Path, options: tuple[str, ...], dear: float, given: Mapping[str, object]) -> list[str]:
    """One run of pytest and the row of the table about it."""
    for name in ("traces", "compiles.json", "lines.json"):
        (folder / name).unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *options]
    start = time.perf_counter()
    # Locks of its own: other runs on this machine are not held up for a minute.
    env = environment(VERDICTS=folder / "lines.json", TMPDIR=folder, **given)
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - start
    if not (folder / "lines.json").exists():
        raise SystemExit(f"{' '.join(command)} in {folder} measured nothing:\n{done.stdout}{done.stderr}")
    compiles = json.loads((folder / "compiles.json").read_text())
    found: dict[str, Any] = json.loads((folder / "lines.json").read_text().splitlines()[0])
    traces = (folder / "traces").read_text().count("trace")
    lines = done.stdout.splitlines()
    first = next(n for n, line in enumerate(lines) if " measured" in line)
    last = " ".join(takewhile(lambda line: not re.search(r"^=|^FAILED| in \d+\.\d+s", line), lines[first:]))
    dear_ones = [each for each in compiles if each > dear]
    return [
        f"{len(dear_ones)} ({sum(dear_ones):.0f} s)",
        f"{len(compiles) - len(dear_ones)} ({sum(compiles) - sum(dear_ones):.1f} s)",
        f"{traces}",
        f"{wall:.0f} s",
        f"{found['outcome']}: {found['sentence']}",
        last,
    ]


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--small", type=float)
    parser.add_argument("--trace", type=float, default=0, help="seconds that Python spends on a trace beside JAX")
    arguments = parser.parse_args()
    small = arguments.small or arguments.seconds / 2
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
        (folder / "library.py").write_text(LIBRARY)
        (folder / "test_minute.py").write_text(TEST)
        shutil.copy(HERE / "verdicts.py", folder / "verdicts.py")
        (folder / "conftest.py").write_text(f"from verdicts import pytest_runtest_makereport\n{CONFTEST}")
        blocks = blocks_for(folder, arguments.seconds)
        base = {"BLOCKS": blocks, "CALLS": round(arguments.trace / blocks / call_seconds())}
        for how in ("jit", "eager"):
            took = plain(folder, how, **base)
            print(f"{blocks} blocks without the plugin, first {how} call: {took:.1f} s", flush=True)
        longer = {**base, "BLOCKS": blocks * 3 // 2, "ROUNDS": blocks}
        runs: list[tuple[str, tuple[str, ...], dict[str, object]]] = [
            ("record", ("--jitperf-update",), base),
            ("unchanged", (), base),
        ]
        for limit in ([], [f"--jitperf-max-compile={small:g}s"]):
            options = tuple(limit)
            runs += [
                ("changed harmlessly", options, {**base, "CHANGED": 1}),
                ("twice the work", options, {**base, "ROUNDS": blocks * 8}),
                ("half as much more to compile", options, longer),
            ]
        rows = []
        for what, chosen, given in runs:
            row = [what, " ".join(chosen), *gate(folder, chosen, arguments.seconds / 4, given)]
            rows.append(row)
            print(" | ".join(row), flush=True)
    headers = ["run", "options", "dear compiles", "others", "traces", "wall", "verdict", "closing lines"]
    print(tabulate(rows, headers=headers, tablefmt="grid", maxcolwidths=[16, 16, 10, 10, 6, 8, 44, 44]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
