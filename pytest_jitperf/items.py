"""One item before it runs: its markers put together, its fixture made."""

from __future__ import annotations

import os
import unittest
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import pytest

from pytest_jitperf.baseline.lookup import Baselines
from pytest_jitperf.errors import BaselineError, HookError, MeasurementError, SpecError
from pytest_jitperf.extensions import added_facts, added_metrics, added_strategies, metrics_with, reviewed
from pytest_jitperf.fixture import Jitperf
from pytest_jitperf.markers import baseline_key, has_own_marker, layers_of, marker_line
from pytest_jitperf.merging import merge
from pytest_jitperf.plan import Plan, make_plan
from pytest_jitperf.probe.refusals import one_line
from pytest_jitperf.report.progress import Progress
from pytest_jitperf.run import FIXTURE, RUN, STATE, Case, State, case_of
from pytest_jitperf.strategies import is_builtin, name_of
from pytest_jitperf.trial import Trial

__all__ = ["give_fixture", "set_up"]


def set_up(item: pytest.Item) -> None:
    """Puts the markers of an item together.

    An inherited marker applies to the tests that use the fixture; one on the function itself demands a measurement.

    Raises:
        pytest.fail.Exception: A marker is wrong, or stands on what cannot be measured.
    """
    owner = getattr(item, "cls", None)
    unittest_case = owner is not None and issubclass(owner, unittest.TestCase)
    # No method of such a class can use the fixture, so a marker on the class can only be meant for all of them.
    demanded = has_own_marker(item) or (unittest_case and has_own_marker(item.parent))
    if FIXTURE not in getattr(item, "fixturenames", ()) and not demanded:
        return
    state = item.stash[STATE] = State(case_of(item), demanded)
    path, line = marker_line(item)
    if unittest_case:
        pytest.fail(
            f"{item.nodeid}: jitperf cannot measure methods of unittest.TestCase, since pytest gives them no fixtures. "
            f"Make it a plain function, or a method of a plain class.\n{path}:{line}: NotMeasured",
            pytrace=False,
        )
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        pytest.fail(
            f"{item.nodeid}: jitperf cannot measure a test under @given, which runs it with many inputs, other ones "
            "each time; a baseline is of one. Measure a test of its own, with fixed inputs (parametrize, or sizes= in "
            f"the marker).\n{path}:{line}: NotMeasured",
            pytrace=False,
        )
    settings = item.config.stash[RUN].settings
    try:
        state.spec = merge(
            layers_of(item, metrics_with(added_metrics(item))),
            registered=added_strategies(item),
            fallback_strategies=settings.strategies,
            fallback_devices=settings.devices,
        )
        names = [name_of(each) for each in state.spec.strategies]
        if state.case is not None and not state.case.error and state.case.strategy not in names:
            raise SpecError(
                f"jitperf marker: strategies={names} was added after the test was expanded into its items, which is "
                "too late; put the marker on the test"
            )
    except (HookError, SpecError) as error:
        sentence, state.spec = str(error), None
    if state.spec is None:
        _fail_set_up(item, sentence)


def give_fixture(item: pytest.Item, case: object) -> Jitperf:
    """Makes the fixture of an item, which finds its device.

    Raises:
        pytest.skip.Exception: The device is not here.
        pytest.fail.Exception: The same under strict, the baseline cannot be read, or the fixture was asked for too
            late; or this is a fork of the process in which pytest started.
    """
    state = item.stash.get(STATE, None)
    if state is None or state.spec is None or not isinstance(case, Case) or not isinstance(item, pytest.Function):
        pytest.fail(
            'jitperf must be an argument of the test, or of a fixture that it names: request.getfixturevalue("jitperf")'
            " comes after the test was expanded into one item per strategy.",
            pytrace=False,
        )
    run, spec = item.config.stash[RUN], state.spec
    why_not = _why_no_jax(forked=run.process != os.getpid())
    if why_not:
        _fail_set_up(item, why_not)
    from pytest_jitperf.probe import devices
    from pytest_jitperf.probe.reference import ReferenceResults
    from pytest_jitperf.probe.targets import resolve

    asked: tuple[str, ...] = ()
    try:
        asked = tuple(devices.local_devices()) if case.device == devices.ALL else (case.device,)
        device = devices.find(asked[0])
    except devices.NoDeviceError as error:
        state.skipped = str(error)
    if state.skipped:
        if run.settings.strict:
            _fail_set_up(item, f"{state.skipped}, and --jitperf-strict does not let that pass")
        pytest.skip(state.skipped)
    sentence, facts = "", {}
    try:
        # Under every strategy, so that a misspelt name does not wait for the one that needs it.
        resolve(spec.inner)
        facts = added_facts(item)
    except MeasurementError as error:
        sentence = f"jitperf marker: {error}"
    except HookError as error:
        sentence = str(error)
    if sentence:
        _fail_set_up(item, sentence)
    if run.references is None:
        run.references = ReferenceResults()

    custom = added_metrics(item)
    metrics = metrics_with(custom)

    def planner(platform: str, one_program: bool | None) -> Plan:
        known = None if is_builtin(case.strategy) else one_program
        return make_plan(spec, run.settings, case.strategy, case.device, platform, one_program=known, metrics=metrics)

    trial = Trial(
        planner=planner,
        test=baseline_key(item, case.id),
        baselines=_baselines(item),
        references=run.references,
        progress=_progress(item),
        facts=facts,
        review=partial(reviewed, item),
        rehearsing=run.rehearsing,
        custom=custom,
    )
    state.fixture = Jitperf(case.strategy, device, asked, trial, run.settings.mode != "disable", spec.sizes)
    return state.fixture


def _why_no_jax(*, forked: bool) -> str:
    """Why nothing can be measured in this process, one sentence; empty where it can.

    Args:
        forked: Whether it was forked from the one in which the run began.
    """
    try:
        import pytest_jitperf.probe.compare
        import pytest_jitperf.probe.measure  # noqa: F401  (all that a measurement imports)
        from pytest_jitperf.probe import devices
    except Exception as error:  # RuntimeError where jaxlib does not fit, AttributeError where a name has moved
        needed = "what is measured needs jax 0.8 or newer and the jaxlib that fits it"
        return f"JAX cannot be used here ({one_line(error)}); {needed}"
    if forked and devices.are_running():
        return (
            "this process was forked from one in which JAX was at work already, where JAX hangs: run marked tests "
            "without --forked, or let nothing use JAX before the tests (conftest.py, top of a test file, parameters)"
        )
    return ""


def _baselines(item: pytest.Item) -> Baselines:
    """What the baseline holds; a file that cannot be read is told before anything is measured for nothing."""
    run = item.config.stash[RUN]
    if run.settings.mode == "disable" or run.rehearsing is not None:
        return Baselines(item.path, run.baseline)  # never read
    try:
        path = run.baseline_path(item)
        run.baseline(path)
    except BaselineError as error:
        sentence = str(error)
    else:
        return Baselines(path, run.baseline)
    _fail_set_up(item, sentence)


def _fail_set_up(item: pytest.Item, sentence: str) -> NoReturn:
    path, line = marker_line(item)
    pytest.fail(f"{sentence}\n{path}:{line}: {item.nodeid}", pytrace=False)


def _progress(item: pytest.Item) -> Callable[[str], None]:
    reporter: Any = item.config.pluginmanager.get_plugin("terminalreporter")
    # What is taken away again must not count for the width of the line, which pytest places its percentages by. Before
    # pytest 9 everything counts.
    write = getattr(reporter, "write_raw", None)
    if write is None or not getattr(reporter, "isatty", False) or item.config.stash[RUN].worker:
        return lambda text: None
    terminal = item.config.get_terminal_writer()
    return Progress(
        lambda text: write(text, flush=True), lambda: terminal.fullwidth - max(terminal.width_of_current_line, 0)
    )
