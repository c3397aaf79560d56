"""Hooks that gather results, write baselines and print the table: the xdist controller, or else the only process."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import pytest

from pytest_jitperf.run import Run

__all__ = ["Controller"]


class Controller:
    """Registered in the process that sees the reports of all items.

    Args:
        run: State of the run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._output_lines: list[str] = []
        self._summarised = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes the reports of marked items."""
        payload = getattr(report, "jitperf", None)
        if payload is None and (self._run.gathered is None or not self._run.gathered.knows(report.nodeid)):
            return
        self._run.gather().add(
            report.nodeid,
            report.when,
            outcome=report.outcome,
            xfail=hasattr(report, "wasxfail"),
            payload=payload,
            worker=getattr(report, "worker_id", ""),
        )
        if payload:
            # pytest keeps reports to the end of the run, and what is on this one was taken.
            report.__dict__["jitperf"] = {}

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tells an xdist worker what another pytest process needs to find its items."""
        from pytest_jitperf.rehearsal import ARGUMENTS, arguments_of

        node.workerinput[ARGUMENTS] = arguments_of(node.config)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Takes what an xdist worker collected whole."""
        files = getattr(node, "workeroutput", {}).get("jitperf_collected")
        if files:
            self._run.gather().add_collected(files)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes baselines and reports before the summary is printed; also after ``-x`` and Ctrl-C."""
        run, settings = self._run, self._run.settings
        if settings.mode == "disable" or session.config.getoption("collectonly"):
            return
        failed = False
        if run.gathered is not None:
            run.written = run.gathered.write(
                stored_times=settings.stored_times,
                prune=settings.prune,
                update_entries=settings.mode == "update",
                beside_tests=not settings.baseline_dir,
            )
            failed = bool(run.written.errors)
            if run.gathered.anything:
                from pytest_jitperf.extensions import added_lines

                run.lines = added_lines(session.config, run.gathered.rows)
        if settings.files:
            from pytest_jitperf.outputs import write_outputs

            self._output_lines = write_outputs(run)
            failed = failed or any(line.startswith("ERROR") for line in self._output_lines)
        if failed and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_unconfigure(self) -> None:
        """Says what went wrong where no summary was asked for (``-p no:terminal``): an exit code alone says nothing."""
        written = self._run.written
        errors = [f"ERROR {each}" for each in written.errors] if written is not None else []
        errors += [line for line in (*self._run.lines, *self._output_lines) if line.startswith("ERROR")]
        if errors and not self._summarised:
            print(*errors, sep="\n", file=sys.stderr)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the table and the closing lines, and where reports are; no table where there is no marked item.

        With ``-qq``, which leaves pytest's own closing line out too, there is no table and no guide.
        """
        self._summarised = True
        quiet = terminalreporter.verbosity <= -2
        run, columns = self._run, terminalreporter.config.get_terminal_writer().fullwidth
        # Elsewhere than on a terminal, lines that name something are searched for, and stay whole.
        fold = columns if getattr(terminalreporter, "isatty", False) else None
        if run.gathered is not None and run.gathered.anything and run.settings.mode != "disable":
            self._print_table(terminalreporter, quiet=quiet, columns=columns, fold=fold)
        if self._output_lines:
            from pytest_jitperf.report.terminal import folded

            _print(terminalreporter, [line for text in self._output_lines for line in folded(text, fold)])

    def _print_table(
        self, terminalreporter: pytest.TerminalReporter, *, quiet: bool, columns: int, fold: int | None
    ) -> None:
        from pytest_jitperf.report import terminal

        run, width = self._run, min(columns, terminal.WIDTH)
        gathered = run.gather()
        rows = gathered.rows
        if not quiet:
            terminalreporter.write_sep("=", terminal.heading(rows))
            _print(terminalreporter, terminal.table(rows, verbose=terminalreporter.verbosity >= 1, width=width))
        if run.written is not None:
            _print(terminalreporter, terminal.written_lines(run.written, run.shown, fold))
        update = run.settings.mode == "update"
        _print(terminalreporter, terminal.count_line(rows, len(gathered.unmeasured), update, width))
        _print(terminalreporter, run.lines)
        if run.settings.guide and not quiet:
            from pytest_jitperf.report import guidebook

            terminalreporter.write_sep("=", guidebook.HEADING)
            _print(terminalreporter, guidebook.printed(rows, width))


def _print(terminalreporter: pytest.TerminalReporter, lines: Iterable[str]) -> None:
    for line in lines:
        terminalreporter.write_line(line)
