"""What people see of modules: `dir()`, tab completion and `help()` show public names only."""

import ast
import inspect
import pydoc
from importlib import import_module

import pytest

import ordhc
from support.modules import PUBLIC
from support.processes import printed

#: Names that are listed only with scikit-learn.
ESTIMATORS = {"OrdinalClustering", "VectorClustering"}


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
