"""Comparisons: what people (or models) answered."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _ordhc
from ordhc.errors import InputError

__all__ = ["Quadruplets", "Triplets"]


class _Comparisons:
    """Rows of leaf ids, checked once and never changed."""

    __slots__ = ("_n_leaves", "_names", "_rows", "_weights")

    _width: ClassVar[int]
    _columns: ClassVar[tuple[str, ...]]

    def __init__(
        self,
        rows: "ArrayLike | _Comparisons",
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        *,
        copy: bool = True,
    ) -> None:
        if isinstance(rows, _Comparisons):
            if not isinstance(rows, type(self)):
                raise InputError(f"{type(rows).__name__} are no {type(self).__name__}")
            n_leaves = rows.n_leaves if n_leaves is None else n_leaves
            names = rows.names if names is None else names
            weights = rows.weights if weights is None else weights
            rows, copy = rows.rows, False
        names = _checked_names(names)
        if n_leaves is not None:
            n_leaves = _whole("n_leaves", n_leaves, at_least=1)
            if names is not None and len(names) != n_leaves:
                raise InputError(f"{len(names)} names for n_leaves = {n_leaves}")
        elif names is not None:
            n_leaves = len(names)
        table, names = _as_ids(rows, self._width, self._columns, names)
        if names is not None and n_leaves is None:
            n_leaves = len(names)
        if not len(table) and n_leaves is None:
            raise InputError("no comparisons and no n_leaves: the number of leaves is unknown")
        check = _ordhc.check_triplets if self._width == 3 else _ordhc.check_quadruplets
        narrowed, n = check(table, n_leaves)
        if narrowed is not None:
            table = narrowed
        elif copy and isinstance(rows, np.ndarray) and np.may_share_memory(table, rows):
            table = table.copy()
        else:
            table = table.view()
        table.flags.writeable = False
        self._rows: NDArray[Any] = table
        self._n_leaves = n
        self._names = names
        self._weights = _checked_weights(weights, len(table))

    @property
    def rows(self) -> NDArray[Any]:
        """The comparisons, (m, 3) or (m, 4) leaf ids, read-only; int32, or uint8 or uint16 if given so."""
        return self._rows

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """The weight of each row, (m,), or None if every row counts once."""
        return self._weights

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def n_leaves(self) -> int:
        """The number of leaves, those in no comparison included."""
        return self._n_leaves

    @property
    def unmentioned(self) -> NDArray[np.int64]:
        """The leaves that occur in no comparison."""
        seen = np.zeros(self._n_leaves, dtype=bool)
        seen[self._rows.ravel()] = True
        return np.flatnonzero(~seen)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (tuple(row) for row in self._rows.tolist())

    def __getitem__(self, index: "slice | ArrayLike") -> Self:
        """Some of the comparisons, by slice, mask or positions."""
        if isinstance(index, int | np.integer):
            index = [int(index)]
        picked: Any = index if isinstance(index, slice) else np.asarray(index)
        weights = None if self._weights is None else self._weights[picked]
        return self._like(self._rows[picked], weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        same_weights = (
            other._weights is None
            if self._weights is None
            else other._weights is not None and np.array_equal(self._weights, other._weights)
        )
        return (
            self._n_leaves == other._n_leaves
            and self._names == other._names
            and same_weights
            and np.array_equal(self._rows, other._rows)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        weighted = "" if self._weights is None else ", weighted"
        missing = len(self.unmentioned)
        note = f", {missing} leaves unmentioned" if missing else ""
        return f"<{type(self).__name__}: {len(self):,} of {self._n_leaves:,} leaves{weighted}{note}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._rows, self._n_leaves, self._names, self._weights)

    def _like(self, rows: ArrayLike, weights: ArrayLike | None) -> Self:
        return type(self)(rows, self._n_leaves, self._names, weights, copy=False)

    def deduplicate(self, *, counts: bool = False) -> Self:
        """Each distinct comparison once, in order of first appearance.

        Parameters
        ----------
        counts
            Keep the number of repeats (or the sum of their weights) as weights; otherwise the
            result has no weights.

        Examples
        --------
        >>> t = Triplets([(0, 1, 2), (0, 2, 1), (0, 1, 2)])
        >>> t.deduplicate(counts=True).weights
        array([2., 1.])
        """
        _, first, inverse = np.unique(self._rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        weights = None
        if counts:
            weights = np.bincount(inverse.ravel(), self._weights, minlength=len(first))[order]
        return self._like(self._rows[first[order]], weights)

    def sample(self, m: int, *, seed: int = 0) -> Self:
        """`m` of the comparisons, drawn without replacement, in their order.

        Examples
        --------
        >>> len(Triplets([(0, 1, 2), (1, 2, 0), (2, 1, 0)]).sample(2, seed=1))
        2
        """
        m = _whole("m", m, at_least=0)
        if m > len(self):
            raise InputError(f"m = {m} is more than the {len(self)} comparisons there are")
        picked = np.random.default_rng(seed).choice(len(self), m, replace=False)
        return self[np.sort(picked)]

    def split(self, fraction: float = 0.8, *, seed: int = 0) -> tuple[Self, Self]:
        """Two parts at random, the first with `fraction` of the comparisons.

        Examples
        --------
        >>> train, test = Triplets([(0, 1, 2), (1, 2, 0), (2, 1, 0)]).split(0.67)
        >>> len(train), len(test)
        (2, 1)
        """
        if not 0 <= fraction <= 1:
            raise InputError(f"fraction = {fraction} is outside 0..1")
        chosen = np.zeros(len(self), dtype=bool)
        m = round(fraction * len(self))
        chosen[np.random.default_rng(seed).permutation(len(self))[:m]] = True
        return self[chosen], self[~chosen]


class Triplets(_Comparisons):
    """Comparisons (anchor, near, far): the anchor is more similar to near than to far.

    Parameters
    ----------
    rows
        (m, 3) leaf ids from 0, whole numbers of any type; or names of leaves, looked up in `names`
        (or collected in order of first appearance).
    n_leaves
        The number of leaves; by default the number of names, or the largest id plus one.
    names
        The names of the leaves.
    weights
        (m,) finite, not negative. Repeats count as often as they occur.
    copy
        With False a contiguous array of int32, uint8 or uint16 is used as it is, which saves memory; it
        must not be changed then. Rows of uint8 and uint16 stay so.

    Raises
    ------
    InputError
        Ids below 0 or beyond `n_leaves`, a leaf twice in a row, other than three columns, ids that
        aren't whole, weights that are NaN, infinite or negative: with row and value.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)], n_leaves=4)
    >>> t
    <Triplets: 2 of 4 leaves, 1 leaves unmentioned>
    >>> ordhc.Triplets([("cat", "dog", "car")]).names
    ('cat', 'dog', 'car')
    """

    __slots__ = ()
    _width = 3
    _columns = ("anchor", "near", "far")

    @classmethod
    def from_odd_one_out(
        cls,
        rows: ArrayLike,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> "Triplets":
        """From answers (odd, a, b) to "which is the odd one out?": (a, b, odd) and (b, a, odd).

        Examples
        --------
        >>> Triplets.from_odd_one_out([(2, 0, 1)]).rows.tolist()
        [[0, 1, 2], [1, 0, 2]]
        """
        return cls._expand(rows, ("odd", "a", "b"), [(1, 2, 0), (2, 1, 0)], n_leaves, names, weights)

    @classmethod
    def from_most_central(
        cls,
        rows: ArrayLike,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> "Triplets":
        """From answers (central, a, b) to "which is most central?": (a, central, b), (b, central, a).

        Examples
        --------
        >>> Triplets.from_most_central([(2, 0, 1)]).rows.tolist()
        [[0, 2, 1], [1, 2, 0]]
        """
        pattern = [(1, 0, 2), (2, 0, 1)]
        return cls._expand(rows, ("central", "a", "b"), pattern, n_leaves, names, weights)

    @classmethod
    def from_ranking(
        cls,
        rows: ArrayLike,
        n_ranked: int = 2,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> "Triplets":
        """From rankings (reference, 1st, 2nd, ..., others): a ranked leaf beats all that follow it.

        A row of 8 leaves (a reference and 7 others) of which 2 are ranked gives 6 + 5 = 11 triplets.

        Parameters
        ----------
        rows
            (m, w) leaf ids: the reference, the `n_ranked` nearest in order, then the others.
        n_ranked
            How many of the others are ranked, from 1 to w - 2 (or w - 1, which says the same).

        Examples
        --------
        >>> Triplets.from_ranking([(0, 3, 1, 2)], n_ranked=1).rows.tolist()
        [[0, 3, 1], [0, 3, 2]]
        >>> len(Triplets.from_ranking([range(8)], n_ranked=2))
        11
        """
        table = np.asarray(rows)
        width = table.shape[1] if table.ndim == 2 else 0
        if width < 3:
            raise InputError(f"rows have shape {table.shape}; a reference and at least two others are needed")
        n_ranked = _whole("n_ranked", n_ranked, at_least=1)
        if n_ranked > width - 1:
            raise InputError(f"n_ranked = {n_ranked} is above the {width - 1} others of a row")
        patterns = [(0, near, far) for near in range(1, n_ranked + 1) for far in range(near + 1, width)]
        columns = ("reference", *(f"place {place}" for place in range(1, width)))
        return cls._expand(table, columns, patterns, n_leaves, names, weights)

    @classmethod
    def _expand(
        cls,
        rows: ArrayLike,
        columns: tuple[str, ...],
        patterns: list[tuple[int, int, int]],
        n_leaves: int | None,
        names: Sequence[str] | None,
        weights: ArrayLike | None,
    ) -> "Triplets":
        """Triplets made of columns of wider rows: all of the first row, then of the second, ..."""
        table, found = _as_ids(rows, len(columns), columns, _checked_names(names))
        n = n_leaves
        if n is None:
            n = len(found) if found is not None else (int(table.max()) + 1 if table.size else None)
        for row in np.flatnonzero((np.diff(np.sort(table, axis=1), axis=1) == 0).any(axis=1))[:1]:
            ids, times = np.unique(table[row], return_counts=True)
            raise InputError(f"row {row}: leaf {ids[times > 1][0]} occurs twice in {table[row].tolist()}")
        outside = np.flatnonzero(((table < 0) | (table >= (n or 0))).any(axis=1))
        if outside.size:
            row = outside[0]
            bad = next(leaf for leaf in table[row].tolist() if not 0 <= leaf < (n or 0))
            raise InputError(f"row {row}: leaf {bad} is outside 0..={(n or 0) - 1} (n_leaves = {n})")
        spread = _checked_weights(weights, len(table))
        if spread is not None:
            spread = np.repeat(spread, len(patterns))
        triplets = table[:, np.array(patterns, dtype=np.intp).reshape(-1, 3)].reshape(-1, 3)
        return cls(triplets, n, found, spread)

    @classmethod
    def from_responses(
        cls,
        X: ArrayLike,
        y: ArrayLike | None = None,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> "Triplets":
        """From questions (anchor, a, b) and their responses, as cblearn keeps them.

        Parameters
        ----------
        X
            (m, 3) leaf ids.
        y
            (m,) responses: 1 or True if the anchor is more similar to a, -1 or False if to b. Without
            `y` the rows are in order already.

        Examples
        --------
        >>> Triplets.from_responses([(0, 1, 2), (0, 1, 2)], [1, -1]).rows.tolist()
        [[0, 1, 2], [0, 2, 1]]
        """
        table, found = _as_ids(X, 3, ("anchor", "a", "b"), _checked_names(names))
        if y is not None:
            answers = np.asarray(y)
            if answers.shape != (len(table),):
                raise InputError(f"y has shape {answers.shape} for {len(table)} questions")
            if answers.dtype != bool:
                values = _numbers("y", answers)
                wrong = np.flatnonzero((values != 1) & (values != -1))
                if wrong.size:
                    raise InputError(
                        f"row {wrong[0]}: y is {answers[wrong[0]]}; responses are 1 or -1, or bool"
                    )
                answers = values == 1
            table = table.copy()
            table[~answers] = table[~answers][:, [0, 2, 1]]
        return cls(table, n_leaves, found, weights)

    def to_quadruplets(self) -> "Quadruplets":
        """Each triplet (i, j, k) as the quadruplet (i, j, i, k).

        Examples
        --------
        >>> Triplets([(0, 1, 2)]).to_quadruplets().rows.tolist()
        [[0, 1, 0, 2]]
        """
        return Quadruplets(self._rows[:, [0, 1, 0, 2]], self._n_leaves, self._names, self._weights)


class Quadruplets(_Comparisons):
    """Comparisons (i, j, k, l): i and j are more similar than k and l.

    Parameters and errors are those of `Triplets`, with four columns; the two pairs of a row must
    differ, and so must the two leaves of a pair.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.Quadruplets([(0, 1, 2, 3), (0, 1, 0, 2)])
    <Quadruplets: 2 of 4 leaves>
    """

    __slots__ = ()
    _width = 4
    _columns = ("i", "j", "k", "l")

    def to_quadruplets(self) -> "Quadruplets":
        """Return the quadruplets themselves."""
        return self


def _whole(what: str, value: Any, *, at_least: int) -> int:
    try:
        whole = int(value)
        fine = whole == value
    except (TypeError, ValueError, OverflowError):
        fine = False
    if not fine or isinstance(value, bool | np.bool_):
        raise InputError(f"{what} = {value!r} is not a whole number")
    if whole < at_least:
        raise InputError(f"{what} = {whole} is below {at_least}")
    return whole


def _checked_names(names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    if isinstance(names, str):
        raise InputError(f"names must be a sequence of strings, not the string {names!r}")
    checked = tuple(names)
    seen: dict[str, int] = {}
    for at, name in enumerate(checked):
        if not isinstance(name, str):
            raise InputError(f"names[{at}] is {name!r}, not a string")
        if name in seen:
            raise InputError(f"the name {name!r} occurs twice, at {seen[name]} and {at}")
        seen[name] = at
    return tuple(str(name) for name in checked)


def _checked_weights(weights: ArrayLike | None, m: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    values = np.array(_numbers("weights", np.asarray(weights)), dtype=np.float64)
    if values.shape != (m,):
        raise InputError(f"weights have shape {values.shape} for {m} comparisons")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        raise InputError(
            f"row {wrong[0]}: weight is {values[wrong[0]]}; weights must be finite and not negative"
        )
    values.flags.writeable = False
    return values


def _numbers(what: str, values: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers: {error}") from None


def _as_ids(
    rows: ArrayLike, width: int, columns: tuple[str, ...], names: tuple[str, ...] | None
) -> tuple[NDArray[Any], tuple[str, ...] | None]:
    """(m, width) ids from numbers or names, contiguous, and the names."""
    try:
        table = np.asarray(rows)
    except ValueError:
        raise _ragged(rows, width) from None
    if table.dtype.kind == "U" and not isinstance(rows, np.ndarray):
        # NumPy turns numbers among names into names; as objects they stay what they were.
        table = np.array(rows, dtype=object)
    if table.size == 0 and table.ndim <= 2 and (table.ndim < 2 or table.shape[1] in (0, width)):
        return np.zeros((0, width), dtype=np.int64), names
    if table.dtype == object and table.ndim == 1:
        raise _ragged(rows, width)
    if table.ndim != 2 or table.shape[1] != width:
        raise InputError(f"rows have shape {table.shape}; {width} columns are needed: {', '.join(columns)}")
    kind = table.dtype.kind
    if table.dtype in (np.uint8, np.uint16, np.int32) and table.dtype.isnative:
        return np.ascontiguousarray(table), names
    if kind in "iu" and table.dtype.itemsize < 4:
        return np.ascontiguousarray(table, dtype=np.int32), names
    if kind in "iu":
        large = np.flatnonzero((table > np.iinfo(np.int64).max).any(axis=1)) if kind == "u" else np.zeros(0)
        if large.size:
            raise InputError(
                f"row {large[0]}: leaf {table[large[0]].max()} is far beyond any number of leaves"
            )
        return np.ascontiguousarray(table, dtype=np.int64), names
    if kind == "f":
        wrong = np.argwhere(~(np.isfinite(table) & (table == np.floor(table)) & (np.abs(table) < 2**53)))
        if len(wrong):
            row, column = wrong[0]
            raise InputError(
                f"row {row}: {columns[column]} is {table[row, column]}; leaf ids are whole numbers"
            )
        return np.ascontiguousarray(table, dtype=np.int64), names
    if kind in "UTO" and all(isinstance(cell, str) for cell in table.ravel().tolist()):
        return _coded(table, names)
    if kind == "O":
        cells = table.ravel().tolist()
        for at, cell in enumerate(cells):
            number = isinstance(cell, int | float | np.number) and not isinstance(cell, bool)
            if not number or isinstance(cells[0], str):
                row, column = divmod(at, width)
                found = f"row {row}: {columns[column]} is {cell!r}"
                if isinstance(cell, str) or number:
                    if isinstance(cell, str) == isinstance(cells[0], str):
                        continue
                    raise InputError(f"{found}, the first cell is {cells[0]!r}: give ids or names, not both")
                raise InputError(f"{found}, neither id nor name")
        return _as_ids(_numbers("rows", table), width, columns, names)
    raise InputError(f"rows of type {table.dtype} are neither ids nor names")


def _coded(table: NDArray[Any], names: tuple[str, ...] | None) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    cells = table.ravel().tolist()
    if names is None:
        names = tuple(dict.fromkeys(cells))
    codes = {name: code for code, name in enumerate(names)}
    ids = np.empty(len(cells), dtype=np.int64)
    for at, cell in enumerate(cells):
        code = codes.get(cell)
        if code is None:
            row = at // table.shape[1]
            raise InputError(f"row {row}: {unknown_name(cell, names)}")
        ids[at] = code
    return ids.reshape(table.shape), names


def unknown_name(name: str, names: Sequence[str]) -> str:
    """Say that a name is unknown, with the nearest ones."""
    near = difflib.get_close_matches(name, names, n=3)
    hint = f"; nearest: {', '.join(repr(found) for found in near)}" if near else ""
    return f"the name {name!r} is unknown{hint}"


def _ragged(rows: Any, width: int) -> InputError:
    for row, cells in enumerate(rows):
        length = len(cells) if hasattr(cells, "__len__") else 1
        if length != width:
            return InputError(f"row {row}: {length} columns instead of {width}")
    return InputError(f"rows are no table of {width} columns")
