"""Choose the orders in which a prompt shows three items, and combine the replies into one answer."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ordhc.errors import InputError

_ORDERS = {"cyclic": 3, "two": 2, "one": 1, 3: 3, 2: 2, 1: 1}
#: The value for a missing reply.
FAILED = -2


@dataclass(frozen=True, eq=False)
class Replies:
    """The replies to single prompts.

    Attributes
    ----------
    said
        (m, orders) the item that the reply names, as its position 0 to 2 in the question; -1 for "none", -2
        if there is no reply.
    places
        (m, orders, 3) for each item of the question, the position 1 to 3 at which the prompt shows the item.
    """

    said: NDArray[np.int8]
    places: NDArray[np.int8]


def n_orders(given: object) -> int:
    """Return the number of orders in which a question is asked, from the argument `orders` of `Judge`.

    The number is 3 for "cyclic" or 3, 2 for "two" or 2, and 1 for "one" or 1.
    """
    found = _ORDERS.get(given) if isinstance(given, str | int) and not isinstance(given, bool) else None
    if found is None:
        raise InputError(f"orders = {given!r} must be 'cyclic', 'two' or 'one'")
    return found


def orders_of(texts: Sequence[str], leaves: Sequence[int], times: int) -> NDArray[np.int8]:
    """Return `times` orders in which three leaves are shown, as (times, 3) positions in `leaves`.

    Each order is a rotation of the previous one, so that in three orders each leaf is shown once at each
    position. A hash of the three texts chooses the first order among all six orders. The orders therefore do
    not depend on the order of `leaves`. Even with only one order, no leaf is always at the same position.

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


def combined(
    said: NDArray[np.int8], agree: str
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.bool_]]:
    """Combine the (m, orders) replies to questions: positions 0 to 2, -1 for "none", -2 for a missing reply.

    Return (m,) answers, which are positions or -1; (m,) True if the replies to all orders are equal; and (m,)
    True if the reply to an order is missing.

    The answer is the common reply of all orders. With `agree="majority"` it is the reply of more than half of
    all orders. Otherwise the answer is -1.

    Examples
    --------
    >>> said = np.array([[0, 0, 0], [1, 1, 2], [0, 1, 2], [1, 1, -2], [-1, -1, -1]], dtype=np.int8)
    >>> combined(said, "all")[0], combined(said, "majority")[0]
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
    return answers.astype(np.int8), agreed, failed
