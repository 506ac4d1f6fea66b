"""Goes through tables of mistakes: what is said, where, and how a command ends."""

import re
import shlex
import warnings

import pytest

from ordhc.errors import InputError, OrdhcWarning
from support.mistakes.files import contents
from support.processes import run

LONGEST = 700


def write_files(folder):
    """Write all files into a folder, in which there is another folder."""
    (folder / "folder").mkdir()
    for name, content in contents().items():
        (folder / name).write_bytes(content)
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def check_message(message, says):
    """One line that can be read, that says what it must."""
    assert re.search(says, message), f"{message!r} does not say {says!r}"
    assert message.isprintable()
    assert len(message) <= LONGEST


def refused(capsys, line, says):
    """A command that ends with code 2 and one line that says why."""
    code, out, err = run(capsys, *shlex.split(line))
    assert (code, out) == (2, ""), err or out
    assert "Traceback" not in err
    told = err.strip().split("\n")
    assert told[-1].startswith("ordhc: ")
    check_message(told[-1], says)


def warned(capsys, line, says):
    """A command that does what it can, and says what is odd."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, out, err = run(capsys, *shlex.split(line))
    assert code == 0, err
    assert out
    assert "Traceback" not in err
    told = [each for each in err.strip().split("\n") if each.startswith("ordhc: warning: ")]
    assert told
    check_message(" | ".join(told), says)


def called_wrongly(call, says):
    """A call that raises an InputError, or FileNotFoundError, and nothing else."""
    with pytest.raises((InputError, FileNotFoundError)) as caught:
        call()
    check_message(str(caught.value), says)


def called_oddly(call, says):
    """A call that warns, and gives something."""
    with pytest.warns(OrdhcWarning) as caught:
        call()
    check_message(" | ".join(str(each.message) for each in caught), says)
