"""Plugins that are broken hurt nobody, and are listed."""

import os
import signal
import sys
import warnings

import pytest

import ordhc
from ordhc._version import ISSUES
from ordhc.errors import InputError, OrdhcWarning, PluginError
from ordhc.plugins import registry
from support.plugins import IMPORTS, S, good, the_row
from support.processes import run

BROKEN = {
    "broken import": ("import no_such_module_at_all\n", "no_such_module_at_all"),
    "syntax": ("def (:\n", "SyntaxError"),
    "exit": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "hook raises": (IMPORTS + "@hookimpl\ndef ordhc_linkages():\n    1 / 0\n", "ZeroDivisionError"),
    "hook exits": (IMPORTS + "@hookimpl\ndef ordhc_metrics():\n    raise SystemExit\n", "SystemExit"),
    "a number": (IMPORTS + "@hookimpl\ndef ordhc_linkages():\n    return 42\n", "42, not a list of specs"),
    "text": (
        IMPORTS + "@hookimpl\ndef ordhc_linkages():\n    return 'average'\n",
        "'average', not a list of specs",
    ),
    "no specs": (IMPORTS + "@hookimpl\ndef ordhc_linkages():\n    return [1]\n", "not a LinkageSpec"),
    "wrong kind": (
        IMPORTS + "@hookimpl\ndef ordhc_linkages():\n"
        "    return [OracleSpec(name='x', summary='x', make=print)]\n",
        "not a LinkageSpec",
    ),
    "unknown hook": (IMPORTS + "@hookimpl\ndef ordhc_linkage():\n    return []\n", "ordhc_linkage"),
    "no hook": ("x = 1\n", "implements none of"),
    "two ways": (
        IMPORTS + "@hookimpl\ndef ordhc_linkages():\n"
        "    return [LinkageSpec(name='x', summary='x', native='single', update_row=print)]\n",
        "exactly one of",
    ),
    "formula": (
        IMPORTS + "@hookimpl\ndef ordhc_linkages():\n"
        "    return [LinkageSpec(name='x', summary='x', coefficients=LanceWilliams(alpha='1 +'))]\n",
        "'x'",
    ),
    "twice": (
        IMPORTS + "@hookimpl\ndef ordhc_linkages():\n"
        "    return [LinkageSpec(name='x', summary='x', update_row=print)] * 2\n",
        "twice",
    ),
    "no command": (
        IMPORTS
        + "@hookimpl\ndef ordhc_commands():\n    return [CommandSpec(name='x', summary='x', make=7)]\n",
        "make is 7; it must be a callable",
    ),
    "bad name": (
        IMPORTS + "@hookimpl\ndef ordhc_linkages():\n"
        "    return [LinkageSpec(name='a b', summary='x', update_row=print)]\n",
        "blanks",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_plugins_hurt_nobody(install, case):
    source, message = BROKEN[case]
    install("bad-one", source)
    install("good-one", good("half"))
    with pytest.warns(OrdhcWarning, match=r"plugin bad-one \(main\) is skipped") as caught:
        tree = ordhc.linkage(S, "average", dissimilarity=False)
    assert len(caught) == 1
    assert tree.n_leaves == 4
    row = the_row("bad-one")
    assert (row.status, row.kind, row.name) == ("failed", "", "")
    assert message in row.error
    # Once is enough, and all the rest works.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ordhc.linkage(S, "half", dissimilarity=False).n_leaves == 4
        assert the_row("good-one").status == "ok"
        assert "average" in registry.names("linkage")


@pytest.mark.parametrize("case", ["broken import", "exit", "hook raises", "a number"])
def test_strict(install, monkeypatch, case):
    source, message = BROKEN[case]
    install("bad-one", source)
    monkeypatch.setenv("ORDHC_STRICT", "1")
    for _ in range(2):
        with pytest.raises(PluginError, match=r"plugin bad-one \(main\) failed") as caught:
            ordhc.linkage(S, "average", dissimilarity=False)
        assert message in str(caught.value)
        assert caught.value.__cause__ is not None
    monkeypatch.setenv("ORDHC_STRICT", "0")
    with pytest.warns(OrdhcWarning):
        assert ordhc.linkage(S, "average", dissimilarity=False).n_leaves == 4


def test_one_spec_of_a_plugin_that_fails_is_not_kept(install):
    source = """
    from ordhc.hooks import hookimpl
    from ordhc.specs import LinkageSpec

    @hookimpl
    def ordhc_linkages():
        yield LinkageSpec(name="fine", summary="x", native="single")
        yield None
    """
    install("half-good", source)
    with pytest.warns(OrdhcWarning), pytest.raises(InputError, match="unknown linkage"):
        ordhc.linkage(S, "fine", dissimilarity=False)
    assert the_row("half-good").status == "failed"


def test_keyboard_interrupt_goes_through(install):
    install("bad-one", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        ordhc.linkage(S, "average", dissimilarity=False)


ROW_UPDATES = {
    "lambda a, b, *_: None": "returned None",
    "lambda a, b, *_: a[:1]": "shape",
    "lambda a, b, *_: a * float('nan')": "nan",
    "lambda a, b, *_: ['x'] * len(a)": "not a row",
}


@pytest.mark.parametrize("update", ROW_UPDATES)
def test_updates_that_give_nonsense(install, update):
    source = f"""
    from ordhc.hooks import hookimpl
    from ordhc.specs import LinkageSpec

    @hookimpl
    def ordhc_linkages():
        return [LinkageSpec(name="odd", summary="x", update_row={update})]
    """
    install("odd-one", source)
    with pytest.raises(PluginError, match="linkage 'odd'") as caught:
        ordhc.linkage(S, "odd", dissimilarity=False)
    assert ROW_UPDATES[update] in str(caught.value)


def test_updates_that_raise(install):
    source = """
    from ordhc.hooks import hookimpl
    from ordhc.specs import LinkageSpec

    def update(*merge):
        raise LookupError("lost it")

    @hookimpl
    def ordhc_linkages():
        return [LinkageSpec(name="odd", summary="x", update_row=update),
                LinkageSpec(name="none", summary="x", make_update=lambda S: None)]
    """
    install("odd-one", source)
    with pytest.raises(LookupError, match="lost it"):
        ordhc.linkage(S, "odd", dissimilarity=False)
    with pytest.raises(PluginError, match="not a callable"):
        ordhc.linkage(S, "none", dissimilarity=False)


INTERRUPTED = """
import os, signal, time
from ordhc import hooks, specs

for _ in range({times}):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.001)
    except BaseException as error:
        swallowed = error

@hooks.hookimpl
def ordhc_linkages():
    return [specs.LinkageSpec(name="late", summary="it", coefficients=specs.LanceWilliams(alpha="0.5"))]
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_while_plugins_load_is_not_lost(install):
    install("late", INTERRUPTED.format(times=1))
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        ordhc.plugins.list_plugins()
    assert signal.getsignal(signal.SIGINT) is handler is signal.default_int_handler
    # What was loaded is there, and whole.
    assert the_row("late").status == "ok"
    # A plugin that takes forever is not waited for: the second one is raised at once.
    module = install("later", INTERRUPTED.format(times=2))
    with pytest.raises(KeyboardInterrupt):
        ordhc.plugins.list_plugins()
    assert isinstance(sys.modules[module].swallowed, KeyboardInterrupt)
    assert signal.getsignal(signal.SIGINT) is handler


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_handlers_of_others_stay_in_place(install):
    seen = []
    install("late", INTERRUPTED.format(times=2))
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(signal.getsignal(signal.SIGINT)))
    try:
        mine = signal.getsignal(signal.SIGINT)
        assert the_row("late").status == "ok"
        assert seen == [mine, mine]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("case", "line"), [("broken import", 1), ("syntax", 1), ("exit", 2), ("hook raises", 5)]
)
def test_the_place_of_a_failure_is_named(install, case, line):
    install("bad-one", BROKEN[case][0])
    with pytest.warns(OrdhcWarning, match=rf"\(.*bad_one.*\.py, line {line}\)$"):
        ordhc.linkage(S, "average", dissimilarity=False)
    with pytest.raises(InputError, match=r"could not be loaded: bad-one"):
        ordhc.linkage(S, "that of the broken plugin", dissimilarity=False)


FAILING = """
from ordhc.hooks import hookimpl
from ordhc.specs import MetricSpec

def boom(tree, reference):
    raise KeyError("missing")

@hookimpl
def ordhc_metrics():
    return [MetricSpec(name="boom", summary="fails", score=boom, reference=("tree",))]
"""


def test_a_fault_of_a_plugin_is_not_reported_to_us(install, capsys, tmp_path, monkeypatch):
    install("ordhc-boom", FAILING)
    monkeypatch.delenv("ORDHC_DEBUG", raising=False)
    (tmp_path / "t.nwk").write_text("((a,b),c);\n")
    file = str(tmp_path / "t.nwk")
    code, out, err = run(capsys, "score", file, file, "--metric", "boom")
    assert (code, out) == (3, "")
    assert "ordhc: the plugin ordhc-boom failed: KeyError: 'missing' (in " in err
    assert "the authors of ordhc-boom" in err
    assert ISSUES not in err
