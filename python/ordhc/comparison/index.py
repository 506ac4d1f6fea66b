"""Index comparisons by leaf, to find the questions about some leaves and their answers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc.errors import InputError


class Index:
    """An index of comparisons by leaf; made by `Triplets.index` and `Quadruplets.index`.

    Parameters
    ----------
    data
        The comparisons: `Triplets` or `Quadruplets`.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([("cat", "dog", "car"), ("cat", "car", "dog"), ("cat", "dog", "car")])
    >>> index = t.index()
    >>> index.about("cat", "dog").tolist()
    [0, 1, 2]
    >>> [(anchor, a, b) for anchor, a, b in zip(*(index.questions()[c] for c in ("anchor", "a", "b")))]
    [('cat', 'dog', 'car')]
    >>> index.questions()["n_a"].tolist(), index.questions()["n_b"].tolist()
    ([2], [1])
    """

    def __init__(self, data: Any) -> None:
        self._data = data
        self._ends, self._rows = _ordhc.index_rows(data.rows, data.n_leaves)
        self._rows.flags.writeable = False
        self._asked: tuple[NDArray[np.int32], NDArray[np.int64]] | None = None

    def about(self, *leaves: int | str) -> NDArray[np.uint32]:
        """Return the numbers of the rows that contain all of these leaves, ascending.

        Parameters
        ----------
        *leaves
            One leaf or several, by number or name.

        Returns
        -------
        ndarray of uint32
            For one leaf, a read-only view of the index. ``data[index.about("cat")]`` are the comparisons
            themselves, ``data.groups[index.about("cat")]`` the people.

        Raises
        ------
        InputError
            No leaf is given, or a leaf does not exist.
        """
        if not leaves:
            raise InputError("about() needs at least one leaf")
        numbers = {self._leaf(leaf) for leaf in leaves}
        rarest = min(numbers, key=lambda leaf: len(self._of(leaf)))
        found = self._of(rarest)
        for leaf in numbers - {rarest}:
            found = found[(self._data.rows[found] == leaf).any(axis=1)]
        return found

    def questions(self, *leaves: int | str) -> dict[str, NDArray[Any]]:
        """Return each distinct question, with the number of answers for each of its two sides.

        ``pandas.DataFrame(index.questions())`` makes a data frame. Weights are ignored.

        Parameters
        ----------
        *leaves
            Only questions that contain all of these leaves; by default all questions.

        Returns
        -------
        dict of ndarray
            Columns of equal length, the most frequent questions first. Leaves are names, or numbers if
            leaves have no names.

            - For triplets: the leaves "anchor", "a", "b", and the numbers of answers "n_a" (a is nearer to
              the anchor) and "n_b" (b is nearer).
            - For quadruplets: the leaves "i", "j", "k", "l", and the numbers of answers "n_ij" (i and j are
              closer) and "n_kl" (k and l are closer).

        Raises
        ------
        InputError
            A leaf does not exist.
        """
        if self._asked is None:
            self._asked = _ordhc.questions(self._data.rows, self._data.n_leaves)
        asked, counts = self._asked
        for leaf in leaves:
            has = (asked == self._leaf(leaf)).any(axis=1)
            asked, counts = asked[has], counts[has]
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        asked, counts = asked[order], counts[order]
        names = self._data.names
        shown = asked if names is None else np.array(names, dtype=object)[asked]
        width = self._data._width
        columns = ["anchor", "a", "b", "n_a", "n_b"] if width == 3 else ["i", "j", "k", "l", "n_ij", "n_kl"]
        return dict(zip(columns, [*shown.reshape(-1, width).T, *counts.T], strict=True))

    def _of(self, leaf: int) -> NDArray[np.uint32]:
        start = 0 if leaf == 0 else self._ends[leaf - 1]
        return self._rows[start : self._ends[leaf]]

    def _leaf(self, leaf: int | str) -> int:
        return _checks.leaf_number(leaf, self._data.names, self._data.n_leaves)

    def __repr__(self) -> str:
        return f"<Index of {len(self._data):,} comparisons of {self._data.n_leaves:,} leaves>"
