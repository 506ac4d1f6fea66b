"""Building blocks for commands of plugins. `ordhc.specs.CommandSpec` registers a command.

* `Command`, `Group`, `Name`, `section`: commands and groups with help in sections and the option `--config`
* `json_option`, `quiet_option`: options that commands share
* `parameters_of`: options of the form ``key=value``
* `progress_bar`, `say`: progress and messages for people
* `emit_json`: the JSON document of `--json`

Import this module inside the function that makes the command, because it imports the whole command line.
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
__dir__ = __all__.copy
