"""Check what linters do not check: lengths of files and functions, private names, circles of imports.

python .ci/house.py
"""

import ast
import subprocess
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

# Longer files are reported; files longer than LONGEST are refused.
LONG = 600
LONGEST = 900
# One class with a member for everything that users of trees do; most of its lines are their documentation.
LONGER = {Path("python/ordhc/tree/dendrogram.py"): 1650}
# The same for functions, counted from the first statement after the docstring.
LONG_FUNCTION = 60
LONGEST_FUNCTION = 80
# The parameters of private functions; those of public ones and of `__init__` are the interface.
MOST_PARAMETERS = 7
SOURCES = (".py", ".pyi", ".rs", ".js", ".css", ".html", ".sh")
PACKAGES = (Path("python/ordhc"), *sorted(Path("plugins").glob("*/src/ordhc_*")))
NAMES = tuple(package.name for package in PACKAGES)
# Underscore members that are public in fact: the compiled engine, CPython's, and those of named tuples.
KNOWN = {"_ordhc", "_checks", "_getframe", "_exit", "_replace"}


def long_files(most: int) -> list[str]:
    """Return the source files of more than `most` lines, and exceptions that exceed their own limit."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    files = [Path(name) for name in listed if name.endswith(SOURCES) and Path(name).exists()]
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    return [
        f"{file}: {n} lines, more than {limit}"
        for file, n in sorted(lengths.items())
        if n > (limit := LONGER.get(file, most))
    ]


def modules() -> dict[str, Path]:
    """Return the modules of the package and of all plugins by name."""
    found = {}
    for package in PACKAGES:
        for file in sorted(package.rglob("*.py")):
            parts = file.relative_to(package.parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def parsed(file: Path) -> ast.Module:
    """Return the syntax tree of a file, which several checks walk through."""
    return ast.parse(file.read_text(encoding="utf-8"))


def functions(file: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions and methods of a file, nested ones too."""
    return [
        node for node in ast.walk(parsed(file)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def long_functions(known: dict[str, Path], most: int) -> list[str]:
    """Return the functions of more than `most` lines; docstrings don't count, nested functions do."""
    found = []
    for file in known.values():
        for node in functions(file):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            n = body[-1].end_lineno - body[0].lineno + 1 if body else 0
            if n > most:
                found.append(f"{file}:{node.lineno}: {node.name} has {n} lines, more than {most}")
    return found


def many_parameters(known: dict[str, Path], most: int) -> list[str]:
    """Return the private functions of more than `most` parameters, apart from self and cls."""
    found = []
    for file in known.values():
        for node in functions(file):
            if not node.name.startswith("_") or node.name.startswith("__"):
                continue
            given = node.args
            named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            n = sum(arg is not None and arg.arg not in ("self", "cls") for arg in named)
            if n > most:
                found.append(f"{file}:{node.lineno}: {node.name} has {n} parameters, more than {most}")
    return found


def room_of(module: str) -> str:
    """Return the first part of a module's name below the package; a plugin is one room."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == "ordhc" else 1])


def imports(file: Path) -> list[tuple[int, str, str]]:
    """Return line, module and name of what is imported from ordhc and its plugins, for typing only or not."""
    found = []
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in NAMES:
            found.extend((node.lineno, node.module, alias.name) for alias in node.names)
    return found


def private_names(known: dict[str, Path]) -> list[str]:
    """Underscore names that are imported from another room, and what rooms import from the package itself."""
    wrong = []
    for module, file in known.items():
        for line, source, name in imports(file):
            if source == "ordhc":
                is_module = f"ordhc.{name}" in known or name == "_ordhc"
                inside = module.startswith("ordhc.") and module != "ordhc.__main__"
                if inside and not is_module:
                    wrong.append(f"{file}:{line}: {name} is imported from the package, not from its room")
            elif name.startswith("_") and not name.startswith("__") and room_of(source) != room_of(module):
                wrong.append(f"{file}:{line}: {name} is private to {room_of(source)}")
    return wrong


def private_members(known: dict[str, Path]) -> list[str]:
    """Return uses of underscore attributes and methods in rooms that do not define them."""
    defined: dict[str, set[str]] = defaultdict(set)
    used = []
    for module, file in known.items():
        room = room_of(module)
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined[room].add(node.name)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                defined[room].add(node.target.id)
            elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
                is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                if is_own and isinstance(node.ctx, ast.Store):
                    defined[room].add(node.attr)
                elif not is_own and not node.attr.startswith("__") and node.attr not in KNOWN:
                    used.append((room, file, node.lineno, node.attr))
    return [
        f"{file}:{line}: {name} is a private member of another room"
        for room, file, line, name in used
        if name not in defined[room]
    ]


def circles(known: dict[str, Path]) -> list[str]:
    """Modules that import each other, also within functions."""
    edges: dict[str, set[str]] = defaultdict(set)
    for module, file in known.items():
        for _, source, name in imports(file):
            target = f"{source}.{name}" if f"{source}.{name}" in known else source
            if target in known and target not in (module, "ordhc"):
                edges[module].add(target)
    # For types only, and the one way up: a tree draws itself.
    edges["ordhc.tree.dendrogram"] -= {f"ordhc.plotting.{name}" for name in ("drawing", "pages", "saving")}
    edges["ordhc.comparison.units"].discard("ordhc.comparison.rows")
    wrong, done = [], set()

    def walk(module: str, path: list[str]) -> None:
        if module in path:
            wrong.append("circle of imports: " + " -> ".join([*path[path.index(module) :], module]))
            return
        if module in done:
            return
        for target in sorted(edges[module]):
            walk(target, [*path, module])
        done.add(module)

    for module in sorted(known):
        walk(module, [])
    return wrong


def main() -> int:
    """Print what is wrong, and return 1 if anything is; long files and functions are only named."""
    known = modules()
    for line in (*long_files(LONG), *long_functions(known, LONG_FUNCTION)):
        print("note:", line)
    wrong = [
        *long_files(LONGEST),
        *long_functions(known, LONGEST_FUNCTION),
        *many_parameters(known, MOST_PARAMETERS),
        *private_names(known),
        *private_members(known),
        *circles(known),
    ]
    print("\n".join(wrong) or "files and functions are short, rooms keep their names, no circles of imports")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
