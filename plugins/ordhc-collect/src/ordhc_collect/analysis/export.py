"""Answers as files: in Salmon's columns, a row for each trial, as triplets or quadruplets, people."""

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
from ordhc_collect.people.state import Trial
from ordhc_collect.people.tables import Tables
from ordhc_collect.study.model import Study

__all__ = ["FORMATS", "as_csv", "people_rows", "rows_of"]

FORMATS = ("salmon", "trials", "triplets")
Row = list[Any]


def as_csv(rows: Iterable[Row]) -> Iterator[str]:
    """Rows as text; what a spreadsheet would take for a formula is put behind an apostrophe."""
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
    """A head and rows in a format.

    Raises
    ------
    InputError
        The format has no place for such answers.
    """
    if format == "salmon":
        return _salmon(study, tables, people)
    if format == "trials":
        return _trials(study, tables, people)
    return _comparisons(study, session)


def _told(tables: Tables) -> Iterator[tuple[str, Trial, tuple[Any, ...]]]:
    """Trials with what is known of each: choice, when, seconds of the page and of the server, status."""
    for person, number, question, sampler, leaves, sides, asked, attempt, *rest in tables.trials():
        trial = Trial(
            number,
            question,
            sampler,
            tuple(map(int, leaves.split())),
            tuple(map(int, sides.split())),
            asked,
            attempt,
        )
        yield person, trial, tuple(rest)


def _time(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _salmon(study: Study, tables: Tables, people: dict[str, Person]) -> Iterator[Row]:
    """Salmon's columns: is head more like left or right? An odd one out is two such answers.

    Answers that say nothing ("I can't say") are left out, as Salmon has none. Further columns say which rows
    are one answer, what it weighs, and whether its person is left out.
    """
    if study.question == "pairs":
        raise InputError('Salmon\'s columns have no place for pairs: take "trials" or "triplets"')
    names, ids = study.names, tables.platform_ids()
    yield [
        *("head", "left", "right", "winner", "puid", "response_time", "time_received", "sampler"),
        *("answer", "weight", "excluded"),
    ]
    for number, (person, trial, (choice, at, page, _, _)) in enumerate(_told(tables)):
        if not choice:
            continue
        shown = trial.shown
        if len(shown) == 3 and study.question == "odd":
            odd = shown[choice - 1]
            first, second = (leaf for leaf in shown if leaf != odd)
            # Sides stand as they stood on the page.
            told = [
                (head, *(leaf for leaf in shown if leaf != head), winner)
                for head, winner in ((first, second), (second, first))
            ]
        else:
            told = [(*shown, shown[choice])]
        # The clock of the server also counts what the page took to arrive, so it fills no gap.
        took = _seconds(page)
        known = people.get(person)
        about = [number, None if known is None else known.weight, _reasons(known)]
        for row in told:
            yield [*(names[leaf] for leaf in row), ids.get(person, person), took, at, trial.sampler, *about]


def _reasons(person: Person | None) -> str:
    """Why somebody is left out; blank for those who count."""
    return "" if person is None else "; ".join(person.excluded)


def _trials(study: Study, tables: Tables, people: dict[str, Person]) -> Iterator[Row]:
    """Everything about every question that anybody was asked."""
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
        ),
    ]
    for person, trial, (choice, at, page, server, status) in _told(tables):
        shown = [names[leaf] for leaf in trial.shown]
        standing = people.get(person)
        yield [
            *(person, ids.get(person), trial.number, trial.question, trial.sampler, *shown, choice),
            *_meaning(study.question, shown, choice),
            *(_time(trial.asked), _time(at), _seconds(page), _seconds(server), trial.attempt, status),
            None if standing is None else standing.weight,
            _reasons(standing),
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
    """Comparisons of all who count, as `ordhc cluster` takes them from the session."""
    found = session.analysed().comparisons
    names = study.names
    rows = found.rows
    weights = found.weights if found.weights is not None else np.ones(len(rows))
    head = (
        ["anchor_name", "near_name", "far_name"]
        if rows.shape[1] == 3
        else ["i_name", "j_name", "k_name", "l_name"]
    )
    if study.question == "triplet":
        head = ["anchor_name", "near_name", "far_name"]
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


def people_rows(tables: Tables, people: dict[str, Person]) -> Iterator[Row]:
    """What is known of everybody."""
    ids = tables.platform_ids()
    yield [
        *("person", "puid", "stage", "outcome", "language", "answers", "joined", "seen", "failed_checks"),
        *("median_seconds", "same_place", "reliability", "low", "high", "gold", "n_gold", "agreement"),
        *("n_agreement", "weight", "excluded"),
    ]
    for person, stage, language, tries, n_done, outcome, joined, seen in tables.all_people():
        standing = people.get(person)
        row: Row = [
            person,
            ids.get(person),
            stage,
            outcome,
            language,
            n_done,
            _time(joined),
            _time(seen),
            tries,
        ]
        if standing is not None:
            row += [
                *(_seconds(standing.seconds), round(standing.same_side, 4), round(standing.reliability, 4)),
                *(round(standing.low, 4), round(standing.high, 4), standing.gold, standing.n_gold),
                *(
                    standing.repeats,
                    standing.n_repeats,
                    round(standing.weight, 4),
                    "; ".join(standing.excluded),
                ),
            ]
        else:
            row += [None] * 11
        yield row
