"""Make the section `unexplained` of a report: answers that contradict the tree, and items in such answers."""

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc.comparison.comparisons import Comparisons, Triplets
from ordhc.evaluate.held_out import Answers, verdicts
from ordhc.evaluate.structure.misfits import incidences
from ordhc.reporting.counts import forms_of
from ordhc.tree.dendrogram import Dendrogram, lca_size

#: The maximum number of listed answers.
MOST = 100
#: The minimum number of answers about an item that is listed.
FEWEST = 5


def puzzles_of(tree: Dendrogram, data: Comparisons, answers: Answers) -> dict[str, Any]:
    """Return the section `unexplained`.

    An answer is unexplained if the tree disagrees with one of its comparisons, or agrees with none. The
    listed answers are sorted by the number of people who gave the answer minus the number who agreed with the
    tree.
    """
    verdict = verdicts(tree, data)
    against = (answers.mean(verdict == -1) > 0) | (answers.mean(verdict == 1) == 0)
    said, first = np.unique(answers.content, return_index=True)
    count = np.bincount(answers.content, minlength=len(said))[said]
    asked = np.bincount(answers.question)
    question = answers.question[first]
    is_against = against[first]
    # The number of answers to the same question that the tree explains.
    explained = np.bincount(answers.question, ~against)[question]
    rank = np.lexsort((first, -count, -(count - explained), ~is_against))
    rank = rank[is_against[rank]]
    forms = forms_of(data, answers)
    listed = [
        {
            "said": said_in_words(data, answers, int(first[at]), str(forms[first[at]])),
            "tree": _tree_in_words(tree, data, answers, int(first[at])),
            "n_said": int(count[at]),
            "n_asked": int(asked[question[at]]),
            "n_as_tree": int(explained[at]),
        }
        for at in rank[:MOST].tolist()
    ]
    return {
        "n_unexplained": int(against.sum()),
        "share": float(np.average(against, weights=answers.weights)),
        "listed": listed,
        "items": _items(tree, data, against),
    }


def _items(tree: Dendrogram, data: Comparisons, against: NDArray[np.bool_]) -> list[dict[str, Any]]:
    numbers, leaves = incidences(data)
    total = np.bincount(leaves, minlength=data.n_leaves)
    bad = np.bincount(leaves, against[numbers], data.n_leaves)
    share = bad / np.maximum(total, 1)
    kept = np.flatnonzero(total >= FEWEST)
    order = kept[np.lexsort((kept, -share[kept]))]
    return [
        {"item": tree.labels[leaf], "n_answers": int(total[leaf]), "unexplained": float(share[leaf])}
        for leaf in order.tolist()
    ]


def said_in_words(data: Comparisons, answers: Answers, at: int, form: str) -> str:
    rows = data.rows[np.flatnonzero(answers.of_row == at)]
    labels = data.names or tuple(map(str, range(data.n_leaves)))
    names = [[labels[leaf] for leaf in row] for row in rows.tolist()]
    if form == "quadruplet":
        i, j, k, other = names[0]
        return f"{i} and {j} are more alike than {k} and {other}"
    if form == "odd one out":
        a, b, odd = names[0]
        return f"{odd} is the odd one out beside {a} and {b}"
    if form == "most central":
        a, central, b = names[0]
        return f"{central} is between {a} and {b}"
    text = "; ".join(f"{anchor} is more like {near} than {far}" for anchor, near, far in names[:3])
    return text + ("; …" if len(names) > 3 else "")


def _tree_in_words(tree: Dendrogram, data: Comparisons, answers: Answers, at: int) -> str:
    row = data.rows[answers.first[at]].astype(np.int64)
    if isinstance(data, Triplets):
        pairs = list(itertools.combinations(row.tolist(), 2))
        sizes = [int(lca_size(tree, *pair)) for pair in pairs]
        is_open = sizes.count(min(sizes)) > 1
        one, other = pairs[sizes.index(min(sizes))]
    else:
        is_open = verdicts(tree, data[[int(answers.first[at])]])[0] == 0
        one, other = row[2:].tolist()
    return "does not decide" if is_open else f"{tree.labels[one]} and {tree.labels[other]} merge first"
