"""Why JAX or XLA refused something, in one line."""

from __future__ import annotations

import re


def one_line(error: BaseException) -> str:
    """The error's type and the first line of what it says."""
    lines = [without_places(line.strip()) for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0][:160]}" if lines else type(error).__name__


def without_places(text: str) -> str:
    """The text without paths, of which the last part is kept, and without addresses: it may be stored."""
    return re.sub(r"(?<![\w.])~?/(?:[^\s/'\":,;]+/)+", "", re.sub(r" at 0x[0-9a-fA-F]+", "", text))


def why_not_exported(error: Exception) -> str:
    """A sentence for an error of ``jax.export``."""
    text = str(error)
    if "callback" in text:
        return "it calls back into Python, which cannot be stored"
    if "custom call" in text.lower() or "custom_call" in text:
        target = re.search(r"custom_call @\"?([\w.$]+)", text) or re.search(r"[`'\"]([\w.$]+)[`'\"]", text)
        return f"it holds a custom call that JAX does not keep stable ({target[1] if target else 'unnamed'})"
    return f"it cannot be exported: {one_line(error)}"
