"""What people see of modules: `dir()`, tab completion and `help()` show public names only."""

import ast
import inspect
import pydoc
import typing
from importlib import import_module
from importlib.util import find_spec

import pytest

import ordhc
from support.modules import PUBLIC
from support.processes import printed

#: Names that are listed only with scikit-learn.
ESTIMATORS = {"OrdinalClustering", "VectorClustering"}


#: Packages of plugins that users import.
PLUGINS = ("ordhc_collect", "ordhc_embedding", "ordhc_judge", "ordhc_linkages", "ordhc_soft")


@pytest.mark.parametrize("name", PUBLIC)
def test_dir_shows_public_names_only(name):
    module = import_module(name)
    listed = dir(module)
    assert set(module.__all__) <= set(listed)
    assert not [entry for entry in listed if entry.startswith("_") and entry not in module.__all__]
    assert not {"np", "Any", "annotations", "TYPE_CHECKING", "os", "sys", "dataclass"} & set(listed)
    for entry in listed:
        # Nothing is listed that isn't there, and of modules only our own.
        thing = getattr(module, entry)
        assert not hasattr(thing, "__path__") or thing.__name__.startswith("ordhc")
    own = {entry for entry in listed if entry not in module.__all__}
    assert own <= ({*ESTIMATORS, *(m.partition(".")[2] for m in PUBLIC)} if name == "ordhc" else set())


def test_public_modules_need_no_import():
    code = "import ordhc; print(ordhc.specs.LinkageSpec.__name__, ordhc.testing.check_linkage.__name__)"
    assert printed(code) == "LinkageSpec check_linkage\n"


@pytest.mark.parametrize("name", PUBLIC)
def test_help_says_what_there_is(name):
    text = pydoc.plain(pydoc.render_doc(import_module(name)))
    assert f"NAME\n    {name} - " in text
    for entry in import_module(name).__all__:
        assert entry.strip("_") in text.lower() or entry in text


def test_an_attribute_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'ordhc' has no attribute 'clustr'"):
        ordhc.clustr  # noqa: B018


def test_importing_ordhc_imports_nothing_large():
    code = "import sys, ordhc; print([m for m in sys.modules if m.startswith(('numpy', 'ordhc.'))])"
    assert printed(code) == "['ordhc._start', 'ordhc._version']\n"


def test_what_is_imported_later_is_what_type_checkers_see():
    (block,) = (node for node in ast.parse(inspect.getsource(ordhc)).body if isinstance(node, ast.If))
    seen = {(node.module, alias.name) for node in block.body for alias in node.names}
    modules = {("ordhc", name) for name in ("datasets", "metrics", "oracles", "plots")}
    assert seen == modules | {(module, name) for name, module in ordhc._MODULE_OF.items()}
    assert set(ordhc.__all__) == {name for _, name in seen} - ESTIMATORS | {"__version__"}
    for name in set(ordhc._MODULE_OF) - ESTIMATORS:
        assert getattr(ordhc, name) is getattr(import_module(ordhc._MODULE_OF[name]), name)


def own_classes(hint):
    if inspect.isclass(hint) and hint.__module__.startswith("ordhc"):
        yield hint
    for part in typing.get_args(hint):
        yield from own_classes(part)


def hints(thing):
    try:
        return typing.get_type_hints(thing)
    except (NameError, TypeError):
        return {}


def members(cls):
    """Return the class, its base classes of ordhc, their methods and properties, and classes of fields."""
    found = [base for base in cls.__mro__ if base.__module__.startswith("ordhc")]
    for base in list(found):
        for name, value in vars(base).items():
            function = (
                getattr(value, "fget", None)
                or getattr(value, "func", None)
                or getattr(value, "__func__", value)
            )
            if not name.startswith("_") and inspect.isfunction(function):
                found.append(function)
    return found + [own for hint in hints(cls).values() for own in own_classes(hint)]


def test_what_users_reach_is_documented():
    """Public names, the classes that public functions return, and their methods have docstrings."""
    installed = [name for name in PLUGINS if find_spec(name)]
    modules = [import_module(name) for name in (*PUBLIC, *installed)]
    left = [getattr(module, name) for module in modules for name in module.__all__]
    seen, missing = set(), set()
    while left:
        thing = left.pop()
        if not (inspect.isclass(thing) or inspect.isfunction(thing)) or thing in seen:
            continue
        seen.add(thing)
        if (
            not thing.__doc__
            and thing.__module__.startswith("ordhc")
            and not thing.__qualname__.startswith("_")
        ):
            missing.add(f"{thing.__module__}: {thing.__qualname__}")
        left += members(thing) if inspect.isclass(thing) else own_classes(hints(thing).get("return"))
    assert len(seen) > 300
    assert missing == set()
