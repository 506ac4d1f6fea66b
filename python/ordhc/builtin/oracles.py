"""The built-in oracles: which of three leaves is the odd one out?"""

from ordhc import oracles
from ordhc.hooks import hookimpl
from ordhc.specs import OracleSpec


@hookimpl
def ordhc_oracles() -> list[OracleSpec]:
    """Register the oracles that need no person."""
    return [
        OracleSpec(name="tree", summary="answers as a dendrogram has it", make=oracles.from_tree),
        OracleSpec(name="similarity", summary="answers as a matrix has it", make=oracles.from_similarity),
        OracleSpec(
            name="vectors",
            summary="answers as vectors have it",
            make=oracles.from_vectors,
            parameters={"similarity": "euclidean"},
        ),
        OracleSpec(
            name="recorded",
            summary="answers that were collected before",
            make=oracles.recorded,
            parameters={"missing": "error"},
        ),
        OracleSpec(name="person", summary="the person at the terminal", make=oracles.person),
    ]
