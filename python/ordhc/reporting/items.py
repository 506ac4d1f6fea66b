"""Make the section of a report about typical and untypical items, from the lengths of their leaves."""

from collections.abc import Mapping
from typing import Any

from ordhc.reporting.figures import lengths_figure
from ordhc.reporting.parts import Markup, figure, interval, section, table
from ordhc.reporting.typical import extremes_of, lengths_in_words, span_of
from ordhc.tree.dendrogram import Dendrogram, from_dict


def items_section(numbers: Mapping[str, Any], tree: Dendrogram) -> Markup:
    """Return the section with the most typical items (with the shortest edges) and the least typical items.

    The section is empty if no lengths of edges were estimated.
    """
    found = numbers["lengths"]
    if found is None:
        return Markup("")
    span = span_of(found)
    rows = [
        (
            tree.labels[item["leaf"]],
            item["kind"],
            f"{item['length']:.2f}",
            f"{item['low']:.2f} to {item['high']:.2f}",
            interval(item["length"], item["low"], item["high"], chance=0.0, span=span),
        )
        for item in extremes_of(found)
    ]
    caption = "Lengths of leaves with 95% credible intervals; the mean, 0, is dashed. The JSON has all items."
    drawn = lengths_figure(from_dict(found["tree"]), numbers["method"]["unanswered"])
    said = (
        "The same tree with lengths of edges: the further right an item's edge ends, the less typical it is."
    )
    return section(
        "items",
        "Typical and untypical items",
        lengths_in_words(found["deviation"]),
        *([figure(drawn, said)] if drawn else []),
        table(("item", "", "length", "95% interval", ""), rows, kinds="llnnl", caption=caption),
    )
