"""Questions as prompts: in which orders the three are shown, and what the replies say together."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError

__all__ = ["FAILED", "Replies", "Together", "n_orders", "orders_of", "together"]

_ORDERS = {"cyclic": 3, "two": 2, "one": 1, 3: 3, 2: 2, 1: 1}
#: What a reply says that says nothing.
FAILED = -2


@dataclass(frozen=True, eq=False)
class Replies:
    """What single prompts say.

    Attributes
    ----------
    said
        (m, orders) the column of the question that is named; -1 for none, -2 where there is no reply.
    places
        (m, orders, 3) at which place, 1 to 3, each column of the question was shown.
    """

    said: NDArray[np.int8]
    places: NDArray[np.int8]


def n_orders(given: object) -> int:
    """How many orders: "cyclic" or 3, "two" or 2, "one" or 1."""
    found = _ORDERS.get(given) if isinstance(given, str | int) and not isinstance(given, bool) else None
    if found is None:
        raise InputError(f"orders = {given!r} is none of 'cyclic', 'two', 'one'")
    return found


def orders_of(texts: Sequence[str], leaves: Sequence[int], times: int) -> NDArray[np.int8]:
    """The orders in which three leaves are shown, (times, 3) places in `leaves`.

    Each is a turn of the one before, so that in three of them each leaf stands once at each place. They
    depend on the three texts and not on the order in which they are given: which of the six comes first is
    drawn from their hash, so that with one order no place is preferred.

    Examples
    --------
    >>> orders_of(["cat", "dog", "bus"], [0, 1, 2], 3).tolist()
    [[2, 0, 1], [0, 1, 2], [1, 2, 0]]
    >>> orders_of(["bus", "cat", "dog"], [2, 0, 1], 1).tolist()
    [[0, 1, 2]]
    """
    by_text = sorted(range(3), key=lambda at: (texts[at], leaves[at]))
    joined = "\0".join(texts[at] for at in by_text).encode("utf-8", "surrogatepass")
    drawn = int.from_bytes(hashlib.blake2b(joined, digest_size=8).digest(), "big") % 6
    turn, mirrored = divmod(drawn, 2)
    first = by_text[turn:] + by_text[:turn]
    if mirrored:
        first = [first[0], first[2], first[1]]
    return np.array([first[at:] + first[:at] for at in range(times)], dtype=np.int8)


@dataclass(frozen=True, eq=False)
class Together:
    """What the orders of questions say together.

    Attributes
    ----------
    answers
        (m,) the place of the odd one out, or -1.
    agreed
        (m,) whether all orders say the same, be it none.
    failed
        (m,) whether an order has no reply.
    """

    answers: NDArray[np.int8]
    agreed: NDArray[np.bool_]
    failed: NDArray[np.bool_]


def together(said: NDArray[np.int8], agree: str) -> Together:
    """What (m, orders) replies say together: places 0 to 2, -1 for none, -2 where there is no reply.

    Where all agree it is their answer. With `agree="majority"` it is what more than half of all orders say.
    All else is -1.

    Examples
    --------
    >>> said = np.array([[0, 0, 0], [1, 1, 2], [0, 1, 2], [1, 1, -2], [-1, -1, -1]], dtype=np.int8)
    >>> together(said, "all").answers, together(said, "majority").answers
    (array([ 0, -1, -1, -1, -1], dtype=int8), array([ 0,  1, -1,  1, -1], dtype=int8))
    """
    failed = (said == FAILED).any(axis=1)
    agreed = (said == said[:, :1]).all(axis=1) & ~failed
    if agree == "all":
        answers = np.where(agreed, said[:, 0], -1)
    else:
        counts = np.stack([(said == place).sum(axis=1) for place in range(3)], axis=1)
        best = counts.argmax(axis=1)
        answers = np.where(2 * counts.max(axis=1) > said.shape[1], best, -1)
    return Together(answers.astype(np.int8), agreed, failed)
