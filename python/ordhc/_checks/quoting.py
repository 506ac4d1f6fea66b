"""Values and names as messages show them."""

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

__all__ = ["nearest", "on_one_line", "quoted", "unknown_name"]

#: How much of what was given a message repeats.
QUOTED = 80


def quoted(value: Any, limit: int = QUOTED) -> str:
    """A value as messages show it: at most `limit` characters, control characters escaped.

    Examples
    --------
    >>> print(quoted("a" * 200, 20), quoted("\\x1b[2J"))
    'aaaaaaaaaaaaaaa'... '\\x1b[2J'
    """
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if isinstance(value, str):
        return repr(value) if len(repr(value[:limit])) <= limit >= len(value) else _cut(value, limit)
    if isinstance(value, bytes | bytearray):
        value = value[:limit]
    if isinstance(value, int) and abs(value) >> 4 * limit:
        return f"a number of {int(math.log10(2) * value.bit_length()) + 1} digits"
    try:
        text = repr(value)
    except Exception:
        return f"an object of type {type(value).__name__}"
    text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text[: limit + 1])
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


#: Control characters, line separators, overrides of the direction of writing, and halves of characters.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def on_one_line(text: str) -> str:
    r"""Return `text` with everything escaped that a terminal or a page would not show as a character.

    Examples
    --------
    >>> print(on_one_line("a\x1b[2J\n\u202e"))
    a\x1b[2J\n\u202e
    """
    return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)


def _cut(text: str, limit: int) -> str:
    """The beginning of a text, in quotes, and three dots."""
    end = min(len(text), limit)
    while end and len(repr(text[:end])) > limit - 3:
        end -= 1
    return f"{text[:end]!r}..."


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the nearest of some names, or nothing."""
    near = difflib.get_close_matches(str(name)[:QUOTED], list(known), n=3)
    return f"; nearest: {', '.join(quoted(found) for found in near)}" if near else ""


def unknown_name(name: str, known: Sequence[str]) -> str:
    """Say that a name is unknown, with the nearest ones."""
    return f"the name {quoted(name)} is unknown{nearest(name, known)}"
