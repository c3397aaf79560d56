"""What the probe does not know is added to a measurement before it is judged, and what cannot be stored is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_jitperf.baseline import programs
from pytest_jitperf.custom import CustomMetric, Inspected, counted
from pytest_jitperf.judge.differences import written_constants
from pytest_jitperf.measurement import Measurement, Program
from pytest_jitperf.tried import Asked

if TYPE_CHECKING:
    from pytest_jitperf.probe.measure import Probed

__all__ = ["bounded", "with_counts", "with_facts"]


def with_facts(measured: Measurement, facts: Mapping[str, str]) -> Measurement:
    """The measurement with what a plugin knows of its environment."""
    if not facts:
        return measured
    environment = replace(measured.environment, config={**measured.environment.config, **facts})
    return replace(measured, environment=environment)


def with_counts(measured: Measurement, custom: Sequence[CustomMetric], asked: Asked, probed: Probed) -> Measurement:
    """The measurement with the metrics of the user's own.

    Raises:
        MeasurementError: One of them gave what is no count.
        Exception: Whatever it raised.
    """
    if not custom:
        return measured
    seen = Inspected(
        strategy=measured.strategy,
        device_kind=measured.device_kind,
        function=asked.function,
        args=asked.args,
        kwargs=asked.kwargs,
        result=probed.result,
        lowered=probed.lowered,
        compiled=probed.executable,
    )
    found = {each.name: counted(each, seen) for each in custom}
    return replace(measured, exact={**measured.exact, **{name: n for name, n in found.items() if n is not None}})


def bounded(measured: Measurement) -> Measurement:
    """Leaves programs that are too large out of what may be stored."""

    def bound(program: Program) -> Program:
        # Packing takes longer than all else that is done here, and an export is never longer for it.
        if program.artifact is None or len(program.artifact) <= programs.MAX_ARTIFACT_BYTES:
            return program
        size = len(programs.pack(program.artifact))
        if size <= programs.MAX_ARTIFACT_BYTES:
            return program
        constants = sum(each.bytes * each.count for each in program.constants)
        named = written_constants(program.constants)
        cause = f", {constants / 2**20:.1f} MiB of it captured constants: {named}" if constants > 2**19 else ""
        return replace(program, artifact=None, no_artifact=f"it is too large to store ({size / 2**20:.1f} MiB{cause})")

    return replace(
        measured,
        program=bound(measured.program) if measured.program else None,
        helpers={key: bound(each) for key, each in measured.helpers.items()},
    )
