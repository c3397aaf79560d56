"""Entries: made from measurements with rounded numbers, written without defaults, read back the same."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_jitperf.baseline.codec import FieldError
from pytest_jitperf.baseline.document import dump
from pytest_jitperf.baseline.model import Entry, StoredProgram, entry_from_measurement, from_json, to_json
from pytest_jitperf.baseline.programs import artifact_name, pack
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.measurement import Environment, Measurement, Program, Sample

FINGERPRINT = "sha256:" + "5c" * 32
MEASUREMENT = Measurement(
    strategy="outer",
    device="cpu",
    device_kind="cpu",
    inputs="x: f32[8]",
    program=Program(fingerprint=FINGERPRINT, inputs="x: f32[8]", artifact=b"program", exact={"flops": 16.0}),
    exact={"flops": 16.0, "peak_bytes": 8388608.0},
    host={"trace_calls": 18524, "launches": 1},
    timed={"run": Sample(median=0.000301249, low=0.00029996, high=1234567.0, rounds=20)},
    relative={"trace": 3.2449},
    environment=Environment(jax="0.10.2", jaxlib="0.10.2", python="3.11", platform="cpu", machine="2 cores"),
)

numbers = st.integers(0, 2**70) | st.floats(0, allow_nan=False, allow_infinity=False)
counts = st.dictionaries(st.text(), st.integers(0, 2**40), max_size=3)
metrics = st.dictionaries(st.text(), numbers, max_size=3)
programs = st.builds(
    StoredProgram,
    fingerprint=st.none() | st.from_regex("sha256:[0-9a-f]{64}", fullmatch=True),
    artifact=st.none() | st.binary().map(artifact_name),
    inputs=st.text(),
    exact=metrics,
    no_artifact=st.text(),
    donated=st.lists(st.integers(0, 99), max_size=3).map(tuple),
    options=st.dictionaries(st.text(), st.text(), max_size=2),
)
entries = st.builds(
    Entry,
    inputs=st.text(),
    program=st.none() | programs,
    helpers=st.dictionaries(st.text(), programs, max_size=2),
    exact=metrics,
    timed=st.dictionaries(
        st.text(),
        st.builds(Sample, median=numbers, low=numbers, high=numbers, rounds=st.integers(1, 99)),
        max_size=2,
    ),
    relative=metrics,
    host=st.dictionaries(st.text(), counts, max_size=2),
    environment=st.builds(
        Environment,
        jax=st.text(),
        jaxlib=st.text(),
        python=st.text(),
        platform=st.text(),
        device_count=st.integers(0, 9),
        x64=st.booleans(),
        config=st.dictionaries(st.text(), st.text(), max_size=2),
    ),
)


@settings(deadline=None)
@given(entry=entries)
def test_an_entry_survives_the_file_unchanged(entry: Entry) -> None:
    assert from_json(json.loads(dump(to_json(entry)))) == entry


@settings(deadline=None)
@given(entry=entries)
def test_writing_what_was_read_gives_the_same_bytes(entry: Entry) -> None:
    written = dump(to_json(entry))

    assert dump(to_json(from_json(json.loads(written)))) == written


def test_a_measurement_becomes_an_entry_with_rounded_numbers() -> None:
    entry, files = entry_from_measurement(MEASUREMENT)

    packed = pack(b"program")
    assert files == {artifact_name(packed): packed}
    assert to_json(entry) == {
        "inputs": "x: f32[8]",
        "program": {"fingerprint": FINGERPRINT, "artifact": artifact_name(packed)},
        "exact": {"flops": 16, "peak_bytes": 8388608},
        "timed": {"run": {"median": 0.0003012, "low": 0.0003, "high": 1235000, "rounds": 20}},
        "relative": {"trace": 3.24},
        "host": {"3.11/0.10.2": {"trace_calls": 18524, "launches": 1}},
        "environment": {
            "jax": "0.10.2",
            "jaxlib": "0.10.2",
            "python": "3.11",
            "platform": "cpu",
            "machine": "2 cores",
        },
    }
    assert type(entry.exact["peak_bytes"]) is int


def test_inputs_of_the_program_are_stored_where_they_differ_from_those_of_the_call() -> None:
    program = Program(fingerprint=None, inputs="x: f32[8]; y: f32[]", no_artifact="it calls back into Python")
    entry, files = entry_from_measurement(replace(MEASUREMENT, program=program))

    assert files == {}
    assert entry.program == StoredProgram(inputs="x: f32[8]; y: f32[]", no_artifact="it calls back into Python")


def test_helpers_keep_their_own_inputs_and_metrics() -> None:
    helper = Program(fingerprint=FINGERPRINT, inputs="x: f32[8]", artifact=b"helper", exact={"flops": 8.0})
    measured = replace(MEASUREMENT, program=None, exact={}, host={}, helpers={"lib.f(f32[8])": helper})
    entry, files = entry_from_measurement(measured)

    (name,) = files
    assert entry.helpers == {
        "lib.f(f32[8])": StoredProgram(fingerprint=FINGERPRINT, artifact=name, inputs="x: f32[8]", exact={"flops": 8})
    }
    assert (entry.program, entry.host) == (None, {})


def test_what_a_replay_must_be_told_again_is_stored_with_the_program() -> None:
    program = Program(
        fingerprint=FINGERPRINT, inputs="x: f32[8]", donated=(0, 2), options={"xla_backend_optimization_level": "0"}
    )
    entry, _ = entry_from_measurement(replace(MEASUREMENT, program=program))

    assert to_json(entry)["program"] == {
        "fingerprint": FINGERPRINT,
        "donated": [0, 2],
        "options": {"xla_backend_optimization_level": "0"},
    }


def test_equal_programs_share_one_file() -> None:
    helper = Program(fingerprint=FINGERPRINT, inputs="", artifact=b"program")

    _, files = entry_from_measurement(replace(MEASUREMENT, helpers={"a": helper, "b": helper}))

    assert len(files) == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_a_number_that_could_not_be_read_again_is_not_written(value: float) -> None:
    with pytest.raises(BaselineError) as caught:
        entry_from_measurement(replace(MEASUREMENT, exact={"flops": value}))

    assert str(caught.value) == (
        f"main / outer / cpu: exact.flops is {json.dumps(value).removesuffix('.0')}, expected a finite number of 0 or "
        "more, so it cannot be recorded as a baseline; what the probe could not measure belongs under unavailable"
    )


@pytest.mark.parametrize(
    "artifact",
    [
        "../" + "a" * 32 + ".jaxexport",
        "a" * 32 + ".jaxexport/../../x",
        "/" + "a" * 32 + ".jaxexport",
        "a" * 31 + ".jaxexport",
        "a" * 32 + ".JAXEXPORT",
        "a" * 32 + ".jaxexport\n",
        "A" * 32 + ".jaxexport",
        "",
    ],
)
def test_an_entry_cannot_name_a_file_outside_the_program_directory(artifact: str) -> None:
    with pytest.raises(FieldError, match=r"^program\.artifact is .*, expected 32 hexadecimal digits and \.jaxexport$"):
        from_json({"program": {"artifact": artifact}, "environment": {}})


@pytest.mark.parametrize("fingerprint", ["", "sha256:", "md5:" + "0" * 64, "sha256:" + "0" * 63, "sha256:" + "g" * 64])
def test_a_malformed_fingerprint_is_refused(fingerprint: str) -> None:
    with pytest.raises(FieldError, match=r"^program\.fingerprint is "):
        from_json({"program": {"fingerprint": fingerprint}, "environment": {}})


def test_an_entry_without_environment_is_refused() -> None:
    with pytest.raises(FieldError, match=r"^environment is missing$"):
        from_json({})
