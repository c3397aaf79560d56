"""One item after its body: its verdicts raised, its rows made."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from typing import Any, NoReturn

import pytest

from pytest_jitperf.failures import FAILURES, JitperfFailure, JitperfWarning, NotMeasured
from pytest_jitperf.judge.outcome import Effect, Outcome
from pytest_jitperf.judge.strictness import effect_of
from pytest_jitperf.markers import baseline_key, marker_line
from pytest_jitperf.metrics import METRICS, is_custom
from pytest_jitperf.report.failure import failure_text
from pytest_jitperf.row import row_of, skipped_row
from pytest_jitperf.run import RUN, State
from pytest_jitperf.tried import Tried
from pytest_jitperf.unstable import unstable_part
from pytest_jitperf.wording import listed

__all__ = ["fail_unmeasured", "is_judgement", "judge_item", "rows_of"]


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
        names = [*METRICS, *filter(is_custom, each.measurement.exact)]
        values = ((name, each.measurement.value(name)) for name in names)
        item.user_properties += [(f"{prefix}.{name}", value) for name, value in values if value is not None]
        item.user_properties += [
            (f"{prefix}.strategy", each.key.strategy),
            (f"{prefix}.device_kind", each.measurement.device_kind),
            (f"{prefix}.outcome", each.verdict.outcome.value),
            (f"{prefix}.gated_by", each.verdict.gated_by or "nothing"),
            (f"{prefix}.compare_seconds", round(each.compare_seconds, 3)),
        ]
        if each.growth is not None and each.place is not None:
            item.user_properties.append((f"jitperf.{each.place.sweep}.growth", each.growth.describe()))
        if each.verdict.why:
            item.user_properties.append((f"{prefix}.why", "\n".join([*each.verdict.moved, *each.verdict.why])))
    path, line = marker_line(item)
    failing = [each for each in fixture.tried if _effect(item, each) is Effect.FAIL]
    told: dict[str, list[Tried]] = defaultdict(list)
    for each in fixture.tried:
        if _effect(item, each) is Effect.WARN:
            told[_warning_of(item, each)].append(each)
    for sentence, about in told.items():
        # The sizes of a sweep have much in common.
        which = listed(dict.fromkeys(each.key.measurement for each in about if each.key.measurement != "main"))
        warning = JitperfWarning(f"{item.nodeid}{f' / {which}' if which else ''}: {sentence}")
        try:
            warnings.warn_explicit(warning, category=None, filename=str(item.path), lineno=line)
        except JitperfWarning:  # the project turns warnings into errors
            failing += about
    if not failing:
        return
    texts = [_failure(item, each, verbose=item.config.get_verbosity() >= 2) for each in failing]
    worst = max((each.verdict.outcome for each in failing), key=lambda outcome: outcome.rank)
    kind = FAILURES.get(worst, JitperfFailure)
    raise kind("\n".join([*texts, f"{path}:{line}: {kind.__name__}"]), pytrace=False)


def _effect(item: pytest.Item, tried: Tried) -> Effect:
    settings = item.config.stash[RUN].settings
    return effect_of(tried.verdict, strict=settings.strict, missing=settings.missing)


def _failure(item: pytest.Item, tried: Tried, *, verbose: bool) -> str:
    run = item.config.stash[RUN]
    return failure_text(
        tried.verdict,
        nodeid=run.typed_nodeid(item),
        strategy=tried.key.strategy,
        measured=tried.measurement,
        where=f"{run.shown(run.baseline_path(item))}, {tried.key}",
        verbose=verbose,
        options=_needed_options(item.config),
    )


def is_judgement(error: BaseException) -> bool:
    """Whether this is the verdict on what was measured, and not that something could not be."""
    return isinstance(error, JitperfFailure) and not isinstance(error, NotMeasured)


def _warning_of(item: pytest.Item, tried: Tried) -> str:
    sentence = tried.verdict.worst.sentence
    if tried.verdict.outcome is Outcome.INPUTS_CHANGED:
        # pytest's own id for what has no name, such as an array.
        params = getattr(getattr(item, "callspec", None), "params", {})
        numbered = next((found for name in params if (found := _numbered(name, tried.key.test))), "")
        hint = f"{numbered!r} in its id only counts the parameters: give each an id of its own if they changed places"
        return f"{sentence}. {hint}" if numbered else sentence
    found = unstable_part(tried.key.test)
    if tried.verdict.outcome is not Outcome.NEW or not found:
        return sentence
    return f"{sentence}. Its id holds {found!r}, which changes from run to run: give the parameter an id of its own"


def _numbered(name: str, test: str) -> str:
    found = re.search(rf"[\[-]({re.escape(name)}\d+)[-\]]", test)
    return found[1] if found else ""


def _needed_options(config: pytest.Config) -> list[str]:
    """Options of the command line that say what an item is called and where its baseline is."""
    flags = {"--jitperf-devices": "jitperf_devices", "--jitperf-baseline-dir": "jitperf_baseline_dir"}
    return [f"{flag}={value}" for flag, name in flags.items() if (value := config.getoption(name))]


def rows_of(item: pytest.Item, state: State) -> list[dict[str, Any]]:
    """The rows of an item in plain JSON types."""
    run = item.config.stash[RUN]
    file, (_, line) = run.shown(item.path), marker_line(item)
    if state.skipped and state.case is not None:
        row = skipped_row(
            nodeid=item.nodeid,
            file=file,
            line=line,
            test=baseline_key(item, state.case.id) if isinstance(item, pytest.Function) else item.name,
            strategy=state.case.strategy,
            device=state.case.device,
            reason=state.skipped,
            effect=Effect.FAIL if run.settings.strict else Effect.SKIP,
        )
        return [row.to_json()]
    if state.fixture is None or not state.fixture.tried:
        return []
    baseline = str(run.baseline_path(item))
    calls = state.spec.expected_calls if state.spec is not None else None
    rows = []
    for each in state.fixture.tried:
        effect = _effect(item, each)
        failure = _failure(item, each, verbose=True) if effect is Effect.FAIL else ""
        row = row_of(
            each,
            nodeid=item.nodeid,
            baseline=baseline,
            file=file,
            line=line,
            effect=effect,
            failure=failure,
            expected_calls=calls,
        )
        rows.append(row.to_json())
    return rows
