"""Checks for authors of plugins: test that a plugin behaves as ordhc requires.

Use the checks in the tests of your package::

    from ordhc.testing import check_linkage

    def test_conforms():
        check_linkage("my-linkage", beta=0.5)

Each `check_...` function runs small named checks. If a check fails, the function raises an AssertionError
with the name of the check and the reason. `ordhc.testing.strategies` has hypothesis strategies for the data
types.
"""

from ordhc.testing.linkages import LINKAGE_CHECKS, check_linkage
from ordhc.testing.methods import METHOD_CHECKS, check_method
from ordhc.testing.metrics import METRIC_CHECKS, check_metric
from ordhc.testing.oracles import ORACLE_CHECKS, check_oracle
from ordhc.testing.preferences import COMPARISON_LINKAGE_CHECKS
from ordhc.testing.similarities import SIMILARITY_CHECKS, check_similarity

__all__ = [
    "COMPARISON_LINKAGE_CHECKS",
    "LINKAGE_CHECKS",
    "METHOD_CHECKS",
    "METRIC_CHECKS",
    "ORACLE_CHECKS",
    "SIMILARITY_CHECKS",
    "check_linkage",
    "check_method",
    "check_metric",
    "check_oracle",
    "check_similarity",
]
__dir__ = __all__.copy
