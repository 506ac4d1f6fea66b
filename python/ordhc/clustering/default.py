"""The posterior of the default method, for sessions and dashboards that show a tree while answers come in."""

import warnings
from typing import Any

from ordhc.clustering.plan import best_method
from ordhc.clustering.posterior import Posterior, drawn_posterior
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import OrdhcWarning

__all__ = ["default_posterior"]


def default_posterior(data: Triplets | Quadruplets, **how: Any) -> Posterior | None:
    """Return the posterior whose tree `cluster` gives by default; None if the default is another method.

    There are no warnings, because few answers, and leaves without any, are normal while answers come in.

    Parameters
    ----------
    data
        The answers.
    **how
        As in `ordhc.posterior`; the tree is that of `cluster` only without any.
    """
    if best_method(data) is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        return drawn_posterior(data, **how)[0]
