"""A results file: results to bytes and back, and everything that can be wrong with the bytes.

One line per measurement, so that a large file can be searched, and read in an editor. Programs stand once each at its
end, under the name that is made from their content; measurements name them in their entry.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from pytest_jitperf.baseline import document as baseline
from pytest_jitperf.baseline.codec import FieldError, shown
from pytest_jitperf.baseline.model import Entry, from_json
from pytest_jitperf.baseline.programs import ARTIFACT_PATTERN, artifact_name
from pytest_jitperf.errors import ResultsError
from pytest_jitperf.jsontext import Kind, decode, read_bytes
from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.results import Results, Unmeasured
from pytest_jitperf.row import Row
from pytest_jitperf.status import Status
from pytest_jitperf.wording import choose, show

__all__ = ["FORMAT", "FORMAT_VERSION", "Document", "dump", "parse", "read"]

FORMAT = "pytest-jitperf-results"
# 1  first format: see Document
FORMAT_VERSION = 1

_AGAIN = "make it again with pytest --jitperf-json"
_KIND = Kind(
    noun="results",
    file="a results file",
    restore=_AGAIN,
    resolve=_AGAIN,
    error=ResultsError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a results file holds.

    Attributes:
        format: Always ``"pytest-jitperf-results"``.
        version: Of the format; within one, fields are added and never changed.
        plugin: Version of pytest-jitperf that wrote it.
        mode: ``"gate"`` where the run compared with the baselines, ``"update"`` where it wrote them.
        measurements: Everything measured.
        unmeasured: Marked items that measured nothing.
        lines: What hooks added to the reports.
        programs: Stored programs in base64, by the name under which entries have them.
    """

    format: Literal["pytest-jitperf-results"]
    version: Literal[1]
    plugin: str
    mode: Literal["gate", "update"]
    measurements: tuple[Row, ...]
    unmeasured: tuple[Unmeasured, ...]
    programs: Mapping[str, str]
    lines: tuple[str, ...] = ()


def dump(results: Results) -> bytes:
    """Writes results in their one form: UTF-8, LF, a final newline; numbers that are not JSON become null."""
    programs = {name: content for row in results.rows for name, content in row.programs.items()}
    measurements = [_measurement(row) for row in results.rows]
    unmeasured = [msgspec.to_builtins(each) for each in results.unmeasured]
    lines = [
        f'{{"format": {_line(FORMAT)},',
        f' "version": {FORMAT_VERSION},',
        f' "plugin": {_line(results.plugin)},',
        f' "mode": {_line(results.mode)},',
        f' "measurements": [{_block(map(_line, measurements))}],',
        f' "unmeasured": [{_block(map(_line, unmeasured))}],',
        f' "lines": [{_block(map(_line, results.lines))}],',
        f' "programs": {{{_block(f"{_line(name)}: {_line(programs[name])}" for name in sorted(programs))}}}}}',
    ]
    # Half of a surrogate pair, as a test id may hold, has no UTF-8 form; its escape is the one that JSON has for it.
    return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")


def read(path: Path) -> Results:
    """Reads a results file.

    Raises:
        ResultsError: It is not there, damaged, or something else; one line with file, place, what was seen, and the
            cure.
    """
    content = read_bytes(path, _KIND)
    if content is None:
        raise ResultsError(f"{path} does not exist; give a file that pytest --jitperf-json has written")
    return parse(content, str(path))


def parse(content: bytes, name: str) -> Results:
    """Reads the content of a results file.

    Args:
        content: All of it.
        name: Of the file, for messages.

    Raises:
        ResultsError: See ``read``.
    """
    value = decode(content, name, _KIND)
    _check(value, name)
    _restore_numbers(value)
    try:
        found = msgspec.convert(value, Document)
    except msgspec.ValidationError as error:
        raise ResultsError(f"{name}: {_placed(str(error))}; {_AGAIN}") from error
    except UnicodeEncodeError as error:
        seen = f"has half of a surrogate pair ({shown(error.object)}) where no text of a test stands"
        raise ResultsError(f"{name} {seen}; {_AGAIN}") from error
    for file, text in found.programs.items():
        _check_program(name, file, text)
    rows = []
    for place, row in enumerate(found.measurements):
        where = f"{name}: measurements[{place}]"
        _check_words(row, where)
        rows.append(_with_programs(row, found.programs, where))
    return Results(
        plugin=found.plugin, mode=found.mode, rows=tuple(rows), unmeasured=found.unmeasured, lines=found.lines
    )


def _check(value: Any, name: str) -> None:
    """Refuses what is JSON and no results that this version can read."""
    if not isinstance(value, dict):
        raise ResultsError(f"{name} holds {shown(value)}, expected an object; {_AGAIN}")
    seen = value.get("format")
    if seen == baseline.FORMAT:
        raise ResultsError(
            f'{name} is a baseline ("format": "{seen}"), expected results ("format": "{FORMAT}"); give a file that '
            "pytest --jitperf-json has written"
        )
    if seen != FORMAT:
        has = "lacks" if seen is None else f'has "format": {shown(seen)} and not'
        raise ResultsError(
            f'{name} holds no results: it {has} "format": "{FORMAT}"; give a file that pytest --jitperf-json has '
            "written"
        )
    version = value.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ResultsError(f"{name} has version {shown(version)}, expected {FORMAT_VERSION}; {_AGAIN}")
    if version > FORMAT_VERSION:
        raise ResultsError(
            f"{name} was written by a newer pytest-jitperf (version {version}, this one reads {FORMAT_VERSION}); "
            "upgrade pytest-jitperf"
        )


def _check_words(row: Row, where: str) -> None:
    """Refuses a word that no report would know what to do with."""
    valid = {"outcome": Outcome, "effect": Effect, "status": Status}
    for name, words in valid.items():
        word = getattr(row, name)
        if word not in {each.value for each in words}:
            raise ResultsError(
                f"{where}.{name} is {shown(word)}; {choose(word, [each.value for each in words])}. Written by a newer "
                f"pytest-jitperf? Upgrade it, or {_AGAIN}"
            )


def _check_program(name: str, file: str, text: str) -> None:
    if not re.fullmatch(ARTIFACT_PATTERN, file):
        raise ResultsError(f"{name}: programs has {show(file)}, which is not the name of a stored program; {_AGAIN}")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ResultsError(f"{name}: programs[{show(file)}] is not base64; {_AGAIN}") from error
    if artifact_name(content) != file:
        raise ResultsError(f"{name}: programs[{show(file)}] is not what its name says (its sha256 differs); {_AGAIN}")


def _with_programs(row: Row, programs: Mapping[str, str], where: str) -> Row:
    """The row with the programs that its entry names."""
    if row.entry is None:
        return replace(row, programs={})
    try:
        entry = from_json(dict(row.entry))
    except FieldError as error:
        raise ResultsError(f"{where}.entry: {error}; {_AGAIN}") from error
    names = sorted(_named(entry))
    missing = next((each for each in names if each not in programs), None)
    if missing is not None:
        raise ResultsError(f"{where}.entry names the program {missing}, which the file does not hold; {_AGAIN}")
    return replace(row, programs={each: programs[each] for each in names})


def _named(entry: Entry) -> Iterator[str]:
    for program in (*entry.helpers.values(), *([entry.program] if entry.program is not None else [])):
        if program.artifact is not None:
            yield program.artifact


def _measurement(row: Row) -> dict[str, Any]:
    """A row as it is written: programs stand elsewhere, and what is no number was not measured."""
    made: dict[str, Any] = _plain(row.to_json())
    del made["programs"]
    made["metrics"] = {name: value for name, value in made["metrics"].items() if value is not None}
    made["timed"] = {name: sample for name, sample in made["timed"].items() if None not in sample.values()}
    return made


def _plain(value: Any) -> Any:
    """Values of JSON; NaN and infinities as null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _restore_numbers(value: dict[str, Any]) -> None:
    """Puts back what ``null`` stands for in a ratio: an interval that is open on that side, or no estimate."""
    meant = {"estimate": math.nan, "low": 0.0, "high": math.inf}
    measurements = value.get("measurements")
    for row in measurements if isinstance(measurements, list) else ():
        findings = row.get("findings") if isinstance(row, dict) else None
        for finding in findings if isinstance(findings, list) else ():
            ratio = finding.get("ratio") if isinstance(finding, dict) else None
            if isinstance(ratio, dict):
                ratio |= {key: number for key, number in meant.items() if key in ratio and ratio[key] is None}


def _placed(message: str) -> str:
    """The sentence of msgspec with the path first: ``measurements[0].line: Expected `int`, got `str```."""
    what, _, path = message.partition(" - at ")
    place = path.strip("`").removeprefix("$").removeprefix(".")
    return f"{place}: {what}" if place else what


def _line(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _block(lines: Iterator[str]) -> str:
    text = ",\n  ".join(lines)
    return f"\n  {text}\n " if text else ""
