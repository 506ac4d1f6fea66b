"""Write the package of a new plugin from templates."""

import json
import keyword
import os
import re
import shutil
import sys
import tempfile
from datetime import date
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from ordhc import _checks
from ordhc._checks import quoted
from ordhc._version import __version__
from ordhc.errors import InputError
from ordhc.io.files import umask
from ordhc.io.paths import checked_path
from ordhc.plugins import registry

#: The kinds of plugins, each with a summary of its example.
PLUGIN_KINDS = {
    "linkage": "between single linkage (share = 1) and complete linkage (share = 0)",
    "similarity": "the number of answers that call leaves close, minus the number that call them far",
    "oracle": "words with common letters are close",
    "metric": "the share of triplets with which a tree agrees",
    "method": "AddS3 similarities with complete linkage",
}
_USE = {
    "linkage": "ordhc cluster answers.csv --linkage {spec}",
    "similarity": "ordhc cluster answers.csv --similarity {spec}",
    "oracle": "ordhc learn --oracle {spec} --source words.txt -o tree.nwk",
    "metric": "ordhc score tree.nwk answers.csv --metric {spec}",
    "method": "ordhc cluster answers.csv --method {spec}",
}


def new_plugin(
    name: str, kind: str, folder: str | None = None, *, licence: str = "MIT", author: str | None = None
) -> dict[str, Any]:
    """Write a package with an example plugin and its tests; return its names, kind, folder and files.

    `name` is the name of the distribution, as on PyPI. `kind` is a key of `PLUGIN_KINDS`. The folder must not
    exist; by default it is called `name`.
    """
    module, spec = _names(name, kind)
    author = f"The {name} developers" if author is None else _checks.text("author", author).strip()
    if not author or not author.isprintable():
        raise InputError(f"author = {quoted(author)} is not a name")
    target = Path(name if folder is None else checked_path(folder, "folder"))
    if os.path.lexists(target):
        raise InputError(f"{target} exists already: give another folder, or remove it")
    filling = {
        "name": name,
        "module": module,
        "spec": spec,
        "summary": PLUGIN_KINDS[kind],
        "Summary": PLUGIN_KINDS[kind][:1].upper() + PLUGIN_KINDS[kind][1:],
        "use": "$ " + _USE[kind].format(spec=spec),
        "author": author,
        "author_text": json.dumps(author, ensure_ascii=False),
        "year": str(date.today().year),
        "ordhc": ".".join(__version__.split(".")[:2]),
        "licence_lines": "" if licence == "none" else f'license = "{licence}"\nlicense-files = ["LICENSE"]\n',
        "licence_note": "" if licence == "none" else f"\n\nLicence: {licence}.",
    }
    templates = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        ".gitignore": "gitignore",
        f"src/{module}/__init__.py": kind,
        f"tests/test_{module}.py": f"test_{kind}",
    }
    if licence != "none":
        templates["LICENSE"] = licence
    folder_of_templates = files("ordhc") / "cli" / "template"
    texts = {}
    for path, template in templates.items():
        text = (folder_of_templates / f"{template}.txt").read_text(encoding="utf-8")
        texts[path] = Template(text).substitute(filling)
    _write(target, texts)
    names = {"name": name, "module": module, "spec": spec, "kind": kind}
    return {**names, "folder": str(target), "files": sorted(texts)}


def _names(name: str, kind: str) -> tuple[str, str]:
    """Return the module name of a new plugin ("ordhc_mixed"), and its name in options of ordhc ("mixed")."""
    given = _checks.text("name", name)
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?", given, re.ASCII):
        raise InputError(
            f"{quoted(given)} is not a name of a package: use letters and digits, and - . _ between them, "
            "such as ordhc-mixed"
        )
    module = re.sub("[-_.]+", "_", given).lower()
    spec = re.sub("^ordhc[-_.]+", "", given, flags=re.IGNORECASE)
    if not module.isidentifier() or keyword.iskeyword(module):
        raise InputError(
            f"{quoted(given)}: Python does not allow the module name {module}; use a name such as "
            f"ordhc-{given}"
        )
    if module in sys.stdlib_module_names or find_spec(module) is not None:
        raise InputError(
            f"{quoted(given)}: there is a Python module {module} already; use a name such as ordhc-{given}"
        )
    if spec in registry.names(kind):
        raise InputError(f"{quoted(given)}: there is a {kind} {quoted(spec)} already; take another name")
    return module, spec


def _write(target: Path, texts: dict[str, str]) -> None:
    """Write all files into a new folder, or none if an error occurs."""
    target.parent.mkdir(parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(prefix=".ordhc-", dir=target.parent))
    try:
        for path, text in texts.items():
            (begun / path).parent.mkdir(parents=True, exist_ok=True)
            (begun / path).write_text(text, encoding="utf-8", newline="\n")
        begun.chmod(0o777 & ~umask())
        begun.rename(target)
    except BaseException:
        shutil.rmtree(begun, ignore_errors=True)
        raise
