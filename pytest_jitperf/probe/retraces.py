"""What compiles again, by function: which argument made it necessary, what about it changed, and the usual cure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import jax

from pytest_jitperf.judge.evidence import EVERY_CALL

from . import devices
from .compilation import Compilation
from .compilelog import CompileLog, compile_log
from .inputs import Call, copied
from .jitinfo import jit_info
from .seen import Seen, seen_of, static_names
from .subject import Subject
from .whatchanged import Change, argument_changes, context_changes, sentence

__all__ = ["METRIC_OF", "Counted", "Told", "count_compilations", "repeated", "within"]

METRIC_OF = {False: "compilations", True: "primitive_compilations"}
"""The metric that counts a compilation, by whether it is JAX's own operation."""

_MOST_LINES = 10
_MOST_NAMES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Compilations over a sequence of inputs.

    Attributes:
        compilations: Executables built, by metric: ``compilations``, ``primitive_compilations``.
        retraces: A line for each of them that is not a function's first, by metric.
        summary: How often each function was traced, lowered and compiled, one sentence.
    """

    compilations: Mapping[str, int]
    retraces: Mapping[str, tuple[str, ...]]
    summary: str


def count_compilations(subject: Subject, sequence: Sequence[Call]) -> Counted:
    """Calls the subject with each input of a sequence, from empty caches, and counts what is compiled.

    Args:
        subject: Within ``subject.active()``.
        sequence: The inputs, in order.
    """
    jax.clear_caches()
    log, told = CompileLog(watching=True), Told()
    for number, raw in enumerate(sequence, 1):
        args, kwargs = devices.place((raw.args, dict(raw.kwargs)), subject.device, subject.asked)
        given = Call(args, kwargs)
        seen = _seen(subject, given)
        call = copied(given)  # the call may overwrite them, and they are the user's
        with compile_log(log):
            subject.wait(subject.call(call))
        told.add(f"input {number}", log.compilations, seen)
        log.compilations.clear()
    return Counted(
        compilations={"compilations": len(log.user), "primitive_compilations": len(log.primitives)},
        retraces=told.lines(),
        summary=_summary(log, len(sequence)),
    )


def within(compilations: Iterable[Compilation]) -> dict[str, tuple[str, ...]]:
    """Says what the first call compiled, and why more than once, by metric."""
    told = Told()
    told.add("first call", compilations)
    return told.lines()


def repeated(first: Iterable[Compilation], second: Iterable[Compilation]) -> dict[str, tuple[str, ...]]:
    """Says why what one call compiled is compiled by the next one again, by metric."""
    told = Told()
    told.add("first call", first)
    again = Told(known=told.known, _labels=["first call"] * len(told.known))
    again.add(EVERY_CALL, second)
    return again.lines()


def _summary(log: CompileLog, inputs: int) -> str:
    compiled = Counter(log.user)
    parts = [
        f"{name} traced {log.traced[name]}, lowered {log.lowered[name]}, compiled {compiled[name]}"
        for name in list(dict.fromkeys([*log.traced, *log.lowered, *compiled]))[:_MOST_NAMES]
    ]
    parts += [f"JAX's own operations compiled {len(log.primitives)}"] if log.primitives else []
    return f"over {inputs} input{'s' if inputs > 1 else ''}: {'; '.join(parts) or 'nothing was compiled'}"


def _seen(subject: Subject, call: Call) -> dict[str, Seen]:
    built = subject.built
    static: set[str] = set()
    if built.jitted:
        info = jit_info(built.call, built.given)
        static = static_names(built.function, len(call.args), info.static_argnums, info.static_argnames)
    return seen_of(built.function, call.args, call.kwargs, static=static)


@dataclass(slots=True)
class Told:
    """What was compiled so far, and the lines about it.

    Attributes:
        known: Compilations so far; each new one is compared with the one of its function that is most alike.
    """

    known: list[Compilation] = field(default_factory=list)
    _labels: list[str] = field(default_factory=list)  # of the calls that the known ones were compiled in
    _inputs: list[Mapping[str, Seen]] = field(default_factory=list)
    _firsts: dict[str, dict[str, list[str]]] = field(
        default_factory=lambda: {metric: {} for metric in METRIC_OF.values()}
    )
    _lines: dict[str, list[str]] = field(default_factory=lambda: {metric: [] for metric in METRIC_OF.values()})

    def add(self, label: str, compilations: Iterable[Compilation], seen: Mapping[str, Seen] | None = None) -> None:
        """Adds what one call compiled.

        Args:
            label: Which call, for the lines.
            compilations: In order.
            seen: Arguments of the call as a whole, or None.
        """
        # Of JAX's own operations all are compiled again where the inputs changed: one line says that of all of them.
        changed = _least([argument_changes(each, seen) for each in self._inputs]) if seen is not None else []
        swept: list[str] = []
        for each in compilations:
            metric = METRIC_OF[each.own]
            earlier = [other for other in self.known if other.group == each.group and other.own == each.own]
            if each.own and changed and self._inputs:
                swept.append(each.name)
            elif earlier and not self._is_one_more(earlier, each, label):
                self._lines[metric].append(f"{label}: {each.name}, {_why(earlier, each, changed)}")
            else:
                self._firsts[metric].setdefault(label, []).append(each.name)
            self.known.append(each)
            self._labels.append(label)
        if swept:
            count = f"{len(swept)} operation{'s' if len(swept) > 1 else ''}"
            self._lines["primitive_compilations"].append(f"{label}: {count} ({_some(swept)}), {sentence(changed)}")
        if seen is not None:
            self._inputs.append(seen)

    def _is_one_more(self, earlier: Sequence[Compilation], now: Compilation, label: str) -> bool:
        """Whether it is one more function made by the same code, as the layers of a model are, and not made anew."""
        if any(each.serial == now.serial for each in earlier):
            return False
        labels = [each for other, each in zip(self.known, self._labels, strict=True) if other in earlier]
        alive = all(each.function is not None and each.function() is not None for each in earlier)
        return alive and all(each == label for each in labels)

    def lines(self) -> dict[str, tuple[str, ...]]:
        """The lines by metric, about ten of each at most: what was compiled for the first time, then what again."""
        return {metric: _bounded([*self._first_lines(metric), *again]) for metric, again in self._lines.items()}

    def _first_lines(self, metric: str) -> list[str]:
        firsts = self._firsts[metric]
        if sum(map(len, firsts.values())) < 2:
            return []  # the one function is named by what compiled again, if anything did
        return [f"{label}: {_some(names)}, for the first time" for label, names in firsts.items()]


def _some(names: Sequence[str]) -> str:
    counts = [f"{name} x{count}" if count > 1 else name for name, count in Counter(names).items()]
    more = f" and {len(counts) - _MOST_NAMES} more" if len(counts) > _MOST_NAMES else ""
    return f"{', '.join(counts[:_MOST_NAMES])}{more}"


def _bounded(lines: list[str]) -> tuple[str, ...]:
    more = [f"and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES + 1 else []
    return (*lines[: _MOST_LINES if more else len(lines)], *more)


def _why(earlier: list[Compilation], now: Compilation, inputs: list[Change]) -> str:
    """Why something was compiled although it had been before."""
    if now.seen is None:
        # All that is known of it is its name.
        return sentence(inputs) if inputs else "its arguments are not known"
    same = [each for each in earlier if each.serial == now.serial]
    changes = _least([_changes(each, now) for each in same or earlier if each.seen is not None])
    if same:
        return sentence(changes) if changes else "nothing about its arguments changed: are JAX's caches cleared?"
    return "a new function object is jitted (jit it once, outside the call)"


def _changes(before: Compilation, now: Compilation) -> list[Change]:
    context = context_changes(before.context, now.context)
    arguments = argument_changes(before.seen or {}, now.seen or {})
    if any(each.text.startswith("x64 ") for each in context):
        arguments = [each for each in arguments if not each.number]
    return [*context, *arguments]


def _least(candidates: list[list[Change]]) -> list[Change]:
    """The changes from the call that was most alike, the latest of several."""
    return min(reversed(candidates), key=lambda changes: sum(each.weight for each in changes), default=[])
