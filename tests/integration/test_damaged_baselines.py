"""A baseline that cannot be read: one clear error, never a pass, never overwritten, and other files go on."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["outer"])
def test_a(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_b(jitperf):
    jitperf(library.g, X)

def test_ordinary():
    pass
"""

LINES = (("a", 10), ("b", 14))


@pytest.mark.parametrize("options", [(), ("--jitperf-update",)], ids=["gate", "update"])
@pytest.mark.parametrize("damage", ["truncated", "newer"])
def test_a_damaged_file_fails_its_tests_before_they_measure(
    project: Any, damage: str, options: tuple[str, ...]
) -> None:
    project.write_tests(TESTS)
    (project.pytester.path / "test_other.py").write_text((project.pytester.path / "test_g.py").read_text())
    good = project.record("test_g.py")
    if damage == "truncated":
        damaged, told = good[:300], ", line 12, column 33, is cut off; restore it from version control, or delete it *"
    else:
        damaged = good.replace(b'"version": 1', b'"version": 99')
        told = " was written by a newer pytest-jitperf (version 99, this one reads 1); upgrade pytest-jitperf*"
    project.baseline.write_bytes(damaged)

    result = project.quick_run(*options)
    messages = {f"test_{name}[outer]": f"*__jitperf__/test_g.json{told}\ntest_g.py:{line}: *" for name, line in LINES}
    project.assert_messages(result, messages)
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(
        ["test_other.py::test_a", "  outer * *", "ERROR *__jitperf__/test_g.json*", "2 measured*"]
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert project.baseline.read_bytes() == damaged


def test_a_disabled_run_does_not_read_it(project: Any) -> None:
    project.write_tests(TESTS)
    project.baseline.parent.mkdir()
    project.baseline.write_bytes(b"damaged")
    project.quick_run("--jitperf-disable").assert_outcomes(passed=3)
    assert project.baseline.read_bytes() == b"damaged"


@pytest.mark.parametrize("value", [math.nan, -1, "64"], ids=["nan", "negative", "text"])
def test_an_entry_that_cannot_be_used_fails_its_own_test(project: Any, value: object) -> None:
    project.write_tests(TESTS)
    good = project.record()

    def edit(tests: Any) -> None:
        tests["test_a"]["main"]["outer"]["cpu"]["exact"]["peak_bytes"] = value

    damaged = project.edit_baseline(edit)
    result = project.quick_run()
    seen = {"64": '"64"', "nan": "NaN"}.get(str(value), str(value))
    project.assert_messages(
        result,
        {
            "test_a[outer]": f"*__jitperf__/test_g.json, test_a / outer / cpu: exact.peak_bytes is {seen}, expected a "
            "finite number of 0 or more; restore it from version control, or record it again with pytest "
            "--jitperf-update\ntest_g.py:10: NotMeasured"
        },
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["1 measured, 1 gated (1 same program), *, 1 not measured*"])
    assert project.baseline.read_bytes() == damaged
    if value == -1:
        repaired = project.quick_run("--jitperf-update", "-k", "test_a")
        repaired.stdout.fnmatch_lines(["  test_a / outer / cpu: replaces an entry that could not be used"])
        assert len(project.baseline.read_bytes()) == pytest.approx(len(good), abs=30)
        project.quick_run().assert_outcomes(passed=3)


COLLECTION = Path(__file__).parents[2] / ".." / "shared" / "cases" / "baseline_mutations.py"

Mutate = Callable[[str], str | bytes]


def number(text: str, replacement: str) -> str:
    """Another last number."""
    *_, last = re.finditer(r"(?<=: )[0-9.e-]+(?=[,\n])", text[: text.index('"version"')])
    return f"{text[: last.start()]}{replacement}{text[last.end() :]}"


OWN: dict[str, tuple[Mutate, str]] = {
    "no_bytes": (lambda text: "", "refuse"),
    "cut": (lambda text: text[: len(text) // 3], "refuse"),
    "cut_in_the_last_line": (lambda text: text[:-2], "refuse"),
    "zeros_behind": (lambda text: text + "\0" * 512, "refuse"),
    "conflict": (lambda text: text.replace("{\n", "{\n<<<<<<< ours\n=======\n>>>>>>> theirs\n", 1), "refuse"),
    "comma_lost": (lambda text: text.replace(",\n", "\n", 1), "refuse"),
    "comma_more": (lambda text: text.replace("\n}\n", ",\n}\n"), "refuse"),
    "comment": (lambda text: f"// recorded on CI\n{text}", "refuse"),
    "key_twice": (lambda text: text.replace("{\n", '{\n "version": 1,\n', 1), "refuse"),
    "utf_16": (lambda text: text.encode("utf-16"), "refuse"),
    "byte_order_mark": (lambda text: "\ufeff" + text, "refuse"),
    "gzip": (lambda text: gzip.compress(text.encode()), "refuse"),
    "git_lfs": (lambda text: "version https://git-lfs.github.com/spec/v1\n", "refuse"),
    "other_json": (lambda text: '{"name": "package"}', "refuse"),
    "newer": (lambda text: text.replace('"version": 1', '"version": 2'), "refuse"),
    "version_text": (lambda text: text.replace('"version": 1', '"version": "1"'), "refuse"),
    "nan": (lambda text: number(text, "NaN"), "unusable"),
    "below_zero": (lambda text: number(text, "-0.1"), "unusable"),
    "text_for_a_number": (lambda text: number(text, '"7"'), "unusable"),
    "beyond_floats": (lambda text: number(text, "1e999"), "unusable"),
    "environment_lost": (lambda text: text.replace('"environment"', '"environments"'), "unusable"),
    "path_for_a_program": (lambda text: re.sub(r"[0-9a-f]{32}\.jaxexport", "../../secret", text), "unusable"),
    "windows": (lambda text: text.replace("\n", "\r\n"), "same"),
    "one_line": (lambda text: json.dumps(json.loads(text)), "same"),
    "notes": (lambda text: text.replace("{\n", '{\n "x-note": ["keep", null, "ü"],\n', 1), "same"),
    "notes_in_the_entry": (lambda text: text.replace('"environment"', '"x-why": "agreed",\n"environment"'), "same"),
}


def collected() -> dict[str, tuple[Mutate, str]]:
    if not COLLECTION.exists():
        pytest.skip(f"the collection of damaged files is not beside this checkout ({COLLECTION})")
    spec = importlib.util.spec_from_file_location("baseline_mutations", COLLECTION)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: (mutate, module.EXPECT[name]) for name, mutate in module.MUTATIONS.items()}


@pytest.mark.parametrize("mutations", [lambda: OWN, collected], ids=["own", "collected"])
def test_each_kind_of_damage_meets_its_outcome_and_does_not_reach_other_files(
    project: Any, mutations: Callable[[], Mapping[str, tuple[Mutate, str]]]
) -> None:
    """A test file for each, all in one run."""
    chosen = mutations()
    project.write_tests(
        """
        @pytest.mark.jitperf(strategies=["outer"])
        def test_name(jitperf):
            jitperf(library.f, X)
        """
    )
    good = project.record("test_g.py").decode()
    source = project.pytester.path / "test_g.py"
    files: dict[str, bytes] = {}
    for name, (mutate, _) in chosen.items():
        (source.parent / f"test_{name}.py").write_text(source.read_text().replace("test_name", f"test_{name}"))
        mutated = mutate(good.replace("test_name", f"test_{name}"))
        files[name] = mutated if isinstance(mutated, bytes) else mutated.encode()
        project.baseline.with_name(f"test_{name}.json").write_bytes(files[name])

    result = project.quick_run("-W", "error::pytest_jitperf.JitperfWarning")

    messages = project.messages(result)
    found = {name: outcome(messages.get(f"test_{name}[outer]", ""), name) for name in chosen}
    assert found == {name: expected for name, (_, expected) in chosen.items()}
    counted = [expected for _, expected in chosen.values()]
    result.assert_outcomes(
        passed=1 + counted.count("same"), failed=counted.count("unusable"), errors=counted.count("refuse")
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stdout.no_fnmatch_line("*Traceback*")
    assert {name: project.baseline.with_name(f"test_{name}.json").read_bytes() for name in chosen} == files


def outcome(message: str, name: str) -> str:
    """What a run made of a damaged file, in the words of the collection."""
    if not message:
        return "same"
    said, _, place = message.strip().partition("\n")
    _, _, where = said.partition(f"__jitperf__/test_{name}.json")
    unusable = where.startswith(f", test_{name} / outer / cpu: ")
    located = re.match(rf"test_{name}\.py:\d+: ", place)
    if not where or not located:
        return message
    return "unusable" if unusable else "refuse"
