"""Erase a person from a study's file."""

import time

from ordhc_collect.people.desk import Desk

__all__ = ["finish_forgetting", "forget"]

#: Maximum number of seconds to wait for other programs that read the file.
_PATIENCE = 5.0


def forget(desk: Desk, name: str) -> int:
    """Erase all data of a person; return the number of answers that the person gave.

    Parameters
    ----------
    desk
        The study.
    name
        The id of the person in the study or on the platform.

    Raises
    ------
    RefusedError
        No person has this id.
    OSError
        The write-ahead log still has some of the data, because another program reads the file. Call this
        again.
    """
    if desk.unfinished is not None:
        finish_forgetting(desk)
    with desk.session.transaction():
        who = desk.find(name)
        count = desk.n_answers(who)
        desk.drop(who)
    desk.unfinished = who
    finish_forgetting(desk)
    return count


def finish_forgetting(desk: Desk) -> None:
    """Let the session forget the marked person (`Desk.unfinished`); rebuild the file and empty its log."""
    who = desk.unfinished
    if who is None:
        return
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            desk.session.forget(who)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
    with desk.session.transaction():
        desk.dropped()
    desk.load()
