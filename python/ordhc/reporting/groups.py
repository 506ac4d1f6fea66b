"""Make the section of a report about groups of people: whether all people agree on one tree."""

from collections.abc import Mapping, Sequence
from typing import Any

from ordhc.reporting.counts import in_numbers
from ordhc.reporting.figures import tanglegram_figure
from ordhc.reporting.parts import Markup, figure, note, paragraph, section, table, text
from ordhc.reporting.words import percent, three_digits
from ordhc.tree.dendrogram import from_dict

#: The maximum number of people who are named for each group. The JSON has all people.
MOST = 40
TITLE = "Do people agree on one tree?"
Numbers = Mapping[str, Any]


def has_groups(numbers: Numbers) -> bool:
    return numbers["people_groups"] is not None or "people_groups" in numbers["notes"]


def groups_section(numbers: Numbers) -> Markup:
    """Return the section about groups of people with different trees; empty if none were searched for."""
    found = numbers["people_groups"]
    if not has_groups(numbers):
        return Markup("")
    if found is None:
        return section("people-groups", TITLE, note(numbers["notes"]["people_groups"]))
    return section(
        "people-groups",
        TITLE,
        found["verdict"]["text"],
        *([_scores(found)] if found["scores"][0]["log_loss"]["low"] is not None else []),
        *(_members(found, numbers["clusters"]["cut"]["n_clusters"]) if found["n_trees"] > 1 else []),
        note(found["caution"]),
    )


def _scores(found: Numbers) -> Markup:
    scores = found["scores"]
    rows = [
        (
            in_numbers(each["n_trees"], "tree", "trees"),
            three_digits(*each["log_loss"].values()),
            three_digits(*each["gain"].values()) if each["n_trees"] > 1 else "",
        )
        for each in scores
    ]
    several = (
        " The prediction of several trees is averaged with that of one tree. Several trees are preferred "
        "only if the interval of the gain is above 0 and the gain is large enough to matter."
        if len(scores) > 1
        else ""
    )
    return table(
        ("people follow", "log loss", "less than with one tree"),
        rows,
        kinds="snn",
        best=found["n_trees"] - 1,
        caption=f"Each person’s answers are split into {found['folds']} parts. Each part is predicted by "
        "models of everybody’s answers in the other parts. Log loss is minus the logarithm of the "
        "probability of an answer: smaller is better. In parentheses: 95% intervals over "
        f"people.{several}",
    )


def _members(found: Numbers, n_clusters: int) -> list[Markup]:
    groups = found["groups"]
    unclear = [
        f"{each['person']} ({percent(max(each['probabilities']), 0)})"
        for each in found["memberships"]
        if not any(each["person"] in group["people"] for group in groups)
    ]
    rows = [
        (
            f"group {at}",
            f"{len(group['people']):,}",
            _named(group["people"]),
            percent(group["triplet_distance"]) if at > 1 else "",
        )
        for at, group in enumerate(groups, 1)
    ]
    if unclear:
        rows.append(("not clear", f"{len(unclear):,}", _named(unclear), ""))
    rest = (
        f" At most {MOST} people are named; the JSON has all."
        if max(*(len(group["people"]) for group in groups), len(unclear)) > MOST
        else ""
    )
    doubt = " In parentheses: their largest probability." if unclear else ""
    parts = [
        Markup("<h3>Who belongs to which group</h3>"),
        table(
            ("", "people", "who", "differs from group 1"),
            rows,
            kinds="snwn",
            caption="Each group lists the people who belong to it with a probability of at least 80%, by "
            f"trees that are made without their own answers.{doubt}{rest} The last column is the share of "
            "sets of three items for which the two trees merge different pairs first.",
        ),
    ]
    first, second = (from_dict(group["dendrogram"]) for group in groups[:2])
    drawn = tanglegram_figure(first, second, ("group 1", "group 2"), n_clusters, key="people-groups")
    if drawn is not None:
        caption = "The trees of the two largest groups, rotated so that few lines cross."
        parts.append(figure(drawn, f"{caption} Colours are the clusters of group 1."))
    parts.append(
        paragraph(
            "The groups were chosen so that their trees differ. A test of whether these groups differ "
            "would therefore prove nothing. The evidence is the gain above, because it comes from held-out "
            "answers.",
            "quiet",
        )
    )
    return parts


def _named(people: Sequence[str | int]) -> Markup:
    names = ", ".join(text(name, 60) for name in people[:MOST])
    return Markup(names + (f" and {len(people) - MOST:,} more" if len(people) > MOST else ""))
