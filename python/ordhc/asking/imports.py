"""What a session is given that nobody was asked for in it."""

from numpy.typing import ArrayLike

from ordhc import _checks
from ordhc._progress import Progress, part, shows_progress
from ordhc.asking.events import IMPORT, KNOWN, USE, Event
from ordhc.asking.given import checked_answers, checked_who
from ordhc.asking.knowledge import Knowledge

__all__ = ["Imports"]


class Imports(Knowledge):
    """A session, as far as it takes answers that were given elsewhere."""

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
        self._writing(lambda: self._append(events, part(progress, 0, 0.9)), part(progress, 0.9, 1))

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
        events = [
            Event(KNOWN, -1, row, answer)
            for row, answer in checked_answers(rows, answers, self._width, self._n_leaves)
        ]
        self._writing(lambda: self._append(events))
