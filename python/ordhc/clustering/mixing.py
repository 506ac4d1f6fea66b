"""Whether chains agree."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MIXED", "Mixing"]

#: R-hat of chains that look alike is at most this (Gelman et al. 2013, chapter 11).
MIXED = 1.1


@dataclass(frozen=True)
class Mixing:
    """How well chains have mixed, by their log-likelihoods.

    Attributes
    ----------
    r_hat
        Split R-hat: near 1 where all halves of all chains look alike; above 1.1 longer chains are better.
    effective_size
        How many independent trees would say as much about the mean.
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
        return f"<Mixing: R-hat {self.r_hat:.2f}, effective size {self.effective_size:.0f}>"
