"""The report as one page of HTML that needs no network."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ordhc.comparison.comparisons import Comparisons
from ordhc.reporting.figures import agreement_figure, tanglegram_figure, tree_figure
from ordhc.reporting.parts import (
    Markup,
    figure,
    interval,
    note,
    paragraph,
    section,
    table,
    text,
    tiles,
)
from ordhc.reporting.words import ODD, forms, in_numbers, methods, percent, references, summary
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["document"]

#: How many rows of long tables are shown; the rest is in the JSON.
MOST = 40
PEOPLE = 30
#: Answers against the tree; those that nobody repeated only fill up.
PUZZLES, FILLED = 15, 8
Numbers = Mapping[str, Any]


def document(
    numbers: Numbers, tree: Dendrogram, others: Mapping[str, Dendrogram], data: Comparisons, title: str
) -> str:
    """The page."""
    parts = [
        _head(numbers, title),
        _data(numbers, tree),
        _method(numbers),
        _tree(numbers, tree, data),
        _people(numbers),
        _unexplained(numbers),
        _clusters(numbers, tree),
        _sensitivity(numbers, tree, others),
        _methods(numbers),
    ]
    style = (files("ordhc.reporting") / "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="ordhc {text(numbers["versions"]["ordhc"])}">'
        f"<title>{text(title)}</title><style>\n{style}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _head(numbers: Numbers, title: str) -> Markup:
    data, accuracy, clusters = numbers["data"], numbers["accuracy"], numbers["clusters"]
    cells = [(f"{data['n_items']:,}", "items"), (f"{data['n_answers']:,}", "answers")]
    if data["n_people"] is not None:
        cells.append((f"{data['n_people']:,}", "people" if data["n_people"] != 1 else "person"))
    held = accuracy["held_out"]
    if held is not None:
        cells.append(
            (percent(held["estimate"]), f"of held-out answers told; chance {percent(held['chance'])}")
        )
    else:
        cells.append((percent(accuracy["on_all_answers"]), "of its own answers satisfied"))
    if clusters["n_known"]:
        sure = clusters["at_least"]["0.95"]
        cells.append((f"{sure:,} of {clusters['n_known']:,}", "clusters with support of 95% or more"))
    links = (
        ("data", "Data"),
        ("method", "Method"),
        ("tree", "Tree"),
        ("people", "People"),
        ("unexplained", "What it can't explain"),
        ("clusters", "Clusters"),
        ("sensitivity", "Other methods"),
        ("methods", "Methods and references"),
    )
    nav = "".join(f'<a href="#{key}">{text(name)}</a>' for key, name in links)
    made = f"A hierarchy from comparisons, by ordhc {numbers['versions']['ordhc']}"
    return Markup(
        f"<header><h1>{text(title, 300)}</h1>{paragraph(made)}<nav>{nav}</nav></header>"
        f"{paragraph(' '.join(summary(numbers)), 'lead')}{tiles(cells)}"
    )


def _range(given: Mapping[str, float] | None) -> str:
    if given is None:
        return "–"
    low, middle, high = (f"{given[key]:,.6g}" for key in ("min", "median", "max"))
    return low if low == high else f"{middle} ({low} to {high})"


def _data(numbers: Numbers, tree: Dendrogram) -> Markup:
    data = numbers["data"]
    agreement = data["agreement"]
    rows: list[tuple[str, str]] = [
        ("Answers", forms(data)),
        ("Comparisons that they make", f"{data['n_comparisons']:,}" + " (weighted)" * data["weighted"]),
        ("Items", f"{data['n_items']:,}"),
        ("Answers about an item, median and range", _range(data["answers_per_item"])),
        ("Different questions", f"{data['n_questions']:,}"),
        (
            "Questions asked more than once",
            f"{data['n_repeated_questions']:,}, with {data['n_answers_to_repeated']:,} answers",
        ),
    ]
    if data["n_people"] is not None:
        rows.insert(2, ("People", f"{data['n_people']:,}"))
        rows.insert(3, ("Answers of a person, median and range", _range(data["answers_per_person"])))
    for reason, count in data["left_out"].items():
        rows.append((f"Left out on reading: {reason}", f"{count:,}"))
    if data["n_without_weight"]:
        rows.append(("Comparisons of weight 0, left out", f"{data['n_without_weight']:,}"))
    said = []
    chance = "" if agreement["chance"] is None else f"; at random it would be {percent(agreement['chance'])}"
    if agreement["between"] is not None:
        whose = "other people's" if data["n_people"] is not None else "the other"
        count = in_numbers(agreement["n_between"], "answer", "answers")
        said.append(
            f"Of {whose} answers to the same question, {percent(agreement['between'])} say the same as an "
            "answer "
            f"does, on average over {count} to repeated questions{chance}."
        )
    if agreement["within"] is not None:
        count = in_numbers(agreement["n_within"], "answer", "answers")
        said.append(
            f"People who answer a question again say the same in {percent(agreement['within'])} of the cases "
            f"({count})."
        )
    if not data["n_repeated_questions"]:
        said.append(
            "No question was asked twice, so it is not known how far people agree, nor what the best tree "
            "could "
            "reach (no noise ceiling)."
        )
    if data["n_people"] is None:
        said.append("Who answered is not known: intervals take all answers for independent.")
    missing = data["items_without_answers"]
    if missing:
        names = ", ".join(tree.labels[leaf] for leaf in missing[:10]) + (", …" if len(missing) > 10 else "")
        said.append(
            f"{in_numbers(len(missing), 'item has', 'items have')} no answers and stand where they are by no "
            f"evidence, merged last: {names}."
        )
    return section(
        "data",
        "The data",
        table((), rows, kinds="lw"),
        *(paragraph(sentence) for sentence in said),
        note(numbers["notes"].get("unit")),
    )


def _span(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = max(0.08 * (high - low), 0.02)
    return max(low - room, 0.0), min(high + room, 1.0)


def _method(numbers: Numbers) -> Markup:
    method, accuracy = numbers["method"], numbers["accuracy"]
    selection, held, ceiling = method["selection"], accuracy["held_out"], accuracy["ceiling"]
    parts = []
    band = None if ceiling is None else (ceiling["lower"], ceiling["upper"])
    if held is not None:
        over = "people" if held["unit"] == "group" else "questions"
        between = (
            f", 95% interval {percent(held['low'])} to {percent(held['high'])} over {over}"
            if held["low"] is not None
            else f" (too few {over} for an interval)"
        )
        parts.append(
            paragraph(
                f"Trees made by {method['name']} without a fold of the answers satisfy "
                f"{percent(held['estimate'])} "
                f"of them{between}. With the items of the tree in any order it would be "
                f"{percent(held['chance'])}."
            )
        )
        if ceiling is not None:
            parts.append(
                paragraph(
                    f"Of {ceiling['n_answers']:,} answers to repeated questions, the other answers to the "
                    "same "
                    f"question predict {percent(ceiling['lower'])}, and the best tree for each question "
                    "would "
                    f"satisfy {percent(ceiling['upper'])}: between the two is the most that a tree can be "
                    "expected to reach (the noise ceiling)."
                )
            )
    parts.append(
        paragraph(
            f"The tree satisfies {percent(accuracy['on_all_answers'])} of the answers that it was made from."
        )
    )
    if selection is not None:
        rows: list[tuple[str, ...]] = []
        best = None
        values = [c["satisfied"] for c in selection["candidates"]] + [selection["candidates"][0]["chance"]]
        span = _span([*values, *(band or ())])
        for at, each in enumerate(selection["candidates"]):
            error = 1.96 * each["satisfied_error"]
            ends = (each["satisfied"] - error, each["satisfied"] + error)
            best = at if each["method"] == method["name"] else best
            mark = (
                "this report"
                if best == at
                else "clearly worse" * (each["method"] in selection["clearly_worse"])
            )
            rows.append(
                (
                    each["method"],
                    f"{each['revenue']:.4f} ± {each['revenue_error']:.4f}",
                    f"{each['satisfied']:.4f} ± {each['satisfied_error']:.4f}",
                    interval(each["satisfied"], *ends, chance=each["chance"], ceiling=band, span=span),
                    mark,
                )
            )
        rows.append(("chance", "0", f"{selection['candidates'][0]['chance']:.4f}", "", ""))
        together = "a person's answers" if selection["unit"] == "group" else "answers to the same question"
        decided = (
            f"The method {method['name']} was given."
            if method["was_given"]
            else f"The held-out {selection['by']} decides."
        )
        parts.append(
            table(
                ("method", "held-out revenue", "held-out satisfied", "", ""),
                rows,
                kinds="lnnll",
                best=best,
                caption=f"Means over {selection['folds']} folds, with standard errors; {together} are in one "
                "fold. "
                f"{decided} Pictured: satisfied with its 95% interval; chance is dashed"
                + (", the noise ceiling grey." if band else "."),
            )
        )
    for key in ("methods", "folds", "held_out"):
        parts.append(note(numbers["notes"].get(key)))
    return section("method", "The method, and how well it tells answers", *parts)


def _tree(numbers: Numbers, tree: Dendrogram, data: Comparisons) -> Markup:
    drawn, whole = tree_figure(tree, numbers["clusters"]["cut"]["n_clusters"])
    caption = (
        []
        if whole
        else [f"The {tree.n_leaves:,} items are drawn as the top of the tree; triangles hold the rest."]
    )
    if tree.support is not None:
        caption.append(
            "Numbers are support in percent: how many trees of resampled answers have the cluster."
        )
    k = numbers["clusters"]["cut"]["n_clusters"]
    caption.append(f"Colours are {in_numbers(k, 'cluster', 'clusters')}.")
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


def _people(numbers: Numbers) -> Markup:
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
    names = ", ".join(person["who"] for person in odd[:10]) + (", …" if len(odd) > 10 else "")
    text_of = [
        f"Of {in_numbers(len(people), 'person', 'people')} "
        + (
            f"{in_numbers(len(odd), 'looks', 'look')} as if answering at random, or the other way round: "
            f"{names}."
            if odd
            else "nobody looks as if answering at random."
        )
    ]
    if unsure:
        gave = "person" if unsure == 1 else "people"
        text_of.append(f"{unsure:,} {gave} gave too few answers to tell.")
    extra = any(person.get("reliability") is not None for person in people)
    columns = ["person", "answers", "accuracy", "95% interval", "", "agrees with others", "standing"]
    kinds = "lnnnlnl"
    if extra:
        columns.insert(6, "reliability")
        kinds = "lnnnlnnl"
    rows = []
    for person in people[:PEOPLE]:
        is_odd = person["verdict"] in ODD
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
            caption="Accuracy is the share of a person's answers that trees satisfy which were not made from "
            "them; "
            f"dashed is what answers at random would give.{rest}",
        ),
    )


def _unexplained(numbers: Numbers) -> Markup:
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


def _clusters(numbers: Numbers, tree: Dendrogram) -> Markup:
    found = numbers["clusters"]
    parts: list[str] = []
    if found["n_known"]:
        drawn = "people" if found["unit"] == "group" else "answers"
        levels = "; ".join(
            f"{count:,} in at least {float(least):.0%}" for least, count in found["at_least"].items()
        )
        parts.append(
            paragraph(
                f"Of {in_numbers(found['n_known'], 'cluster', 'clusters')} between the items and the root, "
                "so many "
                f"are in trees of {found['n_resamples']:,} resamples of {drawn}: {levels}."
            )
        )
    parts.append(note(numbers["notes"].get("support")))
    by_size = sorted(found["nodes"], key=lambda node: (-node["size"], node["label"]))
    if by_size:
        rows: list[tuple[str, ...]] = []
        for node in by_size[:MOST]:
            names = [tree.labels[leaf] for leaf in node["leaves"]]
            shown = ", ".join(names[:6]) + (f" and {len(names) - 6:,} more" if len(names) > 6 else "")
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


def _sensitivity(numbers: Numbers, tree: Dendrogram, others: Mapping[str, Dendrogram]) -> Markup:
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
    # The one that differs most of those that are not clearly worse says most.
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


def _methods(numbers: Numbers) -> Markup:
    said, keys = methods(numbers)
    listed = "".join(f"<li>{text(reference, 1000)}</li>" for reference in references(keys))
    exact = json.dumps(
        {
            "settings": numbers["settings"],
            "tree": numbers["method"]["settings"],
            "versions": numbers["versions"],
            "data_sha256": numbers["data"]["sha256"],
        },
        indent=2,
        ensure_ascii=False,
    )
    again = Markup("")
    if numbers["command"]:
        again = Markup(f"<h3>The same again</h3><pre>{text(numbers['command'], 4000)}</pre>")
    return section(
        "methods",
        "Methods",
        f"<blockquote>{paragraph(said)}</blockquote>",
        f'<h3>References</h3><ol class="refs">{listed}</ol>',
        again,
        f"<h3>Exact settings and versions</h3><pre>{text(exact, 20_000)}</pre>",
        paragraph("The JSON of the same name, beside this page, holds every number and the tree.", "quiet"),
    )
