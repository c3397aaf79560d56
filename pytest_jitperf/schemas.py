"""JSON Schemas of what is written to disk, made from the types that are read and written.

What the types do not say is added: which words there are, what may be null, and what each field means, which stands in
the docstring of its type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any

import msgspec

from pytest_jitperf.baseline import document as baseline
from pytest_jitperf.baseline.model import Entry, StoredProgram
from pytest_jitperf.baseline.programs import ARTIFACT_PATTERN
from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.resultsfile import Document
from pytest_jitperf.status import Status

__all__ = ["baseline_schema", "results_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_WORDS = {"outcome": Outcome, "effect": Effect, "status": Status}
# What results write as null where it is no number: an interval that is open there, or no estimate.
_PERHAPS_NULL = ("estimate", "low", "high")
# Fields that say something else once the results have left the machine.
_LEFT_THE_MACHINE = {
    "file": "Test file, relative to pytest's root directory; its name alone where it lies outside.",
    "baseline": "Baseline file, likewise; empty where it lies outside, and where nothing was measured.",
}


def results_schema() -> dict[str, Any]:
    """The schema of what ``--jitperf-json`` and ``jitperf merge`` write."""
    definitions = _definitions(Document, Entry)
    row = definitions["Row"]["properties"]
    for name, words in _WORDS.items():
        row[name]["enum"] = [each.value for each in words]
        row[name].pop("default", None)
    row["entry"] = {
        "anyOf": [{"type": "null"}, {"$ref": "#/$defs/Entry"}],
        "description": row["entry"].get("description", ""),
    }
    # They stand once each at the end of the document.
    del row["programs"]
    for name, description in _LEFT_THE_MACHINE.items():
        row[name]["description"] = description
    for name in _PERHAPS_NULL:
        ratio = definitions["Ratio"]["properties"][name]
        definitions["Ratio"]["properties"][name] = {**ratio, "type": ["number", "null"]}
    document = definitions.pop("Document")
    document["properties"]["programs"]["propertyNames"] = {"pattern": f"^{ARTIFACT_PATTERN}$"}
    return {
        "$schema": _DIALECT,
        **document,
        "title": "Results of pytest-jitperf",
        "$defs": definitions,
    }


def baseline_schema() -> dict[str, Any]:
    """The schema of what an update writes."""
    inner: dict[str, Any] = {"$ref": "#/$defs/Entry"}
    for level in ("device kind", "strategy", "measurement", "test"):
        inner = {"description": f"By {level}.", "type": "object", "additionalProperties": inner}
    return {
        "$schema": _DIALECT,
        "title": "Baseline of pytest-jitperf",
        "description": "The entries of one test file.",
        "type": "object",
        "properties": {
            "format": {"const": baseline.FORMAT},
            "version": {"const": baseline.FORMAT_VERSION},
            "tests": inner,
        },
        "required": ["format", "version", "tests"],
        "$defs": _definitions(Entry),
    }


def _definitions(*kinds: type) -> dict[str, Any]:
    """The types and all that they are made of, by name, each field described."""
    _, found = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    described = {name: _described(definition) for name, definition in found.items()}
    program = described.get(StoredProgram.__name__)
    if program is not None:
        _add_patterns(program["properties"])
    return described


def _described(definition: Mapping[str, Any]) -> dict[str, Any]:
    """A definition with the sentences of its docstring at the fields that they are about."""
    text, _, listed = cleandoc(definition.get("description", "")).partition("\n\nAttributes:\n")
    made = {**definition, "description": text.partition("\n\n")[0].replace("``", "")}
    if not text:
        del made["description"]
    properties = dict(definition.get("properties", {}))
    for name, words in re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", listed, re.MULTILINE):
        if name in properties:
            properties[name] = {
                **properties[name],
                "description": " ".join(words.replace("``", "").replace("None", "null").split()),
            }
    return {**made, "properties": properties} if properties else made


def _add_patterns(properties: dict[str, Any]) -> None:
    """What a baseline is held to beyond its types: names of programs, which must not be paths."""
    for name, pattern in (("fingerprint", "sha256:[0-9a-f]{64}"), ("artifact", ARTIFACT_PATTERN)):
        properties[name] = {**properties[name], "pattern": f"^{pattern}$"}
