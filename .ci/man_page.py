"""The man page, made from the commands themselves: python .ci/man_page.py [--write].

Without plugins, so that it is the same wherever it is made.
"""

import os
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

os.environ["ORDHC_PLUGINS"] = ""

import click

from ordhc._version import ISSUES, __version__
from ordhc.cli import group
from ordhc.cli.help import continued, paragraphs_of, sections_of

PAGE = Path(__file__).parents[1] / "wheel/data/share/man/man1/ordhc.1"
_SPECIAL = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def escaped(text: str) -> str:
    """Text of a line, in which nothing is a request of roff."""
    found = "".join(_SPECIAL.get(letter, letter) for letter in text)
    return rf"\&{found}" if found.startswith(".") else found


def bold(text: str) -> str:
    """Set literal text in bold, and placeholders (in capitals) in italics."""
    parts = re.split(r"([A-Z][A-Z,=.]*[A-Z]|\b[A-Z]\b)", text)
    return "".join(
        rf"\fI{escaped(part)}\fR" if at % 2 else rf"\fB{escaped(part)}\fR" if part else ""
        for at, part in enumerate(parts)
    )


def filled(text: str) -> list[str]:
    """Text in lines that begin with sentences, as roff wants it."""
    return [
        escaped(line)
        for sentence in re.split(r"(?<=[.;:?]) +", text)
        for line in textwrap.wrap(sentence, 70, break_long_words=False, break_on_hyphens=False)
    ]


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs below a heading, examples unchanged."""
    for at, lines in enumerate(paragraphs_of(text)):
        if at:
            yield ".PP"
        yield from filled(lines[0])
        if len(lines) > 1:
            yield ".PP"
            yield ".RS 2"
            yield ".nf"
            yield from (escaped(part) for line in lines[1:] for part in continued(line.strip(), 70))
            yield ".fi"
            yield ".RE"


def terms(rows: list[tuple[str, str]]) -> Iterator[str]:
    """Terms, each with what there is to say."""
    for term, text in rows:
        yield ".TP"
        yield bold(term)
        for at, line in enumerate(text.split("\n")):
            if at:
                yield ".br"
            yield from filled(line)


def command_part(command: click.Command, ctx: click.Context) -> Iterator[str]:
    """All about a command, and about those in a group."""
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    yield f'.SS "{escaped(usage)}"'
    yield from paragraphs(command.help or "")
    for title, rows in sections_of(command, ctx):
        rows = [row for row in rows if "--help" not in row[0]]
        if rows:
            yield ".PP"
            yield rf"\fB{escaped(title)}\fR"
            yield from terms(rows)
    if isinstance(command, click.Group):
        yield from commands(command, ctx)


def commands(of: click.Group, ctx: click.Context) -> Iterator[str]:
    """All about the commands of a group."""
    for name, command in of.commands.items():
        yield from command_part(command, click.Context(command, info_name=name, parent=ctx))


def page() -> str:
    """Return the man page."""
    ctx = click.Context(group, info_name="ordhc")
    return "\n".join(
        [
            r".\" Made by `make man` from the commands' own help.",
            f'.TH ORDHC 1 "" "ordhc {__version__}" "User Commands"',
            r".\" Set left, and no words are divided.",
            ".nh",
            ".ad l",
            ".SH NAME",
            r"ordhc \- hierarchies from comparisons",
            ".SH SYNOPSIS",
            r"\fBordhc\fR \fICOMMAND\fR [\fIARGUMENTS\fR]",
            ".br",
            r"\fBordhc\fR [\fICOMMAND\fR] \fB\-\-help\fR",
            ".SH DESCRIPTION",
            *paragraphs(group.help or ""),
            ".PP",
            "Every command has \\fB\\-\\-help\\fR, which also lists what plugins add.",
            "Where some options are rarely needed, \\fB\\-\\-help\\-all\\fR lists all of them.",
            ".SH COMMANDS",
            *commands(group, ctx),
            ".SH ENVIRONMENT",
            *terms(group.tables["Environment"]),
            '.SH "EXIT STATUS"',
            *terms(group.tables["Exit codes"]),
            '.SH "REPORTING BUGS"',
            escaped(ISSUES),
            "",
        ]
    )


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is out of date: make man")
