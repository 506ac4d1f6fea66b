"""What commands are made with, those of plugins too: `ordhc.specs.CommandSpec` brings one.

Commands and groups whose help is written in sections, `key=value` options, progress, lines for people, and
the one JSON document of `--json`. Import it in what makes the command, as it imports the command line.
"""

from ordhc.cli.help import Command, Group, Name, section
from ordhc.cli.output import emit_json, progress_bar, say
from ordhc.cli.reading import parameters_of

__all__ = ["Command", "Group", "Name", "emit_json", "parameters_of", "progress_bar", "say", "section"]


def __dir__() -> list[str]:
    return sorted(__all__)
