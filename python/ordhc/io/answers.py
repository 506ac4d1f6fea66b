"""Answers from people's files: columns by name, a row an answer."""

import json
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
from ordhc.io.files import Source, delimiter_of, name_of, read_bytes, suffix_of, text_of
from ordhc.io.guard import reading, refuse_others
from ordhc.io.names import as_names
from ordhc.io.remote import Remote, is_remote, storage
from ordhc.io.sheet import check_header, located

__all__ = ["read_answers", "read_table"]


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
    """Read a file of answers, one a row: csv, tsv, text with blanks, Parquet, npz, npy, JSON.

    Parameters
    ----------
    file
        The file (text also as .gz, .bz2, .xz or .zst), a URL (``s3://``, ``https://``; extra `remote`), "-"
        for standard input, or an open stream. Columns that aren't named here are passed over, but for those
        that are known by name (weights, persons).
    kind
        What was asked: "odd-one-out" or "most-central" of three; "triplet", which of two is more like an
        anchor; "pairs", which of two pairs is more alike (these make `Quadruplets`); "ranking", some by how
        near they are to a reference. By default "triplet".
    items
        The columns of the items, by name or position, in any order for three of which one is chosen; else the
        anchor and the two others, the four of two pairs, or the reference and the others, the nearest first
        unless `chosen` or `ranks` tell the order. A column of lists (JSON) stands for a column for each place
        in them. By default those with usual names, in any order and case: `odd,a,b`, `central,left,right`,
        `anchor,near,far`, `head,winner,loser` (Salmon), `anchor,positive,negative`, `i,j,k`, `i,j,k,l`, ...;
        or all columns of a file without a header. In columns `anchor_name,near_name,far_name` cells are names
        even if they look like ids, and those in quotes are taken to the letter.
    chosen
        The column of what was chosen: an item's name, the name of its column, or its place. With two columns
        of items, the third item. Without it, triplets are anchor, near, far and pairs are in order. For a
        ranking, the columns of the first choice, the second, ...
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    storage_options
        What the file system of a URL takes (see `ordhc.scan`).
    **options
        What the answers are, each None by default:

        * `chosen_as`: how `chosen` is read: "name", "column", "place" (from 1), "place0" (from 0), "sign" (1
          or -1 of two), or what each cell means, as ``{"f": "left", "j": "right"}``. By default that is found
          out from all rows together; what can be read in two ways is an error.
        * `ranks`: of a ranking the columns of ranks, one for each item but the reference: 1 is nearest, equal
          ranks say nothing about each other, blanks come last.
        * `n_ranked`: of a ranking without these, how many of the others are ranked, by default two.
        * `person`: the column that says whose answer a row is; by default `person`, `participant`, `subject`,
          `worker` and the like, or else `ResponseId`, `run_id`, `pid`, `subj` or `sub`, if there is one.
        * `weights`: the column of weights; by default `weight`, `count` and the like.
        * `answer`: the column of numbers (or names) of answers, rows of which belong together; by default
          `answer` or `answer_id`, if there is one. Only of triplets and pairs in order.
        * `exclude`: rows to leave out, by column and value or values, as ``{"attention_check": "failed"}``;
          or persons.
        * `na`: words for a missing item or answer, besides blanks and NA, N/A, #N/A, NaN, null. With an empty
          list all of these are items, as they are if they are among `names`. Rows without all items are left
          out; if they are most rows, that is an error.
        * `format`: "salmon", "jspsych", "qualtrics" (with `wide`), "gorilla", "psychopy", "cblearn",
          "prolific" or "collect" (trials of ordhc-collect): columns are called as these tools call them.
        * `participants`: a file or frame with a row for each person, whose columns `exclude` can name; with
          "prolific" its export: rejected, returned and timed-out submissions, and persons who aren't in it,
          are left out.
        * `wide`: for files with a row for each person and a column for each question, a regular expression
          that matches the whole names of the questions' columns, or else occurs in their texts (the second
          row of Qualtrics' files). Its named groups are the items: ``"Q_(?P<a>.+)_(?P<b>.+)_(?P<c>.+)"``.
          Cells are what was chosen. Blank cells are questions that the person did not get.
        * `questions`: a file or frame with a row for each question, whose further columns `items` can name.
          Its first column is a column of the answers, or with `wide` the name of the question's column.

        Leaves:

        * `names`: the names of the leaves, or a file with them (see `ordhc.io.read_names`). Files may hold
          ids or names; names are numbered in order of first appearance unless given here. If `names` are
          whole numbers, ids are looked up among them.
        * `n_leaves`: the number of leaves; by default the number of names, or the largest id plus one.
        * `ids_from`: the id of the first leaf: 0, or 1 for ids from R or MATLAB. By default ids count from 0,
          and are names if more than half of 0..max never occur, as of stimuli that are called 101..112.

        The file:

        * `delimiter`, `header`: what separates columns, and whether text has a header, where it isn't found
          out rightly.
        * `comment`: a character: lines of text that begin with it are passed over. By default none are.
        * `skip_bad`: True leaves out rows that cannot be used (an item twice, a chosen one that isn't there,
          another number of columns, an unknown name) as well, with a warning that lists them.

    Returns
    -------
    Triplets or Quadruplets
        All rows of an answer with its number, and with the person where persons are known.

    Warns
    -----
    SkippedRowsWarning
        How many rows were left out by which reason, and where the first of each stands.

    Raises
    ------
    InputError
        What cannot be read, or in two ways, with file, line and value.

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
    """Read answers as `read_answers` does."""
    if asked.format is not None:
        _checks.choice("format", asked.format, FORMATS)
    asked = replace(asked, names=as_names(asked.names), delimiter=delimiter_of(file, asked.delimiter))
    in_order = _in_order(asked)
    if in_order is not None and not suffix_of(file, _JSON):
        read: Triplets | Quadruplets = read_in_order(file, in_order, progress=progress)
        return read
    if asked.answer is not None:
        raise InputError("each row is an answer here: leave out answer (--answer)")
    data = read_bytes(file)
    with reading(name_of(file), "answers", data):
        table, own = read_table(file, data, asked)
        if asked.names is None and own is not None:
            asked = replace(asked, names=own, ids_from=asked.ids_from or 0)
        people = None if asked.participants is None else _beside(asked.participants, "participants")
        questions = None if asked.questions is None else _beside(asked.questions, "questions")
        items, chosen = (_by_names(table, given) for given in (asked.items, asked.chosen))
        asked = replace(asked, items=items, chosen=chosen, participants=people, questions=questions)
        made = comparisons_of_replies(*replies_with_format(table, asked))
    if progress is not None:
        progress(1.0)
    return made


_JSON = (".json", ".jsonl")


def _in_order(asked: Asked) -> Asked | None:
    """Return `asked` with all columns as items in the order of roles; None if a cell names the choice."""
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
    """Return the columns that are given by position."""
    given = [
        each
        for some in (asked.items, asked.chosen)
        for each in (some if isinstance(some, list | tuple) else [some])
    ]
    return [at for each in given if not isinstance(each, str) and (at := _checks.as_int(each)) is not None]


def _by_names(table: Table, given: Any) -> Any:
    """Columns that are given by their positions by the names that they have."""
    if isinstance(given, list | tuple):
        return [_by_names(table, each) for each in given]
    at = None if isinstance(given, str) else _checks.as_int(given)
    return given if at is None or at in table.names else table.names[at]


def _beside(given: Any, what: str) -> Table:
    """Return the table of participants or of questions, from a file or a frame."""
    if isinstance(given, Table):
        return given
    if isinstance(given, str) or hasattr(given, "read") or hasattr(given, "__fspath__"):
        data = read_bytes(given)
        with reading(name_of(given), what, data):
            return read_table(given, data, Asked(delimiter=delimiter_of(given)))[0]
    return table_of(given)


def read_table(file: Source, data: bytes, asked: Asked) -> tuple[Table, tuple[str, ...] | None]:
    """Any file as columns by name, and the names of leaves that it holds."""
    source = name_of(file)
    if not data or data.isspace():
        raise InputError("the file is empty", path=source)
    suffix = suffix_of(file, (*SUFFIXES, *_JSON))
    if suffix == ".parquet":
        parquet = Parquet(data, source)
        return Table(parquet.there, parquet.cells, parquet.n_rows, source), None
    if suffix in (".npz", ".npy"):
        return _of_arrays(data, source, suffix)
    if suffix in _JSON or data.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] in (b"[", b"{"):
        return _of_json(data, source), None
    return _of_text(data, source, asked), None


def _of_text(data: bytes, source: str, asked: Asked) -> Table:
    """Columns of delimited text; each is coded when it is asked for."""
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
    # Columns without a name can't be asked for.
    header = [cell.strip() or f"(column {at + 1})" for at, cell in enumerate(cells)]
    names: list[Any] = header if has_header else list(range(width))
    start = int(has_header)
    bad = {}
    for row in np.flatnonzero(widths != width).tolist():
        if not asked.skip_bad:
            told = f"{widths[row]} columns instead of {width}; the row may be cut short"
            raise InputError(told, path=source, line=int(lines[row]))
        bad[row - start] = f"of another number of columns than {width}"
    if has_header:
        bad |= {row - start: "that repeat the header" for row in repeats}
    if len(lines) == start:
        raise InputError("there is a header but no rows", path=source, line=line)

    # A wide file needs most of its columns: read them together, not in a pass for each.
    coded = parts(list(range(width)))[-1] if asked.wide is not None or asked.format == "qualtrics" else None

    def read(name: Any) -> Column:
        at = names.index(name)
        codes, texts = parts([at])[-1][0] if coded is None else coded[at]
        return Column(texts, codes[start:])

    return Table(
        names, read, len(lines) - start, source, lines[start:], text=True, bad=dict(sorted(bad.items()))
    )


def _of_arrays(data: bytes, source: str, suffix: str) -> tuple[Table, tuple[str, ...] | None]:
    """Columns of npz and npy: of a matrix by their positions, arrays of as many cells by their names."""
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
        raise InputError(f"there are no columns among the arrays {quoted(list(arrays))}", path=source)
    return Table(list(columns), lambda name: columns[name].tolist(), length, source), own


def _of_json(data: bytes, source: str) -> Table:
    """Trials as JSON: a list of objects, lists of such lists, or one of these a line."""
    text = text_of(data, source)
    try:
        found = [json.loads(text)]
    except ValueError as error:
        try:
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            raise InputError(f"is no JSON: {error}", path=source) from None
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
            raise InputError(f"holds {quoted(part)} where trials (objects) are needed", path=source)
    if not trials:
        raise InputError("there are no trials", path=source)
    names = list(dict.fromkeys(name for trial in trials for name in trial))
    return Table(names, lambda name: [trial.get(name) for trial in trials], len(trials), source)
