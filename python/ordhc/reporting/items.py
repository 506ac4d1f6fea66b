"""The section of a report about typical and untypical items: lengths of leaves."""

from collections.abc import Mapping
from typing import Any

from ordhc.reporting.figures import lengths_figure
from ordhc.reporting.parts import Markup, figure, interval, paragraph, section, table
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["items_section"]

#: So many of the most and of the least typical items are listed.
SHOWN = 5
#: Standard deviations of lengths below this change the odds of answers by less than a fifth.
EVEN = 0.2


def items_section(numbers: Mapping[str, Any], tree: Dendrogram) -> Markup:
    """Say which items are typical and which are not; nothing if lengths are not known."""
    found = numbers["lengths"]
    if found is None:
        return Markup("")
    order = sorted(found["items"], key=lambda item: (item["length"], item["leaf"]))
    few = len(order) <= 2 * SHOWN
    shown = order if few else order[:SHOWN] + order[-SHOWN:]
    low, high = min(item["low"] for item in order), max(item["high"] for item in order)
    rows = []
    for at, item in enumerate(shown):
        ends = (item["low"], item["high"])
        picture = interval(item["length"], *ends, chance=0.0, span=(low, high))
        kind = "" if few else "typical" if at < SHOWN else "untypical"
        rows.append(
            (
                tree.labels[item["leaf"]],
                kind,
                f"{item['length']:.2f}",
                "{:.2f} to {:.2f}".format(*ends),
                picture,
            )
        )
    told = (
        "Each item has an edge of its own in the tree, short or long. An item with a long edge is unlike all "
        "others (untypical); one with a short edge is like many others (typical). Lengths are relative to "
        "the other items of this study and have mean 0. A difference of 1 changes the odds of an answer by a "
        f"factor of 2.7. Their standard deviation is {found['deviation']:.2f}"
    )
    told += ": items hardly differ in how typical they are." if found["deviation"] < EVEN else "."
    caption = "Lengths of leaves with 95% credible intervals; the mean, 0, is dashed. The JSON has all items."
    drawn, said = lengths_figure(Dendrogram.from_dict(found["tree"]), numbers["method"]["unanswered"])
    return section(
        "items",
        "Typical and untypical items",
        paragraph(told),
        *([figure(drawn, said)] if drawn else []),
        table(("item", "", "length", "95% interval", ""), rows, kinds="llnnl", caption=caption),
    )
