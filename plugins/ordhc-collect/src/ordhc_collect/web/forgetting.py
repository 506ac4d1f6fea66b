"""Removing somebody for good."""

import time

from ordhc_collect.people.desk import Desk

__all__ = ["finish_forgetting", "forget"]

#: Seconds for which others may go on reading the file's log.
_PATIENCE = 5.0


def forget(desk: Desk, name: str) -> int:
    """Erase all of somebody, who is named by their id here or on the platform; how many answers they gave.

    Raises
    ------
    RefusedError
        There is nobody of this name.
    OSError
        The log still has something of it, as another program reads the file: the same call goes on.
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
    """Let the session forget whom it was to forget: the file is made anew, its log is emptied."""
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
