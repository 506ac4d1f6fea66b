"""Names of clusters: the words that set them apart, or the member in their middle."""

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

__all__ = ["describe"]

Sums = dict[int, NDArray[np.float64]]


def describe(
    tree: Any,
    X: ArrayLike,
    vocabulary: Sequence[str] | Mapping[str, int] | None = None,
    *,
    n_words: int = 3,
) -> Dendrogram:
    """Name the clusters of a tree by what their leaves say.

    With a vocabulary a cluster is named by the words whose class-based tf-idf (Grootendorst 2022) exceeds
    that of its siblings together the most, where the classes are the cluster and its siblings. Without one
    it is named by its medoid, the leaf whose vector has the largest mean cosine with all of them.

    Parameters
    ----------
    tree
        See `ordhc.as_dendrogram`.
    X
        (n, p) counts of words (or weights, not negative) for each leaf, as ``CountVectorizer`` makes them; an
        array, or SciPy's sparse matrix. For medoids any vectors.
    vocabulary
        The p words: a list in the order of the columns, or columns by word (``vectorizer.vocabulary_``).
    n_words
        The maximum number of words of a name.

    Returns
    -------
    Dendrogram
        The tree with `node_names`, which pictures, pages and reports show. By words the root has none, nor
        has a cluster without a word that its siblings have less of. Ties go to the word of the first
        column, and to the leaf of the smallest number.

    Raises
    ------
    InputError
        Another number of rows than leaves, of words than columns; counts below 0 or not finite.

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
    """Return the word of each column."""
    if isinstance(vocabulary, Mapping):
        columns = {
            _checks.whole("vocabulary", at, at_least=0): _checks.text("vocabulary", word)
            for word, at in vocabulary.items()
        }
        if sorted(columns) != list(range(width)):
            raise InputError(f"vocabulary has {len(columns)} words for the {width} columns of X")
        return [columns[at] for at in range(width)]
    words = [_checks.text("vocabulary", word) for word in _checks.listed("vocabulary", vocabulary)]
    if len(words) != width:
        raise InputError(f"vocabulary has {len(words)} words for the {width} columns of X")
    return words


def _row(rows: Any, at: int) -> NDArray[np.float64]:
    row = rows[[at]].toarray()[0] if is_sparse(rows) else rows[at]
    return np.asarray(row, dtype=np.float64)


def _contrasts(tree: Dendrogram, rows: Any, words: list[str], n_words: int) -> list[str | None]:
    n = tree.n_leaves
    told: list[str | None] = [None] * (len(tree.sizes))
    # Sums of clusters whose parent is not yet done: few at a time in postorder.
    sums: Sums = {}
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
    """Return the words whose tf-idf exceeds that in all sibling clusters together by the most."""
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
    """Return the medoid of each cluster, by the mean cosine with all members."""
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
