"""Read tables of delimited text with a header: names, labels, or columns of any kind."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ordhc import _ordhc
from ordhc._checks import nearest, quoted
from ordhc.comparison.frames import ROLES
from ordhc.errors import InputError
from ordhc.io.files import text_of
from ordhc.io.guard import refuse_others

SHOWN = 8


@dataclass(frozen=True)
class Sheet:
    """The rows of a table, and the lines on which the rows begin."""

    #: The name of the file, for messages.
    source: str
    #: The cells of each row. Quoted cells are exactly as written, other cells have no blanks at the ends.
    rows: list[list[str]]
    #: The line on which each row begins, counted from 1.
    lines: list[int]

    @property
    def header(self) -> list[str]:
        return [cell.strip() for cell in self.rows[0]]

    def find(self, names: Iterable[str]) -> int | None:
        """Return the index of the first of `names` that is in the header, ignoring case, or None."""
        lower = [cell.lower() for cell in self.header]
        for name in names:
            places = [at for at, cell in enumerate(lower) if cell == name.lower()]
            exact = [at for at in places if self.header[at] == name]
            places = exact if len(exact) == 1 else places
            if len(places) > 1:
                raise InputError(
                    f"there are two columns {quoted(name)}, "
                    f"number {places[0] + 1} and number {places[1] + 1}; rename one",
                    path=self.source,
                    line=self.lines[0],
                )
            if places:
                return places[0]
        return None

    def column(self, name: str) -> int:
        found = self.find([name])
        if found is None:
            raise unknown_column(self.source, name, self.header, self.lines[0])
        return found

    def check_width(self, at: int) -> None:
        width = len(self.rows[0])
        if len(self.rows[at]) != width:
            raise InputError(
                f"{len(self.rows[at])} columns instead of {width}; the row may be cut short",
                path=self.source,
                line=self.lines[at],
            )


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(
        quoted(name, 40)[1:-1] if len(name) < 38 else quoted(name, 40) for name in names[:SHOWN]
    )
    return shown if len(names) <= SHOWN else f"{shown}, ... ({len(names):,} in all)"


def unknown_column(source: str, name: str, there: Sequence[str], line: int | None = None) -> InputError:
    reason = f"there is no column {quoted(name)}; there are {listed(there)}{nearest(name, there)}"
    return InputError(reason, path=source, line=line)


def refuse_quadruplets(header: Sequence[str], source: str) -> None:
    """Raise `InputError` if columns i, j, k would be read as triplets, but there is also a column l."""
    plain = {name.strip().lower().removesuffix("_name").removesuffix("_id") for name in header}
    triplets = [known for known in ROLES["triplets"] if known != ("i", "j", "k")]
    if plain >= {"i", "j", "k", "l"} and not any(plain >= set(known) for known in triplets):
        raise InputError(
            f"the columns {listed(header)} look like quadruplets (i and j closer than k and l): use "
            "kind='pairs' (--kind pairs), or for triplets items=['i', 'j', 'k'] (--items i,j,k)",
            path=source,
            line=1,
        )


def read_sheet(data: bytes, source: str, what: str | None, delimiter: str | None = None) -> Sheet:
    """Return the rows and cells of delimited text.

    `what` says what the file should contain, for the error about files of another kind. If `what` is None,
    the kind is not checked.
    """
    if what is not None:
        refuse_others(data, source, what)
    try:
        rows, lines = _ordhc.split_table(text_of(data, source), delimiter, None)
    except InputError as error:
        raise located(error, source) from None
    if not rows:
        raise InputError("the file is empty", path=source)
    return Sheet(source, rows, lines)


def check_header(source: str, line: int, first: Sequence[str], cells: Collection[str]) -> None:
    """Raise `InputError` if words of the first row, read as a header, also occur in the cells below."""
    again = [word for word in first if word in cells]
    if again:
        raise InputError(
            f"the first row ({listed(first)}) may be a header or leaves, as {quoted(again[0])} occurs below; "
            "give header=True (--header) or header=False (--no-header)",
            path=source,
            line=line,
        )


def located(error: InputError, source: str) -> InputError:
    if error.path is not None:
        return error
    return InputError(error.reason, path=source, row=error.row, line=error.line, leaves=error.leaves)
