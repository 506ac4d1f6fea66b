"""Erase a person from a study's file."""

import time

from ordhc_collect.people.study_state import StudyState

#: Maximum number of seconds to wait until other programs have stopped reading the file.
_PATIENCE = 5.0


def forget(state: StudyState, name: str) -> int:
    """Erase all data of a person; return the number of answers that the person gave.

    `name` is the id of the person in the study or on the recruiting platform.

    Raises
    ------
    RefusedError
        No person has this id.
    OSError
        Another program reads the file, so the write-ahead log of the file still has some of the data. Call
        this function again.
    """
    if state.to_forget is not None:
        finish_forgetting(state)
    with state.session.transaction():
        who = state.find(name)
        count = state.tables.n_answers(who)
        state.drop(who)
    state.to_forget = who
    finish_forgetting(state)
    return count


def finish_forgetting(state: StudyState) -> None:
    """Let the session forget the person `state.to_forget`, as soon as no other program reads the file."""
    who = state.to_forget
    if who is None:
        return
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            state.session.forget(who)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
    with state.session.transaction():
        state.dropped()
    state.load()
