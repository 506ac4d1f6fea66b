"""`ordhc session`: inspect session files, change their items, and salvage damaged ones."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ordhc._checks import on_one_line, unknown_name
from ordhc.asking.remaining import UNLIMITED, remaining_in_words
from ordhc.cli.help import Command, Group
from ordhc.cli.output import counted_people, emit_json, json_option, progress_bar, say
from ordhc.errors import InputError
from ordhc.io import read_names

if TYPE_CHECKING:
    from ordhc.asking.session import Session


@click.group(cls=Group)
def session() -> None:
    """Inspect and repair session files, which `ordhc learn` makes, and change their items.

    \b
    Example:
      ordhc session info animals.ordhc
      ordhc session about animals.ordhc cat dog
      ordhc session add animals.ordhc wolf
    """


def _items_option(what: str) -> Callable[[Any], Any]:
    text = (
        f"A text file with the names of items to {what}, one on each line, or a table with a column of names."
    )
    return click.option("--items", "source", metavar="FILE", help=text)


@session.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@click.argument("items", nargs=-1)
@_items_option("add")
def add(file: str, items: tuple[str, ...], source: str | None) -> None:
    """Add ITEMS to a session, also while people answer its questions.

    The session goes on as before, and asks where the new items belong. The methods quick, revise, single,
    complete and 4k-active need all items at the start, so their sessions cannot add items. A retired item
    cannot be added again with the same name.

    \b
    Examples:
      ordhc session add animals.ordhc wolf "polar bear"
      ordhc session add animals.ordhc --items more.txt
    """
    _change(file, items, source, "add_items", "added")


@session.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@click.argument("items", nargs=-1)
@_items_option("retire")
def retire(file: str, items: tuple[str, ...], source: str | None) -> None:
    """Retire ITEMS of a session, also while people answer: no new question is about them.

    All answers are kept, but the tree has no retired items. Open questions about them are withdrawn.

    \b
    Examples:
      ordhc session retire animals.ordhc dog
    """
    _change(file, items, source, "retire", "retired")


def _change(file: str, items: tuple[str, ...], source: str | None, method: str, what: str) -> None:
    names = [*items, *(() if source is None else read_names(source))]
    if not names:
        raise InputError("no items: give names, or --items FILE")
    with _opened(file) as kept:
        getattr(kept, method)(names)
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
        say(on_one_line(f"{what:<8} {shown}"))
        say(_progress_of(kept))


def _progress_of(kept: "Session") -> str:
    status = kept.status
    state = "done" if kept.done else remaining_in_words(status.remaining)
    n_items = kept.n_leaves - len(kept.retired)
    return f"{status.n_answered:,} answers, {status.n_placed:,} of {n_items:,} leaves, {state}"


@session.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@click.argument("items", nargs=-1)
@click.option("--limit", type=int, default=20, metavar="N", help="Show N questions at most, by default 20.")
@json_option
def about(file: str, items: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Show which questions about some items were asked, how often, and with which answers.

    ITEMS are names of leaves, or numbers in a session without names. Without ITEMS all questions are shown.
    The most frequent questions come first. Each question is followed by the number of times that each leaf
    was the odd one out, or that each pair was the closer one.

    \b
    Examples:
      ordhc session about animals.ordhc cat
      ordhc session about animals.ordhc cat dog owl --json
    """
    found = _asked_about(file, items)
    if as_json:
        emit_json({"questions": found[:limit]})
        return
    answers = sum(question["n"] for question in found)
    say(f"{answers:,} answers to {len(found):,} questions")
    for question in found[:limit]:
        outcomes = ", ".join(f"{what} {count}" for what, count in question["outcomes"].items())
        people = counted_people(question["n_people"])
        say(
            on_one_line(
                f"  {' | '.join(question['leaves'])}: {outcomes} ({question['n']} answers of {people})"
            )
        )
    if len(found) > limit:
        say(f"and {len(found) - limit:,} more; --limit {len(found)} shows them")


def _opened(file: str, progress: Any = None) -> "Session":
    from ordhc.asking.session import Session

    # Opening a session would create the file.
    if not Path(file).exists():
        raise InputError(f"{file}: there is no such session")
    return Session(file, progress=progress)


def _asked_about(file: str, items: tuple[str, ...]) -> list[dict[str, Any]]:
    with _opened(file) as kept:
        table, width = kept.table(), kept.width
        names = kept.names or tuple(map(str, range(kept.n_leaves)))
    for item in items:
        if item not in names:
            raise InputError(unknown_name(item, names))
    wanted = {names.index(item) for item in items}
    columns = [table[f"leaf_{at}"] for at in range(1, width + 1)]
    answered = [column.tolist() for column in (*columns, table["answer"], table["who"])]
    questions: dict[tuple[int, ...], list[tuple[str, str | None]]] = {}
    for *row, answer, who in zip(*answered, strict=True):
        if not wanted <= set(row):
            continue
        if width == 3:
            key, outcome = tuple(sorted(row)), "none" if answer < 0 else names[row[answer]]
        else:
            pairs = [tuple(sorted(row[:2])), tuple(sorted(row[2:]))]
            key = (*min(pairs), *max(pairs))
            closer = pairs[0] if answer > 0 else pairs[1]
            outcome = "none" if answer == 0 else "-".join(names[leaf] for leaf in closer)
        questions.setdefault(key, []).append((outcome, who))
    found = [
        {
            "leaves": [names[leaf] for leaf in key],
            "n": len(answers),
            "outcomes": dict(Counter(outcome for outcome, _ in answers).most_common()),
            "n_people": len({who for _, who in answers}),
        }
        for key, answers in questions.items()
    ]
    return sorted(found, key=lambda question: (-question["n"], question["leaves"]))


@session.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="NEW", help="The file of the new session.")
def salvage(file: str, output: str) -> None:
    """Make a new session from all readable answers of a damaged session.

    FILE is not changed. Answers that do not match their checksum are left out.

    \b
    Example:
      ordhc session salvage animals.ordhc -o saved.ordhc
    """
    from ordhc.asking.salvage import salvage as compute

    with progress_bar("saving", quiet=False) as progress:
        done = compute(file, output, progress=progress)
    say(f"{done.n_answers:,} answers are kept, of {done.n_events:,} events.")
    if done.lost:
        numbers = ", ".join(map(str, done.lost[:20])) + (", ..." if len(done.lost) > 20 else "")
        say(f"{len(done.lost):,} events could not be read: {numbers}.")
    else:
        say("No event is known to be missing.")
    for note in done.notes:
        say(note)
    say(f"wrote    {output}")


@session.command(cls=Command, no_args_is_help=True)
@click.argument("file")
@json_option
def info(file: str, as_json: bool) -> None:
    """Check a session file, and show its settings, people and progress.

    \b
    Example:
      ordhc session info animals.ordhc
    """
    with progress_bar("reading", quiet=False) as progress:
        opened = _opened(file, progress)
    with opened as kept:
        people: Counter[str | None] = Counter(kept.table()["who"].tolist())
        analysed, status, state = kept.analysed(), kept.status, _progress_of(kept)
        changed = [item for item in kept.items() if item.added is not None or item.retired is not None]
        excluded, history = analysed.excluded, analysed.rules
        found = {
            "n_leaves": kept.n_leaves - len(kept.retired),
            "n_placed": status.n_placed,
            "n_answers": status.n_answered,
            "done": kept.done,
            "remaining": status.remaining,
            "settings": kept.settings,
            "items": [{"name": item.name, "added": item.added, "retired": item.retired} for item in changed],
            "rules": [{"at": rules.at, "rules": rules.in_words()} for rules in history],
            "excluded": {who: list(why) for who, why in excluded.items()},
            "people": [{"who": who, "n_answers": count} for who, count in people.items()],
        }
    if as_json:
        emit_json(found)
        return
    say(state)
    for who, count in people.items():
        say(f"  {'(no name)' if who is None else on_one_line(who)}: {count:,}")
    for key, value in kept.settings.items():
        is_endless = key == "budget" and value >= UNLIMITED
        say(on_one_line(f"  {key} = {'no limit' if is_endless else value}"))
    for item in changed:
        times = [
            f"{what} {datetime.fromtimestamp(at).isoformat(' ', 'minutes')}"
            for what, at in (("added", item.added), ("retired", item.retired))
            if at is not None
        ]
        say(on_one_line(f"  {item.name}: {', '.join(times)}"))
    if history:
        excluding = "; ".join(history[-1].in_words()) or "nobody"
        say(f"leaves out {excluding}: {counted_people(len(excluded))}")
