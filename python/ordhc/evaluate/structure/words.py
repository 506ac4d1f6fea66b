"""State the conclusion of a comparison of structures in words."""

import math
from dataclasses import dataclass

#: A structure describes answers nearly as well as the best structure if its gain in log loss is at least this
#: share of the best structure's gain.
NEARLY = 0.9
#: Two shares of the best structure's gain are called equal if they differ by less than this.
EVEN = 0.01
#: A gain in log loss below this share of the log loss of chance is negligible.
SAME = 0.04


@dataclass(frozen=True)
class Estimate:
    """A number and its 95% interval; NaN if unknown."""

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
    """The numbers on which the conclusion depends.

    `by_effects` is the log loss of chance minus the log loss of "lengths alone", a model of how typical each
    item is. `beyond_effects` is the log loss of "lengths alone" (or of chance, if smaller) minus that of the
    best structure. `tree` and `points` are the shares of `beyond_effects` that the better tree reaches, and
    that points reach. `dimensions` is as in `Structure`, and `chance` is the log loss of chance.
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
        (answers show only how typical items are), "nothing" (answers cannot be predicted) or "few" (too few
        answers for a conclusion).
    sure
        True if the 95% interval supports the conclusion, False if only the estimate does.
    headline
        The conclusion in a sentence.
    text
        The headline, followed by the numbers behind it and advice.
    """

    kind: str
    sure: bool
    headline: str
    text: str


def verdict_of(found: Evidence) -> Verdict:
    if not found.beyond_effects.low > 0:
        return _without_structure(found)
    share, others = f"{found.tree.value:.0%}", f"{found.points.value:.0%}"
    is_line = found.dimensions == 1
    space = "one dimension" if is_line else f"{found.dimensions} dimensions"
    are_near = found.points.value >= NEARLY
    beyond = "of what the best model predicts beyond how typical items are"
    # Points on a line can be drawn as a tree, but a line is simpler. So prefer "line" unless a tree predicts
    # more.
    if is_line and are_near and found.points.value >= found.tree.value - EVEN:
        special = (
            "A line is a special tree, so a hierarchy describes these answers, too, but its clusters are "
            "sections of the scale."
            if found.tree.value >= NEARLY
            else "A tree of these answers cuts the scale into sections, and omits part of the structure."
        )
        return _verdict(
            "line",
            found.points.low >= NEARLY,
            "One scale describes these answers nearly as well as the best model.",
            f"Points in one dimension predict {others} {beyond}, a hierarchy {share}. {special} Consider "
            "ordhc_embedding.embed(t, n_components=1).",
        )
    if found.tree.value >= NEARLY:
        if are_near and is_line:
            more = (
                f"Points in one dimension predict nearly as much ({others}). A line is a special tree, "
                "whose clusters are sections of a scale: check whether one scale explains the clusters."
            )
        elif are_near:
            more = f"Points in {space} do so as well ({others}): these answers do not decide between the two."
        else:
            more = f"Points in {space} predict {others}."
        return _verdict(
            "tree",
            found.tree.low >= NEARLY,
            "A hierarchy describes these answers nearly as well as the best model.",
            f"It predicts {share} {beyond}. {more}",
        )
    sure = found.tree.high < NEARLY
    if are_near:
        return _verdict(
            "map",
            sure,
            f"Points in {space} describe these answers better than a hierarchy.",
            f"The hierarchy predicts {share} {beyond}, points {others}. Consider ordhc_embedding.embed(t, "
            f"n_components={found.dimensions}). A tree of these answers is an incomplete "
            "summary.",
        )
    return _verdict(
        "mixed",
        sure,
        "Neither a hierarchy nor points alone are enough for these answers: together they predict more.",
        f"The hierarchy predicts {share} {beyond}, points in {space} {others}. Show both.",
    )


def _without_structure(found: Evidence) -> Verdict:
    if not found.beyond_effects.high < SAME * found.chance:
        headline = "There are too few answers to decide whether a hierarchy describes them."
        text = (
            f"{headline} No structure clearly predicts held-out answers better than how typical items are "
            "does. Ask more questions before you interpret a tree or a map."
        )
        return Verdict("few", False, headline, text)
    if found.by_effects.low > 0:
        return _verdict(
            "effects",
            True,
            "Items differ in how typical they are, and hardly anything more can be predicted.",
            "Neither a hierarchy nor a map adds to this: do not interpret the clusters of a tree.",
        )
    return _verdict(
        "nothing",
        True,
        "Hardly anything can be predicted: models do no better than chance on held-out answers.",
        "Do not interpret a tree of these answers.",
    )


def _verdict(kind: str, sure: bool, headline: str, more: str) -> Verdict:
    doubt = "" if sure else " This is the best estimate; these answers do not rule out other conclusions."
    return Verdict(kind, sure, headline, f"{headline} {more}{doubt}")
