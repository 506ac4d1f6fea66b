"""The actions of `ordhc collect`: check, serve, simulate, export, forget."""

import contextlib
import logging
import os
import shlex
import shutil
import signal
import threading
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from ordhc.commands import say
from ordhc.errors import InputError
from ordhc_collect.analysis.export import as_csv, people_rows, rows_of
from ordhc_collect.analysis.psych_ds import check_folder, write_psych_ds
from ordhc_collect.analysis.summary import people_of
from ordhc_collect.demo import DEMO, TEMPLATE
from ordhc_collect.people.state import RefusedError
from ordhc_collect.people.study_state import Clock, StudyState
from ordhc_collect.people.tables import copy_session, reading
from ordhc_collect.study.check import MediaSize, check_media, report
from ordhc_collect.study.model import Study
from ordhc_collect.study.reading import read_study, study_or_problems
from ordhc_collect.web.forgetting import forget
from ordhc_collect.web.server import Served, locked, opened, serve

__all__ = [
    "DEMO",
    "afterwards",
    "begin",
    "check",
    "hash_password",
    "preview",
    "read_study",
    "run",
    "simulate",
]


_GRACE = 4.0


def hash_password() -> None:
    from argon2 import PasswordHasher

    secret = click.prompt("Password of the dashboard", hide_input=True, confirmation_prompt=True, err=True)
    if len(secret) < 8:
        raise click.UsageError("a password needs 8 characters or more")
    say(PasswordHasher().hash(secret))


def check(path: Path) -> int:
    """Print the errors and warnings of a study; return the exit code, 2 if there are errors."""
    study, problems = study_or_problems(path)
    media = MediaSize() if study is None else check_media(study, problems)
    for line in problems.errors:
        say(f"error    {line}")
    for line in problems.warnings:
        say(f"warning  {line}")
    if study is None or problems.errors:
        n = len(problems.errors)
        say(f"{path}: {n} {'error' if n == 1 else 'errors'}", err=True)
        return 2
    say(report(study, media))
    return 0


def begin(folder: Path) -> None:
    """Write a complete study into a new folder, and print the next commands."""
    check_folder(folder, ", and --init writes into a new folder")
    shutil.copytree(TEMPLATE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__*"))
    shutil.copytree(DEMO.parent / "animals", folder / "animals", ignore=shutil.ignore_patterns("__*"))
    study = folder / "study.toml"
    say(f"wrote    {study}, its pages, its tables, and 20 pictures: replace them by your own")
    for option in ("--check", "--preview", "--simulate 50"):
        say(f"next     {shlex.join(['ordhc', 'collect', str(study)])} {option}")


def preview(study: Study, **served: Any) -> None:
    """Serve a study without storing answers, until Ctrl-C. A person who has finished can start again."""
    run(replace(study, is_kiosk=True, anonymous=True), None, **served)


def run(study: Study, data: Path | None, *, delete_after: float | None = None, **served: Any) -> None:
    """Serve a study until Ctrl-C or SIGTERM; the process then ends within 5 seconds.

    `delete_after` is the number of days from a person's last visit until the person's id on the recruiting
    platform, such as Prolific, is deleted.
    """
    logging.basicConfig(format="ordhc: %(levelname)s: %(message)s", level=logging.WARNING)

    def started(served: Served) -> None:
        kept = (
            "not stored: lost when the server stops (--data FILE stores them)" if data is None else str(data)
        )
        say(f"Participants  {served.address}/")
        say(f"Dashboard     {served.address}/dashboard?token={served.token}")
        say(f"Answers       {kept}")
        if served.state.is_simulated:
            say("The people of this file are simulated, so real people cannot take part in it.")
            say("You can try its dashboard; for a study with real people give another --data FILE.")
        if delete_after is not None:
            served.state.delete_after = 86_400 * delete_after
        say("Ctrl-C stops the server; the same command continues the study.")

    # uvicorn raises the signal again after it has stopped. SIGTERM must then raise an exception, so that the
    # file is closed before the process ends.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        serve(study, data, on_start=started, on_stop=_end_in_time, **served)


def _end_in_time() -> None:
    """End the process after `_GRACE` seconds, even if a thread still runs.

    No answer is lost: an answer is written to the file before the person sees the next page.
    """
    end = threading.Timer(_GRACE, os._exit, (0,))
    end.daemon = True
    end.start()


def simulate(study: Study, n: int, **options: Any) -> None:
    from ordhc_collect.simulate.study import simulated

    say(simulated(study, n, **options))


def afterwards(study: Study, data: Path, options: dict[str, Any]) -> None:
    """Execute the first of these options that is set: --backup, --export, --delete-ids, --forget."""
    if not data.is_file():
        raise InputError("there is no such session file; name it with --data FILE", path=str(data))
    if options["backup"]:
        backup(data, Path(options["backup"]))
        return
    if options["export"]:
        export(study, data, options["export"], options["format"])
        return
    with locked(data), opened(study, data) as (study, session):
        with session.transaction() as db:
            db.execute("PRAGMA secure_delete=ON")
        state = StudyState(study, session, data, Clock())
        if options["delete_ids"]:
            with session.transaction():
                count = state.delete_ids()
            say(f"{count:,} ids of the platform are deleted.")
            return
        try:
            count = forget(state, options["forget"])
        except RefusedError:
            raise InputError(
                f"no person has the id {options['forget']!r}, in the study or on the platform", path=str(data)
            ) from None
        say(f"This person and {count:,} answers are erased from the file.")


def backup(data: Path, target: Path) -> None:
    """Copy a session, which may be in use, and the secret key that signs its cookies.

    An older copy of the session is replaced atomically.
    """
    if target.absolute() == data.absolute():
        raise InputError("is the session itself; give another file to --backup", path=str(target))
    new = target.with_name(f"{target.name}.new-{os.getpid()}")
    # Only the owner may read the copies: they contain ids, and the key that signs cookies.
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    try:
        copy_session(data, new)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
    say(f"wrote    {target}: the session with all its people")
    key = data.with_name(f"{data.name}.key")
    if key.is_file():
        beside = target.with_name(f"{target.name}.key")
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(key.read_bytes())
        say(f"wrote    {beside}: the key that lets people continue where they stopped")


def export(study: Study, data: Path, target: str, how: str | None) -> None:
    """Write answers or people to `target`; if an error occurs, `target` is unchanged."""
    if Path(target).absolute() == data.absolute():
        raise InputError("is the session itself; give another file to --export", path=target)
    how = how or ("trials" if study.question == "pairs" else "salmon")
    new = f"{target}.new-{os.getpid()}"
    with opened(study, data) as (study, session), reading(data) as tables:
        if not tables.are_there():
            raise InputError(
                "was not made by `ordhc collect`; export it with `ordhc learn SESSION --export FILE`",
                path=str(data),
            )
        session.set_rules(**asdict(study.exclude))
        people = people_of(session)
        if how == "psych-ds":
            count = write_psych_ds(Path(target), study, session, tables, people)
            rows_in_words = f"{count:,} {'row' if count == 1 else 'rows'} of trials"
            say(f"wrote    {target}: {rows_in_words}, without ids of platforms")
            return
        if how == "people":
            rows = people_rows(study, tables, people)
        else:
            rows = rows_of(how, study, session, tables, people)
        try:
            # Only the owner may read the file, because it contains answers and ids of people.
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            count = -1
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                for line in as_csv(rows):
                    file.write(line)
                    count += 1
            Path(new).replace(target)
        finally:
            Path(new).unlink(missing_ok=True)
    say(f"wrote    {target}: {count:,} {'row' if count == 1 else 'rows'} of {how}")
    if how != "people":
        say(f"next     {shlex.join(['ordhc', 'cluster', target, *_options(study, how)])}")


def _options(study: Study, how: str) -> list[str]:
    found = {"salmon": ["--format", "salmon"], "trials": ["--format", "collect"]}.get(how, [])
    if how == "triplets" and study.question == "pairs":
        found = ["--kind", "pairs"]
    return found
