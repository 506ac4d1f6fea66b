"""Signatures that `help` shows can be read: they name types and do not expand them."""

from inspect import signature

import pytest

from support.modules import public_functions


@pytest.mark.parametrize(("name", "function"), public_functions().items())
def test_no_union_is_expanded(name, function):
    shown = str(signature(function))
    for part in ("numpy._typing", "_SupportsArray", "Union[", "ForwardRef"):
        assert part not in shown, shown
