"""The posterior of the default method, for sessions and dashboards that update a tree as answers arrive."""

import warnings
from typing import Any

from ordhc.clustering.plan import best_method
from ordhc.clustering.posterior import Posterior, drawn_posterior
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import OrdhcWarning


def default_posterior(data: Triplets | Quadruplets, **how: Any) -> Posterior | None:
    """Return the posterior, or None if its tree is not the default result of `cluster` for these data.

    There are no warnings, because few answers and leaves without answers are normal while answers arrive.
    If `how` has arguments of `ordhc.posterior`, the tree can differ from the tree of `cluster`.
    """
    if best_method(data) is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        return drawn_posterior(data, **how)[0]
