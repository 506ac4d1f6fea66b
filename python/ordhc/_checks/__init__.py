"""Check the arguments of public functions: numbers, words, names, labels, settings, arrays.

Each public function checks its arguments once, with these functions. A checked array has a type that the Rust
crate reads: native byte order, aligned, C-contiguous. A masked value is an error. For an
invalid value the functions raise an `InputError` with the argument, the index and the value. The parameter
`what` is the name of the argument in this error.
"""

from ordhc._checks.arrays import array, labels, numbers_of, whole_numbers
from ordhc._checks.dissimilarities import check_dissimilarities, is_dissimilarity
from ordhc._checks.leaf_names import LeafNumbers, leaf_number, names
from ordhc._checks.matrices import leaves_of_condensed, matrix, overwritable, square
from ordhc._checks.quoting import nearest, on_one_line, quoted, unknown_name, unknown_option
from ordhc._checks.remedies import remedied, with_remedy
from ordhc._checks.scalars import (
    as_int,
    callback,
    choice,
    flag,
    listed,
    number,
    seed,
    text,
    whole,
    words,
)
from ordhc._checks.signatures import read_only, shows_options

__all__ = [
    "LeafNumbers",
    "array",
    "as_int",
    "callback",
    "check_dissimilarities",
    "choice",
    "flag",
    "is_dissimilarity",
    "labels",
    "leaf_number",
    "leaves_of_condensed",
    "listed",
    "matrix",
    "names",
    "nearest",
    "number",
    "numbers_of",
    "on_one_line",
    "overwritable",
    "quoted",
    "read_only",
    "remedied",
    "seed",
    "shows_options",
    "square",
    "text",
    "unknown_name",
    "unknown_option",
    "whole",
    "whole_numbers",
    "with_remedy",
    "words",
]
