"""Which kind of structure answers hold: a hierarchy, clusters, points in space, or nothing of these."""

from ordhc.evaluate.structure.compare import Structure, StructureScore, structure

__all__ = ["Structure", "StructureScore", "structure"]
