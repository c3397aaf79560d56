"""The result that strategies are held against: that of the first reference that runs, before any cache is cleared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pytest_jitperf.errors import MeasurementError
from pytest_jitperf.strategies import name_of

from . import equal
from .inputs import content_digest
from .request import Request, subject_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A result to compare with.

    Attributes:
        strategy: Name of the strategy that gave it.
        inputs: Digest of the values it was given.
        leaves: Its leaves, on the host.
    """

    strategy: str
    inputs: str
    leaves: list[tuple[str, Any]] = field(repr=False)


class ReferenceResults:
    """Reference results of the test at hand: once per test, measurement, function, inputs and process."""

    def __init__(self) -> None:
        self._test = ""
        self._known: dict[tuple[str, str, str], tuple[Any, Reference]] = {}

    def find(self, request: Request) -> Reference | None:
        """Runs the first of the request's references that can be run, or remembers what it gave.

        Returns:
            None where results are not compared, or the strategy is itself the reference.

        Raises:
            MeasurementError: The function cannot be measured under the reference.
        """
        if request.equality is None:
            return None
        if request.test != self._test:
            self._test = request.test
            self._known.clear()
        for strategy in request.references:
            name = name_of(strategy)
            if name == name_of(request.strategy):
                return None
            subject = subject_of(request, strategy)
            digest = content_digest(subject.inputs)
            function, known = self._known.get((request.name, name, digest), (None, None))
            # Another function object may hold other values: each run of a test makes its own closures.
            if known is not None and function is request.function:
                return known
            try:
                with subject.active():
                    leaves = equal.leaves_of(subject.first_call(subject.expendable()))
            except MeasurementError:
                raise
            except Exception:  # it cannot run under this strategy; the next one is the reference
                continue
            found = Reference(strategy=name, inputs=digest, leaves=leaves)
            self._known[(request.name, name, digest)] = (request.function, found)
            return found
        return None
