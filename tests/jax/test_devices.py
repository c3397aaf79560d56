"""Devices by the name they were asked for, and inputs put onto them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe import devices

CPU = jax.devices("cpu")[0]


@pytest.mark.parametrize("asked", ["", "cpu", "cpu:0", "as-is"])
def test_the_first_device_has_several_names(asked: str) -> None:
    assert devices.find(asked) == CPU


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("cpu:64", "no cpu:64 here: "),
        ("nonsense", "no nonsense device here"),
        ("nonsense:1", "no nonsense device here"),
    ],
)
def test_a_device_that_is_not_there_is_named(asked: str, sentence: str) -> None:
    with pytest.raises(devices.NoDeviceError, match=sentence) as caught:
        devices.find(asked)
    assert isinstance(caught.value, MeasurementError)


def test_any_failure_of_the_backend_means_that_there_is_no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    # JAX_PLATFORMS=cuda without CUDA gives an AssertionError without a text.
    def fail(backend: str | None = None) -> None:
        raise AssertionError

    monkeypatch.setattr(jax, "local_devices", fail)
    with pytest.raises(devices.NoDeviceError, match="no default device here"):
        devices.find("")


def test_arrays_are_committed_and_everything_else_is_left() -> None:
    class Opaque: ...

    opaque, strings = Opaque(), np.array(["a"])
    given = {"x": jnp.ones(2), "n": np.ones(3), "s": 1.5, "f": np.float32(2), "t": "text", "o": opaque, "u": strings}
    placed = devices.place(given, CPU, "")

    assert placed["x"].committed
    assert isinstance(placed["n"], jax.Array)
    assert placed["n"].committed
    assert type(placed["s"]) is float
    assert type(placed["f"]) is np.float32
    assert (placed["t"], placed["o"], placed["u"]) == ("text", opaque, strings)


def test_as_is_leaves_the_placement_to_the_test() -> None:
    given = (np.ones(3), jnp.ones(2))
    assert devices.place(given, CPU, "as-is") is given
    with devices.on(CPU, "as-is"):
        assert jax.config.jax_default_device is None  # type: ignore[attr-defined]  # made at run time
    with devices.on(CPU, "cpu"):
        assert jax.config.jax_default_device == CPU  # type: ignore[attr-defined]  # made at run time


def test_one_device_is_called_by_its_platform() -> None:
    if len(jax.local_devices()) == 1:
        assert devices.local_devices() == [CPU.platform]


# --- eight devices, in a process of their own ----------------------------------------------------------------------

EIGHT = """
import json, random
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.probe import devices, parts
from pytest_jitperf.probe.compare import Effort, Stored, compare
from pytest_jitperf.probe.lock import DeviceLock
from pytest_jitperf.probe.measure import ReferenceResults, Request, measure

parts._RUN_SECONDS = 0.002

def run(function, *args, device="", strategy="outer"):
    request = Request(test="t", name="main", function=function, args=args, strategy=strategy, device=device)
    return measure(request, ReferenceResults(), lambda text: None)

def where(result):
    return sorted(each.id for each in result.sharding.device_set)

def versus(new, old):
    program = old.measurement.program
    stored = Stored(fingerprint=None, raw=program.artifact, inputs=program.inputs, donated=program.donated)
    effort = Effort(run_limit=1e4, compiling=None, race_seconds=0.1, compile_seconds=9, random=random.Random(0))
    return compare(new.programs[""], "", new.subject, stored, effort, DeviceLock("cpu:1"), print)

f = lambda x: jnp.tanh(x) * 2
made = lambda: jnp.tanh(jnp.arange(64.0)).sum()
x = jnp.arange(64.0)
spread = jax.device_put(x, NamedSharding(jax.make_mesh((8,), ("i",)), PartitionSpec("i")))
found = {"names": devices.local_devices()}
first, second = run(f, x), run(f, x, device="cpu:1")
found["on"] = [where(first.result), where(second.result), where(run(made, device="cpu:3").result)]
found["eager on"] = where(run(made, device="cpu:3", strategy="eager").result)
found["same program"] = first.measurement.program.fingerprint == second.measurement.program.fingerprint
found["again elsewhere"] = versus(second, first).how
found["user's array"] = where(x)
try:
    run(f, spread)
except MeasurementError as error:
    found["refused"] = str(error)
whole = run(f, spread, device="as-is")
again = run(lambda y: jnp.tanh(y) * 2, spread, device="as-is")
found["as-is"] = [len(where(whole.result)), whole.measurement.host["launches"], whole.wrong]
found["as-is same"] = whole.measurement.program.fingerprint == again.measurement.program.fingerprint
found["as-is another"] = whole.measurement.program.fingerprint != first.measurement.program.fingerprint
other = run(lambda y: jnp.tanh(y) * 3, spread, device="as-is")
raced = versus(other, whole)
found["as-is raced"] = [raced.same, raced.cannot, raced.run is not None]
copies = jax.device_put(x, NamedSharding(jax.make_mesh((8,), ("i",)), PartitionSpec()))
found["inputs"] = [each.measurement.inputs for each in (first, whole, run(f, copies, device="as-is"))]
found["eight on one"] = versus(first, whole).cannot
shape = jax.ShapeDtypeStruct(spread.shape, spread.dtype, sharding=spread.sharding)
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("i",))
sharded = NamedSharding(mesh, PartitionSpec("i"))
inside = {
    "shard_map": jax.shard_map(f, mesh=mesh, in_specs=PartitionSpec("i"), out_specs=PartitionSpec("i")),
    "in_shardings": jax.jit(f, in_shardings=sharded),
    "pmap": jax.pmap(f),
}
few, many = x[:8], jax.device_put(x[:8], sharded)
found["spreads by itself"] = {}
for name, function in inside.items():
    for strategy in ("eager", "outer"):
        try:
            spreads = run(function, few, strategy=strategy)
            told = len(where(spreads.result))
        except MeasurementError as error:
            told = str(error).partition(" JAX says: ")[0]
        found["spreads by itself"][f"{name} {strategy}"] = told
    unplaced, placed = run(function, few, device="as-is"), run(function, many, device="as-is")
    found["spreads by itself"][f"{name} as-is"] = len(where(unplaced.result))
    found.setdefault("unplaced", []).append(unplaced.measurement.program.no_artifact)
    found.setdefault("placed", []).append(placed.measurement.program.no_artifact)
planned = run(f, shape, device="as-is")
changed = versus(run(lambda y: jnp.tanh(y) * 3, shape, device="as-is"), planned)
found["planned"] = [planned.measurement.inputs, changed.same, changed.cannot, changed.old_exact["peak_bytes"]]
found["devices counted"] = first.measurement.environment.device_count
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def eight() -> dict[str, Any]:
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    done = subprocess.run([sys.executable, "-c", EIGHT], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_several_devices_have_numbers(eight: dict[str, Any]) -> None:
    assert eight["names"] == [f"cpu:{n}" for n in range(8)]
    assert eight["devices counted"] == 8


def test_a_measurement_takes_place_on_the_device_asked_for(eight: dict[str, Any]) -> None:
    assert eight["on"] == [[0], [1], [3]]
    assert eight["eager on"] == [3]
    assert eight["user's array"] == [0]


def test_devices_of_one_kind_share_a_program(eight: dict[str, Any]) -> None:
    assert eight["same program"] is True
    assert eight["again elsewhere"] == "fingerprint"


def test_sharded_inputs_are_refused_unless_left_as_they_are(eight: dict[str, Any]) -> None:
    assert eight["refused"] == (
        "an input of shape (64,) is spread over 8 devices, but the test is measured on cpu:0. "
        'To keep the placement, add  devices=["as-is"]  to the marker.'
    )
    assert eight["as-is"] == [8, 1, ""]


def test_a_function_that_spreads_by_itself_needs_its_inputs_left_as_they_are(eight: dict[str, Any]) -> None:
    why = (
        "the function spreads its work over devices by itself, and its inputs were put onto cpu:0, where the test is "
        'measured. To leave them where the test has them, add  devices=["as-is"]  to the marker.'
    )
    assert eight["spreads by itself"] == {
        "shard_map eager": why,
        "shard_map outer": why,
        "shard_map as-is": 8,
        "in_shardings eager": 1,  # what it wraps spreads over nothing
        "in_shardings outer": why,
        "in_shardings as-is": 8,
        "pmap eager": 1,
        "pmap outer": why,
        "pmap as-is": 8,
    }


def test_of_inputs_on_fewer_devices_than_the_program_takes_nothing_is_stored(eight: dict[str, Any]) -> None:
    why = (
        "it runs on 8 devices and its inputs are on 1: put them where it takes them, with jax.device_put, before they "
        "are measured"
    )
    assert eight["unplaced"] == [why] * 3
    assert eight["placed"] == [""] * 3


def test_sharded_programs_have_fingerprints_and_race(eight: dict[str, Any]) -> None:
    assert (eight["as-is same"], eight["as-is another"]) == (True, True)
    assert eight["as-is raced"] == [False, "", True]


def test_a_program_for_eight_devices_is_not_run_on_one(eight: dict[str, Any]) -> None:
    assert eight["eight on one"] == "the stored program is for 8 devices, not for 1"


def test_shapes_without_values_may_be_spread_too(eight: dict[str, Any]) -> None:
    assert eight["planned"] == ["x: f32[64] on 8 devices as [8]", False, "", 64]


def test_how_inputs_are_spread_is_part_of_what_they_are(eight: dict[str, Any]) -> None:
    assert eight["inputs"] == ["x: f32[64]", "x: f32[64] on 8 devices as [8]", "x: f32[64] on 8 devices as [64]"]
