"""Ask for completions as shells do, by click's protocol."""

import os
from unittest import mock

from support.processes import command_here, command_line


def completed(shell, *words, **environment):
    """Return the completions of the last word, as (type, value); `environment` needs another process."""
    if shell == "fish":
        asked = {"COMP_WORDS": " ".join(["ordhc", *words[:-1], words[-1]]), "COMP_CWORD": words[-1]}
    else:
        asked = {"COMP_WORDS": " ".join(["ordhc", *words]), "COMP_CWORD": str(len(words))}
    env = {**os.environ, **asked, "_ORDHC_COMPLETE": f"{shell}_complete", **environment}
    if environment:
        done = command_line(env=env)
    else:
        with mock.patch.dict(os.environ, env):
            done = command_here()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.rstrip("\n").split("\n")
    if shell == "bash":
        return [tuple(line.split(",", 1)) for line in lines if line]
    if shell == "fish":
        # A version of click has descriptions in lines of their own, another behind a tab.
        parts = [line.split("\t")[0].split(",", 1) for line in lines if "," in line]
        return [tuple(part) for part in parts if part[0] in ("plain", "file", "dir")]
    return [tuple(lines[at : at + 2]) for at in range(0, len(lines) - 2, 3)]


def names(shell, *words, **environment):
    """Return the completions of the last word, without their types."""
    return [value for _, value in completed(shell, *words, **environment)]
