"""One program: exported over flat leaves, fingerprinted, built again, inspected.

Both sides of a comparison are made the same way, through ``jax.export``, so that unchanged code gives the same
executable. Arguments and results are flattened to leaves, which keeps pytree types and names out of the program.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax
from jax import export

from pytest_jitperf.errors import MeasurementError

from . import clock

# Part of every fingerprint: raise it when the normalisation below changes.
_FINGERPRINT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatProgram:
    """A program over flat leaves that can be compiled any number of times.

    Attributes:
        exported: The export, taking and giving plain leaves.
        leaves: The arguments, one value per input of ``exported``.
        inputs: Their stored text, ``"x: f32[8]; …"``.
        donated: Which leaves the program may overwrite.
        options: ``compiler_options`` of the user's jit.
        text: StableHLO of the exported lowering.
        fingerprint: ``"sha256:…"`` of what decides the compiled code.
    """

    exported: export.Exported
    leaves: tuple[Any, ...]
    inputs: str
    donated: tuple[int, ...]
    options: Mapping[str, str]
    text: str
    fingerprint: str

    def serialized(self) -> bytes:
        """The bytes that ``replayed`` builds the program from."""
        return bytes(self.exported.serialize())

    def lower(self) -> jax.stages.Lowered:
        """A fresh lowering: nothing compiled before is found again."""
        return _lower(self.exported, self.leaves, self.donated)

    def compile(self) -> tuple[jax.stages.Compiled, float]:
        """Compiles anew.

        Returns:
            The executable, and the process CPU seconds that XLA took.
        """
        lowered = self.lower()
        start = clock.process_time_ns()
        compiled = lowered.compile(compiler_options=dict(self.options) or None)
        return compiled, (clock.process_time_ns() - start) / 1e9


def exported_program(
    jitted: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    leaves: Sequence[Any],
    *,
    inputs: str,
    donated: tuple[int, ...],
    options: Mapping[str, str],
) -> FlatProgram:
    """Exports a jitted function for one set of arguments.

    Args:
        jitted: What ``jax.jit`` returned.
        args: Positional arguments, static ones included.
        kwargs: Keyword arguments.
        leaves: The leaves that are not static, in the program's order.
        inputs: Text of the leaves for the baseline.
        donated: Positions among ``leaves`` that the program may overwrite.
        options: ``compiler_options`` of the jit.

    Raises:
        MeasurementError: The program cannot be exported (Python callbacks, custom calls that JAX does not keep
            stable); the message is one sentence.
    """
    try:
        with _no_source_locations():
            made = export.export(jitted)(*args, **kwargs)
            if len(made.in_avals) != len(leaves):
                raise MeasurementError(
                    f"its {len(made.in_avals)} inputs could not be matched with {len(leaves)} argument leaves"
                )
            flat = _flat(made)
            flat.serialize()  # callbacks are refused only here
    except MeasurementError:
        raise
    except Exception as error:
        raise MeasurementError(_why_not_exported(error)) from error
    text, fingerprint = _identity(flat, leaves, donated, options)
    return FlatProgram(
        exported=flat,
        leaves=tuple(leaves),
        inputs=inputs,
        donated=donated,
        options=dict(options),
        text=text,
        fingerprint=fingerprint,
    )


def replayed(
    raw: bytes,
    leaves: Sequence[Any],
    *,
    inputs: str,
    donated: tuple[int, ...],
    options: Mapping[str, str],
) -> FlatProgram:
    """Builds a stored program again for today's leaves, already in the stored order.

    Raises:
        MeasurementError: The bytes cannot be read by this jax, or are for another platform, device count or signature.
    """
    try:
        made = export.deserialize(bytearray(raw))
    except Exception as error:
        raise MeasurementError(f"the stored program cannot be read by jax {jax.__version__}: {_one_line(error)}") from (
            error
        )
    backend = _backend(leaves)
    if backend not in made.platforms:
        raise MeasurementError(f"the stored program is for {', '.join(made.platforms)}, not for {backend}")
    if len(made.in_avals) != len(leaves):
        raise MeasurementError(f"the stored program takes {len(made.in_avals)} leaves, not {len(leaves)}")
    try:
        text, fingerprint = _identity(made, leaves, donated, options)
    except Exception as error:
        raise MeasurementError(f"the stored program cannot be lowered: {_one_line(error)}") from error
    return FlatProgram(
        exported=made,
        leaves=tuple(leaves),
        inputs=inputs,
        donated=donated,
        options=dict(options),
        text=text,
        fingerprint=fingerprint,
    )


def program_costs(compiled: Any, stablehlo: str) -> tuple[dict[str, float], dict[str, str]]:
    """Reads the exact metrics of a compiled program.

    Args:
        compiled: ``jax.stages.Compiled``.
        stablehlo: Text of the lowering, which alone holds the captured constants.

    Returns:
        Metrics the backend gave, and for each one it did not the reason.
    """
    exact: dict[str, float] = {}
    missing: dict[str, str] = {}
    exact["stablehlo_ops"] = sum(1 for line in stablehlo.splitlines() if re.search(r"= \"?(stablehlo|chlo)\.", line))
    exact["constant_bytes"] = sum(constant_sizes(stablehlo).elements())
    try:
        memory = compiled.memory_analysis()
        exact["temp_bytes"] = memory.temp_size_in_bytes
        exact["peak_bytes"] = (
            memory.argument_size_in_bytes
            + memory.output_size_in_bytes
            + memory.temp_size_in_bytes
            - memory.alias_size_in_bytes
            + exact["constant_bytes"]
        )
    except Exception as error:
        missing["peak_bytes"] = missing["temp_bytes"] = f"no memory analysis here ({_one_line(error)})"
    try:
        costs = compiled.cost_analysis()
        costs = costs[0] if isinstance(costs, list) else costs
    except Exception as error:
        costs = None
        missing["flops"] = missing["bytes_accessed"] = f"no cost analysis here ({_one_line(error)})"
    for name, key in (("flops", "flops"), ("bytes_accessed", "bytes accessed")):
        value = (costs or {}).get(key)
        if value is not None and 0 <= value < float("inf"):
            exact[name] = float(value)
        else:
            missing.setdefault(name, f"the backend gave {value}")
    try:
        hlo = compiled.as_text()
    except Exception as error:
        missing["hlo_ops"] = missing["fusions"] = missing["custom_calls"] = f"no text here ({_one_line(error)})"
    else:
        operations = operation_counts(hlo)
        exact["hlo_ops"] = sum(operations.values())
        exact["fusions"] = operations["fusion"]
        exact["custom_calls"] = operations["custom-call"]
    return exact, missing


def operation_counts(hlo: str) -> Counter[str]:
    """Operations of an optimised program by opcode, fused ones included."""
    return Counter(re.findall(r"^\s+(?:ROOT )?%?[\w.\-]+ = (?:\([^=]*?\)|\S+) ([a-z][\w\-]*)\(", hlo, re.MULTILINE))


def program_digest(hlo: str, literals: Sequence[str]) -> str:
    """Digest of an optimised program without names, metadata and source tables, and of the literals it captured.

    Instructions are numbered in their order within their computation, and a called computation is named by its own
    digest, so that neither names nor the order of computations matter.

    Args:
        hlo: Text of the optimised program, which leaves the values of larger literals out.
        literals: Those of its lowering, see ``captured_literals``.
    """
    known: dict[str, str] = {}
    whole = hashlib.sha256(repr(tuple(literals)).encode())
    header = hlo.split("\n", 1)[0]
    whole.update(re.sub(r"HloModule [^,]*", "HloModule", header).encode())
    for match in _COMPUTATION.finditer(hlo):
        digest = _computation_digest(match["body"], known)
        known[match["name"]] = f"computation_{digest}"
        if match["entry"]:
            whole.update(digest.encode())
    return whole.hexdigest()


_COMPUTATION = re.compile(
    r"^(?P<entry>ENTRY )?%?(?P<name>[\w.\-]+) \([^\n]*\{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL
)
_NAME = re.compile(r"%([\w.\-]+)")


def _computation_digest(body: str, known: Mapping[str, str]) -> str:
    numbers: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        name = match[1]
        return known.get(name) or numbers.setdefault(name, f"%{len(numbers)}")

    text = re.sub(r",? ?metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*\}", "", body)
    # The operands of a fusion's parameter number are kept; only names go.
    return hashlib.sha256(_NAME.sub(rename, text).encode()).hexdigest()


def captured_literals(stablehlo: str) -> tuple[str, ...]:
    """Digests of the literals that optimised text may leave out, each once, in their order in the lowering.

    Scalars and splats are left out: optimised text shows them, and a helper that is inlined repeats them.
    """
    found = re.findall(r"stablehlo\.constant (dense(?:_resource)?<[\"\[_].*?>) : (tensor<[^>]*>)", stablehlo)
    return tuple(dict.fromkeys(hashlib.sha256(repr(each).encode()).hexdigest() for each in found))


def constant_sizes(stablehlo: str) -> Counter[int]:
    """Bytes of each literal that is stored in the program element by element (a splat is one element).

    Returns:
        Sizes in bytes with how often each occurs; scalars and splats are left out, for nothing was captured.
    """
    sizes: Counter[int] = Counter()
    pattern = r"stablehlo\.constant dense(?:_resource)?<(?P<head>.).*?> : tensor<(?P<shape>[^>]*)>"
    for match in re.finditer(pattern, stablehlo):
        if match["head"] not in '"[_' or "x" not in match["shape"]:
            continue
        *dimensions, dtype = match["shape"].split("x")
        elements = 1
        for dimension in dimensions:
            elements *= int(dimension)
        sizes[-(-elements * _bits(dtype) // 8)] += 1
    return sizes


def _bits(dtype: str) -> int:
    if dtype.startswith("complex<"):
        return 2 * _bits(dtype[8:])
    digits = re.search(r"\d+", dtype)
    bits = int(digits[0]) if digits else 32
    return 8 if bits == 1 else bits


def _identity(
    exported: export.Exported, leaves: Sequence[Any], donated: tuple[int, ...], options: Mapping[str, str]
) -> tuple[str, str]:
    text = _lower(exported, leaves, donated).as_text()
    parts = (
        _FINGERPRINT_VERSION,
        exported.platforms,
        exported.nr_devices,
        # Weak types do not survive serialisation.
        tuple((str(aval.dtype), tuple(aval.shape)) for aval in exported.in_avals),
        donated,
        sorted(options.items()),
        normalized(text),
    )
    return text, f"sha256:{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def normalized(stablehlo: str) -> str:
    """The text without what a harmless edit changes: module name, result names and names of its own functions.

    Only symbols defined by ``func.func`` are renumbered (in order of definition), since merging every ``@symbol``
    would make different custom-call targets equal.
    """
    text = re.sub(r"module @[\w.$\-]+", "module", stablehlo, count=1)
    text = re.sub(r'jax\.result_info = "[^"]*",? ?', "", text).replace(" {}", "")
    names = re.findall(r"func\.func (?:\w+ )*@([\w.$\-]+|\"[^\"]+\")", text)
    numbers = {name: f"@f{n}" for n, name in enumerate(names)}
    return re.sub(r"@([\w.$\-]+|\"[^\"]+\")", lambda match: numbers.get(match[1], match[0]), text)


def _flat(made: export.Exported) -> export.Exported:
    inputs, outputs = len(made.in_avals), len(made.out_avals)
    return dataclasses.replace(
        made,
        in_tree=jax.tree.structure(((0,) * inputs, {})),
        out_tree=jax.tree.structure([0] * outputs),
        fun_name="program",
    )


def _lower(exported: export.Exported, leaves: Sequence[Any], donated: tuple[int, ...]) -> jax.stages.Lowered:
    # A new callable each time: jit finds earlier traces by the function it wraps.
    call: Any = exported.call

    def program(*values: Any) -> Any:
        return call(*values)

    return jax.jit(program, donate_argnums=donated).lower(*leaves)


@contextmanager
def _no_source_locations() -> Iterator[None]:
    """Keeps source paths out of exported programs."""
    before = jax.config.jax_traceback_in_locations_limit  # type: ignore[attr-defined]  # made at run time
    jax.config.update("jax_traceback_in_locations_limit", 0)
    try:
        yield
    finally:
        jax.config.update("jax_traceback_in_locations_limit", before)


def _backend(leaves: Sequence[Any]) -> str:
    for leaf in leaves:
        if isinstance(leaf, jax.Array):
            devices: list[Any] = list(leaf.sharding.device_set)
            platform: str = devices[0].platform
            return "cuda" if platform == "gpu" and jax.default_backend() == "gpu" else platform
    return jax.default_backend()


def _why_not_exported(error: Exception) -> str:
    text = str(error)
    if "callback" in text:
        return "it calls back into Python, which cannot be stored"
    if "custom call" in text.lower() or "custom_call" in text:
        target = re.search(r"[`'\"]([\w.$]+)[`'\"]", text)
        return f"it holds a custom call that JAX does not keep stable ({target[1] if target else 'unnamed'})"
    return f"it cannot be exported: {_one_line(error)}"


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__
