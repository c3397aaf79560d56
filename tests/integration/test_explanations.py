"""A failure says in two lines why, with -vv and in the JUnit file all of it."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest

LIBRARY = """
import jax
import jax.numpy as jnp
import numpy as np

W = jnp.eye(16)

def layer(x):
    return jnp.tanh(x @ W) * jax.nn.sigmoid(x @ (W + x.sum()))

def steps(x):
    {steps}

def batch(xs):
    {batch}

def lookup(x):
    {lookup}
"""

BEFORE = LIBRARY.format(
    steps="return jax.lax.scan(lambda h, _: (layer(h), None), x, None, length=12)[0]",
    batch="return jax.vmap(layer)(xs).sum(0)",
    lookup="return x + jnp.arange(400_000.0).reshape(400, 1000) ** 2",
)
AFTER = LIBRARY.format(
    steps="for _ in range(12):\n        x = layer(x)\n    return x",
    batch="return jnp.stack([layer(x) for x in xs]).sum(0)",
    lookup="return x + jnp.asarray(np.arange(400_000, dtype=np.float32).reshape(400, 1000) ** 2)",
)

# How long something runs hangs on the machine, so that only what is counted and compiling are judged.
TESTS = """
pytestmark = pytest.mark.jitperf(strategies=["outer"], tolerance={"run": "100000 %"})
exact = pytest.mark.jitperf(tolerance={"compile": "100000 %"})

def test_scan(jitperf):
    jitperf(library.steps, jnp.ones(16))

def test_vmap(jitperf):
    jitperf(library.batch, jnp.ones((8, 16)))

@exact
def test_constant(jitperf):
    jitperf(library.lookup, jnp.ones((400, 1000)))
"""


@pytest.fixture
def changed(project: Any) -> Any:
    """The project after a scan and a vmap became Python loops and a table was captured."""
    project.write_library(BEFORE)
    project.write_tests(TESTS)
    project.record()
    project.write_library(AFTER)
    return project


def test_a_lost_scan_a_lost_vmap_and_a_captured_constant_are_recognised_in_two_lines(changed: Any) -> None:
    result = changed.quick_run("--jitperf-max-time=1 s")

    why = {name: re.findall(r"^  why   (.*)$", text, re.MULTILINE) for name, text in changed.messages(result).items()}
    assert {name: len(lines) for name, lines in why.items()} == {
        "test_scan[outer]": 2,
        "test_vmap[outer]": 2,
        "test_constant[outer]": 2,
    }
    scan, vmap = why["test_scan[outer]"], why["test_vmap[outer]"]
    assert scan[0].startswith("the program changed as when a scan becomes a Python loop: operations ")
    assert ", while 1 -> 0, " in scan[0]
    assert vmap[0].startswith("the program changed as when a vmap becomes a Python loop: operations ")
    assert {
        bool(re.fullmatch(r"compile: xla .* -> .* \(\d+ % of the change\), .* CPU time; trace_calls .* -> .*", line))
        for line in (scan[1], vmap[1])
    } == {True}
    assert why["test_constant[outer]"][0] == (
        "peak_bytes: captured constants 0 B -> 1.53 MiB (f32[400,1000], 1.53 MiB); pass what is captured as an argument"
    )
    assert ", iota 2 -> 0, " in why["test_constant[outer]"][1]
    assert "more with -vv)" in changed.messages(result)["test_scan[outer]"]


def test_all_of_it_is_there_with_vv_and_in_the_junit_file_and_the_summary_shows_the_sentence(changed: Any) -> None:
    xml = changed.pytester.path / "junit.xml"

    result = changed.quick_run("-vv", f"--junitxml={xml}", "-k", "constant", "--jitperf-max-time=1 s")

    text = changed.messages(result)["test_constant[outer]"]
    why = re.findall(r"^  why   (.*)$", text, re.MULTILINE)
    assert len(why) > 2
    assert why[-1].startswith("besides the code nothing differs")
    assert "more with -vv" not in text
    values = {each.get("name"): each.get("value", "") for each in ElementTree.parse(xml).iter("property")}
    said = [text.partition("\n")[0], *re.findall(r"^  also  (.*)$", text, re.MULTILINE)]
    assert values["jitperf.main.why"].splitlines() == [*said, *why]
    result.stdout.fnmatch_lines(
        ["FAILED test_g.py::test_constant?outer? - Regressed: peak_bytes regressed: 3.05 MiB -> *"]
    )


def test_an_improvement_that_passes_is_explained_in_the_junit_file(project: Any) -> None:
    project.write_library(AFTER)
    project.write_tests(TESTS)
    project.record("-k", "constant")
    project.write_library(BEFORE)
    xml = project.pytester.path / "junit.xml"

    result = project.quick_run(f"--junitxml={xml}", "-k", "constant", "--jitperf-max-time=1 s")

    result.assert_outcomes(passed=1)
    values = {each.get("name"): each.get("value", "") for each in ElementTree.parse(xml).iter("property")}
    assert values["jitperf.main.outcome"] == "improved"
    said = values["jitperf.main.why"].splitlines()
    assert "constant_bytes improved: 1.53 MiB -> 0 B; record it with --jitperf-update" in said
    assert any("captured constants 1.53 MiB -> 0 B (f32[400,1000], 1.53 MiB)" in line for line in said)


def test_a_program_too_large_to_store_names_what_it_has_captured(project: Any) -> None:
    library = """
import jax.numpy as jnp
import numpy as np

TABLE = np.random.default_rng(0).random((400, 1000), dtype=np.float32)

def f(x):
    return x + jnp.asarray(TABLE)
"""
    project.write_library(library)
    project.write_tests(
        """
@pytest.mark.jitperf(strategies=["outer"])
def test_f(jitperf):
    jitperf(library.f, jnp.ones((400, 1000)))
"""
    )
    project.record()
    project.write_library(library.replace("x + jnp", "x * jnp"))

    result = project.quick_run()

    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(
        [
            "*JitperfWarning: test_g.py::test_f?outer?: not gated: it is too large to store (1.* MiB, 1.5 MiB of it "
            "captured constants: f32?400,1000?, 1.53 MiB)"
        ]
    )


def test_launches_that_came_into_a_loop_are_named_and_so_are_those_over_a_budget(project: Any) -> None:
    library = """
import jax.numpy as jnp

def helper(x):
    return jnp.cos(x)

def step(x):
    return {step}
"""
    project.write_library(library.format(step="jnp.exp(helper(x))"))
    project.write_tests(
        """
@pytest.mark.jitperf(strategies=["inner"], inner=["library.helper"])
def test_step(jitperf):
    jitperf(library.step, jnp.ones(8))

@pytest.mark.jitperf(strategies=["eager"], launches=3)
def test_budget(jitperf):
    jitperf(library.step, jnp.ones(8))
"""
    )
    project.record("-k", "inner")
    project.write_library(library.format(step="sum(jnp.exp(jnp.sin(each)) for each in [helper(x)] * 4)"))

    result = project.quick_run()

    messages = project.messages(result).items()
    why = {name: re.findall(r"^  why   (each call .*)$", text, re.MULTILINE) for name, text in messages}
    assert why == {
        "test_step[inner]": ["each call launches add 4, exp 4, sin 4, helper 1"],
        "test_budget[eager]": ["each call launches add 4, exp 4, sin 4, cos 1"],
    }
