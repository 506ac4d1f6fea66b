"""Keys, which show nowhere: not in messages, logs, caches or `repr`."""

import json
from collections.abc import Iterable
from urllib.parse import quote

from ordhc.errors import InputError

__all__ = ["Secret", "scrubbed"]

_SHOWN = "***"


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
    """Text without secrets, should a server repeat them."""
    for secret in secrets:
        whole = secret.reveal()
        # Of "Bearer abc" the second word alone as well.
        for plain in (whole, *(word for word in whole.split()[1:] if len(word) > 5)):
            for form in (plain, json.dumps(plain)[1:-1], quote(plain, safe=""), quote(plain)):
                text = text.replace(form, _SHOWN)
    return text
