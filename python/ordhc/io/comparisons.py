"""Comparisons from files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ordhc import _checks
from ordhc._checks import quoted
from ordhc._progress import Progress, part, shows_progress
from ordhc.comparison.cells import checked_ranked
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.comparison.frames import CENTRAL, ODD, PAIRS, ROLES
from ordhc.comparison.ids import check_ids_from
from ordhc.comparison.rows import changed
from ordhc.comparison.tables import missing_words
from ordhc.errors import InputError
from ordhc.io.arrays import Table, from_arrays, rows_of
from ordhc.io.files import Source, name_of, read_bytes, suffix_of
from ordhc.io.guard import reading
from ordhc.io.names import as_names
from ordhc.io.parsed import assemble, settle
from ordhc.io.texts import drop_headers, from_text

SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".npz", ".npy")
KNOWN: dict[type, list[list[str]]] = {
    Triplets: [list(known) for known in ROLES["triplets"]],
    Quadruplets: [list(known) for known in ROLES["quadruplets"]],
}
#: Questions whose answers become several triplets, and the columns of their answers.
QUESTIONS: dict[str, list[list[str]]] = {
    "odd-one-out": [[odd, *pair] for pair in PAIRS for odd in ODD],
    "most-central": [[central, *pair] for pair in PAIRS for central in CENTRAL],
    "ranking": [],
}

Kind = TypeVar("Kind", Triplets, Quadruplets)


def read_triplets(
    path: Source,
    columns: Sequence[str] | Sequence[int] | None = None,
    *,
    n_leaves: int | None = None,
    ids_from: int | None = None,
    names: Sequence[str] | Source | None = None,
    weights: str | None = None,
    answer: str | None = None,
    group: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] | None = None,
    comment: str | None = None,
    skip_bad: bool = False,
    progress: Progress | bool | None = None,
) -> Triplets:
    """Read triplets from csv, tsv, text with blanks, Parquet, npz or npy.

    Parameters
    ----------
    path
        The file (csv and tsv also as .gz), "-" for standard input, or an open stream.
    columns
        The columns of anchor, near and far, by name or by position. By default `anchor,near,far`,
        `head,winner,loser` (Salmon), `anchor,positive,negative` or `i,j,k` in the header, in any order and
        case, or the three columns of a file without one. In columns `anchor_name,near_name,far_name` cells
        are names even if they look like ids, and those in quotes are taken to the letter.
    n_leaves
        The number of leaves; by default the number of names, or the largest id plus one.
    ids_from
        The id of the first leaf: 0, or 1 for ids from R or MATLAB. By default ids count from 0, and are names
        if more than half of 0..max never occur, as of stimuli that are called 101..112.
    names
        The names of the leaves, or a file with them (see `ordhc.io.read_names`). Files may hold ids
        or names; names are numbered in order of first appearance unless given here. If `names` are whole
        numbers, ids are looked up among them.
    weights
        The column of weights; by default `weight`, `count` and the like if there is one.
    answer
        The column of numbers (or names) of answers, rows of which belong together; by default `answer` or
        `answer_id`, if there is one.
    group
        The column that says whose answer a row is; by default `person`, `participant`, `subject`,
        `worker` and the like, if there is one.
    delimiter, header
        What separates columns, and whether text has a header, where it isn't found out rightly.
    missing
        Words for a missing leaf, besides blanks and NA, N/A, #N/A, NaN, null; with an empty list only blanks
        are missing. Rows without all leaves are passed over with a warning that counts them; if they are most
        rows, that is an error. Names in `names` are not missing.
    comment
        A character: lines of text that begin with it are passed over. By default none are.
    skip_bad
        Pass over rows that cannot be used (a leaf twice, another number of columns, an unknown name),
        with a warning (`SkippedRowsWarning`) that lists them all.
    progress
        True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1.

    Raises
    ------
    InputError
        What cannot be read, with file, line and value.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_triplets(io.StringIO("head,winner,loser\\ncat,dog,car\\ndog,cat,car\\n")).names
    ('cat', 'dog', 'car')
    """
    return read_comparisons(
        Triplets,
        path,
        columns,
        n_leaves=n_leaves,
        ids_from=ids_from,
        names=names,
        weights=weights,
        answer=answer,
        group=group,
        delimiter=delimiter,
        header=header,
        missing=missing,
        comment=comment,
        skip_bad=skip_bad,
        progress=progress,
    )


def read_quadruplets(
    path: Source,
    columns: Sequence[str] | Sequence[int] | None = None,
    *,
    n_leaves: int | None = None,
    ids_from: int | None = None,
    names: Sequence[str] | Source | None = None,
    weights: str | None = None,
    answer: str | None = None,
    group: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] | None = None,
    comment: str | None = None,
    skip_bad: bool = False,
    progress: Progress | bool | None = None,
) -> Quadruplets:
    """Read quadruplets; as `read_triplets`, with the columns `i,j,k,l`.

    Examples
    --------
    >>> import io, ordhc
    >>> ordhc.read_quadruplets(io.StringIO("0,1,2,3\\n"))
    <Quadruplets: 1 of 4 leaves>
    """
    return read_comparisons(
        Quadruplets,
        path,
        columns,
        n_leaves=n_leaves,
        ids_from=ids_from,
        names=names,
        weights=weights,
        answer=answer,
        group=group,
        delimiter=delimiter,
        header=header,
        missing=missing,
        comment=comment,
        skip_bad=skip_bad,
        progress=progress,
    )


def read_in_order(
    path: Source, kind: str, columns: Sequence[str] | Sequence[int] | None = None, **options: Any
) -> Triplets | Quadruplets:
    """Answers whose columns stand in the order of their roles, the chosen one or the reference first.

    By default columns are found by name as `read_triplets` finds its own, those of a ranking are all but the
    ones of weights, answers and persons. The options are those of `read_triplets`.
    """
    n_ranked = options.pop("n_ranked", None)
    if kind == "triplet":
        return read_comparisons(Triplets, path, columns, **options)
    if kind == "pairs":
        return read_comparisons(Quadruplets, path, columns, **options)

    def make(rows: Any, **known: Any) -> Triplets:
        # Each row is an answer: numbers of answers in the file say nothing more.
        known.pop("answers", None)
        adaptive = known.pop("adaptive", None)
        if (group_names := known.pop("group_names", None)) is not None:
            known["groups"] = np.array(group_names, dtype=object)[known["groups"]]
        if kind == "ranking":
            made = Triplets.from_ranking(rows, checked_ranked(n_ranked, rows.shape[1] - 1), **known)
        elif kind == "odd-one-out":
            made = Triplets.from_odd_one_out(rows, **known)
        else:
            made = Triplets.from_most_central(rows, **known)
        return changed(made, adaptive=adaptive)

    form, leaves = _Form(make, QUESTIONS[kind], False), _Leaves.taken(options)
    found: Triplets = _read(form, path, columns, leaves, **options)
    return found


def read_comparisons(
    kind: type[Kind], path: Source, columns: Sequence[str] | Sequence[int] | None = None, **options: Any
) -> Kind:
    """Read triplets or quadruplets; the options are those of `read_triplets`."""
    form, leaves = _Form(kind, KNOWN[kind], kind is Quadruplets), _Leaves.taken(options)
    found: Kind = _read(form, path, columns, leaves, **options)
    return found


@dataclass(frozen=True)
class _Form:
    """How the rows of a file become comparisons: a function of rows, and the known names of the columns."""

    make: Callable[..., Any]
    columns: list[list[str]]
    of_pairs: bool


@dataclass(frozen=True)
class _Leaves:
    """The options of `read_triplets` that say which leaves a file is about.

    `by_name` is True if positions are refused, because `names` are those of a tree.
    """

    n_leaves: int | None = None
    names: Sequence[str] | Source | None = None
    ids_from: int | None = None
    by_name: bool = False

    @classmethod
    def taken(cls, options: dict[str, Any]) -> "_Leaves":
        """Take these options out of those of a reader."""
        mine = [name for name in ("n_leaves", "names", "ids_from", "by_name") if name in options]
        return cls(**{name: options.pop(name) for name in mine})


@shows_progress("reading")
def _read(
    form: _Form,
    path: Source,
    columns: Sequence[str] | Sequence[int] | None,
    leaves: _Leaves,
    *,
    skip_bad: bool = False,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Any:
    progress = _checks.callback("progress", progress)
    given = as_names(leaves.names)
    n_leaves = leaves.n_leaves
    n_leaves = None if n_leaves is None else _checks.whole("n_leaves", n_leaves, at_least=1)
    ids_from = check_ids_from(leaves.ids_from)
    make, known, quadruplets = form.make, form.columns, form.of_pairs
    chosen = chosen_columns(columns, len(known[0]) if known else None, known)
    source = name_of(path)
    suffix = suffix_of(path, SUFFIXES)
    data = read_bytes(path)
    if not data.strip():
        raise InputError("the file is empty", path=source)
    options["missing"] = missing_words("missing", options.get("missing"), given)
    with reading(source, "comparisons", data):
        responses = None
        if suffix in (".npz", ".npy"):
            width = len(known[0]) if known else None
            for option in ("answer", "group", "weights"):
                if options.get(option) is not None:
                    raise InputError(
                        f"{suffix} has no columns by name; use csv, Parquet, or `{option}s` in npz",
                        path=source,
                    )
            parsed, responses = from_arrays(data, source, suffix, width, tuple(known[0]) if known else ())
        elif suffix == ".parquet":
            further = {name: options.get(name) for name in ("weights", "answer", "group")}
            parsed = rows_of(Table(data, source), chosen, known, options["missing"], **further)
        else:
            told = part(progress, 0, 0.8)
            parsed = from_text(data, source, suffix, chosen, known, skip_bad, told, **options)
        drop_headers(parsed, [*known, *([chosen] if chosen else [])])
        n_leaves = parsed.n_leaves if n_leaves is None else n_leaves
        if given is None and parsed.names is None and parsed.own_names is not None:
            given, ids_from = parsed.own_names, ids_from or 0
        settle(
            parsed,
            given,
            n_leaves,
            ids_from,
            by_name=leaves.by_name,
            skip_bad=skip_bad,
            quadruplets=quadruplets,
        )
        if progress is not None:
            progress(0.8)
        if responses is not None and make is Triplets:
            rows: Any = parsed.rows
            if parsed.names is not None:
                rows = np.array(parsed.names, dtype=object)[parsed.rows]
                given = tuple(parsed.names) if given is None else given
            made = make.from_responses(rows, responses, n_leaves, given, parsed.weights)
        else:
            made = assemble(parsed, make, given, n_leaves, skip_bad=skip_bad, quadruplets=quadruplets)
    if progress is not None:
        progress(1.0)
    return made


def chosen_columns(columns: Any, width: int | None, known: list[list[str]]) -> Any:
    """The columns to read, by name or by position."""
    if columns is None:
        return None
    if isinstance(columns, str):
        raise InputError(f"columns is {quoted(columns)}; give a list of names or positions")
    chosen = _checks.listed("columns", columns)
    if (width is None and len(chosen) < 3) or (width is not None and len(chosen) != width):
        needed = "3 or more" if width is None else f"{width} are needed: {', '.join(known[0])}"
        raise InputError(f"columns are {quoted(chosen)}; {needed}")
    if all(isinstance(column, str) for column in chosen):
        wanted = [column.lower() for column in chosen]
    elif all(
        isinstance(column, int | np.integer) and not isinstance(column, bool | np.timedelta64)
        for column in chosen
    ):
        wanted = chosen = [int(column) for column in chosen]
        if min(chosen) < 0:
            raise InputError(f"columns are {quoted(chosen)}; positions count from 0")
    else:
        raise InputError(f"columns are {quoted(chosen)}; give names or positions")
    if len(set(wanted)) < len(wanted):
        raise InputError(f"columns are {quoted(chosen)}; each can be taken only once")
    for roles in known if known in KNOWN.values() else []:
        # Within a pair of a quadruplet the order says nothing.
        near = [frozenset(names[:2]) if len(names) == 4 else names for names in (wanted, roles)]
        if set(wanted) == set(roles) and near[0] != near[1]:
            wrong, role = next(pair for pair in zip(wanted, roles, strict=True) if pair[0] != pair[1])
            raise InputError(
                f"columns are {quoted(chosen)}, and stand for {', '.join(roles)}: {quoted(wrong)} would be "
                f"taken for {quoted(role)}; give them in this order, or none"
            )
    return chosen
