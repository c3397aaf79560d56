"""What is going on, on a terminal, while a measurement takes long."""

from __future__ import annotations

from collections.abc import Callable

from pytest_jitperf.probe import clock

__all__ = ["Progress"]

_QUIET_SECONDS = 2.0
_MOST_LETTERS = 40
_LEAST_LETTERS = 5


class Progress:
    """Shows one short text behind whatever the line holds, and takes it away again.

    Nothing is shown before an item has taken two seconds.

    Args:
        write: Writes to the terminal at once.
        room: Columns that are left on the line. What went on into the next line could not be taken away again.
    """

    def __init__(self, write: Callable[[str], None], room: Callable[[], int] = lambda: 80) -> None:
        self._write = write
        self._room = room
        self._start = clock.perf_counter_ns()
        self._shown = 0

    def __call__(self, text: str) -> None:
        """Shows ``text`` in the place of what was shown before."""
        seconds = (clock.perf_counter_ns() - self._start) / 1e9
        if seconds < _QUIET_SECONDS:
            return
        self.end()
        # ASCII, so that as many letters are taken away as were shown, whatever the terminal's encoding.
        plain = text.encode("ascii", "backslashreplace").decode("ascii")
        time = f"{seconds:.0f} s]"
        # One column stays free: some terminals go on to the next line when the last one is filled.
        letters = min(_MOST_LETTERS, self._room() - len(f" [, {time}") - 1)
        if letters < _LEAST_LETTERS:
            return
        shown = f" [{plain[:letters]}, {time}"
        self._write(shown)
        self._shown = len(shown)

    def end(self) -> None:
        """Takes away what is shown."""
        if self._shown:
            back = "\b" * self._shown
            self._write(back + " " * self._shown + back)
            self._shown = 0
