"""Performance-regression tests for JAX code: jit strategies, budgets and baselines, as a pytest plugin.

pytest imports this package at every start, for projects without a single marked test too. So nothing is imported here:
each public name is looked up when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_jitperf.custom import CustomMetric
    from pytest_jitperf.failures import JitperfWarning, NotFaster, OverBudget, Regressed, WrongResult
    from pytest_jitperf.strategies import Strategy

    __version__: str

__all__ = [
    "CustomMetric",
    "JitperfWarning",
    "NotFaster",
    "OverBudget",
    "Regressed",
    "Strategy",
    "WrongResult",
    "__version__",
]

_HOMES = {
    "CustomMetric": "pytest_jitperf.custom",
    "JitperfWarning": "pytest_jitperf.failures",
    "NotFaster": "pytest_jitperf.failures",
    "OverBudget": "pytest_jitperf.failures",
    "Regressed": "pytest_jitperf.failures",
    "Strategy": "pytest_jitperf.strategies",
    "WrongResult": "pytest_jitperf.failures",
}

if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any name, misspelt ones too

    def __getattr__(name):
        if name == "__version__":
            from importlib.metadata import version

            value = version("pytest-jitperf")
        elif name in _HOMES:
            from importlib import import_module

            value = getattr(import_module(_HOMES[name]), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
