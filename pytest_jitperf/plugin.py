"""pytest hooks and the ``jitperf`` fixture: glue only.

This module is imported at every start of pytest, in projects without one marked test too. So it imports neither JAX
nor what only a marked test needs; those imports stand inside the functions that need them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_jitperf import hookspecs
from pytest_jitperf.errors import HookError, JitperfError, OptionError
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.options import add_options, settings_from
from pytest_jitperf.pipeline import pipeline_of

# Imported with the plugin on purpose: it takes the clocks before a test can freeze them.
from pytest_jitperf.probe import clock as clock
from pytest_jitperf.rehearsing import VARIABLE
from pytest_jitperf.run import FIXTURE, RUN, STATE, Case, Run, case_of
from pytest_jitperf.wording import show

if TYPE_CHECKING:
    from pytest_jitperf.fixture import Jitperf
    from pytest_jitperf.metrics import Metric
    from pytest_jitperf.settings import Settings


def pytest_addoption(parser: pytest.Parser) -> None:
    """Registers options and ini keys."""
    add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Registers the hooks that a ``conftest.py`` or another plugin may implement."""
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    """Reads the options; a wrong one is a usage error before any test."""
    config.addinivalue_line(
        "markers",
        "jitperf(strategies=..., inner=..., run='5 ms', tolerance={...}, ...): measure the function given to the "
        "jitperf fixture under jit strategies and compare it with its baseline",
    )
    rehearsing = None
    if VARIABLE in os.environ:
        from pytest_jitperf.rehearsal import Understudy, rehearsing_of

        rehearsing = rehearsing_of(os.environ)
        config.pluginmanager.register(Understudy(rehearsing), "jitperf_understudy")
    # What a rehearsal finds is nobody's result.
    worker = hasattr(config, "workerinput") or rehearsing is not None
    try:
        # A worker need not look for a pull request: its controller did.
        settings = settings_from(config.getoption, config.getini, {} if worker else os.environ, _metrics(config))
    except (HookError, OptionError) as error:
        raise pytest.UsageError(f"jitperf: {error}") from error
    run = config.stash[RUN] = Run(
        settings=settings,
        rootdir=config.rootpath,
        invocation_dir=config.invocation_params.dir,
        worker=worker,
        rehearsing=rehearsing,
    )
    if not worker:
        from pytest_jitperf.controller import Controller

        if settings.baseline_dir and run.rootdir.joinpath(settings.baseline_dir).is_file():
            name = "--jitperf-baseline-dir" if config.getoption("jitperf_baseline_dir") else "ini jitperf_baseline_dir"
            raise pytest.UsageError(f"jitperf: {name}={show(settings.baseline_dir)}: it is a file; give a directory")
        if settings.files and settings.mode != "disable":
            from pytest_jitperf.outputs import complaint

            why_not = complaint(run, config.getoption)
            if why_not:
                raise pytest.UsageError(f"jitperf: {why_not}")
        config.pluginmanager.register(Controller(run), "jitperf_controller")
        pipeline = pipeline_of(os.environ)
        if pipeline.annotates:
            from pytest_jitperf.pipelinereports import PipelineReports

            config.pluginmanager.register(PipelineReports(run, pipeline), "jitperf_pipeline_reports")


def _metrics(config: pytest.Config) -> Mapping[str, Metric]:
    """Every metric that an option may name: of hooks those that are there before collection."""
    if not config.hook.pytest_jitperf_metrics.get_hookimpls():
        return METRICS
    from pytest_jitperf.extensions import added_metrics, metrics_with

    return metrics_with(added_metrics(config))


def pytest_report_header(config: pytest.Config) -> str:
    """One line: mode, devices asked for, versions; JAX is not imported for it."""
    from importlib.metadata import PackageNotFoundError, version

    settings = config.stash[RUN].settings
    versions = []
    for package in ("jax", "jaxlib"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    strict = ", strict" if settings.strict else ""
    devices = ", ".join(settings.devices) or "default device"
    return f"jitperf: {settings.mode}{strict}; {devices}; {', '.join(versions)}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Makes one item per strategy and device of a test that uses the fixture, after all that others add to its id."""
    result = yield
    if FIXTURE in metafunc.fixturenames:
        _parametrize(metafunc)
    return result


def _parametrize(metafunc: pytest.Metafunc) -> None:
    from pytest_jitperf.extensions import added_metrics, added_strategies, metrics_with
    from pytest_jitperf.markers import layers_of
    from pytest_jitperf.merging import expansion
    from pytest_jitperf.strategies import INVALID

    settings = metafunc.config.stash[RUN].settings
    try:
        strategies, devices, error = expansion(
            layers_of(metafunc.definition, metrics_with(added_metrics(metafunc.definition))),
            registered=added_strategies(metafunc.definition),
            fallback_strategies=settings.strategies,
            fallback_devices=settings.devices,
        )
    except HookError as wrong:
        strategies, devices, error = (), (), str(wrong)
    if error is not None:
        cases = [Case("", "", INVALID, error)]
    elif devices:
        cases = [Case(strategy, device, f"{strategy}-{device}") for strategy in strategies for device in devices]
    else:
        cases = [Case(strategy, "", strategy) for strategy in strategies]
    metafunc.parametrize(FIXTURE, cases, ids=[case.id for case in cases], indirect=True)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Counts the items of each test file, so that it is seen where somebody takes some away without a word."""
    item.config.stash[RUN].collected[item.path] += 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what the command line did not ask for."""
    settings = config.stash[RUN].settings
    if not settings.selected_strategies and not settings.selected_devices:
        return
    cases = [(item, case_of(item)) for item in items]
    names = list(dict.fromkeys(case.strategy for _, case in cases if case is not None and not case.error))
    if names and not config.stash[RUN].worker:
        from pytest_jitperf.options import unmatched_strategies

        complaint = unmatched_strategies(settings.selected_strategies, names)
        if complaint is not None:
            raise pytest.UsageError(f"jitperf: {complaint}")
    dropped = [item for item, case in cases if case is not None and not _selected(case, settings)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item, case in cases if case is None or _selected(case, settings)]


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Notes the test files that are not run whole, whoever left something out."""
    for item in items:
        item.config.stash[RUN].deselected.add(item.path)


def _selected(case: Case, settings: Settings) -> bool:
    from pytest_jitperf.devices import is_selected
    from pytest_jitperf.strategies import is_asked_for

    strategy = not settings.selected_strategies or is_asked_for(case.strategy, settings.selected_strategies)
    device = not settings.selected_devices or not case.device or is_selected(case.device, settings.selected_devices)
    return bool(case.error) or (strategy and device)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Notes which test files were collected whole, so that entries without a test can be named."""
    run = session.config.stash[RUN]
    settings = run.settings
    # A test whose marker names no strategies has only the selected ones, without any being deselected.
    if session.testsfailed or settings.mode == "disable" or settings.selected_strategies or run.rehearsing:
        return
    if not any(map(case_of, session.items)):
        return
    from pytest_jitperf.collected import whole_files

    left = Counter(item.path for item in session.items)
    fewer = {path for path, count in run.collected.items() if left[path] < count}
    files = whole_files(session, run.baseline_path, run.deselected | fewer)
    if run.worker:
        session.config.workeroutput["jitperf_collected"] = files  # type: ignore[attr-defined]  # set by xdist
    else:
        run.gather().add_collected(files)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Puts the markers of a test together; their mistakes are the set-up error of that test."""
    if FIXTURE not in getattr(item, "fixturenames", ()) and item.get_closest_marker(FIXTURE) is None:
        return
    from pytest_jitperf.items import set_up

    set_up(item)


@pytest.fixture
def jitperf(request: pytest.FixtureRequest) -> Jitperf:
    """What a test calls to have a function measured under the strategy of its item."""
    from pytest_jitperf.items import give_fixture

    return give_fixture(request.node, getattr(request, "param", None))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Judges after the body, so that the body's own failure goes first and xfail, reruns and ``-x`` see ours."""
    state = pyfuncitem.stash.get(STATE, None)
    if state is None:
        return (yield)
    rehearsing = pyfuncitem.config.stash[RUN].rehearsing
    if rehearsing is not None:
        rehearsing.began()
        return (yield)
    from pytest_jitperf.judging import fail_unmeasured, judge_item

    if state.spec is not None and state.spec.phase_limits:
        from pytest_jitperf.rehearsal import rehearse_item

        why_not = rehearse_item(pyfuncitem, state)
        if why_not:
            fail_unmeasured(pyfuncitem, why_not)
    result, sentence = None, ""
    try:
        result = yield
    except JitperfError as error:
        sentence = str(error)
    finally:
        if state.fixture is not None:
            state.fixture.end()
    if sentence:
        fail_unmeasured(pyfuncitem, sentence)
    judge_item(pyfuncitem, state)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Puts the rows of an item on its report, which xdist carries to the controller.

    Those of a set-up that passed hold none: they make the item known, so that what else is reported of it, such as
    subtests, is heeded.
    """
    report = yield
    state = item.stash.get(STATE, None)
    if state is not None and call.when in ("setup", "call"):
        from pytest_jitperf.judging import is_judgement, rows_of
        from pytest_jitperf.session import ATTRIBUTE

        final = call.when == "call" or not report.passed
        judged = call.excinfo is not None and is_judgement(call.excinfo.value)
        setattr(report, ATTRIBUTE, {"rows": rows_of(item, state), "judged": judged} if final else {})
    if state is not None and call.when == "teardown":
        # pytest keeps every item to the end of the run; results and programs need not be kept with it.
        del item.stash[STATE]
    return report
