"""Check whether Markov chains have mixed: R-hat, effective sample sizes, and warnings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ordhc import _ordhc
from ordhc.errors import warn
from ordhc.tree.dendrogram import Dendrogram, lca_size

#: Chains count as mixed if R-hat is at most this (Gelman et al. 2013, chapter 11).
MIXED = 1.1
#: Quantities that do not describe the tree. If only these have not mixed, the tree and its support are still
#: reliable.
_OF_THE_MODEL = frozenset({"noise", "nodes", "lengths"})
#: True within a `with` block of `one_of_many_trees`.
_IS_ONE_OF_MANY = ContextVar("is_one_of_many", default=False)
_UNSURE = 5


@dataclass(frozen=True)
class Mixing:
    """Diagnostics of Markov chains.

    Attributes
    ----------
    r_hat
        Split R-hat of the log-likelihood. R-hat is near 1 if all halves of all chains are similar. Above 1.1
        longer chains are needed.
    effective_size
        The effective sample size of the log-likelihood: the number of independent trees that would estimate
        its mean as precisely.
    r_hats, effective_sizes
        R-hat and effective sample size for each quantity:

        * "log-likelihood" and "noise";
        * "nodes": the number of inner nodes;
        * "lengths": the standard deviation of the lengths of leaves, if lengths are estimated (the length of
          a leaf is large if the leaf is untypical);
        * "cluster 1", "cluster 2" and so on: whether a tree contains one of the up to five clusters whose
          support is nearest to one half. These R-hats are computed from few trees (50 of each chain), so they
          can exceed 1.1 by chance.
    log_likelihood, noise, n_nodes
        (chains, sweeps) values after each sweep after the burn-in: the log-likelihood of the answers, half of
        the share of random answers (the mean over people, if people are known), and the number of inner
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
    def problem(self) -> str | None:
        """The warning about chains that have not mixed, with a remedy; None if no R-hat exceeds 1.1.

        Examples
        --------
        >>> import numpy as np
        >>> nothing = np.zeros((0, 0))
        >>> Mixing(1.05, 200.0, nothing, nothing, nothing).problem is None
        True
        """
        return _problem({"log-likelihood": self.r_hat, **self.r_hats})

    def __repr__(self) -> str:
        told = f"R-hat {self.r_hat:.2f}, effective size {self.effective_size:.0f}"
        known = {what: value for what, value in self.r_hats.items() if value == value}
        if known:
            worst = max(known, key=lambda what: known[what])
            told += f"; largest R-hat {known[worst]:.2f}, of {worst}"
        return f"<Mixing: {told}>"


def _problem(r_hats: Mapping[str, float]) -> str | None:
    large = {what: r_hat for what, r_hat in r_hats.items() if r_hat > MIXED}
    if not large:
        return None
    listed = ", ".join(f"{what} {r_hat:.2f}" for what, r_hat in large.items())
    agree = _OF_THE_MODEL.issuperset(large)
    what = "these numbers depend" if agree else "tree and support depend"
    but = ", but the chains agree on the tree and its support" if agree else ""
    return (
        f"the chains have not mixed (R-hat above {MIXED}: {listed}): {what} on where they began{but}. "
        "Draw longer chains: sweeps=600 or more (--param sweeps=600 of `ordhc cluster`)"
    )


def _mixed(by_chain: Iterable[NDArray[np.float64]]) -> tuple[float, float]:
    return _ordhc.mixing([np.ascontiguousarray(chain) for chain in by_chain])


@contextmanager
def one_of_many_trees() -> Iterator[None]:
    """Suppress warnings that chains have not mixed, in a `with` block that makes many trees.

    For example, trees of a hundred resamples would repeat the warning. `warnings.catch_warnings` would affect
    all threads, so the context manager sets a context variable.
    """
    token = _IS_ONE_OF_MANY.set(True)
    try:
        yield
    finally:
        _IS_ONE_OF_MANY.reset(token)


def warn_unmixed(states: list[NDArray[np.float64]]) -> None:
    problem = _problem({"log-likelihood": _mixed(chain[:, 0] for chain in states)[0]})
    if problem is not None and not _IS_ONE_OF_MANY.get():
        warn(problem)


def unsure_clusters(tree: Dendrogram, trees: Sequence[Dendrogram]) -> NDArray[np.float64]:
    """Return a (k, trees) array: 1 if a tree has one of the k least certain clusters of `tree`, else 0."""
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
    """Return the diagnostics of chains.

    `states` has for each chain a (sweeps, 5) array with the values after each sweep: the log-likelihood; the
    noise (half of the share of random answers); a parameter of the model, which is not used here; the number
    of inner nodes; and the standard deviation of the lengths of leaves. `has_clusters` is a (k, trees) array
    for k clusters, with trees in the order of chains: 1 if the tree has the cluster, else 0.
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
