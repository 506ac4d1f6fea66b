"""Read how a study chooses its questions.

A study divides its questions among samplers. A sampler is a way to choose questions, such as "learner",
"random" or "list". Gold questions have known answers.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import ordhc
from ordhc_collect.study.items import Item, rows_of_table
from ordhc_collect.study.model import Gold
from ordhc_collect.study.sections import Problems, Section, suggestion

SAMPLERS = ("learner", "random", "heldout", "repeat", "list")
COLUMNS = {
    "odd": ("a", "b", "c"),
    "triplet": ("head", "left", "right"),
    "pairs": ("a", "b", "c", "d"),
}
_DEFAULT = {"learner": 0.7, "heldout": 0.1, "repeat": 0.1, "random": 0.1}
#: The learner if [sampler] does not list "learner", because every session needs a learner. The keys are the
#: numbers of items in a question.
_IDLE = {3: {"method": "insertion"}, 4: {"method": "single"}}
#: The default number of gold questions (with known answers) for each person.
_CHECKS = 3


def asked_by(
    top: Section, question: str, items: tuple[Item, ...], has_list: bool, problems: Problems
) -> tuple[dict[str, float], dict[str, Any]]:
    """Return the share of questions that each sampler chooses, and the settings of the learner."""
    given = top.any("sampler")
    settings = top.section("learner")
    learner = {key: settings.any(key) for key in _keys(top.any("learner"))}
    settings.close()
    shares = _shares(given, has_list, problems)
    if "uncertain" in shares:
        if learner.get("method", "uncertain") != "uncertain" or "learner" in shares:
            problems.error(
                "[sampler]", 'has "uncertain", which is a learner: remove "learner" and [learner] method'
            )
        learner["method"] = "uncertain"
        shares["learner"] = shares.pop("uncertain")
    if "learner" not in shares:
        if learner:
            problems.error(
                "[learner]", "is not used, because [sampler] has no line such as learner = 0.7; add it"
            )
        return shares, dict(_IDLE[3 if question == "odd" else 4])
    if not learner:
        learner = _default_learner(question)
    if question == "triplet" and learner.get("method") == "uncertain":
        learner["question"] = question
    _check_learner(learner, question, items, problems)
    return shares, learner


def _keys(values: Any) -> list[str]:
    return list(values) if isinstance(values, dict) else []


def _shares(given: Any, has_list: bool, problems: Problems) -> dict[str, float]:
    names = (*SAMPLERS, "uncertain")
    if given is None:
        if has_list:
            return {"list": 1.0}
        shares = dict(_DEFAULT)
    elif isinstance(given, str):
        shares = {given: 1.0}
    elif isinstance(given, dict) and given:
        shares = dict(given)
    else:
        problems.error("sampler", 'should be a name (sampler = "random") or a table of shares: [sampler]')
        return {"random": 1.0}
    for name, share in list(shares.items()):
        if name == "gold":
            message = "is not a sampler: [gold] per_person is the number of gold questions for each person"
            problems.error("[sampler] gold", message)
            del shares[name]
        elif name not in names:
            problems.error("[sampler]", f"there is no sampler {name!r}; {suggestion(name, names)}")
            del shares[name]
        elif isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1e6:
            problems.error(f"[sampler] {name} = {share!r}", "should be a share: a number of 0 or more")
            del shares[name]
    total = sum(shares.values())
    if total <= 0:
        problems.error("[sampler]", "at least one share must be above 0")
        return {"random": 1.0}
    shares = {name: share / total for name, share in shares.items() if share > 0}
    if "list" in shares and not has_list:
        problems.error("[sampler]", 'has "list", but there are no questions: [list] table = "questions.csv"')
    if has_list and "list" not in shares:
        problems.warn("[list]", "is not used, because [sampler] has no line such as list = 0.5; add it")
    if set(shares) == {"repeat"}:
        problems.error("[sampler]", '"repeat" alone has nothing to repeat; add another sampler')
    return shares


def _default_learner(question: str) -> dict[str, Any]:
    """Return the settings of the default learner, which tolerates wrong answers about similar items."""
    if question == "pairs":
        return {"method": "4k-active"}
    return {"method": "uncertain"}


def _check_learner(
    learner: dict[str, Any], question: str, items: tuple[Item, ...], problems: Problems
) -> None:
    try:
        found = ordhc.Learner(max(len(items), 3), **ordhc.learners.arguments(learner))
    except ValueError as error:
        problems.error("[learner]", str(error))
        return
    method = found.method
    is_triplet = isinstance(method, ordhc.learners.Uncertain) and method.question == "triplet"
    if found.width != (3 if question == "odd" else 4) or is_triplet != (question == "triplet"):
        asks = (
            "for the odd one out" if found.width == 3 else "about triplets" if is_triplet else "about pairs"
        )
        problems.error("[learner]", f'method = "{method.name}" asks {asks}, but question = "{question}"')
    elif method.name in ("insertion", "quick"):
        problems.warn(
            "[learner]",
            'assumes that every answer is right; for people use method = "robust" with p = 0.8, the '
            "probability that an answer is right",
        )


def listed_of(
    section: Section, root: Path, question: str, items: tuple[Item, ...], problems: Problems
) -> tuple[tuple[int, ...], ...]:
    """Return the questions in the csv file that the section [list] of the study file names, as leaf ids.

    The result is empty if the section names no file.
    """
    path = section.path("table", root)
    section.close()
    if path is None:
        return ()
    place = f"[list] table = {path.name!r}"
    columns = COLUMNS[question]
    rows = rows_of_table(path, place, problems, columns, columns)
    found = [_leaves(row, question, f"{place}, line {line}", items, problems) for line, row in rows]
    return tuple(leaves for leaves in found if leaves is not None)


def gold_of(
    section: Section, root: Path, question: str, items: tuple[Item, ...], per_person: int, problems: Problems
) -> Gold:
    """Return the questions and their known answers from the csv file that the section [gold] names."""
    path = section.path("table", root)
    each = section.whole("per_person", None, 1, per_person)
    section.close()
    if path is None:
        if "table" not in section and each is not None:
            section.missing("table", 'the questions and their answers, table = "gold.csv"')
        return Gold()
    gold = _known(path, f"[gold] table = {path.name!r}", question, items, problems)
    if each is not None and each > len(gold.rows):
        problems.warn(f"[gold] per_person = {each}", f"{path.name} has only {len(gold.rows)}")
    return replace(gold, per_person=min(each or _CHECKS, len(gold.rows), per_person))


def practice_of(
    section: Section, root: Path, question: str, items: tuple[Item, ...], problems: Problems
) -> tuple[Gold, bool]:
    """Return the practice questions, and True if the page shows the right answers."""
    path = section.path("table", root)
    has_feedback = section.flag("feedback", True)
    section.close()
    if path is None:
        if "table" not in section and "feedback" in section:
            section.missing("table", 'the questions and their answers, table = "practice.csv"')
        return Gold(), has_feedback
    return _known(path, f"[practice] table = {path.name!r}", question, items, problems), has_feedback


def _known(path: Path, place: str, question: str, items: tuple[Item, ...], problems: Problems) -> Gold:
    gold = Gold()
    columns = COLUMNS[question]
    for line, row in rows_of_table(path, place, problems, (*columns, "answer"), (*columns, "answer")):
        here = f"{place}, line {line}"
        leaves = _leaves(row, question, here, items, problems)
        if leaves is None:
            continue
        answer = row["answer"]
        if question == "pairs":
            choices = {"1": 1, "2": -1}
        elif question == "triplet":
            choices = {row["left"]: 1, row["right"]: -1}
        else:
            choices = {row[column]: position for position, column in enumerate(columns)}
        if answer not in choices:
            what = "1 or 2, the number of the pair" if question == "pairs" else f"one of {', '.join(choices)}"
            problems.error(here, f"the answer is {answer!r}, and should be {what}")
            continue
        gold.rows.append(leaves)
        gold.answers.append(choices[answer])
    return gold


def _leaves(
    row: dict[str, str], question: str, place: str, items: tuple[Item, ...], problems: Problems
) -> tuple[int, ...] | None:
    """Return the leaves of a row, coded as in `ordhc.Session`; None if the row is invalid."""
    known = {item.name: leaf for leaf, item in enumerate(items)}
    names = [row.get(column, "") for column in COLUMNS[question]]
    for name in names:
        if name not in known:
            if known:
                problems.error(place, f"there is no item {name!r}; {suggestion(name, list(known)[:50])}")
            return None
    leaves = tuple(known[name] for name in names)
    if question == "triplet":
        head, left, right = leaves
        leaves = (head, left, head, right)
    is_wrong = (
        len(set(leaves)) < 3
        if question != "pairs"
        else (leaves[0] == leaves[1] or leaves[2] == leaves[3] or set(leaves[:2]) == set(leaves[2:]))
    )
    if is_wrong:
        problems.error(place, f"{', '.join(names)}: the items of a question must be different")
        return None
    return leaves
