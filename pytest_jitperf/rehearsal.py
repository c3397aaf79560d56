"""A test with ``limit=`` before it is measured: called once in a process of its own, which is ended at a limit.

Python code can be interrupted; XLA at work and a running program cannot, except with their process. So that no limit is
a false promise and no run of pytest is lost to it, the process is another one than that which measures.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_jitperf.probe import clock
from pytest_jitperf.rehearsing import COMPILING, VARIABLE, Heard, Order, Rehearsing, hear
from pytest_jitperf.run import RUN, State
from pytest_jitperf.units import Unit, format_quantity
from pytest_jitperf.wording import show

__all__ = ["ARGUMENTS", "Understudy", "arguments_of", "rehearse_item", "rehearsing_of"]

ARGUMENTS = "jitperf_arguments"
"""Where the controller of xdist gives its workers what they would call pytest with."""

_LOOK_SECONDS = 0.05
# A phase is told every half second; who says nothing for so much longer than its limit can no longer speak.
_SILENCE_SECONDS = 10.0
# Until the test itself begins: imports, collection, fixtures. Longer where this process has taken long for that, too.
_LEAST_PATIENCE_SECONDS = 120.0


class Understudy:
    """Registered in the process of a rehearsal, of which no more is wanted than one item.

    Args:
        rehearsing: Who waits for it.
    """

    def __init__(self, rehearsing: Rehearsing) -> None:
        self._order = rehearsing.order

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leaves the one item that is rehearsed."""
        items[:] = [item for item in items if item.nodeid == self._order.nodeid][:1]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        """Ends the process once fixtures are torn down, so that no plugin writes a report of it."""
        yield
        os._exit(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ended:
    """How a rehearsal ended.

    Attributes:
        exceeded: What was heard last where a limit was exceeded, else None.
        failed: Why nothing can be said of the limits, one sentence; empty where the test came to its end.
        output: What pytest printed there.
    """

    exceeded: Heard | None = None
    failed: str = ""
    output: str = ""


def arguments_of(config: pytest.Config) -> list[str]:
    """Arguments for pytest by which another process finds the items of this one, to be followed by a file.

    What names tests is left out, and what would write files where this process does points to nowhere.
    """
    given = [str(each) for each in config.invocation_params.args]
    for path in config.getoption("file_or_dir", None) or []:
        if path in given:
            del given[len(given) - 1 - given[::-1].index(path)]
    has = config.pluginmanager.hasplugin
    more = [f"--rootdir={config.rootpath}"]
    more += ["-c", str(config.inipath)] if config.inipath is not None else []
    more += ["-n0", "--dist=no"] if has("xdist") else []
    more += ["--no-cov"] if has("pytest_cov") else []
    for name, flag in (("report_log", "--report-log"), ("log_file", "--log-file")):
        more += [f"{flag}={os.devnull}"] if config.getoption(name, None) else []
    return [*given, *more]


def rehearse_item(item: pytest.Function, state: State) -> str:
    """Calls what an item measures in a process of its own, if its marker gives limits.

    Another strategy that exceeds a limit, such as the reference, is left out of the measurement.

    Args:
        item: The item, set up.
        state: Its state; the fixture is told which strategies are left out.

    Returns:
        Why the item fails, one sentence; empty where it may be measured.
    """
    run = item.config.stash[RUN]
    limits = state.spec.phase_limits if state.spec is not None else {}
    # A debugger wants the process that it is in.
    debugged = item.config.getoption("usepdb", False) or item.config.getoption("trace", False)
    if not limits or state.fixture is None or state.case is None or run.settings.mode == "disable" or debugged:
        return ""
    left_out: dict[str, str] = {}
    patience = max(_LEAST_PATIENCE_SECONDS, 2 * (clock.perf_counter_ns() - run.started) / 1e9)
    while True:
        state.fixture.tell("calling it in a process of its own")
        ended = _rehearsed(item, tuple(left_out), limits, patience)
        state.fixture.end()
        if ended.failed:
            item.add_report_section("call", "rehearsal", ended.output)
            return ended.failed
        if ended.exceeded is None or ended.exceeded.call is None:
            state.fixture.leave_out(left_out)
            return ""
        strategy = ended.exceeded.call.strategy
        sentence = _exceeded(ended.exceeded, limits)
        if strategy == state.case.strategy or strategy in left_out:
            return sentence
        left_out[strategy] = sentence


def _exceeded(heard: Heard, limits: Mapping[str, float]) -> str:
    """Says which limit was exceeded."""
    assert heard.call is not None, "asked before"
    limit = format_quantity(limits[heard.exceeded], Unit.SECONDS)
    of = "" if heard.call.measurement == "main" else f" of {show(heard.call.measurement)}"
    within = f", in {heard.phase}" if heard.phase != heard.exceeded else ""
    return (
        f"{heard.exceeded}{of} exceeded {limit} under {heard.call.strategy} and was ended{within}: "
        f"limit {heard.exceeded}={limit} (marker)"
    )


def _rehearsed(item: pytest.Function, left_out: Sequence[str], limits: Mapping[str, float], patience: float) -> _Ended:
    config = item.config
    workerinput: Mapping[str, Any] = getattr(config, "workerinput", {})
    arguments = workerinput[ARGUMENTS] if ARGUMENTS in workerinput else arguments_of(config)
    with tempfile.TemporaryDirectory(prefix="jitperf-", ignore_cleanup_errors=True) as folder:
        told = Path(folder, "told")
        command = [sys.executable, "-P", "-m", "pytest", *arguments, "-o", f"cache_dir={folder}/cache"]
        command += [f"--basetemp={folder}/temp"] if config.pluginmanager.hasplugin("tmpdir") else []
        environment = {
            # A GPU has to be shared for once with the process that waits.
            "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            **os.environ,
            VARIABLE: Order(nodeid=item.nodeid, file=str(told), left_out=tuple(left_out)).to_text(),
            "PYTHONPATH": os.pathsep.join(each or os.getcwd() for each in sys.path),
        }
        printed = Path(folder, "printed")
        with printed.open("wb") as output:
            child = subprocess.Popen(
                [*command, str(item.path)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=config.invocation_params.dir,
                start_new_session=True,
            )
            with _ended_whatever_happens(child):
                ended = _wait(child, told, limits, patience)
        return _Ended(
            exceeded=ended.exceeded, failed=ended.failed, output=printed.read_text(encoding="utf-8", errors="replace")
        )


def _wait(child: subprocess.Popen[bytes], told: Path, limits: Mapping[str, float], patience: float) -> _Ended:
    """Waits until a rehearsal is over, has exceeded a limit or can no longer say so."""
    start = last = clock.perf_counter_ns()
    heard = Heard()
    while True:
        over = child.poll() is not None
        now, before = clock.perf_counter_ns(), heard
        heard = hear(told)
        if heard.lines > before.lines:
            last = now
        if heard.exceeded:
            return _Ended(exceeded=heard)
        if over:
            return _over(child.returncode, heard)
        if not heard.began and (now - start) / 1e9 > patience:
            return _Ended(
                failed="limit= takes a process of its own, and that did not come to the test within "
                f"{format_quantity(patience, Unit.SECONDS)}"
            )
        limit = _running_out(heard, limits, (now - last) / 1e9 - _SILENCE_SECONDS)
        if limit:
            return _Ended(exceeded=Heard(call=heard.call, phase=heard.phase or limit, exceeded=limit))
        time.sleep(_LOOK_SECONDS)


def _over(code: int, heard: Heard) -> _Ended:
    """What is to be made of a rehearsal that ended by itself."""
    if not heard.began:
        return _Ended(
            failed=f"limit= takes a process of its own, and pytest ended there with exit code {code} before it came to "
            "the test; see what it printed, or leave limit= out"
        )
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        under = f" under {heard.call.strategy}" if heard.call is not None else ""
        return _Ended(failed=f"not measured: called in a process of its own{under}, it ended that with {name}")
    return _Ended()


def _running_out(heard: Heard, limits: Mapping[str, float], silent: float) -> str:
    """The limit that a call must have exceeded that is silent for so many seconds; empty where there is none."""
    if heard.call is None:
        return ""
    compiling = sum(heard.spent.get(phase, 0.0) for phase in COMPILING)
    spent = {**heard.spent, "compile": compiling}
    names = (heard.phase, "compile") if heard.phase in COMPILING else (heard.phase,) if heard.phase else limits
    return next((name for name in names if name in limits and spent.get(name, 0.0) + silent > limits[name]), "")


@contextmanager
def _ended_whatever_happens(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Within it a process runs; after it neither that one does nor any that it started."""
    try:
        yield
    finally:
        try:
            if hasattr(os, "killpg"):
                os.killpg(child.pid, signal.SIGKILL)
            else:
                child.kill()
        except (ProcessLookupError, PermissionError):  # gone, all of them
            pass
        child.wait()


def rehearsing_of(environment: MutableMapping[str, str]) -> Rehearsing:
    """Who waits for this process; for those that it starts nobody does."""
    return Rehearsing(Order.from_text(environment.pop(VARIABLE)))
