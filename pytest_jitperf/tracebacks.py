"""Tracebacks of the user's own errors, without the frames of the plugin between the test and the function."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from pytest_jitperf.errors import JitperfError

__all__ = ["without_own_frames"]

_HERE = f"{Path(__file__).parent}{os.sep}"


def without_own_frames(error: BaseException) -> TracebackType | None:
    """The traceback of an error that went through the plugin.

    Returns:
        Only the frames of others; all of them where the error was raised in the plugin itself and is not one of those
        that say in a sentence what is wrong.
    """
    frames: list[TracebackType] = []
    current = error.__traceback__
    while current is not None:
        frames.append(current)
        current = current.tb_next
    if not frames or (_is_own(frames[-1]) and not _is_jaxs(error) and not isinstance(error, JitperfError)):
        return error.__traceback__
    kept: TracebackType | None = None
    for each in reversed(frames):
        if not _is_own(each):
            kept = TracebackType(kept, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return kept


def _is_jaxs(error: BaseException) -> bool:
    """Whether JAX raised it, and has taken its own frames away."""
    notes = getattr(error, "__notes__", ())
    return type(error).__module__.partition(".")[0] == "jax" or any("JAX has removed" in note for note in notes)


def _is_own(each: TracebackType) -> bool:
    return each.tb_frame.f_code.co_filename.startswith(_HERE)
