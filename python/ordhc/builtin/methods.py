"""Define the built-in methods."""

from ordhc.plugins.hooks import hookimpl
from ordhc.plugins.specs import MethodSpec

_FOUNDATIONS = "Ghoshdastidar, Perrot & von Luxburg 2019"
_REVENUE = "Mandal, Perrot & Ghoshdastidar 2023"

#: The name, similarity, linkage and source of each method.
_METHODS = [
    ("adds3-al", "adds3", "average", _REVENUE),
    ("adds4-al", "adds4", "average", _REVENUE),
    ("mulk3-al", "mulk3", "average", _FOUNDATIONS),
    ("mulk4-al", "mulk4", "average", _FOUNDATIONS),
    ("4k-al", "4k", "average", _FOUNDATIONS),
    ("adds3-al+spr", "adds3", "average", _REVENUE),
    ("adds4-al+spr", "adds4", "average", _REVENUE),
    ("adds3-al+lengths+spr", "adds3", "average", _REVENUE),
    ("adds4-al+lengths+spr", "adds4", "average", _REVENUE),
    ("3-al", None, "3-al", _FOUNDATIONS),
    ("4-al", None, "4-al", _FOUNDATIONS),
    ("4-sl", None, "4-sl", _FOUNDATIONS),
    ("4-cl", None, "4-cl", _FOUNDATIONS),
    ("cosine-al", "cosine", "average", "Gray et al. 2024"),
    ("dot-al", "dot", "average", "Gray et al. 2024"),
    ("consistency", None, "consistency", ""),
    ("posterior-al", None, "posterior-al", ""),
    ("build", None, "build", "Aho, Sagiv, Szymanski & Ullman 1981"),
]


@hookimpl
def ordhc_methods() -> list[MethodSpec]:
    specs = []
    for name, similarity, linkage, source in _METHODS:
        refine = "dasgupta" if name.endswith("+spr") else None
        parts = f"linkage {linkage}" if similarity is None else f"similarity {similarity}, linkage {linkage}"
        lengths = "+lengths" in name
        if lengths:
            parts += ", answers weighted by how little lengths of leaves explain them"
        if refine:
            parts += ", then moves of subtrees"
        spec = MethodSpec(
            name=name,
            summary=parts,
            similarity=similarity,
            linkage=linkage,
            parameters={"lengths": True} if lengths else {},
            refine=refine,
            source=source,
        )
        specs.append(spec)
    return specs
