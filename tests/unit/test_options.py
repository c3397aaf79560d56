"""Options come from the command line, else from the ini file, else from the defaults; mistakes name their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_jitperf.errors import OptionError
from pytest_jitperf.metrics import METRICS
from pytest_jitperf.options import (
    OPTIONS,
    Settings,
    SetTolerance,
    add_options,
    in_pull_request,
    settings_from,
    unmatched_strategies,
)
from pytest_jitperf.units import Tolerance

ON_LINE, IN_FILE = "--jitperf-tolerance", "ini jitperf_tolerance"


def settings(
    line: Mapping[str, object] | None = None,
    ini: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Settings from options named without their prefix; pytest says None where one was not given."""
    return settings_from(
        lambda dest: (line or {}).get(dest.removeprefix("jitperf_")),
        lambda name: (ini or {}).get(name.removeprefix("jitperf_")),
        environ or {},
    )


def test_nothing_given_means_the_defaults() -> None:
    assert settings() == Settings(
        mode="gate",
        prune=False,
        strict=False,
        stored_times=False,
        strategies=(),
        selected_strategies=(),
        devices=(),
        selected_devices=(),
        tolerances={},
        missing="warn",
        max_race_seconds=5.0,
        max_compile_seconds=120.0,
        baseline_dir="",
        guide=False,
        guide_file="",
        json="",
    )


def test_every_option_of_the_command_line() -> None:
    assert settings(
        {
            "update": True,
            "prune": True,
            "strict": True,
            "stored_times": True,
            "strategies": "outer, filter_jit",
            "devices": "cpu,gpu:0",
            "tolerance": ["run=10%,peak_bytes=1 % and 64 KiB", "launches=2"],
            "missing": "fail",
            "max_time": "2 s",
            "max_compile": "0s",
            "baseline_dir": "bench/base lines",
            "guide": True,
            "guide_file": "guide.md",
            "json": "results.json",
            "summary": "summary.md",
            "codequality": "quality.json",
        }
    ) == Settings(
        mode="update",
        prune=True,
        strict=True,
        stored_times=True,
        strategies=("outer", "filter_jit"),
        selected_strategies=("outer", "filter_jit"),
        devices=("cpu", "gpu:0"),
        selected_devices=("cpu", "gpu:0"),
        tolerances={
            "run": SetTolerance(tolerance=Tolerance(0.1, 0.0), rule=ON_LINE),
            "peak_bytes": SetTolerance(tolerance=Tolerance(0.01, 65536.0), rule=ON_LINE),
            "launches": SetTolerance(tolerance=Tolerance(0.0, 2.0), rule=ON_LINE),
        },
        missing="fail",
        max_race_seconds=2.0,
        max_compile_seconds=0.0,
        baseline_dir="bench/base lines",
        guide=True,
        guide_file="guide.md",
        json="results.json",
        summary="summary.md",
        codequality="quality.json",
    )


def test_every_key_of_the_ini_file() -> None:
    assert settings(
        ini={
            "disable": True,
            "strict": True,
            "stored_times": True,
            "strategies": ["eager, outer", "both"],
            "devices": ["cpu"],
            "tolerance": ["run=10%", "compile=25%,flops=0%"],
            "missing": "ok",
            "max_time": "2 s",
            "max_compile": "1 min",
            "baseline_dir": "baselines",
            "guide": True,
            "guide_file": "guide.md",
            "json": "results.json",
        }
    ) == Settings(
        mode="disable",
        strict=True,
        stored_times=True,
        strategies=("eager", "outer", "both"),
        devices=("cpu",),
        tolerances={
            "run": SetTolerance(tolerance=Tolerance(0.1, 0.0), rule=IN_FILE),
            "compile": SetTolerance(tolerance=Tolerance(0.25, 0.0), rule=IN_FILE),
            "flops": SetTolerance(tolerance=Tolerance(0.0, 0.0), rule=IN_FILE),
        },
        missing="ok",
        max_race_seconds=2.0,
        max_compile_seconds=60.0,
        baseline_dir="baselines",
        guide=True,
        guide_file="guide.md",
        json="results.json",
    )


def test_command_line_goes_before_the_ini_file() -> None:
    found = settings(
        {"strategies": "outer", "devices": "gpu", "missing": "ok", "max_time": "1 s", "tolerance": ["run=1%"]},
        {
            "strategies": ["eager"],
            "devices": ["cpu"],
            "missing": "fail",
            "max_time": "9 s",
            "max_compile": "9 s",
            "tolerance": ["run=9%,compile=9%"],
            "strict": False,
        },
    )

    assert found == Settings(
        strategies=("outer",),
        selected_strategies=("outer",),
        devices=("gpu",),
        selected_devices=("gpu",),
        missing="ok",
        max_race_seconds=1.0,
        max_compile_seconds=9.0,
        tolerances={
            "run": SetTolerance(tolerance=Tolerance(0.01, 0.0), rule=ON_LINE),
            "compile": SetTolerance(tolerance=Tolerance(0.09, 0.0), rule=IN_FILE),
        },
    )


def test_tolerance_given_again_overrides_metric_by_metric() -> None:
    found = settings({"tolerance": ["run=10%,compile=25%", "run=12%"]}).tolerances

    assert {metric: each.tolerance for metric, each in found.items()} == {
        "run": Tolerance(0.12, 0.0),
        "compile": Tolerance(0.25, 0.0),
    }


METRIC_NAMES = ", ".join(METRICS)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("max_time", "5", 'max-time="5" has no unit; write "5 s" or "5 ms"'),
        ("max_time", "-5s", 'max-time="-5s" is below zero; write "5 ms"'),
        (
            "max_compile",
            "5 parsecs",
            'max-compile="5 parsecs" has unknown unit "parsecs"; a time is in ns, us, ms, s, min or h',
        ),
        ("missing", "fial", 'missing="fial" is not one of the policies; did you mean "fail"? Valid: ok, warn, fail'),
        ("baseline_dir", " ", 'baseline-dir=" " is empty; give PATH, or leave it out'),
        ("guide_file", "", 'guide-file="" is empty; give PATH, or leave it out'),
        ("tolerance", [""], 'tolerance="" is empty; give METRIC=TOLERANCE,..., or leave it out'),
        ("tolerance", ["10%"], 'tolerance="10%" has "10%" without a metric; write run=10%,compile=25%'),
        (
            "tolerance",
            ["run=10"],
            'tolerance="run=10" is wrong: run="10" may be a share or an amount; write "10 %" or "10 ms"',
        ),
        (
            "tolerance",
            ["rum=1%"],
            f'tolerance="rum=1%" names unknown metric "rum"; did you mean "run"? Valid: {METRIC_NAMES}',
        ),
        ("tolerance", ["run=1%,run=2%"], 'tolerance="run=1%,run=2%" names run twice'),
        (
            "strategies",
            "outer,o!",
            'strategies="outer,o!" names "o!", which is no strategy; valid: eager, outer, inner, both, and your own',
        ),
        (
            "strategies",
            "run",
            'strategies="run" names "run", which is a metric; '
            "strategies are eager, outer, inner and both, and your own",
        ),
        ("strategies", "eager,eager", 'strategies="eager,eager" names "eager" twice'),
        (
            "devices",
            "cup",
            'devices="cup" is wrong: unknown device "cup"; did you mean "cpu"? '
            "Valid: cpu, gpu, tpu, cuda, rocm, gpu:0, all, as-is",
        ),
    ],
)
def test_wrong_value_names_option_value_and_rule(name: str, value: object, message: str) -> None:
    with pytest.raises(OptionError) as on_line:
        settings({name: value})
    with pytest.raises(OptionError) as in_file:
        settings(ini={name: value})

    assert str(on_line.value) == f"--jitperf-{message}"
    assert str(in_file.value) == f"ini jitperf_{message.replace('-', '_', message.partition('=')[0].count('-'))}"


def test_wrong_ini_value_is_seen_behind_the_command_line_too() -> None:
    with pytest.raises(OptionError, match='ini jitperf_max_time="5" has no unit'):
        settings({"max_time": "5 s"}, {"max_time": "5"})


def test_ini_value_that_pytest_cannot_read_names_its_key() -> None:
    def getini(name: str) -> Any:
        if name == "jitperf_strict":
            raise ValueError("invalid truth value 'maybe'")

    with pytest.raises(OptionError, match=r"^ini jitperf_strict: invalid truth value 'maybe'; write true or false$"):
        settings_from(lambda _: None, getini, {})


@pytest.mark.parametrize(
    ("line", "ini", "beginning"),
    [
        ({"update": True, "disable": True}, {}, "--jitperf-update and --jitperf-disable contradict each other"),
        ({"update": True}, {"disable": True}, "--jitperf-update and ini jitperf_disable contradict each other"),
        ({"update_force": True}, {"disable": True}, "--jitperf-update and ini jitperf_disable contradict"),
        ({"prune": True, "disable": True}, {}, "--jitperf-prune and --jitperf-disable contradict each other"),
    ],
)
def test_nothing_can_be_written_while_nothing_is_measured(
    line: dict[str, object], ini: dict[str, object], beginning: str
) -> None:
    with pytest.raises(OptionError) as caught:
        settings(line, ini)

    assert str(caught.value).startswith(beginning)


def test_update_is_refused_in_a_pull_request_unless_forced() -> None:
    environ = {"GITHUB_EVENT_NAME": "pull_request"}

    with pytest.raises(OptionError) as caught:
        settings({"update": True}, environ=environ)

    assert str(caught.value) == (
        "--jitperf-update in the pipeline of a pull request (GITHUB_EVENT_NAME=pull_request) would accept the change "
        "that is to be judged. Update on your own machine and commit the baseline, or use --jitperf-update-force."
    )
    assert settings({"update_force": True}, environ=environ).mode == "update"
    assert settings({"update": True, "update_force": True}, environ=environ).mode == "update"
    assert settings({"update": True}).mode == "update"
    assert settings(environ=environ).mode == "gate"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"GITHUB_EVENT_NAME": "pull_request"}, "GITHUB_EVENT_NAME=pull_request"),
        ({"GITHUB_EVENT_NAME": "pull_request_target"}, "GITHUB_EVENT_NAME=pull_request_target"),
        ({"GITHUB_EVENT_NAME": "pull_request_review"}, "GITHUB_EVENT_NAME=pull_request_review"),
        ({"GITHUB_EVENT_NAME": "merge_group"}, "GITHUB_EVENT_NAME=merge_group"),
        ({"GITHUB_EVENT_NAME": "push"}, ""),
        ({"GITHUB_EVENT_NAME": "schedule"}, ""),
        ({"CI_OPEN_MERGE_REQUESTS": "group/project!7"}, "CI_OPEN_MERGE_REQUESTS=group/project!7"),
        ({"CI_EXTERNAL_PULL_REQUEST_IID": "7"}, "CI_EXTERNAL_PULL_REQUEST_IID=7"),
        ({"CI_MERGE_REQUEST_IID": "12"}, "CI_MERGE_REQUEST_IID=12"),
        ({"CI_MERGE_REQUEST_IID": ""}, ""),
        ({"TRAVIS_PULL_REQUEST": "false"}, ""),
        ({"TRAVIS_PULL_REQUEST": "7"}, "TRAVIS_PULL_REQUEST=7"),
        ({"BUILD_REASON": "PullRequest"}, "BUILD_REASON=PullRequest"),
        ({"BUILD_REASON": "Manual"}, ""),
        ({"CI": "true"}, ""),
        ({}, ""),
    ],
)
def test_pull_request_is_known_by_the_variables_of_its_pipeline(environ: dict[str, str], expected: str) -> None:
    assert in_pull_request(environ) == expected


@pytest.mark.parametrize(
    ("selected", "expected"),
    [
        ([], None),
        (["outer", "remat"], None),
        (["inner"], '--jitperf-strategies: no test here has strategy "inner"'),
        (
            ["oter"],
            '--jitperf-strategies: no test here has strategy "oter"; did you mean "outer"? '
            "Valid: outer, remat, eager, inner, both",
        ),
    ],
)
def test_strategy_that_no_test_has_is_told_after_collection(selected: list[str], expected: str | None) -> None:
    assert unmatched_strategies(selected, ["outer", "remat"]) == expected


@pytest.fixture
def registered() -> SimpleNamespace:
    """What ``add_options`` registers with a parser: options by flag, and ini keys by name."""
    options: dict[str, dict[str, Any]] = {}
    keys: dict[str, dict[str, Any]] = {}

    def addoption(flag: str, **attributes: Any) -> None:
        options[flag] = attributes

    def addini(name: str, help: str, **attributes: Any) -> None:  # pytest's own name
        keys[name] = {"help": help, **attributes}

    def getgroup(name: str, description: str) -> SimpleNamespace:
        return SimpleNamespace(addoption=addoption)

    parser: Any = SimpleNamespace(getgroup=getgroup, addini=addini)
    add_options(parser)
    return SimpleNamespace(options=options, keys=keys)


def test_options_and_ini_keys_that_are_registered(registered: SimpleNamespace) -> None:
    flags = ["update", "update-force", "prune", "disable", "strict", "stored-times"]
    valued = ["strategies", "devices", "tolerance", "missing", "max-time", "max-compile", "baseline-dir"]
    files = ["guide", "guide-file", "json", "html", "summary", "codequality"]

    assert list(registered.options) == [f"--jitperf-{each}" for each in [*flags, *valued, *files]]
    assert {name: key["type"] for name, key in registered.keys.items()} == {
        "jitperf_disable": "bool",
        "jitperf_strict": "bool",
        "jitperf_stored_times": "bool",
        "jitperf_strategies": "linelist",
        "jitperf_devices": "linelist",
        "jitperf_tolerance": "linelist",
        "jitperf_missing": "string",
        "jitperf_max_time": "string",
        "jitperf_max_compile": "string",
        "jitperf_baseline_dir": "string",
        "jitperf_guide": "bool",
        "jitperf_guide_file": "string",
        "jitperf_json": "string",
        "jitperf_html": "string",
        "jitperf_summary": "string",
        "jitperf_codequality": "string",
    }


def test_not_given_can_be_told_from_given(registered: SimpleNamespace) -> None:
    everything = [*registered.options.values(), *registered.keys.values()]

    assert [each["default"] for each in everything] == [None] * len(everything)


def test_no_option_would_swallow_the_path_after_it(registered: SimpleNamespace) -> None:
    assert all("nargs" not in each for each in registered.options.values())
    assert {each["action"] for each in registered.options.values()} == {"store_true", "store", "append"}


def test_tolerance_alone_adds_up_when_given_again(registered: SimpleNamespace) -> None:
    assert [flag for flag, each in registered.options.items() if each["action"] == "append"] == ["--jitperf-tolerance"]


def test_help_begins_with_a_capital_and_names_the_defaults(registered: SimpleNamespace) -> None:
    texts = [each["help"] for each in [*registered.options.values(), *registered.keys.values()]]

    assert [text for text in texts if not text[0].isupper() or (text.endswith(".") and ". " not in text)] == []
    assert "(default: 5 s)" in registered.options["--jitperf-max-time"]["help"]
    assert "(default: 120 s)" in registered.options["--jitperf-max-compile"]["help"]
    assert "(default: warn)" in registered.options["--jitperf-missing"]["help"]


def test_percent_signs_are_escaped_for_the_command_line_alone(registered: SimpleNamespace) -> None:
    assert "run=10%%," in registered.options["--jitperf-tolerance"]["help"]
    assert "run=10%," in registered.keys["jitperf_tolerance"]["help"]


def test_every_option_is_read_from_its_own_name() -> None:
    asked: list[str] = []
    ask: Callable[[str], None] = asked.append

    settings_from(ask, lambda _: None, {})

    assert asked == [option.dest for option in OPTIONS]
