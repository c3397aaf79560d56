"""The quality bench: how often the gate fires on code that did not get worse, and how often it sees what did.

    python tests/quality/bench.py [--decisions 40] [--results FILE] [--only run,harmless] [--machines quiet,loaded]
    python tests/quality/bench.py --results FILE --table

Small JAX programs are recorded once, changed in a known way and gated in fresh processes, on a quiet machine and with
a busy Python loop on each core. Prints a table of right and wrong verdicts, every wrong one, and a table of the same
changes under pytest-benchmark. ``--decisions`` counts per scenario and machine; what the results file holds already is
not played again, so a long campaign can be stopped and continued. Ctrl-C prints what there is.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from peer import gate_peer, record_peer
from playing import PlayError, gate, record
from projects import base_files
from scenarios import SCENARIOS, Scenario, changed_files
from tally import JITPERF, LEGEND, PEER, Decision, append, load, peer_table, table, wrong_decisions
from workloads import busy

MACHINES = ("quiet", "loaded")


@dataclass(frozen=True, slots=True)
class Row:
    """What is counted together: a scenario on a machine, gated by a tool."""

    tool: str
    scenario: Scenario
    machine: str

    def holds(self, decision: Decision) -> bool:
        """Whether a decision is one of this row."""
        return (decision.tool, decision.scenario, decision.machine) == (self.tool, self.scenario.key, self.machine)


@dataclass(slots=True, kw_only=True)
class Campaign:
    """A campaign under way.

    Attributes:
        scratch: Folder for projects.
        results: File of decisions.
        wanted: Decisions by tool.
        decisions: What there is.
        recorded: Bases whose baselines there are.
        spent: Seconds and decisions of what was played, by row.
    """

    scratch: Path
    results: Path
    wanted: dict[str, int]
    decisions: list[Decision]
    recorded: dict[tuple[str, str], Path] = field(default_factory=dict)
    spent: dict[Row, list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))

    def lacking(self, row: Row) -> int:
        """Decisions that a row lacks."""
        return self.wanted[row.tool] - sum(map(row.holds, self.decisions))

    def run(self, rows: Sequence[Row]) -> None:
        """Plays each row in turn until none lacks anything, so that a campaign that is stopped has some of each."""
        while left := [row for row in rows if self.lacking(row) > 0]:
            for row in left:
                base = self.base(row)
                start = time.monotonic()
                found = self.play(row, base)
                self.spent[row].append((time.monotonic() - start, len(found)))
                self.decisions += found
                append(self.results, found)
                self.tell(row, found, rows)

    def base(self, row: Row) -> Path:
        """The recorded project that a row is gated against."""
        key = (row.tool, row.scenario.base)
        if key not in self.recorded:
            print(f"recording {row.scenario.base} with {row.tool}", file=sys.stderr, flush=True)
            folder = self.scratch / "-".join(key)
            (record if row.tool == JITPERF else record_peer)(folder, base_files(row.scenario.base))
            self.recorded[key] = folder
        return self.recorded[key]

    def play(self, row: Row, base: Path) -> list[Decision]:
        """Gates the change of a scenario that was played least, all subjects and strategies once."""
        scenario = row.scenario
        played = Counter(each.variant for each in self.decisions if row.holds(each))
        variant = min(scenario.changes, key=lambda name: played[name])
        files, folder = changed_files(scenario, variant), self.scratch / "changed"
        decision = partial(Decision, tool=row.tool, scenario=scenario.key, variant=variant, machine=row.machine)
        with busy(os.cpu_count() or 2) if row.machine == "loaded" else nullcontext():
            if row.tool == JITPERF:
                return gate(base, folder, files, scenario.options, decision)
            return gate_peer(base, folder, files, scenario.peer or 0, decision)

    def tell(self, row: Row, found: Sequence[Decision], rows: Sequence[Row]) -> None:
        """Says on stderr what was played and about how long the rest will take."""
        every = [each for spent in self.spent.values() for each in spent]
        left = 0.0
        for each in rows:
            seconds, decisions = map(sum, zip(*self.spent[each] or every, strict=True))
            left += max(0, self.lacking(each)) * seconds / decisions
        failed = sum(each.failed for each in found)
        print(
            f"{row.tool}, {row.scenario.key}, {row.machine}: {len(found)} decisions, {failed} failed, "
            f"{self.spent[row][-1][0]:.0f} s; about {left / 60:.0f} min left",
            file=sys.stderr,
            flush=True,
        )


def main() -> int:
    """Plays what is lacking and prints the tables; 1 where a verdict was wrong, 2 where it was stopped."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=40, metavar="N", help="per scenario and machine")
    parser.add_argument("--peer-decisions", type=int, metavar="N", help="the same under pytest-benchmark (N / 4)")
    parser.add_argument("--results", type=Path, metavar="FILE", help="keeps the decisions, and is topped up")
    parser.add_argument("--only", default="", metavar="KEYS", help=", ".join(each.key for each in SCENARIOS))
    parser.add_argument("--machines", default=",".join(MACHINES), metavar="NAMES")
    parser.add_argument("--table", action="store_true", help="plays nothing and prints what the results file holds")
    given = parser.parse_args()
    machines = given.machines.split(",")
    keys = [each for each in given.only.split(",") if each]
    exact = {each.key for each in SCENARIOS} & {*keys}  # run+5 is not run+50, and trace is all that begins so
    parts = tuple({*keys} - exact)
    scenarios = [each for each in SCENARIOS if not keys or each.key in exact or each.key.startswith(parts)]
    if not scenarios or not {*machines} <= {*MACHINES} or (given.table and given.results is None):
        parser.error("--only or --machines names nothing that there is, or --table has no --results")
    peers = given.decisions // 4 if given.peer_decisions is None else given.peer_decisions
    rows = [Row(JITPERF, each, machine) for each in scenarios for machine in machines]
    rows += [Row(PEER, each, machine) for each in scenarios if each.peer for machine in machines]
    code = 0
    with tempfile.TemporaryDirectory() as scratch:
        results = given.results or Path(scratch, "results.jsonl")
        campaign = Campaign(
            scratch=Path(scratch),
            results=results,
            wanted={JITPERF: given.decisions, PEER: peers},
            decisions=load(results),
        )
        if not given.table:
            try:
                campaign.run(rows)
            except (KeyboardInterrupt, PlayError) as error:
                print(f"stopped: {str(error) or 'interrupted'}", file=sys.stderr)
                code = 2
    decisions = [each for each in campaign.decisions if any(row.holds(each) for row in rows)]
    wrong = wrong_decisions(decisions)
    print("\n".join([table(decisions), "", LEGEND, "", f"wrong: {len(wrong)}", *wrong, "", peer_table(decisions)]))
    return code or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
