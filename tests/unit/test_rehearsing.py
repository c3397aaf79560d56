"""What a rehearsal tells, and what the process that waits for it makes of that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_jitperf import rehearsal
from pytest_jitperf.rehearsing import Call, Heard, Order, Rehearsing, hear

OUTER = Call("outer", "main")


@pytest.fixture
def rehearsing(tmp_path: Path) -> Rehearsing:
    return Rehearsing(Order(nodeid="test_g.py::test[\0]", file=str(tmp_path / "told"), left_out=("eager",)))


def test_what_is_to_be_done_survives_the_environment(rehearsing: Rehearsing) -> None:
    text = rehearsing.order.to_text()
    assert "\0" not in text  # which no environment variable may hold
    assert Order.from_text(text) == rehearsing.order


def test_what_was_told_is_added_up(rehearsing: Rehearsing) -> None:
    path = Path(rehearsing.order.file)
    assert hear(path) == Heard()
    rehearsing.began()
    assert hear(path) == Heard(began=True, lines=1)
    rehearsing.calls(Call("outer", "first"))
    rehearsing.spent("trace", 0.5)
    rehearsing.returned()
    assert hear(path) == Heard(began=True, spent={"trace": 0.5}, phase="trace", lines=4)
    rehearsing.calls(OUTER)
    assert hear(path) == Heard(began=True, call=OUTER, lines=5)
    rehearsing.spent("trace", 0.2)
    rehearsing.spent("xla", 0.6)
    rehearsing.spent("xla", 1.1)
    assert hear(path) == Heard(began=True, call=OUTER, spent={"trace": 0.2, "xla": 1.1}, phase="xla", lines=8)
    rehearsing.exceeded("compile", "xla")
    assert hear(path).exceeded == "compile"


def test_a_line_that_is_still_being_written_waits(rehearsing: Rehearsing) -> None:
    rehearsing.began()
    with open(rehearsing.order.file, "a", encoding="utf-8") as file:
        file.write(json.dumps({"event": "returned"})[:9])
    assert hear(Path(rehearsing.order.file)) == Heard(began=True, lines=1)


@pytest.mark.parametrize(
    ("heard", "silent", "expected"),
    [
        (Heard(began=True), 1e9, ""),  # between two calls nothing is limited
        (Heard(call=OUTER, phase="run", spent={"run": 1.0}), 1.9, ""),
        (Heard(call=OUTER, phase="run", spent={"run": 1.0}), 2.1, "run"),
        (Heard(call=OUTER, phase="lower", spent={"trace": 3.0, "lower": 1.0}), 0.9, ""),
        (Heard(call=OUTER, phase="lower", spent={"trace": 3.0, "lower": 1.0}), 1.1, "compile"),
        (Heard(call=OUTER), 3.1, "run"),  # silent from the beginning, whatever it is about
    ],
)
def test_who_is_silent_for_longer_than_a_limit_has_exceeded_it(heard: Heard, silent: float, expected: str) -> None:
    assert rehearsal._running_out(heard, {"run": 3.0, "compile": 5.0}, silent) == expected
