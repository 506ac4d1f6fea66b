"""The conclusion of a comparison of structures, in words."""

import math
from dataclasses import dataclass

__all__ = ["Estimate", "Evidence", "Verdict", "verdict_of"]

#: A structure describes answers nearly as well as anything if it has this share of what can be foretold.
NEARLY = 0.9
#: Shares that differ by less are even.
EVEN = 0.01
#: Log losses closer than this share of that of chance are the same for practical purposes.
SAME = 0.04


@dataclass(frozen=True)
class Estimate:
    """A number and its 95% interval; NaN where it isn't known."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.value:z.3f}"
            if math.isnan(self.low) or self.low == self.high
            else f"{self.value:z.3f} ({self.low:z.3f} to {self.high:z.3f})"
        )


@dataclass(frozen=True)
class Evidence:
    """The numbers that the conclusion depends on.

    Attributes
    ----------
    by_effects
        How much less log loss lengths alone have than chance.
    beyond_effects
        How much less the best structure has than lengths alone, or than chance if that is better.
    tree, points
        The share of `beyond_effects` that the better tree foretells, and that points foretell.
    dimensions
        The smallest number of dimensions whose points are within a standard error of the best ones.
    chance
        The log loss of chance.
    """

    by_effects: Estimate
    beyond_effects: Estimate
    tree: Estimate
    points: Estimate
    dimensions: int
    chance: float


@dataclass(frozen=True)
class Verdict:
    """The conclusion of a comparison.

    Attributes
    ----------
    kind
        "tree", "line" (one dimension), "map" (several dimensions), "mixed" (neither is enough), "effects"
        (answers show how typical items are, and no more), "nothing" (answers can't be predicted) or "few"
        (too few answers to tell).
    sure
        True if the 95% interval supports it, False if only the estimate does.
    headline
        The conclusion in a sentence.
    text
        The headline, and what it rests on.
    """

    kind: str
    sure: bool
    headline: str
    text: str


def verdict_of(found: Evidence) -> Verdict:
    """Return what follows."""
    if not found.beyond_effects.low > 0:
        return _without_structure(found)
    share, others = f"{found.tree.value:.0%}", f"{found.points.value:.0%}"
    is_line = found.dimensions == 1
    space = "one dimension" if is_line else f"{found.dimensions} dimensions"
    are_near = found.points.value >= NEARLY
    beyond = "of what the best model foretells beyond how typical items are"
    # A line is a special tree, and the simpler picture: it is preferred unless a tree foretells more.
    if is_line and are_near and found.points.value >= found.tree.value - EVEN:
        special = (
            "A line is a special tree, so that a hierarchy describes these answers, too, but its clusters "
            "are sections of the scale."
            if found.tree.value >= NEARLY
            else "A tree of these answers cuts the scale into sections, and leaves something out."
        )
        return _verdict(
            "line",
            found.points.low >= NEARLY,
            "One scale describes these answers nearly as well as anything does.",
            f"Points in one dimension foretell {others} {beyond}, a hierarchy {share}. {special} Consider "
            "ordhc_embedding.embed(t, n_components=1).",
        )
    if found.tree.value >= NEARLY:
        if are_near and is_line:
            more = (
                f"Points in one dimension foretell nearly as much ({others}). A line is a special tree, "
                "whose clusters are sections of a scale: look whether one scale explains the clusters."
            )
        elif are_near:
            more = f"Points in {space} do so as well ({others}): these answers do not decide between the two."
        else:
            more = f"Points in {space} foretell {others}."
        return _verdict(
            "tree",
            found.tree.low >= NEARLY,
            "A hierarchy describes these answers nearly as well as anything does.",
            f"It foretells {share} {beyond}. {more}",
        )
    sure = found.tree.high < NEARLY
    if are_near:
        return _verdict(
            "map",
            sure,
            f"Points in {space} describe these answers better than a hierarchy.",
            f"The hierarchy foretells {share} {beyond}, points {others}. Consider ordhc_embedding.embed(t, "
            f"n_components={found.dimensions}). A tree of these answers is a summary that leaves something "
            "out.",
        )
    return _verdict(
        "mixed",
        sure,
        "Neither a hierarchy nor points alone are enough for these answers: together they foretell more.",
        f"The hierarchy foretells {share} {beyond}, points in {space} {others}. Show both.",
    )


def _without_structure(found: Evidence) -> Verdict:
    """Nothing is clearly foretold beyond lengths: because there is nothing, or too few answers."""
    if not found.beyond_effects.high < SAME * found.chance:
        headline = "There are too few answers to tell whether a hierarchy is the right picture."
        text = (
            f"{headline} No structure clearly foretells answers that it has not seen better than how typical "
            "items are. Ask more questions before you interpret a tree or a map."
        )
        return Verdict("few", False, headline, text)
    if found.by_effects.low > 0:
        return _verdict(
            "effects",
            True,
            "Items differ in how typical they are, and hardly anything more can be foretold.",
            "Neither a hierarchy nor a map adds to it: do not interpret the clusters of a tree.",
        )
    return _verdict(
        "nothing",
        True,
        "Hardly anything can be foretold: answers that were not seen are as by chance.",
        "Do not interpret a tree of these answers.",
    )


def _verdict(kind: str, sure: bool, headline: str, more: str) -> Verdict:
    doubt = "" if sure else " This is the best estimate; with these answers other verdicts are possible, too."
    return Verdict(kind, sure, headline, f"{headline} {more}{doubt}")
