"""Types of parameters as they are written in the source, beside the parameters' names.

The docstrings leave types to the annotations. `ArrayLike` unfolds to a page of unions where it is evaluated,
so annotations are taken from the source, put behind the names in "Parameters", and signatures go without.
"""

import ast
import inspect
import re
import textwrap
from typing import Any

from sphinx.application import Sphinx


def definition(obj: Any) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the source of a function, or of the method that makes objects of a class."""
    if inspect.isclass(obj):
        obj = obj.__dict__.get("__init__")
    obj = inspect.unwrap(getattr(obj, "__func__", obj)) if callable(obj) or hasattr(obj, "__func__") else None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(obj)))
    except (TypeError, OSError, SyntaxError):
        return None
    found = tree.body[0]
    return found if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef) else None


def annotations(obj: Any) -> tuple[dict[str, str], str]:
    """Return the annotation and default of each parameter in the source, and the annotation of the result."""
    found = definition(obj)
    if found is None:
        fields = getattr(obj, "__annotations__", {}) if inspect.isclass(obj) else {}
        return {name: text for name, text in fields.items() if isinstance(text, str)}, ""
    args = found.args
    positional = [*args.posonlyargs, *args.args]
    defaults: dict[str, ast.expr | None] = dict(
        zip((arg.arg for arg in reversed(positional)), reversed(args.defaults), strict=False)
    )
    defaults |= {arg.arg: value for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)}
    types = {}
    for arg in [*positional, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]:
        if arg.annotation is not None:
            text, default = ast.unparse(arg.annotation), defaults.get(arg.arg)
            # A default with a private name means that the argument is not given.
            if default is not None and not (value := ast.unparse(default)).startswith("_"):
                text += f", default {value}"
            types[arg.arg] = text
    return types, ast.unparse(found.returns) if found.returns else ""


def with_types(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Put types behind the names of parameters."""
    if what not in ("function", "method", "class", "exception"):
        return
    types, _ = annotations(obj)
    at = heading(lines)
    while at is not None and at < len(lines):
        line = lines[at]
        if at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1].strip()):
            break
        names = [part.strip().lstrip("*") for part in line.split(",")]
        if line and not line[0].isspace() and ":" not in line and names[0] in types:
            found = {types[part] for part in names if part in types}
            if len(found) == 1:
                lines[at] = f"{line} : {found.pop()}"
        at += 1


def heading(lines: list[str]) -> int | None:
    """Return the line below "Parameters" and its rule."""
    for at, line in enumerate(lines[:-1]):
        if line.strip() == "Parameters" and re.fullmatch(r"-{3,}", lines[at + 1].strip()):
            return at + 2
    return None


def setup(app: Sphinx) -> dict[str, Any]:
    """Before numpydoc reads the docstring."""
    app.connect("autodoc-process-docstring", with_types, priority=400)
    return {"parallel_read_safe": True}
