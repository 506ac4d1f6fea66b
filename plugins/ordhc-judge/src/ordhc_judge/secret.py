"""Keys, which show nowhere: not in messages, logs, caches or `repr`."""

import re
from collections.abc import Iterable
from html.entities import html5

from ordhc.errors import InputError

__all__ = ["Secret", "scrubbed"]

_SHOWN = "***"
#: By character: the names that HTML has for it.
_ENTITIES: dict[str, list[str]] = {}
for _name, _char in html5.items():
    if _name.endswith(";") and _char.isascii() and len(_char) == 1:
        _ENTITIES.setdefault(_char, []).append(_name[:-1])


class Secret:
    """Text that is shown as three stars; `reveal` is called where it is sent."""

    __slots__ = ("_text",)

    def __init__(self, text: str, what: str = "key") -> None:
        # A message about a wrong key must not show it either.
        if not isinstance(text, str):
            raise InputError(f"the {what} is a {type(text).__name__}, not text")
        text = text.strip()
        if not text or not text.isascii() or not text.isprintable():
            raise InputError(f"the {what} is empty, or has characters that no header may have")
        self._text = text

    def reveal(self) -> str:
        """The text."""
        return self._text

    def __repr__(self) -> str:
        return _SHOWN

    def __reduce__(self) -> str:
        raise TypeError("keys are not written")


def scrubbed(text: str, secrets: Iterable[Secret]) -> str:
    """Replace secrets that a server repeats by stars, in any case and as JSON, URLs or HTML escape them."""
    for secret in secrets:
        whole = secret.reveal()
        # Of "Bearer abc" the second word alone as well.
        for plain in (whole, *(word for word in whole.split()[1:] if len(word) > 5)):
            text = re.sub("".join(map(_forms, plain)), _SHOWN, text, flags=re.IGNORECASE)
    return text


def _forms(char: str) -> str:
    r"""The pattern of a character: itself, `\/`, `\u002f`, `%2f`, `&#47;` or `&sol;`; some backslashes."""
    code = ord(char)
    forms = [rf"\\{{0,8}}{re.escape(char)}", rf"\\{{1,8}}u{code:04x}", f"%{code:02x}"]
    # A page of an error, in which `&` may be escaped once more.
    entities = [f"#0{{0,6}}{code}", f"#x0{{0,6}}{code:x}", *_ENTITIES.get(char, ())]
    forms.append(f"&(?:amp;)?(?:{'|'.join(entities)});")
    return f"(?:{'|'.join(forms)})"
