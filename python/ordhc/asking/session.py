"""Keep the answers to a learner in an SQLite file.

A session consists of its settings and an append-only log of events: questions were asked, an answer was
given, an answer was taken back, answers were imported. A lease reserves a question for one person until a
time; leases are not part of the log.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html
from ordhc._progress import Progress, part, shows_progress
from ordhc.asking.analysis import Analysed, Analysis, best_tree
from ordhc.asking.contents import Contents
from ordhc.asking.crowd import Crowd
from ordhc.asking.disk import Disk
from ordhc.asking.events import IMPORT, KNOWN, SAMPLERS, USE, Event
from ordhc.asking.fill import DEFAULT_FILL, FILLERS, checked_fill
from ordhc.asking.given import (
    checked_answers,
    checked_people,
    checked_probabilities,
    checked_rows,
    checked_told,
    checked_who,
)
from ordhc.asking.items import Item, checked_items, items_of
from ordhc.asking.learner import Place, places_of
from ordhc.asking.methods import Method, Uncertain
from ordhc.asking.opening import opened
from ordhc.asking.people import Person
from ordhc.asking.questions import Questions
from ordhc.asking.remaining import Status, remaining
from ordhc.asking.rules import checked_rules
from ordhc.asking.start import supported_tree
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.io.paths import checked_path
from ordhc.tree.dendrogram import Dendrogram

Row = tuple[int, ...]


class Session:
    """A learner whose answers are kept in a file.

    When `tell` returns, the answers are in the file, so that killing the process loses none of them. A call
    that raises an exception (Ctrl-C, a full disk) leaves the object in the state of the file. Several
    processes can work on one session, and several threads on one object.

    Parameters
    ----------
    path
        The file. A missing file is made; this needs `names` or `n_leaves`.
    names
        The names of the leaves.
    n_leaves
        The number of leaves, if they have no names.
    method, repeat, budget, limit, seed, start
        As in `Learner`. An existing file contains these settings, and other values raise an error. If the
        method has no `parallel`, the session sets `parallel` to the number of people who answered recently
        or the number of requested questions, whichever is larger. With
        ``method=ordhc.learners.Robust(p="by person")`` answers are weighed by the reliability of the person
        who gives them, see `tell`.
    fill
        The samplers of questions for people when the learner has no question for them, each with its share: a
        mapping, names with equal shares, or one name. The default is half "heldout", 3 of 10 "repeat" and
        2 of 10 "random".

        * "heldout": random questions whose answers are only used for scores;
        * "repeat": questions that other people have answered;
        * "random": random questions;
        * "gold": questions with known answers.

        The learner uses answers to repeated and random questions when it would ask the same question. A
        learner for wrong answers (`p` below 1) does not, because it needs independent answers.
    distinct
        True (the default): no person is asked about the same leaves twice. Repetitions (`repeat=3`, or
        answers that may be wrong) then go to other people. With one person or few people use
        ``distinct=False``.
    durable
        The protection against a power cut. Killing the process never loses an answer.

        * None (the default): `tell` waits until the answers are on the disk. If answers follow each other
          within 1/20 second, the last ones are written up to 1/20 second later.
        * True: `tell` always waits; threads that wait at the same time share one wait.
        * False: `tell` waits about once in 2,000 events; otherwise the operating system writes within about
          half a minute.
    progress
        `True` shows a progress bar while the file is read; a callable receives the completed fraction in
        [0, 1].

    Raises
    ------
    InputError
        Impossible settings; the file is not a session, comes from a newer version, or is damaged. ``ordhc
        session salvage`` makes a new session from the readable part of a damaged file.
    OSError
        The file cannot be opened, read or written.

    Notes
    -----
    Members by purpose:

    * questions and answers: `ask`, `tell`, `release`, `undo`, `add_answers`, `done`, `status`
    * results: `tree`, `places`, `comparisons`, `analysed`, `table`, `people`
    * excluding and deleting people: `set_rules`, `forget`
    * adding and retiring items: `add_items`, `retire`, `items`, `retired`
    * the session: `names`, `n_leaves`, `width`, `settings`, `transaction`, `close`

    Examples
    --------
    >>> import ordhc, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
    >>> with ordhc.Session(path, names=["cat", "dog", "car"]) as session:
    ...     questions = session.ask()
    ...     odd = [session.names[leaf] for leaf in questions.rows[0]].index("car")
    ...     session.tell(questions.ids, [odd], who="ann")
    ['taken']
    >>> with ordhc.Session(path) as session:
    ...     print(session.done, session.status.n_answered, session.tree().to_newick(branch_lengths=False))
    True 1 (car,(cat,dog));
    """

    @shows_progress("reading")
    def __init__(
        self,
        path: str | os.PathLike[str],
        names: Sequence[str] | None = None,
        *,
        n_leaves: int | None = None,
        method: Method | str | None = None,
        repeat: int | None = None,
        budget: int | None = None,
        limit: int | None = None,
        seed: int | None = None,
        start: Any = None,
        fill: Any = None,
        distinct: bool | None = None,
        durable: bool | None = None,
        progress: Progress | bool | None = None,
    ) -> None:
        progress = _checks.callback("progress", progress)
        self._path = checked_path(path)
        is_durable = None if durable is None else _checks.flag("durable", durable)
        own = {"repeat": repeat, "budget": budget, "limit": limit, "seed": seed, "start": start}
        own |= {"method": method, "fill": fill, "distinct": distinct}
        store, learner, self._start = opened(self._path, names, n_leaves, **own)
        self._settings: dict[str, Any] = store.settings["learner"]
        self._width, self._method = store.width, store.method
        self._is_by_person = store.method.is_by_person
        self._repeat: int = self._settings.get("repeat", 1)
        self._fill = dict(self._settings.get("fill", DEFAULT_FILL))
        self._is_distinct = self._settings.get("distinct", True)
        try:
            self._contents = Contents(store, Disk(self._path, is_durable), learner, progress)
        except BaseException:
            store.close()
            raise
        self._crowd = Crowd(self._contents)
        self._analysis = Analysis(self._contents)
        # The comparisons from which the last tree was made, and that tree.
        self._best: tuple[Triplets | Quadruplets, Dendrogram | None] | None = None

    @shows_progress("asking")
    def ask(
        self,
        limit: int | None = 1,
        *,
        who: str | None = None,
        lease: float = 300.0,
        fill: Any = None,
        distinct: bool | None = None,
        sampler: str | None = None,
        rows: ArrayLike | None = None,
        progress: Progress | bool | None = None,
    ) -> Questions:
        """Return questions to answer now; questions that were asked before and are still open come first.

        Parameters
        ----------
        limit
            The largest number of questions; None for all questions that the learner asks at the moment.
        who
            The person who answers. The questions are leased to this person: other people get them only after
            the lease has expired, and the same person gets them again. A named person always gets a question
            while there is something to learn. If the learner has no question, a sampler of `fill` chooses it.
        lease
            The duration of the lease in seconds, by default 300.
        fill
            As in `Session`, whose setting is the default; ``{}`` for questions of the learner only. Without
            `who` the default is ``{}``.
        distinct
            As in `Session`, whose setting is the default.
        sampler
            Ask a question of this sampler instead of the learner: "heldout", "repeat", "random" or "gold",
            see `fill` of `Session`. This parameter needs `who`.
        rows
            (m, 3) or (m, 4) leaves of questions, which are recorded as questions of `sampler`. By
            default the sampler draws one question that is new to `who`.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1] while the
            learner chooses questions. If the callable raises an exception, the call ends with this exception,
            and no question is asked.

        Returns
        -------
        Questions
            The questions, each with its sampler. They are empty if `who` was given or has answered all
            possible questions. Questions stay open and keep their numbers when other people take answers back
            or import answers.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=4) as session:
        ...     session.ask(who="ann", sampler="random", rows=[[2, 0, 3]]).rows.tolist()
        ...     len(session.ask(who="ann", sampler="heldout"))
        [[2, 0, 3]]
        1
        """
        most = None if limit is None else _checks.whole("limit", limit, at_least=1)
        lease = _checks.number("lease", lease, at_least=0)
        progress = _checks.callback("progress", progress)
        checked_who(who)
        if sampler is not None or rows is not None:
            return self._ask_of(sampler, rows, who, lease)
        shares = checked_fill(fill) if fill is not None else {} if who is None else self._fill
        is_distinct = self._is_distinct if distinct is None else _checks.flag("distinct", distinct)
        with self._contents.writing(is_reported=False):
            return self._crowd.hand_out(most, who, lease, shares, is_distinct, progress)

    def _ask_of(
        self, sampler: str | None, rows: ArrayLike | None, who: str | None, lease: float
    ) -> Questions:
        if sampler is None:
            raise InputError(f"rows= needs the sampler that drew them: sampler={' or '.join(FILLERS)}")
        name = _checks.choice("sampler", sampler, FILLERS)
        if who is None:
            raise InputError(f"sampler={name!r} needs the argument `who`, the person who answers")

        with self._contents.reading():
            log = self._contents.log
            asked = None if rows is None else checked_rows(rows, self._width, log.n_leaves)
            for at, row in enumerate(asked or ()):
                for leaf in row:
                    if log.is_retired[leaf]:
                        item = _checks.quoted((self._contents.names or ())[leaf])
                        raise InputError(f"{item} is retired and cannot be asked about", row=at)
        with self._contents.writing():
            return self._crowd.ask(SAMPLERS[name], asked, who, lease)

    def tell(
        self,
        ids: ArrayLike,
        answers: ArrayLike,
        *,
        who: str | None = None,
        seconds: ArrayLike | None = None,
        p: ArrayLike | None = None,
        places: ArrayLike | None = None,
    ) -> list[str]:
        """Record the answers to questions; return the result for each answer.

        When the method returns, the answers are in the file, see `durable` of `Session`.

        Parameters
        ----------
        ids
            (m,) the numbers of the questions.
        answers
            (m,) for each question the position of the odd one out (0, 1 or 2), or -1 for none. For two pairs:
            1 if the first pair is closer, -1 if the second pair is, 0 for neither.
        who
            The person who answers.
        seconds
            (m,) the duration of each answer, if it was measured; by default the time since the question was
            given to `who`.
        p
            The probability that these answers are right, if the learner weighs answers (`p` of the session is
            below 1). One number from 1/2 to 1, (m,) numbers, or "by person" for the reliability that `people`
            estimates from the earlier answers of `who`. The default is the `p` of the session's method. The
            probability is stored with the answer.
        places
            (m,) the chosen position on the page, from 1, and 0 for none; used by the rule `same_side` of
            `set_rules`. By default the positions are unknown.

        Returns
        -------
        list of str
            The result for each answer:

            * "taken": the answer is the first answer to this question;
            * "late": another person has answered the question in the meantime, or the learner no longer needs
              the question because an answer was taken back. The answer is stored: it counts as a comparison
              and for the person's reliability, and the learner uses it if it asks the question again;
            * "already answered": the same person has answered this question before. An equal answer is stored
              once, a different answer is stored too;
            * "foreign": this question was never asked in this session. The answer is not stored.

        Raises
        ------
        InputError
            An impossible answer; the error names its question. No answer of this call is stored.
        """
        checked_who(who)
        told = checked_told(ids, answers, seconds, places, self._width)
        m = len(told.numbers)
        probabilities: list[float | None] | None = None
        if p is not None:
            probabilities = checked_probabilities(p, m, self._method, self._repeat)
        elif not self._is_by_person:
            probabilities = [None] * m
        with self._contents.writing():
            if probabilities is None:
                # The reliability is estimated before these answers count.
                probabilities = [self._analysis.reliability(who)] * m
            return self._crowd.record(told, probabilities, who)

    def release(self, ids: ArrayLike) -> None:
        """End the leases of questions, so that other people can answer them."""
        numbers = _checks.whole_numbers("ids", ids).ravel().tolist()
        with self._contents.writing(is_reported=False):
            self._contents.release(numbers)

    def undo(self, who: str | None = None) -> Row | None:
        """Take back the last answer (of `who`, if given); return its leaves, or None if there is none.

        All other answers stay, and so do the open questions of other people. Questions that were asked
        because of the answer may be asked again.
        """
        checked_who(who)
        with self._contents.writing():
            return self._crowd.take_back(who)

    @shows_progress("writing")
    def add_answers(
        self,
        rows: ArrayLike,
        answers: ArrayLike,
        *,
        who: str | None = None,
        gold: bool = False,
        progress: Progress | bool | None = None,
    ) -> None:
        """Import answers; the learner uses them instead of asking the same questions.

        Parameters
        ----------
        rows
            (m, 3) or (m, 4) leaves.
        answers
            (m,) the position of the odd one out, or -1 for none; for two pairs 1, -1 or 0, as in `tell`.
        who
            The person who gave the answers.
        gold
            True imports right answers, which measure the reliability of people. They are not used for the
            tree: people's answers about the same leaves are compared with them, and the sampler "gold" asks
            these questions.
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1].

        Raises
        ------
        InputError
            Impossible leaves or answers; the error names the row. No answer of this call is stored.
        """
        checked_who(who)
        if _checks.flag("gold", gold) and who is not None:
            raise InputError("gold answers are right, whoever gave them: leave out the argument `who`")
        progress = _checks.callback("progress", progress)
        checked = checked_answers(rows, answers, self._width, self.n_leaves)
        if not checked:
            if progress is not None:
                progress(1.0)
            return
        events = [Event(KNOWN if gold else IMPORT, -1, row, answer, who) for row, answer in checked]
        if not gold:
            events.append(Event(USE))
        with self._contents.writing(part(progress, 0.9, 1)):
            self._contents.append(events, part(progress, 0, 0.9))

    def add_items(self, items: str | Sequence[str]) -> None:
        """Add items while people answer; the learner asks where the new items belong.

        Nothing else changes: questions stay open, and placed items keep their places. The event is in the
        file, in order with the answers, so other processes that use the session know the items too.

        Parameters
        ----------
        items
            The name of a new item, or several names.

        Raises
        ------
        InputError
            An empty name; a name that the session has already, also that of a retired item; a session without
            names; or a method that needs all items at the start: "quick", "revise", "single", "complete" and
            "4k-active". No item of this call is added.

        Notes
        -----
        The new items have the next numbers, so leaves that are in use keep theirs. For "robust",
        "robust-paper" and "majority" the probability that any of the added items gets a wrong place is at
        most another `delta`. For "uncertain" without a `budget` each new item adds 20 questions, times
        `repeat`.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> truth = ordhc.oracles.from_tree("((cat,(dog,wolf)),(car,bus));")
        >>> with ordhc.Session(path, ["cat", "dog", "car", "bus"]) as session:
        ...     tree = ordhc.learn(truth, session=session)
        ...     session.add_items("wolf")
        ...     session.retire("bus")
        ...     ordhc.learn(truth, session=session).to_newick(branch_lengths=False)
        '(car,(cat,(dog,wolf)));'
        """
        given = checked_items(items)

        def check() -> None:
            known, gone = set(self._changeable()), set(self._contents.retired)
            for name in given:
                if name in gone:
                    again = _checks.quoted(f"{name} 2")
                    raise InputError(
                        f"{_checks.quoted(name)} was retired; give another name, such as {again}"
                    )
                if name in known:
                    raise InputError(f"the session has an item {_checks.quoted(name)} already")
            if len(known) + len(given) >= 2**31:
                raise InputError(f"{len(known) + len(given):,} items are more than {2**31 - 1:,}")

        self._change(check, lambda _: self._crowd.add_items(given))

    def retire(self, items: str | Sequence[str]) -> None:
        """Retire items while people answer; no new question is about them.

        Open questions about the items are withdrawn. All answers are kept: `table` has the answers about
        retired items, also answers that people give later, but `tree`, `comparisons` and `analysed` do not
        use them. The other items keep their places and their numbers.

        Parameters
        ----------
        items
            The name of an item, or several names.

        Raises
        ------
        InputError
            A name that the session does not have, or that is retired already; all items of the session; a
            session without names; or a method that needs all items, see `add_items`. No item of this call is
            retired.

        Notes
        -----
        A method that places one item after another searches the places of unplaced items again. Answers about
        these items are used if the method asks the same questions.
        """
        given = checked_items(items)

        def check() -> dict[int, str]:
            known, gone = self._changeable(), set(self._contents.retired)
            number = {name: leaf for leaf, name in enumerate(known)}
            for name in given:
                if name not in number:
                    raise InputError(_checks.unknown_name(name, known))
                if name in gone:
                    raise InputError(f"{_checks.quoted(name)} is retired already")
            if len(gone) + len(given) == len(known):
                raise InputError("a session needs at least one item: add another item before all are retired")
            return {number[name]: name for name in given}

        self._change(check, self._crowd.retire)

    def _change(self, check: Callable[[], Any], change: Callable[[Any], None]) -> None:
        # An error in `writing` would make the transaction of a caller fail, so check before. Check again when
        # no other process can write, because the items may have changed.
        with self._contents.reading():
            check()
        with self._contents.writing():
            change(check())

    def _changeable(self) -> tuple[str, ...]:
        if self._method.needs_all is not None:
            raise InputError(f"items of this session cannot change: {self._method.needs_all}")
        names = self._contents.names
        if names is None:
            raise InputError(
                "items of this session cannot change, because they have no names: make a session with names"
            )
        return names

    def items(self) -> list[Item]:
        """Return all items in the order of their numbers, with the times when they were added and retired.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, ["cat", "dog"]) as session:
        ...     session.retire("dog")
        ...     [(item.name, item.added, item.retired is None) for item in session.items()]
        [('cat', None, True), ('dog', None, False)]
        """
        with self._contents.reading():
            return items_of(self._contents)

    def places(self, item: int | str) -> list[Place]:
        """Return an item's possible places in the tree, the most probable first; see `Learner.places`.

        The list is empty for a retired item, and for methods other than "robust". The places of an item stay
        known after the search if the session has a `start` or if items were added.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> robust, start = ordhc.learners.Robust(p=0.9), "((cat,dog),car);"
        >>> with ordhc.Session(path, ["cat", "dog", "car"], start=start, method=robust) as session:
        ...     session.add_items("bus")
        ...     places = session.places("bus")
        >>> len(places), round(sum(place.probability for place in places), 3)
        (7, 1.0)
        """
        with self._contents.reading():
            log, names = self._contents.log, self._contents.names
            number = _checks.leaf_number(item, names, log.n_leaves)
            return [] if log.is_retired[number] else places_of(self._contents.learner, number, names)

    @shows_progress("making the tree")
    def tree(self, *, progress: Progress | bool | None = None) -> Dendrogram:
        """Return the best tree so far, of all items that are not retired.

        Parameters
        ----------
        progress
            `True` shows a progress bar; a callable receives the completed fraction in [0, 1]. If the callable
            raises an exception, the call ends with this exception.

        Notes
        -----
        With the method "uncertain" the tree is that of `ordhc.posterior` for the answers that are not
        excluded (`analysed`), with the support of its clusters. `ordhc cluster`, `ordhc report` and the
        dashboard of a study show the same tree. With other methods, and if sampling the posterior would take
        too long, the tree is the learner's, see `Learner.tree`. The tree of "revise" also depends on the
        prior, which `ordhc cluster` does not know.
        """
        progress = _checks.callback("progress", progress)
        if isinstance(self._method, Uncertain):
            data = self.analysed().comparisons
            if self._best is None or self._best[0] != data:
                self._best = data, best_tree(data, progress)
            if self._best[1] is not None:
                return self._best[1]
        contents = self._contents
        with contents.reading():
            return supported_tree(contents.learner, contents.names, self._start, contents.retired, progress)

    @property
    def done(self) -> bool:
        """True if there is no question left."""
        with self._contents.reading():
            return self._contents.learner.done

    @property
    def status(self) -> Status:
        """The progress of the session: numbers of placed leaves, of answers, and of remaining answers."""
        with self._contents.reading():
            learner = self._contents.learner
            return Status(
                learner.n_placed, self._contents.log.n_answered, remaining(learner.remaining_estimate)
            )

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of all leaves by number, those of retired items included; None if they have no names."""
        with self._contents.reading(may_be_closed=True):
            return self._contents.names

    @property
    def retired(self) -> tuple[str, ...]:
        """The names of the items that were retired, in the order of their numbers."""
        with self._contents.reading(may_be_closed=True):
            return self._contents.retired

    @property
    def width(self) -> int:
        """The number of leaves in a question: 3, or 4 for two pairs."""
        return self._width

    @property
    def n_leaves(self) -> int:
        """The number of leaves, retired items included."""
        with self._contents.reading(may_be_closed=True):
            return self._contents.log.n_leaves

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the learner, and `fill` and `distinct` if they were given."""
        return dict(self._settings)

    def comparisons(
        self,
        *,
        weights: str | None = None,
        heldout: bool | None = False,
        exclude: Collection[str] | None = None,
    ) -> Triplets | Quadruplets:
        """Return the answers as triplets or quadruplets; their `groups` are the names of people.

        An answer that names the odd one out gives two triplets; an answer about two pairs gives one
        quadruplet.

        Parameters
        ----------
        weights
            "reliability": the weight of an answer is the log-odds of a right answer relative to guessing, for
            the person's reliability (`people`). The mean weight is 1, and the weight of a guess is 0.
            "equal": all answers have the same weight. The default is "reliability" if rules are set
            (`set_rules`), otherwise "equal".
        heldout
            False (the default): all answers except answers to held-out questions. True: only answers to
            held-out questions that were not also asked for another reason. None: all answers. Score a tree
            that was made with False on the comparisons of True: ``ordhc.metrics.satisfied(tree,
            session.comparisons(heldout=True))``.
        exclude
            The names of people whose answers are left out; `()` leaves out no one. By default the people whom
            the rules exclude.
        """
        if weights is not None:
            _checks.choice("weights", weights, ("reliability", "equal"))
        left_out = None if exclude is None else set(checked_people(exclude))
        if heldout is not None:
            heldout = _checks.flag("heldout", heldout)
        with self._contents.reading():
            return self._analysis.comparisons(weights, heldout, left_out)

    def analysed(self, *, weights: str | None = None, exclude: Collection[str] | None = None) -> Analysed:
        """Return the answers for an analysis, with weights and without excluded people.

        The commands `ordhc cluster`, `compare` and `report`, and the dashboard of a study, analyse these
        answers.

        Parameters
        ----------
        weights, exclude
            As in `comparisons`.

        Returns
        -------
        Analysed
            The comparisons, the held-out answers, and the rules and exclusions that were applied.

        Raises
        ------
        InputError
            A name in `exclude` that no person has.
        """
        if weights is not None:
            _checks.choice("weights", weights, ("reliability", "equal"))
        given = None if exclude is None else checked_people(exclude)
        with self._contents.reading():
            return self._analysis.analysed(weights, given)

    def table(self) -> dict[str, NDArray[Any]]:
        """Return all answers that were not taken back, as columns of equal length.

        ``pandas.DataFrame(session.table())`` makes a data frame of the table.

        Returns
        -------
        dict
            The columns:

            * "question": the number of the question; 0 for imported answers;
            * "who": the name of the person, or None;
            * "trial": the number of earlier answers of this person;
            * "sampler": the source of the question: "learner", "heldout", "repeat", "random", "gold" or
              "import";
            * "p": the probability that the answer is right; NaN for the `p` of the session's method;
            * "at": the time of the answer in seconds since 1970;
            * "seconds": the duration of the answer; NaN if unknown;
            * "leaf_1" and so on: the leaves in the order in which they were shown;
            * "answer": the answer, as in `tell`;
            * "position": the chosen position, from 1, and 0 for none.
        """
        with self._contents.reading():
            return self._analysis.table()

    def people(self) -> dict[str | None, Person]:
        """Return a summary of each person who answered, by name, in the order of their first answers.

        The reliability is the probability that a person's answer is right. The "one-coin" model of Dawid &
        Skene estimates it from questions with known answers (`add_answers` with `gold`) and from questions
        that several people answered (docs/decisions/0010). If a person answered no such question, the
        reliability is that of the prior, and the interval from `low` to `high` is wide.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     session.add_answers([[0, 1, 2]], [2], gold=True)
        ...     states = session.tell(session.ask(who="ann").ids, [-1], who="ann")
        ...     ann = session.people()["ann"]
        >>> ann.n_answers, ann.gold, ann.reliability
        (1, 0.0, 0.5)
        """
        with self._contents.reading():
            return self._analysis.people()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Run several calls in one transaction: all of them take effect or none, with one wait for the disk.

        Yields
        ------
        sqlite3.Connection
            The connection to the file, for your own tables, which are part of the transaction. Do not change
            the session's tables, and do not commit or roll back.

        Raises
        ------
        OSError
            The file cannot be written. No call takes effect.
        InputError
            A call has failed. No call takes effect.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=4) as session, session.transaction():
        ...     for who in ["ann", "bob"]:
        ...         states = session.tell(session.ask(who=who).ids, [0], who=who)
        """
        return self._contents.transaction()

    def set_rules(
        self,
        *,
        seconds: float | None = None,
        same_side: float | None = None,
        below_chance: bool = False,
        failed_gold: float | None = None,
    ) -> None:
        """Set the rules that exclude people from the analysis; answers are then weighed by reliability.

        The rules apply to each analysis of the session: `comparisons`, `analysed`, `ordhc.report`, and the
        commands `ordhc cluster`, `report` and `compare`. No answer is deleted. Earlier rules are kept with
        their times, see `Analysed.rules`.

        Parameters
        ----------
        seconds
            Exclude people whose median response time in seconds is below this number.
        same_side
            Exclude people who chose the same position on the page in at least this share of their answers.
        below_chance
            True excludes people whose reliability is at most chance: 1/3 for three leaves, 1/2 for two pairs.
        failed_gold
            Exclude people who answered less than this share of questions with known answers correctly.

        Notes
        -----
        Each rule is off by default. The rules except `failed_gold` need at least eight answers of a person.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     session.add_answers([[0, 1, 2]], [2], gold=True)
        ...     states = session.tell(session.ask(who="ann").ids, [0], who="ann")
        ...     session.set_rules(failed_gold=0.5)
        ...     session.analysed().excluded, len(session.comparisons()), len(session.comparisons(exclude=()))
        ({'ann': ('gold: 0% right',)}, 0, 2)
        """
        rules = checked_rules(
            seconds=seconds, same_side=same_side, below_chance=below_chance, failed_gold=failed_gold
        )
        with self._contents.writing():
            self._analysis.set_rules(rules)

    def set_question(self, text: str) -> None:
        """Keep the words of the question that people are asked, for reports.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     session.set_question("Which one is the odd one out?")
        ...     session.analysed().about["question"]
        'Which one is the odd one out?'
        """
        words = _checks.text("text", text)
        with self._contents.writing():
            self._analysis.set_question(words)

    def forget(self, who: str) -> int:
        """Delete a person and all their answers from the file.

        The file and its write-ahead log keep no data of the person, and the learner continues as if the
        person had never answered. Copies of the file are not changed, and freed blocks of the disk may still
        contain data.

        Returns
        -------
        int
            The number of deleted answers, including answers that had been taken back.

        Raises
        ------
        OSError
            Another process is reading the file. The answers are deleted, but the file's log still contains
            them. Call this method again.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     states = session.tell(session.ask(who="ann").ids, [0], who="ann")
        ...     session.forget("ann"), session.status.n_answered, "ann" in session.people()
        (1, 0, False)
        """
        if who is None:
            raise InputError("who = None is not a person: give a name")
        checked_who(who)
        with self._contents.writing():
            count = self._crowd.forget(who)
        self._contents.erase()
        return count

    def close(self) -> None:
        """Close the file. All answers are kept."""
        self._contents.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        status = self.status
        placed = f"{status.n_placed:,} of {self.n_leaves - len(self.retired):,} leaves"
        return f"<Session {self._path}: {placed}, {status.n_answered:,} answers>"

    _repr_html_ = _html.asked
