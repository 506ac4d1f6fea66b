"""What a comparison of structures says, in words."""

import math
from dataclasses import dataclass

__all__ = ["Estimate", "Evidence", "Verdict", "verdict_of"]

#: A structure describes answers nearly as well as anything if it has this share of what can be foretold.
NEARLY = 0.9
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
            f"{self.value:.3f}"
            if math.isnan(self.low)
            else f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"
        )


@dataclass(frozen=True)
class Evidence:
    """What the words depend on.

    Attributes
    ----------
    by_effects
        How much less log loss lengths alone have than chance.
    beyond_effects
        How much less the best structure has than lengths alone, or than chance if that is better.
    tree, points
        The share of `beyond_effects` that the better tree foretells, and that points foretell.
    points_behind
        How much more log loss points have than the better tree.
    dimensions
        The smallest number of dimensions in which points are not clearly worse than in the best one.
    chance
        The log loss of chance.
    """

    by_effects: Estimate
    beyond_effects: Estimate
    tree: Estimate
    points: Estimate
    points_behind: Estimate
    dimensions: int
    chance: float


@dataclass(frozen=True)
class Verdict:
    """What follows from a comparison.

    Attributes
    ----------
    kind
        "tree", "line" (one dimension), "map" (several dimensions), "mixed" (neither is enough), "effects"
        (answers show how typical items are, and no more), "nothing" (answers can't be predicted) or "few"
        (too few answers to tell).
    sure
        True if the 95% interval supports it, False if only the estimate does.
    text
        Sentences.
    """

    kind: str
    sure: bool
    text: str


def verdict_of(found: Evidence) -> Verdict:
    """Return what follows."""
    beyond = found.beyond_effects
    if not beyond.low > 0:
        return _without_structure(found)
    share, others = f"{found.tree.value:.0%}", f"{found.points.value:.0%}"
    space = "one dimension" if found.dimensions == 1 else f"{found.dimensions} dimensions"
    are_near = found.points.value >= NEARLY
    if found.dimensions == 1 and are_near and not found.points_behind.low > 0:
        sure = found.points.low >= NEARLY
        text = (
            "These answers need no more than one scale: points in one dimension describe them nearly as well "
            f"as anything does. They foretell {others} of what the best model foretells beyond how typical "
            f"items are, and a hierarchy {share}. A line is a special tree, so that a tree can describe it, "
            "too, but its clusters are sections of the scale. Consider "
            "ordhc_embedding.embed(t, n_components=1)."
        )
        return Verdict("line", sure, text + _how_sure(sure))
    if found.tree.value >= NEARLY:
        sure = found.tree.low >= NEARLY
        text = (
            f"A hierarchy describes these answers nearly as well as anything does: it foretells {share} of "
            "what the best model foretells beyond how typical items are. "
            + (
                f"Points in {space} do so as well ({others}): these answers do not decide between the two."
                if are_near
                else f"Points in {space} foretell {others}."
            )
        )
        return Verdict("tree", sure, text + _how_sure(sure))
    sure = found.tree.high < NEARLY
    if are_near:
        text = (
            f"Points in {space} describe these answers better than a hierarchy, which foretells {share} of "
            "what the best model foretells beyond how typical items are. Consider ordhc_embedding.embed(t, "
            f"n_components={found.dimensions}). A tree of them is a summary that leaves something out."
        )
        return Verdict("line" if found.dimensions == 1 else "map", sure, text + _how_sure(sure))
    text = (
        f"Neither a hierarchy nor points are enough: together they foretell more. The hierarchy alone "
        f"foretells {share} of it beyond how typical items are, points in {space} {others}. Show both."
    )
    return Verdict("mixed", sure, text + _how_sure(sure))


def _without_structure(found: Evidence) -> Verdict:
    """Nothing is clearly foretold beyond lengths: because there is nothing, or too few answers."""
    if not found.beyond_effects.high < SAME * found.chance:
        text = (
            "Too few answers to tell: no structure clearly foretells answers that it has not seen better "
            "than how typical items are. Ask more questions before you interpret a tree or a map."
        )
        return Verdict("few", False, text)
    if found.by_effects.low > 0:
        text = (
            "Items differ in how typical they are, and hardly anything more can be foretold. Neither a "
            "hierarchy nor a map adds to it: do not interpret the clusters of a tree."
        )
        return Verdict("effects", True, text)
    text = (
        "Hardly anything can be foretold: answers that were not seen are as by chance. Do not interpret a "
        "tree of these answers."
    )
    return Verdict("nothing", True, text)


def _how_sure(sure: bool) -> str:
    return "" if sure else " This is the best estimate; with these answers other verdicts are possible, too."
