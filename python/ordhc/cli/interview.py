"""Ask one person at a terminal, for `ordhc learn`; other people can answer at other terminals."""

import os
import time
from typing import TYPE_CHECKING

from ordhc._checks import on_one_line
from ordhc.asking.remaining import remaining_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.console import Console

    from ordhc.asking.questions import Questions
    from ordhc.asking.session import Session

#: Seconds between two checks of the file for answers of other people.
POLL = 0.5

QUIT_MESSAGE = "All answers are kept. The same command continues."

_LATE = "Another person has answered this question in the meantime. Your answer is kept too."


def interview(session: "Session", who: str | None, pictures: "Mapping[str, Path] | None" = None) -> None:
    """Ask the person at the terminal until the session is done or the person quits.

    `pictures` has the file of each leaf's picture, by the leaf's name.
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.prompt import Prompt

    from ordhc.cli.pictures import Pictures

    # Do not highlight numbers in names.
    console = Console(stderr=True, highlight=False)
    shows = Pictures(pictures or {}, console)
    n_items = session.n_leaves - len(session.retired)
    console.print(f"[bold]{n_items:,} items, {session.status.n_answered:,} answers so far.[/bold]")
    pairs = session.width == 4
    if pairs:
        console.print("Which pair is more similar? [bold]1[/bold], [bold]2[/bold], or")
    else:
        console.print("Which one is the odd one out? [bold]1[/bold], [bold]2[/bold], [bold]3[/bold], or")
    console.print("[bold]0[/bold] none, [bold]s[/bold] skip, [bold]u[/bold] undo, [bold]q[/bold] quit.")
    skipped: set[int] = set()
    while not session.done:
        questions = [pair for pair in _asked(session, len(skipped) + 1, who) if pair[0] not in skipped]
        if not questions:
            if not skipped:
                _wait(session, who, console)
            skipped.clear()
            continue
        number, row = questions[0]
        left = session.status.remaining
        share = session.status.n_answered / max(session.status.n_answered + left, 1)
        console.print(f"\n[dim]{share:.0%} done, {remaining_in_words(left)}[/dim]")
        # Read the names again, because items can be added at any time.
        names = session.names
        texts = [f"leaf {leaf}" if names is None else names[leaf] for leaf in row]
        parts = [texts[:2], texts[2:]] if pairs else [[text] for text in texts]
        for at, part in enumerate(parts, 1):
            console.print(f"  [bold cyan]{at}[/bold cyan]  {escape(on_one_line(' and '.join(part)))}")
            shows.show(part, len(texts))
        shown = time.monotonic()
        try:
            choices = ["1", "2", *([] if pairs else ["3"]), "0", "s", "u", "q"]
            what = "more similar" if pairs else "odd one out"
            given = Prompt.ask(what, choices=choices, show_choices=False, console=console)
        except (EOFError, KeyboardInterrupt):
            given = "q"
        if given == "q":
            session.release([number for number, _ in questions])
            console.print(f"\n{QUIT_MESSAGE}")
            return
        if given == "u":
            row_back = session.undo(who)
            skipped.clear()
            text = "There is nothing to undo." if row_back is None else "The last answer is taken back."
            console.print(text)
        elif given == "s":
            skipped.add(number)
        else:
            answer = {"1": 1, "2": -1, "0": 0}[given] if pairs else int(given) - 1
            (result,) = session.tell([number], [answer], who=who, seconds=[time.monotonic() - shown])
            if result == "late":
                console.print(_LATE)
    console.print("\n[bold]No questions are left.[/bold]")


def _asked(session: "Session", count: int, who: str | None) -> "Questions":
    # The process id identifies a person without a name.
    if who is not None:
        return session.ask(count, who=who)
    return session.ask(count, who=f"terminal {os.getpid()}", fill={}, distinct=False)


def _wait(session: "Session", who: str | None, console: "Console") -> None:
    console.print("\nOther people have all open questions: waiting for their answers (Ctrl-C quits).")
    while not session.done and not len(_asked(session, 1, who)):
        time.sleep(POLL)
