"""Learners, which choose questions and build a tree from the answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ordhc import _checks, _html, _ordhc
from ordhc._progress import Progress, shows_progress
from ordhc.asking.given import DOES_NOT_WEIGH, checked_ids, checked_p, numbers_of_people
from ordhc.asking.methods import Common, Insertion, Majority, Method, Robust, RobustPaper, Uncertain
from ordhc.asking.prior import read_prior
from ordhc.asking.questions import Questions
from ordhc.asking.remaining import Status, remaining, remaining_in_words
from ordhc.asking.settings import as_method
from ordhc.asking.start import start_tree, supported_tree
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram


@dataclass(frozen=True)
class Place:
    """A place in the tree where a leaf may belong.

    Attributes
    ----------
    probability
        The posterior probability of the place.
    where
        "beside" if the leaf and a cluster are the two children of a new node; "under" if the leaf is one more
        child of the cluster.
    leaves
        The leaves of this cluster: names, or numbers if the leaves have no names.
    """

    probability: float
    where: str
    leaves: tuple[Any, ...]


def places_of(
    learner: _ordhc.Learner | _ordhc.SessionLearner, number: int, names: Sequence[str] | None
) -> list[Place]:
    return [
        Place(
            probability,
            "under" if is_under else "beside",
            tuple(leaves if names is None else [names[other] for other in leaves]),
        )
        for probability, leaves, is_under in learner.places(number) or []
    ]


def mistake_about(noise: str | None, method: Method, repeat: int) -> str | None:
    """Return a warning with a remedy if a method cannot handle the wrong answers of an oracle.

    `noise` says whether a repeated question gets an independent answer ("independent") or the same answer
    ("persistent"). The result is None if the oracle never errs (`noise` is None) or if the method is made
    for such errors.
    """
    if noise is None or method.expects_errors:
        return None
    persistent = "use the method robust with noise='persistent'"
    if repeat == 1 and not isinstance(method, Robust | RobustPaper | Majority):
        independent = "give repeat" if method.width == 4 else "use the method robust, or give repeat"
        return f"treats all answers as right: {persistent if noise == 'persistent' else independent}"
    if noise == "persistent" and (isinstance(method, Majority | RobustPaper) or repeat > 1):
        return f"asks the same questions again, and the oracle repeats its answers: {persistent}"
    return None


def _checked_leaves(n_leaves: int | Sequence[str]) -> tuple[int, tuple[str, ...] | None]:
    is_number = isinstance(n_leaves, Number | np.number | np.ndarray) and np.ndim(n_leaves) == 0
    names = None if is_number else _checks.names(n_leaves)
    if names is not None:
        return len(names), names
    return _checks.whole("n_leaves", n_leaves, at_least=1, at_most=2**31 - 1), None


class Learner:
    """A learner: it chooses questions about three leaves or two pairs, and builds a tree from the answers.

    `ask` returns questions, `tell` takes answers, and `tree` returns the best tree so far. A learner reads
    and writes no files. The questions depend only on the settings, the seed and the answers.

    Parameters
    ----------
    n_leaves
        The number of leaves, or their names.
    method
        The method that chooses questions: a method of `ordhc.learners` with its settings, or the name of one.
        The default is `ordhc.learners.Insertion()`.

        * For answers that are right: "insertion", "quick".
        * For answers that are right with a known probability `p`: `ordhc.learners.Robust(p)` and, for
          comparison, `RobustPaper(p)` and `Majority(p)`.
        * For answers of people, which are wrong more often the closer the leaves are: "uncertain", and
          `ordhc.learners.Revise(prior)` if there is a tree to begin with.
        * For questions about two pairs: "single", "complete", "4k-active", and
          `ordhc.learners.Uncertain(question="pairs")`.
    repeat
        The number of times that every question is asked, an odd number. The majority is the answer, and a
        tie is "none". For "uncertain" any number is allowed, and all answers count; in a `Session` different
        people give them.
    budget
        The largest number of questions; 2**53 means no limit.
    limit
        The largest number of questions that are open at the same time.
    seed
        The seed of the order of leaves.
    start
        A tree of some of the leaves, in any form that `ordhc.as_dendrogram` takes, or the path of a file. The
        tree is assumed to be right, and only the places of the other leaves are asked about, see
        `ordhc.insert`. Leaves are matched by name; a tree without names has the first leaves. Only for
        "insertion", "robust", "robust-paper" and "majority".

    Raises
    ------
    InputError
        A value is out of range.

    Examples
    --------
    >>> import ordhc
    >>> learner = ordhc.Learner(["cat", "dog", "car"])
    >>> questions = learner.ask()
    >>> sorted(learner.names[leaf] for leaf in questions.rows[0])
    ['car', 'cat', 'dog']
    >>> odd = [learner.names[leaf] for leaf in questions.rows[0]].index("car")
    >>> learner.tell(questions.ids, [odd])
    >>> learner.done, learner.tree().to_newick(branch_lengths=False)
    (True, '(car,(cat,dog));')
    """

    def __init__(
        self,
        n_leaves: int | Sequence[str],
        method: Method | str | None = None,
        *,
        repeat: int = 1,
        budget: int | None = None,
        limit: int | None = None,
        seed: int = 0,
        start: Any = None,
    ) -> None:
        n, self._names = _checked_leaves(n_leaves)
        self._method = Insertion() if method is None else as_method(method)
        self._repeat = _checks.whole("repeat", repeat, at_least=1, at_most=2**31 - 1)
        if budget is not None:
            budget = _checks.whole("budget", budget, at_least=0)
        if start is not None and not self._method.takes_start:
            raise InputError(
                f"{self._method.name} takes no start (a tree of some of the leaves); insertion, robust, "
                "robust-paper and majority take one"
            )
        self._start = None if start is None else read_prior(start)
        begun = None if self._start is None else start_tree(self._start, self._names, n)
        common = Common(n, self._names, _checks.seed(seed), budget, self._repeat, begun)
        self._learner: _ordhc.Learner = self._method.engine(common)
        self._people: dict[str | None, int] = {None: 0}
        self._budget = math.inf if budget is None else budget
        self._limit = math.inf if limit is None else _checks.whole("limit", limit, at_least=1)

    @shows_progress("asking")
    def ask(self, limit: int | None = None, *, progress: Progress | bool | None = None) -> Questions:
        """Return at most `limit` new questions.

        If there are no new questions, open questions must be answered first, or the learner is `done`.

        Parameters
        ----------
        limit
            The largest number of questions; None for all questions that the learner asks at the moment.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1]. If the callable
            raises an exception, the call ends with this exception, and no question is asked.
        """
        progress = _checks.callback("progress", progress)
        room = min(
            math.inf if limit is None else _checks.whole("limit", limit, at_least=0),
            self._limit - self.n_open,
            self._budget - self.n_asked,
        )
        if room <= 0:
            return Questions(np.empty(0, dtype=np.int64), np.empty((0, self.width), dtype=np.int32))
        return Questions(*self._learner.ask(int(min(room, 2**62)), progress))

    @property
    def open(self) -> Questions:
        """The questions that were asked and are not answered yet."""
        return Questions(*self._learner.open())

    def tell(
        self,
        ids: ArrayLike,
        answers: ArrayLike,
        *,
        who: str | Sequence[str | None] | None = None,
        p: ArrayLike | None = None,
    ) -> None:
        """Give the learner answers to open questions, in any order.

        Parameters
        ----------
        ids
            (m,) the numbers of open questions.
        answers
            (m,) for each question the position of the odd one out (0, 1 or 2), or -1 for none. For two pairs:
            1 if the first pair is closer, -1 if the second pair is, 0 for neither.
        who
            The person who gave these answers: one name for all answers, or (m,) names; None if unknown. Only
            for "uncertain", which estimates the reliability of each person.
        p
            The probability that these answers are right, from 1/2 to 1: one number for all answers, or (m,)
            numbers; NaN for the learner's own `p`. Only for "robust". `p` must not depend on the answers. The
            guarantee of `delta` requires that each answer is right with probability `p` or more given all
            earlier answers (docs/decisions/0004). An answer with `p` = 1/2 is ignored.

        Raises
        ------
        InputError
            A question is not open, or an answer is impossible. The answers before it are kept.
        """
        numbers, given = checked_ids(ids, answers)
        if p is not None and not (self._method.weighs and self._repeat == 1):
            raise InputError(DOES_NOT_WEIGH)
        probabilities = np.full(len(numbers), np.nan) if p is None else checked_p(p, len(numbers))
        if who is not None and not isinstance(self._method, Uncertain):
            raise InputError(
                f"the method {self._method.name} does not use the argument `who`: leave out `who`, or use"
                " method='uncertain' or a Session"
            )
        people = numbers_of_people(who, len(numbers), self._people)
        if not numbers.size:
            return
        largest = 2 if self.width == 3 else 1
        wrong = np.flatnonzero((given < -1) | (given > largest))
        fine = int(wrong[0]) if wrong.size else len(given)
        numbers = numbers[:fine]
        small = np.ascontiguousarray(given[:fine], dtype=np.int8)
        invalid = self._learner.tell(numbers, small, probabilities[:fine], people[:fine])
        if invalid is not None:
            done, text = invalid
            raise InputError(f"answer {done}: {text}; the {done} answers before it are kept")
        if wrong.size:
            raise InputError(
                f"answer {fine} is {given[fine]}, outside -1..{largest}; "
                f"the {fine} answers before it are kept"
            )

    @shows_progress("making the tree")
    def tree(self, *, progress: Progress | bool | None = None) -> Dendrogram:
        """Return the best tree so far over all leaves; leaves that are not placed yet are merged last.

        Parameters
        ----------
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1]. If the callable
            raises an exception, the call ends with this exception.

        Notes
        -----
        The height of a node is the number of levels below it. If the learner has a `start` tree, heights are
        those of `start`, and new nodes divide its edges evenly. With "revise", `Dendrogram.support` is the
        share of answers that agree with a node, among answers about two of its leaves and one other leaf. The
        support is NaN if there are no such answers.
        """
        progress = _checks.callback("progress", progress)
        return supported_tree(self._learner, self._names, self._start, progress=progress)

    @property
    def method(self) -> Method:
        """The method that chooses questions."""
        return self._method

    @property
    def repeat(self) -> int:
        """The number of times that every question is asked."""
        return self._repeat

    def places(self, leaf: int | str) -> list[Place]:
        """Return the places in the tree where a leaf may belong, the most probable first.

        Parameters
        ----------
        leaf
            The number or the name of a leaf.

        Returns
        -------
        list of Place
            The places with a probability of 0.001 or more. The list is empty for a leaf whose place
            is not being searched, and for methods other than "robust". If the learner has a `start` tree, the
            places of a leaf stay known after the search.

        Examples
        --------
        >>> import ordhc
        >>> robust = ordhc.learners.Robust(p=0.9)
        >>> learner = ordhc.Learner(["cat", "dog", "car", "bus"], robust, start="((cat,dog),car);")
        >>> len(learner.places("bus")), round(sum(place.probability for place in learner.places("bus")), 3)
        (7, 1.0)
        """
        number = _checks.leaf_number(leaf, self._names, self.n_leaves)
        return places_of(self._learner, number, self._names)

    @property
    def done(self) -> bool:
        """True if there is no question left, or if the budget is spent and all questions are answered."""
        return self._learner.done or (self.n_asked >= self._budget and self.n_open == 0)

    @property
    def width(self) -> int:
        """The number of leaves in a question: 3, or 4 for two pairs."""
        return self._learner.width

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._learner.n_leaves

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def status(self) -> Status:
        """The progress of the learner: numbers of placed leaves, of answers, and of remaining answers."""
        n_answered = self._learner.n_answered
        left = min(self._learner.remaining_estimate, self._budget - n_answered)
        return Status(self._learner.n_placed, n_answered, 0.0 if self.done else remaining(left))

    @property
    def n_asked(self) -> int:
        """The number of questions that were asked."""
        return self._learner.n_asked

    @property
    def n_open(self) -> int:
        """The number of questions that were asked and are not answered yet."""
        return self.n_asked - self._learner.n_answered

    @property
    def n_rounds(self) -> int:
        """The number of rounds; a round begins when questions are asked while no question is open."""
        return self._learner.n_rounds

    def __repr__(self) -> str:
        status = self.status
        state = "done" if self.done else remaining_in_words(status.remaining)
        placed = f"{status.n_placed:,} of {self.n_leaves:,} leaves"
        return f"<Learner: {placed}, {status.n_answered:,} answers, {state}>"

    _repr_html_ = _html.asked
