"""Checks of the arguments of public functions: numbers, words, names, labels, settings, arrays.

Each public function checks its arguments once, with these functions. Checked arrays have the types of the
crate: native byte order, aligned, C-contiguous, without masked or rounded values. For other values the
functions raise an `InputError` with the argument, the index and the value.
"""

from ordhc._checks.arrays import array, labels, numbers_of, whole_numbers
from ordhc._checks.dissimilarities import check_dissimilarities, is_dissimilarity
from ordhc._checks.leaf_names import LeafNumbers, leaf_number, names
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
from ordhc._checks.signatures import shows_options

__all__ = [
    "LeafNumbers",
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
    "leaf_number",
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
    "shows_options",
    "square",
    "text",
    "unknown_name",
    "whole",
    "whole_numbers",
    "words",
]
