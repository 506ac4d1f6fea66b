"""Comparisons that people (or models) made: triplets and quadruplets of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc.comparison.asked import AnswerOptions, Asked
from ordhc.comparison.cells import ranked_triplets
from ordhc.comparison.frames import columns_of
from ordhc.comparison.ids import as_ids, check_reach
from ordhc.comparison.presets import asked_of_frame
from ordhc.comparison.replies import Replies
from ordhc.comparison.rows import Rows, answers_and_groups, changed, checked_weights, made
from ordhc.comparison.suspects import outside_advice, warn_of_suspects
from ordhc.errors import InputError, warn


@dataclass(frozen=True)
class _Question:
    """A kind of question whose answer gives several triplets.

    `triplets` has, for each triplet, the positions in `columns` of its anchor, near and far leaf.
    """

    name: str
    columns: tuple[str, ...]
    triplets: tuple[tuple[int, int, int], ...]


_ODD_ONE_OUT = _Question("odd one out", ("odd", "a", "b"), ((1, 2, 0), (2, 1, 0)))
_MOST_CENTRAL = _Question("most central", ("central", "a", "b"), ((1, 0, 2), (2, 0, 1)))


class Triplets(Rows):
    """Comparisons (anchor, near, far): the anchor is more similar to near than to far.

    Parameters
    ----------
    rows
        (m, 3) leaf ids from 0, integers of any type; or names of leaves, looked up in `names` (by default
        numbered in order of first appearance). In a data frame, a dict or an array of records, the columns
        are found by name, in any order: `anchor`, `near`, `far`; `head`, `winner`, `loser`; `anchor`,
        `positive`, `negative`; or `i`, `j`, `k`. The optional columns are `weight` or `count`, `answer`, and
        `group` or `person`.
    n_leaves
        The number of leaves; by default the number of names, or the largest id plus one. A largest id above
        10,000 must not exceed a hundred times the number of distinct ids.
    names
        The names of the leaves.
    weights
        (m,) finite weights that are not negative. Repeated rows count as often as they occur.
    answers
        (m,) integers or text: the answer that each row belongs to (an odd one out is one answer of two rows).
        Rows of an answer stay together when rows are drawn, split or scored. By default every row is an
        answer.
    groups
        (m,) the person behind each row, by number or name.
    group_names
        The names of groups that are given as numbers from 0.
    adaptive
        True if a learner chose questions by earlier answers. The default is False; for a data frame, True if
        its column `sampler` has "learner" or "uncertain" in any row.
    copy
        False uses a contiguous array of int32, uint8 or uint16 without a copy, which saves memory. The
        array must not change later. Rows of uint8 and uint16 keep their type.

    Raises
    ------
    InputError
        Ids below 0 or beyond `n_leaves`; the same leaf twice in one row; a number of columns other than
        three; ids that are not integers; weights that are NaN, infinite or negative. The error has row and
        value.

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
    _what = "triplets"

    @classmethod
    def from_odd_one_out(
        cls,
        rows: ArrayLike,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Triplets:
        """Convert answers (odd, a, b) to "which is the odd one out?" to triplets (a, b, odd), (b, a, odd).

        Parameters
        ----------
        rows
            (m, 3) leaf ids or names: the odd item, then the two others.
        n_leaves, names, weights, groups
            As for `Triplets`; `weights` and `groups` have one entry for each answer.

        Examples
        --------
        >>> Triplets.from_odd_one_out([(2, 0, 1)]).rows.tolist()
        [[0, 1, 2], [1, 0, 2]]
        """
        return cls._expand(rows, _ODD_ONE_OUT, n_leaves, names, weights, groups)

    @classmethod
    def from_most_central(
        cls,
        rows: ArrayLike,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Triplets:
        """Convert answers (central, a, b) to "which is most central?" to (a, central, b), (b, central, a).

        Parameters
        ----------
        rows
            (m, 3) leaf ids or names: the most central item, then the two others.
        n_leaves, names, weights, groups
            As for `Triplets`; `weights` and `groups` have one entry for each answer.

        Examples
        --------
        >>> Triplets.from_most_central([(2, 0, 1)]).rows.tolist()
        [[0, 2, 1], [1, 2, 0]]
        """
        return cls._expand(rows, _MOST_CENTRAL, n_leaves, names, weights, groups)

    @classmethod
    def from_ranking(
        cls,
        rows: ArrayLike,
        n_ranked: int = 2,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Triplets:
        """Convert rankings (reference, 1st, 2nd, ..., others) to triplets.

        Each ranked leaf is nearer to the reference than all leaves after it. A row of 8 leaves (a reference
        and 7 others, of which 2 are ranked) gives 6 + 5 = 11 triplets.

        Parameters
        ----------
        rows
            (m, w) leaf ids or names: the reference, the `n_ranked` nearest leaves in order, then the others.
        n_ranked
            Number of ranked leaves, from 1 to w - 1. The values w - 1 and w - 2 give the same triplets.
        n_leaves, names, weights, groups
            As for `Triplets`; `weights` and `groups` have one entry for each row.

        Examples
        --------
        >>> Triplets.from_ranking([(0, 3, 1, 2)], n_ranked=1).rows.tolist()
        [[0, 3, 1], [0, 3, 2]]
        >>> len(Triplets.from_ranking([range(8)], n_ranked=2))
        11
        """
        width = _width_of(rows)
        if width < 3:
            raise InputError(f"rows have {width} columns; a reference and at least two others are needed")
        n_ranked = _checks.whole("n_ranked", n_ranked, at_least=1)
        if n_ranked > width - 1:
            raise InputError(
                f"n_ranked = {n_ranked} is above the number of leaves besides the reference, {width - 1}"
            )
        triplets = [(0, near, far) for near in range(1, n_ranked + 1) for far in range(near + 1, width)]
        columns = ("reference", *(f"place {place}" for place in range(1, width)))
        question = _Question("ranking", columns, tuple(triplets))
        return cls._expand(rows, question, n_leaves, names, weights, groups)

    @classmethod
    def _expand(
        cls,
        rows: ArrayLike,
        question: _Question,
        n_leaves: int | None,
        names: Sequence[str] | None,
        weights: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> Triplets:
        answers, columns = None, question.columns
        if (frame := columns_of(rows, question.name, len(columns))) is not None:
            rows, answers = frame.rows, frame.answers
            weights = frame.weights if weights is None else weights
            groups = frame.groups if groups is None else groups
        table, found = as_ids(rows, len(columns), columns, _checks.names(names))
        n = None if n_leaves is None else _checks.whole("n_leaves", n_leaves, at_least=1)
        if n is None and found is not None:
            n = len(found)
        elif n is None and table.size:
            n = int(table.max()) + 1
        for row in np.flatnonzero((np.diff(np.sort(table, axis=1), axis=1) == 0).any(axis=1))[:1]:
            ids, times = np.unique(table[row], return_counts=True)
            leaves = table[row].tolist()
            raise InputError(f"leaf {ids[times > 1][0]} occurs twice in {leaves}", row=row, leaves=[leaves])
        outside = np.flatnonzero(((table < 0) | (table >= (n or 0))).any(axis=1))
        if outside.size:
            row = outside[0]
            bad = next(leaf for leaf in table[row].tolist() if not 0 <= leaf < (n or 0))
            reason = f"leaf {bad} is outside 0..={(n or 0) - 1} (n_leaves = {n}){outside_advice(table, n)}"
            raise InputError(reason, row=row, leaves=[[bad]])
        if n_leaves is None and found is None and n is not None:
            check_reach(table, n)
        if n is not None:
            warn_of_suspects(table, n, found, said=n_leaves is not None, named=names is not None)
        size = len(question.triplets)

        def spread(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else np.repeat(values, size)

        weights = checked_weights(weights, len(table))
        adaptive = None if frame is None else frame.adaptive
        answers, persons, group_names = answers_and_groups(answers, groups, None, len(table))
        if answers is None and size > 1:
            answers = np.arange(len(table), dtype=np.int32)
        triplets = table[:, np.array(question.triplets, dtype=np.intp).reshape(-1, 3)].reshape(-1, 3)
        about: dict[str, Any] = {"group_names": group_names, "adaptive": adaptive}
        about |= {"answers": spread(answers), "groups": spread(persons)}
        return cls(triplets, n, found, spread(weights), **about)

    @classmethod
    def from_responses(
        cls,
        X: ArrayLike,
        y: ArrayLike | None = None,
        n_leaves: int | None = None,
        names: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> Triplets:
        """Convert questions (anchor, a, b) and their responses, the layout of cblearn, to triplets.

        Parameters
        ----------
        X
            (m, 3) leaf ids or names.
        y
            (m,) responses: 1 or True if the anchor is more similar to a, -1 or False if it is more similar to
            b. By default, every anchor is more similar to a.
        n_leaves, names, weights
            As for `Triplets`; `weights` has one entry for each row.

        Examples
        --------
        >>> Triplets.from_responses([(0, 1, 2), (0, 1, 2)], [1, -1]).rows.tolist()
        [[0, 1, 2], [0, 2, 1]]
        """
        frame = columns_of(X, "responses", 3)
        if frame is not None:
            X, y = frame.rows, frame.responses if y is None else y
            weights = frame.weights if weights is None else weights
        table, found = as_ids(X, 3, ("anchor", "a", "b"), _checks.names(names))
        if found is not None:
            warn_of_suspects(table, len(found), found, said=True, named=names is not None)
        if y is not None:
            answers = _checks.array("y", y)
            if answers.shape != (len(table),):
                raise InputError(f"y has shape {answers.shape} for {len(table)} questions")
            if answers.dtype != bool:
                values = _checks.numbers_of("y", answers)
                wrong = np.flatnonzero((values != 1) & (values != -1))
                if wrong.size:
                    raise InputError(
                        f"y is {answers[wrong[0]]}; responses must be 1 or -1, or bool", row=wrong[0]
                    )
                answers = values == 1
            table = table.copy()
            table[~answers] = table[~answers][:, [0, 2, 1]]
        belong: dict[str, Any] = {}
        if frame is not None:
            belong = {"answers": frame.answers, "groups": frame.groups, "adaptive": frame.adaptive}
        return cls(table, n_leaves, found, weights, **belong)

    @classmethod
    @_checks.shows_options(AnswerOptions)
    def from_frame(
        cls,
        data: Any,
        kind: str = "triplet",
        items: Any = None,
        chosen: Any = None,
        **options: Unpack[AnswerOptions],
    ) -> Triplets:
        """Convert a table of answers, one per row, with named columns, to triplets.

        Parameters
        ----------
        data
            A data frame (pandas, polars, pyarrow, or any that narwhals knows), a dict of columns, an array of
            records, or a list of dicts.
        kind
            "odd-one-out", "most-central", "ranking" or "triplet". For "pairs", use `Quadruplets.from_frame`.
        items, chosen, **options
            As in `ordhc.read_answers`, without `answer`, `delimiter`, `header` and `comment`.

        Raises
        ------
        InputError
            As for `ordhc.read_answers`; the error has the row instead of the line.

        Examples
        --------
        >>> answers = [
        ...     {"left": "cat", "middle": "car", "right": "dog", "odd": "car", "subject": "ann", "rt": 812},
        ...     {"left": "bus", "middle": "cow", "right": "car", "odd": "cow", "subject": "bob", "rt": 640},
        ... ]
        >>> t = Triplets.from_frame(
        ...     answers, kind="odd-one-out", items=["left", "middle", "right"], chosen="odd"
        ... )
        >>> [tuple(t.names[leaf] for leaf in row) for row in t[:2]]
        [('cat', 'dog', 'car'), ('dog', 'cat', 'car')]
        >>> t.answers.tolist(), t.group_names
        ([0, 0, 1, 1], ('ann', 'bob'))
        """
        if isinstance(kind, str) and kind == "pairs":
            raise InputError("kind 'pairs' gives quadruplets, not triplets: use Quadruplets.from_frame")
        found = comparisons_of_replies(*asked_of_frame(data, kind, items, chosen, options))
        assert isinstance(found, Triplets)
        return found

    def to_quadruplets(self) -> Quadruplets:
        """Return each triplet (i, j, k) as the quadruplet (i, j, i, k).

        Examples
        --------
        >>> Triplets([(0, 1, 2)]).to_quadruplets().rows.tolist()
        [[0, 1, 0, 2]]
        """
        return made(Quadruplets, {**self._state(), "rows": self.rows[:, [0, 1, 0, 2]]})


class Quadruplets(Rows):
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
    _what = "quadruplets"

    @classmethod
    @_checks.shows_options(AnswerOptions)
    def from_frame(
        cls,
        data: Any,
        kind: str = "pairs",
        items: Any = None,
        chosen: Any = None,
        **options: Unpack[AnswerOptions],
    ) -> Quadruplets:
        """Convert a table of answers to "which pair is more alike?" to quadruplets.

        The parameters are those of `Triplets.from_frame`.

        Examples
        --------
        >>> answers = {"a": ["cat"], "b": ["dog"], "c": ["cat"], "d": ["car"], "pair": [2]}
        >>> q = Quadruplets.from_frame(answers, items=["a", "b", "c", "d"], chosen="pair")
        >>> [tuple(q.names[leaf] for leaf in row) for row in q]
        [('cat', 'car', 'cat', 'dog')]
        """
        return comparisons_of_replies(*asked_of_frame(data, kind, items, chosen, options)).to_quadruplets()

    def to_quadruplets(self) -> Quadruplets:
        """Return the quadruplets themselves."""
        return self


def _width_of(rows: Any) -> int:
    frame = columns_of(rows, "ranking", 0)
    if frame is not None:
        return int(frame.rows.shape[1])
    table = _checks.array("rows", rows)
    return table.shape[1] if table.ndim == 2 else 0


Comparisons = Triplets | Quadruplets


def fitting_comparisons(data: Comparisons, accepted: tuple[str, ...], what: str) -> Comparisons:
    """Return `data`, with triplets converted to quadruplets if `accepted` has only quadruplets.

    For other data the function raises an `InputError`, whose message begins with `what`.
    """
    own = "triplets" if isinstance(data, Triplets) else "quadruplets"
    if own in accepted:
        return data
    if isinstance(data, Triplets) and "quadruplets" in accepted:
        return data.to_quadruplets()
    raise InputError(f"{what} takes {' or '.join(accepted)}, not {type(data).__name__}")


def comparisons_of_replies(replies: Replies, asked: Asked) -> Comparisons:
    rows, weights, groups = replies.rows, replies.weights, replies.groups
    known: dict[str, Any] = {"n_leaves": asked.n_leaves, "names": replies.names}
    if asked.ids_from is not None and replies.names is None and asked.n_leaves is None:
        known["n_leaves"] = int(rows.max()) + 1
        check_reach(rows, known["n_leaves"])
    made: Comparisons
    if replies.levels is not None:
        answers, triplets = ranked_triplets(rows, replies.levels)
        known["answers"] = answers if len(answers) > len(rows) else None
        weights, groups = (None if values is None else values[answers] for values in (weights, groups))
        made = Triplets(triplets, **known, weights=weights, groups=groups)
    elif asked.kind in ("odd-one-out", "most-central"):
        make = Triplets.from_odd_one_out if asked.kind == "odd-one-out" else Triplets.from_most_central
        made = make(rows, **known, weights=weights, groups=groups)
    else:
        kind = Quadruplets if asked.kind == "pairs" else Triplets
        made = kind(rows, **known, weights=weights, answers=replies.answers, groups=groups)
    if replies.adaptive:
        made = changed(made, adaptive=True)
    if replies.left_out is not None:
        warn(replies.left_out)
    return made
