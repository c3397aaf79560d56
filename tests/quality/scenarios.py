"""What is played: how the code changes, what is allowed, and what a right verdict is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from edits import HARMLESS, Edit, equal_speed, more_steps, replaced, unchanged
from projects import Files, base_files
from subjects import SUBJECTS

Change = Callable[[Files], dict[str, str]]
"""From a project's files to what they are afterwards."""


def each_subject(edit: Edit) -> Change:
    """The same edit in every subject."""

    def change(files: Files) -> dict[str, str]:
        changed = dict(files)
        for subject in SUBJECTS:
            module, test = f"{subject.name}.py", f"test_{subject.name}.py"
            changed[module], changed[test] = edit(subject, files[module], files[test])
        return changed

    return change


def everywhere(old: str, new: str) -> Change:
    """A text replaced in all files that have it.

    Raises:
        ValueError: None has it.
    """

    def change(files: Files) -> dict[str, str]:
        found = {name: replaced(text, old, new) for name, text in files.items() if old in text}
        if not found:
            raise ValueError(f"no file has {old!r}")
        return {**files, **found}

    return change


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """One row of the table.

    Attributes:
        key: Short name, for the command line and the results.
        title: As the table has it.
        right: Whether a right verdict passes or fails; ``"shown"`` where the row is for information.
        allowed: Tolerance that decides, in words.
        true: What the change really is, by construction.
        metrics: Of which at least one has to be said to have regressed.
        base: See ``base_files``.
        options: For pytest when it gates.
        changes: What is played in turn.
        peer: Share by which the minimum of a usual benchmark may grow, in percent; None where it cannot see the change.
    """

    key: str
    title: str
    right: Literal["pass", "fail", "shown"]
    allowed: str = "10 %"
    true: str
    metrics: frozenset[str] = frozenset()
    base: Literal["subjects", "beside", "inputs", "blocks"] = "subjects"
    options: tuple[str, ...] = ()
    changes: Mapping[str, Change] = field(default_factory=dict)
    peer: int | None = None


def _alone(tolerance: str, *others: str) -> tuple[str, ...]:
    """A tolerance, and others so wide that what comes with the change does not fail in its place."""
    return (f"--jitperf-tolerance={','.join([tolerance, *(f'{each}=1000%' for each in others)])}",)


def _run(percent: int, allowed: int, right: Literal["pass", "fail", "shown"] = "fail") -> Scenario:
    return Scenario(
        key=f"run+{percent}" if right != "shown" else f"run+{percent}-tight",
        title="more work in run",
        right=right,
        allowed=f"{allowed} %",
        true=f"+{percent} %",
        metrics=frozenset({"run"}),
        options=_alone(f"run={allowed}%", "compile", "trace_calls"),
        changes={"steps": each_subject(more_steps(Fraction(percent, 100)))},
        peer=allowed,
    )


def _compile(percent: int, blocks: int, allowed: int = 25) -> Scenario:
    return Scenario(
        key=f"compile+{percent}",
        title="more to compile",
        right="fail",
        allowed=f"{allowed} %",
        true=f"~ +{percent} %",
        metrics=frozenset({"compile"}),
        base="blocks",
        options=_alone(f"compile={allowed}%", "run", "trace_calls"),
        changes={"blocks": everywhere("BLOCKS = 4", f"BLOCKS = {blocks}")},
    )


def _beside(key: str, title: str, metric: str, change: Change, allowed: str, true: str, *options: str) -> Scenario:
    return Scenario(
        key=key,
        title=title,
        right="fail",
        allowed=allowed,
        true=true,
        metrics=frozenset({metric}),
        base="beside",
        options=options or ("--jitperf-strategies=outer,both",),
        changes={key: change},
    )


SCENARIOS = (
    Scenario(
        key="identical",
        title="identical code",
        right="pass",
        true="none",
        changes={"identical": each_subject(unchanged)},
        peer=10,
    ),
    Scenario(
        key="equal",
        title="equal speed, raced",
        right="pass",
        true="none",
        changes={"constant": each_subject(equal_speed)},
    ),
    Scenario(
        key="harmless",
        title="harmless edits",
        right="pass",
        true="none",
        changes={name: each_subject(edit) for name, edit in HARMLESS.items()},
    ),
    _run(2, 10, "pass"),
    _run(2, 1, "shown"),
    _run(5, 3),
    _run(10, 5),
    _run(20, 10),
    _run(50, 10),
    _run(100, 10),
    # Of CPU time, medians of 7 pairs for each kind of block: x1.25 to x1.33, x1.48 to x1.61, x1.99 to x2.27.
    _compile(25, 7, allowed=10),
    _compile(50, 10),
    _compile(100, 16),
    Scenario(
        key="retrace",
        title="one more retrace",
        right="fail",
        allowed="none",
        true="1 -> 2",
        metrics=frozenset({"compilations"}),
        base="inputs",
        changes={
            "fresh lambda": everywhere("second = (keep,", "second = (lambda out: out,"),
            "weak type": everywhere("second = (keep, jnp.float32(0.5)", "second = (keep, 0.5"),
        },
    ),
    _beside(
        "launch",
        "one more launch",
        "launches",
        everywhere("PROGRAMS = 0", "PROGRAMS = 1"),
        "none",
        "+1",
        "--jitperf-strategies=inner",
        "--jitperf-tolerance=launches=0%",
    ),
    _beside("memory", "temporary memory", "peak_bytes", everywhere("SIDE = 16", "SIDE = 512"), "64 KiB", "+2 MiB"),
    _beside(
        "constant",
        "captured constant",
        "constant_bytes",
        everywhere("LENGTH = 16", "LENGTH = 2**19"),
        "1 MiB",
        "+2 MiB",
    ),
    _beside(
        "trace-loop", "slow trace, a loop", "trace", everywhere("ROUNDS = 0", "ROUNDS = 25 * 10**6"), "50 %", "+200 ms"
    ),
    _beside(
        "trace-calls", "slow trace, calls", "trace_calls", everywhere("CALLS = 0", "CALLS = 20_000"), "10 %", "+20,000"
    ),
)
"""Every scenario, in the order of the table."""


def changed_files(scenario: Scenario, variant: str) -> dict[str, str]:
    """The files of a project after the change."""
    return scenario.changes[variant](base_files(scenario.base))
