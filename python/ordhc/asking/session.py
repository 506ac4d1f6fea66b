"""Sessions: learning that survives everything, in one SQLite file.

A session is its settings and an append-only log of events: questions were asked, an answer was given, an
answer was taken back, answers were imported. What is in memory is what the log says, never ahead of the disk;
leases of questions, which expire, are the only other thing stored.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks, _html
from ordhc._progress import Progress, part, shows_progress
from ordhc.asking.answers import comparisons_of
from ordhc.asking.desk import new_desk
from ordhc.asking.events import ANSWER, ASKED, IMPORT, UNDO, USE, Event, are_questions
from ordhc.asking.learner import Questions
from ordhc.asking.mirror import Mirror
from ordhc.asking.schema import FORMAT, damaged, width_of
from ordhc.asking.store import Store, create
from ordhc.comparison.comparisons import Quadruplets, Triplets
from ordhc.errors import InputError
from ordhc.io.guard import brief
from ordhc.tree.dendrogram import Dendrogram

__all__ = ["Session"]

Row = tuple[int, ...]


class Session(Mirror):
    """A learner whose answers are kept in a file.

    Answers are on the disk when `tell` returns: killing the process at any moment loses no acknowledged
    answer, and what raises an exception (Ctrl-C, a full disk) leaves the session as the file has it.
    Several processes may work on one session, and several threads on one object.

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
        errors.
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
        progress: Progress | bool | None = None,
        **settings: Any,
    ) -> None:
        progress = _checks.callback("progress", progress)
        self._path = _checks.path(path)
        self._now = time.time
        given = {} if method is None else {"method": method}
        given.update(settings)
        given = {
            key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()
        }
        checked = _checks.names(names)
        if n_leaves is not None:
            n_leaves = _checks.whole("n_leaves", n_leaves, at_least=1, at_most=2**31 - 1)
        if not Path(self._path).exists() or not Path(self._path).stat().st_size:
            self._create(checked, n_leaves, given)
        self._store = Store(self._path)
        try:
            self._load(checked, n_leaves, given, progress)
        except BaseException:
            self._store.close()
            raise

    # --- making and loading ------------------------------------------------------------------

    def _create(self, names: tuple[str, ...] | None, n_leaves: int | None, given: dict[str, Any]) -> None:
        if names is None and n_leaves is None:
            raise InputError("a new session needs names or n_leaves", path=brief(self._path, 200))
        if names is not None and n_leaves is not None and len(names) != n_leaves:
            raise InputError(f"{len(names)} names for n_leaves = {n_leaves}")
        n = len(names or ()) if n_leaves is None else n_leaves
        new_desk(names, n, given)
        folder = Path(self._path).absolute().parent
        if not Path(folder).is_dir():
            shown = brief(str(folder), 200)
            raise InputError(
                f"unable to open database file: there is no folder {shown}", path=brief(self._path, 200)
            )
        kept = {
            "format": FORMAT,
            "n_leaves": n,
            "names": None if names is None else list(names),
            "learner": given,
        }
        create(self._path, kept, width_of(given))

    def _load(
        self,
        names: tuple[str, ...] | None,
        n_leaves: int | None,
        given: dict[str, Any],
        progress: Progress | None,
    ) -> None:
        kept = self._store.settings
        self._settings: dict[str, Any] = kept["learner"]
        self._names = None if kept["names"] is None else tuple(kept["names"])
        self._n_leaves: int = kept["n_leaves"]
        self._width = self._store.width
        if names is not None and names != self._names:
            raise InputError("the session has other names than those given", path=brief(self._path, 200))
        if n_leaves is not None and n_leaves != self._n_leaves:
            raise InputError(
                f"the session has {self._n_leaves} leaves, not {n_leaves}", path=brief(self._path, 200)
            )
        for key, value in given.items():
            own = self._settings.get(key, "insertion" if key == "method" else None)
            if own != value:
                raise InputError(
                    f"{key} is {own!r}, not {_checks.quoted(value)}", path=brief(self._path, 200)
                )
        try:
            desk = new_desk(self._names, self._n_leaves, self._settings)
        except (TypeError, ValueError) as error:
            raise damaged(self._path, error) from None
        self._begin(desk, self._n_leaves, progress)

    # --- asking and telling ------------------------------------------------------------------

    def ask(self, limit: int | None = 1, *, who: str | None = None, lease: float = 300.0) -> Questions:
        """Questions to answer now, open ones first.

        With `who` they are leased for `lease` seconds: nobody else gets them, until the lease expires
        because the worker left. The same worker gets them again. Questions stay open, and keep their numbers,
        when others take answers back or import some.
        """
        most = 2**31 if limit is None else _checks.whole("limit", limit, at_least=1)
        lease = _checks.number("lease", lease, at_least=0)
        _checked_who(who)

        def work() -> Questions:
            now = self._now()
            taken = [number for number, whose in self._store.leases(now) if whose != who]
            others = np.array(taken, dtype=np.int64)
            ids, rows = self._desk.open(most, others)
            room = most - len(ids)
            if room and not self._log.is_idle(room):
                self._desk.want(room)
                ids, rows = self._desk.open(most, others)
                new = self._desk.waiting(most - len(ids))
                asked = [(ASKED, -1, tuple(row), None, None) for row in new.tolist()] or [
                    (ASKED, -1, (), None, None)
                ]
                asked[0] = (ASKED, room, *asked[0][2:])
                self._append(asked)
                numbers = np.arange(self._log.n + 1, self._log.n + 1 + len(new), dtype=np.int64)
                ids, rows = np.concatenate([ids, numbers]), np.concatenate([rows, new])
            if who is not None:
                self._store.lease(ids.tolist(), who, now + lease, now)
            return Questions(ids, rows)

        return self._writing(work)

    def tell(self, ids: ArrayLike, answers: ArrayLike, *, who: str | None = None) -> None:
        """Answer some questions; when this returns the answers are on the disk.

        A question that somebody else has answered meanwhile, or that is not needed any more because an
        answer was taken back, may still be answered: the answer is kept with the others, and the learner
        uses it should it ask that again. The same answer by the same person is kept once.

        Raises
        ------
        InputError
            A question that was never asked, or an answer that is none: nothing of this call is kept.
        """
        numbers = np.atleast_1d(_checks.whole_numbers("ids", ids))
        given = np.atleast_1d(_checks.whole_numbers("answers", answers))
        if numbers.shape != given.shape or numbers.ndim != 1:
            raise InputError(f"answers have shape {given.shape} for ids of shape {numbers.shape}")
        _checked_who(who)

        def work() -> None:
            told: list[Event] = []
            for number, answer in zip(numbers.tolist(), given.tolist(), strict=True):
                leaves = self._log.leaves(number)
                if leaves is None or self._log.kind(number) != ASKED:
                    raise InputError(f"question {number} is not open: it was never asked")
                if not -1 <= answer <= self._largest:
                    limit = f"-1..{self._largest}"
                    raise InputError(f"the answer to question {number} is {answer}, outside {limit}")
                late = self._desk.held(number) is None
                if not (late and who is not None and self._log.has_answer(number, answer, who)):
                    told.append((ANSWER, number, leaves, answer, who))
            self._append(told)
            self._store.release(numbers.tolist())

        self._writing(work)

    def release(self, ids: ArrayLike) -> None:
        """Give leased questions back, for others to answer."""
        numbers = _checks.whole_numbers("ids", ids).ravel().tolist()
        self._writing(lambda: self._store.release(numbers))

    def undo(self, who: str | None = None) -> Row | None:
        """Take back the last answer (of `who`, if given); gives its leaves, or None if there is none.

        The other answers stay, and so do the questions that others have open. What was asked because of it
        may be asked anew.
        """
        _checked_who(who)

        def work() -> Row | None:
            last = self._log.last_answer(who)
            if last is None:
                return None
            self._append([(UNDO, last, (), None, who), (USE, -1, (), None, None)])
            return self._log.leaves(last)

        return self._writing(work)

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
        _checked_who(who)
        progress = _checks.callback("progress", progress)
        table, given = _checks.array("rows", rows), _checks.array("answers", answers)
        width, largest = self._width, self._largest
        if table.size == 0 and given.size == 0:
            if progress is not None:
                progress(1.0)
            return
        if table.ndim != 2 or table.shape[1] != width or given.shape != (len(table),):
            raise InputError(
                f"answers of shape {given.shape} to questions of {table.shape}, not (m, {width})"
            )
        leaves = _checks.whole_numbers("rows", table)
        verdicts = _checks.whole_numbers("answers", given)
        for at in np.flatnonzero(~are_questions(leaves, self._n_leaves))[:1].tolist():
            what = "three different leaves" if width == 3 else "two different pairs of leaves"
            row = leaves[at].tolist()
            reason = f"{row} are not {what} of 0..={self._n_leaves - 1}"
            raise InputError(reason, row=at, leaves=[row])
        for at in np.flatnonzero((verdicts < -1) | (verdicts > largest))[:1].tolist():
            raise InputError(f"the answer is {verdicts[at]}, outside -1..{largest}", row=at)
        pairs = zip(leaves.tolist(), verdicts.tolist(), strict=True)
        events: list[Event] = [(IMPORT, -1, tuple(row), answer, who) for row, answer in pairs]
        events.append((USE, -1, (), None, None))
        self._writing(lambda: self._append(events, part(progress, 0, 0.49)), part(progress, 0.5, 1))

    # --- what is known -----------------------------------------------------------------------

    def refresh(self) -> None:
        """Take in what other processes have added."""
        self._reading(lambda: None)

    def tree(self) -> Dendrogram:
        """The best tree so far, see `Learner.tree`."""
        return self._reading(lambda: Dendrogram._of(self._desk.tree(), self._names))

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self._reading(lambda: self._desk.done)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the leaves, or None."""
        return self._names

    @property
    def width(self) -> int:
        """How many leaves a question has: 3, or 4 for two pairs."""
        return self._width

    @property
    def _largest(self) -> int:
        return 2 if self._width == 3 else 1

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return self._n_leaves

    @property
    def n_answered(self) -> int:
        """How many answers stand, imported ones included."""
        return self._reading(lambda: len(self._log.standing()))

    @property
    def n_placed(self) -> int:
        """How many leaves have their place in the tree."""
        return self._reading(lambda: self._desk.n_placed)

    @property
    def remaining_estimate(self) -> float:
        """About how many answers are still needed."""
        return self._reading(lambda: self._desk.remaining_estimate)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the learner."""
        return dict(self._settings)

    def answers(self) -> tuple[NDArray[np.int32], NDArray[np.int8], list[str | None]]:
        """All answers that stand: (m, 3) or (m, 4) leaves, (m,) answers, and who answered."""
        return self._reading(lambda: self._log.answers())

    def comparisons(self) -> Triplets | Quadruplets:
        """All answers as triplets, two for each odd one out, or as quadruplets; groups are who answered."""
        rows, answers, who = self.answers()
        return comparisons_of(rows, answers, self._n_leaves, self._names, who)

    def close(self) -> None:
        """Close the file; everything is kept."""
        with self._lock:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        placed = f"{self.n_placed:,} of {self._n_leaves:,} leaves"
        return f"<Session {self._path}: {placed}, {self.n_answered:,} answers>"

    _repr_html_ = _html.asked


def _checked_who(who: object) -> None:
    if who is not None and not isinstance(who, str):
        raise InputError(f"who = {_checks.quoted(who)} is no name")
    try:
        (who or "").encode()
    except UnicodeEncodeError:
        raise InputError(f"who = {_checks.quoted(who)} cannot be written as UTF-8") from None
