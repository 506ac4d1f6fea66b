"""Files of every format that there has been are opened by this version; today's is kept for the next one."""

import re
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc.asking.salvage import salvage
from ordhc.asking.schema import FORMAT
from support.sessions import NAMES, ORACLE

DATA = Path(__file__).parent / "data"
#: What the file of format 4 holds, as it was told to the version that has written it.
ROWS = [[4, 6, 1], [4, 6, 0], [6, 4, 0], [2, 6, 0], [6, 2, 0], [6, 4, 0], [6, 4, 1], [0, 3, 5]]
ANSWERS = [2, 2, 2, 1, 0, 2, 2, 0]
WHO = ["ann", "ann", "zoë", "zoë", "ann", "bob", "bob", "old"]
SAMPLERS = ["learner", "learner", "learner", "random", "repeat", "learner", "learner", "import"]


def format_of(path):
    with sqlite3.connect(path) as db:
        return int(db.execute("SELECT value FROM settings WHERE key = 'format'").fetchone()[0])


def test_a_file_of_every_format_is_kept():
    """Who raises FORMAT first makes a file by the version before, and keeps it here."""
    for number in range(1, FORMAT + 1):
        assert format_of(DATA / f"session-{number}.ordhc") == number


@pytest.mark.parametrize("number", range(1, FORMAT + 1))
def test_it_is_opened_brought_up_to_date_and_goes_on(number, tmp_path):
    path = tmp_path / "a.ordhc"
    shutil.copyfile(DATA / f"session-{number}.ordhc", path)
    with ordhc.Session(path) as session:
        before = [list(column) for column in session.answers()]
        assert session.names == tuple(NAMES)
    assert format_of(path) == FORMAT
    with ordhc.Session(path) as session:
        rows, answers, who = session.answers()
        assert np.array_equal(rows, before[0])
        assert (answers.tolist(), who) == (before[1], before[2])
        for _ in range(3):
            asked = session.ask(5, who="eve")
            session.tell(asked.ids, ORACLE(asked.rows), who="eve")
        assert session.n_answered > len(rows) or session.done
        assert session.tree().names == tuple(NAMES)


def test_what_the_fourth_format_holds(tmp_path):
    path = tmp_path / "a.ordhc"
    shutil.copyfile(DATA / "session-4.ordhc", path)
    damaged = bytearray((DATA / "session-4.ordhc").read_bytes())
    damaged[re.search(rb"(?<!g)old", damaged).start()] ^= 1
    (tmp_path / "b.ordhc").write_bytes(damaged)
    with pytest.raises(ordhc.InputError, match="ordhc session salvage"):
        ordhc.Session(tmp_path / "b.ordhc")
    (tmp_path / "b.ordhc").write_bytes(damaged)
    assert salvage(tmp_path / "b.ordhc", tmp_path / "c.ordhc").n_answers == 7
    for name, n in (("a", 8), ("c", 7)):
        with ordhc.Session(tmp_path / f"{name}.ordhc") as session:
            rows, answers, who = session.answers()
            assert (rows.tolist(), answers.tolist(), who) == (ROWS[:n], ANSWERS[:n], WHO[:n])
            table = session.table()
            assert table["sampler"].tolist() == SAMPLERS[:n]
            assert table["question"].tolist() == [4, 5, 8, 10, 14, 19, 20, 0][:n]
            np.testing.assert_array_equal(table["seconds"], [*[1.25] * 7, np.nan][:n])
            np.testing.assert_array_equal(table["p"], [np.nan, np.nan, 0.75, 0.75, *[np.nan] * 4][:n])
            assert {key: session.settings[key] for key in ("p", "seed")} == {"p": 0.9, "seed": 4}
            assert set(session.settings["fill"]) == {"random", "repeat", "gold"}
    with ordhc.Session(path) as session:
        # Two questions were open when the file was closed; who has them may still answer.
        assert session.tell([27, 28], ORACLE([[2, 4, 6], [4, 6, 5]]), who="bob") == ["taken", "taken"]
        assert session.n_answered == 10
        assert session.undo("bob") is not None
