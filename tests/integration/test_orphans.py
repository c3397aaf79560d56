"""Entries of tests that are gone: named after a whole collection, removed when asked for, never by chance."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
@pytest.mark.jitperf(strategies=["eager", "outer"])
def test_a(jitperf):
    jitperf(library.f, X)

@pytest.mark.jitperf(strategies=["outer"])
def test_b(jitperf):
    jitperf(library.f, X)
"""

# As pytest-shard does it: no hook is told.
SHARING_OUT = """
def pytest_collection_modifyitems(items):
    items[:] = items[:1]
"""

# What is left of them: neither the strategy eager nor test_b.
LEFT = TESTS.replace('"eager", ', "").replace("test_b", "test_c")
NAMED = "__jitperf__/test_g.json: 2 entries without a test: test_a / eager / cpu, test_b / outer / cpu; remove with *"


def test_they_are_named_and_removed_only_when_asked_for(project: Any) -> None:
    project.write_tests(TESTS)
    recorded = project.record()
    project.write_tests(LEFT)
    project.quick_run().stdout.fnmatch_lines([NAMED])
    assert project.baseline.read_bytes() == recorded

    pruned = project.quick_run("--jitperf-prune")
    pruned.stdout.fnmatch_lines(
        [
            "__jitperf__/test_g.json: 0 written, 2 removed",
            "  test_a / eager / cpu: removed",
            "  test_b / outer / cpu: removed",
        ]
    )
    assert list(project.entries()) == ["test_a / main / outer"]


@pytest.mark.parametrize(
    "partial",
    [
        ("-k", "test_a or test_c"),
        ("-m", "jitperf"),
        ("test_g.py::test_a",),
        ("--deselect", "test_g.py::test_c"),
        ("--lf",),
        ("--jitperf-strategies=outer",),
        ("-k", "nothing"),
        ("--collect-only",),
    ],
    ids=" ".join,
)
def test_a_partial_run_names_and_removes_none(project: Any, partial: tuple[str, ...]) -> None:
    project.write_tests(TESTS)
    recorded = project.record()
    project.write_tests(LEFT)
    result = project.quick_run("--jitperf-prune", "--jitperf-missing=ok", *partial)
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    assert project.baseline.read_bytes() == recorded
    result.stdout.no_fnmatch_line("*without a test*")


@pytest.mark.parametrize(
    "broken",
    ["def test_broken(:\n", '@pytest.mark.jitperf(strategies=["oter"])\ndef test_d(jitperf):\n    pass\n'],
    ids=["does_not_import", "cannot_be_expanded"],
)
def test_neither_does_a_run_that_could_not_collect_the_file(project: Any, broken: str) -> None:
    project.write_tests(TESTS)
    recorded = project.record()
    project.write_test((project.pytester.path / "test_g.py").read_text().replace("test_a", "test_z") + broken)
    result = project.quick_run("--jitperf-prune")
    assert project.baseline.read_bytes() == recorded
    result.stdout.no_fnmatch_line("*without a test*")


def test_neither_does_a_run_in_which_a_plugin_left_something_out(project: Any) -> None:
    project.write_tests(TESTS)
    recorded = project.record()
    project.pytester.makeconftest(
        """
        def pytest_collection_modifyitems(config, items):
            config.hook.pytest_deselected(items=items[1:])
            del items[1:]
        """
    )
    project.quick_run("--jitperf-prune").assert_outcomes(passed=1, deselected=2)
    assert project.baseline.read_bytes() == recorded


def test_an_update_names_them_too(project: Any) -> None:
    project.write_tests(TESTS)
    project.record()
    project.write_tests(LEFT)
    result = project.quick_run("--jitperf-update")
    result.stdout.fnmatch_lines(["__jitperf__/test_g.json: 1 written, 1 unchanged", NAMED])
    assert len(project.entries()) == 4


def test_a_baseline_whose_test_file_is_gone_is_named_and_emptied(project: Any) -> None:
    project.record()
    gone = project.baseline.with_name("test_gone.json")
    gone.write_bytes(project.baseline.read_bytes())

    named = "*__jitperf__/test_gone.json: 2 entries without a test: *--jitperf-prune"
    project.quick_run().stdout.fnmatch_lines([named])
    assert gone.read_bytes() == project.baseline.read_bytes()

    kept = project.baseline.read_bytes()
    project.quick_run("--jitperf-prune")
    assert (project.baseline.read_bytes(), b"test_g" in gone.read_bytes()) == (kept, False)


def test_with_a_directory_of_its_own_a_baseline_is_not_missed_for_want_of_a_test_beside_it(project: Any) -> None:
    option = "--jitperf-baseline-dir=ci/__jitperf__"
    project.quick_run("--jitperf-update", option)
    recorded = project.pytester.path / "ci" / "__jitperf__" / "test_g.json"
    other = recorded.with_name("test_other.json")
    other.write_bytes(recorded.read_bytes())

    project.quick_run("--jitperf-prune", option)

    assert other.read_bytes() == recorded.read_bytes()


FEWER = """
@pytest.mark.jitperf(strategies=["outer"], sizes={{n: lambda n=n: (jnp.ones(n),) for n in {sizes}}})
def test_sizes(jitperf):
    jitperf(library.f)

@pytest.mark.jitperf(strategies=["outer"])
def test_names(jitperf):
    for name in {names}:
        jitperf.measure(library.f, args=(X,), name=name)
"""


def test_what_a_test_no_longer_measures_is_named_and_removed_when_asked_for(project: Any) -> None:
    project.write_tests(FEWER.format(sizes=(4, 8, 16), names=("a", "b")))
    new = project.quick_run()
    new.assert_outcomes(passed=2, warnings=2)  # of each test one, for all that it measures
    new.stdout.fnmatch_lines(
        [
            "*JitperfWarning: test_g.py::test_sizes?outer? / 4, 8 and 16: no baseline yet; *",
            "*JitperfWarning: test_g.py::test_names?outer? / a and b: no baseline yet; *",
        ]
    )
    project.record()
    project.write_tests(FEWER.format(sizes=(4, 8), names=("a",)))
    # None of this hangs on a whole collection.
    named = (
        "__jitperf__/test_g.json: 2 entries that their tests no longer measure: "
        "test_names / b / outer / cpu, test_sizes / 16 / outer / cpu; remove with --jitperf-prune"
    )
    project.quick_run("-k", "test_").stdout.fnmatch_lines([named])

    project.quick_run("--jitperf-prune").stdout.fnmatch_lines(["__jitperf__/test_g.json: 0 written, 2 removed"])

    assert list(project.entries()) == ["test_names / a / outer", "test_sizes / 4 / outer", "test_sizes / 8 / outer"]


def test_a_damaged_baseline_whose_test_file_is_gone_fails_nothing(project: Any) -> None:
    project.record()
    gone = project.baseline.with_name("test_gone.json")
    gone.write_bytes(project.baseline.read_bytes()[:99])

    result = project.quick_run()

    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        [
            "__jitperf__/test_gone.json: its test file is gone, and it cannot be read; restore the test file, or "
            "delete it"
        ]
    )
    pruned = project.quick_run("--jitperf-prune")
    assert pruned.ret == pytest.ExitCode.USAGE_ERROR
    pruned.stdout.fnmatch_lines(["ERROR *test_gone.json, line *, is cut off; *"])
    assert gone.exists()


def test_a_plugin_that_shares_tests_out_without_a_word_makes_no_orphans(project: Any) -> None:
    project.write_tests(TESTS)
    recorded = project.record()
    project.pytester.makeconftest(SHARING_OUT)
    result = project.quick_run("--jitperf-prune")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*without a test*")
    assert project.baseline.read_bytes() == recorded


def test_of_a_test_file_that_was_renamed_the_baseline_can_be_renamed_too(project: Any) -> None:
    project.write_tests(TESTS)
    project.record()
    file = project.pytester.path / "test_g.py"
    file.rename(file.with_name("test_h.py"))
    told = (
        "__jitperf__/test_g.json: 3 entries without a test: *; rename it to test_h.json if its tests are there now, *"
    )
    project.quick_run().stdout.fnmatch_lines([told])

    project.baseline.rename(project.baseline.with_name("test_h.json"))
    result = project.quick_run()
    result.stdout.fnmatch_lines(["3 measured, 2 gated (2 same program), 1 reference, 0 without a baseline"])
    result.stdout.no_fnmatch_line("*without a test*")
