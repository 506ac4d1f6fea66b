"""`ordhc learn` in real terminals: several at once, and such that show pictures."""

import csv
import os
import re
import select
import struct
import sys
import time
from pathlib import Path

import pytest

import ordhc
from ordhc import oracles
from ordhc.errors import InputError
from ordhc.io.items import read_items
from support.random_data import random_tree
from support.trees import same

fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))
PIL = pytest.importorskip("PIL.Image")

#: What terminals say when they are asked what they are; the first one shows no pictures.
PLAIN, SIXEL = b"\x1b[?62;22c", b"\x1b[?62;4;22c"
KITTY = b"\x1b_Gi=%d;OK\x1b\\"


class Terminal:
    """A process at a terminal of its own, and somebody who reads what it shows and answers."""

    def __init__(self, folder, *args, attributes=PLAIN, is_kitty=False):
        self._attributes, self._is_kitty = attributes, is_kitty
        self.shown = b""
        self._read = 0
        self.pid, self._file = pty.fork()
        if not self.pid:
            os.chdir(folder)
            os.environ.update(TERM="xterm-256color", COLUMNS="100", LINES="50", PYTHONWARNINGS="error")
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 1000, 1000))
            os.execv(sys.executable, [sys.executable, "-m", "ordhc", *args])

    def wait(self, seconds=0.05):
        """Take in what is shown next; False when the process has ended."""
        ready, _, _ = select.select([self._file], [], [], seconds)
        if not ready:
            return True
        try:
            more = os.read(self._file, 1 << 16)
        except OSError:
            return False
        self.shown += more
        if b"\x1b[c" in more:
            self.write(self._attributes)
        for number in re.findall(rb"\x1b_Gi=(\d+),[^;]*a=q", more):
            if self._is_kitty:
                self.write(KITTY % int(number))
        if b"\x1b[16t" in more:
            self.write(b"\x1b[6;20;10t")
        return bool(more)

    def write(self, data):
        os.write(self._file, data)

    def question(self):
        """The texts of a question that is not answered yet, or None."""
        new = self.shown[self._read :]
        if b"odd one out: " not in new.split(b"questions left")[-1]:
            return None
        self._read = len(self.shown)
        # Without colours, pictures and what is said to the terminal besides.
        codes = rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[P_].*?\x1b\\|\x1b[78]"
        text = re.sub(codes, b"", new.split(b"questions left")[-1], flags=re.DOTALL).decode(
            "utf-8", "replace"
        )
        return re.findall(r"^  [123]  (.+?)\r?$", text, re.MULTILINE)

    def until(self, is_so, seconds=60):
        """Wait until something is so."""
        deadline = time.monotonic() + seconds
        while not is_so():
            assert self.wait() or is_so(), self.shown
            assert time.monotonic() < deadline, self.shown

    def end(self, seconds=60):
        """Wait for the end; what the process says of itself."""
        deadline = time.monotonic() + seconds
        while self.wait():
            assert time.monotonic() < deadline, self.shown
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self._file)
        return status


def test_three_terminals_at_once(tmp_path):
    truth = random_tree(12, 5)
    oracle = oracles.from_tree(truth)
    names = [f"thing {k}" for k in range(12)]
    (tmp_path / "items.txt").write_text("\n".join(names))
    with ordhc.Session(tmp_path / "a", names, fill={"random": 1}):
        pass
    crowd = {
        who: Terminal(tmp_path, "learn", "a", "--who", who, "--export", f"{who}.csv", "-o", f"{who}.nwk")
        for who in ("ann", "bob", "zoë")
    }
    n = dict.fromkeys(crowd, 0)
    going, begun = dict(crowd), {}
    deadline = time.monotonic() + 240
    while going:
        assert time.monotonic() < deadline, {who: one.shown[-500:] for who, one in going.items()}
        for who, one in list(going.items()):
            if not one.wait(0.01):
                del going[who]
                continue
            if who not in begun and (texts := one.question()) is not None:
                begun[who] = texts
            # Nobody answers before all are asked.
            if len(begun) == len(crowd) and (texts := begun[who] or one.question()) is not None:
                begun[who] = None
                assert len(texts) == 3
                row = [names.index(text) for text in texts]
                one.write(f"{int(oracle([row])[0]) + 1}\r".encode())
                n[who] += 1
    for who, one in crowd.items():
        assert one.end() == 0, one.shown
        assert b"No questions are left." in one.shown
        assert n[who] > 0
    with ordhc.Session(tmp_path / "a") as session:
        assert session.done
        assert same(session.tree(), truth)
        assert session.status.n_answered == sum(n.values())
        assert {who: person.n_answers for who, person in session.people().items()} == n
        assert (session.table()["seconds"] >= 0).all()
    with (tmp_path / "zoë.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {"person_name", "at", "seconds", "sampler", "position", "trial", "question", "shown_1_name"}
    assert columns <= rows[0].keys() | {f"{name}_name" for name in rows[0]}
    assert {row["sampler"] for row in rows} <= {"learner", "random"}
    assert all(float(row["seconds"]) >= 0 and "T" in row["at"] for row in rows)
    written = ordhc.read_tree(tmp_path / "ann.nwk")
    assert sorted(written.names) == sorted(names)
    with ordhc.Session(tmp_path / "a") as session:
        assert ordhc.metrics.robinson_foulds(written, session.tree()) == 0


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, colour in (("cat 2", "red"), ("cat 10", "green"), ("dog", "blue")):
        PIL.new("RGB", (40, 20), colour).save(folder / f"{name}.png")
    return folder


KINDS = {
    "kitty": ({"is_kitty": True}, b"\x1b_G"),
    "sixel": ({"attributes": SIXEL}, b"\x1bP"),
    "plain": ({}, None),
}


@pytest.mark.parametrize(
    ("kind", "items"),
    [("kitty", "pictures"), ("kitty", "items.csv"), ("sixel", "items.csv"), ("plain", "pictures")],
)
def test_pictures_where_the_terminal_shows_some(tmp_path, pictures, kind, items):
    pytest.importorskip("textual_image")
    settings, graphics = KINDS[kind]
    (tmp_path / "items.csv").write_text(
        "name,picture\na,pictures/cat 2.png\nb,pictures/dog.png\nc,pictures/broken.png\n"
    )
    if items == "items.csv":
        (pictures / "broken.png").write_text("no picture")
    one = Terminal(tmp_path, "learn", f"{items}.ordhc", "--items", items, **settings)
    found = []
    one.until(lambda: found.extend(one.question() or ()) or found)
    assert set(found) == ({"cat 2", "cat 10", "dog"} if items == "pictures" else {"a", "b", "c"})
    one.write(b"q\r")
    assert one.end() == 0
    n_shown = one.shown.count(b"a=p,") if kind == "kitty" else one.shown.count(b"\x1bP")
    if graphics is None:
        assert b"shows no pictures" in one.shown
        assert b"\x1bP" not in one.shown
    else:
        assert n_shown == (3 if items == "pictures" else 2)
    if items == "items.csv":
        assert b"broken.png" in one.shown


def test_items_of_folders_and_tables(tmp_path, pictures):
    names, files = read_items(pictures)
    assert names == ("cat 2", "cat 10", "dog")
    assert files["dog"] == pictures / "dog.png"
    table = tmp_path / "items.tsv"
    table.write_text("id\tlabel\timage\n1\tx\tpictures/dog.png\n0\ty\t\n")
    assert read_items(table) == (("y", "x"), {"x": pictures / "dog.png"})
    assert read_items(f"{table}:label")[1] == {"x": pictures / "dog.png"}
    (tmp_path / "plain.txt").write_text("x\ny\n")
    assert read_items(tmp_path / "plain.txt") == (("x", "y"), {})
    table.write_text("name\tpicture\nx\tpictures/dog.png\ny\tpictures/cow.png\n")
    with pytest.raises(InputError, match="items.tsv:3: the picture .*cow.png' of 'y' does not exist"):
        read_items(table)
    (pictures / "dog.JPG").touch()
    with pytest.raises(InputError, match="two pictures have the same name: dog.(png, dog.JPG|JPG, dog.png)"):
        read_items(pictures)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="the folder has no pictures"):
        read_items(tmp_path / "empty")


def test_pictures_need_a_package(tmp_path, pictures):
    (tmp_path / "textual_image").mkdir()
    (tmp_path / "textual_image" / "__init__.py").write_text("raise ImportError")
    one = Terminal(tmp_path, "learn", "a", "--items", "pictures")
    one.until(lambda: one.question() is not None)
    assert b"pip install 'ordhc[pictures]'" in one.shown
    one.write(b"q\r")
    assert one.end() == 0
    assert not Path(tmp_path / "pictures.ordhc").exists()
