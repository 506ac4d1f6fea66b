"""Digests of the code that made a result, so that results of other code are not taken for its results."""

import ast
import hashlib
import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
#: Results of the metrics that the experiments use: lines of the file of digests, which changes with them.
_METRICS = re.compile(r"^score \d+ (aari|kendall_tau_b|dasgupta_cost|robinson_foulds|\w*revenue)\b.*$", re.M)


def _digest(text: str) -> str:
    # What a formatter changes does not count.
    text = re.sub(r",(?=[)\]}])", "", re.sub(r"\s+", "", text))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@cache
def metrics() -> str:
    """Return a digest of what the metrics give for the inputs in `benches/digests.txt`."""
    return _digest(
        "\n".join(found.group() for found in _METRICS.finditer((HERE.parent / "digests.txt").read_text()))
    )


@cache
def everything() -> str:
    """Return a digest of all code in this folder, without comments and docstrings, and of the metrics."""
    modules = sorted(path.stem for path in HERE.glob("*.py"))
    return _digest("\n".join([*(_plain(module, _parsed(module)[1]) for module in modules), metrics()]))


def of(run: Callable[..., Any]) -> str:
    """Return a digest of a function, of what it uses from this package, and of the metrics."""
    while isinstance(run, partial):
        run = run.func
    module = run.__module__.rpartition(".")[2]
    return _of(module, run.__qualname__.partition(".")[0])


@cache
def _of(module: str, name: str) -> str:
    seen: dict[tuple[str, str], str] = {}
    left = [(module, name)]
    while left:
        key = left.pop()
        if key not in seen:
            seen[key] = "\n".join(_plain(key[0], node) for node in _names(key[0])[0].get(key[1], ()))
            left += _used(*key)
    return _digest("\n".join([*(text for _, text in sorted(seen.items())), metrics()]))


@cache
def _names(module: str) -> tuple[dict[str, list[ast.stmt]], dict[str, tuple[str, str]]]:
    """By name, the statements of a module that define it; and what it imports from this package."""
    defined: dict[str, list[ast.stmt]] = {}
    imported: dict[str, tuple[str, str]] = {}
    for node in _parsed(module)[1].body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == HERE.name:
            of_module = (node.module or "").partition(".")[2]
            imported |= {
                alias.name: (of_module or alias.name, alias.name if of_module else "") for alias in node.names
            }
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in (
                part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)
            ):
                defined.setdefault(name, []).append(node)
    return defined, imported


def _used(module: str, name: str) -> Iterator[tuple[str, str]]:
    """The names of this package that the definition of a name uses."""
    defined, imported = _names(module)
    for node in (part for statement in defined.get(name, ()) for part in ast.walk(statement)):
        if isinstance(node, ast.Name):
            if node.id in defined:
                yield module, node.id
            elif imported.get(node.id, ("", ""))[1]:
                yield imported[node.id]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            other, inner = imported.get(node.value.id, ("", "all"))
            if not inner:
                yield other, node.attr


@cache
def _parsed(module: str) -> tuple[list[str], ast.Module]:
    """The lines of a module, where those of docstrings and comments are empty, and its syntax tree."""
    text = (HERE / f"{module}.py").read_text()
    tree = ast.parse(text)
    lines = ["" if line.lstrip().startswith("#") else line.rstrip() for line in text.splitlines()]
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
            and ast.get_docstring(node) is not None
        ):
            docstring = node.body[0]
            lines[docstring.lineno - 1 : docstring.end_lineno] = [""] * len(
                lines[docstring.lineno - 1 : docstring.end_lineno]
            )
    return lines, tree


def _plain(module: str, node: ast.AST) -> str:
    """The lines of a statement or a module, without comments and docstrings."""
    start, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
    # A decorator is above the line of its function.
    start = min([start, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
    return "\n".join(filter(None, _parsed(module)[0][start - 1 : end]))
