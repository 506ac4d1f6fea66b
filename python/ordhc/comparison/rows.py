"""The common base class of triplets and quadruplets: rows of leaf ids with weights, answers and people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.comparison.frames import columns_of
from ordhc.comparison.ids import as_ids, check_reach
from ordhc.comparison.suspects import alike, outside_advice, warn_of_suspects
from ordhc.comparison.units import answers_of, coded, units_of
from ordhc.errors import InputError, warn

if TYPE_CHECKING:
    from ordhc.comparison.index import Index

_SHOWN = 5
_TYPES = {"rows": np.int32, "weights": np.float64, "answers": np.int32, "groups": np.int32}

_R = TypeVar("_R", bound="Rows")


class Rows:
    """Rows of leaf ids, checked once and immutable."""

    __slots__ = (
        "_adaptive",
        "_answers",
        "_group_names",
        "_groups",
        "_n_leaves",
        "_names",
        "_rows",
        "_weights",
    )

    rows: NDArray[Any] = _checks.read_only(
        "_rows",
        "The leaf ids of the comparisons, (m, 3) or (m, 4), read-only, of type int32, uint8 or uint16.",
    )
    weights: NDArray[np.float64] | None = _checks.read_only(
        "_weights", "The weight of each row, (m,), or None if every row counts once."
    )
    answers: NDArray[np.int32] | None = _checks.read_only(
        "_answers",
        """The number of the answer that each row is part of, (m,); None if every row is an answer.

        Rows of different groups are parts of different answers, even if their numbers are equal.
        """,
    )
    groups: NDArray[np.int32] | None = _checks.read_only(
        "_groups",
        "The person behind each row, (m,): a number, or an index into `group_names`; None if unknown.",
    )
    group_names: tuple[str, ...] | None = _checks.read_only(
        "_group_names", "The names of the groups, if `groups` were given as text."
    )
    adaptive: bool = _checks.read_only(
        "_adaptive",
        """True if a learner chose questions by earlier answers.

        Such questions are mostly about close leaves, so methods that count answers are biased. By default
        `cluster` therefore uses "posterior-al".
        """,
    )
    names: tuple[str, ...] | None = _checks.read_only("_names", "The names of the leaves, or None.")
    n_leaves: int = _checks.read_only(
        "_n_leaves", "The number of leaves, including leaves that occur in no comparison."
    )

    _width: ClassVar[int]
    _columns: ClassVar[tuple[str, ...]]
    _what: ClassVar[str]

    def __init__(
        self,
        rows: ArrayLike | Rows,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        *,
        answers: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        group_names: Sequence[str] | None = None,
        adaptive: bool | None = None,
        copy: bool = True,
    ) -> None:
        copy = _checks.flag("copy", copy)
        adaptive = None if adaptive is None else _checks.flag("adaptive", adaptive)
        frame = rows if isinstance(rows, Rows) else columns_of(rows, self._what, self._width)
        if isinstance(frame, Rows):
            if not isinstance(frame, type(self)):
                raise InputError(f"rows are {type(frame).__name__}; {type(self).__name__} are needed")
            n_leaves = frame.n_leaves if n_leaves is None else n_leaves
            names = frame.names if names is None else names
            group_names = frame.group_names if groups is None else group_names
            copy = False
        if frame is not None:
            rows = frame.rows
            weights = frame.weights if weights is None else weights
            answers = frame.answers if answers is None else answers
            groups = frame.groups if groups is None else groups
            adaptive = frame.adaptive if adaptive is None else adaptive
        names = _checks.names(names)
        is_said = n_leaves is not None
        if n_leaves is not None:
            n_leaves = _checks.whole("n_leaves", n_leaves, at_least=1)
            if names is not None and len(names) != n_leaves:
                raise InputError(f"names has {len(names)} entries, but n_leaves = {n_leaves}")
        elif names is not None:
            n_leaves = len(names)
        table, found = as_ids(rows, self._width, self._columns, names)
        is_named, names = names is not None, found
        if names is not None and n_leaves is None:
            n_leaves = len(names)
        if not len(table) and n_leaves is None:
            raise InputError("without comparisons the number of leaves is unknown: pass n_leaves or names")
        check = _ordhc.check_triplets if self._width == 3 else _ordhc.check_quadruplets
        try:
            narrowed, n = check(table, n_leaves)
        except InputError as error:
            hint = outside_advice(table, n_leaves) if "outside" in error.reason else ""
            raise InputError(error.reason + hint, row=error.row, leaves=error.leaves) from None
        if n_leaves is None:
            check_reach(table, n)
        warn_of_suspects(table, n, names, said=is_said, named=is_named)
        if narrowed is not None:
            table = narrowed
        elif copy and isinstance(rows, np.ndarray) and np.may_share_memory(table, rows):
            table = table.copy()
        else:
            table = table.view()
        answers, groups, group_names = answers_and_groups(answers, groups, group_names, len(table), copy=copy)
        self._set(
            rows=table,
            weights=checked_weights(weights, len(table), copy=copy),
            answers=answers,
            groups=groups,
            group_names=group_names,
            adaptive=bool(adaptive),
            names=names,
            n_leaves=n,
        )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            setattr(self, f"_{name}", value)

    @property
    def unmentioned(self) -> NDArray[np.int64]:
        """The leaves that occur in no comparison."""
        seen = np.zeros(self.n_leaves, dtype=bool)
        seen[self.rows.ravel()] = True
        return np.flatnonzero(~seen)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (tuple(row) for row in self.rows.tolist())

    def __getitem__(self, index: slice | ArrayLike) -> Self:
        """Return the comparisons selected by a slice, a mask or positions."""
        picked: Any = index if isinstance(index, slice) else _positions(index, len(self))
        state = self._state()
        columns = [name for name in ("rows", "weights", "answers", "groups") if state[name] is not None]
        return changed(self, **{name: state[name][picked] for name in columns})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (
            self.n_leaves == other.n_leaves
            and self.names == other.names
            and self.adaptive == other.adaptive
            and np.array_equal(self.rows, other.rows)
            and _same(self.weights, other.weights)
            and _same(self.answers, other.answers)
            and _same(persons_of(self), persons_of(other))
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else ", weighted"
        counted = "" if self.answers is None else f", {self._count(answers_of(self))} answers"
        if self.groups is not None:
            counted += f", {len(np.unique(self.groups)):,} groups"
        counted += ", adaptive" if self.adaptive else ""
        missing = len(self.unmentioned)
        note = f", {missing} leaves unmentioned" if missing else ""
        return f"<{type(self).__name__}: {len(self):,} of {self.n_leaves:,} leaves{weighted}{counted}{note}>"

    def _repr_html_(self) -> str:
        some = self[:_SHOWN]
        by_name = [] if self.names is None else [tuple(self.names[leaf] for leaf in row) for row in some]
        columns, rows = list(self._columns), [list(row) for row in by_name or some]
        for what, values in (
            ("weight", some.weights),
            ("answer", some.answers),
            ("group", None if some.groups is None else persons_of(some)),
        ):
            if values is not None:
                columns.append(what)
                for row, value in zip(rows, values.tolist(), strict=True):
                    row.append(f"{value:g}" if what == "weight" else value)
        left = len(self._columns) if by_name else 0
        more = [f"and {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else []
        return _html.block(repr(self)[1:-1], _html.table(columns, rows, left=left, notes=more))

    @staticmethod
    def _count(units: NDArray[np.int64]) -> int:
        return int(units.max()) + 1 if len(units) else 0

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self._state())

    def _state(self) -> dict[str, Any]:
        return {slot.removeprefix("_"): getattr(self, slot) for slot in Rows.__slots__}

    def index(self) -> Index:
        """Return an index by leaf, to find the questions about given leaves and their answers.

        Building the index takes time in proportion to the number of rows. Each search takes time in
        proportion to the number of rows with the rarest of the given leaves.

        Examples
        --------
        >>> import ordhc
        >>> t = ordhc.Triplets([(0, 1, 2), (0, 2, 1), (3, 1, 2)])
        >>> index = t.index()
        >>> index.about(0).tolist(), index.about(1, 3).tolist()
        ([0, 1], [2])
        >>> t[index.about(1, 3)].rows.tolist()
        [[3, 1, 2]]
        """
        from ordhc.comparison.index import Index

        return Index(self)

    def deduplicate(self, *, counts: bool = False) -> Self:
        """Return each distinct comparison once, in order of first appearance.

        A row keeps the number of the answer in which it appears first. Groups are dropped, because a row may
        come from several people.

        Parameters
        ----------
        counts
            True keeps the number of repeats (or the sum of their weights) as weights. With False, the
            default, the result has no weights.

        Examples
        --------
        >>> from ordhc import Triplets
        >>> t = Triplets([(0, 1, 2), (0, 2, 1), (0, 1, 2)])
        >>> t.deduplicate(counts=True).weights
        array([2., 1.])
        """
        _, first, inverse = np.unique(self.rows, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        weights = None
        if _checks.flag("counts", counts):
            weights = np.bincount(inverse.ravel(), self.weights, minlength=len(first))[order]
        answers = None
        if self.answers is not None:
            # Different people may use the same numbers: number each person's answers separately.
            numbers = self.answers if self.groups is None else answers_of(self)
            answers = numbers[first[order]]
        rows = self.rows[first[order]]
        return changed(self, rows=rows, weights=weights, answers=answers, groups=None, group_names=None)

    def sample(self, m: int, *, seed: int = 0, unit: str = "answer") -> Self:
        """Return `m` answers with all of their rows, drawn without replacement; rows keep their order.

        Parameters
        ----------
        m
            The number of answers to draw. If `answers` is None, each row is an answer.
        seed
            The same seed draws the same answers.
        unit
            "answer" (the default) draws answers. "group" draws `m` groups with all of their answers.

        Examples
        --------
        >>> from ordhc import Triplets
        >>> len(Triplets([(0, 1, 2), (1, 2, 0), (2, 1, 0)]).sample(2, seed=1))
        2
        >>> t = Triplets.from_odd_one_out([(2, 0, 1), (0, 1, 2), (3, 0, 2)])
        >>> t.sample(2, seed=1).answers.tolist()
        [0, 0, 1, 1]
        """
        m = _checks.whole("m", m, at_least=0)
        units, what = units_of(self, unit)
        count = self._count(units)
        if m > count:
            plural = "groups" if what == "group" else "comparisons" if self.answers is None else "answers"
            raise InputError(f"m = {m} is more than the number of {plural}, {count}")
        chosen = np.zeros(count, dtype=bool)
        chosen[np.random.default_rng(_checks.seed(seed)).choice(count, m, replace=False)] = True
        return self[chosen[units]]

    @shows_progress("splitting")
    def split(
        self,
        fraction: float = 0.8,
        *,
        seed: int = 0,
        unit: str | None = None,
        progress: Progress | bool | None = None,
    ) -> tuple[Self, Self]:
        """Split the comparisons at random into two parts; the first has `fraction` of the answers or people.

        All rows of an answer are in the same part. If two or more groups (people) are known, all answers of a
        group are in the same part, and `fraction` is a fraction of the groups.

        Parameters
        ----------
        fraction
            From 0 to 1.
        seed
            The same seed gives the same parts.
        unit
            "answer" splits answers, "group" splits groups. By default, groups if two or more are known, else
            answers.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Examples
        --------
        >>> from ordhc import Triplets
        >>> train, test = Triplets([(0, 1, 2), (1, 2, 0), (2, 1, 0)]).split(0.67)
        >>> len(train), len(test)
        (2, 1)
        >>> t = Triplets.from_odd_one_out([(2, 0, 1), (0, 1, 2), (3, 0, 2)], groups=["ann", "bob", "ann"])
        >>> [set(part.groups.tolist()) for part in t.split(0.5)]
        [{0}, {1}]
        """
        fraction = _checks.number("fraction", fraction, at_least=0, at_most=1)
        seed, report = _checks.seed(seed), _checks.callback("progress", progress) or (lambda _: None)
        units, _ = units_of(self, unit)
        count = self._count(units)
        report(0.2)
        chosen = np.zeros(count, dtype=bool)
        chosen[np.random.default_rng(seed).permutation(count)[: round(fraction * count)]] = True
        kept = chosen[units]
        report(0.5)
        first = self[kept]
        report(0.8)
        second = self[~kept]
        report(1.0)
        return first, second


def _positions(index: Any, m: int) -> NDArray[Any]:
    found = np.atleast_1d(_checks.array("index", index))
    if found.dtype == bool and found.shape == (m,):
        return found
    positions = _checks.whole_numbers("index", found)
    if positions.ndim != 1:
        raise InputError(
            f"index has shape {positions.shape}; use a slice, a mask of shape ({m},) or positions"
        )
    for at in np.flatnonzero((positions < -m) | (positions >= m))[:1].tolist():
        raise IndexError(f"index[{at}] = {positions[at]} is out of range for {m} comparisons")
    return positions


def _restored(kind: type[Rows], state: dict[str, Any]) -> Rows:
    return kind(**state)


def _same(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def checked_weights(weights: ArrayLike | None, m: int, *, copy: bool = True) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    given = _checks.numbers_of("weights", weights)
    if given.shape != (m,):
        raise InputError(f"weights have shape {given.shape} for {m} comparisons")
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if wrong.size:
        raise InputError(
            f"weight is {given[wrong[0]]}; weights must be finite and not negative", row=wrong[0]
        )
    return _kept(given, weights, copy)  # type: ignore[no-any-return]


def _kept(values: NDArray[Any], given: Any, copy: bool) -> Any:
    if isinstance(given, np.ndarray) and np.may_share_memory(values, given):
        values = values.copy() if copy else values.view()
    values.flags.writeable = False
    return values


def answers_and_groups(
    answers: ArrayLike | None,
    groups: ArrayLike | None,
    group_names: Sequence[str] | None,
    m: int,
    *,
    copy: bool = True,
) -> tuple[NDArray[np.int32] | None, NDArray[np.int32] | None, tuple[str, ...] | None]:
    numbers = None if answers is None else _kept(coded("answers", answers, m)[0], answers, copy)
    if groups is None:
        if group_names is not None:
            raise InputError("group_names without groups: give both")
        return numbers, None, None
    persons, found = coded("groups", groups, m)
    if found is not None and (odd := alike(found, "groups")):
        warn(odd[0])
    if group_names is not None:
        if found is not None:
            raise InputError("groups are names already: leave out group_names")
        found = _checks.names(group_names)
        assert found is not None
        beyond = np.flatnonzero(persons >= len(found))
        if beyond.size:
            raise InputError(
                f"groups[{beyond[0]}] is {persons[beyond[0]]}; there are {len(found)} group_names"
            )
    return numbers, _kept(persons, groups, copy), found


def changed(data: _R, **changes: Any) -> _R:
    """Return `data` with other values of the given attributes. They are not checked or copied."""
    return made(type(data), {**data._state(), **changes})


def made(kind: type[_R], values: Mapping[str, Any]) -> _R:
    """Return comparisons of the given class and attributes, which are not checked or copied."""
    found = object.__new__(kind)
    found._set(**{name: _of_type(name, value) for name, value in values.items()})
    return found


def _of_type(name: str, value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return tuple(value) if isinstance(value, list) else value
    narrow = name == "rows" and value.dtype in (np.uint8, np.uint16)
    return np.ascontiguousarray(value, None if narrow else _TYPES[name]).view()


def persons_of(data: Rows) -> NDArray[Any] | None:
    """Return the name (if known, else the number) of the person of each row, (m,); None without people."""
    if data.groups is None or data.group_names is None:
        return data.groups
    return np.array(data.group_names, dtype=object)[data.groups]
