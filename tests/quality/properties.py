"""What has to hold of whatever reads, merges or judges files, however they came about.

Each function takes what a strategy of ``damage.py`` gave, fails where something is wrong, and otherwise returns a word
for what came of it, to be counted.
"""

from __future__ import annotations

import copy
import json
import subprocess
import zlib
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from damage import BASELINE, ENTRIES, NEW, NEW_KEY, entries_of, without_artifacts
from pytest_jitperf import cli, resultsfile
from pytest_jitperf.baseline.changes import changes
from pytest_jitperf.baseline.document import dump, parse
from pytest_jitperf.baseline.merge import merge_entry
from pytest_jitperf.baseline.model import Entry, from_json, to_json
from pytest_jitperf.baseline.store import Key, Unusable, orphans, read
from pytest_jitperf.baseline.update import update
from pytest_jitperf.errors import BaselineError, ResultsError
from pytest_jitperf.joining import join
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.judge.verdict import judge
from pytest_jitperf.measurement import Measurement
from pytest_jitperf.merging import merge
from pytest_jitperf.plan import make_plan
from pytest_jitperf.report.codequality import code_quality
from pytest_jitperf.report.failure import failure_text
from pytest_jitperf.report.markdown import summary
from pytest_jitperf.report.terminal import count_line, table
from pytest_jitperf.results import Results, leg
from pytest_jitperf.settings import Settings
from pytest_jitperf.spec import parse_marker


def _one_line(error: object, name: object) -> None:
    text = str(error)
    assert text.startswith(str(name)), text
    assert "\n" not in text, text
    assert text.isprintable(), text


def check_baseline(content: bytes, path: Path) -> str:
    """Any bytes are refused in one line or read, and are not changed by that; an update loses nothing of them."""
    path.write_bytes(content)
    try:
        baseline = read(path)
    except BaselineError as error:
        _one_line(error, path)
        _refuses_update(path, content)
        return "refused"
    assert path.read_bytes() == content
    keys = baseline.keys
    before = {key: baseline.entry(*key.parts) for key in keys}
    for key, found in before.items():
        if isinstance(found, Unusable):
            _one_line(found.reason, path)
        elif isinstance(found, Entry):
            assert from_json(to_json(found)) == found, key
            assert all(changes(found, NEW))
            assert all(changes(NEW, found))
    orphans(baseline, {"test_cascade": {"outer"}})
    try:
        update(path, {NEW_KEY: without_artifacts(NEW)})
    except BaselineError as error:
        _one_line(error, path)
        assert path.read_bytes() == content
        return "read, not updated"
    after = read(path)
    assert after.entry(*NEW_KEY.parts) == merge_entry(_usable(before.get(NEW_KEY)), without_artifacts(NEW))
    assert set(after.keys) == {*keys, NEW_KEY}
    assert {key: after.entry(*key.parts) for key in keys if key != NEW_KEY} == {
        key: found for key, found in before.items() if key != NEW_KEY
    }
    _same_but_for(NEW_KEY, parse(content, "b"), parse(path.read_bytes(), "b"))
    return "read" if all(isinstance(each, Entry) for each in before.values()) else "read, entries unusable"


def _failed(what: str) -> str:
    raise AssertionError(what)


def _usable(found: Entry | Unusable | None) -> Entry | None:
    return found if isinstance(found, Entry) else None


def _refuses_update(path: Path, content: bytes) -> None:
    try:
        update(path, {NEW_KEY: NEW}, list(ENTRIES))
    except BaselineError as error:
        _one_line(error, path)
    else:
        _failed("a file that cannot be read was updated")
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def _same_but_for(key: Key, old: dict[str, Any], new: dict[str, Any]) -> None:
    """Nothing of a document went, whatever it was, but what stood under one key."""
    for document in (old, new):
        level: Any = document["tests"]
        holders = []
        for part in key.parts:
            holders.append((level, part))
            level = level.get(part) if isinstance(level, dict) else None
        for holder, part in reversed(holders):
            if isinstance(holder, dict) and (part == key.device_kind or not holder.get(part)):
                holder.pop(part, None)
    # NaN is not equal to itself, and two texts of it are.
    assert json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True)


def check_merged_entries(pair: tuple[Entry, Entry], stored_times: bool, renew: bool) -> str:
    """What an update makes of any two entries speaks of today's program, can be read, and invents and loses nothing."""
    old, new = pair
    merged = merge_entry(old, new, stored_times=stored_times, renew=renew)
    assert from_json(to_json(merged)) == merged
    again = merge_entry(merged, new, stored_times=stored_times, renew=renew)
    assert again == merged
    assert (merged.inputs, merged.exact, merged.helpers.keys()) == (new.inputs, new.exact, new.helpers.keys())
    pairs = [(merged.program, new.program), *((merged.helpers[key], new.helpers[key]) for key in new.helpers)]
    for stored, now in pairs:
        assert (stored is None) == (now is None)
        if stored is not None and now is not None:
            assert (stored.fingerprint, stored.inputs, stored.exact) == (now.fingerprint, now.inputs, now.exact)
            assert stored.artifact is not None or now.artifact is None
    assert new.host.keys() <= merged.host.keys() <= {*old.host, *new.host}
    assert merged.timed in (old.timed, new.timed)
    assert merged.environment in (old.environment, new.environment)
    return "old" if merged is old else "new" if merged == new else "both"


def check_two_files(first: dict[str, Any], second: dict[str, Any], path: Path) -> str:
    """An update with all of another file loses no entry of either, whichever of them comes first."""
    found = []
    for one, other in ((first, second), (second, first)):
        path.write_bytes(dump(one))
        files = {key: without_artifacts(entry) for key, entry in entries_of(other).items()}
        update(path, files)
        merged = read(path)
        held = entries_of(one)
        assert set(merged.keys) == {*held, *files}
        for key in merged.keys:
            expected = held[key] if key not in files else merge_entry(_lost(held.get(key)), files[key])
            assert merged.entry(*key.parts) in (expected, held.get(key)), key
        assert path.read_bytes() == dump(merged.document)
        found.append(set(merged.keys))
    assert found[0] == found[1]
    return f"{len(found[0])} entries"


def _lost(entry: Entry | None) -> Entry | None:
    """An entry as an update takes it whose programs are not there: these files are about everything else."""
    return entry and replace(
        entry,
        program=entry.program and replace(entry.program, artifact=None),
        helpers={key: replace(each, artifact=None) for key, each in entry.helpers.items()},
    )


def _as_measured(document: dict[str, Any], number: int) -> dict[str, Any]:
    """The document with the numbers of each entry its own, as those of two tests are, and times that nothing shares."""
    made: dict[str, Any] = copy.deepcopy(document)
    rows = (
        ((test, measurement, strategy, kind), entry)
        for test, measurements in made["tests"].items()
        for measurement, strategies in measurements.items()
        for strategy, kinds in strategies.items()
        for kind, entry in kinds.items()
    )
    for place, (key, entry) in enumerate(rows):
        own = zlib.crc32(repr(key).encode())
        for part in (entry, *entry.get("helpers", {}).values()):
            part["exact"] = {name: value + own for name, value in part.get("exact", {}).items()}
        entry["host"] = {
            name: {each: n + own for each, n in row.items()} for name, row in entry.get("host", {}).items()
        }
        seconds = 1e-3 + 1e-5 * number + 1e-7 * place
        sample = {"median": seconds, "low": seconds, "high": seconds, "rounds": 1}
        entry["timed"] = dict.fromkeys([*entry.get("timed", {}), "run"], sample)
    return made


def check_git_merge(base: dict[str, Any], ours: dict[str, Any], theirs: dict[str, Any], folder: Path) -> str:
    """Where git merges two branches without a conflict, each entry is that of the branch that changed it.

    Otherwise the file is refused, and both branches are told where. Git goes by lines alone: where the numbers of one
    entry are those of another, it may take one for the other, so each has its own here, as measured ones have.
    """
    base, ours, theirs = (_as_measured(each, number) for number, each in enumerate((base, ours, theirs)))
    held = {}
    for name, document in (("base", {}), ("ours", ours), ("theirs", theirs)):
        path = folder / f"{name}.json"
        path.write_bytes(dump(base))
        if document:
            update(path, {key: without_artifacts(entry) for key, entry in entries_of(document).items()})
        held[name] = read(path)
    command = ["git", "merge-file", "-p", *(str(folder / f"{name}.json") for name in ("ours", "base", "theirs"))]
    merged = subprocess.run(command, capture_output=True, check=False)
    path = folder / "merged.json"
    path.write_bytes(merged.stdout)
    try:
        found = read(path)
    except BaselineError as error:
        _one_line(error, path)
        if not merged.returncode:
            return "no conflict, refused"
        return "conflict" if "has git conflict markers" in str(error) else _failed(f"a conflict is called {error}")
    assert merged.returncode == 0
    mixed = False
    for key in {key for each in held.values() for key in each.keys}:
        before, mine, other = (held[name].entry(*key.parts) for name in ("base", "ours", "theirs"))
        if mine in (before, other):
            assert found.entry(*key.parts) == other, key
        elif other == before:
            assert found.entry(*key.parts) == mine, key
        else:
            mixed = True
    return "merged, one entry by both" if mixed else "merged"


def check_results(content: bytes, name: str = "r.json") -> str:
    """Any bytes are refused in one line or are results, of which each report can be made."""
    try:
        results = resultsfile.parse(content, name)
    except ResultsError as error:
        _one_line(error, name)
        return "refused"
    again = resultsfile.dump(results)
    assert resultsfile.dump(resultsfile.parse(again, name)) == again
    unmeasured = {each.nodeid: each.status for each in results.unmeasured}
    lines = [*table(results.rows, verbose=True), *count_line(results.rows, len(unmeasured), update=False)]
    assert not any("\n" in line for line in lines)
    assert summary(results.rows, unmeasured, update=False)
    assert json.loads(code_quality(results.rows, "")) is not None
    return "read"


def check_joined(given: list[Results]) -> str:
    """Joined results hold each item that was measured anywhere, as somebody measured it, and joining twice is once."""
    named = [(f"{number}.json", each) for number, each in enumerate(given)]
    joined = join(named).results
    rows = [row for each in given for row in each.rows]
    measured = {row.nodeid for row in rows if row.outcome != "no such device"}
    assert {row.nodeid for row in joined.rows} == {row.nodeid for row in rows}
    assert all(row in rows for row in joined.rows)
    legs = {leg(row) for row in rows if row.outcome != "no such device"}
    last = {place: [row for row in rows if leg(row) == place][-1] for place in legs}
    kept = {leg(row): row for row in joined.rows}
    assert {leg(row) for row in joined.rows if row.nodeid in measured} == {
        place for place, row in last.items() if row.outcome != "no such device"
    } | {place for place in kept if place[0] in measured and kept[place].outcome != "no such device"}
    assert join([*named, ("again.json", joined)]).results.rows == joined.rows
    assert resultsfile.parse(resultsfile.dump(joined), "r.json") == joined
    return f"{len(joined.rows)} rows"


def check_judged(entry: Entry, measured: Measurement, evidence: Evidence, strategy: str, stored_times: bool) -> str:
    """Any entry that can be read is judged: it has a word, and a text that could be printed."""
    marker = parse_marker((), {"strategies": ["eager", "outer", "inner"], "inner": [len], "run": "1 ms"})
    plan = make_plan(merge([marker]), Settings(stored_times=stored_times), strategy, "", "cpu")
    verdict = judge(plan, measured, entry, evidence)
    assert all(each.sentence for each in verdict.findings)
    text = failure_text(verdict, nodeid="t", strategy=strategy, measured=measured, where="f", verbose=True)
    assert text
    return verdict.outcome.value


def check_command(content: bytes, folder: Path) -> str:
    """The commands that read a file end with an exit code, and with what they say as lines, whatever is in it."""
    path, good = folder / "__jitperf__" / "test_a.json", folder / "good.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    good.write_bytes(BASELINE)
    codes = []
    for command in (
        ["show", str(path)],
        ["show", "--json", str(path)],
        ["show", "--table", str(path)],
        ["diff", str(good), str(path)],
        ["diff", "--json", str(path), str(good)],
        ["prune", "--dry-run", str(folder)],
        ["merge", str(path), "-o", "-"],
    ):
        # Bytes below the text, which merging writes to.
        with TextIOWrapper(BytesIO(), "utf-8") as out, redirect_stdout(out), redirect_stderr(out):
            codes.append(cli.main(command))
    assert set(codes) <= {0, 1, 2}
    assert path.read_bytes() == content
    return " ".join(map(str, codes))
