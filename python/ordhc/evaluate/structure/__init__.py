"""Which kind of structure answers hold: a hierarchy, clusters, points in space, or nothing of these."""

from ordhc.evaluate.structure.compare import Structure, StructureScore, structure
from ordhc.evaluate.structure.trial import seconds_needed
from ordhc.evaluate.structure.words import Verdict

__all__ = ["Structure", "StructureScore", "Verdict", "seconds_needed", "structure"]
