"""What is written holds to the schemas that are published, and they say what may be there."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.baseline.model import Entry, StoredProgram, to_json
from pytest_jitperf.baseline.store import Key
from pytest_jitperf.baseline.update import update
from pytest_jitperf.judge.outcome import Finding, Outcome
from pytest_jitperf.measurement import Environment, Ratio
from pytest_jitperf.results import Results, Unmeasured
from pytest_jitperf.resultsfile import dump
from pytest_jitperf.row import Row
from pytest_jitperf.schemas import baseline_schema, results_schema
from pytest_jitperf.status import Status

jsonschema = pytest.importorskip("jsonschema")


def complaints(schema: dict[str, Any], document: Any) -> list[str]:
    jsonschema.Draft202012Validator.check_schema(schema)
    return sorted(each.json_path for each in jsonschema.Draft202012Validator(schema).iter_errors(document))


@pytest.fixture(name="document")
def results_document(row: Callable[..., Row], record: Callable[..., Entry], environment: Environment) -> dict[str, Any]:
    ratio = Ratio(estimate=1.2, low=0.0, high=math.inf, rounds=1, seconds=0.1, decided=False)
    finding = Finding(outcome=Outcome.INCONCLUSIVE, sentence="run inconclusive", ratio=ratio)
    measured = row(status="passed", environment=environment, entry=to_json(record()), findings=(finding,))
    absent = row(outcome="no such device", status="skipped", device_kind="", compile=None, run=None)
    unmeasured = (Unmeasured(nodeid="a", status=Status.ERROR),)
    written = dump(Results(plugin="1", mode="gate", rows=(measured, absent), unmeasured=unmeasured))
    document: dict[str, Any] = json.loads(written)
    return document


def test_results_hold_to_their_schema(document: dict[str, Any]) -> None:
    assert complaints(results_schema(), document) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "pytest-jitperf"),
        (("version",), 2),
        (("mode",), "x"),
        (("measurements", 0, "outcome"), "x"),
        (("measurements", 0, "status"), ""),
        (("measurements", 0, "line"), 1.5),
        (("measurements", 0, "findings", 0, "outcome"), "x"),
        (("measurements", 0, "findings", 0, "ratio", "rounds"), None),
        (("measurements", 0, "entry", "environment"), None),
        (("measurements", 0, "entry", "program", "artifact"), "../x"),
        (("unmeasured", 0, "status"), "x"),
        (("programs",), {"../x": ""}),
    ],
)
def test_what_does_not_is_found_where_it_is(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> None:
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value

    place = "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    # An object that may be null is told as a whole.
    assert [place.startswith(each) for each in complaints(results_schema(), document)] == [True]


def test_every_field_of_a_measurement_is_described() -> None:
    described = results_schema()["$defs"]["Row"]["properties"]

    assert {*described} == {each.name for each in fields(Row)} - {"programs"}
    assert [name for name, each in described.items() if not each.get("description")] == []


def test_baselines_hold_to_their_schema(tmp_path: Path, record: Callable[..., Entry]) -> None:
    stored = StoredProgram(fingerprint="sha256:" + "a" * 64)
    entry = record(helpers={"m.f(f32[8])": replace(stored, exact={"flops": 1.0})})
    file = tmp_path / "b.json"
    update(file, {Key(test="test_a", strategy=name, device_kind="cpu"): entry for name in ("inner", "outer")})
    document = json.loads(file.read_bytes())

    assert complaints(baseline_schema(), document) == []

    document["tests"]["test_a"]["main"]["inner"]["cpu"]["timed"]["run"]["median"] = "fast"
    document["tests"]["test_a"]["main"]["outer"]["cpu"]["program"] = {"artifact": "../x"}
    assert complaints(baseline_schema(), document) == [
        "$.tests.test_a.main.inner.cpu.timed.run.median",
        "$.tests.test_a.main.outer.cpu.program",
    ]
