"""Define the command group `ordhc`; commands of plugins are imported only when they are run."""

import click
from click.shell_completion import CompletionItem

from ordhc.cli.help import Group, summary_of
from ordhc.errors import InputError, PluginError


class Root(Group):
    """The group of all commands. A plugin's command whose name is taken is run as `plugin:name`."""

    def plugin_commands(self) -> dict[str, str]:
        from ordhc.plugins.registry import list_plugins

        try:
            rows = [row for row in list_plugins() if row.kind == "command"]
        except PluginError:
            # With ORDHC_STRICT=1 a broken plugin is an error; the help must still be shown.
            return {}
        found = {}
        for row in rows:
            is_free = row.status == "ok" and row.name not in self.commands
            name = row.name if is_free else f"{row.plugin}:{row.name}"
            found[name] = f"{row.summary[:1].upper()}{row.summary[1:].rstrip('.')}."
        return found

    def more(self) -> dict[str, list[tuple[str, str]]]:
        found = self.plugin_commands()
        return {"Commands of plugins": list(found.items())} if found else {}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name, or None; a plugin's command is imported now."""
        found = super().get_command(ctx, cmd_name)
        if found is not None or cmd_name.startswith("-"):
            return found
        from ordhc.plugins import registry

        rows = [row for row in registry.list_plugins() if row.kind == "command"]
        if not any(cmd_name in (row.name, f"{row.plugin}:{row.name}") for row in rows):
            return None
        return _made(cmd_name)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands and options that begin with the incomplete word, without importing plugins."""
        own = {name: summary_of(command) for name, command in self.commands.items()}
        found = [
            CompletionItem(name, help=about)
            for name, about in {**own, **self.plugin_commands()}.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def _made(name: str) -> click.Command:
    from ordhc.plugins import registry

    spec = registry.get("command", name)
    try:
        command = spec.make()
    except (InputError, PluginError, KeyboardInterrupt):
        raise
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        raise PluginError(f"the command {name!r} of a plugin cannot be made: {text}") from error
    if not isinstance(command, click.Command):
        raise PluginError(f"the command {name!r}: make returned {command!r}, which is not a click command")
    return command
