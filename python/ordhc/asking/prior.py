"""Trees that learners begin with."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from ordhc import _checks, _ordhc
from ordhc.errors import InputError
from ordhc.io.trees import read_tree
from ordhc.tree.annotations import shown
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.parts import engine_tree, from_engine

__all__ = ["kept_prior", "kept_start", "leaves_of_prior", "prior_tree", "start_tree", "supported_tree"]


def prior_tree(prior: Any, names: Sequence[str] | None, n_leaves: int) -> _ordhc.Tree:
    """Return a prior over a learner's leaves, in their order; matched by name if both sides have names."""
    tree = _read(prior)
    own = None if names is None else tuple(names)
    if tree.names is not None and own is None:
        raise InputError(
            f"the leaves of the prior have names ({shown(tree.names[0])}, ...), those of the learner have "
            "none: give names instead of n_leaves"
        )
    if tree.names is not None and own is not None:
        theirs = set(tree.names)
        for lost, where, other in (
            ([name for name in own if name not in theirs], "the learner", "the prior"),
            ([name for name in tree.names if name not in set(own)], "the prior", "the learner"),
        ):
            if lost:
                more = "" if len(lost) == 1 else f" and {len(lost) - 1:,} more"
                raise InputError(f"the leaf {shown(lost[0])}{more} is in {where}, but not in {other}")
        if tree.names != own:
            place = {name: leaf for leaf, name in enumerate(own)}
            tree = tree.relabel([place[name] for name in tree.names])
    elif tree.n_leaves != n_leaves:
        raise InputError(f"the prior has {tree.n_leaves:,} leaves, the learner has {n_leaves:,}")
    return engine_tree(tree)


def start_tree(start: Any, names: Sequence[str] | None, n_leaves: int) -> tuple[_ordhc.Tree, list[int]]:
    """Return a tree of some leaves of a learner, and the numbers of these leaves."""
    tree = _read(start)
    if tree.n_leaves > n_leaves:
        raise InputError(f"start has {tree.n_leaves:,} leaves, more than the learner, which has {n_leaves:,}")
    if tree.names is None:
        return engine_tree(tree), list(range(tree.n_leaves))
    place = {name: leaf for leaf, name in enumerate(names or ())}
    for name in tree.names:
        if name not in place:
            raise InputError(f"the leaf {shown(name)} of start is no leaf of the learner")
    return engine_tree(tree), [place[name] for name in tree.names]


def kept_start(start: Any) -> dict[str, Any]:
    """Return a start as JSON can hold it."""
    return _read(start).to_dict()


def _read(prior: Any) -> Dendrogram:
    if isinstance(prior, PathLike):
        return read_tree(_checks.path(prior))
    if isinstance(prior, str):
        is_text = "(" in prior or prior.rstrip().endswith(";")
        return as_dendrogram(prior) if is_text else read_tree(prior)
    return as_dendrogram(prior)


def supported_tree(learner: _ordhc.Learner | _ordhc.Desk, names: tuple[str, ...] | None) -> Dendrogram:
    """Return the tree of a learner, with the support of its nodes if the learner knows it."""
    found = learner.tree()
    support = learner.support(found)
    tree = from_engine(found, names)
    return tree if support is None else tree.replace(support=support)


def leaves_of_prior(prior: Any) -> int | tuple[str, ...]:
    """Return the names of a prior's leaves, or their number."""
    tree = _read(prior)
    return tree.n_leaves if tree.names is None else tree.names


def kept_prior(prior: Any, names: Sequence[str] | None, n_leaves: int) -> dict[str, Any]:
    """Return a prior as JSON can hold it, over numbered leaves; the same tree is made of it."""
    return from_engine(prior_tree(prior, names, n_leaves)).to_dict()
