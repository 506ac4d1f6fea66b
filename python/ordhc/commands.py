"""The parts that commands are made of, those of plugins too: `ordhc.specs.CommandSpec` registers one.

Commands and groups with help in sections and the option `--config`, options that commands share, `key=value`
options, progress, lines for people, and the one JSON document of `--json`. Import this module inside the
function that makes the command, because it imports the whole command line.
"""

from ordhc.cli.help import Command, Group, Name, section
from ordhc.cli.output import emit_json, json_option, progress_bar, quiet_option, say
from ordhc.cli.reading import parameters_of

__all__ = [
    "Command",
    "Group",
    "Name",
    "emit_json",
    "json_option",
    "parameters_of",
    "progress_bar",
    "quiet_option",
    "say",
    "section",
]


def __dir__() -> list[str]:
    return sorted(__all__)
