"""A baseline file as a whole: its one canonical form, and each kind of damage named with place and cure."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_jitperf.baseline.document import FORMAT_VERSION, dump, empty, not_finite, parse, read_document
from pytest_jitperf.errors import BaselineError

ENTRY = {
    "environment": {"jax": "0.10.2", "jaxlib": "0.10.2", "platform": "cpu", "python": "3.11"},
    "exact": {"peak_bytes": 64},
    "timed": {"run": {"high": 0.3, "low": 0.1, "median": 0.2, "rounds": 5}},
}
DOCUMENT: dict[str, Any] = {
    **empty(),
    "tests": {"test_a": {"main": {"outer": {"cpu": ENTRY}, "eager": {"cpu": ENTRY}}}},
}
GOOD = dump(DOCUMENT)
RESTORE = "restore it from version control, or delete it and record it again with pytest --jitperf-update"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def refusal(content: bytes) -> str:
    with pytest.raises(BaselineError) as caught:
        parse(content, "b.json")
    return str(caught.value)


def test_the_form_has_sorted_keys_two_spaces_and_a_final_newline() -> None:
    document = {"version": 1, "tests": {"Z": {}, "é[\n]": 0.1, "a": "ü"}, "format": "pytest-jitperf"}

    assert (
        dump(document)
        == (
            '{\n  "format": "pytest-jitperf",\n  "tests": {\n    "Z": {},\n    "a": "ü",\n    "é[\\n]": 0.1\n  },\n'
            '  "version": 1\n}\n'
        ).encode()
    )


@settings(deadline=None)
@given(tests=st.dictionaries(st.text(), json_values, max_size=3))
@example(tests={"\ud800": 1})
@example(tests={"\x00\u2028": "e\u0301"})
def test_what_is_written_is_read_back_and_written_the_same(tests: dict[str, Any]) -> None:
    document = {**empty(), "tests": tests}

    assert parse(dump(document), "b.json") == document
    assert dump(parse(dump(document), "b.json")) == dump(document)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_json_are_never_written(value: float) -> None:
    document = {"a": [1, {"b c": value}]}

    with pytest.raises(ValueError, match="JSON"):
        dump(document)
    assert not_finite(document) == "a / 1 / b c"
    assert not_finite(DOCUMENT) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", f"b.json is empty; {RESTORE}"),
        (b" \r\n\n", f"b.json is empty; {RESTORE}"),
        (gzip.compress(GOOD), "b.json is compressed with gzip; decompress it"),
        (GOOD.decode().encode("utf-16"), "b.json is UTF-16 text; save it as UTF-8"),
        (b"\xfe\xff" + GOOD.decode().encode("utf-16-be"), "b.json is UTF-16 text; save it as UTF-8"),
        (b"\xef\xbb\xbf" + GOOD, "b.json begins with a byte order mark; save it as UTF-8 without one"),
        (
            GOOD.decode().encode("utf-16-le"),
            "b.json, line 1, column 2, holds NUL characters (UTF-16, or a write that a crash cut short); " + RESTORE,
        ),
        (
            bytes(512),
            "b.json, line 1, column 1, holds NUL characters (UTF-16, or a write that a crash cut short); " + RESTORE,
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
            "b.json is a git-lfs pointer, not the file itself; run git lfs pull",
        ),
        (b'{\n "caf\xe9": 1}', "b.json, line 2, column 6, is not UTF-8 (byte 0xe9); save it as UTF-8"),
        ('{"é'.encode()[:-1], f"b.json, line 1, column 3, is cut off; {RESTORE}"),
        (b'{"format": "pytest', f"b.json, line 1, column 19, is cut off; {RESTORE}"),
        (b'{"format":\n\n', f"b.json, line 1, column 11, is cut off; {RESTORE}"),
        (
            GOOD + GOOD,
            f"b.json, line {GOOD.count(10) + 1}, column 1, goes on after the end of the document "
            f"(two documents in one file?); {RESTORE}",
        ),
        (
            b'{\n  "format": "pytest-jitperf",\n<<<<<<< HEAD\n  "version": 1,\n=======\n  "version": 2,\n>>>>>>> x\n}',
            "b.json, line 3, column 1, has git conflict markers; take one side whole, then run pytest --jitperf-update",
        ),
        (
            b"{\r\n||||||| base\r\n}",
            "b.json, line 2, column 1, has git conflict markers; take one side whole, then run pytest --jitperf-update",
        ),
        (
            b'{"tests": {"a": {"a": 1, "a": 3}},\n<<<<<<< HEAD\n "version": 1\n=======\n "version": 2\n>>>>>>> x\n}',
            "b.json, line 2, column 1, has git conflict markers; take one side whole, then run pytest --jitperf-update",
        ),
        (
            b"{'format': 1}",
            f"b.json, line 1, column 2, is not JSON (Expecting property name enclosed in double quotes); {RESTORE}",
        ),
        (
            b'{"tests": {"b": 2,\n "a": 1,\n "a": 3}}',
            f'b.json, line 3, column 2, has the key "a" twice in one object; {RESTORE}',
        ),
        (
            b'{"tests": {"a": {"a": 1, "a": 3}}}',
            f'b.json has the key "a" twice in one object; {RESTORE}',
        ),
        (
            b'{"version": 1,\n "tests": {"a": ' + b"1" * 5000 + b"}}",
            f"b.json, line 2, column 17, has a number of 5000 digits; {RESTORE}",
        ),
        (b"[" * 20000 + b"]" * 20000, f"b.json is nested too deeply to be a baseline; {RESTORE}"),
        (
            dump({**empty(), "x": json.loads("[" * 70 + "]" * 70)}),
            f"b.json is nested too deeply to be a baseline; {RESTORE}",
        ),
        (b"[]", f"b.json holds a list, expected an object; {RESTORE}"),
        (b"3", f"b.json holds 3, expected an object; {RESTORE}"),
        (b"null", f"b.json holds null, expected an object; {RESTORE}"),
        (
            b'{"version": 1, "tests": {}}',
            f'b.json is not a baseline: it lacks "format": "pytest-jitperf"; move it away, or {RESTORE}',
        ),
        (dump({**empty(), "version": True}), f"b.json has version true, expected 1; {RESTORE}"),
        (dump({**empty(), "version": "1"}), f'b.json has version "1", expected 1; {RESTORE}'),
        (dump({**empty(), "version": 0}), f"b.json has version 0, expected 1; {RESTORE}"),
        (
            dump({**empty(), "version": 2}),
            "b.json was written by a newer pytest-jitperf (version 2, this one reads 1); upgrade pytest-jitperf",
        ),
        (
            dump({**empty(), "version": 7}),
            "b.json was written by a newer pytest-jitperf (version 7, this one reads 1); upgrade pytest-jitperf",
        ),
        (dump({**empty(), "tests": []}), f'b.json has no object under "tests"; {RESTORE}'),
    ],
)
def test_damage_is_one_line_with_place_and_cure(content: bytes, message: str) -> None:
    assert refusal(content) == message
    assert FORMAT_VERSION == 1


@settings(deadline=None)
@given(cut=st.integers(0, len(GOOD) - 3))
def test_every_file_that_is_cut_short_is_refused_in_one_line(cut: int) -> None:
    assert "\n" not in refusal(GOOD[:cut])


def parsed(content: bytes) -> dict[str, Any] | str:
    try:
        return parse(content, "b.json")
    except BaselineError as error:
        return str(error)


@settings(deadline=None)
@given(place=st.integers(0, len(GOOD) - 1), inserted=st.binary(min_size=1, max_size=3), removed=st.integers(0, 3))
def test_any_other_damage_is_either_refused_in_one_line_or_harmless(place: int, inserted: bytes, removed: int) -> None:
    found = parsed(GOOD[:place] + inserted + GOOD[place + removed :])

    assert "\n" not in found if isinstance(found, str) else isinstance(found["tests"], dict)


def test_line_ends_and_spacing_make_no_difference() -> None:
    assert parse(GOOD.replace(b"\n", b"\r\n"), "b.json") == DOCUMENT
    assert parse(json.dumps(DOCUMENT, separators=(",", ":")).encode(), "b.json") == DOCUMENT


def test_a_file_that_is_not_there_is_no_damage(tmp_path: Path) -> None:
    assert read_document(tmp_path / "none" / "b.json") is None


def test_a_directory_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BaselineError) as caught:
        read_document(tmp_path)

    assert str(caught.value) == f"{tmp_path} is a directory, expected a baseline file; move it away"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "b.json"
    os.mkfifo(pipe)

    with pytest.raises(BaselineError, match=r"b\.json is not a regular file, expected a baseline file"):
        read_document(pipe)


@pytest.mark.parametrize("kind", ["component", "loop"])
def test_a_path_that_cannot_be_followed_is_named_with_the_reason(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    path = {"component": tmp_path / "file" / "b.json", "loop": tmp_path / "loop"}[kind]
    reason = {"component": "Not a directory", "loop": "Too many levels of symbolic links"}[kind]

    with pytest.raises(BaselineError) as caught:
        read_document(path)

    assert str(caught.value) == f"{path} cannot be read: {reason}; check the path and its permissions"
