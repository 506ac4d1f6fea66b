"""How commands read what an oracle answers from."""

from typing import Any

from ordhc.io import read_names, read_quadruplets, read_reference, read_tree, read_triplets, read_vectors

__all__ = ["read_source"]


def read_source(takes: tuple[str, ...], path: str, method: str | None) -> tuple[Any, tuple[str, ...] | None]:
    """A file as an oracle takes it, and the names of the leaves where the file has some beside it.

    It is read as the first of what the oracle takes; comparisons as quadruplets if the method
    asks about pairs.
    """
    from ordhc.asking.learner import OF_PAIRS
    from ordhc.errors import InputError

    kind = takes[0]
    if kind == "triplets" and "quadruplets" in takes and method in OF_PAIRS:
        kind = "quadruplets"
    if kind == "nothing":
        raise InputError("this oracle takes no --source")
    if kind == "vectors":
        return read_vectors(path)
    readers: dict[str, Any] = {
        "tree": read_tree,
        "similarity": lambda file: read_reference(file, ()),
        "triplets": read_triplets,
        "quadruplets": read_quadruplets,
        "names": read_names,
        "path": str,
    }
    return readers[kind](path), None
