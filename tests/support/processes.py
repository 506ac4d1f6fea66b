"""Fresh interpreters, and the command line in this one."""

import contextlib
import io
import os
import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest

from ordhc.cli import main

TESTS = Path(__file__).parents[1]


def printed(code, *arguments, timeout=300, **environment):
    """What a program prints that a fresh interpreter runs; it may import `support`."""
    path = os.pathsep.join(part for part in (str(TESTS), os.environ.get("PYTHONPATH")) if part)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": path, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def command_line(*arguments, **options):
    """The command line in a process of its own."""
    line = [sys.executable, "-m", "ordhc", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, **options)


def run(capsys, *arguments):
    """What the command line does: its exit code, what it prints, what it says of errors."""
    code = _ended(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def command_here(*arguments):
    """The command line in this process, with the results of `command_line`: starting one takes a second."""
    # Text and bytes can be written, as to a terminal.
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _ended(arguments)
    told = [each.buffer.getvalue().decode() for each in (out, err)]
    return subprocess.CompletedProcess(arguments, code, *told)


def from_standard_input(monkeypatch, text):
    """Let commands in this process read a text from standard input."""
    monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(text.encode()), closed=False))


def _ended(arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        show = warnings.showwarning
        try:
            with pytest.raises(SystemExit) as stop:
                main([str(argument) for argument in arguments])
        finally:
            warnings.showwarning = show
    return stop.value.code
