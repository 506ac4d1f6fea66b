"""`ordhc plugins`: what is registered."""

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ordhc.cli.help import Command

if TYPE_CHECKING:
    from ordhc.plugins.registry import Registered


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.pass_context
def plugins(ctx: click.Context, as_json: bool) -> None:
    """List all linkages, similarities, methods, oracles, metrics, plugins' commands, plugins that failed.

    \b
    Example:
      ordhc plugins --json
    """
    import warnings

    from ordhc.cli.output import emit_json
    from ordhc.errors import OrdhcWarning
    from ordhc.plugins.registry import KINDS, list_plugins

    with warnings.catch_warnings():
        # The table says it.
        warnings.simplefilter("ignore", OrdhcWarning)
        rows = [_with_clash(row, ctx) for row in list_plugins()]
    if as_json:
        emit_json({"plugins": [row.to_dict() for row in rows]})
        return
    width = max(len(row.name) for row in rows) + 2
    for kind in [kind for kind in KINDS if any(row.kind == kind for row in rows)]:
        click.echo(f"{kind}:")
        for row in rows:
            if row.kind == kind:
                origin = "" if row.plugin == "ordhc" else f"  [{row.plugin} {row.version}]"
                note = f"  ({row.status}: {row.error})" if row.status != "ok" else ""
                click.echo(f"  {row.name:<{width}}{row.summary}{origin}{note}")
    for row in rows:
        if not row.kind:
            error = f": {row.error}" if row.error else ""
            click.echo(f"{row.status}: {row.plugin} {row.version} ({row.entry_point}){error}")


def _with_clash(row: "Registered", ctx: click.Context) -> "Registered":
    """A row; a command that ordhc has itself is run by its full name."""
    own = getattr(ctx.find_root().command, "commands", {})
    if (row.kind, row.status) == ("command", "ok") and row.name in own:
        return replace(row, status="clash", error=f"also in ordhc: use {row.plugin}:{row.name}")
    return row
