"""JAX's settings, which are left as they were found, also where it was the user's function that changed them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import jax

__all__ = ["config_kept"]


@contextmanager
def config_kept() -> Iterator[Callable[[], tuple[str, ...]]]:
    """Puts back what is changed in ``jax.config`` meanwhile, so that no other test runs under a setting of this one.

    Yields:
        A function that names what differs so far.
    """
    before = dict(jax.config.values)

    def changed() -> tuple[str, ...]:
        now = jax.config.values
        return tuple(name for name, value in before.items() if now[name] is not value and now[name] != value)

    try:
        yield changed
    finally:
        for name in changed():
            jax.config.update(name, before[name])
