"""Read options of commands from a TOML file (`--config`).

Keys are the names of options on the command line. Values outside of tables apply to every command that has
the option. Values in a table apply to the command with the name of the table. Options on the command line
override those of the file.
"""

import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import click

from ordhc._checks import nearest, quoted, unknown_name
from ordhc.errors import InputError
from ordhc.io.files import read_bytes

#: Options that a file of settings cannot contain.
_NEVER = ("config", "help", "help-all")


def configure(ctx: click.Context, _parameter: click.Parameter, path: str | None) -> None:
    """Make the settings in a file the defaults of a command's options."""
    if path is None:
        return
    own = _options_of(ctx.command)
    found = {}
    for key, value in _settings_for(ctx, path):
        if (option := own.get(key)) is not None:
            found[option.name] = _checked(ctx, option, key, value, path)
    ctx.default_map = {**(ctx.default_map or {}), **found}


def _settings_for(ctx: click.Context, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the settings in a file for the command of `ctx`; settings that override others come later."""
    words = ctx.command_path.split()[1:]
    table: Mapping[str, Any] = _read(path)
    command = ctx.find_root().command
    for depth in range(len(words) + 1):
        known = _every_option(command)
        where = f"[{'.'.join(words[:depth])}]: " if depth else ""
        inner: Mapping[str, Any] = {}
        for key, value in table.items():
            # `structure` is both a command and an option of `report`. A table belongs to the command.
            if isinstance(value, Mapping) and _is_command(ctx, command, key):
                inner = value if words[depth : depth + 1] == [key] else inner
            elif key in known:
                yield key, value
            elif isinstance(value, Mapping):
                commands = command.list_commands(ctx) if isinstance(command, click.Group) else []
                near = nearest(key, [*commands, *known])
                raise InputError(f"{where}no command or option is called {quoted(key)}{near}", path=path)
            else:
                raise InputError(where + unknown_name(key, list(known)), path=path)
        if depth < len(words) and isinstance(command, click.Group):
            table, command = inner, command.get_command(ctx, words[depth]) or command


def _is_command(ctx: click.Context, group: click.Command, name: str) -> bool:
    return isinstance(group, click.Group) and group.get_command(ctx, name) is not None


def _read(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(read_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}", path=path) from None


def _options_of(command: click.Command) -> dict[str, click.Option]:
    return {
        word.lstrip("-"): option
        for option in command.params
        if isinstance(option, click.Option)
        for word in option.opts
        if word.startswith("--") and word.lstrip("-") not in _NEVER
    }


def _every_option(command: click.Command) -> dict[str, click.Option]:
    found = _options_of(command)
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            found |= _every_option(inner)
    return found


def _checked(ctx: click.Context, option: click.Option, key: str, value: Any, path: str) -> Any:
    if option.is_flag:
        if not isinstance(value, bool):
            raise InputError(f"{key} = {value!r}: must be true or false", path=path)
        return value
    if isinstance(value, Mapping) and option.multiple:
        value = [f"{name}={_text(part)}" for name, part in value.items()]
    listed = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not option.multiple:
        raise InputError(f"{key} is a list, but --{key} takes one value", path=path)
    if any(isinstance(part, list | Mapping) for part in listed):
        raise InputError(f"{key} = {value!r}: must be texts or numbers", path=path)
    texts = [_text(part) for part in listed]
    found = texts if option.multiple else texts[0]
    try:
        option.type_cast_value(ctx, found)
    except click.BadParameter as error:
        raise InputError(f"{key} = {value!r}: {error.message}", path=path) from None
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
