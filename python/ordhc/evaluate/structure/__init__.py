"""Which kind of structure answers hold: a hierarchy, clusters, points in space, or nothing of these."""

from ordhc.evaluate.structure.compare import Structure, StructureScore, structure
from ordhc.evaluate.structure.trial import seconds_needed

__all__ = ["Structure", "StructureScore", "seconds_needed", "structure"]
