"""The limits on functions that .ci/house.py checks."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "house.py"


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("house", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def modules_with(tmp_path, text):
    file = tmp_path / "module.py"
    file.write_text(text)
    return {"ordhc.module": file}


def test_lines_are_counted_without_the_docstring_and_with_nested_functions(house, tmp_path):
    nested = '    def inner():\n        """Two\n        lines."""\n        return 1\n'
    text = f'def outer():\n    """One\n    two\n    three."""\n    x = 1\n{nested}    return x\n'
    found = house.long_functions(modules_with(tmp_path, text), 5)
    assert [line.split(": ")[1] for line in found] == ["outer has 6 lines, more than 5"]
    assert not house.long_functions(modules_with(tmp_path, text), 6)


def test_a_function_that_is_its_docstring_has_no_lines(house, tmp_path):
    assert not house.long_functions(modules_with(tmp_path, 'def empty():\n    """Text."""\n'), 0)


@pytest.mark.parametrize(
    ("given", "is_refused"),
    [
        ("def _f(a, /, b, *c, d, **e): ...", True),
        ("def _f(a, /, b, *, c, d): ...", False),
        ("class A:\n    def _f(self, a, b, c, d): ...", False),
        ("class A:\n    async def _f(self, a, b, c, d, e): ...", True),
        ("class A:\n    def __init__(self, a, b, c, d, e): ...", False),
        ("def f(a, b, c, d, e): ...", False),
        ("def f():\n    def _g(a, b, c, d, e): ...", True),
    ],
)
def test_parameters_of_private_functions_are_counted(house, tmp_path, given, is_refused):
    found = house.many_parameters(modules_with(tmp_path, given), 4)
    assert [line.split(" has ")[1] for line in found] == ["5 parameters, more than 4"] * is_refused
