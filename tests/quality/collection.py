"""What the plugin costs a project that does not use it: collecting 1,000 unmarked tests with it and without it.

    python tests/quality/collection.py [--rounds 15]

Each collection is a process of its own; the two sides take turns in random order, and the ratio is taken within each
round. Prints the median ratio of wall and CPU time, and whether JAX was imported.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = 1000


def collect(folder: Path, *options: str) -> tuple[float, float]:
    """Wall and CPU seconds of one collection."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports_jax(folder: Path) -> bool:
    """Whether a collection with the plugin leaves jax among the imported modules."""
    code = (
        "import sys, pytest; pytest.main(['--collect-only', '-q', '-p', 'no:cacheprovider']); "
        "sys.exit('jax' in sys.modules)"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, check=False).returncode != 0


def main() -> None:
    """Prints the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        for part in range(10):
            tests = "\n".join(f"def test_{n}():\n    pass\n" for n in range(TESTS // 10))
            (folder / f"test_part{part}.py").write_text(tests)
        sides = {"with": (), "without": ("-p", "no:jitperf")}
        for options in sides.values():
            collect(folder, *options)
        wall, cpu = [], []
        for _ in range(rounds):
            order = list(sides)
            random.shuffle(order)
            found = {side: collect(folder, *sides[side]) for side in order}
            wall.append(found["with"][0] / found["without"][0])
            cpu.append(found["with"][1] / found["without"][1])
        print(f"{TESTS} unmarked tests, {rounds} rounds, with / without the plugin")
        print(f"wall time  x{statistics.median(wall):.3f}  ({min(wall):.3f} ... {max(wall):.3f})")
        print(f"CPU time   x{statistics.median(cpu):.3f}  ({min(cpu):.3f} ... {max(cpu):.3f})")
        print(f"jax imported: {'yes' if imports_jax(folder) else 'no'}")


if __name__ == "__main__":
    main()
