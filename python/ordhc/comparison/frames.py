"""Find the columns of data frames by name, in any order.

A frame is any object with named columns: a frame of pandas, polars or pyarrow, a NumPy array of records, a
dict of columns, or a list of dicts. Other frames are converted by narwhals. These packages are imported only
when they are needed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc.errors import InputError, MissingExtraError

#: Usual names of columns; case does not matter.
WEIGHTS = ("weight", "weights", "count", "counts", "votes", "n")
ANSWERS = ("answer", "answers", "answer_id", "answer_number")
PERSONS = (
    "person", "person_id", "participant", "participant_id", "subject", "subject_id", "worker", "worker_id",
    "workerid", "respondent", "respondent_id", "annotator", "annotator_id", "rater", "rater_id", "user",
    "user_id", "puid", "prolific_pid", "who",
)  # fmt: skip
#: Names of persons' columns in Qualtrics, JATOS, PsychoPy and BIDS, used if no name in `PERSONS` is found.
LESS_SURE = (
    "responseid", "response_id", "run_id", "pid", "subj", "subj_id", "sub", "sub_id",
)  # fmt: skip
PEOPLE = (*PERSONS, *LESS_SURE)
GROUPS = ("group", "groups", *PERSONS)
RESPONSES = ("y", "response", "target")
#: The column that names the sampler: how a question was selected, for example by a learner.
SAMPLERS = ("sampler",)
_LEARNERS = ("learner", "uncertain")

#: Names of the columns of two items, beside the column of the odd item, the central item or the anchor.
PAIRS = (("a", "b"), ("left", "right"), ("first", "second"), ("other_1", "other_2"), ("x", "y"), ("i", "j"))
ODD = ("odd", "odd_one_out", "odd_one", "odd_item")
CENTRAL = ("central", "most_central", "centre", "center")

#: Names of the columns of leaves, by the kind of rows.
ROLES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "triplets": (
        ("anchor", "near", "far"),
        ("head", "winner", "loser"),
        ("anchor", "positive", "negative"),
        ("i", "j", "k"),
    ),
    "quadruplets": (("i", "j", "k", "l"), ("near_a", "near_b", "far_a", "far_b")),
    "odd one out": tuple((odd, *pair) for odd in ODD for pair in PAIRS),
    "most central": tuple((central, *pair) for central in CENTRAL for pair in PAIRS),
    "responses": (("anchor", "a", "b"),),
}
_MAKERS = {
    "triplets": "Triplets",
    "quadruplets": "Quadruplets",
    "odd one out": "Triplets.from_odd_one_out",
    "most central": "Triplets.from_most_central",
    "responses": "Triplets.from_responses",
}


@dataclass(frozen=True)
class Columns:
    """The contents of a frame: the leaves of each row, (m, w), and optional further columns."""

    rows: Any
    weights: Any = None
    answers: Any = None
    groups: Any = None
    responses: Any = None
    adaptive: bool | None = None


def are_adaptive(samplers: Iterable[Any]) -> bool:
    return any(str(sampler).strip().lower() in _LEARNERS for sampler in set(samplers))


def columns_of(data: Any, what: str, width: int) -> Columns | None:
    """Return the columns of a frame by name, or None if `data` is not a frame.

    If the names are numbers or unknown, and the frame has exactly `width` columns, these are the leaves, in
    the order of the columns.
    """
    data = eager(data)
    names = column_names(data)
    if names is None:
        return None
    plain = [name.strip().lower() if isinstance(name, str) else "" for name in names]
    shown = ", ".join(str(name) for name in names)
    sets = [known for known in ROLES.get(what, ()) if all(name in plain for name in known)]
    # A frame with the columns i, j, k, l also has i, j, k, but it holds quadruplets.
    wider = [known for known in ROLES["quadruplets"] if what == "triplets" and set(known) <= set(plain)]
    if wider:
        raise _other_kind(shown, "quadruplets", wider[0])
    if len(sets) > 1:
        both = " and ".join(", ".join(known) for known in sets[:2])
        raise InputError(f"the columns {_checks.quoted(shown)} hold both {both}: keep only one of these sets")
    if not sets:
        return _by_position(data, names, plain, shown, what, width)
    for name in {*sets[0], *WEIGHTS, *ANSWERS, *GROUPS}:
        if plain.count(name) > 1:
            raise InputError(
                f"there are {plain.count(name)} columns {_checks.quoted(name)} among {_checks.quoted(shown)}"
            )
    leaves = [column_of(data, names[plain.index(name)]) for name in sets[0]]
    weights, answers, groups = (_further(data, names, plain, known) for known in (WEIGHTS, ANSWERS, GROUPS))
    if groups is None:
        groups = _further(data, names, plain, LESS_SURE)
    responses = _further(data, names, plain, RESPONSES) if what == "responses" else None
    samplers = _further(data, names, plain, SAMPLERS)
    adaptive = None if samplers is None else are_adaptive(np.asarray(samplers).tolist())
    return Columns(_stacked(leaves), weights, answers, groups, responses, adaptive)


def _other_kind(shown: str, kind: str, known: Sequence[str]) -> InputError:
    return InputError(
        f"the columns are {_checks.quoted(shown)}: {', '.join(known)} are for ordhc.{_MAKERS[kind]}"
    )


def _by_position(
    data: Any, names: Sequence[Any], plain: list[str], shown: str, what: str, width: int
) -> Columns:
    needed = ", ".join(ROLES[what][0]) if what in ROLES else f"{width} leaves"
    for kind, sets in ROLES.items():
        for known in sets:
            if kind != what and all(name in plain for name in known):
                raise _other_kind(shown, kind, known)
    further = [name for name in plain if name in {*WEIGHTS, *ANSWERS, *GROUPS}]
    if what == "ranking":
        # Find the reference by its name; the other columns keep their order.
        keep = [at for at, name in enumerate(plain) if name not in further]
        keep.sort(key=lambda at: plain[at] != "reference")
        if not keep:
            raise InputError("there are no columns of leaves")
        weights, answers, groups = (
            _further(data, names, plain, known) for known in (WEIGHTS, ANSWERS, GROUPS)
        )
        return Columns(_stacked([column_of(data, names[at]) for at in keep]), weights, answers, groups)
    vague = {name for pair in PAIRS for name in pair}
    specific = {name for sets in ROLES.values() for known in sets for name in known} - vague - {"k", "l"}
    found = [name for name in plain if name in specific]
    if found:
        raise InputError(
            f"the columns are {_checks.quoted(shown)}; {needed} are needed: "
            f"{found[0]!r} alone does not say which column is which"
        )
    if further or len(names) != width:
        raise InputError(f"the columns are {_checks.quoted(shown)}; {needed} are needed")
    return Columns(_stacked([column_of(data, name) for name in names]))


def column_names(data: Any) -> list[Any] | None:
    if isinstance(data, np.ndarray):
        return None if data.dtype.names is None else list(data.dtype.names)
    if isinstance(data, Mapping):
        return list(data)
    if hasattr(data, "collect_schema"):
        # Polars would warn if the attribute `columns` of a lazy frame were read.
        return list(data.collect_schema().names())
    for attribute in ("column_names", "columns"):
        names = getattr(data, attribute, None)
        if names is not None and not callable(names) and hasattr(data, "__getitem__"):
            try:
                return list(names)
            except Exception as error:
                raise InputError(f"the columns cannot be read: {_checks.quoted(str(error))}") from None
    return None


def without_names(data: Any) -> tuple[Any, list[Any] | None]:
    """Split off the first column of a frame, if it has the names of the rows of a table of numbers.

    If the first column has no text, or the frame has an index of its own, the data are returned unchanged,
    with None for the names.
    """
    shape = getattr(data, "shape", None)
    if isinstance(data, np.ndarray) or not isinstance(shape, tuple) or len(shape) != 2 or not shape[0]:
        return data, None
    columns = column_names(data)
    if not columns:
        return data, None
    if hasattr(data, "iloc"):
        if list(data.index) != list(range(len(data))):
            return data, None
        names, rest = data.iloc[:, 0].tolist(), data.iloc[:, 1:]
    elif hasattr(data, "column_names"):
        names, rest = data.column(0).to_pylist(), data.select(columns[1:])
    else:
        names, rest = data[columns[0]].to_list(), data[columns[1:]]
    return (rest, names) if any(isinstance(name, str) for name in names) else (data, None)


def eager(data: Any) -> Any:
    """Return a frame whose columns can be indexed by name.

    Lists of dicts are converted and lazy frames are collected. Other input is returned unchanged.
    """
    if isinstance(data, list) and data and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        return {name: _objects([row.get(name) for row in data]) for name in names}
    # narwhals is imported only for frames of a package that is already loaded.
    if isinstance(data, Mapping | np.ndarray | Sequence) or type(data).__module__.split(".")[0] in _DIRECT:
        if not hasattr(data, "collect"):
            return data
    elif not (hasattr(data, "columns") or hasattr(data, "__narwhals_dataframe__")):
        return data
    try:
        import narwhals
    except ImportError:
        if hasattr(data, "collect"):
            raise MissingExtraError.of("a lazy frame", "narwhals", "frames") from None
        return data
    found = narwhals.from_native(data, pass_through=True)
    if isinstance(found, narwhals.LazyFrame):
        found = found.collect()
    if not isinstance(found, narwhals.DataFrame):
        return data
    return {name: found.get_column(name).to_numpy() for name in found.columns}


#: Packages whose columns are read without narwhals.
_DIRECT = ("ordhc", "numpy", "pandas", "polars", "pyarrow", "scipy")


def _objects(cells: list[Any]) -> Any:
    if {type(cell) for cell in cells} <= {int} or {type(cell) for cell in cells} <= {str}:
        found = np.array(cells)
        if found.dtype.kind in "iU":
            return found
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def column_of(data: Any, name: Any) -> Any:
    try:
        column = data[name]
        if type(column).__module__.startswith("pyarrow"):
            # Arrays with nulls must be copied, and pyarrow copies only on request.
            chunked = hasattr(column, "chunks")
            return np.asarray(column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False))
        if not isinstance(column, np.ndarray) and hasattr(column, "to_numpy"):
            return np.asarray(column.to_numpy())
        return np.asarray(column) if not isinstance(column, np.ma.MaskedArray) else column
    except Exception as error:
        raise InputError(
            f"column {_checks.quoted(name)} cannot be read: {_checks.quoted(str(error))}"
        ) from None


def _further(data: Any, names: Sequence[Any], plain: list[str], known: Sequence[str]) -> Any:
    there = [name for name in plain if name in known]
    if len(there) > 1:
        raise InputError(f"columns {there[0]!r} and {there[1]!r} mean the same: keep only one of them")
    return column_of(data, names[plain.index(there[0])]) if there else None


def _stacked(columns: list[Any]) -> Any:
    """Join columns to a table; text and numbers together become objects, so that numbers stay numbers."""
    for at, column in enumerate(columns):
        if column.ndim != 1 or len(column) != len(columns[0]):
            raise InputError(f"column {at} has shape {column.shape}, the first one {columns[0].shape}")
    if any(isinstance(column, np.ma.MaskedArray) for column in columns):
        return np.ma.stack(columns, axis=1)
    kinds = {column.dtype.kind for column in columns}
    if kinds <= set("iuf"):
        # No integer type holds both unsigned and signed ids of 64 bits.
        if "f" not in kinds and np.result_type(*columns).kind == "f":
            columns = [column.astype(object) for column in columns]
        return np.stack(columns, axis=1)
    if len(kinds) == 1 and not kinds & set("OUT"):
        return np.stack(columns, axis=1)
    return np.stack([column.astype(object) for column in columns], axis=1)
