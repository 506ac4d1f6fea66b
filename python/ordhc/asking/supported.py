"""Remove nodes that too few questions support."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks
from ordhc.comparison.comparisons import Triplets
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram, lca_nodes, without_nodes

_LISTED = 10


def supported(tree: Dendrogram, triplets: Triplets, at_least: int) -> Dendrogram:
    """Return the tree without inner nodes that too few distinct questions support.

    The children of a removed node move up to the node above, as in `Dendrogram.contract`.

    A question supports a node if the tree needs this node to agree with the answer. Then two of the three
    leaves are in different children of the node. The third leaf is the odd one out; it is outside of the node
    but below the node above. The same three leaves count once, however often they were asked; their
    most frequent answer counts. Nodes are examined from the bottom up. When a node is removed, its
    questions whose third leaf is outside of the node above count for the node above.

    Parameters
    ----------
    tree
        The tree.
    triplets
        The answers. An answer that names the odd one out can be one triplet or two.
    at_least
        The minimum number of distinct questions that must support a node; nodes with fewer are removed.
        With 0 all nodes stay.

    Returns
    -------
    Dendrogram
        `support` is the fraction of the distinct questions about a node that support it.
        ``settings["supported_by"]`` is `at_least`. ``settings["contracted"]`` lists the removed nodes: the
        leaves of each, and the numbers of questions that supported and contradicted it.

    Raises
    ------
    InputError
        The triplets have leaves that the tree does not have.

    See Also
    --------
    Dendrogram.contract : Remove nodes of small `Dendrogram.support`, for example of a bootstrap.

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.as_dendrogram("(((0,1),2),(3,4));")
    >>> asked = ordhc.Triplets([(0, 1, 2), (0, 2, 3), (0, 2, 4), (3, 4, 0), (3, 4, 1)])
    >>> found = ordhc.supported(tree, asked, at_least=2)
    >>> found.to_newick(branch_lengths=False)
    '((0,1,2)100,(3,4)100);'
    >>> dict(found.settings["contracted"][0])
    {'leaves': (0, 1), 'size': 2, 'questions': 1, 'against': 0}
    """
    if not isinstance(tree, Dendrogram):
        raise InputError(f"tree is {_checks.quoted(tree)}, not a Dendrogram")
    if not isinstance(triplets, Triplets):
        raise InputError(f"triplets are {_checks.quoted(triplets)}, not Triplets")
    rows = triplets.rows.astype(np.int64)
    if triplets.names is not None and tree.names is not None and triplets.names != tree.names:
        places = _checks.LeafNumbers(tree.names)
        for name in triplets.names:
            if name not in places:
                raise InputError(f"leaves of the triplets: {_checks.unknown_name(name, tree.names)}")
        rows = np.array([places[name] for name in triplets.names], dtype=np.int64)[rows]
    elif triplets.n_leaves > tree.n_leaves:
        raise InputError(
            f"the triplets have {triplets.n_leaves:,} leaves, but the tree has {tree.n_leaves:,}"
        )
    return contracted(tree, rows, np.full(len(rows), 2, dtype=np.int8), at_least)


def contracted(tree: Dendrogram, rows: NDArray[Any], answers: NDArray[Any], at_least: int) -> Dendrogram:
    """Return the tree without inner nodes that fewer than `at_least` distinct questions support.

    The result is that of `supported`, from arrays. `rows` (m, 3) has the three leaves of each question.
    `answers` (m,) has the position of the odd one out in its row (0, 1 or 2), or -1 for none.
    """
    at_least = _checks.whole("at_least", at_least, at_least=0)
    three, odd = _distinct(rows, answers)
    lower, upper, right = _places(tree, three, odd)
    above = tree.parents.tolist()
    deciding: dict[int, list[int]] = {}
    for question, at in enumerate(lower):
        if at >= 0:
            deciding.setdefault(at, []).append(question)
    root, counts = len(above) - 1, dict[int, tuple[int, int]]()
    removed: list[tuple[int, dict[str, Any]]] = []
    for node in tree.nodes("postorder"):
        label = node.label
        if node.is_leaf or label == root:
            continue
        here = deciding.pop(label, [])
        direct = [question for question in here if upper[question] == above[label]]
        agree = sum(right[question] for question in direct)
        if agree >= at_least:
            counts[label] = (agree, len(direct) - agree)
            continue
        listed = tuple(sorted(node.leaves.tolist())[:_LISTED])
        reason = {"leaves": listed, "size": node.size, "questions": agree, "against": len(direct) - agree}
        removed.append((label, reason))
        rest = [question for question in here if upper[question] != above[label]]
        known = deciding.get(above[label], [])
        longer, shorter = (known, rest) if len(known) > len(rest) else (rest, known)
        longer.extend(shorter)
        deciding[above[label]] = longer
    settings = {
        **(tree.settings or {}),
        "supported_by": at_least,
        "contracted": [reason for _, reason in removed],
    }
    return _rebuilt(tree, {label for label, _ in removed}, counts).replace(settings=settings)


def _distinct(rows: NDArray[Any], answers: NDArray[Any]) -> tuple[NDArray[np.int64], list[int]]:
    """Return each distinct set of three leaves, sorted, and its most frequent odd one out; -1 for ties."""
    votes: dict[tuple[int, ...], dict[int, int]] = {}
    for row, answer in zip(np.asarray(rows).tolist(), np.asarray(answers).tolist(), strict=True):
        said = votes.setdefault(tuple(sorted(row)), {})
        leaf = row[answer] if answer >= 0 else -1
        said[leaf] = said.get(leaf, 0) + 1
    odd = []
    for said in votes.values():
        most = max(said.values())
        first = [leaf for leaf, count in said.items() if count == most]
        odd.append(first[0] if len(first) == 1 else -1)
    return np.array(list(votes), dtype=np.int64).reshape(-1, 3), odd


def _places(
    tree: Dendrogram, three: NDArray[np.int64], odd: Sequence[int]
) -> tuple[list[int], list[int], list[bool]]:
    """Return for each question the two nodes at which its three leaves merge, and if the tree agrees.

    At the first node, the two leaves that are closest in the tree merge; at the second node, they merge with
    the third leaf. The first node is -1 if all three leaves merge at the same node. The tree agrees if it has
    the same odd one out as the answer.
    """
    a, b, c = three.T
    ancestors = np.stack([lca_nodes(tree, b, c), lca_nodes(tree, a, c), lca_nodes(tree, a, b)], axis=1)
    # The lower of two nodes above the same leaf has the smaller number.
    pair = ancestors.argmin(axis=1)
    at = np.arange(len(three))
    lower, upper = ancestors[at, pair], ancestors[at, (pair + 1) % 3]
    lower = np.where(lower == upper, -1, lower)
    right = three[at, pair] == np.array(odd, dtype=np.int64)
    return lower.tolist(), upper.tolist(), right.tolist()


def _rebuilt(tree: Dendrogram, removed: set[int], counts: dict[int, tuple[int, int]]) -> Dendrogram:
    n, n_inner = tree.n_leaves, len(tree.sizes)
    is_removed = np.zeros(n_inner, dtype=bool)
    is_removed[[node - n for node in removed]] = True
    support = np.full(n_inner, np.nan)
    for node, (agree, against) in counts.items():
        if agree + against:
            support[node - n] = agree / (agree + against)
    found = tree.replace(support=support)
    return without_nodes(found, is_removed) if removed else found
