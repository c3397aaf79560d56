"""Prints what suites of many entries take, and whether a long run grows: time and memory.

    python tests/quality/scale.py [--entries 1000,10000] [--items 250,1000] [--soak 2000] [--only ...]

Baselines of so many entries, fifty to a test file and all in one folder, are made of one file that is recorded for
real. Everything runs in fresh processes. Three tables:

- what the plugin and its commands do with that many entries, in processor time, which other work on the machine does
  not stretch. Items are run with the answers of the probe replayed, since measuring them would take an hour; beside it
  the same tests without the plugin. ``growth`` is the exponent from the first size to the last, above what a single
  file takes: 1 is linear.
- items that are measured for real and gated from the identity of their program, with few and with many entries stored.
- a soak: items measured one after the other in one process, beside the same functions jitted without the plugin.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tabulate import tabulate

from scaledsuite import PER_FILE, multiplied, recorded, soaked
from spending import Spent, growth, spend

HERE = Path(__file__).parent
PARTS = ("entries", "items", "soak")

_OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "scaling.stopwatch")
PYTEST = (sys.executable, "-m", "pytest", *_OPTIONS)
PLAIN = ("-p", "no:jitperf", "-p", "scaling.plain")
JITPERF = (sys.executable, "-c", "import sys; from pytest_jitperf.cli import main; sys.exit(main())")

# Done by the interpreter of its own process, which grows with what it reads.
_SHARDS = """
import json
from pathlib import Path
whole = json.loads(Path("results.json").read_bytes())
rows = whole["measurements"]
for name, half in (("a", rows[::2]), ("b", rows[1::2])):
    Path(f"{name}.json").write_text(json.dumps({**whole, "measurements": half}))
"""
_CHANGED = """
import json
import sys
from pathlib import Path
for file in Path(sys.argv[1]).glob("*.json"):
    content = json.loads(file.read_bytes())
    for number, test in enumerate(content["tests"].values()):
        if number % 10 == 0:
            for entry in test["main"]["outer"].values():
                entry["exact"]["peak_bytes"] += 1_000_000
    file.write_text(json.dumps(content, indent=2, sort_keys=True) + "\\n")
"""


@dataclass(slots=True)
class Lines:
    """What each row of a table has for each size, in the order in which they were first given."""

    found: dict[str, list[Spent]] = field(default_factory=dict)

    def add(self, name: str, spent: Spent) -> None:
        """Adds what the next size took."""
        self.found.setdefault(name, []).append(spent)
        print(f"  {name}: {spent.seconds:.2f} s, {spent.mib:.0f} MiB", file=sys.stderr, flush=True)


def variables(folder: Path, **more: str) -> dict[str, str]:
    """Variables of every run: the plugins of this bench, locks of its own."""
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    path = os.pathsep.join([str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {
        "PYTHONPATH": path,
        "JAX_PLATFORMS": "cpu",
        "TMPDIR": str(scratch),
        "STOPWATCH": str(folder / "stopwatch.json"),
        **more,
    }


def of_parts(folder: Path, part: str, spent: Spent) -> Spent:
    """One part of a run of pytest."""
    seconds = json.loads((folder / "stopwatch.json").read_text(encoding="utf-8"))[part]
    return replace(spent, seconds=seconds, wall=math.nan)


def play_entries(one: Path, folder: Path, entries: int, lines: Lines) -> None:
    """Plays everything with one size of the suite."""
    multiplied(one, folder, entries)
    given = variables(folder)

    def commands(*arguments: str, ends: Sequence[int] = (0,)) -> Spent:
        return spend([*JITPERF, *arguments], folder, given, ends)

    lines.add("collect", spend([*PYTEST, "--collect-only"], folder, given))
    lines.add("collect, without the plugin", spend([*PYTEST, *PLAIN, "--collect-only"], folder, given))

    spent = spend([*PYTEST, "-p", "scaling.replay"], folder, given)
    lines.add("run all items, probe replayed", of_parts(folder, "tests", spent))
    lines.add("the end of that run", of_parts(folder, "end", spent))
    spent = spend([*PYTEST, *PLAIN], folder, {**given, "REPLAY": "1"})
    lines.add("run all items, without the plugin", of_parts(folder, "tests", spent))
    lines.add("the end of that run, without", of_parts(folder, "end", spent))
    spent = spend([*PYTEST, "-p", "scaling.replay", "--jitperf-json=results.json"], folder, given)
    lines.add("run all items, --jitperf-json", of_parts(folder, "tests", spent))
    lines.add("the end of that run, --jitperf-json", of_parts(folder, "end", spent))

    spend([sys.executable, "-c", _SHARDS], folder, given)
    lines.add("jitperf merge, two shards", commands("merge", "a.json", "b.json", "-o", "merged.json"))
    lines.add("jitperf report (HTML)", commands("report", "results.json", "-o", "report.html"))

    lines.add("jitperf show", commands("show"))
    lines.add("jitperf show --json", commands("show", "--json"))
    before = folder / "before"
    shutil.copytree(folder / "__jitperf__", before / "__jitperf__", ignore=shutil.ignore_patterns("programs"))
    spend([sys.executable, "-c", _CHANGED, "__jitperf__"], folder, given)
    lines.add("jitperf diff, a tenth changed", commands("diff", "before/__jitperf__", "__jitperf__", ends=(1,)))
    shutil.rmtree(before)

    lines.add(
        "update one entry",
        spend([*PYTEST, "--jitperf-update-force", "test_0000.py::test_step_0[0-outer]"], folder, given),
    )
    for stray in range(entries // 10):
        (folder / "__jitperf__" / "programs" / f"{stray:032x}.jaxexport").write_bytes(b"\0")
    lines.add("jitperf prune, a tenth to remove", commands("prune"))
    shutil.rmtree(folder / "__jitperf__")
    lines.add("jitperf update --from, all new", commands("update", "--force", "--from", "results.json"))
    shutil.rmtree(folder)


def print_entries(sizes: Sequence[int], lines: Lines) -> None:
    """The table of ``play_entries``; the smallest size is what is taken off for the growth."""
    rows = []
    for name, found in lines.found.items():
        seconds, mib = [each.seconds for each in found], [each.mib for each in found]
        exponents = [growth(sizes, values) for values in (seconds, mib)]
        shown = ["flat" if each is None else f"{each:.2f}" for each in exponents]
        wall = "" if math.isnan(found[-1].wall) else f"{found[-1].wall:.2f}"
        cells = (*(f"{each:.2f}" for each in seconds), shown[0], wall, *(f"{each:.0f}" for each in mib), shown[1])
        rows.append([name, *cells])
    numbers = [f"{size:,}" for size in sizes]
    headers = [
        "",
        *(f"{each} s" for each in numbers),
        "growth",
        "wall s",
        *(f"{each} MiB" for each in numbers),
        "growth",
    ]
    print(f"\nEntries: {numbers[-1]} in {sizes[-1] // PER_FILE} files, seconds of processor time and largest memory\n")
    print(_table(rows, headers))
    print("\nThe parts of a run of pytest share its memory. flat: within a tenth of what the smallest takes.")


def play_items(one: Path, scratch: Path, stored: Sequence[int], items: Sequence[int]) -> None:
    """Measures and gates items for real, with few and with many entries stored, and prints the table."""
    rows = []
    for entries in stored:
        folder = scratch / f"items-{entries}"
        files = multiplied(one, folder, entries)
        given = variables(folder)
        for count in items:
            names = [file.name for file in files[: count // PER_FILE]]
            if len(names) * PER_FILE < count:
                continue
            spent = spend([*PYTEST, *names], folder, given)
            same = _same_program(folder)
            tests = of_parts(folder, "tests", spent)
            plain = of_parts(folder, "tests", spend([*PYTEST, *PLAIN, *names], folder, given))
            each, plain_each = tests.seconds / count * 1e3, plain.seconds / count * 1e3
            cells = (spent.wall, tests.seconds, each, plain_each, tests.mib, plain.mib)
            rows.append([f"{entries:,}", f"{count:,}", same, *(f"{cell:.0f}" for cell in cells)])
            print(f"  {rows[-1]}", file=sys.stderr, flush=True)
        shutil.rmtree(folder)
    headers = ["stored", "measured", "same program", "wall s", "CPU s", "ms each", "without", "MiB", "without"]
    print("\nItems measured for real and gated from the identity of their program\n")
    print(_table(rows, headers))
    print("\nwithout: the same tests without the plugin, each function run, jitted, called and exported.")


def _same_program(folder: Path) -> str:
    """How many were gated so, from the last line of a run."""
    text = (folder / "output.txt").read_text(encoding="utf-8")
    found = re.search(r"\((\d+) same program\b", text)
    return found[1] if found else "?"


def play_soak(folder: Path, items: int, every: int) -> None:
    """Measures items one after the other, with the plugin and without, and prints the table."""
    soaked(folder, items, 25)
    found = {}
    for name, options in (("with", ()), ("without", PLAIN)):
        file = folder / f"{name}.jsonl"
        given = variables(folder, WATCH=str(file), EVERY=str(every))
        spend([*PYTEST, "-p", "scaling.watch", *options], folder, given)
        found[name] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    keys = ("ms", "mib", "jits", "executables", "arrays", "objects")
    rows = [
        [f"{one['items']:,}", *(f"{side[key]:,.0f}" for side in (one, other) for key in keys)]
        for one, other in zip(found["with"], found["without"], strict=True)
    ]
    heads = ("ms each", "MiB", "jits", "executables", "arrays", "objects")
    print(f"\nSoak: {items:,} items in one process (eager, outer, inner and both in turn); right: without the plugin\n")
    print(_table(rows, ["items", *heads, *heads]))
    print("\nms each: processor time. jits, arrays: that are alive, of JAX's; executables: that its backend holds.")


def _table(rows: Sequence[Sequence[str]], headers: Sequence[str]) -> str:
    aligned = ["left", *["right"] * (len(headers) - 1)]
    return tabulate(rows, headers=headers, tablefmt="plain", colalign=aligned, disable_numparse=True)


def _sizes(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=_sizes, default=[1000, 10000], help="sizes of the suite")
    parser.add_argument("--items", type=_sizes, default=[250, 1000], help="items that are measured for real")
    parser.add_argument("--soak", type=int, default=2000, help="items of the soak")
    parser.add_argument("--every", type=int, default=200, help="items per row of the soak")
    parser.add_argument("--only", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    given = parser.parse_args()
    parts = given.only.split(",")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        one = scratch / "one"
        if {"entries", "items"} & set(parts):
            recorded(one)
        if "entries" in parts:
            # Once unseen: the first run of each command writes bytecode and reads everything from the disk.
            play_entries(one, scratch / "first", PER_FILE, Lines())
            sizes, lines = [PER_FILE, *given.entries], Lines()
            for size in sizes:
                print(f"{size:,} entries", file=sys.stderr, flush=True)
                play_entries(one, scratch / f"entries-{size}", size, lines)
            print_entries(sizes, lines)
        if "items" in parts:
            play_items(one, scratch, given.entries, given.items)
        if "soak" in parts:
            play_soak(scratch / "soak", given.soak, given.every)


if __name__ == "__main__":
    main()
