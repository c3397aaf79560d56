"""What one item's probe found: plain values that compare, print and go to JSON.

No JAX object, pytest object or open file gets in here. Seconds, bytes and counts only, so that everything after the
probe is a pure function of values (judging, reporting, storing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

NOT_ONE_PROGRAM = "it cannot be traced as one program"
"""How the reason begins why there is no program of what Python drives by the values that it computes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Repeated timings of one thing.

    Attributes:
        median: Middle of the rounds, seconds.
        low: Lower quartile of the rounds, seconds.
        high: Upper quartile of the rounds, seconds.
        rounds: How many rounds were taken, at least 1.
    """

    median: float
    low: float
    high: float
    rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What besides the code decides which program is built and how fast it runs.

    ``machine`` is for people only and never compared. ``config`` holds the ``jax.config`` values of a fixed allow-list
    that differ from their defaults.
    """

    jax: str
    jaxlib: str
    python: str
    platform: str
    platform_version: str = ""
    device_count: int = 1
    xla_flags: str = ""
    libtpu_init_args: str = ""
    x64: bool = False
    config: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""

    @property
    def host_key(self) -> str:
        """Key under which Python-side counts are comparable: Python x.y and the jax version."""
        return f"{self.python}/{self.jax}"

    def differences(self, other: Environment) -> tuple[tuple[str, str, str], ...]:
        """Compares everything but the machine's name.

        Args:
            other: The environment of today, ``self`` being the stored one.

        Returns:
            (key, stored value, value of today) for each difference, in the order of the fields.
        """
        found: list[tuple[str, str, str]] = []
        for each in fields(self):
            if each.name == "machine":
                continue
            old, new = getattr(self, each.name), getattr(other, each.name)
            if each.name == "config":
                for key in sorted({*old, *new}):
                    if old.get(key) != new.get(key):
                        found.append((key, old.get(key, "default"), new.get(key, "default")))
            elif old != new:
                found.append((each.name, str(old), str(new)))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """Constants of one shape and dtype that a program has captured; their values are nobody's business.

    Attributes:
        shape: ``"f32[512,1024]"``.
        bytes: Size of one of them.
        count: How many there are.
    """

    shape: str
    bytes: int
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One compiled program: its identity, its costs that never vary, and the bytes to build it again.

    Attributes:
        fingerprint: ``"sha256:…"`` of the exported lowering, or None where the program cannot be exported.
        fingerprint_version: By which rules the fingerprint was taken; those of different rules say nothing.
        inputs: Leaf paths and abstract values, ``"x: f32[8]; params['w']: f32[8,8]"``.
        unused: Positions in ``inputs`` of the leaves that the program does not read; the artifact takes the others.
        artifact: Serialised export, or None.
        no_artifact: Why there is no artifact; empty where there is one.
        exact: Program-side metrics (``peak_bytes``, ``flops``, …) that the backend could give.
        donated: Positions, among the leaves that the program reads, of those that it may overwrite.
        options: ``compiler_options`` of the user's jit; neither the text nor the export holds them.
        optimised: Digest of the optimised program as the user's own callable has it; empty where unknown. Equal ones
            are one program under two names; it is not stored.
        operations: Operations of the optimised program by opcode, custom calls by target; it is not stored.
        constants: What it has captured, the largest first; it is not stored.
    """

    fingerprint: str | None
    fingerprint_version: int = 1
    inputs: str
    unused: tuple[int, ...] = ()
    artifact: bytes | None = None
    no_artifact: str = ""
    exact: Mapping[str, float] = field(default_factory=dict)
    donated: tuple[int, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    optimised: str = ""
    operations: Mapping[str, int] = field(default_factory=dict)
    constants: tuple[Constant, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperUse:
    """What a helper's own jit is to the trace of an outer one, in CPU seconds of the thread for trace and lower.

    Attributes:
        name: ``"pkg.mod.f"``.
        calls: How often it was called while tracing.
        signatures: How many different ones: shapes, dtypes, structures and static values of its arguments.
        extra: What its jit costs more at the first call.
        saved: What its jit saves at each further call with the same signature.
        extra_error: Standard error of ``extra``.
        saved_error: Standard error of ``saved``.
    """

    name: str
    calls: int
    signatures: int
    extra: float
    saved: float
    extra_error: float
    saved_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Everything measured for one test × measurement × strategy × device.

    Attributes:
        name: ``"main"`` unless the test named it.
        strategy: Name of the strategy.
        device: As asked for, ``"cpu"`` or ``"gpu:0"``.
        device_kind: As JAX names it, ``"cpu"`` or ``"NVIDIA H200"``; the key of the baseline entry.
        inputs: Leaf paths and abstract values of the arguments, static values as digests.
        program: The one program that a call starts, or None where Python drives several.
        helpers: For strategies driven from Python: each jitted helper's program, keyed ``"pkg.mod.f(f32[8])"``.
        exact: Program-side exact metrics; empty where Python drives several programs.
        host: Host-side exact metrics (``trace_calls``, ``host_calls``, ``launches``, ``compilations``, ``leaves``).
        timed: Wall seconds: ``run`` per call, ``compile`` and its parts ``trace``, ``lower``, ``xla``; the parts'
            CPU seconds beside them as ``trace_cpu``, ``lower_cpu`` (thread), ``xla_cpu`` (process), ``compile_cpu``.
        relative: ``trace`` and ``lower`` thread CPU time as multiples of the reference trace measured beside them.
        unavailable: Metric to the reason why it could not be measured.
        environment: See Environment.
        notes: Sentences for the reader, e.g. that the function was jitted already.
        waited: Of ``compile`` the seconds for which other processes may have had the cores; a busy machine is not the
            code's cost. Not stored.
        launched: What a call launches: function or operation of JAX to how often. Not stored.
        uses: What the jits of helpers are to the trace of an outer one, for the guide; empty where nobody asked. Not
            stored.
        traced_by: Who looks at every line of Python code meanwhile (``"coverage"``, a debugger), which makes it slower;
            empty where nobody does. Not stored.
    """

    name: str = "main"
    strategy: str
    device: str
    device_kind: str
    inputs: str
    program: Program | None = None
    helpers: Mapping[str, Program] = field(default_factory=dict)
    exact: Mapping[str, float] = field(default_factory=dict)
    host: Mapping[str, int] = field(default_factory=dict)
    timed: Mapping[str, Sample] = field(default_factory=dict)
    relative: Mapping[str, float] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    environment: Environment
    notes: tuple[str, ...] = ()
    waited: float = 0.0
    launched: Mapping[str, int] = field(default_factory=dict)
    uses: tuple[HelperUse, ...] = ()
    traced_by: str = ""

    def value(self, metric: str) -> float | None:
        """The metric's number (median for timings), or None where it was not measured."""
        if metric in self.timed:
            return self.timed[metric].median
        if metric in self.host:
            return self.host[metric]
        return self.exact.get(metric)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A raced or paired ratio, new over old, with its interval.

    Attributes:
        estimate: Point estimate, 1.0 where both sides cost the same.
        low: Lower end of the interval.
        high: Upper end of the interval.
        rounds: Rounds (or pairs) it rests on.
        seconds: Wall time spent, seconds.
        decided: Whether the interval lay clear of the limit when it stopped.
        one_core: Whether it was decided with all threads pinned to one core.
        confirmed: Whether freshly compiled executables said the same.
        executables: Pairs of executables that were raced for it; where it is more than 2, the interval is that of the
            pairs, and holds for the programs whatever executables they get.
        first: What the first pair said, where it was a regression that a second pair did not confirm; else None.
    """

    estimate: float
    low: float
    high: float
    rounds: int
    seconds: float
    decided: bool
    one_core: bool = False
    confirmed: bool = False
    executables: int = 1
    first: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """How long something takes here, timed until it was clear how that compares with a budget, or the time was up.

    The interval is for an idle machine: load makes it wider, and leaves it true.

    Attributes:
        estimate: Seconds, within the interval.
        low: Lower end of the interval.
        high: Upper end of the interval.
        rounds: Rounds (or compiles) it rests on.
        seconds: Wall time spent, seconds.
        one_core: Whether it is known from runs with all threads pinned to one core.
        timed_out: Whether it ended because the time was up, and not because it was clear or enough.
    """

    estimate: float
    low: float
    high: float
    rounds: int
    seconds: float
    one_core: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """An old program, built again here and now, against the new one.

    Attributes:
        same: Whether both are the same program (fingerprint, or optimised program and constants).
        how: Which evidence said so: ``"fingerprint"``, ``"optimised"`` or ``""``. Where they are not the same,
            ``"fingerprint"`` says that only the call is another one, by the number of leaves that it hands over.
        run: Raced ratio of run time, or None.
        xla: Paired ratio of compile CPU time, or None.
        cannot: Why the two could not be compared or raced; empty where they were.
        old_exact: Program metrics of the old program as compiled by today's jaxlib.
        old_operations: Operations of the old program, so compiled, by opcode.
        new_operations: The same of the new program.
        old_constants: What the old program has captured, the largest first.
        old_xla_seconds: CPU seconds that compiling the old program took today, or None.
        compiles: Extra compilations spent.
        seconds: Wall time that it took.
        compiling_seconds: The part of it that went into compiling, the lowering of the stored program included.
        cut: What was left out for lack of time or memory, one sentence; empty where nothing was.
    """

    same: bool
    how: str = ""
    run: Ratio | None = None
    xla: Ratio | None = None
    cannot: str = ""
    old_exact: Mapping[str, float] = field(default_factory=dict)
    old_operations: Mapping[str, int] = field(default_factory=dict)
    new_operations: Mapping[str, int] = field(default_factory=dict)
    old_constants: tuple[Constant, ...] = ()
    old_xla_seconds: float | None = None
    compiles: int = 0
    seconds: float = field(default=0.0, compare=False)
    compiling_seconds: float = field(default=0.0, compare=False)
    cut: str = ""
