"""One item per test, strategy and device asked for, under ids that hold what was asked and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

TESTS = """
@pytest.mark.parametrize("n", [64, 128])
@pytest.mark.jitperf(strategies=["eager", "outer", "inner"], inner=[library.f])
def test_n(jitperf, n):
    jitperf(library.g, jnp.ones(n))

@pytest.mark.jitperf(strategies=["outer"], devices=["cpu", "gpu:0"])
def test_devices(jitperf):
    jitperf(library.g, X)

def test_bare(jitperf):
    jitperf(library.g, X)

@pytest.mark.jitperf(inner=[library.f])
def test_with_inner(jitperf):
    jitperf(library.g, X)

def test_ordinary():
    pass
"""


def collected(project: Any, *options: str) -> list[str]:
    result = project.quick_run("--collect-only", "-q", *options)
    assert result.ret == pytest.ExitCode.OK
    return [line.removeprefix("test_g.py::") for line in result.outlines if "::" in line]


def test_strategies_and_named_devices_stand_behind_the_ids_of_the_user(project: Any) -> None:
    project.write_tests(TESTS)
    assert collected(project) == [
        "test_n[64-eager]",
        "test_n[64-outer]",
        "test_n[64-inner]",
        "test_n[128-eager]",
        "test_n[128-outer]",
        "test_n[128-inner]",
        "test_devices[outer-cpu]",
        "test_devices[outer-gpu:0]",
        "test_bare[eager]",
        "test_bare[outer]",
        "test_with_inner[eager]",
        "test_with_inner[outer]",
        "test_with_inner[inner]",
        "test_with_inner[both]",
        "test_ordinary",
    ]


def test_strategies_on_the_command_line_leave_the_others_out(project: Any) -> None:
    project.write_tests(TESTS)
    assert collected(project, "--jitperf-strategies=outer,both") == [
        "test_n[64-outer]",
        "test_n[128-outer]",
        "test_devices[outer-cpu]",
        "test_devices[outer-gpu:0]",
        "test_bare[outer]",
        "test_with_inner[outer]",
        "test_with_inner[both]",
        "test_ordinary",
    ]


def test_devices_on_the_command_line_leave_the_others_out_and_are_the_default(project: Any) -> None:
    project.write_tests(TESTS)
    assert collected(project, "--jitperf-devices=cpu", "--jitperf-strategies=outer") == [
        "test_n[64-outer-cpu]",
        "test_n[128-outer-cpu]",
        "test_devices[outer-cpu]",
        "test_bare[outer-cpu]",
        "test_with_inner[outer-cpu]",
        "test_ordinary",
    ]


def test_strategies_in_the_ini_file_are_the_default_alone(project: Any) -> None:
    project.pytester.makeini("[pytest]\npythonpath = .\njitperf_strategies = outer\n")
    project.write_tests(TESTS)
    assert collected(project, "-k", "bare or (64 and not inner)") == [
        "test_n[64-eager]",
        "test_n[64-outer]",
        "test_bare[outer]",
    ]


def test_a_baseline_holds_the_ids_of_the_user_and_serves_whichever_way_the_device_was_asked_for(project: Any) -> None:
    project.write_tests(TESTS)
    project.record("-k", "outer and (64 or cpu)")
    assert list(project.entries()) == ["test_devices / main / outer", "test_n[64] / main / outer"]
    result = project.quick_run("-k", "outer and 64", "--jitperf-devices=cpu")
    result.stdout.fnmatch_lines(["1 measured, 1 gated (1 same program), 0 without a baseline*"])


def test_other_data_under_an_id_that_only_counts_is_told_as_such(project: Any) -> None:
    test = (
        "@pytest.mark.jitperf(strategies=['outer'])\n@pytest.mark.parametrize('x', [jnp.ones(8), jnp.ones(9)])\n"
        "def test_f(jitperf, x):\n    jitperf(library.f, x)\n"
    )
    project.write_tests(test)
    project.record()
    project.write_tests(test.replace("[jnp.ones(8), ", "[jnp.ones(7), jnp.ones(8), "))
    result = project.quick_run("-k", "x0")
    result.stdout.fnmatch_lines(
        [
            "*inputs changed: f32?8? -> f32?7?; *. 'x0' in its id only counts the parameters: give each an id of "
            "its own if they changed places"
        ]
    )
