"""What is shown on a terminal while a measurement takes long."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_jitperf.probe import clock
from pytest_jitperf.report.progress import Progress


@pytest.fixture(name="at")
def clock_turned_by_hand(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [0]
    monkeypatch.setattr(clock, "perf_counter_ns", lambda: now[0])

    def turn(seconds: float) -> None:
        now[0] = int(seconds * 1e9)

    return turn


def screen(written: list[str]) -> str:
    """What a terminal shows after all that was written."""
    shown: list[str] = []
    place = 0
    for letter in "".join(written):
        if letter == "\b":
            place -= 1
        else:
            shown[place : place + 1] = [letter]
            place += 1
    return "".join(shown).rstrip()


def test_nothing_is_shown_of_what_is_quick(at: Callable[[float], None]) -> None:
    written: list[str] = []
    progress = Progress(written.append)

    at(1.9)
    progress("compiling")
    progress.end()

    assert written == []


def test_the_latest_text_stands_behind_the_line_and_is_taken_away(at: Callable[[float], None]) -> None:
    written = ["test_step.py ."]
    progress = Progress(written.append)

    at(2)
    progress("compiling the baseline's program")
    assert screen(written) == "test_step.py . [compiling the baseline's program, 2 s]"
    at(61.4)
    progress("racing")
    assert screen(written) == "test_step.py . [racing, 61 s]"
    progress.end()
    progress.end()
    assert screen(written) == "test_step.py ."


def test_long_and_foreign_text_is_cut_and_escaped(at: Callable[[float], None]) -> None:
    written: list[str] = []
    progress = Progress(written.append)

    at(5)
    progress("é" * 30)

    assert written == [" [" + "\\xe9" * 10 + ", 5 s]"]


@pytest.mark.parametrize(
    ("room", "shown"),
    [(30, " [racing outer against , 5 s]"), (14, " [racin, 5 s]"), (13, ""), (0, "")],
)
def test_it_stays_within_the_line(at: Callable[[float], None], room: int, shown: str) -> None:
    written: list[str] = []
    progress = Progress(written.append, lambda: room)

    at(5)
    progress("racing outer against eager")
    progress.end()

    assert written == ([shown, "\b" * len(shown) + " " * len(shown) + "\b" * len(shown)] if shown else [])
