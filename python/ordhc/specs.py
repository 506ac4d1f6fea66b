"""Specs: the classes by which a plugin describes its methods, linkages, similarities, metrics and commands.

The classes are defined in `ordhc.plugins.specs`.
"""

from ordhc.plugins.specs import (
    CommandSpec,
    LanceWilliams,
    LinkageSpec,
    MethodSpec,
    MetricSpec,
    OracleSpec,
    SimilaritySpec,
    Spec,
)

__all__ = [
    "CommandSpec",
    "LanceWilliams",
    "LinkageSpec",
    "MethodSpec",
    "MetricSpec",
    "OracleSpec",
    "SimilaritySpec",
    "Spec",
]
__dir__ = __all__.copy
