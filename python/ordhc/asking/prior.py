"""Read the prior of a learner: a tree with which the method "revise" begins."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

from ordhc import _checks, _ordhc
from ordhc.errors import InputError
from ordhc.io.paths import checked_path
from ordhc.io.trees import read_tree
from ordhc.tree.annotations import shown
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram, engine_tree


def prior_tree(prior: Any, names: Sequence[str] | None, n_leaves: int) -> _ordhc.Tree:
    """Return the prior with the learner's leaf numbers; leaves are matched by name if both have names."""
    tree = read_prior(prior)
    own = None if names is None else tuple(names)
    if tree.names is not None and own is None:
        raise InputError(
            f"the leaves of the prior have names ({shown(tree.names[0])}, ...), the leaves of the learner "
            "have no names: give names instead of n_leaves"
        )
    if tree.names is not None and own is not None:
        place, theirs = _checks.LeafNumbers(own), _checks.LeafNumbers(tree.names)
        for lost, where, other in (
            ([name for name in own if name not in theirs], "the learner", "the prior"),
            ([name for name in tree.names if name not in place], "the prior", "the learner"),
        ):
            if lost:
                more = "" if len(lost) == 1 else f" and {len(lost) - 1:,} more"
                raise InputError(f"the leaf {shown(lost[0])}{more} is in {where}, but not in {other}")
        if tree.names != own:
            tree = tree.relabel([place[name] for name in tree.names])
    elif tree.n_leaves != n_leaves:
        raise InputError(f"the prior has {tree.n_leaves:,} leaves, the learner has {n_leaves:,}")
    return engine_tree(tree)


def read_prior(prior: Any) -> Dendrogram:
    if isinstance(prior, PathLike):
        return read_tree(checked_path(prior))
    if isinstance(prior, str):
        is_text = "(" in prior or prior.rstrip().endswith(";")
        return as_dendrogram(prior) if is_text else read_tree(prior)
    return as_dendrogram(prior)
