"""`ordhc plugins`: what is registered."""

import click

from ordhc.cli.help import Command


@click.command(cls=Command)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def plugins(as_json: bool) -> None:
    """List all linkages, similarities, methods, oracles and metrics, and plugins that failed.

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
        rows = list_plugins()
    if as_json:
        emit_json({"plugins": [row.to_dict() for row in rows]})
        return
    width = max(len(row.name) for row in rows) + 2
    for kind in KINDS:
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
