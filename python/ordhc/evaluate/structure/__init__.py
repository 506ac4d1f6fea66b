"""Find out which structure answers have: a hierarchy, clusters, points in space, or none."""

from ordhc.evaluate.structure.compare import Structure, StructureScore, structure
from ordhc.evaluate.structure.trial import seconds_needed
from ordhc.evaluate.structure.words import Verdict

__all__ = ["Structure", "StructureScore", "Verdict", "seconds_needed", "structure"]
