"""How a verdict fails a test: subclasses of pytest's own failure, so that xfail, reruns, ``-x`` and JUnit see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_jitperf.judge.outcome import Outcome

if TYPE_CHECKING:
    # pytest hands its exception out as an attribute of a function, which type checkers cannot follow.
    from _pytest.outcomes import Failed
else:
    Failed = pytest.fail.Exception

__all__ = [
    "FAILURES",
    "JitperfFailure",
    "JitperfWarning",
    "NotFaster",
    "NotMeasured",
    "OverBudget",
    "Regressed",
    "WrongResult",
]


class JitperfFailure(Failed):
    """A marked test did not meet what its marker or its baseline asks for."""


class Regressed(JitperfFailure):
    """A strategy has become worse than its baseline."""


class OverBudget(JitperfFailure):
    """A strategy costs more than its budget."""


class WrongResult(JitperfFailure):
    """A strategy gave another result than the reference."""


class NotFaster(JitperfFailure):
    """A strategy is not as much faster than another as ``faster_than`` says."""


class NotMeasured(JitperfFailure):
    """A marked test measured nothing, or something that was asked for could not be measured."""


class JitperfWarning(pytest.PytestWarning):
    """A marked test passed, but something about it was not gated."""


FAILURES: dict[Outcome, type[JitperfFailure]] = {
    Outcome.REGRESSED: Regressed,
    Outcome.OVER_BUDGET: OverBudget,
    Outcome.WRONG_RESULT: WrongResult,
    Outcome.NOT_FASTER: NotFaster,
    Outcome.NOT_MEASURED: NotMeasured,
}

# As pytest does with its own: the short summary gives a failure's class before its sentence, and with the path of this
# module there would be no room left for the sentence.
for _each in (JitperfFailure, *FAILURES.values()):
    _each.__module__ = "builtins"
