"""The conformance kit: does a plugin keep the promises that ordhc relies on?

For the tests of plugin packages::

    from ordhc.testing import check_linkage

    def test_conforms():
        check_linkage("my-linkage", beta=0.5)

Every `check_...` runs small named checks and raises an AssertionError that says which one failed and
how. `ordhc.testing.strategies` has hypothesis strategies for the data types.
"""

from ordhc.testing.checks import (
    LINKAGE_CHECKS,
    METRIC_CHECKS,
    ORACLE_CHECKS,
    SIMILARITY_CHECKS,
    check_linkage,
    check_metric,
    check_oracle,
    check_similarity,
)
from ordhc.testing.comparison_linkages import COMPARISON_LINKAGE_CHECKS

__all__ = [
    "COMPARISON_LINKAGE_CHECKS",
    "LINKAGE_CHECKS",
    "METRIC_CHECKS",
    "ORACLE_CHECKS",
    "SIMILARITY_CHECKS",
    "check_linkage",
    "check_metric",
    "check_oracle",
    "check_similarity",
]
