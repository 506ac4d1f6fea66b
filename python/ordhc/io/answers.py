"""Read files of answers: one answer per row, with columns found by name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from ordhc import _checks, _ordhc
from ordhc._checks import quoted
from ordhc._progress import Progress, shows_progress
from ordhc.comparison.asked import FORMATS, Asked, FileOptions
from ordhc.comparison.coded import Column
from ordhc.comparison.comparisons import Quadruplets, Triplets, comparisons_of_replies
from ordhc.comparison.presets import replies_with_format
from ordhc.comparison.tables import Table, table_of
from ordhc.errors import InputError
from ordhc.io.arrays import Table as Parquet
from ordhc.io.arrays import load_array, load_arrays, texts_of
from ordhc.io.comparisons import SUFFIXES, read_in_order
from ordhc.io.files import read_content, text_of
from ordhc.io.guard import reading, refuse_others
from ordhc.io.names import as_names
from ordhc.io.paths import Source, delimiter_of, is_remote, name_of, suffix_of
from ordhc.io.remote import Remote, storage
from ordhc.io.sheet import check_header, located


@_checks.shows_options(FileOptions)
def read_answers(
    file: Source,
    kind: str = "triplet",
    items: Sequence[str] | Sequence[int] | str | None = None,
    chosen: str | int | Sequence[str] | None = None,
    *,
    progress: Progress | bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Unpack[FileOptions],
) -> Triplets | Quadruplets:
    """Read a file of answers, one per row: csv, tsv, text with blanks, Parquet, npz, npy or JSON.

    Parameters
    ----------
    file
        A path (text files can be compressed: .gz, .bz2, .xz or .zst), a URL (``s3://``, ``https://``; extra
        `remote`), "-" for standard input, or an open stream. Columns are ignored unless you name them here or
        they have one of the usual names, as for weights and persons.
    kind
        The kind of question:

        * "triplet" (the default): which of two items is more similar to an anchor?
        * "odd-one-out", "most-central": which of three items is the odd one out, or the most central?
        * "pairs": which of two pairs is more similar? The result is `Quadruplets`.
        * "ranking": which items are nearest to a reference, in order?
    items
        The columns of the items, by name or position. For a choice among three items their order does not
        matter. Otherwise the order is: the anchor and the two other items; the first pair and the second
        pair; or the reference and the other items. Without `chosen` and `ranks` the nearer item, the closer
        pair, or the nearest item of a ranking comes first. A column of lists (JSON) counts as one column for
        each element of the lists.

        By default the columns with usual names, in any order and case: `odd,a,b`, `central,left,right`,
        `anchor,near,far`, `head,winner,loser` (Salmon), `anchor,positive,negative`, `i,j,k`, `i,j,k,l`, ...;
        or all columns of a file without a header. In columns `anchor_name,near_name,far_name` all cells are
        names, even if they look like ids, and quoted cells are used exactly as written.
    chosen
        The column with the choice: the name of an item, the name of the item's column, or the item's
        position. If `items` are two columns, `chosen` has the third item. By default there is none, and the
        order of the columns says what was chosen. For a ranking, the columns of the first choice, the second
        choice, and so on.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    storage_options
        Options of the URL's file system (see `ordhc.scan`).
    **options
        Options that describe the answers, each None by default:

        * `chosen_as`: how to read `chosen`: "name", "column", "place" (a position from 1), "place0" (a
          position from 0), "sign" (1 for the first of two, -1 for the second), or the meaning of each cell,
          as ``{"f": "left", "j": "right"}``. By default all rows together decide. If two readings are
          possible, that is an error.
        * `ranks`: for a ranking, the columns of ranks, one for each item except the reference. Rank 1 is
          nearest. Items with equal ranks are not compared. Blanks come last.
        * `n_ranked`: for a ranking without `ranks`, the number of items that were ranked, by default 2.
        * `person`: the column that says who gave an answer. By default `person`, `participant`, `subject`,
          `worker` or a similar name; otherwise `ResponseId`, `run_id`, `pid`, `subj` or `sub`.
        * `weights`: the column of weights; by default `weight`, `count` or a similar name.
        * `answer`: the column with the number (or name) of the answer. Rows with the same number are one
          answer. By default `answer` or `answer_id`. Only for triplets and pairs whose columns are in order.
        * `exclude`: rows to leave out, as a column and its value or values:
          ``{"attention_check": "failed"}``; or a list of persons.
        * `na`: words that mean a missing item or answer, in addition to blanks and NA, N/A, #N/A, NaN, null.
          An empty list makes all these words items. Words in `names` are items, too. Rows with a missing item
          are left out. If these are most rows, that is an error.
        * `format`: the tool that wrote the file, and whose column names to expect: "salmon", "jspsych",
          "qualtrics" (with `wide`), "gorilla", "psychopy", "cblearn", "prolific" or "collect" (trials of
          ordhc-collect).
        * `participants`: a file or frame with one row per person. `exclude` can use its columns. With
          "prolific" this is the export of Prolific: it leaves out persons who are not in it, and submissions
          that were rejected, returned or timed out.
        * `wide`: for files with one row per person and one column per question: a regular expression for the
          names of these columns. It must match the whole name, or else occur in the question's text (the
          second row of Qualtrics' files). Named groups are the items: ``"Q_(?P<a>.+)_(?P<b>.+)_(?P<c>.+)"``.
          Each cell is a choice. A blank cell means that the person did not get the question.
        * `questions`: a file or frame with one row per question. Its first column has values of a column of
          the answers, or with `wide` the names of the questions' columns. `items` can use its other columns.

        Options about leaves:

        * `names`: the names of the leaves, or a file with them (see `ordhc.io.read_names`). Without `names`,
          the names in the file are numbered in order of first appearance. If `names` are whole numbers, ids
          in the file are looked up among them.
        * `n_leaves`: the number of leaves; by default the number of names, or the largest id plus one.
        * `ids_from`: the id of the first leaf: 0, or 1 for ids from R or MATLAB. By default ids count from 0.
          But ids are read as names if more than half of the numbers 0..max never occur, for example stimuli
          called 101..112.

        Options about the file:

        * `delimiter`: the character between columns of text; by default detected.
        * `header`: True if text has a header; by default detected.
        * `comment`: a character; lines of text that begin with it are skipped. By default none.
        * `skip_bad`: True also leaves out rows that cannot be used, with a warning that lists them: an item
          occurs twice, the choice is not one of the items, a name is unknown, or the number of columns
          differs. By default such a row is an error.

    Returns
    -------
    Triplets or Quadruplets
        One or more rows per answer, with the number of the answer, and the person if persons are known.

    Warns
    -----
    SkippedRowsWarning
        Rows were left out. The warning has their number for each reason, and the first of these rows.

    Raises
    ------
    InputError
        The file cannot be read, or can be read in two ways. The error has the file, the line and the value.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_answers(io.StringIO("head,winner,loser\\ncat,dog,car\\ndog,cat,car\\n")).names
    ('cat', 'dog', 'car')
    >>> text = "subject,left,middle,right,key,rt\\nann,cat,car,dog,2,812\\nbob,bus,cow,car,2,640\\n"
    >>> t = ordhc.read_answers(
    ...     io.StringIO(text),
    ...     "odd-one-out",
    ...     items=["left", "middle", "right"],
    ...     chosen="key",
    ...     chosen_as="place",
    ... )
    >>> [tuple(t.names[leaf] for leaf in row) for row in t[:2]]
    [('cat', 'dog', 'car'), ('dog', 'cat', 'car')]
    >>> t.answers.tolist(), t.group_names
    ([0, 0, 1, 1], ('ann', 'bob'))
    """
    asked = Asked.of("read_answers", FileOptions, kind, items, chosen, options)
    if is_remote(file):
        file = Remote(str(file), storage(storage_options))
    elif storage_options is not None:
        raise InputError("storage_options is for URLs: leave it out")
    return answers_of_file(file, asked, progress=progress)


@shows_progress("reading")
@_checks.remedied("ordhc.scan(file) reads it block by block, and keeps sums only")
def answers_of_file(file: Source, asked: Asked, *, progress: Any = None) -> Triplets | Quadruplets:
    if asked.format is not None:
        _checks.choice("format", asked.format, FORMATS)
    in_order, delimiter = _in_order(asked), delimiter_of(file, asked.delimiter)
    if in_order is not None and not suffix_of(file, _JSON):
        read: Triplets | Quadruplets = read_in_order(file, replace(in_order, delimiter=delimiter), progress)
        return read
    if asked.answer is not None:
        raise InputError("each row of the file is one answer: leave out the argument `answer` (--answer)")
    asked = replace(asked, names=as_names(asked.names), delimiter=delimiter)
    data = read_content(file)
    with reading(name_of(file), "answers", data):
        table, own = read_table(file, data, asked)
        if asked.names is None and own is not None:
            asked = replace(asked, names=own, ids_from=asked.ids_from or 0)
        people = _side_table(asked.participants, "participants")
        questions = _side_table(asked.questions, "questions")
        items, chosen = (_names_for_positions(table, given) for given in (asked.items, asked.chosen))
        asked = replace(asked, items=items, chosen=chosen, participants=people, questions=questions)
        made = comparisons_of_replies(*replies_with_format(table, asked))
    if progress is not None:
        progress(1.0)
    return made


_JSON = (".json", ".jsonl")


def _in_order(asked: Asked) -> Asked | None:
    items, chosen = asked.items, asked.chosen
    further: list[Any] = [asked.chosen_as, asked.ranks, asked.exclude, asked.format, asked.participants]
    further += [asked.wide, asked.questions]
    if any(given is not None for given in further):
        return None
    if items is not None and (isinstance(items, str) or len(_checks.listed("items", items)) < 2):
        return None
    is_of_three = asked.kind in ("odd-one-out", "most-central")
    if chosen is None:
        return None if is_of_three and items is not None else asked
    if is_of_three and items is not None and isinstance(chosen, str | int):
        others = [name for name in _checks.listed("items", items) if name != chosen]
        return replace(asked, items=[chosen, *others], chosen=None) if len(others) == 2 else None
    return None


def _positions(asked: Asked) -> list[int]:
    given = [
        each
        for some in (asked.items, asked.chosen)
        for each in (some if isinstance(some, list | tuple) else [some])
    ]
    return [at for each in given if not isinstance(each, str) and (at := _checks.as_int(each)) is not None]


def _names_for_positions(table: Table, given: Any) -> Any:
    if isinstance(given, list | tuple):
        return [_names_for_positions(table, each) for each in given]
    at = None if isinstance(given, str) else _checks.as_int(given)
    return given if at is None or at in table.names else table.names[at]


def _side_table(given: Any, what: str) -> Table | None:
    if given is None:
        return None
    if isinstance(given, str | os.PathLike) or hasattr(given, "read"):
        data = read_content(given)
        with reading(name_of(given), what, data):
            return read_table(given, data, Asked(delimiter=delimiter_of(given)))[0]
    return table_of(given)


def read_table(file: Source, data: bytes, asked: Asked) -> tuple[Table, tuple[str, ...] | None]:
    source = name_of(file)
    suffix = suffix_of(file, (*SUFFIXES, *_JSON))
    if suffix == ".parquet":
        parquet = Parquet(data, source)
        return Table(parquet.column_names, parquet.cells, parquet.n_rows, source), None
    if suffix in (".npz", ".npy"):
        return _of_arrays(data, source, suffix)
    if suffix in _JSON or data.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"[", b"{"):
        return _of_json(data, source), None
    return _of_text(data, source, asked), None


def _of_text(data: bytes, source: str, asked: Asked) -> Table:
    """Return the table of delimited text; each column is read when it is used for the first time."""
    refuse_others(data, source, "answers")
    text, positions = text_of(data, source), _positions(asked)

    def parts(wanted: list[int]) -> Any:
        try:
            return _ordhc.code_table(text, asked.delimiter, asked.comment, wanted)
        except InputError as error:
            raise located(error, source) from None

    cells, lines, widths, repeats, columns = parts(positions)
    if not len(lines):
        raise InputError("the file is empty", path=source)
    width, line = len(cells), int(lines[0])
    for at in positions:
        if not 0 <= at < width:
            reason = f"there is no column {at}; the row has {width}, counted from 0"
            raise InputError(reason, path=source, line=line)
    has_header = asked.header
    if has_header is None:
        first = [cells[at].strip() for at in positions]
        has_header = not positions or not all(cell.lstrip("+-").isdigit() for cell in first)
        if positions and has_header:
            used = [Column(texts, codes[1:]).used() for codes, texts in columns]
            check_header(source, line, first, {cell.strip() for some in used for cell in some if cell})
    # Columns without a name get a name that no column has in practice.
    header = [cell.strip() or f"(column {at + 1})" for at, cell in enumerate(cells)]
    names: list[Any] = header if has_header else list(range(width))
    start = int(has_header)
    bad = {}
    for row in np.flatnonzero(widths != width).tolist():
        if not asked.skip_bad:
            reason = f"{widths[row]} columns instead of {width}; the row may be cut short"
            raise InputError(reason, path=source, line=int(lines[row]))
        bad[row - start] = f"of another number of columns than {width}"
    if has_header:
        bad |= {row - start: "that repeat the header" for row in repeats}
    if len(lines) == start:
        raise InputError("there is a header but no rows", path=source, line=line)

    # A wide file needs most of its columns, so read all in one pass instead of one pass for each column.
    coded = parts(list(range(width)))[-1] if asked.wide is not None or asked.format == "qualtrics" else None

    def read(name: Any) -> Column:
        at = names.index(name)
        codes, texts = parts([at])[-1][0] if coded is None else coded[at]
        return Column(texts, codes[start:])

    return Table(
        names, read, len(lines) - start, source, lines[start:], text=True, bad=dict(sorted(bad.items()))
    )


def _of_arrays(data: bytes, source: str, suffix: str) -> tuple[Table, tuple[str, ...] | None]:
    """Return the table of an npz or npy file: columns of a matrix by position, other arrays by name.

    Arrays whose length differs from that of the matrix are left out. Without a matrix, the most frequent
    length decides.
    """
    arrays = {"arr_0": load_array(data, source)} if suffix == ".npy" else load_arrays(data, source)
    own = texts_of(arrays, "names", source) if suffix == ".npz" else None
    columns: dict[Any, Any] = {}
    for array in arrays.values():
        if array.ndim == 2:
            columns |= {at: array[:, at] for at in range(array.shape[1])}
            length = len(array)
            break
    else:
        lengths = [len(array) for array in arrays.values() if array.ndim == 1]
        length = max(lengths, key=lengths.count, default=0)
    columns |= {name: array for name, array in arrays.items() if array.ndim == 1 and len(array) == length}
    if not columns:
        raise InputError(
            f"the arrays {quoted(list(arrays))} are no columns: give arrays of one or two dimensions",
            path=source,
        )
    return Table(list(columns), lambda name: columns[name].tolist(), length, source), own


def _of_json(data: bytes, source: str) -> Table:
    """Read trials from JSON text: a list of objects, nested lists of objects, or an object on each line."""
    text = text_of(data, source)
    try:
        found = [json.loads(text)]
    except ValueError as error:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise InputError(f"is not JSON: {error}", path=source) from None
    trials: list[dict[str, Any]] = []
    while found:
        part = found.pop(0)
        if isinstance(part, list):
            found = [*part, *found]
        elif isinstance(part, dict):
            inner = part.get("trials", part.get("data"))
            if isinstance(inner, list):
                found = [*inner, *found]
            else:
                trials.append(part)
        else:
            raise InputError(f"has {quoted(part)} where a trial (an object) is needed", path=source)
    if not trials:
        raise InputError("there are no trials", path=source)
    names = list(dict.fromkeys(name for trial in trials for name in trial))
    return Table(names, lambda name: [trial.get(name) for trial in trials], len(trials), source)
