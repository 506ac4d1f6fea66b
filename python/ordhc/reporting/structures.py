"""Make the section of a report that compares the tree with other models, such as flat clusters and points."""

from collections.abc import Mapping
from typing import Any

from ordhc.reporting.counts import in_numbers
from ordhc.reporting.figures import misfits_figure
from ordhc.reporting.parts import Markup, figure, interval, note, roomy_span, section, table
from ordhc.reporting.words import percent, percent_range, three_digits
from ordhc.tree.dendrogram import Dendrogram

#: The maximum number of listed items and clusters that a model of points predicts better. The JSON has all.
MOST = 15
Numbers = Mapping[str, Any]


def has_structure(numbers: Numbers) -> bool:
    return numbers["structure"] is not None or "structure" in numbers["notes"]


def structure_section(numbers: Numbers, tree: Dendrogram) -> Markup:
    """Return the section that compares the tree with other models, such as flat clusters and points.

    The section is empty if models were not compared, and the report has no note about that.
    """
    found = numbers["structure"]
    if not has_structure(numbers):
        return Markup("")
    if found is None:
        return section("structure", "Is it a tree?", note(numbers["notes"]["structure"]))
    return section(
        "structure",
        "Is it a tree?",
        found["verdict"]["text"],
        _scores(found),
        found["coins"]["text"],
        *_misfits(found, tree),
        note(found["caution"]),
    )


def _scores(found: Numbers) -> Markup:
    scores = found["scores"]
    span = roomy_span([end for each in scores for end in each["accuracy"].values() if end is not None])
    least = min(range(len(scores)), key=lambda at: scores[at]["log_loss"]["value"])
    chance = scores[0]["accuracy"]["value"]
    rows = []
    for at, each in enumerate(scores):
        accuracy, loss, behind = each["accuracy"], each["log_loss"], each["behind"]
        rows.append(
            (
                each["name"],
                percent(chance) if at == 0 else percent_range(*accuracy.values()),
                interval(accuracy["value"], accuracy["low"], accuracy["high"], chance=chance, span=span),
                f"{loss['value']:.3f}",
                three_digits(behind["value"], behind["low"], behind["high"]) if at != least else "",
            )
        )
    over = "people" if found["unit"] == "group" else "questions"
    together = "a person's answers" if found["unit"] == "group" else "answers to the same question"
    return table(
        ("structure", "held-out answers predicted", "", "log loss", "log loss behind the best"),
        rows,
        kinds="lnlnn",
        best=least,
        caption=f"Each of {found['n_answers']:,} answers is predicted once, by models of the other folds "
        f"({found['folds']} folds; {together} are in one). Log loss is minus the logarithm of the "
        f"probability of the answer: smaller is better. In parentheses: 95% intervals over {over}, "
        "paired for “behind”. Lengths measure how typical items are; “tree and points” is the mean of the "
        "predictions of the additive tree and of points. Pictured: answers predicted; chance is dashed.",
    )


def _misfits(found: Numbers, tree: Dendrogram) -> list[str]:
    misfits = found["misfits"]
    items, clusters = found["n_looked_at"]
    looked = (
        f"{in_numbers(items, 'item', 'items')} and {in_numbers(clusters, 'cluster', 'clusters')} "
        f"{'has' if items + clusters == 1 else 'have'} 20 answers or more."
    )
    if not misfits:
        return [f"Where the tree fails: {looked} Points predict the answers of none of them clearly better."]
    rows = [
        (
            each["name"],
            "item" if each["n_items"] == 1 else f"cluster of {each['n_items']:,}",
            f"{each['n_answers']:,}",
            three_digits(each["behind"]["value"], each["behind"]["low"], each["behind"]["high"]),
        )
        for each in misfits[:MOST]
    ]
    rest = f" The {MOST} largest differences are shown; the JSON has all." if len(misfits) > MOST else ""
    parts = [
        Markup("<h3>Where the tree fails</h3>"),
        f"{looked} Points predict the answers of {len(misfits):,} of them better than the tree.",
        table(
            ("where", "", "answers", "log loss of the tree minus that of points"),
            rows,
            kinds="wsnn",
            caption="Per answer, with 95% intervals. For an item: all answers about it. For a cluster: the "
            "answers whose items are all in it, but in no smaller cluster. Corrected for the number of "
            f"tests: 5% of those listed are expected by chance (Benjamini and Hochberg 1995).{rest}",
        ),
    ]
    drawn = misfits_figure(tree, [each["label"] for each in misfits])
    if drawn is not None:
        parts.append(
            figure(drawn, "Dots mark items, and rings mark clusters, whose answers points predict better.")
        )
    return parts
