"""`ordhc plugins`: list plugins, and write the package of a new plugin."""

import shlex
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ordhc.cli.help import Command, Group
from ordhc.cli.output import emit_json, json_option, say
from ordhc.errors import OrdhcWarning

if TYPE_CHECKING:
    from ordhc.plugins.registry import Registered


@click.group(cls=Group, invoke_without_command=True)
@json_option
@click.pass_context
def plugins(ctx: click.Context, as_json: bool) -> None:
    """List all linkages, similarities, methods, oracles, metrics, plugins' commands, and failed plugins.

    \b
    Examples:
      ordhc plugins --json
      ordhc plugins new ordhc-mixed --kind linkage
    """
    from ordhc.plugins.registry import KINDS, list_plugins

    if ctx.invoked_subcommand is not None:
        if as_json:
            raise click.UsageError(f"put --json after {ctx.invoked_subcommand}")
        return
    with warnings.catch_warnings():
        # Hide the warnings about plugins that failed, because the table lists these plugins.
        warnings.simplefilter("ignore", OrdhcWarning)
        rows = [_with_clash(row, ctx) for row in list_plugins()]
    if as_json:
        emit_json({"plugins": [row.to_dict() for row in rows]})
        return
    width = max(len(row.name) for row in rows) + 2
    for kind in KINDS:
        own = [row for row in rows if row.kind == kind]
        if own:
            say(f"{kind}:")
        for row in own:
            origin = "" if row.plugin == "ordhc" else f"  [{row.plugin} {row.version}]"
            note = f"  ({row.status}: {row.error})" if row.status != "ok" else ""
            say(f"  {row.name:<{width}}{row.summary}{origin}{note}")
    for row in rows:
        if not row.kind:
            error = f": {row.error}" if row.error else ""
            say(f"{row.status}: {row.plugin} {row.version} ({row.entry_point}){error}")


def _with_clash(row: "Registered", ctx: click.Context) -> "Registered":
    own = getattr(ctx.find_root().command, "commands", {})
    if (row.kind, row.status) == ("command", "ok") and row.name in own:
        return replace(row, status="clash", error=f"also in ordhc: use {row.plugin}:{row.name}")
    return row


@plugins.command(cls=Command, no_args_is_help=True)
@click.argument("name")
@click.argument("folder", required=False)
@click.option(
    "--kind",
    required=True,
    type=click.Choice(["linkage", "similarity", "oracle", "metric", "method"]),
    help="The kind of the plugin.",
)
@click.option(
    "--license",
    "licence",
    type=click.Choice(["MIT", "BSD-3-Clause", "Apache-2.0", "none"]),
    default="MIT",
    show_default=True,
    help="The licence of the package.",
)
@click.option("--author", metavar="NAME", help="The author; by default 'The NAME developers'.")
@json_option
def new(name: str, folder: str | None, kind: str, licence: str, author: str | None, as_json: bool) -> None:
    """Write a package NAME with a plugin and its tests into FOLDER (by default a folder called NAME).

    The plugin is an example that works and passes ordhc's conformance checks; replace its computation by
    yours. Users type NAME without "ordhc-" at its beginning.

    \b
    Examples:
      ordhc plugins new ordhc-mixed --kind linkage
      ordhc plugins new letters plugins/letters --kind oracle --author "Ann Lee"
    """
    from ordhc.cli.scaffold import new_plugin

    made = new_plugin(name, kind, folder, licence=licence, author=author)
    if as_json:
        emit_json(made)
        return
    for path in made["files"]:
        say(f"wrote    {made['folder']}/{path}")
    where = shlex.quote(made["folder"])
    say(f"next: cd {where} && python -m pip install -e '.[test]' && python -m pytest")
