"""Folders for tests."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_memory(otherwise: Path) -> Iterator[Path]:
    """A folder in memory where the system has such: thousands of commits wait for no disk."""
    if not os.access("/dev/shm", os.W_OK):
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)
