"""Read the replies of a server: answers, counts of tokens, and errors."""

import math
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ordhc_judge.prompt import probabilities_in, said_in

_REFUSALS = re.compile(
    r"\b(sorry|can(?:no|')t|can’t|unable|won't|as an ai|not able|decline)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Reply:
    """The reply of a model to one prompt.

    Attributes
    ----------
    status
        "ok", or the reason why there is no answer: "refusal", "malformed", "truncated", or a fault of the
        connection.
    said
        The number in the answer, 0 to 3; None if the answer has no such number.
    probabilities
        The probabilities of the numbers 0 to 3; None if the server does not return them.
    text
        The text that the model wrote, or the error message.
    prompt_tokens, completion_tokens
        The numbers of tokens that the server counted, or None.
    """

    status: str
    said: int | None = None
    probabilities: tuple[float, ...] | None = None
    text: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


def read_chat(document: Any) -> Reply | None:
    """Return the reply in a chat completion; None if the document is not a chat completion.

    Examples
    --------
    >>> read_chat({"choices": [{"message": {"content": "2"}}]}).said
    2
    >>> read_chat({"choices": [{"message": {"content": "I'm sorry, I can't."}}]}).status
    'refusal'
    >>> read_chat({"choices": []}) is None
    True
    """
    reply = read_text(document)
    if reply is None or reply.status != "ok":
        return reply
    choice = document["choices"][0]
    said = said_in(reply.text)
    if said is not None:
        return replace(reply, said=said, probabilities=probabilities_in(choice.get("logprobs"), said))
    is_cut_off = choice.get("finish_reason") == "length"
    status = "truncated" if is_cut_off else "refusal" if _REFUSALS.search(reply.text) else "malformed"
    return replace(reply, status=status)


def read_text(document: Any) -> Reply | None:
    """Return the reply in a chat completion whose text need not contain a number; see `read_chat`."""
    try:
        choice = document["choices"][0]
        message = choice["message"]
        text, refusal, reason = message.get("content"), message.get("refusal"), choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    if isinstance(text, list):
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    if not isinstance(text, str | None):
        return None
    text = text or ""
    if refusal or reason == "content_filter":
        status, text = "refusal", text or str(refusal or "")
    elif text.strip():
        status = "ok"
    else:
        status = "truncated" if reason == "length" else "malformed"
    return Reply(status, None, None, text, *usage_of(document))


def usage_of(document: Any) -> tuple[int | None, int | None]:
    """Return the numbers of prompt and completion tokens; None for a number that is missing or invalid."""
    usage = document.get("usage") if isinstance(document, dict) else None
    counts = [
        usage.get(name) if isinstance(usage, dict) else None
        for name in ("prompt_tokens", "completion_tokens")
    ]
    fine = [count if isinstance(count, int) and 0 <= count < 2**40 else None for count in counts]
    return fine[0], fine[1]


def message_of(document: Any, text: str) -> tuple[str, str, str]:
    """Return the message, the code and the parameter of a server's error; "" for a missing part."""
    if document is None:
        return brief(text), "", ""
    error = document.get("error", document) if isinstance(document, dict) else document
    if not isinstance(error, dict):
        return brief(str(error)), "", ""
    message = error.get("message") or error.get("detail") or text
    code = error.get("code") or error.get("type") or ""
    return brief(str(message)), str(code), str(error.get("param") or "")


def brief(text: str, limit: int = 300) -> str:
    r"""Return text on one line, cut to `limit` characters; control characters are escaped.

    Examples
    --------
    >>> print(brief("wrong\x1b[2J\n key"))
    wrong\x1b[2J key
    """
    line = " ".join(text.split())
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in line[: limit + 1])
    return line if len(line) <= limit else f"{line[: limit - 3]}..."


def retry_after(value: str | None) -> float | None:
    """Return the seconds to wait in a `Retry-After` header, from a number or a date; None if invalid.

    Examples
    --------
    >>> retry_after("1.5"), retry_after("soon"), retry_after("Wed, 21 Oct 2015 07:28:00 GMT")
    (1.5, None, 0.0)
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
            at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
            seconds = (at - datetime.now(UTC)).total_seconds()
        except (ValueError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
