"""Export answers and people of a study as rows of csv files."""

import csv
import io
import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np

from ordhc import Session
from ordhc.asking.people import Person
from ordhc.errors import InputError
from ordhc_collect.analysis.tree import people_of
from ordhc_collect.people.tables import Tables
from ordhc_collect.study.forms import STANDARD
from ordhc_collect.study.model import Study

FORMATS = ("salmon", "trials", "triplets")
Row = list[Any]


def as_csv(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of a csv file; cells that a spreadsheet would execute get an apostrophe in front."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([_harmless(cell) for cell in row])
        yield line.getvalue()


def _harmless(cell: Any) -> Any:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r", "\n"):
        return f"'{cell}"
    return cell


def rows_of(
    format: str, study: Study, session: Session, tables: Tables, people: dict[str, Person]
) -> Iterator[Row]:
    """Yield the header and the rows of a csv file in one of the `FORMATS`.

    Raises
    ------
    InputError
        The format has no columns for this kind of question.
    """
    if format == "salmon":
        return _salmon(study, tables, people)
    if format == "trials":
        return _trials(study, tables, people)
    return _comparisons(study, session)


def _time(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _salmon(study: Study, tables: Tables, people: dict[str, Person]) -> Iterator[Row]:
    """Yield rows in the format of the program Salmon: "is the head more like the left or the right item".

    An odd one out gives two rows: each of the two other items is the head of one row. The answers "I can't
    say" are left out, because Salmon has no such answers.
    """
    if study.question == "pairs":
        raise InputError(
            "Salmon's format cannot store questions about two pairs; export trials or triplets instead"
        )
    names, ids = study.names, tables.platform_ids()
    yield [
        *("head", "left", "right", "winner", "puid", "response_time", "time_received", "sampler"),
        *("answer", "weight", "excluded"),
    ]
    for number, (person, trial, (choice, at, page, _, _)) in enumerate(tables.trials()):
        if not choice:
            continue
        shown = trial.shown
        if len(shown) == 3 and study.question == "odd":
            odd = shown[choice - 1]
            first, second = (leaf for leaf in shown if leaf != odd)
            # Left and right are in the order on the page.
            comparisons = [
                (head, *(leaf for leaf in shown if leaf != head), winner)
                for head, winner in ((first, second), (second, first))
            ]
        else:
            comparisons = [(*shown, shown[choice])]
        # If the page measured no time, the cell stays empty, because the server's time includes the transfer
        # of the page.
        took = _seconds(page)
        known = people.get(person)
        about = [number, None if known is None else known.weight, _reasons(known)]
        for row in comparisons:
            yield [*(names[leaf] for leaf in row), ids.get(person, person), took, at, trial.sampler, *about]


def _reasons(person: Person | None) -> str:
    return "" if person is None else "; ".join(person.excluded)


def _trials(study: Study, tables: Tables, people: dict[str, Person]) -> Iterator[Row]:
    names, ids = study.names, tables.platform_ids()
    shown_at = {
        "odd": ("shown_1", "shown_2", "shown_3"),
        "triplet": ("head", "left", "right"),
        "pairs": ("shown_1", "shown_2", "shown_3", "shown_4"),
    }[study.question]
    yield [
        *(
            "person",
            "puid",
            "trial",
            "question",
            "sampler",
            *shown_at,
            "position",
            "answer",
            "answer_meaning",
        ),
        *(
            "asked",
            "answered",
            "page_seconds",
            "server_seconds",
            "taken_back",
            "status",
            "weight",
            "excluded",
            "hidden_seconds",
            "plays",
            "enlarged",
        ),
    ]
    measured = tables.measured()
    for person, trial, (choice, at, page, server, status) in tables.trials():
        shown = [names[leaf] for leaf in trial.shown]
        standing = people.get(person)
        more = measured.get((person, trial.number), {})
        is_late = bool(more.get("late")) and choice == 0
        yield [
            *(person, ids.get(person), trial.number, trial.question, trial.sampler, *shown, choice),
            *(("", "no answer in time") if is_late else _meaning(study.question, shown, choice)),
            *(_time(trial.asked), _time(at), _seconds(page), _seconds(server), trial.attempt, status),
            None if standing is None else standing.weight,
            _reasons(standing),
            *(_seconds(more.get("hidden")), " ".join(map(str, more.get("plays", ()))), more.get("enlarged")),
        ]


def _meaning(question: str, shown: list[str], choice: int | None) -> tuple[str, str]:
    if choice is None:
        return "", "not answered"
    if choice == 0:
        return "", "can't say"
    if question == "odd":
        return shown[choice - 1], "odd one out"
    if question == "triplet":
        return shown[choice], "more like head"
    return f"{shown[2 * choice - 2]} + {shown[2 * choice - 1]}", "more alike"


def _comparisons(study: Study, session: Session) -> Iterator[Row]:
    found = session.analysed().comparisons
    names = study.names
    rows = found.rows
    weights = found.weights if found.weights is not None else np.ones(len(rows))
    is_pairs = study.question == "pairs"
    head = [f"{name}_name" for name in (("i", "j", "k", "l") if is_pairs else ("anchor", "near", "far"))]
    answers = np.arange(len(rows)) if found.answers is None else found.answers
    sampler = "learner" if found.adaptive else ""
    yield [*head, "person_name", "answer", "weight", "sampler"]
    for row, answer, who, weight in zip(
        rows.tolist(), answers.tolist(), people_of(found), weights.tolist(), strict=True
    ):
        if study.question == "triplet":
            (anchor,) = set(row[:2]) & set(row[2:])
            row = [anchor, *(sum(pair) - anchor for pair in (row[:2], row[2:]))]
        yield [*(names[leaf] for leaf in row), who, answer, weight, sampler]


def people_rows(study: Study, tables: Tables, people: dict[str, Person]) -> Iterator[Row]:
    ids, details = tables.platform_ids(), tables.details()
    # Leave out the columns of URL parameters that did not occur in the link of any person.
    given = {key for of in details.values() for key in of}
    parameters = {*study.id_parameters, *study.parameters}
    own = [name for name in study.columns if name in given or name not in parameters]
    yield [*STANDARD, *own]
    for person, stage, language, tries, n_done, outcome, joined, seen in tables.all_people():
        standing = people.get(person)
        row: Row = [person, ids.get(person), stage, outcome, language, n_done]
        row += [_time(joined), _time(seen), tries]
        if standing is None:
            row += [None] * 11
        else:
            row += [_seconds(standing.seconds), round(standing.same_side, 4), round(standing.reliability, 4)]
            row += [round(standing.low, 4), round(standing.high, 4), standing.gold, standing.n_gold]
            row += [standing.repeats, standing.n_repeats, round(standing.weight, 4), _reasons(standing)]
        more: dict[str, str | None] = dict(details.get(person, {}))
        more["code"] = study.outcomes[outcome].code_for(person) if outcome else None
        yield row + [more.get(name) for name in own]
