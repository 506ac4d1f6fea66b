"""Write the sentences of a report: the summary, the description of the methods, and the references."""

from collections.abc import Mapping, Sequence
from typing import Any

from ordhc.evaluate.ceiling import FEWEST_REPEATED
from ordhc.reporting.counts import FORMS, in_numbers
from ordhc.reporting.model import posterior_model
from ordhc.reporting.study import collected

SCORES = {
    "revenue": "revenue",
    "satisfied": "share of comparisons satisfied",
    "answers": "share of whole answers predicted",
}

#: The minimum number of answers for a percentage. A percentage of fewer answers would mislead.
FEWEST_IN_PERCENT = 10

Numbers = Mapping[str, Any]

REFERENCES = {
    "ordhc": "The ordhc developers. ordhc: Hierarchical clustering from comparisons (Version VERSION) "
    "[Computer software]. https://github.com/ordhc/ordhc",
    "luce": "Luce, R. D. (1959). Individual choice behavior. Wiley.",
    "additive": "Sattath, S., & Tversky, A. (1977). Additive similarity trees. Psychometrika, 42(3), "
    "319–345.",
    "mixing": "Gelman, A., Carlin, J. B., Stern, H. S., Dunson, D. B., Vehtari, A., & Rubin, D. B. (2013). "
    "Bayesian data analysis (3rd ed.). CRC Press.",
    "revenue": "Mandal, A., Perrot, M., & Ghoshdastidar, D. (2023). A revenue function for comparison-based "
    "hierarchical clustering. Transactions on Machine Learning Research.",
    "foundations": "Ghoshdastidar, D., Perrot, M., & von Luxburg, U. (2019). Foundations of comparison-based "
    "hierarchical clustering. Advances in Neural Information Processing Systems, 32.",
    "upgma": "Sokal, R. R., & Michener, C. D. (1958). A statistical method for evaluating systematic "
    "relationships. University of Kansas Science Bulletin, 38, 1409–1438.",
    "dasgupta": "Dasgupta, S. (2016). A cost function for similarity-based hierarchical clustering. "
    "Proceedings of the 48th Annual ACM Symposium on Theory of Computing, 118–127.",
    "kernel": "Kleindessner, M., & von Luxburg, U. (2017). Kernel functions based on triplet comparisons. "
    "Advances in Neural Information Processing Systems, 30.",
    "tste": "van der Maaten, L., & Weinberger, K. (2012). Stochastic triplet embedding. IEEE International "
    "Workshop on Machine Learning for Signal Processing.",
    "build": "Aho, A. V., Sagiv, Y., Szymanski, T. G., & Ullman, J. D. (1981). Inferring a tree from lowest "
    "common ancestors with an application to the optimization of relational expressions. SIAM Journal on "
    "Computing, 10(3), 405–421.",
    "support": "Felsenstein, J. (1985). Confidence limits on phylogenies: An approach using the bootstrap. "
    "Evolution, 39(4), 783–791.",
    "wilson": "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. "
    "Journal of the American Statistical Association, 22(158), 209–212.",
    "cochran": "Cochran, W. G. (1977). Sampling techniques (3rd ed.). Wiley.",
    "people": "Dawid, A. P., & Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates "
    "using the EM algorithm. Journal of the Royal Statistical Society: Series C, 28(1), 20–28.",
    "triplets": "Dobson, A. J. (1975). Comparing the shapes of trees. In A. P. Street & W. D. Wallis (Eds.), "
    "Combinatorial Mathematics III (pp. 95–100). Springer.",
    "topics": "Grootendorst, M. (2022). BERTopic: Neural topic modeling with a class-based TF-IDF procedure. "
    "arXiv:2203.05794.",
}

CITED = {
    "revenue": "Mandal et al., 2023",
    "foundations": "Ghoshdastidar et al., 2019",
    "upgma": "Sokal & Michener, 1958",
    "dasgupta": "Dasgupta, 2016",
    "kernel": "Kleindessner & von Luxburg, 2017",
    "tste": "van der Maaten & Weinberger, 2012",
    "build": "Aho et al., 1981",
    "support": "Felsenstein, 1985",
    "wilson": "Wilson, 1927",
    "cochran": "Cochran, 1977",
    "people": "Dawid & Skene, 1979",
    "triplets": "Dobson, 1975",
    "topics": "Grootendorst, 2022",
}

#: Descriptions of similarities and linkages, each with the keys of its references.
_SIMILARITIES = {
    "adds3": (
        "each triplet (anchor, near, far) adds 1 to the similarity of anchor and near and subtracts 1 from "
        "that of anchor and far, AddS3",
        ("revenue",),
    ),
    "adds4": (
        "each comparison of two pairs adds 1 to the similarity of the closer pair and subtracts 1 from "
        "that of the other pair, AddS4",
        ("revenue",),
    ),
    "mulk3": (
        "items are similar if, as anchors, they order the other items alike, MulK3",
        ("kernel", "foundations"),
    ),
    "mulk4": (
        "items are similar if their pairs with a third item win the same comparisons, MulK4",
        ("foundations",),
    ),
    "4k": ("the kernel 4K of comparisons of pairs", ("foundations",)),
    "tste": ("cosines of a t-distributed stochastic triplet embedding", ("tste",)),
    "completion": (
        "the AddS3 similarities that a t-distributed stochastic triplet embedding predicts for all triplets",
        ("tste", "revenue"),
    ),
}
_LINKAGES = {
    "average": ("average linkage, UPGMA", ("upgma",)),
    "3-al": ("3-AL, average linkage of preferences", ("foundations",)),
    "4-al": ("4-AL, average linkage of preferences", ("foundations",)),
    "posterior-al": (
        "average linkage of trees that Markov chains drew by their posterior probability",
        (),
    ),
    "build": ("BUILD, the tree that satisfies all triplets", ("build",)),
}
_OBJECTIVES = {"dasgupta": ("Dasgupta's cost", "dasgupta"), "revenue": ("the revenue", "revenue")}


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as text in percent, or "–" if unknown (None or NaN)."""
    return "–" if share is None or share != share else f"{100 * share:.{digits}f}%"


def percent_range(share: float, low: float | None, high: float | None) -> str:
    return percent(share) if low is None else f"{percent(share)} ({percent(low)} to {percent(high)})"


def three_digits(value: float, low: float | None, high: float | None) -> str:
    return f"{value:z.3f}" if low is None else f"{value:z.3f} ({low:z.3f} to {high:z.3f})"


def forms(data: Numbers) -> str:
    return " and ".join(in_numbers(count, *FORMS[form]) for form, count in data["forms"].items())


def ceiling_of(accuracy: Numbers) -> Numbers | None:
    """Return the noise ceiling (the best possible score); None if too few questions were repeated."""
    ceiling: Numbers | None = accuracy["ceiling"]
    return None if ceiling is None or ceiling["n_answers"] < FEWEST_REPEATED else ceiling


def nested_sentences(selection: Numbers) -> str:
    nested = selection["nested"]
    if nested is None:
        return (
            "The method was chosen by the scores in this table, so its own score is somewhat too high."
            if len(selection["candidates"]) > 1
            else ""
        )
    share = percent_range(nested["value"], nested["low"], nested["high"])
    return (
        "The method was chosen by the scores in this table, so its own score is somewhat too high. Methods "
        f"that are chosen in the same way, but without the answers that they are scored on, satisfy {share}."
    )


def reach_sentences(numbers: Numbers) -> str | None:
    """Return sentences about the score of a perfect tree; None unless each answer is one comparison."""
    held, forms_given = numbers["accuracy"]["held_out"], set(numbers["data"]["forms"])
    if held is None or not forms_given <= {"triplet", "quadruplet"} or not 0 < held["decided"] < 1:
        return None
    decided = held["decided"]
    return (
        f"The trees decide {percent(decided)} of these comparisons. In the other comparisons both pairs are "
        "equally close in the tree, so no answer is satisfied. Therefore a perfect tree would satisfy about "
        f"{percent(decided)} of answers without any error. The trees satisfy "
        f"{percent(min(held['estimate'] / decided, 1.0))} of the comparisons that they decide, where chance "
        "is 50%."
    )


def share_predicted(numbers: Numbers) -> tuple[float, float] | None:
    """Return two shares of held-out answers: those that the report's method predicts correctly, and chance.

    Both are shares of whole answers, which can consist of several comparisons. The result is None if they are
    unknown.
    """
    found = _of_method(numbers)
    return None if found is None else (found["answers"], found["answers_chance"])


def _of_method(numbers: Numbers) -> Any:
    selection = numbers["method"]["selection"]
    if selection is None:
        return None
    mine = [each for each in selection["candidates"] if each["method"] == numbers["method"]["name"]]
    return mine[0] if mine and mine[0]["answers"] is not None else None


def answers_sentence(numbers: Numbers) -> str | None:
    """Return a sentence about the share of correctly predicted answers, chance, and the best possible share.

    The result is None if the share is unknown. An answer can consist of several comparisons.
    """
    found = _of_method(numbers)
    if found is None:
        return None
    best = numbers["method"]["selection"]["answer_ceiling"]
    share = percent_range(found["answers"], found["answers_low"], found["answers_high"])
    model = model_of("posterior" if found["method"] == "posterior-al" else "tree")
    text = f"{model[0].upper()}{model[1:]} predicts {share} of held-out whole answers"
    text += ": people made the choice that is the likeliest by its predictions"
    text += f". Chance is {percent(found['answers_chance'])}"
    if best is not None and best["n_answers"] >= FEWEST_IN_PERCENT:
        text += (
            ", and the best possible predictor of these people's answers reaches "
            f"{percent(best['accuracy_low'])} to {percent(best['accuracy_high'])} (by {best['n_answers']:,} "
            "answers to repeated questions)"
        )
    return f"{text}."


def is_chance(held: Numbers) -> bool:
    """Return True if the score on held-out answers is not clearly better than chance."""
    least = held["estimate"] if held["low"] is None else held["low"]
    return bool(least <= held["chance"])


NO_BETTER = "That is not clearly better than chance: the tree and the results below may be meaningless."


def random_sentence(apart: Numbers) -> str:
    """Return a sentence: which share of held-out answers to random questions is predicted correctly."""
    answers = in_numbers(apart["n_answers"], "answer", "answers")
    model = model_of(apart["by"])
    return (
        f"{model[0].upper()}{model[1:]} predicts {percent(apart['estimate'])} "
        f"(95% interval {percent(apart['low'])} to {percent(apart['high'])}) of {answers} to random "
        f"questions, which were held out for this; chance is {percent(apart['chance'])}."
    )


def model_of(by: str) -> str:
    return "the posterior, with lengths of leaves," if by == "posterior" else "the tree"


def _asked_for(numbers: Numbers) -> str:
    if not numbers["data"]["adaptive"]:
        return ""
    return " (to questions that a learner chose, which are harder than random ones)"


def summary(numbers: Numbers) -> list[str]:
    data, accuracy, clusters = numbers["data"], numbers["accuracy"], numbers["clusters"]
    who = "" if data["n_people"] is None else f" of {in_numbers(data['n_people'], 'person', 'people')}"
    items = in_numbers(data["n_items"], "item", "items")
    sentences = [f"{items} were compared in {in_numbers(data['n_answers'], 'answer', 'answers')}{who}."]
    held = accuracy["held_out"]
    apart = accuracy["held_out_questions"]
    if apart is not None:
        sentences.append(random_sentence(apart))
    if held is None and apart is None:
        sentences.append(
            f"The tree agrees with {percent(accuracy['on_all_answers'])} of the answers from which it was "
            "made. How well it predicts other answers is unknown."
        )
    elif held is not None:
        interval = "" if held["low"] is None else f" ({percent(held['low'])} to {percent(held['high'])})"
        text = f"Trees like this predict {percent(held['estimate'])}{interval} of the answers that they have "
        text += f"not seen{_asked_for(numbers)}; chance is {percent(held['chance'])}"
        if (ceiling := ceiling_of(accuracy)) is not None:
            low, high = percent(ceiling["lower"], 0), percent(ceiling["upper"], 0)
            reach = low if low == high else f"{low} to {high}"
            text += f". By the agreement of people on repeated questions, the most to be expected is {reach}"
        sentences.append(text + ".")
        if (of_answers := answers_sentence(numbers)) is not None:
            sentences.append(of_answers)
        if is_chance(held):
            sentences.append(NO_BETTER)
    if numbers["structure"] is not None:
        sentences.append(numbers["structure"]["verdict"]["headline"])
    if clusters["n_known"]:
        sure = clusters["at_least"]["0.95"]
        text = f"{sure:,} of {in_numbers(clusters['n_known'], 'cluster', 'clusters')}"
        verb = "is" if sure == 1 else "are"
        of = "drawn trees" if clusters["unit"] == "posterior" else "trees of resampled answers"
        sentences.append(f"{text} {verb} in at least 95% of the {of}.")
    if numbers["people"] is not None and len(numbers["people"]) > 1:
        sentences.append(people_sentence(numbers["people"]))
    if numbers["people_groups"] is not None:
        sentences.append(numbers["people_groups"]["verdict"]["headline"])
    return sentences


#: `MARKED`: the verdicts about people that tables mark. `ODD`: these, and the verdicts on unusual people.
MARKED = ("looks random", "below chance")
ODD = (*MARKED, "unlike others", "another view")
_SAID = (
    ("looks random", "looks as if answering at random", "look as if answering at random"),
    ("below chance", "seems to answer the opposite question", "seem to answer the opposite question"),
    ("another view", "follows another tree than the others", "follow another tree than the others"),
    (
        "unlike others",
        "is unlike the others, with too few answers to distinguish another view from chance",
        "are unlike the others, with too few answers to distinguish another view from chance",
    ),
)


def people_sentence(people: Sequence[Numbers]) -> str:
    """Return a sentence that counts the people whose answers look random or unlike those of the others."""
    found = []
    for verdict, one, several in _SAID:
        count = sum(person["verdict"] == verdict for person in people)
        if count:
            found.append(f"{in_numbers(count, 'person', 'people')} {one if count == 1 else several}")
    return f"{'; '.join(found)}." if found else "Nobody answers unlike the others."


def _cite(cited: list[str], *keys: str) -> str:
    """Return a citation in parentheses, and add the keys of its references to `cited`."""
    cited += keys
    return f" ({'; '.join(CITED[key] for key in keys)})" if keys else ""


def _recipe(settings: Numbers, cited: list[str]) -> str:
    def described(known: Mapping[str, tuple[str, tuple[str, ...]]], name: str, what: str) -> str:
        text, sources = known.get(name, (f"the {what} “{name}”", ()))
        return text + _cite(cited, *sources)

    parts = []
    if settings["similarity"] is not None:
        parts.append(f"Similarities: {described(_SIMILARITIES, settings['similarity'], 'similarity')}")
    if (settings["similarity_parameters"] or {}).get("lengths"):
        parts.append(
            "each answer counts 2 (1 - p), where p is its probability by lengths of the items alone, by a "
            "logistic regression of near against far items with a normal prior"
        )
    parts.append(f"clusters were merged by {described(_LINKAGES, settings['linkage'], 'linkage')}")
    if settings["refine"] is not None:
        objective, *sources = _OBJECTIVES.get(settings["refine"], ("the share of answers satisfied",))
        improved = f"{objective}{_cite(cited, *sources)}"
        parts.append(f"subtrees were then moved as long as this improved {improved}")
    text = "; ".join(parts) + "."
    return text[0].upper() + text[1:]


def _support(clusters: Numbers, cited: list[str]) -> str:
    share = f"Support is the share of {clusters['n_resamples']:,} trees that contain the cluster"
    if clusters["unit"] == "posterior":
        return f"{share}, drawn by their posterior probability."
    drawn = "people" if clusters["unit"] == "group" else "answers"
    return f"{share}, each made from as many {drawn} drawn with replacement{_cite(cited, 'support')}."


def _choice(method: Numbers, cited: list[str]) -> str:
    selection = method["selection"]
    if selection is None or method["was_given"]:
        return f"The tree was made by the method {method['name']}."
    preferred = selection["preferred"]
    names = ", ".join(candidate["method"] for candidate in selection["candidates"])
    together = "a person's answers" if selection["unit"] == "group" else "answers to the same question"
    source = _cite(cited, "revenue") if selection["by"] == "revenue" else ""
    return (
        f"Among the methods {names} we chose the one with the best held-out "
        f"{SCORES[selection['by']]}{source} "
        f"in {selection['folds']}-fold cross-validation, with {together} in one fold"
        + (", scored on held-out answers to random questions" if selection["on_random"] else "")
        + (f", preferring {preferred} unless it is clearly worse" if preferred else "")
        + f": {method['name']}."
    )


def _on_held_out(numbers: Numbers, cited: list[str]) -> list[str]:
    accuracy = numbers["accuracy"]
    said: list[str] = []
    held = accuracy["held_out"]
    if held is not None:
        over = "people" if held["unit"] == "group" else "questions"
        interval = ""
        if held["low"] is not None:
            interval = (
                f" (95% interval {percent(held['low'])} to {percent(held['high'])}: Wilson's interval, "
                f"{CITED['wilson']}, for the number of independent answers with the same standard error. "
                f"This error covers the variation over {over}, {CITED['cochran']}, and over the trees of "
                "other data, by a jackknife over pairs of folds)"
            )
            cited += ["wilson", "cochran"]
        of = _asked_for(numbers)
        said.append(
            f"Trees made without a fold satisfied {percent(held['estimate'])}{interval} of the answers in "
            f"this fold{of}, where chance is {percent(held['chance'])}."
        )
    if (apart := accuracy["held_out_questions"]) is not None:
        said.append(random_sentence(apart))
    if (ceiling := ceiling_of(accuracy)) is not None:
        said.append(
            f"There are {ceiling['n_answers']:,} answers to repeated questions. The other answers to the "
            f"same question predict {percent(ceiling['lower'])} of them, and the best tree for each question "
            f"satisfies {percent(ceiling['upper'])} (noise ceiling)."
        )
    return said


def _on_people(numbers: Numbers, cited: list[str]) -> list[str]:
    if numbers["people"] is None:
        return []
    held = numbers["accuracy"]["held_out"]
    cited.append("wilson")
    said = [
        "The accuracy of a person is the share of their answers satisfied by "
        + (
            "trees made without this person"
            if held and held["unit"] == "group"
            else "trees that were not made from them"
        )
        + ", with Wilson's 95% interval for each person alone. A person is unlike the others if the interval "
        "contains the accuracy of random answers but not that of the others, and the accuracy is nearer to "
        "that of random answers. Such a person has another view if the answers agree with each other, or "
        "with those of other such people, more than random answers to the same questions (5% level). "
        "Otherwise the person looks random, if there are enough answers to find another tree."
    ]
    if any(person.get("reliability") is not None for person in numbers["people"]):
        cited.append("people")
        said.append(
            "Reliability is estimated from repeated questions by Dawid and Skene's model (1979) with one "
            "parameter per person."
        )
    return said


def methods(numbers: Numbers) -> tuple[str, list[str]]:
    """Return a paragraph for the methods section of a paper, and the keys of its references."""
    data, method = numbers["data"], numbers["method"]
    cited = ["ordhc"]
    versions = numbers["versions"]
    who = "" if data["n_people"] is None else f" from {in_numbers(data['n_people'], 'person', 'people')}"
    said = [
        f"We analysed {forms(data)} ({in_numbers(data['n_comparisons'], 'comparison', 'comparisons')})"
        f"{who} about {in_numbers(data['n_items'], 'item', 'items')} with ordhc {versions['ordhc']} "
        f"(Python {versions['python']}, NumPy {versions['numpy']})."
    ]
    if numbers["session"] is not None:
        said += collected(numbers["session"])
    said += [_choice(method, cited), _recipe(method["settings"], cited)]
    model, sources = posterior_model(numbers)
    said += [*model, *_on_held_out(numbers, cited)]
    cited += sources
    if numbers["clusters"]["n_resamples"]:
        said.append(_support(numbers["clusters"], cited))
    said += _on_people(numbers, cited)
    if numbers["sensitivity"]:
        said.append(
            "Trees of different methods are compared by the share of sets of three items on which they differ"
            f"{_cite(cited, 'triplets')}."
        )
    if numbers.get("topics"):
        source = _cite(cited, "topics")
        said.append(f"Clusters are named by class-based tf-idf against their siblings{source}.")
    seed = numbers["settings"]["seed"]
    said.append(f"Folds and resamples are drawn with seed {seed}; the same seed gives the same numbers.")
    return " ".join(said), list(dict.fromkeys(cited))


def references(keys: list[str], version: str) -> list[str]:
    return sorted(REFERENCES[key].replace("VERSION", version) for key in keys)
