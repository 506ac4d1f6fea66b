"""Format values and names for messages."""

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

#: The maximum number of characters of a value that a message shows.
QUOTED = 80


def quoted(value: Any, limit: int = QUOTED) -> str:
    """Format a value for messages: at most `limit` characters, with control characters escaped.

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


#: Control characters, line separators, characters that change the direction of text, and lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def on_one_line(text: str) -> str:
    r"""Return `text` with control characters and other invisible characters escaped.

    Examples
    --------
    >>> print(on_one_line("a\x1b[2J\n\u202e"))
    a\x1b[2J\n\u202e
    """
    return _UNSAFE.sub(lambda found: repr(found[0])[1:-1], text)


def _cut(text: str, limit: int) -> str:
    end = min(len(text), limit)
    while end and len(repr(text[:end])) > limit - 3:
        end -= 1
    return f"{text[:end]!r}..."


def nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(name)[:QUOTED], list(known), n=3)
    return f"; nearest: {', '.join(quoted(found) for found in near)}" if near else ""


def unknown_option(what: str, name: str, known: Iterable[str], hints: Mapping[str, str] | None = None) -> str:
    hint = f"; {hints[name]}" if hints and name in hints else nearest(name, known)
    return f"{what} has no option {quoted(name)}{hint}"


def unknown_name(name: str, known: Sequence[str]) -> str:
    return f"the name {quoted(name)} is unknown{nearest(name, known)}"
