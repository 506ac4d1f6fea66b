"""The layouts of a tree: rectangular, circular and unrooted. Each returns the points of lines and areas."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ordhc.plotting.truncated import Item, Truncated

Points = NDArray[np.float64]
#: The thickness of a column beside the leaves, and the gap before a column, as fractions of the tree's depth.
COLUMN, GAP = 0.035, 0.012


@dataclass(frozen=True, slots=True)
class Label:
    """The position (x, y) of the end of a tip's name that is nearer to the tree, and the angle in degrees."""

    x: float
    y: float
    angle: float
    is_flipped: bool

    @property
    def direction(self) -> tuple[float, float]:
        """The unit vector along the name, away from the tree."""
        angle = math.radians(self.angle + 180 * self.is_flipped)
        return math.cos(angle), math.sin(angle)


@dataclass(slots=True)
class Rectangle:
    """The rectangular layout: brackets, with the leaves on one of the four sides."""

    drawn: Truncated
    orientation: str

    @property
    def sideways(self) -> bool:
        return self.orientation in ("right", "left")

    def _at(self, points: list[tuple[float, float]]) -> Points:
        found = np.array(points)
        return found if self.sideways else found[:, ::-1]

    def branch(self, parent: Item, child: Item) -> Points:
        return self._at(
            [(child.height, child.place), (parent.height, child.place), (parent.height, parent.place)]
        )

    def node(self, item: Item) -> tuple[float, float]:
        return (item.height, item.place) if self.sideways else (item.place, item.height)

    def triangle(self, tip: Item) -> Points:
        """Return the outline of a collapsed cluster, (k, 2)."""
        return self._at([(tip.height, tip.place), (tip.far, tip.low + 0.12), (tip.near, tip.high - 0.12)])

    def cell(self, tip: Item, column: int, start: float, end: float) -> Points:
        """Return the (k, 2) outline of the area for one category in a tip's cell.

        A tip is a leaf or a collapsed cluster. It has a cell in each column of categories beside the tree.
        The cell is divided among the categories of the tip's leaves. `start` and `end` are the ends of the
        area, from 0 to 1 across the cell.
        """
        near, far = (self.reach(column) + shift for shift in (GAP * self.depth, self.step))
        low, high = (tip.low + share * (tip.high - tip.low) for share in (start, end))
        return self._at([(near, low), (far, low), (far, high), (near, high)])

    def label(self, tip: Item, columns: int) -> Label:
        """Return the position of a tip's name, beyond `columns` columns of categories."""
        x, y = self._at([(self.reach(columns) + 0.005 * self.depth, tip.place)])[0].tolist()
        return Label(x, y, 0.0 if self.sideways else 90.0, self.orientation in ("left", "bottom"))

    def leader(self, tip: Item) -> Points:
        """Return the line from the end of a tip to the beginning of its name, (2, 2)."""
        return self._at([((tip.near + tip.far) / 2, tip.place), (self.drawn.leaf_end, tip.place)])

    @property
    def depth(self) -> float:
        """The signed length of the axis from root to leaves; negative if heights fall towards the leaves."""
        return self.drawn.leaf_end - self.drawn.root_end

    @property
    def step(self) -> float:
        """The width of one column of categories, with the gap before it."""
        return (COLUMN + GAP) * self.depth

    def reach(self, columns: int) -> float:
        """Return the position where names begin, beyond `columns` columns of categories."""
        return self.drawn.leaf_end + columns * self.step


@dataclass(slots=True)
class Circle:
    """The circular layout: the root is in the middle, and the leaves are on a circle around it."""

    drawn: Truncated
    #: The angle between the last leaf and the first leaf, in degrees.
    opening: float = 8.0

    def radius(self, height: float) -> float:
        root_end, leaf_end = self.drawn.root_end, self.drawn.leaf_end
        return 0.06 + 0.94 * (height - root_end) / (leaf_end - root_end)

    def angle(self, place: float) -> float:
        """Return the angle of a position among the leaves, in radians; leaves run clockwise from the top."""
        sweep = 360.0 - self.opening
        return math.radians(90 - self.opening / 2 - sweep * (place + 0.5) / self.drawn.width)

    def arc(self, radius: float, start: float, end: float, last_radius: float | None = None) -> Points:
        """Return an arc from position `start` to position `end`, (k, 2).

        The radius stays `radius`, or changes evenly to `last_radius`, which makes a spiral.
        """
        first, last = self.angle(start), self.angle(end)
        steps = np.linspace(first, last, 2 + int(abs(last - first) / 0.03))
        radii = np.linspace(radius, radius if last_radius is None else last_radius, len(steps))
        return np.column_stack([radii * np.cos(steps), radii * np.sin(steps)])

    def branch(self, parent: Item, child: Item) -> Points:
        start = self.arc(self.radius(child.height), child.place, child.place)[:1]
        return np.concatenate([start, self.arc(self.radius(parent.height), child.place, parent.place)])

    def node(self, item: Item) -> tuple[float, float]:
        x, y = self.arc(self.radius(item.height), item.place, item.place)[0].tolist()
        return x, y

    def triangle(self, tip: Item) -> Points:
        far, near = self.radius(tip.far), self.radius(tip.near)
        return np.concatenate([[self.node(tip)], self.arc(far, tip.low + 0.12, tip.high - 0.12, near)])

    def cell(self, tip: Item, column: int, start: float, end: float) -> Points:
        near = 1.0 + column * (COLUMN + GAP) + GAP
        low, high = (tip.low + share * (tip.high - tip.low) for share in (start, end))
        return np.concatenate([self.arc(near, low, high), self.arc(near + COLUMN, high, low)])

    def label(self, tip: Item, columns: int) -> Label:
        angle = self.angle(tip.place)
        radius = self.reach(columns)
        degrees = math.degrees(angle) % 360
        is_flipped = 90 < degrees < 270
        turn = degrees - 180 if is_flipped else degrees
        return Label(radius * math.cos(angle), radius * math.sin(angle), turn, is_flipped)

    def leader(self, tip: Item) -> Points:
        start = self.radius((tip.near + tip.far) / 2)
        return np.concatenate([self.arc(r, tip.place, tip.place)[:1] for r in (start, 1.0)])

    def reach(self, columns: int) -> float:
        return 1.03 + columns * (COLUMN + GAP)


@dataclass(slots=True)
class Unrooted(Circle):
    """The unrooted layout: straight branches, where each subtree has a sector that fits its number of tips.

    This is the equal-angle layout (Felsenstein 2004). Branches are as long as their edges, in a unit that
    puts the farthest tip at distance 1 from the root. Names are on a circle around the tree, so that they do
    not overlap.
    """

    unit: float = 1.0
    _at: dict[int, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.opening = 0.0
        drawn = self.drawn
        self._at[id(drawn.root)] = (0.0, 0.0)
        for item in drawn.items():
            x, y = self._at[id(item)]
            for child in item.children:
                if child.is_rest:
                    length = 0.0
                elif drawn.positions.label is None:
                    length = 1.0
                else:
                    length = self._away(child.height - item.height)
                angle = self.angle((child.low + child.high) / 2)
                self._at[id(child)] = (x + length * math.cos(angle), y + length * math.sin(angle))
        reach = [
            math.hypot(*self._at[id(tip)]) + max(self._away(tip.far - tip.height), 0) for tip in drawn.tips
        ]
        self.unit = 1.0 / (max(reach) or 1.0)

    def _away(self, difference: float) -> float:
        return difference if self.drawn.leaf_end > self.drawn.root_end else -difference

    def branch(self, parent: Item, child: Item) -> Points:
        return np.array([self.node(child), self.node(parent)])

    def node(self, item: Item) -> tuple[float, float]:
        x, y = self._at[id(item)]
        return x * self.unit, y * self.unit

    def triangle(self, tip: Item) -> Points:
        far, near = (max(self._away(end - tip.height) * self.unit, 0.04) for end in (tip.far, tip.near))
        here = np.array([self.node(tip)])
        return np.concatenate([here, here + self.arc(far, tip.low + 0.1, tip.high - 0.1, near)])

    def leader(self, tip: Item) -> Points:
        angle = self.angle(tip.place)
        start = np.array([self.node(tip)])
        if tip.size > 1:
            start = self.triangle(tip)[1:].mean(axis=0, keepdims=True)
        return np.concatenate([start, 1.01 * np.array([[math.cos(angle), math.sin(angle)]])])


Shapes = Rectangle | Circle
