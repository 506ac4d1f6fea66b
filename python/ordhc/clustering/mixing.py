"""Whether chains agree."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.errors import warn
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import lca_size

__all__ = ["MIXED", "Mixing", "mixing_of", "one_of_many_trees", "unsure_clusters", "warn_unmixed"]

#: R-hat of chains that look alike is at most this (Gelman et al. 2013, chapter 11).
MIXED = 1.1
#: Quantities that are of the model more than of the tree.
_OF_THE_MODEL = frozenset({"noise", "nodes", "lengths"})
#: Set while a tree is made that is one of many: of a resample or without a fold.
_IS_ONE_OF_MANY = ContextVar("is_one_of_many", default=False)
#: Number of clusters that are checked for agreement of the chains.
_UNSURE = 5


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
        """Say which results depend on the start of the chains, and what to do; None if no R-hat exceeds 1.1.

        Examples
        --------
        >>> import numpy as np
        >>> nothing = np.zeros((0, 0))
        >>> Mixing(1.05, 200.0, nothing, nothing, nothing).trouble is None
        True
        """
        return _trouble({"log-likelihood": self.r_hat, **self.r_hats})

    def __repr__(self) -> str:
        told = f"R-hat {self.r_hat:.2f}, effective size {self.effective_size:.0f}"
        known = {what: value for what, value in self.r_hats.items() if value == value}
        if known:
            worst = max(known, key=lambda what: known[what])
            told += f"; largest R-hat {known[worst]:.2f}, of {worst}"
        return f"<Mixing: {told}>"


def _trouble(r_hats: Mapping[str, float]) -> str | None:
    large = {what: r_hat for what, r_hat in r_hats.items() if r_hat > MIXED}
    if not large:
        return None
    listed = ", ".join(f"{what} {r_hat:.2f}" for what, r_hat in large.items())
    agree = _OF_THE_MODEL.issuperset(large)
    what = "these numbers depend" if agree else "tree and support depend"
    but = ", but the chains agree on the tree and its support" if agree else ""
    return (
        f"the chains have not mixed (R-hat above {MIXED}: {listed}): {what} on where they began{but}. "
        "Draw longer chains, with sweeps=600 or more (--param sweeps=600 of `ordhc cluster`), until they have"
    )


def _mixed(by_chain: Iterable[NDArray[np.float64]]) -> tuple[float, float]:
    """R-hat and effective size of a quantity."""
    return _ordhc.mixing([np.ascontiguousarray(chain) for chain in by_chain])


@contextmanager
def one_of_many_trees() -> Iterator[None]:
    """Give no warnings about chains inside, because a hundred resamples would give a hundred.

    The tree of all answers gives the warning. A context variable does this instead of
    `warnings.catch_warnings`, because threads make trees too, and warnings are filtered for all threads.
    """
    token = _IS_ONE_OF_MANY.set(True)
    try:
        yield
    finally:
        _IS_ONE_OF_MANY.reset(token)


def warn_unmixed(states: list[NDArray[np.float64]]) -> None:
    """Warn if the chains have not mixed by their log-likelihood, which is the first column of each state."""
    trouble = _trouble({"log-likelihood": _mixed(chain[:, 0] for chain in states)[0]})
    if trouble is not None and not _IS_ONE_OF_MANY.get():
        warn(trouble)


def unsure_clusters(tree: Dendrogram, trees: Sequence[Dendrogram]) -> NDArray[np.float64]:
    """Return (k, trees) whether each tree has the clusters of least certain support."""
    support = np.zeros(0) if tree.support is None else tree.support
    unsure = np.flatnonzero((support > 0.05) & (support < 0.95))
    unsure = unsure[np.argsort(np.abs(support[unsure] - 0.5), kind="stable")][:_UNSURE]
    clusters = [np.array(tree.node(int(node) + tree.n_leaves).leaves) for node in unsure]
    has = np.zeros((len(clusters), len(trees)))
    for at, drawn in enumerate(trees if clusters else ()):
        for number, cluster in enumerate(clusters):
            has[number, at] = np.max(lca_size(drawn, cluster[:1], cluster[1:])) == len(cluster)
    return has


def mixing_of(
    states: list[NDArray[np.float64]], has_clusters: NDArray[np.float64], *, has_lengths: bool
) -> Mixing:
    """Return how well chains have mixed.

    Parameters
    ----------
    states
        For each chain (sweeps, 5): the log-likelihood, the noise, the mean increment, the number of nodes and
        the deviation of lengths after each sweep.
    has_clusters
        (k, trees) whether trees have some clusters, chain after chain.
    has_lengths
        True if lengths of leaves are learnt.
    """
    by_sweep = np.array(states) if states else np.zeros((0, 0, 5))
    values = {"log-likelihood": by_sweep[..., 0], "noise": by_sweep[..., 1], "nodes": by_sweep[..., 3]}
    if has_lengths:
        values["lengths"] = by_sweep[..., 4]
    for number, has in enumerate(has_clusters, 1):
        values[f"cluster {number}"] = has.reshape(len(states), -1)
    mixed = {what: _mixed(each) for what, each in values.items()}
    return Mixing(
        *mixed["log-likelihood"],
        by_sweep[..., 0],
        by_sweep[..., 1],
        by_sweep[..., 3],
        {what: each[0] for what, each in mixed.items()},
        {what: each[1] for what, each in mixed.items()},
    )
