"""None, recorded, passed, regressed, accepted, improved: what users see over the life of a baseline."""

from __future__ import annotations

from typing import Any

import pytest

WAYS = pytest.mark.parametrize(
    "way", [(), ("-p", "no:xdist"), ("-n", "2")], ids=["xdist_idle", "without_xdist", "two_workers"]
)


@WAYS
def test_life_of_a_baseline(project: Any, library: str, slower: str, way: tuple[str, ...]) -> None:
    first = project.run(*way)
    first.assert_outcomes(passed=2, warnings=1)
    first.stdout.fnmatch_lines(["*no baseline yet; record one with --jitperf-update*", "2 measured, 0 gated, 1 ref*"])
    assert not project.baseline.exists()

    recorded = project.run(*way, "--jitperf-update")
    recorded.assert_outcomes(passed=2)
    recorded.stdout.fnmatch_lines(["__jitperf__/test_g.json: 2 written", "*test_g / outer / cpu: new"])
    bytes_recorded = project.baseline.read_bytes()

    unchanged = project.run(*way)
    unchanged.assert_outcomes(passed=2)
    unchanged.stdout.fnmatch_lines(["2 measured, 1 gated (1 same program), 1 reference, 0 without a baseline"])

    again = project.run(*way, "--jitperf-update")
    again.stdout.fnmatch_lines(["__jitperf__/test_g.json: 0 written, 2 unchanged"])
    assert project.baseline.read_bytes() == bytes_recorded

    project.write_library(slower)
    regressed = project.run(*way)
    regressed.assert_outcomes(passed=1, failed=1)
    regressed.stdout.fnmatch_lines(
        [
            "run regressed: * -> *, allowed x1.10",
            "  strategy outer, device cpu; __jitperf__/test_g.json, test_g / outer / cpu",
            "  why   the program changed: *",
            "  rule  tolerance run=10 % (default)",
            '  accept it with   pytest "test_g.py::test_g[[]outer[]]" --jitperf-update',
            "test_g.py:6: Regressed",
        ]
    )
    assert project.baseline.read_bytes() == bytes_recorded

    accepted = project.run(*way, "--jitperf-update")
    accepted.assert_outcomes(passed=2)
    accepted.stdout.fnmatch_lines(["__jitperf__/test_g.json: 2 written", "*program changed", "*run * -> *"])
    assert project.baseline.read_bytes() != bytes_recorded

    passed = project.run(*way)
    passed.assert_outcomes(passed=2)

    project.write_library(library)
    improved = project.run(*way)
    improved.assert_outcomes(passed=2)
    improved.stdout.fnmatch_lines(["*outer * improved*", "1 program has moved on since recorded*"])
