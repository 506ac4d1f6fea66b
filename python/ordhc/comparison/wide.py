"""Tables with a row for each person and a column for each question, and tables that describe questions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ordhc._checks import quoted, text
from ordhc.comparison.asked import Asked
from ordhc.comparison.coded import Column, together
from ordhc.comparison.frames import PEOPLE
from ordhc.comparison.replies import person_of
from ordhc.comparison.tables import SHOWN, Table, text_of, tidy
from ordhc.errors import InputError

#: Two columns of the long table that `widened` makes from a wide table. In each row, `_QUESTION` has the name
#: of a column of the wide table, and `_RESPONSE` has a cell of this column.
_QUESTION, _RESPONSE = "question", "response"
#: Values of Qualtrics' column `Status`, as text and as number, for test runs of the survey by a researcher.
_TEST_RUNS = ("Survey Preview", "Survey Test", "1", "2")


@dataclass
class _Long(Table):
    """A table with one row for each cell of a wide table; messages name the cell's column."""

    question: Column | None = None

    def error(self, reason: str, row: int | None = None) -> InputError:
        if row is not None and self.question is not None:
            reason = f"column {quoted(self.question.different[self.question.places[row]])}: {reason}"
        return super().error(reason, row)


def widened(table: Table, asked: Asked) -> tuple[Table, Asked]:
    """Convert a wide table to one row per answered cell of the columns that `asked.wide` matches."""
    pattern = _pattern(table, asked)
    n_header = _header_rows(table)
    if asked.format == "qualtrics" and not n_header:
        raise table.error(
            'no row {"ImportId": ...} follows the header: export from Qualtrics as CSV, or leave out format'
        )
    matches = _matches(table, pattern, n_header)
    groups = [name for name in pattern.groupindex if name != _QUESTION]
    for name in (*pattern.groupindex, _RESPONSE, *([] if _QUESTION in pattern.groupindex else [_QUESTION])):
        if (there := table.find(name)) is not None and there not in matches:
            raise table.error(
                f"wide: the file already has a column {quoted(there)}; rename it, or the group in wide"
            )
    different, places = together([table.coded(name) for name in matches])
    rows, which = np.nonzero(places[n_header:] >= 0)
    rows += n_header
    response = Column(different, places[rows, which])
    if not len(rows):
        raise table.error(f"wide: the {len(matches):,} matching columns have no answers")
    question = Column.of([str(name) for name in matches])[which]
    columns = {_QUESTION: question, _RESPONSE: response}
    for name in pattern.groupindex:
        values = [_value(match.group(name), table.text) for match in matches.values()]
        columns[name] = Column.of(values).mapped(tidy)[which]
    persons = person_of(table, asked.person, []) if asked.person not in groups else asked.person
    if persons is None and not any(name.lower() in PEOPLE for name in groups):
        # Each row of the file is a person.
        columns["person"] = Column.of(rows.tolist())
    others = [name for name in table.names if name not in matches]
    long = _Long(
        [*others, *columns],
        lambda name: columns[name] if name in columns else table.coded(name)[rows],
        len(rows),
        table.source,
        None if table.lines is None else np.asarray(table.lines)[rows].tolist(),
        table.text,
        {at: table.bad[row] for at, row in enumerate(rows.tolist()) if row in table.bad},
        question=question,
    )
    items = asked.items
    if items is None:
        items = [name for name in groups if name.lower() not in PEOPLE and name != asked.person] or None
    asked = replace(asked, items=items, chosen=_RESPONSE)
    return long, _without_test_runs(long, asked) if n_header else asked


def _pattern(table: Table, asked: Asked) -> re.Pattern[str]:
    if asked.wide is None:
        texts = [f"{name} ({text_of(table.cell(name, 0))})" for name in table.names if table.length]
        shown = quoted(", ".join(texts[-3:]), 300)
        raise table.error(
            "Qualtrics' files have a column for each question: select them by wide=... (--wide PATTERN). "
            f"The last columns are {shown}"
        )
    if asked.kind == "ranking" or asked.chosen is not None or asked.ranks is not None:
        given = "kind 'ranking'" if asked.kind == "ranking" else "chosen" if asked.ranks is None else "ranks"
        raise InputError(
            f"{given} cannot be used with wide, because each cell is one answer to its column's question"
        )
    try:
        pattern = re.compile(text("wide", asked.wide))
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"wide is {quoted(asked.wide)}, not a regular expression: {error}") from None
    if not pattern.groupindex and asked.questions is None and asked.items is None:
        raise InputError(
            f"wide is {quoted(asked.wide)}; add named groups for the items, as in "
            "Q_(?P<a>[a-z]+)_(?P<b>[a-z]+), or give a table of questions (--questions)"
        )
    return pattern


def _header_rows(table: Table) -> int:
    """Return the number of rows below the header that describe columns (Qualtrics): 0, 1 or 2."""
    first = table.coded(table.names[0])
    for row in range(min(2, table.length)):
        place = first.places[row]
        if place >= 0 and re.match(r'\{\s*"ImportId"', str(first.different[place])):
            return row + 1
    return 0


def _matches(table: Table, pattern: re.Pattern[str], n_header: int) -> dict[Any, re.Match[str]]:
    """Return the match of each column whose whole name matches the pattern.

    If no name matches, the pattern is searched in the texts of questions in Qualtrics' header.
    """
    found = {name: match for name in table.names if (match := pattern.fullmatch(str(name))) is not None}
    texts: dict[Any, str] = {}
    if not found and n_header == 2:
        texts = {name: " ".join(text_of(table.cell(name, 0)).split()) for name in table.names}
        found = {name: match for name, text in texts.items() if (match := pattern.search(text)) is not None}
    if not found:
        there = [f"{name} ({texts[name]})" if name in texts else str(name) for name in table.names]
        more = f", ... ({len(there)} in all)" if len(there) > SHOWN else ""
        raise table.error(
            f"wide: no column matches {quoted(pattern.pattern)}; "
            f"there are {quoted(', '.join(there[-SHOWN:]), 400)}{more}"
        )
    for name in found:
        table.find(name)
    return found


def _value(text: str | None, in_file: bool) -> Any:
    if text is not None and not in_file and text.isascii() and text.isdigit() and str(int(text)) == text:
        return int(text)
    return text


def _without_test_runs(table: Table, asked: Asked) -> Asked:
    """Exclude answers from Qualtrics' previews and tests, unless `exclude` names the column `Status`."""
    status = table.find("status")
    if status is None or (asked.exclude is not None and not isinstance(asked.exclude, Mapping)):
        return asked
    exclude = dict(asked.exclude or {})
    there = {text_of(cell) for cell in table.coded(status).used()}
    found = [word for word in _TEST_RUNS if word in there]
    if found and not any(str(name).strip().lower() == "status" for name in exclude):
        exclude[status] = found
    return replace(asked, exclude=exclude or None)


def with_questions(table: Table, questions: Table) -> Table:
    """Add the columns of the table `questions`, whose first column names the question of each row."""
    by = questions.names[0]
    own = table.find(by)
    own = table.find(_QUESTION) if own is None else own
    if own is None:
        raise questions.error(
            f"the first column, {quoted(by)}, names the question, but the answers have no such column"
        )
    where: dict[str, int] = {}
    for row, cell in enumerate(questions.cells(by)):
        if (question := text_of(cell)) in where:
            first = questions.number(where[question])
            raise questions.error(f"question {quoted(question)} occurs twice, first in row {first}", row)
        where[question] = row
    asked = table.coded(own).mapped(text_of)
    missing = sorted({text for text in asked.used() if text} - where.keys())
    if len(missing) == len([text for text in asked.used() if text]):
        raise questions.error(
            f"no question in column {quoted(own)} of the answers occurs in column {quoted(by)} of this file"
        )
    if missing and isinstance(table, _Long):
        row = int(np.flatnonzero(asked.places == asked.different.index(missing[0]))[0])
        raise table.error(f"question {quoted(missing[0])} is not in the table of questions", row)
    columns: dict[Any, Any] = {}
    for name in questions.names[1:]:
        if (there := table.find(name)) is not None:
            raise questions.error(f"the answers also have a column {quoted(there)}: rename one of the two")
        cells = questions.cells(name)
        columns[name] = [cells[where[text]] if text in where else None for text in asked.objects().tolist()]
    return table.with_columns(columns)
