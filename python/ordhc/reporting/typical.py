"""Describe typical and untypical items in numbers and words.

The posterior estimates a length for each leaf, which is large if the leaf is far from all other leaves
(`Posterior.lengths`). Items with small lengths are typical.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ordhc.clustering.posterior import Posterior

#: The maximum number of items that are listed at each end.
SHOWN = 5
#: The length of a leaf says how untypical the item is. Below this standard deviation of all lengths, items
#: count as equally typical. A difference of 0.2 changes the odds of an answer by about a fifth.
EVEN = 0.2


def typical_items(drawn: Posterior) -> dict[str, Any] | None:
    """Return the length of each leaf (`Posterior.lengths`) with its 95% interval, and the tree.

    The result is a dict that JSON can store; None if the posterior has no lengths.
    """
    if drawn.lengths is None or drawn.lengths_interval is None or drawn.tree.scale != "lengths":
        return None
    items = [
        {"leaf": leaf, "length": length, "low": low, "high": high}
        for leaf, (length, (low, high)) in enumerate(
            zip(drawn.lengths.tolist(), drawn.lengths_interval.tolist(), strict=True)
        )
    ]
    return {"deviation": float(np.std(drawn.lengths)), "items": items, "tree": drawn.tree.to_dict()}


def extremes_of(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the most and the least typical items: their entries in `found`, each with its `kind`.

    `found` is the result of `typical_items`. `kind` is "typical" or "untypical"; empty if there are too few
    items to distinguish both.
    """
    order = sorted(found["items"], key=lambda item: (item["length"], item["leaf"]))
    if len(order) <= 2 * SHOWN:
        return [{**item, "kind": ""} for item in order]
    ends = {"typical": order[:SHOWN], "untypical": order[-SHOWN:]}
    return [{**item, "kind": kind} for kind, items in ends.items() for item in items]


def span_of(found: Mapping[str, Any]) -> tuple[float, float]:
    return min(item["low"] for item in found["items"]), max(item["high"] for item in found["items"])


def lengths_in_words(deviation: float) -> str:
    """Return sentences that explain the lengths of leaves' edges; `deviation` is their standard deviation."""
    sentences = (
        "Each item has its own edge in the tree. An item with a long edge is unlike all "
        "others (untypical); one with a short edge is like many others (typical). Lengths are relative to "
        "the other items of this study and have mean 0. A difference of 1 changes the odds of an answer by a "
        f"factor of 2.7. Their standard deviation is {deviation:.2f}"
    )
    return sentences + (": items hardly differ in how typical they are." if deviation < EVEN else ".")
