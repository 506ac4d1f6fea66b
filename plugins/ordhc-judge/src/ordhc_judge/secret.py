"""Secrets such as keys, which never appear in messages, logs, caches or `repr`."""

import re
from collections.abc import Iterable
from html.entities import html5

from ordhc.errors import InputError

_SHOWN = "***"
#: The names of each ASCII character's HTML entities.
_ENTITIES: dict[str, list[str]] = {}
for _name, _char in html5.items():
    if _name.endswith(";") and _char.isascii() and len(_char) == 1:
        _ENTITIES.setdefault(_char, []).append(_name[:-1])


class Secret:
    """A text that is shown as three stars; `reveal` returns it for sending."""

    __slots__ = ("_text",)

    def __init__(self, text: str, what: str = "key") -> None:
        # The messages about an invalid key must not show the key.
        if not isinstance(text, str):
            raise InputError(f"the {what} is a {type(text).__name__}, not text")
        text = text.strip()
        if not text or not text.isascii() or not text.isprintable():
            raise InputError(f"the {what} is empty, or has characters that are not allowed in HTTP headers")
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return _SHOWN

    def __reduce__(self) -> str:
        raise TypeError("a judge's key cannot be pickled")


def scrubbed(text: str, secrets: Iterable[Secret]) -> str:
    """Replace secrets in a server's text by stars.

    Secrets are found in upper and lower case, and with the escapes of JSON, URLs and HTML.
    """
    for secret in secrets:
        whole = secret.reveal()
        # If the secret is "Bearer abc", also replace "abc" alone.
        for plain in (whole, *(word for word in whole.split()[1:] if len(word) > 5)):
            text = re.sub("".join(map(_forms, plain)), _SHOWN, text, flags=re.IGNORECASE)
    return text


def _forms(char: str) -> str:
    r"""Return a pattern for a character and its escapes, such as `\/`, `\u002f`, `%2f`, `&#47;`, `&sol;`."""
    code = ord(char)
    forms = [rf"\\{{0,8}}{re.escape(char)}", rf"\\{{1,8}}u{code:04x}", f"%{code:02x}"]
    # On a server's error page the `&` of an entity may be escaped again, as `&amp;`.
    entities = [f"#0{{0,6}}{code}", f"#x0{{0,6}}{code:x}", *_ENTITIES.get(char, ())]
    forms.append(f"&(?:amp;)?(?:{'|'.join(entities)});")
    return f"(?:{'|'.join(forms)})"
