"""Whether chains agree."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["MIXED", "Mixing"]

#: R-hat of chains that look alike is at most this (Gelman et al. 2013, chapter 11).
MIXED = 1.1


@dataclass(frozen=True)
class Mixing:
    """How well chains have mixed.

    Attributes
    ----------
    r_hat
        Split R-hat of the log-likelihood: near 1 where all halves of all chains look alike; above 1.1 longer
        chains are better.
    effective_size
        How many independent trees would say as much about the mean of the log-likelihood.
    r_hats, effective_sizes
        The same by quantity: of "log-likelihood", "noise", "nodes" (their number), "lengths" (the standard
        deviation of the lengths of leaves, where these are learnt), and "cluster 1", "cluster 2" and so on:
        whether a tree has one of the up to five clusters whose support is nearest to one half. Those of
        clusters are of few trees (50 of each chain), and may be 1.1 by chance.
    log_likelihood, noise, n_nodes
        By chain and sweep after the burn-in, (chains, sweeps): the log-likelihood of the answers, half of the
        share of answers given by a coin (the mean over people, where they are known), and the number of inner
        nodes.
    """

    r_hat: float
    effective_size: float
    log_likelihood: NDArray[np.float64]
    noise: NDArray[np.float64]
    n_nodes: NDArray[np.float64]
    r_hats: Mapping[str, float] = field(default_factory=dict)
    effective_sizes: Mapping[str, float] = field(default_factory=dict)

    @property
    def trouble(self) -> str | None:
        """What to do where R-hat is above 1.1; None where it isn't.

        Examples
        --------
        >>> import numpy as np
        >>> nothing = np.zeros((0, 0))
        >>> Mixing(1.05, 200.0, nothing, nothing, nothing).trouble is None
        True
        """
        if not self.r_hat > MIXED:
            return None
        return (
            f"the chains have not mixed (R-hat above {MIXED}): tree and support depend on where they began. "
            "Draw longer chains, with sweeps=600 or more (--param sweeps=600 of `ordhc cluster`), "
            "until they have"
        )

    def __repr__(self) -> str:
        told = f"R-hat {self.r_hat:.2f}, effective size {self.effective_size:.0f}"
        known = {what: value for what, value in self.r_hats.items() if value == value}
        if known:
            worst = max(known, key=lambda what: known[what])
            told += f"; largest R-hat {known[worst]:.2f}, of {worst}"
        return f"<Mixing: {told}>"
