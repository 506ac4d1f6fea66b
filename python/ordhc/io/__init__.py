"""Read and write comparisons and trees, and read the references that trees are compared with."""

from ordhc.io.answers import read_answers
from ordhc.io.columns import read_column
from ordhc.io.matrices import read_matrix
from ordhc.io.names import read_names
from ordhc.io.references import read_reference
from ordhc.io.scan import Scan, scan
from ordhc.io.trees import read_tree, read_trees, write_tree, write_trees
from ordhc.io.vectors import read_vectors
from ordhc.io.writing import write_comparisons

__all__ = [
    "Scan",
    "read_answers",
    "read_column",
    "read_matrix",
    "read_names",
    "read_reference",
    "read_tree",
    "read_trees",
    "read_vectors",
    "scan",
    "write_comparisons",
    "write_tree",
    "write_trees",
]
__dir__ = __all__.copy
