"""What linters don't look at: the length of files, names that are private to a room, circles of imports.

python .ci/house.py
"""

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

LONGEST = 600
# One class with a member for everything that users of trees do; most of its lines are their documentation.
LONGER = {Path("python/ordhc/tree/dendrogram.py"): 1600}
SOURCES = (".py", ".pyi", ".rs", ".js", ".css", ".html", ".sh")
PACKAGE = Path("python/ordhc")


def long_files() -> list[str]:
    """Source files of more than `LONGEST` lines."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    files = [Path(name) for name in listed if name.endswith(SOURCES) and Path(name).exists()]
    lengths = {file: len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    return [
        f"{file}: {n} lines, {limit} at most"
        for file, n in sorted(lengths.items())
        if n > (limit := LONGER.get(file, LONGEST))
    ]


def modules() -> dict[str, Path]:
    """The modules of the package by name."""
    found = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def room_of(module: str) -> str:
    """The first part of a module's name below the package."""
    return ".".join(module.split(".")[:2])


def imports(file: Path) -> list[tuple[int, str, str]]:
    """Line, module and name of what is imported from the package, for typing only or not."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "ordhc":
            found.extend((node.lineno, node.module, alias.name) for alias in node.names)
    return found


def private_names(known: dict[str, Path]) -> list[str]:
    """Underscore names that are imported from another room, and what rooms import from the package itself."""
    wrong = []
    for module, file in known.items():
        for line, source, name in imports(file):
            if source == "ordhc":
                is_module = f"ordhc.{name}" in known or name == "_ordhc"
                if not is_module and module.count(".") and module != "ordhc.__main__":
                    wrong.append(f"{file}:{line}: {name} is imported from the package, not from its room")
            elif name.startswith("_") and not name.startswith("__") and room_of(source) != room_of(module):
                wrong.append(f"{file}:{line}: {name} is private to {room_of(source)}")
    return wrong


def circles(known: dict[str, Path]) -> list[str]:
    """Modules that import each other, also within functions."""
    edges: dict[str, set[str]] = defaultdict(set)
    for module, file in known.items():
        for _, source, name in imports(file):
            target = f"{source}.{name}" if f"{source}.{name}" in known else source
            if target in known and target not in (module, "ordhc"):
                edges[module].add(target)
    # For types only, and the one way up: a tree draws itself.
    edges["ordhc.tree.dendrogram"] -= {"ordhc.plotting.drawing", "ordhc.plotting.pages"}
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
    """Print what is wrong; 1 if anything is."""
    known = modules()
    wrong = [*long_files(), *private_names(known), *circles(known)]
    print("\n".join(wrong) or "files are short, rooms keep what is theirs, no imports go in circles")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
