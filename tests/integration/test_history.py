"""``jitperf history`` and ``jitperf diff`` on baselines of real programs in a real repository.

A baseline is recorded before and after a change that makes the program slower. Twenty commits then hold one or the
other, with the run times scattered as recordings of unchanged code were: recording twenty times in the test would take
a minute, and what the machine at hand does in that minute would decide how it ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.cli import main

# Run time of one program of some 35 us, each recorded by a fresh pytest on two cores that had other work to do, against
# the median.
NOISE = (
    *(0.95, 0.60, 1.01, 1.00, 1.02, 2.21, 0.93, 1.03, 1.10, 1.03),
    *(0.65, 1.00, 1.02, 0.93, 1.11, 0.99, 1.02, 1.00, 0.99, 1.00),
)


def scattered(content: bytes, factor: float, place: int) -> bytes:
    """A baseline as recorded another time, each time of another program (or there had been no reason to record)."""
    document = json.loads(content)
    for strategies in document["tests"]["test_g"].values():
        for kinds in strategies.values():
            entry = kinds["cpu"]
            run = entry["timed"]["run"]
            run |= {name: float(f"{run[name] * factor:.4g}") for name in ("median", "low", "high")}
            if "program" in entry:
                entry["program"]["fingerprint"] = f"sha256:{place:064x}"
    return json.dumps(document, indent=2, sort_keys=True).encode() + b"\n"


def commit_all(project: Any, repository: Any, contents: Sequence[bytes]) -> list[str]:
    """A commit for each content; their hashes."""
    hashes = []
    for place, (content, factor) in enumerate(zip(contents, NOISE, strict=True), 1):
        project.baseline.write_bytes(scattered(content, factor, place))
        hashes.append(repository.commit(f"Change {place}"))
    return hashes


def marked(project: Any, capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, Any]]]:
    """The changes of run time that the history of the baseline tells, by strategy."""
    capsys.readouterr()
    assert main(["history", str(project.baseline), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    return {entry["strategy"]: entry["changes"] for entry in found["entries"]}


def test_the_commit_that_made_a_program_slower_is_named(
    project: Any,
    slower: str,
    git_repository: Callable[[Path], Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # nothing is folded
    fast = project.record()
    # So much slower that a recording may be off by as much as these are.
    project.write_library(slower.replace("range(6)", "range(60)"))
    slow = project.record()
    repository = git_repository(project.pytester.path)
    hashes = commit_all(project, repository, [fast] * 11 + [slow] * 9)

    changes = marked(project, capsys)

    assert {strategy: [each["commit"] for each in found] for strategy, found in changes.items()} == {
        "eager": [hashes[11]],
        "outer": [hashes[11]],
    }
    (change,) = changes["outer"]
    assert (change["date"], change["subject"], change["circumstances"]) == (
        "2026-01-12",
        "Change 12",
        ["program changed"],
    )
    assert change["ratio"] > 2

    monkeypatch.chdir(project.pytester.path)
    assert main(["history", "test_g.py", "--table", "--strategy", "outer"]) == 0
    assert f"  > {hashes[11][:9]} 2026-01-12  " in capsys.readouterr().out

    # What never varies says it without any statistics.
    assert main(["history", "test_g.py", "--metric", "hlo_ops", "--table"]) == 0
    assert f"  > {hashes[11][:9]} 2026-01-12  " in capsys.readouterr().out

    assert main(["diff", hashes[10], hashes[11], "--table"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{hashes[10]} -> {hashes[11]}: 2 changed of 2 entries\n")
    assert "\n__jitperf__/test_g.json, test_g / outer / cpu\n  program changed\n" in out


def test_noise_names_no_commit(
    project: Any, git_repository: Callable[[Path], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    content = project.record()
    commit_all(project, git_repository(project.pytester.path), [content] * 20)

    assert marked(project, capsys) == {"eager": [], "outer": []}


def test_what_an_update_is_about_to_change_is_a_difference_to_the_last_commit(
    project: Any,
    slower: str,
    git_repository: Callable[[Path], Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project.record()
    git_repository(project.pytester.path).commit("recorded")
    monkeypatch.chdir(project.pytester.path)
    capsys.readouterr()
    assert main(["diff", "--table"]) == 0
    assert capsys.readouterr().out == "HEAD -> the work tree: no difference in 2 entries\n"

    project.write_library(slower)
    project.record()
    capsys.readouterr()
    assert main(["diff", "--json"]) == 1
    found = {each["strategy"]: each for each in json.loads(capsys.readouterr().out)["entries"]}
    assert (found["outer"]["state"], found["outer"]["program_changed"]) == ("changed", True)
    assert [each["ratio"] > 1 for each in found["outer"]["numbers"] if each["metric"] == "hlo_ops"] == [True]
