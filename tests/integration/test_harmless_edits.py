"""Edits that change nothing pass as the same program, and an update writes names and nothing else."""

from __future__ import annotations

from typing import Any

TESTS = """
@pytest.mark.jitperf(strategies=["eager", "outer", "inner", "both"], inner=[library.f])
def test_g(jitperf):
    jitperf(library.g, X, 2.0)
"""

LIBRARY = """
import jax.numpy as jnp

def f(x):
    return 2 * x + jnp.sin(x)

def g(x, scale):
    y = f(x)
    z = jnp.cos(x) * scale
    return jnp.exp(y) + z
"""

REORDERED = """
import jax.numpy as jnp

# A comment, and two statements that changed places.
def f(x):
    return 2 * x + jnp.sin(x)

def g(x, scale):
    z = jnp.cos(x) * scale
    y = f(x)
    return jnp.exp(y) + z
"""

RENAMED = """
import jax.numpy as jnp

def wave(values):
    return 2 * values + jnp.sin(values)

def g(points, factor):
    y = wave(points)
    z = jnp.cos(points) * factor
    return jnp.exp(y) + z
"""

UNREAD = """
import jax.numpy as jnp

def f(x, how):
    return 2 * x + jnp.sin(x)

def g(rest, x, scale):
    y = f(x, rest)
    z = jnp.cos(x) * scale
    return jnp.exp(y) + z
"""

ALL_THE_SAME = "4 measured, 3 gated (3 same program), 1 reference, 0 without a baseline"


def recorded(project: Any) -> dict[str, Any]:
    project.write_library(LIBRARY)
    project.write_tests(TESTS)
    project.record()
    entries: dict[str, Any] = project.entries()
    return entries


def assert_all_the_same(project: Any) -> None:
    result = project.quick_run("--jitperf-strict")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines([ALL_THE_SAME])


def test_statements_in_another_order_change_no_byte(project: Any) -> None:
    recorded(project)
    before = project.baseline.read_bytes()
    project.write_library(REORDERED)
    assert_all_the_same(project)
    result = project.quick_run("--jitperf-update")
    result.stdout.fnmatch_lines(["__jitperf__/test_g.json: 0 written, 4 unchanged"])
    assert project.baseline.read_bytes() == before


def test_other_names_change_names_alone(project: Any) -> None:
    before = recorded(project)
    project.write_library(RENAMED)
    project.write_tests(TESTS.replace("library.f", "library.wave"))
    assert_all_the_same(project)
    result = project.quick_run("--jitperf-update")
    result.stdout.fnmatch_lines(
        [
            "__jitperf__/test_g.json: 4 written",
            "  test_g / both / cpu: inputs x: f32[[]8]; scale: weak f32[[][]] -> points: f32[[]8]; *",
            "  test_g / inner / cpu:",
            "    helper library.f(f32[[]8]) -> library.wave(f32[[]8])",
        ]
    )
    renamed = project.entries()
    for name, entry in before.items():
        (old,), (new,) = entry.values(), renamed[name].values()
        names: dict[str, Any] = {"inputs": "points: f32[8]; factor: weak f32[]"}
        if "helpers" in old:
            ((_, helper),) = old["helpers"].items()
            names["helpers"] = {"library.wave(f32[8])": {**helper, "inputs": "values: f32[8]"}}
        assert new == {**old, **names}, name


def test_arguments_that_nothing_reads_are_no_change(project: Any) -> None:
    before = recorded(project)
    project.write_library(UNREAD)
    project.write_tests(TESTS.replace("library.g, X", "library.g, jnp.ones(3), X"))
    assert_all_the_same(project)
    result = project.quick_run("--jitperf-update")
    result.stdout.fnmatch_lines(
        ["  test_g / outer / cpu:", "    inputs x: f32[[]8]; *-> rest: f32[[]3]; x: f32[[]8]; *"]
    )
    (old,), (new,) = (entries["test_g / main / outer"].values() for entries in (before, project.entries()))
    assert new["program"] == {**old["program"], "unused": [0]}
    assert new["exact"] == old["exact"]
    # And the other way round.
    project.write_library(LIBRARY)
    project.write_tests(TESTS)
    assert_all_the_same(project)


def test_a_renamed_helper_that_became_dearer_is_found(project: Any) -> None:
    project.write_library(LIBRARY)
    project.write_tests(TESTS.replace("X, 2.0", "jnp.ones(40_000), 2.0"))
    project.record("-k", "inner")
    dear = "sum(0 * jnp.cos(jnp.tan(values * n)) for n in range(20)) + jnp.sin(values)"
    project.write_library(RENAMED.replace("jnp.sin(values)", dear))
    project.write_tests(TESTS.replace("library.f", "library.wave").replace("X, 2.0", "jnp.ones(40_000), 2.0"))
    result = project.quick_run("-k", "inner")
    project.assert_messages(result, {"test_g[inner]": "helper wave (f in the baseline): run regressed: *"})


def test_many_more_arguments_cost_time_though_nothing_reads_them(project: Any) -> None:
    def written(count: int) -> str:
        return f"""
        @pytest.mark.jitperf(strategies=["outer"], tolerance={{"compile": "1000 %"}})
        def test_sum(jitperf):
            jitperf(lambda d: d["x"] + d["y"], {{"x": X, "y": X, **{{f"k{{n}}": X for n in range({count})}}}})
        """

    project.write_tests(written(1))
    project.record()
    project.write_tests(written(301))
    result = project.quick_run()
    project.assert_messages(
        result,
        {
            "test_sum[outer]": "run regressed: *\n"
            "  why   the program is the same: what costs more is to hand over the leaves of its arguments\n"
            "  why   on the host: *leaves 3 -> 303\n*"
        },
    )


UNROLLED = """
import jax.numpy as jnp

def f(x):
    for _ in range(40):
        x = jnp.sin(x) + 0.5 * x
    return x

def g(x, scale):
    return f(x) * scale
"""


def test_an_operation_that_xla_folds_away_is_no_slower_trace_however_often_it_is_traced(project: Any) -> None:
    project.write_library(UNROLLED)
    project.write_tests(TESTS)
    project.record()

    project.write_library(UNROLLED.replace("+ 0.5 * x", "+ 0.5 * x * 1.0"))
    assert_all_the_same(project)


def test_a_python_loop_in_the_trace_is_a_slower_trace(project: Any) -> None:
    project.write_library(UNROLLED)
    project.write_tests(TESTS)
    project.record()

    project.write_library(
        UNROLLED.replace("    return x", "    [len(str(n)) and int(n) for n in map(id, ())]\n    return x")
    )
    slow = "    for n in range(20_000):\n        (lambda: n)()\n    return x"
    project.write_library(UNROLLED.replace("    return x", slow))
    result = project.quick_run()

    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(["trace_calls regressed: *"])
