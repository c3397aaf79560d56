"""What a command takes, processor time and memory, and how such numbers grow."""

from __future__ import annotations

import math
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from playing import PlayError

__all__ = ["Spent", "growth", "spend"]

# What is less above the smallest size is start-up and chance.
_LEAST_SHARE = 0.1
_NOISE = 0.02


@dataclass(frozen=True, slots=True)
class Spent:
    """What something took.

    Attributes:
        seconds: Processor time, which other work on the machine does not stretch.
        wall: Wall time.
        mib: Largest memory of the process.
    """

    seconds: float
    wall: float
    mib: float


def spend(
    command: Sequence[str], folder: Path, variables: Mapping[str, str] | None = None, ends: Sequence[int] = (0,)
) -> Spent:
    """Runs a command to its end; what it prints goes to ``output.txt`` in the folder.

    Args:
        command: The command.
        folder: Where it runs.
        variables: Of its environment, besides those of this process.
        ends: Exit codes that are expected.

    Raises:
        PlayError: It ended otherwise.
    """
    output = folder / "output.txt"
    with output.open("wb") as file:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **(variables or {})}, stdout=file, stderr=subprocess.STDOUT
        )
        # That of this very child; getrusage() would give the largest of all.
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in ends:
        said = output.read_text(encoding="utf-8", errors="replace")[-4000:]
        raise PlayError(f"exit code {process.returncode} of {' '.join(command)}\n{said}")
    return Spent(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)


def growth(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """The exponent with which a value grows from the second size to the last, less what it is at the first.

    A constant part, such as the start of the interpreter, would hide any growth. What the second size takes more than
    the first is never taken for less than what two equal runs differ by.

    Returns:
        None where it hardly grows at all.
    """
    middle, last = (value - values[0] for value in (values[1], values[-1]))
    if last <= _LEAST_SHARE * values[0]:
        return None
    middle = max(middle, _NOISE * values[0])
    return math.log(last / middle) / math.log((sizes[-1] - sizes[0]) / (sizes[1] - sizes[0]))
