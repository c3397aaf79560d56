"""Hooks for what GitHub Actions shows of a run without any option: the summary of the step, and annotations."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pytest_jitperf.outputs import results, top_folder
from pytest_jitperf.pipeline import Pipeline
from pytest_jitperf.run import Run

__all__ = ["PipelineReports"]

# GitHub shows none of a summary that is longer, and counts what earlier commands of the step wrote.
_MOST_BYTES = 1024 * 1024


class PipelineReports:
    """Registered in the process that sees the reports of all items, where it runs on GitHub Actions.

    Args:
        run: State of the run.
        pipeline: Where the service takes what is to be shown.
    """

    def __init__(self, run: Run, pipeline: Pipeline) -> None:
        self._run = run
        self._pipeline = pipeline
        self._annotations: list[str] = []
        self._warning = ""

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Appends the summary; that it cannot be written never fails a run."""
        run = self._run
        if run.settings.mode == "disable" or session.config.getoption("collectonly"):
            return
        if run.gathered is None or not run.gathered.anything:
            return
        if self._pipeline.annotates:
            from pytest_jitperf.report.annotations import error_commands

            self._annotations = error_commands(results(run).rows, top_folder(run, self._pipeline.top))
        if self._pipeline.step_summary:
            self._warning = _append_summary(run, Path(self._pipeline.step_summary))

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints annotations, each at the beginning of a line."""
        terminalreporter.ensure_newline()
        for line in self._lines():
            terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        """Prints them where there is no terminal summary."""
        lines = self._lines()
        if lines:
            encoding = sys.stdout.encoding or "utf-8"
            text = "".join(f"\n{line}" for line in lines) + "\n"
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
            sys.stdout.flush()

    def _lines(self) -> list[str]:
        """What is still to be printed."""
        lines = [*([self._warning] if self._warning else []), *self._annotations]
        self._warning, self._annotations = "", []
        return lines


def _append_summary(run: Run, path: Path) -> str:
    """Appends the summary to the file of the step; what is to be said where that cannot be done."""
    from pytest_jitperf.report.markdown import summary

    found = results(run)
    unmeasured = {each.nodeid: each.status for each in found.unmeasured}
    try:
        before = path.stat().st_size if path.exists() else 0
        room, update = _MOST_BYTES - before - 1, found.mode == "update"
        text = summary(found.rows, unmeasured, update=update, most_bytes=room, lines=found.lines)
        if not text:
            return "WARNING the summary of the step was not written: the file is full"
        with path.open("a", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            # What an earlier command left without a line end would swallow the heading.
            file.write(f"\n{text}" if before else text)
    except OSError as error:
        reason = error.strerror or os.strerror(error.errno or 0)
        return f"WARNING the summary of the step could not be written to GITHUB_STEP_SUMMARY: {reason}"
    return ""
