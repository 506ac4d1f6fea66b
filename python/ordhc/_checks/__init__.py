"""The gate for arguments: numbers, words, names, labels, settings, arrays.

Public functions check what they are given here, once. What passes is of the crate's types: native, aligned,
C-contiguous, nothing masked, nothing rounded. All else is an `InputError` that names the argument, the place
and the value.
"""

from ordhc._checks.arrays import array, labels, numbers_of, whole_numbers
from ordhc._checks.dissimilarities import check_dissimilarities, is_dissimilarity
from ordhc._checks.leaf_names import names
from ordhc._checks.matrices import handed_over, leaves_of_condensed, matrix, square
from ordhc._checks.quoting import nearest, on_one_line, quoted, unknown_name
from ordhc._checks.remedies import remedied
from ordhc._checks.scalars import (
    as_int,
    callback,
    choice,
    flag,
    listed,
    number,
    path,
    seed,
    settings,
    text,
    whole,
    words,
)

__all__ = [
    "array",
    "as_int",
    "callback",
    "check_dissimilarities",
    "choice",
    "flag",
    "handed_over",
    "is_dissimilarity",
    "labels",
    "leaves_of_condensed",
    "listed",
    "matrix",
    "names",
    "nearest",
    "number",
    "numbers_of",
    "on_one_line",
    "path",
    "quoted",
    "remedied",
    "seed",
    "settings",
    "square",
    "text",
    "unknown_name",
    "whole",
    "whole_numbers",
    "words",
]
