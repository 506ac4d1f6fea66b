"""Plugins as strangers write them: good ones, bad ones, and ones that get in each other's way."""

import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc import hooks, specs, testing
from ordhc.plugins import registry

S = np.array([[0.0, 3, 1, 0], [3, 0, 2, 0], [1, 2, 0, 5], [0, 0, 5, 0]])
GUIDE = Path(__file__).parent.parent / "docs" / "plugins.md"

GOOD = """
from ordhc.hooks import hookimpl
from ordhc.specs import LanceWilliams, LinkageSpec

@hookimpl
def ordhc_linkages():
    return [LinkageSpec(name="{name}", summary="a mean", coefficients=LanceWilliams(alpha="{alpha}"))]
"""


def good(name, alpha="0.5"):
    return GOOD.format(name=name, alpha=alpha)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Put distributions on the path; only they are chosen."""
    monkeypatch.delenv("ORDHC_STRICT", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    installed = []

    def add(plugin, source, *, version="1.0", entry_point="main", choose=True):
        module = f"fake_{plugin.replace('-', '_')}_{entry_point}"
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source))
        info = tmp_path / f"{plugin.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {plugin}\nVersion: {version}\n")
        points = info / "entry_points.txt"
        known = points.read_text() if points.exists() else "[ordhc]\n"
        points.write_text(f"{known}{entry_point} = {module}\n")
        if choose:
            installed.append(plugin)
            monkeypatch.setenv("ORDHC_PLUGINS", ",".join(installed))
        registry.reset()
        return module

    registry.reset()
    yield add
    for module in set(sys.modules) - before:
        if module.startswith("fake_"):
            del sys.modules[module]
    registry.reset()


def rows_of(plugin):
    return [row for row in ordhc.list_plugins() if row.plugin == plugin]


def the_row(plugin):
    (row,) = rows_of(plugin)
    return row


def test_a_good_plugin(install):
    install("good-one", good("half"), version="2.5")
    row = the_row("good-one")
    assert (row.status, row.kind, row.name, row.version) == ("ok", "linkage", "half", "2.5")
    assert (row.entry_point, row.summary, row.error) == ("main", "a mean", "")
    assert row.to_dict()["plugin"] == "good-one"
    expected = ordhc.linkage(S, "weighted").heights.tolist()
    for name in ("half", "good-one:half", "Good_One:half"):
        assert ordhc.linkage(S, name).heights.tolist() == expected


def test_all_five_hooks(install):
    source = """
    import numpy as np
    from ordhc.hooks import hookimpl
    from ordhc.specs import LinkageSpec, MethodSpec, MetricSpec, OracleSpec, SimilaritySpec

    @hookimpl
    def ordhc_linkages():
        update = lambda a, b, *_, w: w * a + (1 - w) * b
        yield LinkageSpec(name="blend", summary="x", update_row=update, parameters={"w": 0.5})

    def ones(data, *, layout, dtype, progress, value):
        n = data.n_leaves
        return np.full((n, n) if layout == "square" else n * (n - 1) // 2, value, dtype=dtype)

    @hookimpl
    def ordhc_similarities():
        spec = SimilaritySpec(
            name="ones", summary="x", build=ones, data=("triplets",), parameters={"value": 1.0}
        )
        return (spec,)

    @hookimpl
    def ordhc_methods():
        spec = MethodSpec(
            name="ones-blend", summary="x", similarity="ones", linkage="blend", parameters={"value": 3.0}
        )
        return [spec]

    @hookimpl
    def ordhc_oracles():
        return [OracleSpec(name="first", summary="x", make=lambda s: lambda q: np.zeros(len(q), int))]

    def leaves(tree, reference):
        return tree.n_leaves

    @hookimpl
    def ordhc_metrics():
        return [MetricSpec(name="leaves", summary="x", score=leaves, reference=("triplets",))]
    """
    install("all-five", source)
    kinds = ["linkage", "similarity", "method", "oracle", "metric"]
    assert [row.kind for row in rows_of("all-five")] == kinds
    t = ordhc.Triplets([(0, 1, 2)])
    assert (ordhc.cluster(t, method="ones-blend").heights == 3).all()
    assert (ordhc.cluster(t, method="ones-blend", value=5).heights == 5).all()
    assert (ordhc.cluster(t, similarity="ones", linkage="blend").heights == 1).all()
    with pytest.raises(ordhc.InputError, match="no parameter 'values'"):
        ordhc.cluster(t, method="ones-blend", values=5)
    assert (ordhc.similarity(t, "ones", value=2) == 2).all()
    assert ordhc.score(ordhc.cluster(t), t, "leaves") == 3
    assert ordhc.linkage(S, "blend").heights.tolist() == ordhc.linkage(S, "weighted").heights.tolist()
    assert registry.get("oracle", "first").make(None)([[0, 1, 2]]).tolist() == [0]


IMPORTS = "from ordhc.hooks import hookimpl\nfrom ordhc.specs import *\n"
BROKEN = {
    "broken import": ("import no_such_module_at_all\n", "no_such_module_at_all"),
    "syntax": ("def (:\n", "SyntaxError"),
    "exit": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "hook raises": (IMPORTS + "@hookimpl\ndef ordhc_linkages():\n    1 / 0\n", "ZeroDivisionError"),
    "hook exits": (IMPORTS + "@hookimpl\ndef ordhc_metrics():\n    raise SystemExit\n", "SystemExit"),
    "a number": (IMPORTS + "@hookimpl\ndef ordhc_linkages():\n    return 42\n", "42, not specs"),
    "text": (IMPORTS + "@hookimpl\ndef ordhc_linkages():\n    return 'average'\n", "'average', not specs"),
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
    with pytest.warns(ordhc.OrdhcWarning, match=r"plugin bad-one \(main\) is skipped") as caught:
        tree = ordhc.linkage(S, "average")
    assert len(caught) == 1
    assert tree.n_leaves == 4
    row = the_row("bad-one")
    assert (row.status, row.kind, row.name) == ("failed", "", "")
    assert message in row.error
    # Once is enough, and all the rest works.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ordhc.linkage(S, "half").n_leaves == 4
        assert the_row("good-one").status == "ok"
        assert "average" in registry.names("linkage")


@pytest.mark.parametrize("case", ["broken import", "exit", "hook raises", "a number"])
def test_strict(install, monkeypatch, case):
    source, message = BROKEN[case]
    install("bad-one", source)
    monkeypatch.setenv("ORDHC_STRICT", "1")
    for _ in range(2):
        with pytest.raises(ordhc.PluginError, match=r"plugin bad-one \(main\) failed") as caught:
            ordhc.linkage(S, "average")
        assert message in str(caught.value)
        assert caught.value.__cause__ is not None
    monkeypatch.setenv("ORDHC_STRICT", "0")
    with pytest.warns(ordhc.OrdhcWarning):
        assert ordhc.linkage(S, "average").n_leaves == 4


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
    with pytest.warns(ordhc.OrdhcWarning), pytest.raises(ordhc.InputError, match="unknown linkage"):
        ordhc.linkage(S, "fine")
    assert the_row("half-good").status == "failed"


def test_keyboard_interrupt_goes_through(install):
    install("bad-one", "raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        ordhc.linkage(S, "average")


def test_plugins_are_chosen(install, monkeypatch):
    install("one", good("first"), choose=False)
    install("two", good("second"), choose=False)
    install("three", good("third"), entry_point="special_point", choose=False)

    def found():
        registry.reset()
        rows = [row for row in ordhc.list_plugins() if row.plugin in ("one", "two", "three")]
        return {row.plugin: row.status for row in rows}

    monkeypatch.delenv("ORDHC_PLUGINS", raising=False)
    assert found() == {"one": "ok", "two": "ok", "three": "ok"}
    monkeypatch.setenv("ORDHC_PLUGINS", "")
    assert set(found().values()) == {"skipped"}
    assert ordhc.linkage(S, "average").n_leaves == 4
    with pytest.raises(ordhc.InputError, match="unknown linkage 'first'"):
        ordhc.linkage(S, "first")
    monkeypatch.setenv("ORDHC_PLUGINS", "one")
    assert found() == {"one": "ok", "two": "skipped", "three": "skipped"}
    monkeypatch.setenv("ORDHC_PLUGINS", " Two , special-point,")
    assert found() == {"one": "skipped", "two": "ok", "three": "ok"}
    monkeypatch.setenv("ORDHC_PLUGINS", "nobody")
    assert set(found().values()) == {"skipped"}


def test_plugins_not_chosen_are_not_imported(install, monkeypatch):
    module = install("bad-one", "raise RuntimeError\n", choose=False)
    monkeypatch.setenv("ORDHC_PLUGINS", "")
    registry.reset()
    assert the_row("bad-one").status == "skipped"
    assert module not in sys.modules


def test_a_name_that_two_plugins_claim(install):
    install("one", good("shared", "0.5"))
    install("two", good("shared", "n_i / (n_i + n_j)"))
    install("three", good("other"))
    with pytest.raises(ordhc.InputError, match="claimed by several plugins") as caught:
        ordhc.linkage(S, "shared")
    assert "one:shared" in str(caught.value)
    assert "two:shared" in str(caught.value)
    half, mean = ordhc.linkage(S, "one:shared"), ordhc.linkage(S, "two:shared")
    assert half.heights.tolist() == ordhc.linkage(S, "weighted").heights.tolist()
    assert mean.heights.tolist() == ordhc.linkage(S, "average").heights.tolist()
    assert [row.status for row in rows_of("one") + rows_of("two")] == ["clash", "clash"]
    assert "two" in the_row("one").error
    assert "one:shared" in the_row("one").error
    assert the_row("three").status == "ok"
    assert "shared" not in registry.names("linkage")
    assert "other" in registry.names("linkage")


def test_a_builtin_name_is_not_taken(install):
    install("thief", good("average", "2"))
    assert ordhc.linkage(S, "average").heights[-1] == 0.75
    assert ordhc.linkage(S, "ordhc:average").heights[-1] == 0.75
    assert ordhc.linkage(S, "thief:average").heights[-1] != 0.75
    row = the_row("thief")
    assert row.status == "clash"
    assert "thief:average" in row.error
    builtin = [row for row in rows_of("ordhc") if row.name == "average"]
    assert [row.status for row in builtin] == ["ok"]
    assert "average" in registry.names("linkage")


def test_the_name_of_ordhc_is_taken(install):
    install("ordhc", good("mine"), version="99", entry_point="impostor")
    with pytest.warns(ordhc.OrdhcWarning, match="taken"):
        assert "mine" not in registry.names("linkage")


def test_two_entry_points_of_one_distribution(install):
    install("two-doors", good("first"), entry_point="a")
    install("two-doors", good("second"), entry_point="b")
    assert [(row.entry_point, row.name) for row in rows_of("two-doors")] == [("a", "first"), ("b", "second")]
    install("two-doors", good("first"), entry_point="c")
    with pytest.warns(ordhc.OrdhcWarning, match="another entry point"):
        rows = rows_of("two-doors")
    assert [(row.entry_point, row.status) for row in rows] == [("a", "ok"), ("b", "ok"), ("c", "failed")]
    assert ordhc.linkage(S, "first").n_leaves == 4


def test_unknown_names_suggest_the_nearest(install):
    install("good-one", good("halfway"))
    with pytest.raises(ordhc.InputError, match=r"unknown linkage 'halfwy' \(did you mean halfway\?"):
        ordhc.linkage(S, "halfwy")
    with pytest.raises(ordhc.InputError, match=r"did you mean average\?"):
        ordhc.linkage(S, "Averag")
    with pytest.raises(ordhc.InputError, match="did you mean adds3"):
        ordhc.similarity(ordhc.Triplets([(0, 1, 2)]), "add3")
    with pytest.raises(ordhc.InputError, match="did you mean triplet_revenue"):
        registry.get("metric", "tripletrevenue")
    with pytest.raises(ordhc.InputError, match="did you mean tree"):
        registry.get("oracle", "treee")
    with pytest.raises(ordhc.InputError, match="unknown linkage 'nobody:average'"):
        ordhc.linkage(S, "nobody:average")
    with pytest.raises(ordhc.InputError, match=r"there are .*average"):
        ordhc.linkage(S, "zzzzzz")
    with pytest.raises(ordhc.InputError, match="by name, not by 3"):
        ordhc.linkage(S, 3)


ROW_UPDATES = {
    "lambda a, b, *_: None": "gave",
    "lambda a, b, *_: a[:1]": "shape",
    "lambda a, b, *_: a * float('nan')": "nan",
    "lambda a, b, *_: ['x'] * len(a)": "no row",
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
    with pytest.raises(ordhc.PluginError, match="linkage 'odd'") as caught:
        ordhc.linkage(S, "odd")
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
        ordhc.linkage(S, "odd")
    with pytest.raises(ordhc.PluginError, match="no callable"):
        ordhc.linkage(S, "none")


def test_importing_ordhc_imports_no_plugin(install, tmp_path):
    module = install("good-one", good("half"))
    program = f"""
import sys
import ordhc
print(sorted({{"pluggy", "ordhc.hooks", "{module}", "ordhc_linkages"}} & set(sys.modules)))
ordhc.list_plugins()
print("{module}" in sys.modules)
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "ORDHC_PLUGINS": "good-one"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]


# --- the guide -------------------------------------------------------------------------------


def test_the_guide_names_hooks_fields_and_variables():
    text = GUIDE.read_text(encoding="utf-8")
    names = [name for name in vars(hooks) if name.startswith("ordhc_")]
    assert len(names) == 5
    for name in specs.__all__:
        cls = getattr(specs, name)
        if name != "Spec":
            names.append(name)
        names.extend(field.name for field in dataclasses.fields(cls))
    names += ["ORDHC_PLUGINS", "ORDHC_STRICT"]
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing


def test_the_guide_has_a_plugin_that_works(install):
    text = GUIDE.read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    plugins = [block for block in blocks if "@hookimpl" in block]
    assert plugins
    for at, block in enumerate(plugins):
        install(f"guide-{at}", block)
        assert {row.status for row in rows_of(f"guide-{at}")} == {"ok"}
        for row in rows_of(f"guide-{at}"):
            if row.kind == "linkage":
                testing.check_linkage(row.name)
            elif row.kind == "similarity":
                testing.check_similarity(row.name)
            elif row.kind == "metric":
                testing.check_metric(row.name)


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
        ordhc.list_plugins()
    assert signal.getsignal(signal.SIGINT) is handler is signal.default_int_handler
    # What was loaded is there, and whole.
    assert the_row("late").status == "ok"
    # A plugin that takes forever is not waited for: the second one is raised at once.
    module = install("later", INTERRUPTED.format(times=2))
    with pytest.raises(KeyboardInterrupt):
        ordhc.list_plugins()
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


def test_plugins_load_on_any_thread(install):
    install("threaded", good("threaded"))
    with ThreadPoolExecutor(1) as pool:
        assert [row.status for row in pool.submit(rows_of, "threaded").result()] == ["ok"]
