"""The baseline file of a module: its place, its entries, and what is wrong with them."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_jitperf.baseline.document import dump, empty
from pytest_jitperf.baseline.model import Entry, from_json, to_json
from pytest_jitperf.baseline.store import Baseline, Key, Unusable, baseline_path, orphans, read
from pytest_jitperf.baseline.update import update
from pytest_jitperf.errors import BaselineError

ENTRY = from_json(
    {
        "inputs": "x: f32[8]",
        "exact": {"peak_bytes": 64},
        "timed": {"run": {"high": 0.3, "low": 0.1, "median": 0.2, "rounds": 5}},
        "environment": {"jax": "0.10.2", "jaxlib": "0.10.2", "platform": "cpu", "python": "3.11"},
    }
)
KEYS = (
    Key(test="TestA::test_step[64]", strategy="eager", device_kind="cpu"),
    Key(test="TestA::test_step[64]", strategy="outer", device_kind="cpu"),
    Key(test="TestA::test_step[64]", strategy="outer", device_kind="NVIDIA H200"),
    Key(test="test_b", measurement="second", strategy="outer", device_kind="cpu"),
)
EXAMPLE = Path(__file__).parents[2] / "example_project" / "tests" / "__jitperf__"
MUTATIONS = Path(__file__).parents[2] / ".." / "shared" / "cases" / "baseline_mutations.py"


@pytest.fixture(autouse=True)
def _locks_of_tests_lie_among_the_temporary_files_of_tests(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.getbasetemp()))


def look_up(baseline: Baseline, key: Key) -> Entry | Unusable | None:
    return baseline.entry(*key.parts)


def holding(tests: dict[str, Any], path: Path = Path("b.json")) -> Baseline:
    return Baseline(path=path, document={**empty(), "tests": tests})


@pytest.mark.parametrize(
    ("baseline_dir", "expected"),
    [
        (None, "/repo/tests/sub/__jitperf__/test_a.b.json"),
        (Path("ci/cpu"), "/repo/ci/cpu/tests/sub/test_a.b.json"),
        (Path("/elsewhere"), "/elsewhere/tests/sub/test_a.b.json"),
    ],
)
def test_a_baseline_lies_beside_its_module_or_mirrored(baseline_dir: Path | None, expected: str) -> None:
    assert baseline_path(Path("/repo/tests/sub/test_a.b.py"), baseline_dir, Path("/repo")) == Path(expected)


def test_a_module_outside_the_root_has_no_place_in_a_baseline_directory() -> None:
    with pytest.raises(BaselineError) as caught:
        baseline_path(Path("/other/test_a.py"), Path("ci"), Path("/repo"))

    assert str(caught.value) == (
        "/other/test_a.py lies outside the root directory /repo, and the baseline directory ci mirrors only what is "
        "inside; give a --rootdir that holds both, or leave the baseline directory out"
    )


def test_a_file_that_is_not_there_has_no_entries(tmp_path: Path) -> None:
    baseline = read(tmp_path / "b.json")

    assert (baseline.keys, look_up(baseline, KEYS[0])) == ((), None)
    assert list(tmp_path.iterdir()) == []


def test_entries_are_found_by_their_exact_names_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    update(path, dict.fromkeys(KEYS, ENTRY))
    baseline = read(path)

    assert baseline.keys == tuple(sorted(KEYS))
    assert [look_up(baseline, key) for key in KEYS] == [ENTRY] * 4
    assert baseline.entry("TestA::test_step", "main", "outer", "cpu") is None
    assert baseline.entry("TestA::test_step[64]", "second", "outer", "cpu") is None
    assert baseline.entry("TestA::test_step[64]", "main", "outer", "gpu") is None


@pytest.mark.parametrize(
    "test",
    ["a/b", "a\\b", "a::b", "a\nb", "a\0b", "x" * 10_000, "e\u0301", "\u00e9", "a.b", "a / b", "\ud800", "../..", ""],
)
def test_any_text_is_a_test_id(tmp_path: Path, test: str) -> None:
    key = Key(test=test, strategy="outer", device_kind="cpu")
    update(tmp_path / "b.json", {key: ENTRY, KEYS[0]: ENTRY})
    update(tmp_path / "b.json", {KEYS[1]: ENTRY})

    assert look_up(read(tmp_path / "b.json"), key) == ENTRY
    assert [each.name for each in tmp_path.iterdir()] == ["b.json"]
    assert "\n" not in str(key)
    assert str(key).isprintable()


def test_names_are_shown_without_what_goes_without_saying() -> None:
    assert [str(key) for key in KEYS[2:]] == [
        "TestA::test_step[64] / outer / NVIDIA H200",
        "test_b / second / outer / cpu",
    ]
    assert str(Key(test="main", strategy="main", device_kind="cpu")) == "main / main / cpu"


def test_a_wrong_entry_is_unusable_with_its_file_its_names_and_its_key() -> None:
    wrong = {**to_json(ENTRY), "exact": {"peak_bytes": "64"}}
    baseline = holding({"t": {"main": {"outer": {"cpu": wrong, "gpu": to_json(ENTRY)}}}})

    assert baseline.entry("t", "main", "outer", "cpu") == Unusable(
        'b.json, t / outer / cpu: exact.peak_bytes is "64", expected a finite number of 0 or more; restore it from '
        "version control, or record it again with pytest --jitperf-update"
    )
    assert baseline.entry("t", "main", "outer", "gpu") == ENTRY


@pytest.mark.parametrize("level", [None, 3, [], "text", True])
def test_names_that_lead_nowhere_are_unusable_and_harm_no_others(level: object) -> None:
    good = {"main": {"outer": {"cpu": to_json(ENTRY)}}}
    baseline = holding({"bad": level, "worse": {"main": level}, "x-note": "keep me", "t": good})

    for test in ("bad", "worse"):
        found = baseline.entry(test, "main", "outer", "cpu")
        assert isinstance(found, Unusable)
        assert found.reason.startswith(f"b.json, {test} / outer / cpu: what is there before ")
    assert baseline.entry("t", "main", "outer", "cpu") == ENTRY
    assert baseline.keys == (Key(test="t", strategy="outer", device_kind="cpu"),)


def test_programs_lie_beside_the_file_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(Path("deep", "b.json"))

    assert read(tmp_path / "link.json").directory == tmp_path.resolve() / "deep"


def test_entries_of_tests_and_strategies_that_are_gone_are_orphans(tmp_path: Path) -> None:
    update(tmp_path / "b.json", dict.fromkeys(KEYS, ENTRY))
    baseline = read(tmp_path / "b.json")

    assert orphans(baseline, {"TestA::test_step[64]": {"eager", "outer"}, "test_b": {"outer"}, "new": set()}) == ()
    assert orphans(baseline, {"TestA::test_step[64]": {"outer"}}) == (KEYS[0], KEYS[3])


@pytest.fixture(name="mutations")
def load_mutations() -> ModuleType:
    if not MUTATIONS.exists():
        pytest.skip(f"the collection of damaged files is not beside this checkout ({MUTATIONS})")
    spec = importlib.util.spec_from_file_location("baseline_mutations", MUTATIONS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("source", ["made here", "test_training.json", "test_waves.json"])
def test_each_collected_mutation_meets_its_stated_outcome(tmp_path: Path, mutations: ModuleType, source: str) -> None:
    path = tmp_path / "b.json"
    if source == "made here":
        update(path, dict.fromkeys(KEYS, ENTRY))
    else:
        path.write_bytes((EXAMPLE / source).read_bytes())
    good = read(path)
    outcomes = {}
    for name, mutate in mutations.MUTATIONS.items():
        mutated = mutate(dump(good.document).decode())
        path.write_bytes(mutated if isinstance(mutated, bytes) else mutated.encode())
        outcomes[name] = outcome(path, good)

    assert outcomes == mutations.EXPECT


def outcome(path: Path, good: Baseline) -> str:
    """What the plugin makes of a damaged file, in the words of the collection."""
    refusal = refused(path)
    if refusal is not None:
        before = path.read_bytes()
        os.utime(path, (1, 1))
        with pytest.raises(BaselineError):
            update(path, {KEYS[0]: ENTRY}, [KEYS[1]])
        untouched = (path.read_bytes(), path.stat().st_mtime) == (before, 1)
        return "refuse" if refusal.startswith(str(path)) and "\n" not in refusal and untouched else refusal
    pairs = [(look_up(good, key), look_up(read(path), key)) for key in good.keys]
    usable = sum(before == now for before, now in pairs)
    unusable = sum(isinstance(now, Unusable) and str(path) in now.reason for _, now in pairs)
    every = len(pairs)
    return {(every, 0): "same", (every - 1, 1): "unusable"}.get((usable, unusable), str(pairs))


def refused(path: Path) -> str | None:
    try:
        read(path)
    except BaselineError as error:
        return str(error)
    return None
