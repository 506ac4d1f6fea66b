"""Place new leaves in an existing tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc.asking.loop import learn, learner_for
from ordhc.asking.methods import Method
from ordhc.asking.wrappers import as_oracle
from ordhc.errors import InputError
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram


@shows_progress("asking")
def insert(
    tree: Any,
    items: str | int | Sequence[str] | Sequence[int],
    oracle: Any,
    method: Method | str | None = None,
    *,
    budget: int | None = None,
    batch: int | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Dendrogram:
    """Place new items in a tree by asking an oracle; return the larger tree.

    The existing tree keeps its shape. The algorithm is FindSibling of Emamjomeh-Zadeh & Kempe 2018. If all
    answers are right, an item takes at most log2(2n - 1) questions in a binary tree of n leaves with
    ``Insertion(exact=True)``, and fewer on average by default. If answers are right with probability p,
    `ordhc.learners.Robust` takes O(log n + log(1 / delta)) questions.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    items
        The name of the new item, or several names. In a tree without names: the number of the new leaf,
        which is the number of leaves so far, or several consecutive numbers.
    oracle
        As in `learn`. The oracle must know the leaves of the tree and the new items. Leaves are matched by
        name if the oracle and the tree have names.
    method
        As in `learn`: "insertion", "robust", "robust-paper" or "majority" (`ordhc.learners`). By default
        `Insertion`, or `Robust` with the oracle's `p` if the oracle errs. `delta` is the largest probability
        that any of the new items gets a wrong place.
    budget, batch, progress
        As in `learn`.
    **settings
        `repeat`, `limit` and `seed` as in `Learner`.

    Returns
    -------
    Dendrogram
        The tree with the new items. Old clusters keep their heights or lengths, names and support. A new
        node on an edge divides the edge evenly. In a tree with lengths and without heights the length of the
        edge to a new item is unknown (NaN). If a new node would divide an edge of length 0, heights are
        levels. ``settings["inserted"]`` has for each item its most probable places, each with its
        `probability`, the `leaves` of a cluster, and `where`: "beside" or "under" this cluster. The list is
        empty for methods that compute no probabilities.

    Raises
    ------
    InputError
        An item that is in the tree, numbers that do not continue those of the tree, or a method that does not
        place single leaves.
    Exception
        An exception of the oracle; ``error.learner`` keeps all answers.

    See Also
    --------
    Learner : With `start` it asks the same questions one by one.

    Examples
    --------
    >>> import ordhc
    >>> truth = ordhc.oracles.from_tree("((cat,(dog,wolf)),(car,bus));")
    >>> tree = ordhc.insert("((cat,dog),(car,bus));", "wolf", truth)
    >>> tree.to_newick(branch_lengths=False)
    '((car,bus),(cat,(dog,wolf)));'
    """
    start = as_dendrogram(tree)
    new, leaves = _new_leaves(start, items)
    answer = as_oracle(oracle)
    learner = learner_for(answer, leaves, method, {**settings, "budget": budget, "start": start})
    found = learn(answer, learner=learner, batch=batch, progress=progress)
    places = {
        str(item): [{**asdict(place), "leaves": list(place.leaves)} for place in learner.places(item)]
        for item in new
    }
    return found.replace(settings={**(start.settings or {}), "inserted": places})


def _new_leaves(tree: Dendrogram, items: Any) -> tuple[list[Any], Any]:
    """Return the new items, and the names of all leaves, old and new.

    If the leaves of the tree have no names, the number of all leaves is returned instead of the names.
    """
    single = isinstance(items, str | int | np.integer)
    new: list[Any] = [items] if single else _checks.listed("items", items)
    if not new:
        raise InputError("items is empty: give the name of a new leaf, or several")
    if tree.names is None:
        numbers = _checks.whole_numbers("items", new).tolist()
        expected = list(range(tree.n_leaves, tree.n_leaves + len(new)))
        if numbers != expected:
            raise InputError(
                f"items are {_checks.quoted(numbers)}; the new leaves of a tree of {tree.n_leaves:,} leaves "
                f"without names must be {_checks.quoted(expected)}"
            )
        return numbers, tree.n_leaves + len(new)
    names = _checks.words("items", new)
    known = set(tree.names)
    for name in names:
        if name in known:
            raise InputError(f"items: the tree already has a leaf {_checks.quoted(name)}")
    return names, [*tree.names, *names]
