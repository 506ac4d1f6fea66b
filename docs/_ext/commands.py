"""A page for each command, made from its own help: what `ordhc COMMAND --help` says, in sections."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from ordhc.cli import group
from ordhc.cli.help import continued, paragraphs_of, sections_of, summary_of

FOLDER = "reference/commands"
#: Characters in a line of an example.
WIDTH = 92


def top_commands() -> dict[str, click.Command]:
    """All commands by name, those of the repository's plugins last."""
    ctx = click.Context(group, info_name="ordhc")
    names = [*group.commands, *(name for name in group.list_commands(ctx) if name not in group.commands)]
    found = {name: group.get_command(ctx, name) for name in dict.fromkeys([*names, *PLUGINS])}
    missing = [name for name, command in found.items() if command is None]
    if missing:
        raise LookupError(f"no command {', '.join(missing)}: install the plugins of the repository")
    return found  # type: ignore[return-value]


#: Commands that packages of the repository bring.
PLUGINS = ("collect", "judge")


def write_pages(app: Sphinx) -> None:
    """Write a stub for each command; the directive below fills it."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    wanted = {f"{name}.rst": page(name) for name in top_commands()}
    for old in set(folder.glob("*.rst")) - {folder / name for name in wanted}:
        old.unlink()
    for name, text in wanted.items():
        file = folder / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def page(name: str) -> str:
    """Return the stub of a command."""
    title = f"ordhc {name}"
    return f"{title}\n{'=' * len(title)}\n\n.. ordhc-command:: {name}\n"


class CommandDirective(SphinxDirective):
    """All about a command, and about those in it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the contents of the command's page."""
        name = self.arguments[0]
        return list(self.about(top_commands()[name], click.Context(group, info_name="ordhc"), name))

    def about(self, command: click.Command, parent: click.Context, name: str) -> Iterator[nodes.Node]:
        """Usage, help, options; then a section for each command of a group."""
        ctx = click.Context(command, info_name=name, parent=parent)
        usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
        yield literal(usage)
        for lines in paragraphs_of(command.help or ""):
            if len(lines) > 1 or lines[0].startswith("  "):
                if lines[0].strip().rstrip(":") in ("Example", "Examples"):
                    yield nodes.rubric("", lines.pop(0).strip().rstrip(":"))
                yield literal("\n".join(part for line in lines for part in continued(line.strip(), WIDTH)))
            else:
                yield nodes.paragraph("", lines[0])
        for title, rows in sections_of(command, ctx):
            rows = [row for row in rows if "--help" not in row[0]]
            if rows:
                yield nodes.rubric("", title)
                yield terms(rows)
        if isinstance(command, click.Group):
            for inner in command.list_commands(ctx):
                found = command.get_command(ctx, inner)
                if found is None:
                    continue
                section = nodes.section(ids=[nodes.make_id(f"{name} {inner}")])
                section += nodes.title("", "", nodes.literal("", f"{ctx.command_path} {inner}"))
                section += list(self.about(found, ctx, inner))
                self.state.document.note_explicit_target(section)
                yield section


class CommandsDirective(SphinxDirective):
    """A list of all commands, each with a link and its first sentence."""

    def run(self) -> list[nodes.Node]:
        """Return the list of commands, and the toctree of their pages."""
        rows = "\n".join(
            f"   * - :doc:`ordhc {name} </{FOLDER}/{name}>`\n     - {summary_of(command)}"
            for name, command in top_commands().items()
        )
        pages = "\n".join(f"   ordhc {name} </{FOLDER}/{name}>" for name in top_commands())
        text = f".. list-table::\n   :widths: 25 75\n\n{rows}\n\n.. toctree::\n   :hidden:\n\n{pages}\n"
        return self.parse_text_to_nodes(text)


def literal(text: str) -> nodes.literal_block:
    """Return a block of text as typed."""
    return nodes.literal_block(text, text, language="console" if text.startswith("$") else "text")


def terms(rows: list[tuple[str, str]]) -> nodes.definition_list:
    """Options, each with what there is to say."""
    found = nodes.definition_list(classes=["options"])
    for term, text in rows:
        about = [nodes.paragraph("", line) for line in text.split("\n") if line]
        found += nodes.definition_list_item(
            "", nodes.term("", "", nodes.literal("", term)), nodes.definition("", *about)
        )
    return found


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives, and write the stubs before anything is read."""
    app.add_directive("ordhc-command", CommandDirective)
    app.add_directive("ordhc-commands", CommandsDirective)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
