"""pytest hooks and the ``jitperf`` fixture: glue only.

This module is imported at every start of pytest, in projects without one marked test too. So it imports neither JAX
nor what only a marked test needs; those imports stand inside the functions that need them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_jitperf.errors import JitperfError, OptionError
from pytest_jitperf.options import Settings, add_options, settings_from

# Imported with the plugin on purpose: it takes the clocks before a test can freeze them.
from pytest_jitperf.probe import clock as clock

if TYPE_CHECKING:
    from pytest_jitperf.baseline.store import Baseline
    from pytest_jitperf.fixture import Jitperf
    from pytest_jitperf.layers import Spec
    from pytest_jitperf.session import Gathered, Written
    from pytest_jitperf.trial import Tried

_FIXTURE = "jitperf"


@dataclass(slots=True)
class _Run:
    """State of one pytest run in this process."""

    settings: Settings
    rootdir: Path
    invocation_dir: Path
    worker: bool
    gathered: Gathered | None = None
    written: Written | None = None
    baselines: dict[Path, Baseline] = field(default_factory=dict)
    references: Any = None


@dataclass(frozen=True, slots=True)
class _Case:
    """What one item stands for: the parameter of the fixture."""

    strategy: str
    device: str
    id: str
    error: str = ""


@dataclass(slots=True)
class _State:
    """State of one item while it runs."""

    spec: Spec
    case: _Case | None
    demanded: bool
    fixture: Jitperf | None = None
    skipped: str = ""


_RUN = pytest.StashKey[_Run]()
_STATE = pytest.StashKey[_State]()


# --- configuration --------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Registers options and ini keys."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Reads the options; a wrong one is a usage error before any test."""
    config.addinivalue_line(
        "markers",
        "jitperf(strategies=..., inner=..., run='5 ms', tolerance={...}, ...): measure the function given to the "
        "jitperf fixture under jit strategies and compare it with its baseline",
    )
    worker = hasattr(config, "workerinput")
    # A worker is told by the controller that the pipeline was looked at; its environment is the same.
    environ = {} if worker else os.environ
    try:
        settings = settings_from(config.getoption, config.getini, environ)
    except OptionError as error:
        raise pytest.UsageError(f"jitperf: {error}") from error
    run = config.stash[_RUN] = _Run(
        settings=settings,
        rootdir=config.rootpath,
        invocation_dir=config.invocation_params.dir,
        worker=worker,
    )
    if not worker:
        config.pluginmanager.register(_Controller(run), "jitperf_controller")


def pytest_report_header(config: pytest.Config) -> str:
    """One line: mode, devices asked for, versions; JAX is not imported for it."""
    from importlib.metadata import PackageNotFoundError, version

    settings = config.stash[_RUN].settings
    versions = []
    for package in ("jax", "jaxlib"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    strict = ", strict" if settings.strict else ""
    devices = ", ".join(settings.devices) or "default device"
    return f"jitperf: {settings.mode}{strict}; {devices}; {', '.join(versions)}"


# --- collection -----------------------------------------------------------------------------------------------------


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes one item per strategy and device of a test that uses the fixture."""
    if _FIXTURE not in metafunc.fixturenames:
        return
    from pytest_jitperf.markers import layers_of
    from pytest_jitperf.spec import expansion
    from pytest_jitperf.strategies import INVALID

    settings = metafunc.config.stash[_RUN].settings
    expanded = expansion(
        layers_of(metafunc.definition),
        fallback_strategies=settings.strategies,
        fallback_devices=settings.devices,
    )
    if expanded.error is not None:
        cases = [_Case("", "", INVALID, expanded.error)]
    elif expanded.devices:
        cases = [
            _Case(strategy, device, f"{strategy}-{device}")
            for strategy in expanded.strategies
            for device in expanded.devices
        ]
    else:
        cases = [_Case(strategy, "", strategy) for strategy in expanded.strategies]
    metafunc.parametrize(_FIXTURE, cases, ids=[case.id for case in cases], indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what the command line did not ask for."""
    settings = config.stash[_RUN].settings
    if not settings.selected_strategies and not settings.selected_devices:
        return
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    names: set[str] = set()
    for item in items:
        case = _case_of(item)
        if case is not None and not case.error:
            names.add(case.strategy)
        (kept if case is None or case.error or _selected(case, settings) else dropped).append(item)
    from pytest_jitperf.options import unmatched_strategies

    complaint = unmatched_strategies(settings.selected_strategies, names) if names else None
    if complaint is not None and not config.stash[_RUN].worker:
        raise pytest.UsageError(f"jitperf: {complaint}")
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _selected(case: _Case, settings: Settings) -> bool:
    strategy = not settings.selected_strategies or case.strategy in settings.selected_strategies
    device = not settings.selected_devices or not case.device or case.device in settings.selected_devices
    return strategy and device


def _case_of(item: pytest.Item) -> _Case | None:
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get(_FIXTURE) if callspec is not None else None
    return case if isinstance(case, _Case) else None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Notes which test files were collected whole, so that entries without a test can be named."""
    if session.testsfailed or session.config.stash[_RUN].settings.mode == "disable":
        return
    if any(isinstance(item, pytest.Function) and _case_of(item) is not None for item in session.items):
        from pytest_jitperf.collected import whole_files

        run = session.config.stash[_RUN]
        files = whole_files(session, _case_of, lambda item: _baseline_path(run, item))
        _gathered(run).add_collected(files)
        if run.worker:
            session.config.workeroutput["jitperf_collected"] = files  # type: ignore[attr-defined]  # set by xdist


# --- one item -------------------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Puts the markers of a test together; their mistakes are the set-up error of that test."""
    uses_fixture = _FIXTURE in getattr(item, "fixturenames", ())
    if not uses_fixture and item.get_closest_marker(_FIXTURE) is None:
        return
    from pytest_jitperf.errors import SpecError
    from pytest_jitperf.layers import Spec
    from pytest_jitperf.markers import has_own_marker, layers_of, marker_line
    from pytest_jitperf.spec import merge

    demanded = has_own_marker(item)
    if not uses_fixture and not demanded:
        return
    settings = item.config.stash[_RUN].settings
    case = _case_of(item)
    item.stash[_STATE] = _State(Spec(strategies=("outer",)), case, demanded)
    path, line = marker_line(item)
    if _is_unittest(item):
        pytest.fail(
            f"{path}:{line}: jitperf cannot measure unittest.TestCase methods, which pytest does not give fixtures to. "
            "Make it a plain function or a method of a plain class.",
            pytrace=False,
        )
    spec, sentence = Spec(strategies=()), ""
    try:
        spec = merge(layers_of(item), fallback_strategies=settings.strategies, fallback_devices=settings.devices)
    except SpecError as error:
        sentence = str(error)
    if sentence:
        pytest.fail(f"{sentence}\n{path}:{line}: {item.nodeid}", pytrace=False)
    item.stash[_STATE].spec = spec


def _is_unittest(item: pytest.Item) -> bool:
    import unittest

    owner = getattr(item, "cls", None)
    return owner is not None and issubclass(owner, unittest.TestCase)


@pytest.fixture
def jitperf(request: pytest.FixtureRequest) -> Jitperf:
    """Measures a function under the item's strategy and returns its result: ``y = jitperf(f, x)``."""
    item = request.node
    state: _State | None = item.stash.get(_STATE, None)
    case = getattr(request, "param", None)
    if state is None or not isinstance(case, _Case):
        pytest.fail(
            'jitperf must be an argument of the test (or of a fixture it uses): request.getfixturevalue("jitperf") '
            "comes after the test was expanded into one item per strategy.",
            pytrace=False,
        )
    state.fixture = _make_fixture(item, state, case)
    return state.fixture


def _make_fixture(item: pytest.Item, state: _State, case: _Case) -> Jitperf:
    from pytest_jitperf.fixture import Jitperf
    from pytest_jitperf.markers import baseline_key
    from pytest_jitperf.plan import Plan, make_plan
    from pytest_jitperf.probe import devices
    from pytest_jitperf.probe.measure import ReferenceResults
    from pytest_jitperf.strategies import BUILTIN
    from pytest_jitperf.trial import Baselines, Trial

    run = item.config.stash[_RUN]
    settings = run.settings
    try:
        asked = tuple(devices.local_devices()) if case.device == devices.ALL else (case.device,)
        device = devices.find(asked[0])
    except devices.NoDeviceError as error:
        state.skipped = str(error)
        if settings.strict:
            pytest.fail(f"{error}, and --jitperf-strict asks for it", pytrace=False)
        pytest.skip(str(error))
    if run.references is None:
        run.references = ReferenceResults()

    def planner(platform: str, one_program: bool | None) -> Plan:
        builtin = case.strategy in BUILTIN
        return make_plan(
            state.spec,
            settings,
            case.strategy,
            case.device,
            platform,
            one_program=None if builtin else one_program,
        )

    def read(path: Path) -> Baseline:
        from pytest_jitperf.baseline import store

        if path not in run.baselines:
            run.baselines[path] = store.read(path)
        return run.baselines[path]

    assert isinstance(item, pytest.Function)
    trial = Trial(
        planner=planner,
        test=baseline_key(item, case.id),
        baselines=Baselines(_baseline_path(run, item), read),
        references=run.references,
        progress=_progress(item),
    )
    return Jitperf(case.strategy, device, asked, trial, settings.mode != "disable")


def _baseline_path(run: _Run, item: pytest.Item) -> Path:
    from pytest_jitperf.baseline.store import baseline_path

    directory = Path(run.settings.baseline_dir) if run.settings.baseline_dir else None
    return baseline_path(item.path, directory, run.rootdir)


def _progress(item: pytest.Item) -> Callable[[str], None]:
    from pytest_jitperf.report.progress import Progress

    reporter = item.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not getattr(reporter, "isatty", False) or item.config.stash[_RUN].worker:
        return lambda text: None
    return Progress(lambda text: reporter.write(text, flush=True))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Judges after the body, so that the body's own failure goes first and xfail, reruns and ``-x`` see ours."""
    from pytest_jitperf.errors import MeasurementError

    state = pyfuncitem.stash.get(_STATE, None)
    if state is None:
        return (yield)
    try:
        result = yield
    except JitperfError as error:
        _fail_unmeasured(pyfuncitem, str(error))
    finally:
        _end_progress(state)
    if state.fixture is None or not state.fixture.called:
        if state.demanded:
            reason = (
                "the test does not use the jitperf fixture" if state.fixture is None else "it never calls jitperf()"
            )
            _fail_unmeasured(
                pyfuncitem, str(MeasurementError(f"not measured: {reason}; call  jitperf(f, x)  in the test"))
            )
        return result
    _add_properties(pyfuncitem, state.fixture.tried)
    _raise_verdicts(pyfuncitem, state.fixture.tried)
    return result


def _end_progress(state: _State) -> None:
    if state.fixture is not None:
        state.fixture.end()


def _fail_unmeasured(item: pytest.Item, sentence: str) -> None:
    from pytest_jitperf.failures import NotMeasured
    from pytest_jitperf.markers import marker_line

    path, line = marker_line(item)
    raise NotMeasured(f"{sentence}\n{path}:{line}: NotMeasured", pytrace=False) from None


def _add_properties(item: pytest.Item, tried: list[Tried]) -> None:
    from pytest_jitperf.metrics import METRICS

    for each in tried:
        measured = each.measurement
        prefix = f"jitperf.{measured.name}"
        for name in METRICS:
            value = measured.value(name)
            if value is not None:
                item.user_properties.append((f"{prefix}.{name}", value))
        item.user_properties.append((f"{prefix}.outcome", each.verdict.outcome.value))


def _raise_verdicts(item: pytest.Item, tried: list[Tried]) -> None:
    """Raises the worst failure with the text of all, or warns of what was not gated."""
    from pytest_jitperf.failures import FAILURES, JitperfFailure, JitperfWarning
    from pytest_jitperf.judge.outcome import Effect
    from pytest_jitperf.judge.strictness import effect_of
    from pytest_jitperf.markers import marker_line
    from pytest_jitperf.report.failure import failure_text

    run = item.config.stash[_RUN]
    path, line = marker_line(item)
    failing = []
    for each in tried:
        effect = effect_of(each.verdict, strict=run.settings.strict, missing=run.settings.missing)
        if effect is Effect.FAIL:
            failing.append(each)
        elif effect is Effect.WARN:
            sentence = f"{item.nodeid}: {each.verdict.worst.sentence}"
            warnings.warn_explicit(JitperfWarning(sentence), category=None, filename=str(item.path), lineno=line)
    if not failing:
        return
    verbose = item.config.get_verbosity() >= 2
    texts = [
        failure_text(
            each.verdict,
            nodeid=_nodeid_from_here(run, item),
            strategy=each.key.strategy,
            measured=each.measurement,
            where=f"{_relative(run, _baseline_path(run, item))}, {each.key}",
            verbose=verbose,
        )
        for each in failing
    ]
    worst = max(failing, key=lambda each: each.verdict.outcome.rank).verdict
    kind = FAILURES.get(worst.outcome, JitperfFailure)
    raise kind("\n".join([*texts, f"{path}:{line}: {kind.__name__}"]), pytrace=False)


def _relative(run: _Run, path: Path) -> str:
    """A path as one would type it: from where pytest was started, where it is below."""
    for base in (run.invocation_dir, run.rootdir):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return path.as_posix()


def _nodeid_from_here(run: _Run, item: pytest.Item) -> str:
    """The node id with its path from where pytest was started, so that the printed command works there."""
    _, separator, rest = item.nodeid.partition("::")
    return f"{_relative(run, item.path)}{separator}{rest}"


# --- reports --------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Puts the rows of an item on its report, which xdist carries to the controller."""
    report = yield
    state = item.stash.get(_STATE, None)
    if state is not None and (call.when == "call" or (call.when == "setup" and not report.passed)):
        from pytest_jitperf.session import ATTRIBUTE

        setattr(report, ATTRIBUTE, {"rows": _rows(item, state)})
    return report


def _rows(item: pytest.Item, state: _State) -> list[dict[str, Any]]:
    from pytest_jitperf.row import row_of, skipped_row

    run = item.config.stash[_RUN]
    file = _relative(run, item.path)
    if state.skipped and state.case is not None:
        return [
            skipped_row(
                nodeid=item.nodeid,
                file=file,
                test=item.name,
                strategy=state.case.strategy,
                device=state.case.device,
                reason=state.skipped,
            ).to_json()
        ]
    if state.fixture is None:
        return []
    return [
        row_of(
            nodeid=item.nodeid,
            baseline=str(_baseline_path(run, item)),
            file=file,
            key=each.key,
            measured=each.measurement,
            verdict=each.verdict,
            moved=each.moved,
            compiles=each.compiles,
            cut=each.cut,
            store=run.settings.mode == "update",
        ).to_json()
        for each in state.fixture.tried
    ]


def _gathered(run: _Run) -> Gathered:
    from pytest_jitperf.session import Gathered

    if run.gathered is None:
        run.gathered = Gathered()
    return run.gathered


class _Controller:
    """Hooks that gather results: in the controller under xdist, else in the only process."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        payload = getattr(report, "jitperf", None)
        if payload is None and (self._run.gathered is None or not self._run.gathered.knows(report.nodeid)):
            return
        _gathered(self._run).add(
            report.nodeid,
            report.when,
            passed=report.passed,
            xfail=hasattr(report, "wasxfail"),
            payload=payload,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        files = getattr(node, "workeroutput", {}).get("jitperf_collected")
        if files:
            _gathered(self._run).add_collected(files)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the baselines, before the summary is printed; also after ``-x`` and Ctrl-C."""
        run = self._run
        settings = run.settings
        if run.gathered is None or settings.mode == "disable":
            return
        run.written = run.gathered.write(
            stored_times=settings.stored_times, prune=settings.prune, update_entries=settings.mode == "update"
        )
        if run.written.errors and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints the table and the closing lines; nothing where there is no marked item."""
        run = self._run
        if run.gathered is None or not run.gathered.anything or run.settings.mode == "disable":
            return
        from pytest_jitperf.report import terminal

        rows = run.gathered.rows
        terminalreporter.section(terminal.heading(rows))
        for line in terminal.table(rows):
            terminalreporter.write_line(line)
        if run.written is not None:
            for line in terminal.written_lines(run.written, lambda path: _relative(run, path)):
                terminalreporter.write_line(line)
        for line in terminal.count_line(rows, run.gathered.unmeasured, run.settings.mode == "update"):
            terminalreporter.write_line(line)
