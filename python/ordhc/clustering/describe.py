"""Name the clusters of a tree by their most distinctive words, or by their medoids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.errors import InputError
from ordhc.similarities.vectors import as_vectors, is_sparse, normalized
from ordhc.tree.convert import as_dendrogram
from ordhc.tree.dendrogram import Dendrogram


def describe(
    tree: Any,
    X: ArrayLike,
    vocabulary: Sequence[str] | Mapping[str, int] | None = None,
    *,
    n_words: int = 3,
) -> Dendrogram:
    """Name the clusters of a tree by their most distinctive words, or by their medoids.

    With a vocabulary, the name of a cluster consists of its most distinctive words. These words have the
    largest difference between the class-based tf-idf (Grootendorst 2022) of the cluster and that of all its
    siblings together. The classes are the cluster and its siblings. Without a vocabulary, the name of a
    cluster is its medoid, the leaf whose vector has the largest mean cosine with the vectors of all leaves in
    the cluster.

    Parameters
    ----------
    tree
        The tree; see `ordhc.as_dendrogram` for its types.
    X
        (n, p) counts (or weights of at least 0) of words for each leaf, as ``CountVectorizer`` returns them:
        an array or a SciPy sparse matrix. Without a vocabulary, any vectors.
    vocabulary
        The p words: a list in the order of the columns of `X`, or a mapping from words to column numbers
        (``vectorizer.vocabulary_``). By default clusters are named by medoids.
    n_words
        The maximum number of words in a name.

    Returns
    -------
    Dendrogram
        The tree with `node_names`, which pictures, pages and reports show. With a vocabulary, the root has no
        name. A cluster without words that are more frequent than in its siblings has no name, either. Among
        equal words the first column is chosen, among equal leaves the smallest number.

    Raises
    ------
    InputError
        `X` has not one row for each leaf, or not one column for each word; counts are negative or not finite.

    Examples
    --------
    >>> import ordhc
    >>> tree = ordhc.Dendrogram([(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0])
    >>> X = [[2, 1, 0, 1], [1, 2, 0, 1], [0, 0, 3, 1], [0, 0, 1, 1]]
    >>> ordhc.describe(tree, X, ["meow", "woof", "engine", "the"], n_words=1).node_names
    ('meow', 'engine', None)
    >>> ordhc.describe(tree, X).node_names
    ('0', '2', '3')
    """
    found = as_dendrogram(tree)
    n_words = _checks.whole("n_words", n_words, at_least=1)
    rows = as_vectors(X)
    if rows.shape[0] != found.n_leaves:
        raise InputError(f"X has {rows.shape[0]} rows for {found.n_leaves} leaves")
    if vocabulary is None:
        return found.replace(node_names=_medoids(found, rows))
    words = _words(vocabulary, rows.shape[1])
    values = rows.data if is_sparse(rows) else rows
    if values.size and values.min() < 0:
        raise InputError(f"X holds {values.min():g}; counts of words are not negative")
    return found.replace(node_names=_contrasts(found, rows, words, n_words))


def _words(vocabulary: Any, width: int) -> list[str]:
    if isinstance(vocabulary, Mapping):
        pairs = [(_checks.whole("vocabulary", at, at_least=0), word) for word, at in vocabulary.items()]
    else:
        pairs = list(enumerate(_checks.listed("vocabulary", vocabulary)))
    columns = {at: _checks.text("vocabulary", word) for at, word in pairs}
    if sorted(columns) != list(range(width)):
        raise InputError(f"vocabulary has {len(columns)} words for the {width} columns of X")
    return [columns[at] for at in range(width)]


def _row(rows: Any, at: int) -> NDArray[np.float64]:
    row = rows[[at]].toarray()[0] if is_sparse(rows) else rows[at]
    return np.asarray(row, dtype=np.float64)


def _contrasts(tree: Dendrogram, rows: Any, words: list[str], n_words: int) -> list[str | None]:
    n = tree.n_leaves
    told: list[str | None] = [None] * (len(tree.sizes))
    # Postorder keeps few sums at a time: those of clusters whose parent has not been named.
    sums: dict[int, NDArray[np.float64]] = {}
    for node in tree.nodes("postorder"):
        if node.is_leaf:
            sums[node.label] = _row(rows, node.label)
            continue
        children = [child.label for child in node.children]
        whole = np.sum([sums[child] for child in children], axis=0)
        for child in children:
            if child >= n:
                told[child - n] = _name(sums[child], whole, len(children), words, n_words)
        for child in children:
            del sums[child]
        sums[node.label] = whole
    return told


def _name(
    own: NDArray[np.float64], whole: NDArray[np.float64], n_classes: int, words: list[str], n_words: int
) -> str | None:
    total, rest = own.sum(), whole.sum() - own.sum()
    if total <= 0:
        return None
    there = np.flatnonzero(own)
    share = own[there] / total
    elsewhere = (whole[there] - own[there]) / rest if rest > 0 else np.zeros(len(there))
    weight = (share - elsewhere) * np.log1p(whole.sum() / n_classes / whole[there])
    weight[share <= elsewhere * (1 + 1e-12)] = 0.0
    best = np.argsort(-weight, kind="stable")[:n_words]
    found = [words[there[at]] for at in best.tolist() if weight[at] > 0]
    return ", ".join(found) or None


def _medoids(tree: Dendrogram, rows: Any) -> list[str | None]:
    n, unit = tree.n_leaves, normalized(rows)
    told: list[str | None] = [None] * (len(tree.sizes))
    for node in tree.nodes("postorder"):
        if node.is_leaf:
            continue
        leaves = np.sort(node.leaves)
        part = unit[leaves]
        towards = np.asarray(part.sum(axis=0), dtype=np.float64).ravel()
        score = np.asarray(part @ towards, dtype=np.float64).ravel()
        best = np.flatnonzero(score >= score.max() - 1e-9 * max(abs(float(score.max())), 1.0))[0]
        told[node.label - n] = tree.labels[int(leaves[best])]
    return told
