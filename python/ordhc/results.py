"""The classes of the objects that functions and methods of ordhc return.

Import these classes for type annotations and `isinstance`. The function that returns an object of a class has
examples of its use.
"""

from ordhc.agglomerate.placing import Placement
from ordhc.asking.analysis import Analysed
from ordhc.asking.items import Item
from ordhc.asking.learner import Place
from ordhc.asking.people import Person
from ordhc.asking.questions import Questions
from ordhc.asking.remaining import Status
from ordhc.asking.rules import Rules
from ordhc.clustering.posterior import Posterior
from ordhc.comparison.index import Index
from ordhc.evaluate.bootstrap import Bootstrap
from ordhc.evaluate.needed import StudyPlan
from ordhc.evaluate.people_groups import PeopleGroups
from ordhc.evaluate.select import Candidate, Selection
from ordhc.evaluate.structure import Structure
from ordhc.reporting.report import Report

__all__ = [
    "Analysed",
    "Bootstrap",
    "Candidate",
    "Index",
    "Item",
    "PeopleGroups",
    "Person",
    "Place",
    "Placement",
    "Posterior",
    "Questions",
    "Report",
    "Rules",
    "Selection",
    "Status",
    "Structure",
    "StudyPlan",
]
__dir__ = __all__.copy
