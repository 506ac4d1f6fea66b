"""Write a study as a folder in the format of the standard Psych-DS, to share its data."""

import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import ordhc
from ordhc import Session
from ordhc.asking.people import Person
from ordhc.errors import InputError
from ordhc_collect.analysis.export import Row, as_csv, people_rows, rows_of
from ordhc_collect.people.tables import Tables
from ordhc_collect.study.model import Study

_SHOWN = "Item that was shown at this position, counted from the left or the top"
#: The meaning of each column of trials.csv and people.csv, with the unit if there is one.
COLUMNS: dict[str, tuple[str, str]] = {
    "person": ("Random id of the person in this study", ""),
    "trial": ("Number of the question for this person, from 1", ""),
    "question": ("Number of the question in the session", ""),
    "sampler": ("Sampler that chose the question: learner, random, heldout, repeat, list or gold", ""),
    **{f"shown_{place}": (_SHOWN, "") for place in range(1, 5)},
    "head": ("Item to which the other two are compared", ""),
    "left": ("First of the two items that are compared with head", ""),
    "right": ("Second of the two items that are compared with head", ""),
    "position": ("Number of the choice, from 1, in the order shown; 0 if the person could not say", ""),
    "answer": ("Item or pair that was chosen", ""),
    "answer_meaning": ("What the choice means", ""),
    "asked": ("Time when the question was asked, in UTC", ""),
    "answered": ("Time when the answer arrived, in UTC", ""),
    "page_seconds": ("Response time that the page measured, from the moment when all media were loaded", "s"),
    "server_seconds": ("Time from sending the question to receiving the answer", "s"),
    "taken_back": ("Number of times that the person took an answer to this question back", ""),
    "status": ("taken: the answer counts; held: the answer can still be taken back", ""),
    "hidden_seconds": ("Time during which the page was not visible", "s"),
    "plays": ("Number of times that each sound or clip was played to its end", ""),
    "enlarged": ("Number of times that a picture was enlarged", ""),
    "weight": ("Weight of the person's answers, the logarithm of the odds against chance", ""),
    "excluded": ("Rules that exclude the person from the analysis; blank if no rule does", ""),
    "stage": ("Page on which the person is", ""),
    "outcome": ("How the person's participation ended; blank if it has not ended", ""),
    "language": ("Language of the pages", ""),
    "answers": ("Number of answers", ""),
    "joined": ("Time of consent, in UTC", ""),
    "seen": ("Time of the last visit, in UTC", ""),
    "failed_checks": ("Number of failed attempts at the comprehension questions", ""),
    "median_seconds": ("Median response time", "s"),
    "same_place": ("Largest share of answers at one position on the page", ""),
    "reliability": ("Estimated probability that an answer is right", ""),
    "low": ("Lower end of the 90% interval of reliability", ""),
    "high": ("Upper end of the 90% interval of reliability", ""),
    "gold": ("Share of right answers to questions with known answers", ""),
    "n_gold": ("Number of answers to questions with known answers", ""),
    "agreement": ("Share of answers to repeated questions that agree with other people", ""),
    "n_agreement": ("Number of answers to repeated questions", ""),
    "code": ("Completion code", ""),
}
#: Columns that are never shared: ids on a platform, and values that can identify a person.
_SECRET = ("puid", "code", "user_agent")


def check_folder(folder: Path, why: str) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"is not empty{why}", path=str(folder))


def write_psych_ds(
    folder: Path, study: Study, session: Session, tables: Tables, people: dict[str, Person]
) -> int:
    """Write the data of a study, without ids of recruiting platforms; return the number of trials.

    The folder has `dataset_description.json` with the meaning of each column, `data/` with the trials and the
    people, `materials/study.toml`, and a README. If an error occurs, no folder is written.
    """
    check_folder(folder, "; Psych-DS is written into a new folder")
    new = folder.with_name(f"{folder.name}.new-{os.getpid()}")
    name = re.sub("[^a-z0-9]+", "", study.title.lower()) or "study"
    # People may write their names or addresses into free text.
    free = {each.name for each in study.fields if each.kind in ("text", "comment")}
    known = {
        "trials": COLUMNS,
        "people": COLUMNS | {key: (meaning, "") for key, meaning in study.columns.items()},
    }
    secret = {
        "trials": {*_SECRET},
        "people": {*_SECRET, *study.id_parameters, *study.parameters, *free},
    }
    try:
        (new / "data").mkdir(parents=True)
        columns: dict[str, list[tuple[str, str]]] = {}
        counts = {}
        rows = {
            "trials": rows_of("trials", study, session, tables, people),
            "people": people_rows(study, tables, people),
        }
        for table, some in rows.items():
            path = new / "data" / f"study-{name}_table-{table}_data.csv"
            header, counts[table] = _write(path, some, secret[table])
            for column in header:
                meanings = columns.setdefault(column, [])
                meanings += [each for each in (known[table][column],) if each not in meanings]
        (new / "materials").mkdir()
        (new / "materials" / "study.toml").write_text(study.text, encoding="utf-8")
        described = json.dumps(_description(study, columns, counts), indent=2, ensure_ascii=False)
        (new / "dataset_description.json").write_text(f"{described}\n", encoding="utf-8")
        (new / "README.md").write_text(_readme(study, counts), encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return counts["trials"]


def _write(path: Path, rows: Iterable[Row], secret: set[str]) -> tuple[list[str], int]:
    found = iter(rows)
    header = next(found)
    kept = [at for at, name in enumerate(header) if name not in secret]
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        for line in as_csv([row[at] for at in kept] for row in chain([header], found)):
            file.write(line)
            count += 1
    return [str(header[at]) for at in kept], count - 1


def _description(
    study: Study, columns: Mapping[str, list[tuple[str, str]]], counts: Mapping[str, int]
) -> dict[str, Any]:
    """Return the description of the data set, in the vocabulary of schema.org.

    `columns` has pairs of a meaning and a unit for each column. A column has two pairs if trials.csv and
    people.csv use the column differently.
    """
    measured = []
    for name, meanings in columns.items():
        meaning, unit = "; ".join(meaning for meaning, _ in meanings), meanings[0][1]
        measured.append(
            {"@type": "PropertyValue", "name": name, "description": meaning}
            | ({"unitText": unit} if unit else {})
        )
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.title,
        "description": f"{counts['trials']:,} questions to {counts['people']:,} people about "
        f"{len(study.items):,} items: {study.words}",
        "schemaVersion": "Psych-DS 0.4.0",
        "variableMeasured": measured,
        "keywords": ["similarity", "comparisons", "hierarchy", *study.names[:100]],
        "isBasedOn": {"@type": "SoftwareApplication", "name": "ordhc", "softwareVersion": ordhc.__version__},
    }


def _readme(study: Study, counts: Mapping[str, int]) -> str:
    return (
        f"# {study.title}\n\nPeople answered the question: {study.words}\n\n"
        f"`data/` has {counts['trials']:,} questions with their answers (`table-trials`) and "
        f"{counts['people']:,} people (`table-people`). `dataset_description.json` explains each column. "
        "`materials/study.toml` are the settings of the study. Ids of platforms are left out. "
        "Cells that a spreadsheet would read as a formula begin with an apostrophe.\n\n"
        "```console\n$ ordhc cluster data/*_table-trials_data.csv --format collect -o tree.nwk\n```\n"
    )
