"""One entry of a baseline, typed: what a measurement was when it was last accepted.

An entry holds what is needed to tell whether today's program is the same one, to build the old one again where it is
not, and to compare the costs that never vary. Nothing in it depends on who recorded it, when, or in which folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pytest_jitperf.baseline.codec import FieldError, from_builtins, to_builtins
from pytest_jitperf.baseline.programs import ARTIFACT_PATTERN, artifact_name, pack
from pytest_jitperf.errors import BaselineError
from pytest_jitperf.measurement import Environment, Measurement, Program, Sample

__all__ = ["Entry", "StoredProgram", "entry_from_measurement", "from_json", "to_json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProgram:
    """One compiled program as the baseline knows it.

    Attributes:
        fingerprint: ``"sha256:…"``, or None where the program cannot be exported.
        fingerprint_version: By which rules it was taken; left out by those of version 1.
        artifact: Name of its file under ``programs/``, or None.
        inputs: Leaf paths and abstract values; empty where they are the entry's own.
        unused: Positions among these of the leaves that the program does not read; the artifact takes the others.
        exact: Its program metrics; empty for the one program of an entry, whose metrics are the entry's own.
        no_artifact: Why there is no artifact; empty where there is one.
        donated: Positions, among the leaves that the program reads, of those that it may overwrite; a replay has to be
            told again.
        options: ``compiler_options`` of the user's jit; likewise.
    """

    fingerprint: str | None = field(
        default=None, metadata={"pattern": "sha256:[0-9a-f]{64}", "expected": "sha256: and 64 hexadecimal digits"}
    )
    # A name and never a path: a baseline must not make anybody read a file outside programs/.
    artifact: str | None = field(
        default=None, metadata={"pattern": ARTIFACT_PATTERN, "expected": "32 hexadecimal digits and .jaxexport"}
    )
    fingerprint_version: int = 1
    inputs: str = ""
    unused: tuple[int, ...] = ()
    exact: Mapping[str, float] = field(default_factory=dict)
    no_artifact: str = ""
    donated: tuple[int, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is stored for one test × measurement × strategy × device kind.

    Attributes:
        inputs: Leaf paths and abstract values of the arguments, static values as digests.
        program: The one program that a call starts, or None where Python drives several.
        helpers: For strategies driven from Python: each jitted helper's program, keyed ``"pkg.mod.f(f32[8])"``.
        exact: Program-side exact metrics, in bytes or counts.
        timed: Timings in seconds, 4 significant digits. Never a gate unless the machine is declared dedicated.
        relative: ``trace`` and ``lower`` as multiples of the reference trace, 3 significant digits.
        host: Python-side counts by ``Environment.host_key``, so that one file serves several Pythons and jax versions.
        environment: Where all but ``host`` was recorded.
    """

    inputs: str = ""
    program: StoredProgram | None = None
    helpers: Mapping[str, StoredProgram] = field(default_factory=dict)
    exact: Mapping[str, float] = field(default_factory=dict)
    timed: Mapping[str, Sample] = field(default_factory=dict)
    relative: Mapping[str, float] = field(default_factory=dict)
    host: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    environment: Environment


def entry_from_measurement(measurement: Measurement) -> tuple[Entry, dict[str, bytes]]:
    """Turns a measurement into the entry that would be stored for it.

    Returns:
        The entry, its numbers rounded, and the content of each artifact that it names, packed, by file name.

    Raises:
        BaselineError: A number is not finite or below 0, or a fingerprint is malformed. Only what can be read again is
            written.
    """
    files: dict[str, bytes] = {}
    program = None
    if measurement.program is not None:
        # Its metrics are the entry's, and nearly always its inputs too: no need to say them twice.
        inputs = "" if measurement.program.inputs == measurement.inputs else measurement.program.inputs
        program = replace(_stored(measurement.program, files), inputs=inputs, exact={})
    entry = Entry(
        inputs=measurement.inputs,
        program=program,
        helpers={name: _stored(each, files) for name, each in measurement.helpers.items()},
        exact=measurement.exact,
        timed={name: _rounded(each) for name, each in measurement.timed.items()},
        relative={name: _significant(each, 3) for name, each in measurement.relative.items()},
        host={measurement.environment.host_key: measurement.host} if measurement.host else {},
        environment=measurement.environment,
    )
    try:
        return from_json(to_json(entry)), files
    except FieldError as error:
        where = f"{measurement.name} / {measurement.strategy} / {measurement.device_kind}"
        raise BaselineError(
            f"{where}: {error}, so it cannot be recorded as a baseline; what the probe could not measure belongs "
            "under unavailable"
        ) from error


def to_json(entry: Entry) -> dict[str, object]:
    """Writes an entry as JSON values, without fields that are empty or at their default."""
    written: dict[str, object] = to_builtins(entry)
    return written


def from_json(value: object) -> Entry:
    """Reads an entry; unknown keys are passed over.

    Raises:
        FieldError: A value is missing or wrong; the text begins with its path, ``timed.run.median is NaN, …``.
    """
    entry: Entry = from_builtins(Entry, value)
    return entry


def _stored(program: Program, files: dict[str, bytes]) -> StoredProgram:
    name = None
    if program.artifact is not None:
        content = pack(program.artifact)
        name = artifact_name(content)
        files[name] = content
    return StoredProgram(
        fingerprint=program.fingerprint,
        fingerprint_version=program.fingerprint_version,
        artifact=name,
        inputs=program.inputs,
        unused=program.unused,
        exact=program.exact,
        no_artifact=program.no_artifact,
        donated=program.donated,
        options=program.options,
    )


def _rounded(sample: Sample) -> Sample:
    return replace(
        sample,
        median=_significant(sample.median, 4),
        low=_significant(sample.low, 4),
        high=_significant(sample.high, 4),
    )


def _significant(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")
