"""Sections of a report: the tree, people, unexplained answers, clusters, and other methods."""

from collections.abc import Mapping
from typing import Any

from ordhc.comparison.comparisons import Comparisons
from ordhc.reporting.counts import in_numbers
from ordhc.reporting.figures import agreement_figure, tanglegram_figure, tree_figure
from ordhc.reporting.parts import Markup, figure, interval, note, paragraph, section, table, text
from ordhc.reporting.words import MARKED, ODD, percent, told_people
from ordhc.tree.dendrogram import Dendrogram

__all__ = [
    "clusters_section",
    "people_section",
    "sensitivity_section",
    "tree_section",
    "unexplained_section",
]

#: The maximum numbers of rows of tables. The JSON has all rows.
MOST = 40
PEOPLE = 30
UNLIKE = (
    "Another view: trees of the others predict these answers no better than chance, but the "
    "answers agree with each "
    "other, or with those of others of another view. Unlike others: too few answers to tell a view "
    "of their own from "
    "answers at random. Looks random: answers enough, and they follow no tree. None of this says why."
)
#: The maximum number of listed answers, and the number up to which answers that were given once are listed.
PUZZLES, FILLED = 15, 8
#: Cautions about support, from resamples and from a posterior.
_SUPPORT = (
    "Support is how often a cluster comes back, not how likely it is: of clusters with a support of 54% in "
    "simulations 22% were true.",
    "Support is the probability of a cluster if answers are independent and wrong as the posterior assumes. "
    "If the same pairs are misjudged in the same way again and again, support is too high once there are "
    "several answers for each pair: with four in simulations, of 99% 89% were true. Where a true cluster has "
    "no parts, the parts that it is drawn with have some support, too.",
)
Numbers = Mapping[str, Any]


def tree_section(numbers: Numbers, tree: Dendrogram, data: Comparisons) -> Markup:
    """Return the section with the tree and its support, and with the satisfied answers by level."""
    asked = numbers["settings"]["n_clusters"]
    drawn, caption = tree_figure(
        tree,
        asked or numbers["clusters"]["cut"]["n_clusters"],
        numbers["method"]["unanswered"],
        was_asked=asked is not None,
    )
    if tree.support is not None:
        is_drawn = numbers["clusters"]["unit"] == "posterior"
        of = "of the trees that are likely" if is_drawn else "trees of resampled answers"
        caption.append(f"Numbers are support in percent: how many {of} have the cluster.")
    parts = [figure(drawn, " ".join(caption)), note(numbers["notes"].get("support"))]
    if numbers["clusters"]["nodes"]:
        levels = agreement_figure(tree, data)
        parts.append(
            figure(
                levels,
                "Which share of the answers the tree satisfies, by the size of the smallest cluster that "
                "holds what "
                "they compare: small clusters are near the items, the largest is the root. These are the "
                "answers "
                "that the tree was made from.",
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
            else "No answers could be held out, so that nobody's accuracy is known."
        )
        return section("people", "People", paragraph(why))
    odd = [person for person in people if person["verdict"] in ODD]
    unsure = sum(person["verdict"] == "too few answers" for person in people)
    text_of = [told_people(people)]
    if unsure:
        gave = "person" if unsure == 1 else "people"
        text_of.append(f"{unsure:,} {gave} gave too few answers to tell.")
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
        *(paragraph(sentence) for sentence in text_of),
        table(
            columns,
            rows,
            kinds=kinds,
            caption="Accuracy is the share of a person's answers that trees satisfy which were not "
            "made from them; "
            "dashed is what answers at random would give. Each interval is for one person alone, "
            "not adjusted for "
            f"their number: about {max(1, round(len(people) / 20)):,} of {len(people):,} would "
            "miss what they are "
            f"about.{rest}",
        ),
        *([paragraph(UNLIKE, "quiet")] if odd else []),
    )


def unexplained_section(numbers: Numbers) -> Markup:
    """Return the section with the answers that contradict the tree most clearly, and with hard items."""
    found = numbers["unexplained"]
    count = in_numbers(found["n_unexplained"], "answer is", "answers are")
    parts = [
        paragraph(
            f"{count} not explained by the tree ({percent(found['share'])}): it disagrees with one of their "
            "comparisons, or agrees with none."
        )
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
                ("was said", "the tree", "said so", "as the tree"),
                rows,
                kinds="wwnn",
                caption="What was said against the tree most clearly, of the answers to the same question.",
            )
        )
    hard = [each for each in found["items"] if each["unexplained"] > 0][:10]
    if hard:
        items = [(each["item"], f"{each['n_answers']:,}", percent(each["unexplained"])) for each in hard]
        parts.append(Markup("<h3>Items that are hard to place</h3>"))
        parts.append(table(("item", "answers about it", "not explained"), items, kinds="wnn"))
    return section("unexplained", "Answers that the tree can’t explain", *parts)


def clusters_section(numbers: Numbers, tree: Dendrogram) -> Markup:
    """Return the section with the support of clusters, the largest clusters first."""
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
            paragraph(
                f"Of {in_numbers(found['n_known'], 'cluster', 'clusters')} between the items and the root, "
                f"these shares are in {trees}: {levels}."
            )
        )
    parts.append(note(numbers["notes"].get("support")))
    if (mixing := found["mixing"]) is not None and mixing["r_hat"] is not None:
        parts.append(
            paragraph(
                f"Of the log-likelihood of the chains, R-hat is {mixing['r_hat']:.2f} (chains that "
                "have mixed are below "
                f"1.1), and the effective size {mixing['effective_size']:.0f} trees.",
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
        parts.append(paragraph("There are no clusters between the items and the root."))
    return section("clusters", "How sure each cluster is", *parts)


def sensitivity_section(numbers: Numbers, tree: Dendrogram, others: Mapping[str, Dendrogram]) -> Markup:
    """Return the section with the distances of other methods' trees from the tree of the report."""
    rows = numbers["sensitivity"]
    if not rows:
        return section(
            "sensitivity", "Other methods", paragraph("No other method was tried on these answers.")
        )
    own = numbers["method"]["name"]
    parts = [
        paragraph(
            "What the tree owes to the method rather than to the answers: the less the trees of other "
            "methods "
            "differ, the less it matters which one is taken."
        ),
        table(
            ("method", "sets of three items that differ", "clusters that differ"),
            [(r["method"], percent(r["triplet_distance"]), percent(r["robinson_foulds"])) for r in rows],
            kinds="lnn",
            caption=f"Trees of all answers, beside that of {own}.",
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
                f"The tree of this report and that of {other}, turned so that few lines cross. Colours are "
                "the "
                "clusters of the first.",
            )
        )
    elif tree.n_leaves > 3:
        parts.append(paragraph("There are too many items to draw both trees face to face.", "quiet"))
    return section("sensitivity", "Other methods", *parts)
