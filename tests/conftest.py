"""Fixtures that several files of tests use."""

import os
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def memory_path(tmp_path):
    """A folder in memory where the system has such: thousands of commits wait for no disk."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)
