"""What the rules of a race achieve: how often a verdict is wrong, by kind of noise, against the 0.1 % they promise.

    python tests/quality/simulation.py [--races 20000] [--seed 0]

Simulated machines, real rules. For each rule and each kind of noise, races are run at a true ratio that is the limit,
where every verdict is wrong; with unchanged code; and with a planted regression. An achieved error is printed with its
95 % upper bound (Clopper and Pearson); "decided" is the share of the other verdicts that are not ``inconclusive``.

The arithmetic of many races at once is done with arrays (``rulemath.py``). A sample of each cell's races is run
through the package's own functions as well, and the command ends with an error where they say something else.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time

from tabulate import tabulate

from pytest_jitperf.judge.stats import ERROR
from trials import TRIALS
from wholeraces import MACHINES, whole_row


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--races", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    start = time.perf_counter()
    gc.disable()  # each race would collect
    print(f"promised: {ERROR:.1%} of verdicts wrong, whatever the true ratio; in brackets, 95 % upper bounds\n")
    for trial in TRIALS:
        rows = [trial.row(noise, arguments.races, arguments.seed, checked=8) for noise in trial.noises]
        print(tabulate(rows, headers=trial.headers(), disable_numparse=True), end="\n\n", flush=True)
    headers = [
        "whole races of 1 ms calls (%)",
        "races",
        "x1.10: any verdict (1/4 of them)",
        "x1.00: slower",
        "decided",
        "s",
        "x1.20: fine",
        "decided",
        "s",
    ]
    rows = [whole_row(kind, max(arguments.races // 50, 1), arguments.seed) for kind in MACHINES]
    print(tabulate(rows, headers=headers, disable_numparse=True))
    print(f"\n{time.perf_counter() - start:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
