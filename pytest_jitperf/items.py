"""One item: its markers put together, its fixture made, its verdicts raised, its rows."""

from __future__ import annotations

import re
import unittest
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from pytest_jitperf.baseline.lookup import Baselines
from pytest_jitperf.errors import BaselineError, MeasurementError, SpecError
from pytest_jitperf.failures import FAILURES, JitperfFailure, JitperfWarning, NotMeasured
from pytest_jitperf.fixture import Jitperf
from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.judge.strictness import effect_of
from pytest_jitperf.markers import baseline_key, has_own_marker, layers_of, marker_line
from pytest_jitperf.merging import merge
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.plan import Plan, make_plan
from pytest_jitperf.report.failure import failure_text
from pytest_jitperf.report.progress import Progress
from pytest_jitperf.row import row_of, skipped_row
from pytest_jitperf.run import FIXTURE, RUN, STATE, Case, State, case_of
from pytest_jitperf.strategies import is_builtin, name_of
from pytest_jitperf.trial import Trial, Tried

__all__ = ["fail_unmeasured", "give_fixture", "judge_item", "rows_of", "set_up"]


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
    settings = item.config.stash[RUN].settings
    try:
        state.spec = merge(layers_of(item), fallback_strategies=settings.strategies, fallback_devices=settings.devices)
        names = [name_of(each) for each in state.spec.strategies]
        if state.case is not None and not state.case.error and state.case.strategy not in names:
            raise SpecError(
                f"jitperf marker: strategies={names} was added after the test was expanded into its items, which is "
                "too late; put the marker on the test"
            )
        # Said here and not swallowed: a limit that nothing enforces would be a false promise.
        if state.spec.phase_limits:
            raise SpecError("jitperf marker: limit= is not supported yet; leave it out")
    except SpecError as error:
        sentence, state.spec = str(error), None
    if state.spec is None:
        _fail_set_up(item, sentence)


def give_fixture(item: pytest.Item, case: object) -> Jitperf:
    """Makes the fixture of an item, which finds its device.

    Raises:
        pytest.skip.Exception: The device is not here.
        pytest.fail.Exception: The same under strict, the baseline cannot be read, or the fixture was asked for too
            late.
    """
    state = item.stash.get(STATE, None)
    if state is None or state.spec is None or not isinstance(case, Case) or not isinstance(item, pytest.Function):
        pytest.fail(
            'jitperf must be an argument of the test, or of a fixture that it names: request.getfixturevalue("jitperf")'
            " comes after the test was expanded into one item per strategy.",
            pytrace=False,
        )
    from pytest_jitperf.probe import devices
    from pytest_jitperf.probe.reference import ReferenceResults
    from pytest_jitperf.probe.targets import resolve

    run, spec = item.config.stash[RUN], state.spec
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
    sentence = ""
    try:
        # Under every strategy, so that a misspelt name does not wait for the one that needs it.
        resolve(spec.inner)
    except MeasurementError as error:
        sentence = f"jitperf marker: {error}"
    if sentence:
        _fail_set_up(item, sentence)
    if run.references is None:
        run.references = ReferenceResults()

    def planner(platform: str, one_program: bool | None) -> Plan:
        known = None if is_builtin(case.strategy) else one_program
        return make_plan(spec, run.settings, case.strategy, case.device, platform, one_program=known)

    trial = Trial(
        planner=planner,
        test=baseline_key(item, case.id),
        baselines=_baselines(item),
        references=run.references,
        progress=_progress(item),
    )
    state.fixture = Jitperf(case.strategy, device, asked, trial, run.settings.mode != "disable", spec.sizes)
    return state.fixture


def _baselines(item: pytest.Item) -> Baselines:
    """What the baseline holds; a file that cannot be read is told before anything is measured for nothing."""
    run = item.config.stash[RUN]
    if run.settings.mode == "disable":
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
    if reporter is None or not getattr(reporter, "isatty", False) or item.config.stash[RUN].worker:
        return lambda text: None
    return Progress(lambda text: reporter.write(text, flush=True))


def fail_unmeasured(item: pytest.Item, sentence: str) -> NoReturn:
    """Fails an item that could not be measured, located at its marker."""
    path, line = marker_line(item)
    raise NotMeasured(f"{sentence}\n{path}:{line}: NotMeasured", pytrace=False) from None


def judge_item(item: pytest.Item, state: State) -> None:
    """Raises the verdicts of an item whose body passed, or warns of what was not gated.

    Raises:
        JitperfFailure: The subclass of the worst verdict, with the text of all.
    """
    fixture = state.fixture
    if fixture is None or not fixture.called:
        if state.demanded:
            why = "it does not use the jitperf fixture" if fixture is None else "it never calls jitperf()"
            fail_unmeasured(item, f"not measured: the test is marked, but {why}; call  jitperf(f, x)  in it")
        return
    run = item.config.stash[RUN]
    if state.demanded and not fixture.tried and run.settings.mode != "disable":
        fail_unmeasured(item, "not measured: the test is marked, but jitperf() raised an error that the test caught")
    # A rerun has the properties of the attempt before it.
    item.user_properties[:] = [each for each in item.user_properties if not each[0].startswith("jitperf.")]
    for each in fixture.tried:
        prefix = f"jitperf.{each.measurement.name}"
        values = ((name, each.measurement.value(name)) for name in METRICS)
        item.user_properties += [(f"{prefix}.{name}", value) for name, value in values if value is not None]
        item.user_properties += [
            (f"{prefix}.outcome", each.verdict.outcome.value),
            (f"{prefix}.compare_seconds", round(each.compare_seconds, 3)),
        ]
        if each.growth is not None and each.place is not None:
            item.user_properties.append((f"jitperf.{each.place.sweep}.growth", each.growth.describe()))
        if each.verdict.why:
            item.user_properties.append((f"{prefix}.why", "\n".join([*each.verdict.moved, *each.verdict.why])))
    path, line = marker_line(item)
    failing = []
    for each in fixture.tried:
        effect = effect_of(each.verdict, strict=run.settings.strict, missing=run.settings.missing)
        if effect is Effect.FAIL:
            failing.append(each)
        elif effect is Effect.WARN:
            measurement = each.key.measurement
            of = f" / {measurement}" if measurement != "main" else ""
            warning = JitperfWarning(f"{item.nodeid}{of}: {_warning_of(each)}")
            try:
                warnings.warn_explicit(warning, category=None, filename=str(item.path), lineno=line)
            except JitperfWarning:  # the project turns warnings into errors
                failing.append(each)
    if not failing:
        return
    texts = [
        failure_text(
            each.verdict,
            nodeid=run.typed_nodeid(item),
            strategy=each.key.strategy,
            measured=each.measurement,
            where=f"{run.shown(run.baseline_path(item))}, {each.key}",
            verbose=item.config.get_verbosity() >= 2,
            options=_needed_options(item.config),
        )
        for each in failing
    ]
    worst = max((each.verdict.outcome for each in failing), key=lambda outcome: outcome.rank)
    kind = FAILURES.get(worst, JitperfFailure)
    raise kind("\n".join([*texts, f"{path}:{line}: {kind.__name__}"]), pytrace=False)


# What changes from run to run and so never finds its baseline again: an address, a uuid.
_UNSTABLE = re.compile(r"0x[0-9a-f]{6,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def _warning_of(tried: Tried) -> str:
    sentence = tried.verdict.worst.sentence
    found = _UNSTABLE.search(tried.key.test)
    if tried.verdict.outcome is not Outcome.NEW or found is None:
        return sentence
    return f"{sentence}. Its id holds {found[0]!r}, which changes from run to run: give the parameter an id of its own"


def _needed_options(config: pytest.Config) -> list[str]:
    """Options of the command line that say what an item is called and where its baseline is."""
    flags = {"--jitperf-devices": "jitperf_devices", "--jitperf-baseline-dir": "jitperf_baseline_dir"}
    return [f"{flag}={value}" for flag, name in flags.items() if (value := config.getoption(name))]


def rows_of(item: pytest.Item, state: State) -> list[dict[str, Any]]:
    """The rows of an item in plain JSON types."""
    run = item.config.stash[RUN]
    file = run.shown(item.path)
    if state.skipped and state.case is not None:
        row = skipped_row(
            nodeid=item.nodeid,
            file=file,
            test=baseline_key(item, state.case.id) if isinstance(item, pytest.Function) else item.name,
            strategy=state.case.strategy,
            device=state.case.device,
            reason=state.skipped,
        )
        return [row.to_json()]
    if state.fixture is None or not state.fixture.tried:
        return []
    baseline = str(run.baseline_path(item))
    calls = state.spec.expected_calls if state.spec is not None else None
    rows = (
        row_of(each, nodeid=item.nodeid, baseline=baseline, file=file, expected_calls=calls)
        for each in state.fixture.tried
    )
    return [row.to_json() for row in rows]
