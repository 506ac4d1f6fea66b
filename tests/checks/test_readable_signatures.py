"""Signatures that `help` shows can be read: they name types and do not expand them."""

from importlib import import_module
from inspect import isfunction, signature

import pytest

from support.modules import PUBLIC


def functions():
    found = {}
    for name in PUBLIC:
        module = import_module(name)
        for public in module.__all__:
            thing = getattr(module, public)
            members = vars(thing).items() if isinstance(thing, type) else [("", thing)]
            for key, value in members:
                value = getattr(value, "__func__", value)
                if isfunction(value) and value.__module__.startswith("ordhc") and not key.startswith("__"):
                    found[f"{public}.{key}".rstrip(".")] = value
    return found


@pytest.mark.parametrize(("name", "function"), functions().items())
def test_no_union_is_expanded(name, function):
    shown = str(signature(function))
    for part in ("numpy._typing", "_SupportsArray", "Union[", "ForwardRef"):
        assert part not in shown, shown
