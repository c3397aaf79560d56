"""A stored program that cannot be used: told apart, nothing of it run, everything else gated, and the way out works."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import jax
import jax.numpy as jnp
from jax import export

from pytest_jitperf.baseline.programs import artifact_name, load, pack, program_directory

X = jnp.ones(8)

# A program of its own for each fault.
LIBRARY = """
import jax.numpy as jnp

def scaled(number, x):
    return jnp.sin(x) * (number + 0.5)
"""

# What tests/jax/test_program.py has more kinds of.
FAULTS = {
    "missing": "the stored program * is not there; add it to the repository, or record it again*",
    "swapped": "the stored program is not the one that its entry names",
    "devices": "the stored program is for 2 devices, not for 1",
    "call": "the stored program cannot be run: it holds a custom call that JAX does not keep stable (no_such_target)",
}
TESTS = f"""
FAULTS = {list(FAULTS)}

@pytest.mark.jitperf(strategies=["outer"])
@pytest.mark.parametrize("fault", FAULTS)
def test_f(jitperf, fault):
    jitperf(lambda x: library.scaled(FAULTS.index(fault), x), X)
"""


def unstable(x: Any) -> Any:
    return [jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)]


def names(project: Any) -> dict[str, str]:
    """The programs that the entries name, by fault."""
    tests = json.loads(project.baseline.read_bytes())["tests"]
    return {fault: tests[f"test_f[{fault}]"]["main"]["outer"]["cpu"]["program"]["artifact"] for fault in FAULTS}


def damage(project: Any, exported_by: str) -> None:
    folder, before = program_directory(project.baseline.parent), names(project)
    raw = load(project.baseline.parent, before["devices"])
    assert isinstance(raw, bytes)
    on_two = dataclasses.replace(export.deserialize(bytearray(raw)), nr_devices=2)
    switched_off = [export.DisabledSafetyCheck.custom_call("no_such_target")]
    calling = export.export(jax.jit(unstable), platforms=["cpu"], disabled_checks=switched_off)(X)
    artifacts = {"missing": before["missing"], "swapped": before["call"]}
    for fault, made in (("devices", on_two), ("call", calling)):
        packed = pack(bytes(made.serialize()))
        artifacts[fault] = artifact_name(packed)
        (folder / artifacts[fault]).write_bytes(packed)
    (folder / before["missing"]).unlink()

    def edit(tests: Any) -> None:
        for fault, artifact in artifacts.items():
            entry = tests[f"test_f[{fault}]"]["main"]["outer"]["cpu"]
            entry["program"]["artifact"] = artifact
            if fault == "missing":
                entry["environment"]["jax"] = entry["environment"]["jaxlib"] = exported_by

    project.edit_baseline(edit)


def test_programs_that_cannot_be_used_are_told_apart_and_recorded_anew(project: Any) -> None:
    major, minor = jax.__version__.split(".")[:2]
    half_a_year_before = f"{major}.{int(minor) - 2}.0"
    project.write_library(LIBRARY)
    project.write_tests(TESTS)
    project.record()
    damage(project, half_a_year_before)
    damaged = project.baseline.read_bytes()

    # The same programs, so that none of it matters yet.
    same = project.quick_run("--jitperf-json=results.json")
    same.assert_outcomes(passed=4)
    text = " ".join(same.stdout.str().split())
    assert "4 measured, 4 gated (4 same program)" in text
    assert "1 stored program could not be raced against if the code changed: the stored program" in text
    assert f"the programs of 1 entry were exported by jax {half_a_year_before}, about " in text
    rows = json.loads((project.pytester.path / "results.json").read_bytes())["measurements"]
    assert sorted(row["aged"] for row in rows) == ["", "", "", half_a_year_before]

    project.write_library(LIBRARY.replace("jnp.sin(x)", "jnp.sin(jnp.tanh(x))"))
    changed = project.quick_run()
    changed.assert_outcomes(passed=4)
    changed.stdout.fnmatch_lines_random(
        [f"*JitperfWarning: test_g.py::test_f[[]{fault}-outer]: *not gated: {said}" for fault, said in FAULTS.items()]
    )
    changed.stdout.no_fnmatch_line("*Traceback*")
    changed.stdout.fnmatch_lines(["4 measured, 0 gated, *, 4 not gated"])
    assert project.baseline.read_bytes() == damaged

    project.quick_run("--jitperf-update", "--jitperf-prune").assert_outcomes(passed=4)
    stored = {each.name for each in program_directory(project.baseline.parent).glob("*.jaxexport")}
    assert stored == set(names(project).values())
    assert all(isinstance(load(project.baseline.parent, name), bytes) for name in stored)
