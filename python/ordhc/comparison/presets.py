"""Recognise the columns of other tools: Salmon, jsPsych, Gorilla, PsychoPy, cblearn, Prolific, ..."""

import ast
import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._checks import quoted
from ordhc.comparison.asked import FORMATS, AnswerOptions, Asked
from ordhc.comparison.frames import PERSONS, RESPONSES, ROLES
from ordhc.comparison.replies import Replies, excluded_values, list_of, person_of, replies_of
from ordhc.comparison.tables import Table, table_of, text_of
from ordhc.comparison.wide import widened, with_questions
from ordhc.errors import InputError

#: Values of Prolific's column "status" for submissions that researchers do not use.
_UNUSED = ("REJECTED", "RETURNED", "TIMED OUT", "SCREENED OUT", "CONSENT REVOKED")
#: Salmon's columns without the loser's, as the plugin ordhc-collect writes them.
_SHORT = ("head", "left", "right", "winner")
_UNKNOWN = "not among the participants"


def asked_of_frame(
    data: Any, kind: str, items: Any, chosen: Any, options: AnswerOptions
) -> tuple[Replies, Asked]:
    asked = Asked.of("from_frame", AnswerOptions, kind, items, chosen, options)
    people = None if asked.participants is None else table_of(asked.participants)
    questions = None if asked.questions is None else table_of(asked.questions)
    asked = replace(asked, names=_checks.names(asked.names), participants=people, questions=questions)
    return replies_with_format(table_of(data), asked)


def replies_with_format(table: Table, asked: Asked) -> tuple[Replies, Asked]:
    of_tool = asked.format
    if of_tool is not None:
        _checks.choice("format", of_tool, FORMATS)
    _checks.flag("skip_bad", asked.skip_bad)
    if asked.n_leaves is not None:
        _checks.whole("n_leaves", asked.n_leaves, at_least=1)
    if asked.wide is not None or of_tool == "qualtrics":
        table, asked = widened(table, asked)
    if asked.questions is not None:
        table = with_questions(table, asked.questions)
    if of_tool in _TOOLS:
        table, asked = _TOOLS[of_tool](table, asked)
    if asked.participants is not None:
        table, asked = _joined(table, asked.participants, asked, of_tool == "prolific")
    return replies_of(table, asked), asked


def _only(asked: Asked, format: str, *kinds: str) -> None:
    if asked.kind not in kinds:
        raise InputError(
            f"format {format!r} holds answers of kind {' or '.join(map(repr, kinds))}, not {asked.kind!r}"
        )


def _salmon(table: Table, asked: Asked) -> tuple[Table, Asked]:
    _only(asked, "salmon", "triplet")
    if asked.items is not None or asked.chosen is not None:
        return table, asked
    person = asked.person or table.first_of(("puid", "participant.id", "participant uid"))
    old = ("center", "left", "right", "answer")
    if table.find("winner") is None and all(table.find(name) is not None for name in old):
        # Salmon's predecessor NEXT writes these columns.
        return table, replace(asked, items=list(old[:3]), chosen=old[3], person=person)
    if table.find("loser") is None and all(table.find(name) is not None for name in _SHORT):
        asked = replace(
            asked,
            items=list(_SHORT[:3]),
            chosen=_SHORT[3],
            chosen_as="name",
            person=person,
            answer=table.find("answer"),
        )
        return table, _without_left_out(table, asked)
    items = [table.column(name, "format 'salmon'") for name in ("head", "winner", "loser")]
    names = asked.names
    skipped = [table.cells(name) for name in items]
    if any(cell in (-1, "-1") for cells in skipped for cell in cells):
        # Salmon writes -1 for a skipped question, which has no winner.
        table = table.with_columns(
            {name: [None if cell in (-1, "-1") else cell for cell in table.cells(name)] for name in items}
        )
    if names is None and (names := _shown_by_salmon(table)) is not None:
        # Salmon's numbers are positions in its list of items.
        asked = replace(asked, ids_from=asked.ids_from or 0)
    return table, replace(asked, items=items, person=person, names=names)


def _shown_by_salmon(table: Table) -> tuple[str, ...] | None:
    shown: dict[int, str] = {}
    for role in ("head", "winner", "loser", "left", "right"):
        html = table.first_of((f"{role}_object", f"{role}_html"))
        if html is None or table.find(role) is None:
            continue
        for target, cell in zip(table.cells(role), table.cells(html), strict=True):
            number = text_of(target)
            if number.isdigit() and len(number) < 7 and cell is not None:
                shown.setdefault(int(number), _without_tags(str(cell)))
    if not shown or max(shown) > 10 * len(shown) + 1000:
        return None
    names = tuple(shown.get(target) or str(target) for target in range(max(shown) + 1))
    return names if len(set(names)) == len(names) else None


def _without_tags(html: str) -> str:
    """Return the text that HTML displays, or the file name of its picture."""
    text = " ".join(re.sub(r"<[^<>]*>", " ", html).split())
    if text:
        return text
    source = re.search(r"""\b(?:alt|src)\s*=\s*["']?([^"'\s>]+)""", html)
    return source.group(1).rsplit("/", 1)[-1] if source else html.strip()


def _jspsych(table: Table, asked: Asked) -> tuple[Table, Asked]:
    """Read trials of jsPsych: cells may be lists, buttons count from 0, and other trials are ignored."""
    if asked.items is None and asked.kind in ("triplet", "pairs"):
        raise InputError(
            "jsPsych's files do not contain the kind of question: pass kind=... (--kind), "
            f"or items=[...] (--items) for {asked.kind}"
        )
    if asked.items is None and asked.ranks is None:
        lists = [
            name
            for base in ("choices", "items", "stimuli", "stimulus", "images")
            if (name := table.find(base)) is not None
            and any(list_of(cell) is not None for cell in table.raw(name))
        ]
        if lists:
            asked = replace(asked, items=lists[:1])
    if asked.chosen is None and asked.kind != "ranking":
        asked = replace(asked, chosen=table.first_of(("response", "button_pressed")))
    if asked.person is None and person_of(table, None, []) is None:
        asked = replace(asked, person=table.first_of(("run_id", "jspsych_id", "session_id")))
    asked = replace(asked, other_trials=True)
    if asked.items is not None:
        some = [asked.items] if isinstance(asked.items, str) else _checks.listed("items", asked.items)
        chosen_too = [asked.chosen] if isinstance(asked.chosen, str) else []
        table = _as_shown(
            table, [name for each in (*some, *chosen_too) if (name := table.find(each)) is not None]
        )
    if asked.chosen_as is None and isinstance(asked.chosen, str) and asked.items is not None:
        chosen = table.column(asked.chosen, "chosen")
        kinds = table.find("trial_type")
        if kinds is not None and str(chosen).lower() in ("response", "button_pressed"):
            buttons = [str(cell).endswith("button-response") for cell in table.cells(kinds)]
            pressed = [text_of(cell) for cell, one in zip(table.cells(chosen), buttons, strict=True) if one]
            answered = [text.removesuffix(".0") for text in pressed if text]
            if answered and all(text.isdigit() for text in answered):
                asked = replace(asked, chosen_as="place0")
    return table, asked


_TAG = re.compile(r"<[A-Za-z][^<>]*>")


def _as_shown(table: Table, columns: list[Any]) -> Table:
    """Replace HTML in columns by the displayed text or picture, unless two items would become equal."""
    raw = {
        name: [cell if (found := list_of(cell)) is None else found for cell in table.raw(name)]
        for name in columns
    }
    lists = [cell if isinstance(cell, list) else [cell] for cells in raw.values() for cell in cells]
    texts = {part for parts in lists for part in parts if isinstance(part, str)}
    shown = {text: _without_tags(text) if _TAG.search(text) else text for text in texts}
    if len(set(shown.values())) < len(shown):
        return table

    def plain(cell: Any) -> Any:
        return shown[cell] if isinstance(cell, str) else cell

    return table.with_columns(
        {
            name: [list(map(plain, cell)) if isinstance(cell, list) else plain(cell) for cell in cells]
            for name, cells in raw.items()
        }
    )


def _gorilla(table: Table, asked: Asked) -> tuple[Table, Asked]:
    """Select the rows of Gorilla's tasks that have a response; items come from the task's spreadsheet."""
    prefix = "Spreadsheet: "
    sheet = {
        str(name).removeprefix(prefix): name
        for name in table.names
        if str(name).lower().startswith("spreadsheet: ")
    }
    columns = {name: table.cells(own) for name, own in sheet.items() if table.find(name) is None}
    table = table.with_columns(columns)
    answered = np.ones(table.length, dtype=bool)
    for name, is_answer in (("response type", r"response\b"), ("zone type", "response_")):
        if (column := table.find(name)) is None:
            continue
        found = np.array([re.match(is_answer, text_of(cell)) is not None for cell in table.cells(column)])
        answered &= found if found.any() else True
    if asked.items is not None:
        names = [asked.items] if isinstance(asked.items, str) else _checks.listed("items", asked.items)
        asked = replace(asked, items=[str(name).removeprefix(prefix) for name in names])
    else:
        names = list(columns)
    # Rows of fixation crosses and buttons repeat the items, so their items are made blank.
    shown = [name for each in names if (name := table.find(str(each).removeprefix(prefix))) is not None]
    blank = {
        name: [cell if kept else None for cell, kept in zip(table.cells(name), answered, strict=True)]
        for name in shown
    }
    person = asked.person or table.first_of(("participant private id", "participant public id"))
    chosen = asked.chosen or table.first_of(("response",))
    return table.with_columns(blank), replace(asked, person=person, chosen=chosen, other_trials=True)


def _psychopy(table: Table, asked: Asked) -> tuple[Table, Asked]:
    chosen = asked.chosen
    if chosen is None:
        ends = (".clicked_name", ".keys")
        found = [name for end in ends for name in table.names if str(name).endswith(end)]
        if len(found) != 1:
            shown = (
                f"{quoted(', '.join(map(str, found)))} are possible"
                if found
                else "no column ends in .clicked_name or .keys"
            )
            raise table.error(f"pass the column of the answer as chosen=... (--chosen): {shown}")
        chosen = found[0]
    if isinstance(chosen, str):
        column = table.column(chosen, "chosen")
        table = table.with_columns({column: [_last_of(cell) for cell in table.cells(column)]})
    return table, replace(asked, chosen=chosen, other_trials=True)


def _last_of(cell: Any) -> Any:
    """Return the last element if a cell is the text of a list (of clicks or keys), else the cell."""
    if isinstance(cell, str) and cell.startswith("["):
        with contextlib.suppress(ValueError, SyntaxError):
            cells = ast.literal_eval(cell)
            cell = cells[-1] if cells else None
    return None if cell == "None" else cell


def _cblearn(table: Table, asked: Asked) -> tuple[Table, Asked]:
    """Read questions (anchor, a, b) with responses: 1 or True for a, -1 or False for b, or signed counts."""
    _only(asked, "cblearn", "triplet", "pairs")
    width = 3 if asked.kind == "triplet" else 4
    items = asked.items
    if items is None:
        known = [*ROLES["responses"], *ROLES["triplets"]] if width == 3 else ROLES["quadruplets"]
        sets = [names for names in known if all(table.find(name) is not None for name in names)]
        items = list(sets[0]) if sets else table.names[:width]
    items = [table.column(name, "items") for name in items]
    if len(items) != width:
        raise InputError(f"items are {quoted(items)}; {width} columns are needed")
    chosen = asked.chosen
    if chosen is None:
        chosen = table.first_of((*RESPONSES, "responses"))
        rest = [name for name in table.names if name not in items]
        if chosen is None and len(rest) == 1 and not isinstance(rest[0], str):
            chosen = rest[0]
    if chosen is None:
        return table, replace(asked, items=items)
    chosen = table.column(chosen, "chosen")
    counts: list[float | None] = []
    for row, cell in enumerate(table.cells(chosen)):
        word = {"true": "1", "false": "-1"}.get(text_of(cell).lower(), text_of(cell))
        try:
            count = float(word) if word else 0.0
        except ValueError:
            raise table.error(
                f"the response is {quoted(cell)}; it must be 1, -1, a count or a bool", row
            ) from None
        counts.append(count if np.isfinite(count) and count else None)
    there = {abs(count) for count in counts if count is not None}
    if None in counts and not any(count is not None and count < 0 for count in counts) and there <= {1.0}:
        raise table.error("the responses are only 0 and 1; cblearn's are 1 and -1, or True and False")
    columns: dict[Any, Any] = {chosen: [None if count is None else int(np.sign(count)) for count in counts]}
    weights = asked.weights
    if there - {1.0}:
        weights = "ordhc:count"
        columns[weights] = [0.0 if count is None else abs(count) for count in counts]
    table = table.with_columns(columns)
    return table, replace(asked, items=items, chosen=chosen, chosen_as="sign", weights=weights)


def _collect(table: Table, asked: Asked) -> tuple[Table, Asked]:
    if table.find("head") is not None:
        kind, items, chosen, how = "triplet", ["head", "left", "right"], "answer", "name"
    elif table.find("shown_4") is not None:
        kind, items, chosen, how = "pairs", [f"shown_{k}" for k in range(1, 5)], "position", "place"
    else:
        kind, items, chosen, how = "odd-one-out", [f"shown_{k}" for k in range(1, 4)], "answer", "name"
    # "triplet" is also the default of `kind`, so this value may mean that no kind was given.
    if asked.kind != "triplet":
        _only(asked, "collect", kind)
    person = asked.person or table.column("person", "format 'collect'")
    asked = replace(asked, kind=kind, items=items, chosen=chosen, chosen_as=how, person=person)
    asked = _without_left_out(table, asked)
    position = table.column("position", "items") if kind == "pairs" else None
    if position is not None and "0" in {text_of(cell) for cell in table.cells(position)}:
        # Position 0 means that the person could not say.
        exclude = _exclusions(table, asked, asked.person)
        exclude[position] = [*excluded_values(exclude.get(position, [])), "0"]
        asked = replace(asked, exclude=exclude)
    return table, asked


def _exclusions(table: Table, asked: Asked, person: Any) -> dict[Any, Any]:
    """Return `exclude` as a mapping from columns to values; a list of people means the column `person`."""
    if asked.exclude is None:
        return {}
    named = asked.exclude if isinstance(asked.exclude, Mapping) else {person: asked.exclude}
    found: dict[Any, Any] = {}
    for name, values in named.items():
        column = table.find(name)
        key = name if column is None else column
        # Two spellings can mean the same column.
        found[key] = [*excluded_values(found[key]), *excluded_values(values)] if key in found else values
    return found


def _without_left_out(table: Table, asked: Asked) -> Asked:
    """Exclude the held-out answers of the plugin ordhc-collect, and people whom the study's rules exclude."""
    excluded, sampler = table.find("excluded"), table.find("sampler")
    if excluded is None or sampler is None:
        return asked
    exclude = _exclusions(table, asked, asked.person)
    reasons = sorted({text_of(cell) for cell in table.cells(excluded)} - {""})
    if reasons and excluded not in exclude:
        exclude[excluded] = reasons
    if sampler not in exclude and "heldout" in {text_of(cell) for cell in table.cells(sampler)}:
        exclude[sampler] = ["heldout"]
    return replace(asked, exclude=exclude or None)


def _prolific(table: Table, asked: Asked) -> tuple[Table, Asked]:
    export = ("submission id", "participant id")
    if asked.participants is None and all(table.find(name) is not None for name in export):
        raise table.error(
            "this is Prolific's export of participants, not the file of their answers: pass it as "
            "participants (--participants), in addition to the file of answers"
        )
    if asked.person is None:
        person = table.first_of(
            ("prolific_pid", "prolific id", "prolific_id", "participant id", "participant_id")
        )
        if person is None and (person := person_of(table, None, [])) is None:
            raise table.error("no column holds Prolific's ids (PROLIFIC_PID): pass person=... (--person)")
        asked = replace(asked, person=person)
    return table, asked


#: For each tool, a function that finds the tool's columns. `widened` finds those of Qualtrics.
_TOOLS = {
    "salmon": _salmon,
    "jspsych": _jspsych,
    "gorilla": _gorilla,
    "psychopy": _psychopy,
    "cblearn": _cblearn,
    "collect": _collect,
    "prolific": _prolific,
}


def _joined(table: Table, people: Table, asked: Asked, prolific: bool) -> tuple[Table, Asked]:
    person = person_of(table, asked.person, [])
    if person is None:
        raise table.error(
            "no column names the person of each answer, so participants cannot be joined: pass person=..."
        )
    by = people.first_of(("participant id", "prolific_pid", person, *PERSONS))
    if by is None:
        raise people.error(
            f"no column names the participants; in the answers, this column is {quoted(person)}"
        )
    status = people.find("status") if prolific else None
    where: dict[str, int] = {}
    for row, cell in enumerate(people.cells(by)):
        who = text_of(cell)
        if who in where:
            if status is None:
                raise people.error(
                    f"participant {quoted(who)} occurs twice, first in {people.place(where[who])}", row
                )
            if _unused(people.cells(status)[row]):
                continue
        where[who] = row
    rows = [where.get(text_of(cell)) for cell in table.cells(person)]
    if rows and not any(row is not None for row in rows):
        raise people.error(
            f"no person in column {quoted(person)} of the answers occurs in column {quoted(by)} of this file"
        )
    columns, renamed = {}, {}
    for name in people.names:
        if name == by:
            continue
        renamed[name] = name if table.find(name) is None else f"participants:{name}"
        cells = people.cells(name)
        columns[renamed[name]] = [None if row is None else cells[row] for row in rows]
    named = asked.exclude if isinstance(asked.exclude, Mapping) else {}
    is_status_named = any(str(name).strip().lower() == "status" for name in named)
    if named:
        exclude = {
            _column_to_exclude(table, people, by, renamed, name): values for name, values in named.items()
        }
        asked = replace(asked, exclude=exclude)
    asked = replace(asked, person=person)
    if status is not None:
        exclude = _exclusions(table, asked, person)
        if not is_status_named:
            column = renamed[status]
            columns[column] = [
                _UNKNOWN if row is None else cell for row, cell in zip(rows, columns[column], strict=True)
            ]
            unused = sorted({str(cell) for cell in columns[column] if cell == _UNKNOWN or _unused(cell)})
            if unused:
                exclude[column] = unused
            asked = replace(asked, exclude=exclude or None)
    return table.with_columns(columns), asked


def _column_to_exclude(table: Table, people: Table, by: Any, renamed: Mapping[Any, Any], name: Any) -> Any:
    """Return the column that the key `name` of `exclude` means, from the answers or from the participants.

    If both tables have the column in different case, the exact spelling decides: `Status` of Prolific's
    export differs from `status` of the answers.
    """
    theirs, own = people.find(name), table.find(name)
    if theirs is None or theirs == by or own is None:
        return name
    if theirs == own:
        raise people.error(
            f"exclude: the answers and the participants both have a column {quoted(name)}; use "
            f"{quoted(renamed[theirs])} for the participants' column, or rename one of the two"
        )
    return own if own == name else renamed[theirs]


def _unused(status: Any) -> bool:
    return re.sub(r"[-_ ]+", " ", text_of(status)).upper() in _UNUSED
