"""Decisions: kept as lines of JSON, judged right or wrong, counted and printed."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from tabulate import tabulate

from scenarios import SCENARIOS, Scenario

JITPERF, PEER = "jitperf", "pytest-benchmark"

_PASSED = frozenset({"ok", "ok (same program)"})


LEGEND = """\
n      decisions, each one item in one of the runs, every run a fresh process
fired  share of them that failed: false alarms where the change is harmless, else detections
open   neither passed nor failed: inconclusive, not gated and the like
wrong  failed on a harmless change, passed a regression, or failed without naming it
median and 95th percentile: seconds that the comparison took beyond compiling"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One item, gated once.

    Attributes:
        tool: What gated it.
        scenario: Key of the scenario.
        variant: Which of its changes.
        machine: ``quiet`` or ``loaded``.
        subject: Name of the subject.
        strategy: Name of the strategy.
        outcome: The word of the verdict.
        failed: Whether the item failed.
        fired: Metrics that are said to have regressed.
        said: First line of the failure, empty where it passed.
        seconds: Of the item.
        compare_seconds: Of the comparison, beyond compiling.
    """

    tool: str
    scenario: str
    variant: str
    machine: str
    subject: str
    strategy: str
    outcome: str
    failed: bool
    fired: tuple[str, ...] = ()
    said: str = ""
    seconds: float = 0.0
    compare_seconds: float = 0.0


def append(path: Path, decisions: Iterable[Decision]) -> None:
    """Adds decisions to a file of results, in one piece."""
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(json.dumps(asdict(each)) + "\n" for each in decisions))


def load(path: Path) -> list[Decision]:
    """The decisions of a file of results; none where there is no file.

    Raises:
        ValueError: A line is not a decision.
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Decision(**{**line, "fired": tuple(line["fired"])}) for line in map(json.loads, lines)]


def verdict_on(decision: Decision, scenario: Scenario) -> Literal["right", "undecided", "wrong"]:
    """Whether a decision is what is right in its scenario.

    One that neither passes nor fails (``inconclusive``, ``not gated`` and the like) is undecided. A failure is right
    where one is due and it names what has been planted.
    """
    if decision.failed:
        return "right" if scenario.right != "pass" and scenario.metrics & {*decision.fired} else "wrong"
    if decision.outcome not in {*_PASSED, "improved"}:
        return "undecided"
    return "right" if scenario.right == "pass" and decision.outcome in _PASSED else "wrong"


def wrong_decisions(decisions: Sequence[Decision]) -> list[str]:
    """One line for each wrong decision of ours, in the order of the table."""
    return [
        f"{each.scenario} ({each.variant}), {each.machine}: {each.subject}[{each.strategy}] "
        f"{each.outcome}{': ' if each.said else ''}{each.said}"
        for scenario in SCENARIOS
        for each in decisions
        if each.scenario == scenario.key and each.tool == JITPERF and scenario.right != "shown"
        if verdict_on(each, scenario) == "wrong"
    ]


def table(decisions: Sequence[Decision]) -> str:
    """Our decisions: a row per scenario and machine."""
    rows = []
    for scenario in SCENARIOS:
        for machine, found in _by_machine(decisions, scenario, JITPERF):
            verdicts = [verdict_on(each, scenario) for each in found]
            times = [each.compare_seconds for each in found]
            rows.append(
                [
                    scenario.title,
                    scenario.allowed,
                    scenario.true,
                    machine,
                    len(found),
                    verdicts.count("right"),
                    _share(sum(each.failed for each in found), len(found)),
                    verdicts.count("undecided"),
                    verdicts.count("wrong") if scenario.right != "shown" else "-",
                    f"{statistics.median(times):.2f}",
                    f"{_percentile(times, 0.95):.2f}",
                ]
            )
    headers = ["change", "allowed", "true size", "machine", "n", "right", "fired", "open", "wrong", "median", "95th"]
    return _printed([headers, *rows])


def peer_table(decisions: Sequence[Decision]) -> str:
    """The same scenarios under a benchmark with stored times, beside ours of the same subjects."""
    rows = []
    for scenario in SCENARIOS:
        ours = dict(_by_machine([each for each in decisions if each.strategy == "outer"], scenario, JITPERF))
        for machine, found in _by_machine(decisions, scenario, PEER):
            row: list[object] = [scenario.title, f"min:{scenario.peer}%", scenario.true, machine]
            for each in (found, ours.get(machine, [])):
                row += [len(each), _share(sum(one.failed for one in each), len(each))]
            rows.append(row)
    headers = ["change", "limit", "true size", "machine", "n", f"{PEER} fired", "n", f"{JITPERF} fired"]
    return _printed([headers, *rows])


def _printed(rows: Sequence[Sequence[object]]) -> str:
    columns = len(rows[0])
    return tabulate(rows, tablefmt="plain", disable_numparse=True, colalign=["left"] * 4 + ["right"] * (columns - 4))


def _by_machine(decisions: Sequence[Decision], scenario: Scenario, tool: str) -> list[tuple[str, list[Decision]]]:
    found = [each for each in decisions if (each.scenario, each.tool) == (scenario.key, tool)]
    machines = sorted({each.machine for each in found}, reverse=True)  # quiet before loaded
    return [(machine, [each for each in found if each.machine == machine]) for machine in machines]


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
