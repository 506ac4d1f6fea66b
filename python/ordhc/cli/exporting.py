"""Write the answers of a session as a table: items, person, time, duration, source of the question."""

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ordhc.io import write_comparisons
from ordhc.io.files import write_bytes

if TYPE_CHECKING:
    from ordhc.asking.session import Session

#: The delimiter by the ending of the output file. These tables have all columns, such as time and duration.
#: Files with another ending contain only the comparisons and the people.
_TABLES = {".csv": ",", ".tsv": "\t"}


def export_answers(session: "Session", path: str) -> None:
    """Write all answers of a session to a file.

    A .csv or .tsv file has all columns; "-" is csv on standard output. Another file of comparisons has only
    the comparisons and the people. An odd one out is written as two triplets, an answer about two pairs as
    one quadruplet. A "none" answer is a row whose first columns are empty; its last columns have the leaves
    that were shown.
    """
    delimiter = next((mark for end, mark in _TABLES.items() if path.lower().endswith(end)), None)
    if path == "-":
        delimiter = ","
    if delimiter is None:
        write_comparisons(session.comparisons(heldout=None), path)
        return
    table = session.table()
    width = session.width
    names = session.names or tuple(map(str, range(session.n_leaves)))
    # The ending `_name` makes readers take the columns as names, even if the names look like numbers.
    ending = "" if session.names is None else "_name"
    columns = ("anchor", "near", "far") if width == 3 else ("i", "j", "k", "l")
    shown = [table[f"leaf_{k + 1}"].tolist() for k in range(width)]
    names = tuple(_quoted(name) if ending else name for name in names)
    header = [
        *(name + ending for name in columns),
        *("answer", "person_name", "at", "seconds", "sampler", "position", "trial", "question"),
        *(f"shown_{k + 1}" for k in range(width)),
    ]
    lines = [delimiter.join(header)]
    rest = ("who", "at", "seconds", "sampler", "position", "trial", "question", "answer")
    for number, (who, at, seconds, sampler, position, trial, question, answer) in enumerate(
        zip(*(table[name].tolist() for name in rest), strict=True)
    ):
        leaves = [names[column[number]] for column in shown]
        about = [
            str(number),
            _quoted(who) if who else "",
            datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds"),
            "" if math.isnan(seconds) else f"{seconds:.3f}",
            sampler,
            str(position),
            str(trial),
            str(question or ""),
            *leaves,
        ]
        lines.extend(delimiter.join([*row, *about]) for row in _rows(leaves, answer))
    write_bytes(path, ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _rows(leaves: list[str], answer: int) -> list[list[str]]:
    """Return an answer as rows of comparisons; a "none" answer is one row of empty texts."""
    if len(leaves) == 4:
        pairs = {1: leaves, -1: [*leaves[2:], *leaves[:2]]}
        return [pairs.get(answer, [""] * 4)]
    if answer < 0:
        return [[""] * 3]
    first, second = (leaf for at, leaf in enumerate(leaves) if at != answer)
    return [[first, second, leaves[answer]], [second, first, leaves[answer]]]
