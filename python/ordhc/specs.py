"""Specs, of which plugins are made; they are defined in `ordhc.plugins.specs`."""

from ordhc.plugins.specs import (
    LanceWilliams,
    LinkageSpec,
    MethodSpec,
    MetricSpec,
    OracleSpec,
    SimilaritySpec,
    Spec,
)

__all__ = [
    "LanceWilliams",
    "LinkageSpec",
    "MethodSpec",
    "MetricSpec",
    "OracleSpec",
    "SimilaritySpec",
    "Spec",
]


def __dir__() -> list[str]:
    return sorted(__all__)
