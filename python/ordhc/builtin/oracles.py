"""Define the built-in oracles, which answer questions about three leaves or two pairs."""

from ordhc.asking.sources import from_similarity, from_tree, from_vectors, person, recorded
from ordhc.plugins.hooks import hookimpl
from ordhc.plugins.specs import OracleSpec


@hookimpl
def ordhc_oracles() -> list[OracleSpec]:
    return [
        OracleSpec(
            name="tree",
            summary="answers by the merges of a dendrogram",
            make=from_tree,
            takes=("tree",),
            questions=(3, 4),
        ),
        OracleSpec(
            name="similarity",
            summary="answers by a matrix of similarities",
            make=from_similarity,
            takes=("similarity",),
            questions=(3, 4),
        ),
        OracleSpec(
            name="vectors",
            summary="answers by a similarity of vectors",
            make=from_vectors,
            takes=("vectors",),
            questions=(3, 4),
            parameters={"similarity": "euclidean"},
        ),
        OracleSpec(
            name="recorded",
            summary="answers from comparisons that were collected before",
            make=recorded,
            takes=("triplets", "quadruplets"),
            questions=(3, 4),
            parameters={"missing": "error"},
        ),
        OracleSpec(
            name="person",
            summary="asks the person at the terminal",
            make=person,
            takes=("names", "nothing"),
            questions=(3, 4),
        ),
    ]
