"""Hooks that gather results, write baselines and print the table: the xdist controller, or else the only process."""

from __future__ import annotations

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

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the table and the closing lines, and where reports are; no table where there is no marked item."""
        self._print_table(terminalreporter)
        for line in self._output_lines:
            terminalreporter.write_line(line)

    def _print_table(self, terminalreporter: pytest.TerminalReporter) -> None:
        run = self._run
        if run.gathered is None or not run.gathered.anything or run.settings.mode == "disable":
            return
        from pytest_jitperf.report import terminal

        rows = run.gathered.rows
        terminalreporter.write_sep("=", terminal.heading(rows))
        for line in terminal.table(rows, verbose=terminalreporter.verbosity >= 1):
            terminalreporter.write_line(line)
        if run.written is not None:
            for line in terminal.written_lines(run.written, run.shown):
                terminalreporter.write_line(line)
        for line in terminal.count_line(rows, len(run.gathered.unmeasured), run.settings.mode == "update"):
            terminalreporter.write_line(line)
        for line in run.lines:
            terminalreporter.write_line(line)
        if run.settings.guide:
            from pytest_jitperf.report import guidebook

            terminalreporter.write_sep("=", guidebook.HEADING)
            for line in guidebook.printed(rows):
                terminalreporter.write_line(line)
