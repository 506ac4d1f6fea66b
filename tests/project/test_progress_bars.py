"""`progress=True`: a bar in terminals and notebooks, nothing elsewhere, and always put away again."""

import asyncio
import inspect
import os
import re
import signal
import subprocess
import sys
import types
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import ordhc
from ordhc import _progress
from ordhc.errors import InputError, OrdhcWarning
from support.modules import public_functions
from support.processes import printed

T, LABELS = ordhc.datasets.planted(2000, levels=2, leaves_per_cluster=8, seed=1)
TREE = ordhc.cluster(T, method="adds3-al+spr")

#: They hand it on to what shows it.
HANDED_ON = {"read_answers", "fit", "fit_predict", "linkage"}


def functions():
    found = public_functions() | {
        f"OrdinalClustering.{key}": getattr(ordhc.OrdinalClustering, key) for key in ("fit", "fit_predict")
    }
    return {
        name: thing
        for name, thing in found.items()
        if "progress" in inspect.signature(thing).parameters and thing.__module__ != "ordhc._progress"
    }


FUNCTIONS = functions()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_whatever_takes_progress_shows_it(name):
    function = FUNCTIONS[name]
    progress = inspect.signature(function).parameters["progress"]
    assert progress.kind is progress.KEYWORD_ONLY
    assert progress.annotation in (ordhc.progress.Progress | bool | None, "Progress | bool | None")
    if name.rpartition(".")[2] not in HANDED_ON:
        # The arguments that are missing would be a TypeError.
        with pytest.raises(InputError, match="progress = 3 must be True, False or"):
            asyncio.run(function(progress=3)) if name == "learn_async" else function(progress=3)


def test_linkage_hands_it_on(bars):
    with pytest.raises(InputError, match="progress = 3 must be True, False or"):
        ordhc.linkage([1.0, 2.0, 3.0], progress=3, dissimilarity=True)
    ordhc.linkage([1.0, 2.0, 3.0], progress=True, dissimilarity=True)
    assert [what for what, _ in bars] == ["clustering"]
    assert bars[0][1][-2:] == [1, "closed"]


def test_many_functions_take_progress():
    assert {"cluster", "bootstrap", "select", "learn", "linkage", "score", "read_tree"} <= set(FUNCTIONS)
    assert {"Session.add_answers", "Dendrogram.from_newick", "OrdinalClustering.fit"} <= set(FUNCTIONS)


@pytest.fixture
def bars(monkeypatch):
    """What bars there were, and what they were told."""
    seen = []

    @contextmanager
    def recorded(what):
        told = []
        seen.append((what, told))
        yield told.append
        told.append("closed")

    monkeypatch.setattr(_progress, "progress_bar", recorded)
    return seen


def test_there_is_one_bar_whatever_is_called_within(bars):
    for work, what in (
        (lambda p: ordhc.cluster(T, method="adds3-al+spr", progress=p), "clustering"),
        (lambda p: ordhc.bootstrap(T, "adds3-al", n_resamples=2, progress=p), "resampling"),
        (lambda p: ordhc.score(TREE, T, "satisfied", progress=p), "scoring"),
        (lambda p: ordhc.learn(ordhc.oracles.from_tree(TREE), progress=p), "asking"),
        (lambda p: ordhc.OrdinalClustering("adds3-al", 2).fit_predict(T.rows, progress=p), "clustering"),
    ):
        bars.clear()
        work(True)
        ((name, told),) = bars
        assert name == what
        assert told[-2:] == [1, "closed"]
        bars.clear()
        work(False)
        work(None)
        assert not bars


def test_a_coroutine_shows_its_progress(bars):
    tree = asyncio.run(ordhc.learn_async(ordhc.oracles.from_tree(TREE), progress=True))
    assert tree.n_leaves == TREE.n_leaves
    ((name, told),) = bars
    assert (name, told[-1]) == ("asking", "closed")
    assert inspect.iscoroutinefunction(ordhc.learn_async)


@pytest.mark.parametrize("odd", [3, "yes", np.True_, 1.0, ()])
def test_progress_is_true_false_none_or_callable(odd):
    for work in (
        lambda: ordhc.cluster(T, progress=odd),
        lambda: ordhc.read_answers("nowhere.csv", progress=odd),
        lambda: ordhc.OrdinalClustering().fit(T.rows, progress=odd),
    ):
        with pytest.raises(InputError, match="must be True, False or a callable"):
            work()


CODE = """
import sys, time
from ordhc import _progress
from ordhc.progress import shows_progress

@shows_progress("a long job [100%] {{x}}")
def job(*, progress=None):
    progress(0.25)
    time.sleep(0.3)
    {body}

try:
    job(progress=True)
except BaseException as error:
    print(f"<{{type(error).__name__}}>")
else:
    print("<fine>")
"""


def on_a_terminal(body, *, interrupt=False, **environment):
    """What a terminal gets to see of a program, and its return code."""
    import pty

    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment}
    job = subprocess.Popen(
        [sys.executable, "-c", CODE.format(body=body)], stdin=theirs, stdout=theirs, stderr=theirs, env=env
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            got = os.read(ours, 1 << 16)
        except OSError:
            break
        if not got:
            break
        seen += got
        if interrupt and b"a long job" in seen:
            job.send_signal(signal.SIGINT)
            interrupt = False
    os.close(ours)
    return seen.decode(), job.wait(timeout=60)


SHOWN, HIDDEN = "\x1b[?25h", "\x1b[?25l"


@pytest.mark.parametrize(
    ("body", "end"),
    [("progress(1.0)", "fine"), ("1 / 0", "ZeroDivisionError"), ("sys.exit(3)", "SystemExit")],
)
def test_a_terminal_has_a_bar_that_goes_away(body, end):
    seen, code = on_a_terminal(body)
    assert code == 0
    assert re.search(r"a long job \[100%\] \{x\} .*25%", seen)
    # The cursor is back, and the line is empty, before anything else is said.
    assert seen.rindex(SHOWN) > seen.rindex(HIDDEN)
    assert seen.index(f"<{end}>") > seen.rindex("\x1b[2K")


def test_ctrl_c_puts_the_bar_away():
    seen, code = on_a_terminal("time.sleep(30)", interrupt=True)
    assert code == 0
    assert "<KeyboardInterrupt>" in seen
    assert seen.rindex(SHOWN) > seen.rindex(HIDDEN)


def test_a_dumb_terminal_has_no_bar():
    seen, _ = on_a_terminal("print(progress)", TERM="dumb")
    # The job calls what is None.
    assert seen.split() == ["<TypeError>"]


def test_a_question_at_the_terminal_has_no_bar_over_it():
    body = "with _progress.without_bars(): print('question?')\n    progress(1)"
    seen, _ = on_a_terminal(body)
    assert "<fine>" in seen
    before = seen[: seen.index("question?")]
    after = seen[seen.index("question?") :]
    assert before.rindex(SHOWN) > before.rindex(HIDDEN)
    assert HIDDEN in after
    assert after.rindex(SHOWN) > after.rindex(HIDDEN)


def test_elsewhere_nothing_is_shown(capfd):
    ordhc.cluster(T, "adds3-al", progress=True)
    assert capfd.readouterr() == ("", "")


def test_rich_is_imported_for_bars_only():
    code = """
import ordhc, sys
ordhc.cluster(ordhc.Triplets([(0, 1, 2)]), progress=True)
print(sorted({"rich", "tqdm"} & {*sys.modules}))
"""
    assert printed(code) == "[]\n"


class ZMQInteractiveShell:
    """The shell of a notebook has this name."""


@pytest.fixture
def notebook(monkeypatch):
    """IPython as it is in a notebook; what is displayed."""
    shown = []

    class Handle:
        def update(self, data, raw):
            assert raw
            shown.append(data["text/plain"])

    def display(data, raw, display_id):
        assert raw
        assert display_id
        shown.append(data["text/plain"])
        return Handle()

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return shown


def test_a_notebook_without_tqdm_has_a_line(notebook, monkeypatch, capfd):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with _progress.progress_bar("clustering") as told:
        for share in (0.0, 0.001, 0.5, 0.5, 0.504, 1.0):
            told(share)
    assert notebook == ["clustering   0%", "clustering  50%", "clustering 100%"]
    assert capfd.readouterr() == ("", "")


def test_a_notebook_has_the_bar_of_tqdm(notebook, monkeypatch):
    calls = []

    class Bar:
        def __init__(self, *, total, desc, bar_format):
            self.n = 0.0
            calls.append((total, desc))

        def update(self, more):
            self.n += more

        def __enter__(self):
            return self

        def __exit__(self, *_):
            calls.append(round(self.n, 6))

    auto = types.ModuleType("tqdm.auto")
    auto.tqdm = Bar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
    ordhc.cluster(T, "adds3-al", progress=True)

    @_progress.shows_progress("half")
    def half(*, progress=None):
        progress(0.5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half(progress=True)
    assert calls == [(1.0, "clustering"), 1.0, (1.0, "half"), 0.5]
    assert notebook == []


def test_the_bar_of_the_real_tqdm(notebook, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with _progress.progress_bar("clustering") as told:
            told(0.5)
            told(1.0)
    seen = capfd.readouterr().err
    assert notebook or "clustering 100%" in seen


def test_warnings_point_at_the_line_that_called():
    for progress in (None, lambda _: None):
        with pytest.warns(OrdhcWarning) as seen:
            ordhc.cluster(ordhc.Triplets([(0, 1, 2)], n_leaves=5), progress=progress)
        assert [warning.filename for warning in seen] == [__file__]
