"""The conformance kit: does a plugin keep the promises that ordhc relies on?

For the tests of plugin packages::

    from ordhc.testing import check_linkage

    def test_conforms():
        check_linkage("my-linkage", beta=0.5)

Every `check_...` runs small named checks and raises an AssertionError that says which one failed and
how. `ordhc.testing.strategies` has hypothesis strategies for the data types.
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


def __dir__() -> list[str]:
    return sorted(__all__)
