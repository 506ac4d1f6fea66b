"""Sessions: learning that survives everything, in one SQLite file.

A session is its settings and an append-only log of events: questions were asked, an answer was given, an
answer was taken back, answers were imported. Leases of questions, which expire, are no part of it.
"""

import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html
from ordhc._progress import Progress, part, shows_progress
from ordhc.asking.analysis import Analysed, Analysis, accuracy_of, best_tree, posterior_of
from ordhc.asking.crowd import Crowd
from ordhc.asking.desk import checked_trusts
from ordhc.asking.disk import Disk
from ordhc.asking.events import IMPORT, KNOWN, SAMPLERS, USE, Event
from ordhc.asking.fill import DEFAULT_FILL, checked_fill
from ordhc.asking.given import (
    checked_answers,
    checked_people,
    checked_places,
    checked_rows,
    checked_seconds,
    checked_who,
)
from ordhc.asking.learner import method_of
from ordhc.asking.mirror import Mirror
from ordhc.asking.opening import given_settings, opened
from ordhc.asking.people import Person
from ordhc.asking.prior import supported_tree
from ordhc.asking.questions import Questions
from ordhc.asking.remaining import remaining
from ordhc.asking.rules import Rules, checked_rules
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.tree.dendrogram import Dendrogram

if TYPE_CHECKING:
    from ordhc.clustering.outlook import Predicted
    from ordhc.clustering.posterior import Posterior

__all__ = ["Session"]

Row = tuple[int, ...]


class Session:
    """A learner whose answers are kept in a file.

    Answers are in the file when `tell` returns: killing the process at any moment loses none of them, and
    what raises an exception (Ctrl-C, a full disk) leaves the session as the file has it. Several processes
    may work on one session, and several threads on one object.

    Parameters
    ----------
    path
        The file. It is made if it isn't there; then `names` or `n_leaves` is needed.
    names
        The names of the leaves.
    n_leaves
        Their number, where they have no names.
    method, **settings
        As in `Learner`. Of an existing session they are read from the file; others than these are
        errors. Without `parallel` as many leaves are searched side by side as people were there lately, or as
        questions are wanted at a time. With ``p="by person"`` answers count by what is known of whoever gives
        them, see `tell`.
    fill
        What people answer when the learner has nothing to ask them, by its shares: "heldout", questions
        drawn at random whose answers are kept apart, for scores; "repeat", questions that others have
        answered; "random", questions drawn at random; "gold", those of `add_gold`. A mapping, names, or one
        name; by default half are held out, 3 of 10 repeated, 2 random. The learner uses answers to repeated
        and random ones where it asks the same, unless they may be wrong (`p` below 1): then it needs fresh
        ones.
    distinct
        Nobody is given the same leaves twice; repeats (`repeat=3`), and what is asked anew where answers may
        be wrong, go to others. Of few people, or one, that needs ``distinct=False``.
    durable
        What a power cut may take; a kill takes nothing. None: `tell` waits until answers are on the disk,
        but where they come faster than every twentieth of a second, the last ones get there that much later.
        True: it always waits, for the answers of several threads at once. False: it never does; the system
        writes within about half a minute. Nobody waits for questions, which are asked anew if need be: an
        answer to one that a power cut has taken is "foreign", never an answer to another question.
    progress
        True for a bar; what can be called is, while the file is read, with the share that is done,
        from 0 to 1.

    Raises
    ------
    InputError
        Settings that cannot be; a file that is no session, is newer than this version, or is damaged: ``ordhc
        session salvage`` then keeps what it can.
    OSError
        The file cannot be opened, read or written.

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
    ...     print(session.done, session.n_answered, session.tree().to_newick(branch_lengths=False))
    True 1 (car,(cat,dog));
    """

    @shows_progress("reading")
    def __init__(
        self,
        path: str | os.PathLike[str],
        names: Sequence[str] | None = None,
        *,
        n_leaves: int | None = None,
        method: str | None = None,
        fill: Any = None,
        distinct: bool | None = None,
        durable: bool | None = None,
        progress: Progress | bool | None = None,
        **settings: Any,
    ) -> None:
        progress = _checks.callback("progress", progress)
        self._path = _checks.path(path)
        is_durable = None if durable is None else _checks.flag("durable", durable)
        given = given_settings(method=method, **settings, fill=fill, distinct=distinct)
        store, desk = opened(self._path, names, n_leaves, given)
        kept = store.settings
        self._settings: dict[str, Any] = kept["learner"]
        self._names: tuple[str, ...] | None = None if kept["names"] is None else tuple(kept["names"])
        self._n_leaves: int = kept["n_leaves"]
        self._width = store.width
        self._fill = dict(self._settings.get("fill", DEFAULT_FILL))
        self._is_distinct = self._settings.get("distinct", True)
        try:
            self._mirror = Mirror(store, Disk(self._path, is_durable), desk, progress)
        except BaseException:
            store.close()
            raise
        self._crowd = Crowd(self._mirror, self._settings)
        self._analysis = Analysis(self._mirror, self._names)
        # The answers that the last tree was drawn from, and that tree.
        self._best: tuple[Triplets | Quadruplets, Dendrogram | None] | None = None

    def ask(
        self,
        limit: int | None = 1,
        *,
        who: str | None = None,
        lease: float = 300.0,
        fill: Any = None,
        distinct: bool | None = None,
    ) -> Questions:
        """Questions to answer now, open ones first.

        Parameters
        ----------
        limit
            At most so many; None for all that the learner asks at the moment.
        who
            Who answers. The questions are leased to them for `lease` seconds: nobody else gets them, until
            the lease expires because they left. They get the same ones again. Somebody who is named never
            gets nothing while there is something to learn: what the learner can't ask now is filled.
        fill
            What to fill with, as in `Session`, of which this is the default; ``{}`` for nothing. Without
            `who` questions are filled only if this is given.
        distinct
            Whether `who` gets nothing that they know, as in `Session`, of which this is the default.

        Returns
        -------
        Questions
            With the sampler of each. Questions stay open, and keep their numbers, when others take answers
            back or import some.
        """
        most = None if limit is None else _checks.whole("limit", limit, at_least=1)
        lease = _checks.number("lease", lease, at_least=0)
        checked_who(who)
        shares = checked_fill(fill) if fill is not None else {} if who is None else self._fill
        is_distinct = self._is_distinct if distinct is None else _checks.flag("distinct", distinct)
        hand_out = self._crowd.hand_out
        return self._mirror.writing(lambda: hand_out(most, who, lease, shares, is_distinct), is_told=False)

    def pose(
        self, sampler: str, rows: ArrayLike | None = None, *, who: str, lease: float = 300.0
    ) -> Questions:
        """A question of another sampler than the learner's, or questions of one's own, for somebody.

        Parameters
        ----------
        sampler
            As in `fill`: "heldout", "repeat", "random" or "gold".
        rows
            (m, 3) leaves of the questions, or (m, 4); by default one is drawn that `who` doesn't know.
        who
            Who answers; the questions are leased to them for `lease` seconds.

        Returns
        -------
        Questions
            None where everything that could be drawn is known to `who`.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=4) as session:
        ...     session.pose("random", [[2, 0, 3]], who="ann").rows.tolist()
        ...     len(session.pose("heldout", who="ann"))
        [[2, 0, 3]]
        1
        """
        name = _checks.choice("sampler", sampler, tuple(name for name in SAMPLERS if name != "learner"))
        lease = _checks.number("lease", lease, at_least=0)
        checked_who(who)
        asked = None if rows is None else checked_rows(rows, self._width, self._n_leaves)
        return self._mirror.writing(lambda: self._crowd.pose(SAMPLERS[name], asked, who, lease))

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
        """Answer some questions; when this returns the answers are kept, see `durable`.

        Parameters
        ----------
        ids
            (m,) numbers of questions.
        answers
            (m,) for each the place of the odd one out (0, 1 or 2), or -1 for none; of pairs 1, -1 or 0.
        who
            Who answers.
        seconds
            (m,) how long each answer took, where that was measured; else it is the time since the question
            was given to `who`.
        p
            How likely these answers are right, if the learner weighs them (`p` of the session below 1): a
            number from 1/2 to 1, (m,) of them, or "by person" for what `people` makes of all that `who` has
            answered before. None for what the session says. It is kept with the answer.
        places
            (m,) the place on the page that was chosen, from 1, and 0 for none; the rule `same_side` of
            `set_rules` looks at it. By default no place is known.

        Returns
        -------
        list of str
            What became of each answer, whatever became of the others:

            * "taken": it is the answer to this question;
            * "late": somebody else has answered the question meanwhile, or the learner doesn't need it any
              more because an answer was taken back. The answer is kept beside the others: it counts as a
              comparison and for the person's reliability, and the learner uses it should it ask that again;
            * "already answered": the same person has answered this question before. The same answer is kept
              once, another one beside the first;
            * "foreign": no such question was ever asked in this session. This answer is not kept.

        Raises
        ------
        InputError
            What is no answer to any question, naming the question: nothing of this call is kept.
        """
        numbers = np.atleast_1d(_checks.whole_numbers("ids", ids))
        given = np.atleast_1d(_checks.whole_numbers("answers", answers))
        if numbers.shape != given.shape or numbers.ndim != 1:
            raise InputError(f"answers have shape {given.shape} for ids of shape {numbers.shape}")
        asked, told, largest = numbers.tolist(), given.tolist(), 2 if self._width == 3 else 1
        for at, answer in enumerate(told):
            if not -1 <= answer <= largest:
                limit = f"-1..{largest}"
                raise InputError(f"the answer to question {asked[at]} is {answer}, outside {limit}", row=at)
        took = checked_seconds(seconds, len(asked))
        checked_who(who)
        trusts = checked_trusts(p, len(asked), self._settings)
        chosen = checked_places(places, len(asked))

        def work() -> list[str]:
            # It is fixed before these answers are seen.
            known: list[float | None] = [self._analysis.trust(who)] * len(asked) if trusts is None else trusts
            return self._crowd.settle(asked, told, took, known, who, chosen)

        return self._mirror.writing(work)

    def release(self, ids: ArrayLike) -> None:
        """Give leased questions back, for others to answer."""
        numbers = _checks.whole_numbers("ids", ids).ravel().tolist()
        self._mirror.writing(lambda: self._crowd.release(numbers), is_told=False)

    def undo(self, who: str | None = None) -> Row | None:
        """Take back the last answer (of `who`, if given); gives its leaves, or None if there is none.

        The other answers stay, and so do the questions that others have open. What was asked because of it
        may be asked anew.
        """
        checked_who(who)
        return self._mirror.writing(lambda: self._crowd.take_back(who))

    @shows_progress("writing")
    def add_answers(
        self,
        rows: ArrayLike,
        answers: ArrayLike,
        *,
        who: str | None = None,
        progress: Progress | bool | None = None,
    ) -> None:
        """Import answers that were given elsewhere: they are used where the learner would ask for them.

        Parameters
        ----------
        rows
            (m, 3) leaves, or (m, 4).
        answers
            (m,) the place of the odd one out, or -1; of pairs 1, -1 or 0.
        progress
            True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1;
            from 1/2 on answers are on the disk.

        Raises
        ------
        InputError
            Leaves or answers that are none, naming the row: nothing of this call is kept.
        """
        checked_who(who)
        progress = _checks.callback("progress", progress)
        checked = checked_answers(rows, answers, self._width, self._n_leaves)
        if not checked:
            if progress is not None:
                progress(1.0)
            return
        events = [Event(IMPORT, -1, row, answer, who) for row, answer in checked]
        events.append(Event(USE))
        self._mirror.writing(
            lambda: self._mirror.append(events, part(progress, 0, 0.9)), part(progress, 0.9, 1)
        )

    def add_gold(self, rows: ArrayLike, answers: ArrayLike) -> None:
        """Questions whose answers are known, to see how reliable people are.

        What people answer about the same leaves is compared with them, and the sampler "gold" of `fill` asks
        them.

        Parameters
        ----------
        rows
            (m, 3) leaves, or (m, 4).
        answers
            (m,) the right answers.

        Raises
        ------
        InputError
            Leaves or answers that are none, naming the row: nothing of this call is kept.
        """
        checked = checked_answers(rows, answers, self._width, self._n_leaves)
        events = [Event(KNOWN, -1, row, answer) for row, answer in checked]
        self._mirror.writing(lambda: self._mirror.append(events))

    def refresh(self) -> None:
        """Take in what other processes have added."""
        self._mirror.reading(lambda: None)

    def tree(self) -> Dendrogram:
        """Return the best tree so far.

        With the method "uncertain" it is the tree of `ordhc cluster`, `ordhc report` and dashboards: that of
        `ordhc.posterior` and the answers that count (`analysed`), with the support of its clusters. With
        other methods, or if that would take too long, it is the tree of the learner, see `Learner.tree`. That
        of "revise" rests on the prior, too, of which `ordhc cluster` knows nothing.
        """
        if method_of(self._settings) == "uncertain":
            data = self.analysed().comparisons
            if self._best is None or self._best[0] != data:
                self._best = data, best_tree(data)
            if self._best[1] is not None:
                return self._best[1]
        return self._mirror.reading(lambda: supported_tree(self._mirror.desk, self._names))

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self._mirror.reading(lambda: self._mirror.desk.done)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def width(self) -> int:
        """How many leaves a question has: 3, or 4 for two pairs."""
        return self._width

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._n_leaves

    @property
    def n_answered(self) -> int:
        """How many answers stand, imported ones included."""
        return self._mirror.reading(lambda: self._mirror.log.n_answered)

    @property
    def n_placed(self) -> int:
        """How many leaves have their place in the tree."""
        return self._mirror.reading(lambda: self._mirror.desk.n_placed)

    @property
    def remaining_estimate(self) -> float:
        """About how many answers are still needed; infinity if the learner's budget is no limit."""
        return self._mirror.reading(lambda: remaining(self._mirror.desk.remaining_estimate))

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the learner, and `fill` and `distinct` as far as they were given."""
        return dict(self._settings)

    def answers(self) -> tuple[NDArray[np.int32], NDArray[np.int8], list[str | None]]:
        """All answers that stand: (m, 3) or (m, 4) leaves, (m,) answers, and who answered."""
        return self._mirror.reading(self._analysis.answers)

    def comparisons(
        self,
        *,
        weights: str | None = None,
        heldout: bool | None = False,
        exclude: Collection[str] | None = None,
    ) -> Triplets | Quadruplets:
        """Answers as triplets, two for each odd one out, or as quadruplets; groups are who answered.

        Parameters
        ----------
        weights
            "reliability": answers weigh what they say if they are right as often as `people` has it, the
            logarithm of the odds against chance; 1 on average, and nothing where somebody answers by chance.
            "equal": all answers weigh the same. By default "reliability" if the session has `rules`, else
            "equal".
        heldout
            False for all answers but those to questions that were held out; True for those alone, without
            leaves that were asked about otherwise too; None for both. A tree that was made of the first
            is scored on the second: ``ordhc.metrics.satisfied(tree, session.comparisons(heldout=True))``.
        exclude
            The people whose answers are left out, by name; `()` for nobody. By default those whom the rules
            leave out (`excluded`).
        """
        if weights is not None:
            _checks.choice("weights", weights, ("reliability", "equal"))
        left_out = None if exclude is None else set(checked_people(exclude))
        if heldout is not None:
            heldout = _checks.flag("heldout", heldout)
        return self._mirror.reading(lambda: self._analysis.comparisons(weights, heldout, left_out))

    def analysed(self, *, weights: str | None = None, exclude: Collection[str] | None = None) -> Analysed:
        """Return the answers as `ordhc cluster`, `compare`, `report` and the dashboard of a study take them.

        Parameters
        ----------
        weights, exclude
            As in `comparisons`.

        Raises
        ------
        InputError
            Nobody of a name in `exclude` has answered.
        """
        if weights is not None:
            _checks.choice("weights", weights, ("reliability", "equal"))
        given = None if exclude is None else checked_people(exclude)
        return self._mirror.reading(lambda: self._analysis.analysed(weights, given))

    @property
    def rules(self) -> Rules | None:
        """The rules that leave people out of the analysis, see `set_rules`; None if none were ever set."""
        history = self.rules_history
        return history[-1] if history else None

    @property
    def rules_history(self) -> tuple[Rules, ...]:
        """All rules that were ever set, each with its time, the latest last."""
        return self._mirror.reading(self._analysis.rules)

    @property
    def excluded(self) -> dict[str, tuple[str, ...]]:
        """The people whom the rules leave out of the analysis, each with the reasons in words."""
        return self._mirror.reading(self._analysis.excluded)

    def posterior(self, *, weights: str | None = None, **how: Any) -> "Posterior":
        """Trees by how likely they are, given all answers but those held out; see `ordhc.posterior`.

        Its `expected` says how right the tree is by now, `heldout` how well it predicts the answers held out,
        `forecast(session.comparisons(), 40)` how right it would be with 40 answers more for each leaf.

        Parameters
        ----------
        weights
            As in `comparisons`.
        **how
            As in `ordhc.posterior`.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=6, method="uncertain", budget=40) as session:
        ...     tree = ordhc.learn(ordhc.oracles.from_tree("(((0,1),2),((3,4),5));"), session=session)
        ...     session.posterior().expected.accuracy > 0.9
        True
        """
        heldout = self.comparisons(weights="equal", heldout=True)
        return posterior_of(self.comparisons(weights=weights), heldout, **how)

    def accuracy(self, model: "Dendrogram | Posterior") -> "Predicted | None":
        """Return the share of held-out answers that a tree or a posterior foretells, with its 95% interval.

        Held-out answers are those to random questions that no tree is made of, of the people who count. None
        if there are none. See `ordhc.metrics.answer_accuracy`.

        Parameters
        ----------
        model
            A tree foretells by which pairs are closest in it, a posterior by its probabilities, which know
            the lengths of leaves.
        """
        return accuracy_of(model, self.comparisons(weights="equal", heldout=True))

    def table(self) -> dict[str, NDArray[Any]]:
        """All answers that stand, with all that is known of each, as columns of equal length.

        ``pandas.DataFrame(session.table())`` is a data frame of it.

        Returns
        -------
        dict
            "question", its number (0 for imported answers); "who"; "trial", how many answers of this person
            came before it; "sampler", who chose the question ("learner", "heldout", "repeat", "random",
            "gold", or "import"); "p", how likely the answer counts as right (NaN: as the settings say);
            "at", when it was answered, seconds since 1970; "seconds", how long it took (NaN where nobody
            knows); "leaf_1" and so on, the leaves in the order in which they were shown;
            "answer", as it was told; "position", the place that was chosen, from 1 on, and 0 for none of
            them.
        """
        return self._mirror.reading(self._analysis.table)

    def people(self) -> dict[str | None, Person]:
        """What is known of everybody who answered, by name, in the order in which they came.

        Reliability is how likely an answer of theirs is right. It is estimated from questions of `add_gold`
        and from those that several people answered, by the model of Dawid & Skene with one coin
        (docs/decisions/0010); of somebody of whom neither is known it is a guess, as `low` and `high` say.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     session.add_gold([[0, 1, 2]], [2])
        ...     states = session.tell(session.ask(who="ann").ids, [-1], who="ann")
        ...     ann = session.people()["ann"]
        >>> ann.n_answers, ann.gold, ann.reliability
        (1, 0.0, 0.5)
        """
        return self._mirror.reading(self._analysis.people)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Several calls as one: they happen whole or not at all, and wait for the disk once.

        Yields
        ------
        sqlite3.Connection
            The file, for tables of one's own that are kept beside the session's, and change with it. Whoever
            uses it leaves the session's own tables alone, and neither commits nor rolls back.

        Raises
        ------
        OSError
            The file cannot be written: nothing of this is kept.
        InputError
            A call within has failed halfway: nothing of this is kept.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=4) as session, session.transaction():
        ...     for who in ["ann", "bob"]:
        ...         states = session.tell(session.ask(who=who).ids, [0], who=who)
        """
        with self._mirror.transaction() as connection:
            yield connection

    def set_rules(
        self,
        *,
        seconds: float | None = None,
        same_side: float | None = None,
        below_chance: bool = False,
        failed_gold: float | None = None,
    ) -> None:
        """Set the rules by which people are left out of the analysis; answers then weigh by reliability.

        The rules apply wherever the session is analysed: in `comparisons`, in `ordhc.report`, and in
        `ordhc cluster`, `report` and `compare`. No answer is deleted. Rules that were set before stay in
        `rules_history`, with the time.

        Parameters
        ----------
        seconds, same_side, below_chance, failed_gold
            As in `Rules`; each rule is off by default. Three of them need eight answers of a person.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     session.add_gold([[0, 1, 2]], [2])
        ...     states = session.tell(session.ask(who="ann").ids, [0], who="ann")
        ...     session.set_rules(failed_gold=0.5)
        ...     session.excluded, len(session.comparisons()), len(session.comparisons(exclude=()))
        ({'ann': ('gold: 0% right',)}, 0, 2)
        """
        rules = checked_rules(
            seconds=seconds, same_side=same_side, below_chance=below_chance, failed_gold=failed_gold
        )
        if self.rules is None or replace(self.rules, at=0.0) != rules:
            self._mirror.writing(lambda: self._analysis.set_rules(rules))

    def forget(self, who: str) -> int:
        """Remove somebody for good: their answers, and that they ever were there.

        Nothing of them is left in the file nor in its write-ahead log; the learner goes on as if they had
        never answered. Copies of the file, and what the disk keeps of blocks that were freed, are beyond
        reach.

        Returns
        -------
        int
            How many answers are gone, those that were taken back included.

        Raises
        ------
        OSError
            Others are reading the file. The answers are gone, but the file's log still has them: call this
            again.

        Examples
        --------
        >>> import ordhc, tempfile, os
        >>> path = os.path.join(tempfile.mkdtemp(), "answers.ordhc")
        >>> with ordhc.Session(path, n_leaves=3) as session:
        ...     states = session.tell(session.ask(who="ann").ids, [0], who="ann")
        ...     session.forget("ann"), session.n_answered, "ann" in session.people()
        (1, 0, False)
        """
        if who is None:
            raise InputError("who = None is nobody: give the name of a person")
        checked_who(who)
        count = self._mirror.writing(lambda: self._crowd.forget(who))
        self._mirror.erase()
        return count

    def close(self) -> None:
        """Close the file; everything is kept."""
        self._mirror.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        placed = f"{self.n_placed:,} of {self._n_leaves:,} leaves"
        return f"<Session {self._path}: {placed}, {self.n_answered:,} answers>"

    _repr_html_ = _html.asked
