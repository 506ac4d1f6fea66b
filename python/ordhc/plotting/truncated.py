"""Choose the part of a tree to draw: inner nodes, and tips, which are leaves or collapsed clusters."""

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.plotting.positions import positions_of
from ordhc.tree.dendrogram import Dendrogram, shape_of

#: By default, trees with more than `WHOLE` leaves are collapsed to `COLLAPSED` tips (leaves and collapsed
#: clusters).
WHOLE, COLLAPSED = 299, 60


@dataclass(slots=True, eq=False)
class Item:
    """A node that is drawn: a leaf, a collapsed cluster, or an inner node whose children are drawn.

    The leaves below the node are `size` leaves in the order of the picture, from position `first` on.

    Along the axis from root to leaves, `height` is the position of the node. `near` and `far` are the
    positions of the leaves below the node that are nearest to the root and farthest from the root.

    Across this axis, leaves are 1 apart. `place` is the position of the node, and the leaves below the node
    are between `low` and `high`.
    """

    label: int
    first: int
    size: int
    height: float
    #: True if the item replaces the last children of a node, because the node has too many children to show.
    is_rest: bool = False
    children: "list[Item]" = field(default_factory=list)
    place: float = 0.0
    low: float = 0.0
    high: float = 0.0
    near: float = 0.0
    far: float = 0.0


class Truncated:
    """The nodes of a picture: leaves, collapsed clusters, and the inner nodes above them.

    If the tree is too large, only its top is shown.

    The tips of a picture are its leaves and collapsed clusters. `truncate` is their maximum number; None and
    True choose by the number of leaves, False shows all leaves. `at_least` is their minimum number, for
    pictures with coloured clusters.
    """

    def __init__(self, tree: Dendrogram, truncate: int | bool | None = None, *, at_least: int = 1) -> None:
        self.tree = tree
        self.order: NDArray[np.int64] = tree.leaf_order()
        self.positions = positions_of(tree)
        self.root_end, self.leaf_end = self.positions.root_end, self.positions.leaf_end
        self.root = self._item(len(tree.parents) - 1)
        self._open(_tips_wanted(truncate, tree.n_leaves, at_least))
        self.tips = [item for item in self.items() if not item.children]
        cursor = -0.5
        for tip in self.tips:
            width = 1.0 if tip.size == 1 else 1.0 + min(2.0, 0.45 * math.log10(tip.size))
            tip.low, tip.high, tip.place = cursor, cursor + width, cursor + width / 2
            cursor += width
            if tip.size > 1:
                leaves = self.positions.at[self.order[tip.first : tip.first + tip.size]]
                ends = float(leaves.min()), float(leaves.max())
                tip.near, tip.far = ends if self.leaf_end > self.root_end else ends[::-1]
        #: The total width of all tips. The first tip begins at -0.5.
        self.width = cursor + 0.5
        self.opened = [item for item in self.items() if item.children]
        for item in reversed(self.opened):
            first, last = item.children[0], item.children[-1]
            item.place = (first.place + last.place) / 2
            item.low, item.high = first.low, last.high

    def items(self) -> Iterator[Item]:
        """Iterate over all items, parents before their children, from left to right."""
        waiting = [self.root]
        while waiting:
            item = waiting.pop()
            yield item
            waiting.extend(reversed(item.children))

    def _item(self, label: int) -> Item:
        shape, height = shape_of(self.tree), float(self.positions.at[label])
        return Item(label, shape.starts[label], shape.sizes[label], height, near=height, far=height)

    def _open(self, most: int) -> None:
        """Replace clusters by their children, the last merge first, until there are `most` tips."""
        shape, count = shape_of(self.tree), 1
        waiting = [(-self.root.label, 0, self.root)] if self.root.size > 1 else []
        while waiting and count < most:
            item = heapq.heappop(waiting)[2]
            labels = shape.children_of(item.label)
            room = most - count + 1
            shown = labels if len(labels) <= room else labels[: room - 1]
            item.children = [self._item(label) for label in shown]
            if len(shown) < len(labels):
                start = shape.starts[labels[len(shown)]]
                size = item.first + item.size - start
                item.children.append(replace(self._item(item.label), first=start, size=size, is_rest=True))
            count += len(item.children) - 1
            for child in item.children:
                if child.size > 1 and not child.is_rest:
                    heapq.heappush(waiting, (-child.label, child.first, child))

    def names(self, longest: int = 60) -> list[str]:
        tree, labels, found = self.tree, self.tree.labels, []
        for tip in self.tips:
            name, more = None, "" if tip.size == 1 else f" +{tip.size - 1:,}"
            if tip.label >= tree.n_leaves and not tip.is_rest and tree.node_names is not None:
                name = tree.node_names[tip.label - tree.n_leaves]
            if name is not None:
                more = f" ({tip.size:,})"
            # `Dendrogram.collapse` names a cluster in the same way: by its leaf with the smallest number.
            leaves = self.order[tip.first : tip.first + tip.size]
            leaf = int(leaves[0] if tip.is_rest else leaves.min())
            text = " ".join((labels[leaf] if name is None else name).split())
            if len(text) + len(more) > longest:
                text = text[: max(longest - len(more) - 1, 1)].rstrip() + "…"
            found.append(text + more)
        return found

    def uniform(self, codes: NDArray[np.int64]) -> dict[int, int]:
        """Return a dict from `id(item)` to the category that all leaves of the item share.

        `codes` has the index of each leaf's category, -1 for none. Items without a shared category are left
        out.
        """
        placed = codes[self.order]
        changes = np.concatenate([[0], np.cumsum(placed[1:] != placed[:-1])]).tolist()
        found = {}
        for item in self.items():
            if changes[item.first] == changes[item.first + item.size - 1] and placed[item.first] >= 0:
                found[id(item)] = int(placed[item.first])
        return found


def _tips_wanted(truncate: int | bool | None, n: int, at_least: int) -> int:
    if truncate is None or truncate is True:
        return max(COLLAPSED, at_least) if truncate or n > WHOLE else n
    if truncate is False:
        return n
    most = _checks.whole("truncate", truncate, at_least=2)
    if most < at_least:
        raise InputError(f"truncate = {most} tips are too few for {at_least} clusters")
    return most
