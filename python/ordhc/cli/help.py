"""Define commands whose help has sections and lists of choices, and that shells can complete."""

import inspect
import json
import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from ordhc.cli.config import configure
from ordhc.errors import PluginError

#: The heading of options that are in no other section.
OPTIONS = "Options"
#: The key in click's `Context.meta` whose value is True while `--help-all` is shown.
_WHOLE = "ordhc.whole_help"
#: Metavars of options that take a file.
_FILES = ("CSV", "FILE", "NEW", "PICTURE", "TREE")


def section(title: str, *, rare: bool = False) -> Callable[[Any], Any]:
    """Put the options between this decorator and the next section under a heading of the help.

    Sections of rare options are shown by `--help-all`; `--help` gives only their headings.
    """

    def decorate(command: Any) -> Any:
        for parameter in getattr(command, "__click_params__", ()):
            if not hasattr(parameter, "section"):
                parameter.section, parameter.is_rare = title, rare
        return command

    return decorate


class File(click.ParamType):  # type: ignore[type-arg]
    """The name of a file, or - for standard input or output; parsing options does not open the file."""

    name = "file"
    #: The kind of path that a shell completes: "file" or "dir".
    completed = "file"

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self.completed)]


class Folder(File):
    """The name of a folder."""

    name, completed = "folder", "dir"


class Name(click.ParamType):  # type: ignore[type-arg]
    """One of several names, which the help lists; the function that receives the name checks it."""

    name = "name"

    def __init__(self, choices: Iterable[str] = ()) -> None:
        self._choices = tuple(choices)

    def choices(self) -> dict[str, str]:
        """Return the names, each with its summary or an empty text."""
        return dict.fromkeys(self._choices, "")

    def text(self) -> str:
        """Return the list of choices for the help."""
        found = self.choices()
        return f"One of {', '.join(found)}." if found else ""

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin with the incomplete word."""
        return [
            CompletionItem(name, help=about or None)
            for name, about in self.choices().items()
            if name.startswith(incomplete)
        ]


class Registered(Name):
    """The name of something that ordhc or a plugin registers, such as a method or a metric."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def choices(self) -> dict[str, str]:
        return {name: spec.summary for name, spec in _specs(self.kind)}


class Settings(click.ParamType):  # type: ignore[type-arg]
    """A setting KEY=VALUE of the method, linkage or other plugin that another option names."""

    name = "key=value"

    def __init__(self, kind: str, option: str, *more: tuple[str, str]) -> None:
        self.options = {kind: option, **dict(more)}

    def text(self) -> str:
        """Return lines of names and the settings that these names share, each with its default."""
        owners: dict[str, list[str]] = {}
        for name, spec in (found for kind in self.options for found in _specs(kind)):
            for key, default in spec.parameters.items():
                if key != "progress":
                    shown = default if isinstance(default, str) else json.dumps(default, default=str)
                    owners.setdefault(key if default is None else f"{key}={shown}", []).append(name)
        lines: dict[str, list[str]] = {}
        for setting, names in owners.items():
            lines.setdefault(", ".join(names), []).append(setting)
        return "\n".join(f"{names}: {', '.join(settings)}" for names, settings in lines.items())

    def shell_complete(
        self, ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the settings that begin with the incomplete word.

        If the other options name methods, linkages or other plugins, only the settings of these are returned.
        """
        chosen = {kind: ctx.params.get(option) or () for kind, option in self.options.items()}
        named = {
            (kind, name)
            for kind, names in chosen.items()
            for name in ([names] if isinstance(names, str) else names)
        }
        found = {
            key: None
            for kind in self.options
            for name, spec in _specs(kind)
            if not named or (kind, name) in named
            for key in spec.parameters
        }
        return [
            CompletionItem(f"{key}=") for key in found if key.startswith(incomplete) and key != "progress"
        ]


def _specs(kind: str) -> list[tuple[str, Any]]:
    from ordhc.plugins import registry

    try:
        return [(name, registry.get(kind, name)) for name in registry.names(kind)]  # type: ignore[call-overload]
    except PluginError:
        # With ORDHC_STRICT=1 a broken plugin is an error; the help must still be shown.
        return []


#: The sections of a help text: for each heading, pairs of an option (or command) and its explanation.
_Tables = dict[str, list[tuple[str, str]]]


class _InSections:
    #: The last sections of a group's help.
    tables: _Tables
    help: str | None
    params: list[click.Parameter]

    def __init__(self, *args: Any, tables: _Tables | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.tables = tables or {}
        for parameter in self.params:
            if isinstance(parameter.type, click.types.StringParamType):
                if (
                    isinstance(parameter, click.Argument)
                    or (parameter.metavar or "").partition("[")[0] in _FILES
                ):
                    parameter.type = File()
                elif parameter.metavar == "FOLDER":
                    parameter.type = Folder()

    def format_help_text(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for paragraph in paragraphs_of(self.help or ""):
            formatter.write("\n")
            for line in _lines(paragraph, formatter.width - 2):
                formatter.write(f"  {line}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        is_whole = bool(ctx.meta.get(_WHOLE))
        sections = dict(sections_of(self, ctx, whole=is_whole))
        if not isinstance(self, click.Group):
            _write(formatter, sections)
            left_out = [] if is_whole else _headings_left_out(self)
            if left_out:
                text = f"More options, shown by --help-all: {'; '.join(left_out)}."
                formatter.write("\n" + "".join(f"{line}\n" for line in _wrapped(text, formatter.width)))
            return
        rows = [(name, summary_of(command)) for name, command in self.commands.items()]
        _write(formatter, {"Commands": rows, **self.more()})
        for title, entries in {**sections, **self.tables}.items():
            _write(formatter, {title: entries})

    def more(self) -> _Tables:
        """Return the sections of a group's help that follow the list of its commands."""
        return {}


class Command(_InSections, click.Command):
    """A command with the options `--config` and, if some of its options are rare, `--help-all`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(
            click.Option(
                ["--config"],
                metavar="FILE",
                type=File(),
                is_eager=True,
                expose_value=False,
                callback=configure,
                help='Take options from a TOML file: method = "adds3-al", or in a table [cluster].',
            )
        )
        if _headings_left_out(self):
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_whole_help,
                    help="Show all options, the rare ones too.",
                )
            )


def _show_whole_help(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[_WHOLE] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def _headings_left_out(command: Any) -> list[str]:
    rare = [parameter for parameter in command.params if getattr(parameter, "is_rare", False)]
    return list(dict.fromkeys(parameter.section for parameter in rare))


class Group(_InSections, click.Group):
    """A group of commands, in the order in which they were added."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)


def sections_of(
    command: Any, ctx: click.Context, *, whole: bool = True
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the sections of a command's help: the heading, and pairs of an option and its explanation.

    The section `OPTIONS` comes last. If `whole` is False and the command has sections of rare options,
    these sections and all lists of settings are left out.
    """
    is_brief = not whole and bool(_headings_left_out(command))
    choosers = Name if is_brief else Name | Settings
    found: _Tables = {}
    for parameter in command.get_params(ctx):
        if is_brief and getattr(parameter, "is_rare", False):
            continue
        record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
        if record is not None:
            term, text = record
            choices = parameter.type.text() if isinstance(parameter.type, choosers) else ""
            title = getattr(parameter, "section", OPTIONS)
            found.setdefault(title, []).append((term, "\n".join(filter(None, (text, choices)))))
    last = found.pop(OPTIONS, [])
    yield from found.items()
    if last:
        yield OPTIONS, last


def summary_of(command: click.Command) -> str:
    first = next(iter(paragraphs_of(command.short_help or command.help or "")), [""])
    return re.split(r"\.(?:\s|$)", first[0])[0] + "."


def paragraphs_of(text: str) -> list[list[str]]:
    """Return the paragraphs of a help text: each one long line, or the lines of a preformatted block."""
    found = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        lines = paragraph.split("\n")
        found.append(lines[1:] if lines[0] == "\b" else [" ".join(lines)])
    return found


def _lines(paragraph: list[str], width: int) -> list[str]:
    if len(paragraph) == 1:
        return _wrapped(paragraph[0], width)
    return [part for line in paragraph for part in continued(line, width)]


def _wrapped(text: str, width: int) -> list[str]:
    return [
        part
        for line in text.split("\n")
        for part in textwrap.wrap(line, max(width, 20), break_long_words=False, break_on_hyphens=False)
    ]


def continued(line: str, width: int) -> list[str]:
    """Return an example command as lines of limited width; options stay with their values."""
    if len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip())
    pieces = re.findall(r"--?[\w-]+(?: (?!-)\S+)?|> \S+|\S+", line)
    found, now = [], " " * indent + pieces[0]
    for piece in pieces[1:]:
        if len(now) + 1 + len(piece) + 2 > width:
            found.append(f"{now} \\")
            now = " " * (indent + 4) + piece
        else:
            now += f" {piece}"
    return [*found, now]


def _write(formatter: click.HelpFormatter, sections: _Tables) -> None:
    widest = min(26, formatter.width // 3)
    column = max(len(term) for rows in sections.values() for term, _ in rows if len(term) <= widest)
    for title, rows in sections.items():
        formatter.write(f"\n{_styled(f'{title}:', bold=True)}\n")
        for term, text in rows:
            lines = _wrapped(text, formatter.width - column - 4)
            if len(term) + 2 > formatter.width:
                before, bracket, choices = term.partition(" [")
                formatter.write(f"  {_styled(before, fg='cyan')}\n")
                term = f"  {bracket.strip()}{choices}"
            formatter.write(f"  {_styled(term, fg='cyan')}")
            if lines and len(term) <= column:
                formatter.write(f"{'':{column - len(term) + 2}}{lines.pop(0)}")
            formatter.write("\n")
            for line in lines:
                formatter.write(f"{'':{column + 4}}{line}\n")


def _styled(text: str, **style: Any) -> str:
    return text if os.environ.get("NO_COLOR") else click.style(text, **style)
