"""Errors of the plugin: one subclass per thing that the user is to put right.

Every message says what, where, what was seen, what was expected and what to do. ``plugin.py`` alone turns them into
pytest's own failures and usage errors.
"""

from __future__ import annotations

__all__ = ["BaselineError", "HookError", "JitperfError", "MeasurementError", "OptionError", "ResultsError", "SpecError"]


class JitperfError(Exception):
    """Base of all errors that the plugin raises on purpose."""


class SpecError(JitperfError):
    """The marker is wrong: put the marker right."""


class OptionError(JitperfError):
    """A command-line option or an ini key is wrong: put the option right."""


class BaselineError(JitperfError):
    """A baseline file cannot be read or written: repair, restore or update it."""


class ResultsError(JitperfError):
    """A results file cannot be read, joined or stored from: make it again, or give another."""


class MeasurementError(JitperfError):
    """What was asked for cannot be measured: change the call, the helper or the strategy."""


class HookError(JitperfError):
    """A hook of a ``conftest.py`` or of another plugin gives what cannot be used."""
