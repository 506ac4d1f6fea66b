"""Fixtures of the tests of commands."""

import pytest

ANSWERS = "anchor,near,far\ncat,dog,car\ndog,cat,bus\ncar,bus,cat\n"


@pytest.fixture
def answers(tmp_path, monkeypatch):
    """The current folder, with answers about four things in a.csv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(ANSWERS)
    return tmp_path
