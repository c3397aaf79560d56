"""Reads, merges and judges files that nobody thought of, and counts the inputs tried and the faults found.

python tests/quality/fuzz.py --examples 20000

The test suite tries a few of each; ``properties.py`` says what has to hold, ``damage.py`` what is tried.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tabulate import tabulate

import damage
import properties

# What is tried, what has to hold of it, and whether it takes a file or a folder of its own.
PROPERTIES: dict[str, tuple[Callable[..., str], tuple[st.SearchStrategy[Any], ...], str]] = {
    "baseline, any bytes": (properties.check_baseline, (damage.damaged(damage.BASELINE),), "file"),
    "results, any bytes": (properties.check_results, (damage.damaged(damage.RESULTS),), ""),
    "commands, any bytes": (properties.check_command, (damage.damaged(damage.BASELINE),), "folder"),
    "two entries merged": (
        properties.check_merged_entries,
        (damage.pairs(), st.booleans(), st.booleans()),
        "",
    ),
    "two baselines merged": (properties.check_two_files, (damage.documents(), damage.documents()), "file"),
    "branches merged by git": (
        properties.check_git_merge,
        (damage.documents(), damage.documents(), damage.documents()),
        "folder",
    ),
    "results joined": (properties.check_joined, (st.lists(damage.results(), min_size=1, max_size=3),), ""),
    "any entry judged": (
        properties.check_judged,
        (
            damage.entries(),
            damage.measurements(),
            damage.evidence(),
            st.sampled_from(["eager", "outer", "inner"]),
            st.booleans(),
        ),
        "",
    ),
}


def tried(name: str, examples: int, start: int, folder: Path) -> tuple[Counter[str], int, str]:
    """Tries one property.

    Returns:
        How often each word came of it, how many faults of different kinds there were, and the text of the last.
    """
    check, strategies, place = PROPERTIES[name]
    own = {"": (), "file": (folder / "b.json",), "folder": (folder,)}[place]
    words: Counter[str] = Counter()

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.tuples(*strategies))
    def attempt(drawn: tuple[Any, ...]) -> None:
        words[check(*drawn, *own)] += 1

    try:
        attempt()
    except BaseExceptionGroup as group:
        return words, len(group.exceptions), "".join(traceback.format_exception(group))
    except Exception:
        return words, 1, traceback.format_exc()
    return words, 0, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=2000, help="inputs for each property")
    parser.add_argument("--seed", type=int, default=0, help="another one tries others")
    parser.add_argument("--only", choices=PROPERTIES, help="one property")
    given_line = parser.parse_args()
    rows, faults = [], 0
    for name in [given_line.only] if given_line.only else PROPERTIES:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            words, found, text = tried(name, given_line.examples, given_line.seed, Path(folder))
        faults += found
        common = ", ".join(f"{word} {count:,}" for word, count in words.most_common(5))
        rows.append((name, f"{words.total():,}", found, f"{time.monotonic() - begin:.0f} s", common))
        if text:
            print(f"{name}:\n{text}", file=sys.stderr)
        # A long run may be stopped.
        print(f"{name}: {words.total():,} inputs, {found} faults", file=sys.stderr, flush=True)
    print(tabulate(rows, headers=("property", "inputs", "faults", "time", "what came of it"), tablefmt="plain"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
