"""From the arguments of one marker to a layer of the specification.

Nothing is raised here: every mistake is kept in the layer as a sentence that begins with its keyword, so that a test
can still be expanded into its items and then be told all of its mistakes at once.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pytest_jitperf import markertables
from pytest_jitperf.devices import check_devices
from pytest_jitperf.inner import InnerTarget
from pytest_jitperf.layers import Changes, InnerChange, Layer, Spec
from pytest_jitperf.merging import Expansion, expansion, merge
from pytest_jitperf.metrics import METRICS, Metric
from pytest_jitperf.reader import Reader
from pytest_jitperf.strategies import BUILTIN, Strategy, name_of
from pytest_jitperf.wording import choose, show

__all__ = ["KEYWORDS", "PHASES", "Expansion", "Layer", "Spec", "expansion", "merge", "parse_marker"]

PHASES = ("trace", "lower", "xla", "compile", "run")
"""What ``limit=`` may end."""

# Only to tell a misspelt option; a newer jax may know others.
_JIT_OPTIONS = (
    "static_argnums",
    "static_argnames",
    "donate_argnums",
    "donate_argnames",
    "keep_unused",
    "inline",
    "in_shardings",
    "out_shardings",
    "device",
    "backend",
    "compiler_options",
)


def parse_marker(
    args: Sequence[object],
    kwargs: Mapping[str, object],
    *,
    where: str = "",
    scope: Literal["own", "inherited", "param"] = "own",
    metrics: Mapping[str, Metric] = METRICS,
) -> Layer:
    """Reads one marker.

    Args:
        args: Its positional arguments, of which there should be none.
        kwargs: Its keyword arguments.
        where: Where it stands, for messages: ``"class TestStep"``.
        scope: Whether it stands on the test function, further out, or in a ``pytest.param``.
        metrics: Every metric by name, those of the user's own too.

    Returns:
        The layer, with its mistakes in ``errors``.
    """
    reader = Reader(metrics)
    if args:
        given = ", ".join(map(show, args))
        reader.errors.append(f'positional arguments are not accepted, got {given}; write strategies=["outer"]')
    limits: dict[str, float | None] = {}
    read: dict[str, Any] = {}
    for keyword, value in kwargs.items():
        reader.keyword = keyword
        if keyword in metrics:
            limits[keyword] = None if value is None else reader.limit(keyword, keyword, value)
        elif keyword in BUILTIN and keyword not in _READERS:
            reader.wrong(
                f'{keyword}= is a strategy; write budgets={{"{keyword}": {{"run": "5 ms"}}}} for its own limits'
            )
        elif keyword not in _READERS:
            reader.wrong(f"unknown keyword {keyword}=; {choose(keyword, (*_READERS, *metrics))}")
        elif scope == "param" and keyword in ("strategies", "devices"):
            reader.wrong(f"{keyword}= in pytest.param comes too late to say which items there are; put it on the test")
        else:
            read[keyword] = None if value is None else _READERS[keyword](reader, value)
    everything_removed: Changes[Any] = Changes(cleared=True)
    tables = {keyword: read.pop(keyword, Changes()) or everything_removed for keyword in _TABLES}
    return Layer(
        where=where,
        scope=scope,
        given={keyword: value for keyword, value in read.items() if keyword not in reader.broken},
        budgets=replace(tables["budgets"], everywhere=limits),
        tolerance=tables["tolerance"],
        faster_than=tables["faster_than"],
        broken=frozenset(reader.broken),
        errors=tuple(reader.errors),
    )


def _strategies(reader: Reader, value: object) -> tuple[str | Strategy, ...]:
    every = reader.listing(value)
    for each in every:
        if not isinstance(each, (str, Strategy)):
            meant = f'write Strategy("name", {show(each)})' if callable(each) else 'write a name such as "outer"'
            reader.wrong(f"strategies: {show(each)} is not a strategy; {meant}")
    found = tuple(each for each in every if isinstance(each, (str, Strategy)))
    names = [name_of(each) for each in found]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        reader.wrong(f"strategies: {show(name)} is named twice")
    if not every and "strategies" not in reader.broken:
        reader.wrong("strategies: no strategy is named; leave it out for eager and outer")
    return found


def _devices(reader: Reader, value: object) -> tuple[str, ...]:
    every = reader.listing(value)
    if "devices" not in reader.broken:
        for sentence in check_devices(every):
            reader.wrong(f"devices: {sentence}")
    return tuple(each for each in every if isinstance(each, str))


def _inner(reader: Reader, value: object) -> InnerChange:
    pairs = value.items() if isinstance(value, Mapping) else [(each, {}) for each in reader.listing(value)]
    found: list[tuple[Any, InnerTarget | None]] = []
    for target, options in pairs:
        if isinstance(target, str):
            if "<locals>" in target:
                reader.wrong(
                    f"inner: {show(target)} is made in another function, of which every call makes a new one; define "
                    "it at the top of its module"
                )
            elif "." not in target or not all(part.isidentifier() for part in target.split(".")):
                reader.wrong(
                    f'inner: {show(target)} is not a dotted name such as "pkg.mod.helper"; or give the function'
                )
        elif not callable(target) and not isinstance(target, (classmethod, property)):
            reader.wrong(f"inner: {show(target)} is not a function or a dotted name")
        name = f"inner[{show(target)}]"
        if options is None:
            found.append((target, None))
        elif isinstance(options, Mapping):
            found.append((target, InnerTarget(target, _jit_options(reader, name, options) or None)))
        elif callable(options):
            found.append((target, InnerTarget(target, options)))
        else:
            example = 'write jit options such as {"static_argnames": ["n"]}, or a transform'
            reader.wrong(f"{name}={show(options)} is not a mapping or a function; {example}")
    return InnerChange(replaces=not isinstance(value, Mapping), targets=tuple(found))


def _jit(reader: Reader, value: object) -> Mapping[str, object]:
    return _jit_options(reader, "jit", value)


def _jit_options(reader: Reader, name: str, value: object) -> Mapping[str, object]:
    options = reader.mapping(name, value, '{"static_argnames": ["n"]}')
    for option in options:
        hint = choose(option, _JIT_OPTIONS)
        if option not in _JIT_OPTIONS and hint.startswith("did"):
            reader.wrong(f"{name}: unknown option {show(option)}; {hint}")
    return dict(options)


def _expected_calls(reader: Reader, value: object) -> int | None:
    return reader.count("expected_calls", value)


_SIZES = '{"1024": lambda: (jnp.ones(1024),)}'


def _sizes(reader: Reader, value: object) -> Mapping[str, Callable[[], Any] | None]:
    if not isinstance(value, Mapping):
        reader.wrong(f"sizes={show(value)} is not a mapping; write sizes={_SIZES}")
        return {}
    found: dict[str, Callable[[], Any] | None] = {}
    for key, make in value.items():
        label = str(key)
        if isinstance(key, bool) or not isinstance(key, (str, int, float)) or not label or not label.isprintable():
            reader.wrong(f"sizes: {show(key)} is neither a name nor a number; write sizes={_SIZES}")
        elif label in found:
            reader.wrong(f"sizes: {show(label)} is named twice")
        elif make is not None and not callable(make):
            reader.wrong(f"sizes[{show(key)}]={show(make)} is not a function; write sizes={_SIZES}")
        elif make is not None and _needs(make):
            reader.wrong(
                f"sizes[{show(key)}] needs {_needs(make)}, and is called without arguments; write lambda n=n: ..."
            )
        else:
            found[label] = make
    if not value:
        reader.wrong("sizes: no size is named; leave it out")
    return found


def _needs(make: Callable[..., Any]) -> str:
    """The first argument that a function cannot do without; empty where there is none, or it does not tell."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return ""
    star = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return next((each.name for each in parameters if each.default is each.empty and each.kind not in star), "")


def _growth(reader: Reader, value: object) -> float | None:
    try:
        exponent = float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except ValueError:
        exponent = math.nan
    if not 0 <= exponent < math.inf:
        reader.wrong(f'growth={show(value)} is not an exponent; write growth="1.2" for run time like n ** 1.2 at most')
        return None
    return exponent


def _limit(reader: Reader, value: object) -> Mapping[str, float | None]:
    found: dict[str, float | None] = {}
    for phase, end in reader.mapping("limit", value, '{"compile": "60 s"}').items():
        if phase in PHASES:
            found[phase] = None if end is None else reader.duration(f"limit[{show(phase)}]", end)
        else:
            reader.wrong(f"limit: unknown phase {show(phase)}; {choose(phase, PHASES)}")
    return found


_TABLES = ("budgets", "tolerance", "faster_than")
_READERS: Mapping[str, Callable[[Reader, object], Any]] = {
    "strategies": _strategies,
    "inner": _inner,
    "jit": _jit,
    "devices": _devices,
    "budgets": markertables.budgets,
    "tolerance": markertables.tolerance,
    "faster_than": markertables.faster_than,
    "equal_results": Reader.flag,
    "rtol": Reader.number,
    "atol": Reader.number,
    "expected_calls": _expected_calls,
    "sizes": _sizes,
    "growth": _growth,
    "fail_on_improvement": Reader.flag,
    "limit": _limit,
}

KEYWORDS = frozenset(_READERS)
"""What a marker takes besides metrics."""
