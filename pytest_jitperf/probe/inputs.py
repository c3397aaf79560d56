"""Arguments as values: named leaves, abstract values, copies for donation, digests. Never their contents in text."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytest_jitperf.wording import written

SEPARATOR = "; "

_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


@dataclass(frozen=True, slots=True)
class Call:
    """Arguments of one call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    @property
    def leaves(self) -> list[Any]:
        """All leaves, positional arguments first, keyword arguments in sorted order."""
        return jax.tree.leaves((self.args, dict(self.kwargs)))


def elements(arguments: Any) -> int:
    """How many elements the arrays of a pytree have together, one at least."""
    return max(sum(int(np.size(leaf)) for leaf in jax.tree.leaves(arguments) if is_array(leaf)), 1)


def has_aval(leaf: Any) -> bool:
    """Whether JAX can trace the leaf: an array or a number, but not numpy's strings, dates, objects, masked arrays."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return True
    try:
        jax.typeof(leaf)
    except Exception:  # an int may be too large, even to be told so, and a class of the user's answer as it likes
        return False
    return True


def is_array(leaf: Any) -> bool:
    """Whether JAX traces the leaf as an array (Python numbers aside)."""
    return isinstance(leaf, (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct)) and has_aval(leaf)


def short_aval(leaf: Any) -> str:
    """An array leaf's abstract value.

    Example:
        ``f32[8,128]``, ``bool[]``, ``weak i32[]`` (a Python number), ``key<fry>[2]``.
    """
    aval = leaf if isinstance(leaf, jax.ShapeDtypeStruct) else jax.typeof(leaf)
    name = str(aval.dtype)
    match = re.fullmatch(r"([a-z]+?)(\d+)(_.*)?", name)
    if match and match[1] in _SHORT and not match[3]:
        name = _SHORT[match[1]] + match[2]
    weak = "weak " if getattr(aval, "weak_type", False) else ""
    return f"{weak}{name}[{','.join(map(str, aval.shape))}]"


def device_count(leaf: Any) -> int:
    """Over how many devices an array is spread, or will be of which only the shape is given."""
    sharding = leaf.sharding if isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct)) else None
    return len(sharding.device_set) if sharding is not None else 1


def _spread(leaf: Any) -> str:
    """Over how many devices an array is spread, and what each has: ``" on 2 devices as [4,128]"``; empty for one."""
    devices = device_count(leaf)
    if devices == 1:
        return ""
    return f" on {devices} devices as [{','.join(map(str, leaf.sharding.shard_shape(leaf.shape)))}]"


def static_digest(value: Any) -> str:
    """A static value by its type and a digest, so that a change shows and the value does not."""
    if isinstance(value, (set, frozenset)):
        # Shown in an order that differs from process to process.
        text = str(sorted(_without_addresses(written(each)) for each in value))
    elif inspect.isroutine(value) or inspect.isclass(value):
        text = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    else:
        text = _without_addresses(written(value))
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
    return f"static {type(value).__name__} #{digest[:8]}"


@dataclass(frozen=True, slots=True)
class NamedLeaf:
    """One leaf of a call.

    Attributes:
        path: Parameter and path inside it, ``"params['w']"``.
        described: Abstract value and how it is spread over several devices, or the digest of a static value.
        leaf: The value.
        index: Its place in ``Call.leaves``; -1 for a static argument, which may be several leaves or none.
    """

    path: str
    described: str
    leaf: Any
    index: int


def named_leaves(function: Callable[..., Any], call: Call, static: Iterable[str] = ()) -> tuple[NamedLeaf, ...]:
    """Names every leaf of a call by the parameter it belongs to and its path inside.

    Args:
        function: The Python function whose parameters give the names.
        call: Its arguments.
        static: Names of parameters that are static.

    Returns:
        The leaves in the order of ``call.leaves``; a static argument is one leaf and comes where it stands.
    """
    positional = positional_names(function, len(call.args))
    arguments = [*zip(positional, call.args, strict=True), *sorted(call.kwargs.items())]
    statics = set(static)
    found: list[NamedLeaf] = []
    index = 0
    for name, value in arguments:
        if name in statics:
            found.append(NamedLeaf(name, static_digest(value), value, -1))
            index += len(jax.tree.leaves(value))
            continue
        for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
            described = short_aval(leaf) + _spread(leaf) if has_aval(leaf) else static_digest(leaf)
            found.append(NamedLeaf(name + jax.tree_util.keystr(path), described, leaf, index))
            index += 1
    return tuple(found)


def text_of(named: Iterable[NamedLeaf]) -> str:
    """``"x: f32[8]; n: static int #9f2c…"``, the form stored in a baseline."""
    return SEPARATOR.join(f"{leaf.path.replace(SEPARATOR, ';')}: {leaf.described}" for leaf in named)


def parse_text(text: str) -> tuple[tuple[str, str], ...]:
    """The (path, abstract value) pairs of a stored inputs text."""
    pairs = (part.rpartition(": ") for part in text.split(SEPARATOR) if part)
    return tuple((path, described) for path, _, described in pairs)


def copy_leaf(leaf: Any) -> Any:
    """A copy that may be donated; ``device_put`` would hand out the user's own buffer.

    It is complete: a call that had to wait for it would seem to take longer.
    """
    if not isinstance(leaf, jax.Array):
        return leaf
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.block_until_ready(jax.random.clone(leaf))
    if len(leaf.sharding.device_set) > 1:
        # Of a mesh with explicit axes, JAX takes no sharding here; a plain copy is spread as the original is.
        return jax.block_until_ready(jnp.array(leaf, copy=True))
    return jax.block_until_ready(jnp.array(leaf, copy=True, device=leaf.sharding))


def copied(call: Call, which: Iterable[int] | None = None) -> Call:
    """The call with the leaves ``which`` (all when None) copied."""
    leaves, structure = jax.tree.flatten((call.args, dict(call.kwargs)))
    chosen = range(len(leaves)) if which is None else which
    for number in chosen:
        leaves[number] = copy_leaf(leaves[number])
    args, kwargs = jax.tree.unflatten(structure, leaves)
    return Call(args, kwargs)


def deleted(call: Call) -> tuple[int, ...]:
    """Which leaves a call has donated away."""
    return tuple(n for n, leaf in enumerate(call.leaves) if isinstance(leaf, jax.Array) and leaf.is_deleted())


def to_numpy(leaf: Any) -> Any:
    """An array leaf on the host; key arrays as their data; anything else as it is."""
    if isinstance(leaf, jax.Array):
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        return np.asarray(leaf)
    return leaf


def content_digest(call: Call) -> str:
    """A digest of a call's values, to know equal inputs again within a process."""
    total = hashlib.sha256()
    leaves, structure = jax.tree.flatten((call.args, dict(call.kwargs)))
    total.update(_without_addresses(str(structure)).encode())
    for leaf in map(to_numpy, leaves):
        if isinstance(leaf, np.ndarray) and not leaf.dtype.hasobject:
            total.update(f"{leaf.dtype}{leaf.shape}".encode())
            total.update(np.ascontiguousarray(leaf).view(np.uint8).data if leaf.size else b"")
        else:
            total.update(written(leaf).encode(errors="surrogatepass"))
    return total.hexdigest()


def positional_names(function: Callable[..., Any], count: int) -> list[str]:
    """Names for the first ``count`` positional arguments: ``"x"``, ``"rest[0]"``; ``"args[0]"`` where unknown."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [f"args[{n}]" for n in range(count)]
    names: list[str] = []
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names.extend(f"{parameter.name}[{n}]" for n in range(count - len(names)))
    return [*names, *(f"args[{n}]" for n in range(len(names), count))][:count]


def _without_addresses(text: str) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
