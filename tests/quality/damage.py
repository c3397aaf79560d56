"""Files as they get damaged, and odd ones that can be read: strategies of hypothesis for what nobody thought of."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from pytest_jitperf import resultsfile
from pytest_jitperf.baseline.codec import FieldError
from pytest_jitperf.baseline.document import dump, empty
from pytest_jitperf.baseline.model import Entry, from_json, to_json
from pytest_jitperf.baseline.store import Baseline, Key
from pytest_jitperf.judge.evidence import Evidence
from pytest_jitperf.measurement import Comparison, Measurement, Program, Ratio
from pytest_jitperf.results import Results, leg
from pytest_jitperf.row import Row

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "example_project" / "tests" / "__jitperf__"
KEPT = {"TestNetwork::test_predict": ("inner", "outer"), "test_cascade": ("outer",)}
NEW_KEY = Key(test="test_new", strategy="outer", device_kind="cpu")


def _small() -> dict[str, Any]:
    """A part of the example project's baselines: each kind of entry, and not so much that damage rarely meets it."""
    tests: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.json")):
        for test, measurements in json.loads(path.read_bytes())["tests"].items():
            if test in KEPT:
                tests[test] = {"main": {name: measurements["main"][name] for name in KEPT[test]}}
    return {**empty(), "tests": tests}


def entries_of(document: Mapping[str, Any]) -> dict[Key, Entry]:
    baseline = Baseline(path=Path("b.json"), document=document)
    found = {key: baseline.entry(*key.parts) for key in baseline.keys}
    return {key: entry for key, entry in found.items() if isinstance(entry, Entry)}


SMALL = _small()
BASELINE = dump(SMALL)
ENTRIES = entries_of(SMALL)
NEW = ENTRIES[Key(test="test_cascade", strategy="outer", device_kind="cpu")]


def row_of(key: Key, entry: Entry, **changed: Any) -> Row:
    """A row as a run makes it, of what an entry holds."""
    plain = Row(
        nodeid=f"tests/test_a.py::{key.test}[{key.strategy}]",
        baseline="tests/__jitperf__/test_a.json",
        file="tests/test_a.py",
        test=key.test,
        measurement=key.measurement,
        strategy=key.strategy,
        device="",
        device_kind=key.device_kind,
        jax=entry.environment.jax,
        environment=entry.environment,
        inputs=entry.inputs,
        outcome="ok (same program)",
        status="passed",
        acceptable=True,
        gated_by="same program",
        compile=0.04,
        run=3e-5,
        launches=1,
        timed=entry.timed,
        metrics=entry.exact,
        # What a file holds of a program it must hold whole, and these files are about everything else.
        entry=to_json(without_artifacts(entry)),
    )
    return replace(plain, **changed)


def without_artifacts(entry: Entry) -> Entry:
    return replace(
        entry,
        program=entry.program and replace(entry.program, artifact=None, no_artifact="too large"),
        helpers={key: replace(each, artifact=None, no_artifact="too large") for key, each in entry.helpers.items()},
    )


RESULTS = resultsfile.dump(
    Results(plugin="0.1.0", mode="gate", rows=tuple(row_of(key, entry) for key, entry in ENTRIES.items()))
)

# What gets into such files, and what their readers have been wrong about elsewhere.
_TOKENS = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\n", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"'"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"-1", b"1e999", b"0.0", b"1" * 401, b"1" * 5000, b"-0"),
    *(b'"\\ud800"', b'"\\u0000"', "é\u2028".encode(), b"\xed\xa0\x80", b"[" * 3000, b'{"a":' * 70, b"//"),
    *(b"<<<<<<< HEAD\n", b"=======\n", b">>>>>>> theirs\n", b"||||||| base\n"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -0.0, 1, -1, 2**53 + 1, 10**30, 1e308, 5e-324, 0.1, math.nan, math.inf, -math.inf),
    *(
        "",
        "x",
        "\ud800",
        "\n",
        "x: f32[8]; y: f32[8]",
        "sha256:" + "0" * 64,
        "0" * 32 + ".jaxexport",
        "../../etc",
        "static",
    ),
    *([], {}, [1, 2], {"a": 1}, [[]], {"median": 0, "low": 0, "high": 0, "rounds": 0}, "0.0.0", "1.0.0", "3.11/0.10.2"),
)


@st.composite
def spliced(draw: st.DrawFn, content: bytes) -> bytes:
    """Content of a file with stretches of its bytes removed, and others put in."""
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        removed = draw(st.sampled_from((0, 0, 1, 2, 8, 64, 512, len(content))))
        other = draw(st.integers(0, len(content)))
        inserted = draw(
            st.sampled_from(_TOKENS)
            | st.binary(max_size=8)
            | st.sampled_from((b"", content[other : other + 40], content[other : other + 2000]))
        )
        content = content[:place] + inserted + content[place + removed :]
    return content


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with every key or position in it."""
    pairs = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, inner in pairs:
        yield node, key
        yield from _places(inner)


@st.composite
def altered(draw: st.DrawFn, document: Any) -> Any:
    """A JSON document with values changed, dropped, renamed and copied to where others are expected."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(document))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        how = draw(st.sampled_from(("value", "value", "number", "drop", "copy", "rename")))
        if how == "drop":
            del holder[key]
        elif how == "copy":
            source, place = draw(st.sampled_from(places))
            holder[key] = copy.deepcopy(source[place]) if _holds(source, place) else None
        elif how == "rename" and isinstance(holder, dict):
            name = draw(st.sampled_from(("", "main", "cpu", "é\n", "program", "a.b")) | st.text(max_size=5))
            holder[name] = holder.pop(key)
        elif how == "number":
            holder[key] = draw(st.integers(0, 10**6) | st.floats(0, 1e6))
        else:
            holder[key] = copy.deepcopy(draw(st.sampled_from(_VALUES)))
    return document


def _holds(source: Any, place: Any) -> bool:
    return place in source if isinstance(source, dict) else place < len(source)


def written(document: Any) -> bytes:
    """A document as any tool might write it; numbers that are not JSON included."""
    return json.dumps(document, indent=1).encode()


@st.composite
def conflicting(draw: st.DrawFn, content: bytes) -> bytes:
    """Two versions of a file as a merge leaves them that could not be done."""
    lines = content.splitlines(keepends=True)
    start = draw(st.integers(0, len(lines) - 1))
    end = draw(st.integers(start, min(len(lines), start + 12)))
    theirs = [each.replace(b"1", b"2") for each in lines[start:end]]
    middle = [b"<<<<<<< HEAD\n", *lines[start:end], b"=======\n", *theirs, b">>>>>>> branch\n"]
    return b"".join([*lines[:start], *middle, *lines[end:]])


def damaged(content: bytes) -> st.SearchStrategy[bytes]:
    """Anything that may stand where the content of a file is expected."""
    document = json.loads(content)
    return (
        st.binary(max_size=200)
        | st.lists(st.sampled_from(_TOKENS), max_size=12).map(b"".join)
        | spliced(content)
        | altered(document).map(written)
        | conflicting(content)
        | st.integers(0, len(content)).map(lambda end: content[:end])
        | st.integers(0, len(content)).map(lambda end: content[:end] + bytes(len(content) - end))
    )


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    """Entries that can be read, however odd: no update has to have written them."""
    value = to_json(draw(st.sampled_from(list(ENTRIES.values()))))
    if draw(st.booleans()):
        value = draw(altered(json.loads(json.dumps(value))))
    try:
        return from_json(value)
    except FieldError:
        assume(False)
        raise


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Entry, Entry]:
    """Two entries, often of one program with a number or a name changed, as before and after an update."""
    old = draw(entries())
    new = draw(entries())
    if draw(st.booleans()):
        value = draw(altered(json.loads(json.dumps(to_json(old)))))
        try:
            new = from_json(value)
        except FieldError:
            assume(False)
    if draw(st.booleans()):
        run = new.timed.get("run")
        # Small enough to be doubled: only what can be read is measured.
        jitter = {"run": replace(run, median=run.low, high=2 * run.high)} if run and run.high < 1e300 else {}
        jax = draw(st.sampled_from([new.environment.jax, "0.11.0", "0.12.0", "0.8.0"]))
        new = replace(new, timed={**new.timed, **jitter}, environment=replace(new.environment, jax=jax))
    return (old, new) if draw(st.booleans()) else (new, old)


def documents() -> st.SearchStrategy[dict[str, Any]]:
    """Baselines whose tests, strategies and devices partly are the same, of entries that can be read."""
    keys = st.builds(
        Key,
        test=st.sampled_from(["test_a", "test_b[é]", "TestC::test_c"]),
        measurement=st.sampled_from(["main", "warm"]),
        strategy=st.sampled_from(["eager", "outer"]),
        device_kind=st.sampled_from(["cpu", "NVIDIA H200"]),
    )
    return st.dictionaries(keys, entries(), max_size=4).map(_document)


def _document(held: Mapping[Key, Entry]) -> dict[str, Any]:
    document = empty()
    for key, entry in held.items():
        level = document["tests"]
        for part in key.parts[:-1]:
            level = level.setdefault(part, {})
        level[key.device_kind] = to_json(entry)
    return document


def results() -> st.SearchStrategy[Results]:
    """Results of shards, legs of a matrix and reruns, some of the same items."""
    (key, entry), *_ = ENTRIES.items()
    newer = replace(entry.environment, jax="0.11.0")
    rows = st.builds(
        lambda test, environment, outcome, run: row_of(
            replace(key, test=test),
            replace(entry, environment=environment),
            outcome=outcome,
            status="skipped" if outcome == "no such device" else "passed",
            run=run,
        ),
        test=st.sampled_from("abc"),
        environment=st.sampled_from([entry.environment, newer]),
        outcome=st.sampled_from(["ok", "REGRESSED", "no such device"]),
        run=st.sampled_from([1e-5, 2e-5]),
    )
    return st.builds(
        Results,
        plugin=st.sampled_from(["0.1.0", "0.2.0"]),
        mode=st.just("gate"),
        rows=st.lists(rows, max_size=4, unique_by=leg).map(tuple),
        unmeasured=st.just(()),
    )


def measurements() -> st.SearchStrategy[Measurement]:
    """What is measured today of the programs that the entries are of."""
    return st.sampled_from([_measurement(key, entry) for key, entry in ENTRIES.items()])


def _measurement(key: Key, entry: Entry) -> Measurement:
    def program(stored: Any) -> Program:
        return Program(fingerprint=stored.fingerprint, inputs=stored.inputs or entry.inputs, exact=stored.exact)

    return Measurement(
        strategy=key.strategy,
        device="cpu",
        device_kind=key.device_kind,
        inputs=entry.inputs,
        program=None if entry.program is None else program(entry.program),
        helpers={name: program(each) for name, each in entry.helpers.items()},
        exact=entry.exact,
        host=next(iter(entry.host.values())),
        timed=entry.timed,
        relative=entry.relative,
        environment=entry.environment,
    )


def evidence() -> st.SearchStrategy[Evidence]:
    """What a race may have found."""
    ratio = Ratio(estimate=1.5, low=1.4, high=1.6, rounds=20, seconds=1.0, decided=True)
    comparisons = (
        Comparison(same=True, how="fingerprint"),
        Comparison(same=False, cannot="the stored program is not there"),
        Comparison(same=False, run=ratio, xla=ratio, old_xla_seconds=0.03, old_exact={"flops": 0}),
    )
    helpers = [name for entry in ENTRIES.values() for name in entry.helpers]
    return st.sampled_from(comparisons).map(
        lambda each: Evidence(
            program=each, helpers=dict.fromkeys(helpers, each), trace_again={"trace": 9.0, "lower": 9.0}
        )
    )
