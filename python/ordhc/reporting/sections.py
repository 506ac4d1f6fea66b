"""Make the sections of a report about the tree, people, unexplained answers, clusters, and other methods."""

from collections.abc import Mapping
from typing import Any

from ordhc.comparison.comparisons import Comparisons
from ordhc.reporting.counts import in_numbers
from ordhc.reporting.figures import agreement_figure, tanglegram_figure, tree_figure
from ordhc.reporting.parts import Markup, figure, interval, note, paragraph, section, table, text
from ordhc.reporting.words import MARKED, ODD, people_sentence, percent
from ordhc.tree.dendrogram import Dendrogram

#: The maximum numbers of rows of tables. The JSON has all rows.
MOST = 40
PEOPLE = 30
UNLIKE = (
    "Another view: trees of the others predict these answers no better than chance, but the answers agree "
    "with each other, or with those of other people with another view. Unlike others: too few answers to "
    "distinguish another view from random answers. Looks random: enough answers, but they follow no tree. "
    "None of these says why."
)
#: The maximum number of listed answers. If fewer than `FILLED` answers were given several times, the list is
#: filled up to this number with answers that were given once.
PUZZLES, FILLED = 15, 8
#: Cautions about support: from resamples, and from a posterior.
_SUPPORT = (
    "Support is how often resamples contain a cluster, not how likely the cluster is: in simulations, 22% of "
    "the clusters with a support of 54% were true.",
    "Support is the probability of a cluster if answers are independent and wrong as the posterior assumes. "
    "If the same pairs are misjudged in the same way again and again, support is too high if there are "
    "several answers per pair: in simulations with four, 89% of the clusters with a support of 99% were "
    "true. If a true cluster has no subclusters, the subclusters in the drawn trees have some support, too.",
)
Numbers = Mapping[str, Any]


def tree_section(numbers: Numbers, tree: Dendrogram, data: Comparisons) -> Markup:
    asked = numbers["settings"]["n_clusters"]
    drawn, caption = tree_figure(
        tree,
        asked or numbers["clusters"]["cut"]["n_clusters"],
        numbers["method"]["unanswered"],
        was_asked=asked is not None,
    )
    if tree.support is not None:
        is_drawn = numbers["clusters"]["unit"] == "posterior"
        of = "trees drawn by their probability" if is_drawn else "trees of resampled answers"
        caption.append(f"Numbers are support in percent: the share of {of} that contain the cluster.")
    parts = [figure(drawn, " ".join(caption)), note(numbers["notes"].get("support"))]
    if numbers["clusters"]["nodes"]:
        levels = agreement_figure(tree, data)
        parts.append(
            figure(
                levels,
                "The share of answers that the tree satisfies, by the size of the smallest cluster that "
                "contains the compared items: small clusters are near the items, the largest is the root. "
                "The tree was made from these answers.",
            )
        )
    return section("tree", "The tree", *parts)


def people_section(numbers: Numbers) -> Markup:
    """Return the section with each person's accuracy on trees that were made without their answers.

    People whose answers look random, or are satisfied less often than chance, are marked.
    """
    people = numbers["people"]
    if people is None:
        why = (
            "The data don't say who answered."
            if numbers["data"]["n_people"] is None
            else "No answers could be held out, so the accuracy of people is unknown."
        )
        return section("people", "People", why)
    odd = [person for person in people if person["verdict"] in ODD]
    unsure = sum(person["verdict"] == "too few answers" for person in people)
    text_of = [people_sentence(people)]
    if unsure:
        gave = "person" if unsure == 1 else "people"
        text_of.append(f"{unsure:,} {gave} gave too few answers for a conclusion.")
    extra = any(person.get("reliability") is not None for person in people)
    columns = ["person", "answers", "accuracy", "95% interval", "", "agrees with others", "standing"]
    kinds = "lnnnlns"
    if extra:
        columns.insert(6, "reliability")
        kinds = "lnnnlnns"
    rows = []
    for person in people[:PEOPLE]:
        is_odd = person["verdict"] in MARKED
        row = [
            person["who"],
            f"{person['n_answers']:,}",
            percent(person["accuracy"]),
            f"{percent(person['low'], 0)} to {percent(person['high'], 0)}",
            interval(
                person["accuracy"], person["low"], person["high"], chance=person["at_random"], mark=is_odd
            ),
            percent(person["agreement"]),
            Markup(f'<span class="warn">{text(person["verdict"])}</span>') if is_odd else person["verdict"],
        ]
        if extra:
            row.insert(6, percent(person.get("reliability"), 0))
        rows.append(row)
    rest = f" The {PEOPLE} least accurate are shown; the JSON has all." if len(people) > PEOPLE else ""
    return section(
        "people",
        "People",
        *text_of,
        table(
            columns,
            rows,
            kinds=kinds,
            caption="Accuracy is the share of a person's answers that are satisfied by trees made without "
            "these answers; the accuracy of random answers is dashed. Each interval is for one person alone, "
            f"not adjusted for their number: about {max(1, round(len(people) / 20)):,} of {len(people):,} "
            f"intervals do not contain the true value.{rest}",
        ),
        *([paragraph(UNLIKE, "quiet")] if odd else []),
    )


def unexplained_section(numbers: Numbers) -> Markup:
    found = numbers["unexplained"]
    count = in_numbers(found["n_unexplained"], "answer is", "answers are")
    parts = [
        f"{count} not explained by the tree ({percent(found['share'])}): it disagrees with one of their "
        "comparisons, or agrees with none."
    ]
    if found["listed"]:
        several = sum(each["n_said"] > 1 for each in found["listed"])
        rows = [
            (
                each["said"],
                each["tree"],
                f"{each['n_said']:,} of {each['n_asked']:,}",
                f"{each['n_as_tree']:,}",
            )
            for each in found["listed"][: min(PUZZLES, max(several, FILLED))]
        ]
        parts.append(
            table(
                ("answer", "the tree", "gave it", "as the tree"),
                rows,
                kinds="wwnn",
                caption="The answers that contradict the tree most clearly. “Gave it” is how often the "
                "answer was given, of all answers to the question; “as the tree” is how many of them agree "
                "with the tree.",
            )
        )
    hard = [each for each in found["items"] if each["unexplained"] > 0][:10]
    if hard:
        items = [(each["item"], f"{each['n_answers']:,}", percent(each["unexplained"])) for each in hard]
        parts.append(Markup("<h3>Items with the most unexplained answers</h3>"))
        parts.append(table(("item", "answers about it", "not explained"), items, kinds="wnn"))
    return section("unexplained", "Answers that the tree can’t explain", *parts)


def clusters_section(numbers: Numbers, tree: Dendrogram) -> Markup:
    found = numbers["clusters"]
    parts: list[str] = []
    if found["n_known"]:
        drawn = "people" if found["unit"] == "group" else "answers"
        trees = f"trees of {found['n_resamples']:,} resamples of {drawn}"
        if found["unit"] == "posterior":
            trees = f"{found['n_resamples']:,} trees drawn by their posterior probability"
        levels = "; ".join(
            f"{count:,} in at least {float(least):.0%}" for least, count in found["at_least"].items()
        )
        parts.append(
            f"There are {in_numbers(found['n_known'], 'cluster', 'clusters')} between the items and the "
            f"root. Number of clusters by support in {trees}: {levels}."
        )
    parts.append(note(numbers["notes"].get("support")))
    if (mixing := found["mixing"]) is not None and mixing["r_hat"] is not None:
        parts.append(
            paragraph(
                f"For the log-likelihood of the chains, R-hat is {mixing['r_hat']:.2f} (below 1.1 if the "
                f"chains have mixed), and the effective size is {mixing['effective_size']:.0f} trees.",
                "quiet",
            )
        )
    parts.append(note(numbers["notes"].get("mixing")))
    if found["n_known"]:
        parts.append(paragraph(_SUPPORT[found["unit"] == "posterior"], "quiet"))
    by_size = sorted(found["nodes"], key=lambda node: (-node["size"], node["label"]))
    if by_size:
        rows: list[tuple[str, ...]] = []
        for node in by_size[:MOST]:
            names = [tree.labels[leaf] for leaf in sorted(tree.node(node["label"]).leaves.tolist())[:6]]
            shown = ", ".join(names) + (f" and {node['size'] - 6:,} more" if node["size"] > 6 else "")
            share = node["support"]
            bar = "" if share is None else interval(share, None, None)
            rows.append((node["name"] or "", shown, f"{node['size']:,}", percent(share, 0), bar))
        named = any(row[0] for row in rows)
        rest = f" The {MOST} largest are shown; the JSON has all." if len(by_size) > MOST else ""
        columns = ("name", "items", "size", "support", "")
        if not named:
            rows = [row[1:] for row in rows]
        parts.append(
            table(
                columns if named else columns[1:],
                rows,
                kinds="wwnnl" if named else "wnnl",
                caption=f"Clusters, the largest first.{rest}",
            )
        )
    else:
        parts.append("There are no clusters between the items and the root.")
    return section("clusters", "How sure each cluster is", *parts)


def sensitivity_section(numbers: Numbers, tree: Dendrogram, others: Mapping[str, Dendrogram]) -> Markup:
    rows = numbers["sensitivity"]
    if not rows:
        return section("sensitivity", "Other methods", "No other method was tried on these answers.")
    own = numbers["method"]["name"]
    parts: list[str] = [
        "How much the tree depends on the method: the less the trees of other methods differ from it, the "
        "less the choice of the method matters.",
        table(
            ("method", "sets of three items that differ", "clusters that differ"),
            [(r["method"], percent(r["triplet_distance"]), percent(r["robinson_foulds"])) for r in rows],
            kinds="lnn",
            caption=f"Trees of all answers, compared with that of {own}.",
        ),
    ]
    # Among the methods that are not clearly worse, the most different tree is the most informative.
    worse = [] if numbers["method"]["selection"] is None else numbers["method"]["selection"]["clearly_worse"]
    near = [row for row in rows if row["method"] not in worse] or rows
    other = near[-1]["method"]
    drawn = tanglegram_figure(tree, others[other], (own, other), numbers["clusters"]["cut"]["n_clusters"])
    if drawn is not None:
        parts.append(
            figure(
                drawn,
                f"The tree of this report and that of {other}, rotated so that few lines cross. Colours are "
                "the clusters of the first tree.",
            )
        )
    elif tree.n_leaves > 3:
        parts.append(paragraph("There are too many items to draw both trees face to face.", "quiet"))
    return section("sensitivity", "Other methods", *parts)
