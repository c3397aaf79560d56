"""Several markers on one test become one specification.

Each marker is a layer, resolved to strategy × metric before layers are put over each other. A later layer's
``run="5 ms"`` therefore overrides what an earlier one said about ``run`` for a single strategy. Mappings merge by key,
lists are replaced, and ``None`` removes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MethodType
from typing import Any, NamedTuple

from pytest_jitperf.errors import SpecError
from pytest_jitperf.inner import InnerTarget, short_names
from pytest_jitperf.layers import Changes, InnerChange, Layer, Spec, put_over, with_each
from pytest_jitperf.sizes import FEWEST_SIZES, Size, numbers
from pytest_jitperf.strategies import BUILTIN, EACH, Strategy, default_strategies, name_of, one_helper, traits
from pytest_jitperf.wording import choose, listed, show

__all__ = ["Expansion", "expansion", "merge"]


class Expansion(NamedTuple):
    """Which items a test becomes.

    Attributes:
        strategies: Names in order; empty where there is an error.
        devices: As asked for; empty where none is named, which is one item on the default device.
        error: Every mistake in the markers, one per line, where they cannot be expanded; else None.
    """

    strategies: tuple[str, ...]
    devices: tuple[str, ...]
    error: str | None


def merge(
    layers: Sequence[Layer],
    *,
    registered: Sequence[Strategy] = (),
    fallback_strategies: Sequence[str] = (),
    fallback_devices: Sequence[str] = (),
) -> Spec:
    """Puts the markers of a test over each other.

    Args:
        layers: From the outermost (module, base class) to the innermost (function, ``pytest.param``).
        registered: Strategies that a plugin or conftest registered.
        fallback_strategies: Names from an option, for a test whose markers name none. Those that this test cannot run
            (``inner`` without ``inner=``, a name known to other tests alone) are left out, unless none is left.
        fallback_devices: Devices from an option, for a test whose markers name none.

    Returns:
        The specification.

    Raises:
        SpecError: All mistakes of all markers, one per line.
    """
    merged = _Merged(layers, registered, fallback_strategies, fallback_devices)
    errors = merged.errors()
    if errors:
        raise SpecError("\n".join(errors))
    return merged.spec()


def expansion(
    layers: Sequence[Layer],
    *,
    registered: Sequence[Strategy] = (),
    fallback_strategies: Sequence[str] = (),
    fallback_devices: Sequence[str] = (),
) -> Expansion:
    """Says which items a test becomes, also where keys that have no part in it are wrong.

    Arguments are those of ``merge``; layers of a ``pytest.param`` have no say in it.
    """
    merged = _Merged(layers, registered, fallback_strategies, fallback_devices)
    if merged.strategies is None or merged.devices is None:
        return Expansion((), (), "\n".join(merged.errors()))
    return Expansion(tuple(name_of(each) for each in merged.strategies), merged.devices, None)


class _Merged:
    """The layers put together; what cannot be had because of a mistake is None."""

    def __init__(
        self,
        layers: Sequence[Layer],
        registered: Sequence[Strategy],
        fallback_strategies: Sequence[str],
        fallback_devices: Sequence[str],
    ) -> None:
        self.layers: Sequence[Layer] = layers
        self.known: dict[str, str | Strategy] = {name: name for name in BUILTIN}
        self.known |= {each.name: each for each in registered}
        for layer in layers:
            for each in layer.given.get("strategies") or ():
                if isinstance(each, Strategy):
                    self.known[each.name] = each
        self.unknown: list[str] = []
        self.inner = self._inner([each for each in layers if each.scope != "param"])
        self.each = [f"inner:{name}" for name in short_names(self.inner)]
        self.known |= {name: name for name in self.each}
        self.strategies = self._strategies(fallback_strategies)
        self.devices = self._devices(fallback_devices)
        self.layers = [with_each(layer, self._helpers_meant(), EACH) for layer in layers]

    def spec(self) -> Spec:
        assert self.strategies is not None, "errors() is asked before"
        assert self.devices is not None, "errors() is asked before"
        given: dict[str, Any] = {}
        jit: dict[str, Any] = {}
        limits: dict[str, float] = {}
        for layer in self.layers:
            given |= layer.given
            for keyword, mapping in (("jit", jit), ("limit", limits)):
                if keyword in layer.given:
                    _merge_keys(mapping, layer.given[keyword])
        plain = ("equal_results", "rtol", "atol", "expected_calls", "growth", "fail_on_improvement")
        return Spec(
            strategies=self.strategies,
            devices=self.devices,
            inner=self._inner(self.layers),
            sizes=self._sizes(),
            jit=jit,
            budgets=put_over([layer.budgets for layer in self.layers]),
            tolerance=put_over([layer.tolerance for layer in self.layers]),
            faster_than=put_over([layer.faster_than for layer in self.layers]),
            phase_limits=limits,
            **{keyword: given[keyword] for keyword in plain if given.get(keyword) is not None},
        )

    def errors(self) -> list[str]:
        found = [layer.line(error) for layer in self.layers for error in layer.errors] + self.unknown
        if self.strategies is None or any("inner" in layer.broken for layer in self.layers):
            return found
        names = [name_of(each) for each in self.strategies]
        if self._last("strategies") is None:
            # An option that leaves strategies out for one run makes no mistake of what the marker says about them.
            names = list(dict.fromkeys([*names, *default_strategies(bool(self.inner))]))
        found += self._inner_errors(self.strategies)
        for layer in self.layers:
            found += [layer.line(error) for error in self._name_errors(layer, names)]
        for faster, row in put_over([layer.faster_than for layer in self.layers]).rows.items():
            for name in [faster, *row] if any(row.values()) else []:
                if name in self.known and name not in names:
                    error = f"faster_than: {show(name)} is not a strategy of this test, which has {listed(names)}"
                    found.append(Layer().line(error))
        return list(dict.fromkeys([*found, *self._growth_errors()]))

    def _growth_errors(self) -> Iterator[str]:
        """A growth that nothing could be fitted to."""
        given: dict[str, Any] = {}
        for layer in self.layers:
            if {"sizes", "growth"} & layer.broken:
                return
            given |= layer.given
        sizes, growth = self._sizes(), given.get("growth")
        if len(sizes) == 1:
            named = next(layer for layer in reversed(self.layers) if "sizes" in layer.given)
            yield named.line("sizes: one size shows no growth; give at least two")
            return
        last = next((layer for layer in reversed(self.layers) if "growth" in layer.given), Layer())
        if last.scope == "inherited" and not sizes:
            return  # it holds for the tests of a class or module that are sweeps
        if growth is not None and len(sizes) < FEWEST_SIZES:
            has = f"sizes= has {len(sizes)}" if sizes else "there is no sizes="
            yield last.line(f"growth: an exponent takes {FEWEST_SIZES} sizes to fit, and {has}")

    def _sizes(self) -> tuple[Size, ...]:
        """The sizes of all layers, the smallest first where all are numbers."""
        merged: dict[str, Any] = {}
        for layer in self.layers:
            if "sizes" in layer.given:
                _merge_keys(merged, layer.given["sizes"])
        known: Sequence[float | None] = numbers(merged) or [None] * len(merged)
        every = [Size(label=label, make=make, number=n) for (label, make), n in zip(merged.items(), known, strict=True)]
        return tuple(sorted(every, key=lambda each: each.number or 0.0))

    def _name_errors(self, layer: Layer, names: Sequence[str]) -> Iterator[str]:
        """Strategies named by the tables of one marker: unknown ones, and such as would never be checked."""
        for faster, row in layer.faster_than.rows.items():
            for name in (faster, *(row or {})):
                if name not in self.known:
                    yield f"faster_than: unknown strategy {show(name)}; {choose(name, self.known)}"
        tables: tuple[tuple[str, Changes[Any]], ...] = (("budgets", layer.budgets), ("tolerance", layer.tolerance))
        for keyword, table in tables:
            for name, row in table.rows.items():
                if name not in self.known:
                    yield f"{keyword}: unknown strategy {show(name)}; {choose(name, self.known)}"
                elif name not in names and row and layer.scope != "inherited":
                    yield f"{keyword}: {show(name)} is not a strategy of this test, which has {listed(names)}"

    def _strategies(self, fallback: Sequence[str]) -> tuple[str | Strategy, ...] | None:
        named = self._last("strategies")
        if named is not None:
            if "strategies" in named.broken:
                return None
            asked: Sequence[str | Strategy] = named.given["strategies"]
            for each in asked:
                if name_of(each) not in self.known and each != EACH:
                    hint = "" if one_helper(each) else f'; another one needs Strategy("{each}", build)'
                    error = f"strategies: unknown strategy {show(each)}; {choose(name_of(each), self.known)}{hint}"
                    self.unknown.append(named.line(error))
            if self.unknown:
                return None
            return self._each_helper([self.known.get(name_of(each), each) for each in asked])
        has_inner = bool(self.inner) or any("inner" in layer.broken for layer in self.layers)
        known = {**self.known, EACH: EACH}
        usable = [name for name in fallback if name in known and (has_inner or not _swaps(known[name]))]
        return self._each_helper([known[name] for name in usable or default_strategies(has_inner)])

    def _helpers_meant(self) -> list[str]:
        """Strategies that ``inner:each`` stands for in a table: those of the test, of which there may be one alone."""
        names = [name_of(each) for each in self.strategies or ()]
        return [name for name in self.each if name in names] or self.each

    def _each_helper(self, strategies: Sequence[str | Strategy]) -> tuple[str | Strategy, ...]:
        """The strategies, with one for each helper where that is asked for."""
        named: dict[str, str | Strategy] = {}
        for strategy in strategies:
            each = self.each if strategy == EACH and self.each else [strategy]
            named |= {name_of(one): one for one in each}
        return tuple(named.values())

    def _devices(self, fallback: Sequence[str]) -> tuple[str, ...] | None:
        named = self._last("devices")
        if named is None:
            return tuple(fallback)
        return None if "devices" in named.broken else tuple(named.given["devices"])

    def _last(self, keyword: str) -> Layer | None:
        """The layer that decides; None where no layer does, or the last word was to remove it."""
        for layer in reversed(self.layers):
            if layer.scope != "param" and (keyword in layer.given or keyword in layer.broken):
                return None if keyword not in layer.broken and layer.given[keyword] is None else layer
        return None

    def _inner(self, layers: Sequence[Layer]) -> tuple[InnerTarget, ...]:
        found: list[InnerTarget] = []
        for layer in layers:
            if "inner" not in layer.given:
                continue
            change: InnerChange | None = layer.given["inner"]
            if change is None or change.replaces:
                found = []
            for target, chosen in change.targets if change else ():
                at = next((i for i, each in enumerate(found) if _same(each.target, target)), None)
                if at is None:
                    found += [chosen] if chosen else []
                else:
                    found[at : at + 1] = [chosen] if chosen else []
        return tuple(found)

    def _inner_errors(self, strategies: Sequence[str | Strategy]) -> Iterator[str]:
        swapping = [name_of(each) for each in strategies if _swaps(each)]
        last = self.layers[-1] if self.layers else Layer()
        inner = self._inner(self.layers)
        if swapping and not inner:
            need = f"{listed(map(show, swapping))} {'need' if len(swapping) > 1 else 'needs'} inner="
            yield last.line(f"strategies: {need}, which names the functions to jit")
        for name in filter(one_helper, swapping):
            if inner and one_helper(name) not in short_names(inner):
                kept = listed(short_names(inner))
                yield last.line(f"strategies: {show(name)} has no helper left: inner= here is {kept}")
        if inner and not swapping and last.scope == "param" and last.given.get("inner"):
            yield last.line("inner: it comes too late in pytest.param to add strategies; put it on the test")
        for number, layer in enumerate(self.layers):
            change: InnerChange | None = layer.given.get("inner")
            before = [each.target for each in self._inner(self.layers[:number])]
            for target, chosen in change.targets if change else ():
                if chosen is None and not any(_same(target, each) for each in before):
                    error = f"inner: {show(target)}: None removes it, and no marker further out names it"
                    yield layer.line(f"{error}; to jit it without options write {{}}")


def _merge_keys(merged: dict[str, Any], change: Mapping[str, Any] | None) -> None:
    if change is None:
        merged.clear()
    for key, value in (change or {}).items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = value


def _swaps(strategy: str | Strategy) -> bool:
    return traits(strategy).swaps_inner


def _same(one: object, other: object) -> bool:
    """Whether two entries of ``inner=`` are one; ``==`` of arbitrary callables need not give a truth value."""
    return one is other or (isinstance(one, (str, MethodType)) and type(one) is type(other) and one == other)
