"""Files that a run writes at its end: one line each says which option names it and what is in it.

Whether a file can be written is asked before any test, since a run may take hours; and each is replaced as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_jitperf.baseline import atomic
from pytest_jitperf.pipeline import pipeline_of
from pytest_jitperf.results import Results, results_of
from pytest_jitperf.run import Run
from pytest_jitperf.wording import show

__all__ = ["OUTPUTS", "Output", "complaint", "results", "top_folder", "write_outputs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One kind of file.

    Attributes:
        setting: Field of ``Settings`` that holds its path; option and ini key are named after it.
        noun: What it is, for messages.
        content: Makes it.
        always: Whether it is written where nothing was marked, too.
        unavailable: Says what is missing for it; empty where nothing is.
    """

    setting: str
    noun: str
    content: Callable[[Run], str | bytes]
    always: bool = False
    unavailable: Callable[[], str] = str

    @property
    def option(self) -> str:
        """On the command line."""
        return f"--jitperf-{self.setting.replace('_', '-')}"


def results(run: Run) -> Results:
    """The results of a run, for reports that leave the machine."""
    gathered = run.gather()
    return results_of(
        gathered.rows,
        gathered.unmeasured,
        update=run.settings.mode == "update",
        rootdir=run.rootdir,
        invocation_dir=run.invocation_dir,
        lines=run.lines,
    )


def top_folder(run: Run, top: str) -> str:
    """Where the paths of results begin, relative to the top directory of the checkout.

    Args:
        run: State of the run.
        top: That directory; empty for pytest's root directory.
    """
    if not top:
        return ""
    try:
        return os.path.relpath(os.path.realpath(run.rootdir), os.path.realpath(top)).replace(os.sep, "/")
    except ValueError:  # on another drive
        return ""


def complaint(run: Run, on_line: Callable[[str], object]) -> str:
    """Says why one of the files that were asked for cannot be written; empty where all can.

    Args:
        run: State of the run, before its first test.
        on_line: From the name under which pytest keeps an option to its value on the command line, or None.
    """
    taken: dict[Path, str] = {}
    for output, path in _asked_for(run):
        given = on_line(f"jitperf_{output.setting}")
        name = output.option if given else f"ini jitperf_{output.setting}"
        real = atomic.real_path(path)
        also = f"{taken[real]} names the same file; give each its own" if real in taken else ""
        why_not = output.unavailable() or atomic.why_not_writable(path) or also
        if why_not:
            return f"{name}={show(getattr(run.settings, output.setting))}: {why_not}"
        taken[real] = name
    return ""


def write_outputs(run: Run) -> list[str]:
    """Writes the files that were asked for.

    Returns:
        What is to be said of each, beginning with ``ERROR`` where it could not be written.
    """
    lines = []
    for output, path in _asked_for(run):
        if not output.always and not run.gather().anything:
            continue
        content = output.content(run)
        try:
            atomic.write(atomic.real_path(path), atomic.encoded(content) if isinstance(content, str) else content)
        except OSError as error:
            lines.append(f"ERROR the {output.noun} could not be written: {run.shown(path)}: {error.strerror}")
        else:
            lines.append(f"{output.noun} written to {run.shown(path)}")
    return lines


def _asked_for(run: Run) -> Iterator[tuple[Output, Path]]:
    for output in OUTPUTS:
        file = getattr(run.settings, output.setting)
        if file:
            yield output, run.invocation_dir / file


def _guide(run: Run) -> str:
    from pytest_jitperf.report import guidebook

    return guidebook.markdown(run.gather().rows)


def _json(run: Run) -> bytes:
    from pytest_jitperf import resultsfile

    return resultsfile.dump(results(run))


def _html(run: Run) -> str:
    from pytest_jitperf.pasts import pasts
    from pytest_jitperf.report.html import html

    found = results(run)
    return html(found, pasts(found.rows, run.rootdir))


def _summary(run: Run) -> str:
    from pytest_jitperf.report.markdown import summary

    found = results(run)
    return summary(
        found.rows,
        {each.nodeid: each.status for each in found.unmeasured},
        update=found.mode == "update",
        lines=found.lines,
    )


def _code_quality(run: Run) -> str:
    from pytest_jitperf.report.codequality import code_quality

    return code_quality(results(run).rows, top_folder(run, pipeline_of(os.environ).top))


def _no_html() -> str:
    from pytest_jitperf.report.html import why_not_available

    return why_not_available()


OUTPUTS = (
    Output(setting="guide_file", noun="guide", content=_guide),
    # A shard without a marked test has results too: none.
    Output(setting="json", noun="results", content=_json, always=True),
    Output(setting="html", noun="report", content=_html, unavailable=_no_html),
    Output(setting="summary", noun="summary", content=_summary),
    Output(setting="codequality", noun="code-quality report", content=_code_quality),
)
