"""Command line, ini file and environment become one value, ``Settings``.

Precedence is command line, ini, default; the marker, which goes before all of them, is applied in the plan. A command
line's "not given" is None, so that an ini value is seen behind it. Option values are strings, lists of strings and
booleans, since pytest-xdist sends them to its workers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pytest_jitperf.errors import OptionError
from pytest_jitperf.metrics import METRICS, Metric
from pytest_jitperf.optiontable import OPTIONS, Option
from pytest_jitperf.optionvalues import WrongValueError, read_tolerances
from pytest_jitperf.pullrequest import in_pull_request
from pytest_jitperf.settings import MAX_COMPILE, MAX_RACE, Settings, SetTolerance
from pytest_jitperf.strategies import BUILTIN, is_asked_for
from pytest_jitperf.units import QuantityError, parse_duration
from pytest_jitperf.wording import choose, listed, show

if TYPE_CHECKING:
    import pytest

__all__ = [
    "OPTIONS",
    "Option",
    "SetTolerance",
    "Settings",
    "add_options",
    "in_pull_request",
    "settings_from",
    "unmatched_strategies",
]


def add_options(parser: pytest.Parser) -> None:
    """Registers every option and ini key with pytest."""
    group = parser.getgroup("jitperf", "performance-regression tests for JAX")
    for option in OPTIONS:
        text = option.help.replace("%", "%%")
        if option.kind == "flag":
            group.addoption(option.flag, dest=option.dest, action="store_true", default=None, help=text)
        else:
            action = "append" if option.dest == "jitperf_tolerance" else "store"
            group.addoption(
                option.flag, dest=option.dest, action=action, default=None, metavar=option.metavar, help=text
            )
        if option.ini:
            parser.addini(option.dest, option.ini_help or option.help, type=_INI_TYPES[option.kind], default=None)


def settings_from(
    getoption: Callable[[str], Any],
    getini: Callable[[str], Any],
    environ: Mapping[str, str],
    metrics: Mapping[str, Metric] = METRICS,
) -> Settings:
    """Reads all options.

    Args:
        getoption: ``config.getoption``.
        getini: ``config.getini``.
        environ: ``os.environ``.
        metrics: Every metric by name, those of the user's own too.

    Raises:
        OptionError: A value is wrong, two options contradict each other, or an update is asked for in the pipeline of
            a pull request. The message names the option or ini key, the value, the rule and the likely typo.
    """
    named = partial(read_tolerances, metrics=metrics)
    options = [replace(each, read=named) if each.read is read_tolerances else each for each in OPTIONS]
    on_line = {option.dest: _read(option, option.flag, getoption(option.dest)) for option in options}
    in_file = {option.dest: _read(option, f"ini {option.dest}", _ini(getini, option)) for option in options}

    def value(name: str, default: Any) -> Any:
        found = on_line[name] if on_line[name] is not None else in_file[name]
        return default if found is None else found

    force = bool(on_line["jitperf_update_force"])
    update = force or bool(on_line["jitperf_update"])
    disable = bool(value("jitperf_disable", False))
    action = "--jitperf-update" if update else "--jitperf-prune" if on_line["jitperf_prune"] else ""
    if disable and action:
        rule = "--jitperf-disable" if on_line["jitperf_disable"] else "ini jitperf_disable"
        raise OptionError(
            f"{action} and {rule} contradict each other: nothing would be measured. Leave one of them out."
        )
    pull_request = in_pull_request(environ)
    if update and pull_request and not force:
        raise OptionError(
            f"--jitperf-update in the pipeline of a pull request ({pull_request}) would accept the change that is to "
            "be judged. Update on your own machine and commit the baseline, or use --jitperf-update-force."
        )
    return Settings(
        mode="disable" if disable else "update" if update else "gate",
        prune=bool(on_line["jitperf_prune"]),
        strict=value("jitperf_strict", False),
        stored_times=value("jitperf_stored_times", False),
        strategies=value("jitperf_strategies", ()),
        selected_strategies=on_line["jitperf_strategies"] or (),
        devices=value("jitperf_devices", ()),
        selected_devices=on_line["jitperf_devices"] or (),
        tolerances={
            metric: SetTolerance(tolerance=tolerance, rule=rule)
            for rule, given in (
                ("ini jitperf_tolerance", in_file["jitperf_tolerance"]),
                ("--jitperf-tolerance", on_line["jitperf_tolerance"]),
            )
            for metric, tolerance in (given or {}).items()
        },
        missing=value("jitperf_missing", "warn"),
        max_race_seconds=value("jitperf_max_time", parse_duration(MAX_RACE)),
        max_compile_seconds=value("jitperf_max_compile", parse_duration(MAX_COMPILE)),
        baseline_dir=value("jitperf_baseline_dir", ""),
        guide=value("jitperf_guide", False),
        guide_file=value("jitperf_guide_file", ""),
        json=value("jitperf_json", ""),
        html=value("jitperf_html", ""),
        summary=value("jitperf_summary", ""),
        codequality=value("jitperf_codequality", ""),
    )


def unmatched_strategies(selected: Iterable[str], collected: Collection[str]) -> str | None:
    """Says which strategies of ``--jitperf-strategies`` no test has, once all tests are collected.

    Args:
        selected: Names that the command line asks for.
        collected: Names of the strategies of the collected tests.

    Returns:
        A sentence, or None where each is the strategy of some test.
    """
    missing = [name for name in selected if not any(is_asked_for(each, [name]) for each in collected)]
    if not missing:
        return None
    valid = dict.fromkeys([*collected, *BUILTIN])
    hint = f"; {choose(missing[0], valid)}" if missing[0] not in valid else ""
    return f"--jitperf-strategies: no test here has strategy {listed(map(show, missing), 'or')}{hint}"


def _ini(getini: Callable[[str], Any], option: Option) -> Any:
    if not option.ini:
        return None
    try:
        return getini(option.dest)
    except Exception as error:  # ValueError or UsageError by version of pytest, and neither names the key
        way_out = "; write true or false" if option.kind == "flag" else ""
        raise OptionError(f"ini {option.dest}: {error}{way_out}") from error


def _read(option: Option, name: str, value: Any) -> Any:
    """The value read, or None where the option was not given."""
    if value is None or option.kind == "flag":
        return value
    texts = value if isinstance(value, list) else [value]
    shown = ", ".join(texts)
    try:
        if not shown.strip():
            raise WrongValueError(f"is empty; give {option.metavar}, or leave it out")
        return option.read(texts if option.kind == "list" else shown)
    except QuantityError as error:
        raise OptionError(error.named(name)) from error
    except WrongValueError as error:
        raise OptionError(f"{name}={show(shown)} {error}") from error


_INI_TYPES: Mapping[str, Literal["bool", "linelist", "string"]] = {
    "flag": "bool",
    "list": "linelist",
    "text": "string",
}
