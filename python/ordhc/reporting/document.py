"""Write a report as one page of HTML that needs no network."""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ordhc.comparison.comparisons import Comparisons
from ordhc.reporting.counts import in_numbers
from ordhc.reporting.groups import groups_section, has_groups
from ordhc.reporting.items import items_section
from ordhc.reporting.parts import (
    Markup,
    interval,
    note,
    paragraph,
    roomy_span,
    section,
    table,
    text,
    tiles,
)
from ordhc.reporting.sections import (
    clusters_section,
    people_section,
    sensitivity_section,
    tree_section,
    unexplained_section,
)
from ordhc.reporting.structures import has_structure, structure_section
from ordhc.reporting.study import study_rows
from ordhc.reporting.words import (
    FEWEST_IN_PERCENT,
    NO_BETTER,
    SCORES,
    answers_sentence,
    ceiling_of,
    forms,
    is_chance,
    methods,
    nested_sentences,
    percent,
    percent_range,
    random_sentence,
    reach_sentences,
    references,
    share_predicted,
    summary,
    three_digits,
)
from ordhc.tree.dendrogram import Dendrogram

Numbers = Mapping[str, Any]


def document(
    numbers: Numbers, tree: Dendrogram, others: Mapping[str, Dendrogram], data: Comparisons, title: str
) -> str:
    parts = [
        _head(numbers, title),
        _data(numbers, tree),
        _method(numbers),
        tree_section(numbers, tree, data),
        structure_section(numbers, tree),
        items_section(numbers, tree),
        people_section(numbers),
        groups_section(numbers),
        unexplained_section(numbers),
        clusters_section(numbers, tree),
        sensitivity_section(numbers, tree, others),
        _methods(numbers),
    ]
    style = (files("ordhc.reporting") / "report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src '
        "'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="generator" content="ordhc {text(numbers["versions"]["ordhc"])}">'
        f"<title>{text(title)}</title><style>\n{style}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _head(numbers: Numbers, title: str) -> Markup:
    data, accuracy, clusters = numbers["data"], numbers["accuracy"], numbers["clusters"]
    cells = [(f"{data['n_items']:,}", "items"), (f"{data['n_answers']:,}", "answers")]
    if data["n_people"] is not None:
        cells.append((f"{data['n_people']:,}", "people" if data["n_people"] != 1 else "person"))
    held = accuracy["held_out_questions"] or accuracy["held_out"]
    predicted = share_predicted(numbers)
    if predicted is None and held is not None:
        predicted = held["estimate"], held["chance"]
    if predicted is not None:
        share, chance = map(percent, predicted)
        cells.append((share, f"of held-out answers predicted; chance {chance}"))
    else:
        cells.append((percent(accuracy["on_all_answers"]), "of its own answers satisfied"))
    if clusters["n_known"]:
        sure = clusters["at_least"]["0.95"]
        cells.append((f"{sure:,} of {clusters['n_known']:,}", "clusters with support of 95% or more"))
    links = (
        ("data", "Data"),
        ("method", "Method"),
        ("tree", "Tree"),
        *([("structure", "Is it a tree?")] if has_structure(numbers) else []),
        *([("items", "Typical items")] if numbers["lengths"] else []),
        ("people", "People"),
        *([("people-groups", "Do people agree?")] if has_groups(numbers) else []),
        ("unexplained", "Unexplained answers"),
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
        ("Comparisons in these answers", f"{data['n_comparisons']:,}" + " (weighted)" * data["weighted"]),
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
    rows += study_rows(numbers["session"])
    for reason, count in data["left_out"].items():
        rows.append((f"Left out: {reason}", f"{count:,}"))
    if data["n_without_weight"]:
        rows.append(("Comparisons of weight 0, left out", f"{data['n_without_weight']:,}"))
    said = []
    chance = (
        "" if agreement["chance"] is None else f"; random answers would give {percent(agreement['chance'])}"
    )
    if agreement["between"] is not None:
        whose = "other people's" if data["n_people"] is not None else "the other"
        count = agreement["n_between"]
        said.append(
            f"On average, an answer to a repeated question agrees with {percent(agreement['between'])} of "
            f"{whose} answers to this question ({in_numbers(count, 'answer', 'answers')}){chance}."
            if count >= FEWEST_IN_PERCENT
            else f"Only {in_numbers(count, 'answer is', 'answers are')} to questions that others answered, "
            "too: too few to estimate how much people agree."
        )
    if agreement["within"] is not None:
        count = agreement["n_within"]
        said.append(
            f"People who answer a question again give the same answer in {percent(agreement['within'])} of "
            f"cases ({in_numbers(count, 'answer', 'answers')})."
            if count >= FEWEST_IN_PERCENT
            else f"Only {in_numbers(count, 'answer is', 'answers are')} to questions that the same person "
            "answered again: too few to estimate how much people agree with themselves."
        )
    if not data["n_repeated_questions"]:
        said.append(
            "No question was asked twice, so it is unknown how much people agree, and what share of answers "
            "the best tree could satisfy (no noise ceiling)."
        )
    if data["n_people"] is None:
        said.append("Who answered is not known, so intervals assume that all answers are independent.")
    missing = data["items_without_answers"]
    if missing:
        names = ", ".join(tree.labels[leaf] for leaf in missing[:10]) + (", …" if len(missing) > 10 else "")
        said.append(
            f"{in_numbers(len(missing), 'item has', 'items have')} no answers. Their position in the tree, "
            f"merged last, is arbitrary: {names}."
        )
    return section(
        "data",
        "The data",
        table((), rows, kinds="lw"),
        *said,
        note(numbers["notes"].get("unit")),
    )


def _method(numbers: Numbers) -> Markup:
    method, accuracy = numbers["method"], numbers["accuracy"]
    selection, held, ceiling = method["selection"], accuracy["held_out"], ceiling_of(accuracy)
    parts: list[str] = []
    if (apart := accuracy["held_out_questions"]) is not None:
        parts.append(f"{random_sentence(apart)} This is the accuracy to report.")
    if numbers["data"]["adaptive"]:
        parts.append(
            "A learner chose the questions by earlier answers, and mostly chose hard questions. Scores on "
            "them are lower than on random questions."
        )
    if (of_answers := answers_sentence(numbers)) is not None:
        parts.append(of_answers)
    if held is not None:
        over = "people" if held["unit"] == "group" else "questions"
        between = f" (too few {over} or folds for an interval)"
        if held["low"] is not None:
            ends = f"{percent(held['low'])} to {percent(held['high'])}"
            between = f", 95% interval {ends} over {over} and the trees of other data"
        parts.append(
            f"Trees made by {method['name']} without a fold of the answers satisfy "
            f"{percent(held['estimate'])} of the answers in this fold{between}. Trees with shuffled items "
            f"would satisfy {percent(held['chance'])}."
        )
        if is_chance(held):
            parts.append(note(NO_BETTER))
        if (reach := reach_sentences(numbers)) is not None:
            parts.append(reach)
        if ceiling is None and accuracy["ceiling"] is not None:
            few = in_numbers(accuracy["ceiling"]["n_answers"], "answer is", "answers are")
            parts.append(paragraph(f"{few} to repeated questions: too few for a noise ceiling.", "quiet"))
        if ceiling is not None:
            parts.append(
                f"There are {ceiling['n_answers']:,} answers to repeated questions. The other answers to the "
                f"same question predict {percent(ceiling['lower'])} of them, and the best tree for each "
                f"question would satisfy {percent(ceiling['upper'])}. The best score that a tree can be "
                "expected to reach is between these two values (the noise ceiling)."
            )
    parts.append(
        f"The tree satisfies {percent(accuracy['on_all_answers'])} of the answers from which it was made, "
        "which says little about other answers."
    )
    if "most central" in numbers["data"]["forms"]:
        parts.append(
            "A tree can satisfy only one of the two comparisons of a most central item: there 50% is the "
            "maximum."
        )
    if selection is not None:
        parts += _compared(method, selection)
    for key in ("methods", "left_out", "biased", "folds", "held_out"):
        parts.append(note(numbers["notes"].get(key)))
    return section("method", "The method, and how well it predicts answers", *parts)


def _compared(method: Numbers, selection: Numbers) -> list[str]:
    by, candidates = selection["by"], selection["candidates"]
    chance, band = candidates[0]["answers_chance"], None
    best_known = selection["answer_ceiling"]
    if best_known is not None and best_known["n_answers"] >= FEWEST_IN_PERCENT:
        band = (best_known["accuracy_low"], best_known["accuracy_high"])
    known = [c[f"answers{end}"] for c in candidates for end in ("", "_low", "_high")]
    span = roomy_span([each for each in (*known, chance, *(band or ())) if each is not None])
    rows: list[tuple[str, ...]] = []
    best = None
    for at, each in enumerate(candidates):
        best = at if each["method"] == method["name"] else best
        ends = (each["answers_low"], each["answers_high"])
        behind = three_digits(each["behind"], each["behind_low"], each["behind_high"])
        mark = " *" * (each["method"] in selection["clearly_worse"])
        rows.append(
            (
                each["method"],
                percent_range(each["answers"], *ends),
                interval(each["answers"], *ends, chance=chance, ceiling=band, span=span),
                percent(each["satisfied"]),
                f"{each['revenue']:.3f}",
                behind + mark if at else "",
            )
        )
    rows.append(("chance", percent(chance), "", percent(candidates[0]["chance"]), "0", ""))
    over = "people" if selection["unit"] == "group" else "questions"
    together = "a person's answers" if selection["unit"] == "group" else "answers to the same question"
    decided = (
        f"The user chose the method {method['name']}."
        if method["was_given"]
        else f"The held-out {SCORES[by]} decides."
    )
    caption = (
        f"Each answer is scored once, by a tree made without its fold ({selection['folds']} folds; "
        f"{together} are in one). {decided} In parentheses: 95% intervals over {over} and the trees that "
        "other data would have given, for each method alone. The JSON has the intervals of all scores. "
        f"“Behind” is the difference from the first method in {by}, paired by {over}; * marks methods that "
        "are clearly worse (the interval is above 0). Bold is the method of this report. “Answers "
        "predicted” is the share of whole answers whose choice is the likeliest by the method, ties shared; "
        "“satisfied” is the share of comparisons with which the tree agrees. Pictured: answers predicted; "
        "chance is dashed"
    ) + (", and the range of the best predictor is grey." if band else ".")
    columns = ("method", "answers predicted", "", "satisfied", "revenue", f"{by} behind")
    return [
        *([] if method["was_given"] else [nested_sentences(selection)]),
        table(columns, rows, kinds="lnlnnn", best=best, caption=caption),
    ]


def _methods(numbers: Numbers) -> Markup:
    said, keys = methods(numbers)
    listed = "".join(
        f"<li>{text(reference, 1000)}</li>" for reference in references(keys, numbers["versions"]["ordhc"])
    )
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
        again = Markup(f"<h3>How to make this report again</h3><pre>{text(numbers['command'], 4000)}</pre>")
    return section(
        "methods",
        "Methods",
        Markup(f"<blockquote>{paragraph(said)}</blockquote>"),
        Markup(f'<h3>References</h3><ol class="refs">{listed}</ol>'),
        again,
        Markup(f"<h3>Exact settings and versions</h3><pre>{text(exact, 20_000)}</pre>"),
        paragraph(
            "The JSON file of the same name, beside this page, contains all numbers and the tree.", "quiet"
        ),
        paragraph(
            'The page "What the numbers assume" of the documentation says what each number assumes, and how '
            "often its interval contains the true value.",
            "quiet",
        ),
    )
