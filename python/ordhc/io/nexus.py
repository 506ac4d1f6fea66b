"""Read NEXUS and NeXML files with DendroPy (the extra `trees`), and write NEXUS."""

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ordhc.errors import InputError, MissingExtraError
from ordhc.io.paths import brief
from ordhc.io.sheet import is_number
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.newick import statements

#: The annotations from which `Dendrogram.from_newick` reads the support of a node.
_SUPPORT = ("support", "posterior", "prob", "bootstrap")
#: The first word of a statement in a NEXUS file.
_WORD = re.compile(r"(?:\s|#NEXUS|\[[^]]*\])*([A-Za-z]+)\b", re.IGNORECASE)
#: Names that DendroPy reads as punctuation, or as no name, even in quotes.
_UNREADABLE = ("", "(", ")", ",", ":", ";")
#: FigTree's annotation for the name of a node. With it, a name that is a number is not read as support.
_NAME = "!name"


def newick_texts(text: str, schema: str) -> list[str]:
    """Return the trees of a NEXUS or NeXML file as Newick text, with annotations of support."""
    what = {"nexus": "a NEXUS file", "nexml": "a NeXML file"}[schema]
    try:
        import dendropy
    except ImportError:
        raise MissingExtraError.of(what, "DendroPy", "trees") from None
    options: dict[str, Any] = {}
    if schema == "nexus":
        _check_blocks(text)
        # DendroPy does not return if a block or statement is open at the end of the text, so close both.
        text += "\n;END;\n;END;\n"
        options = {"suppress_internal_node_taxa": True, "extract_comment_metadata": True}
        options |= {"case_sensitive_taxon_labels": True, "preserve_underscores": False}
    with _deep(text), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            namespace = dendropy.TaxonNamespace(is_case_sensitive=True)
            trees = dendropy.TreeList.get(data=text, schema=schema, taxon_namespace=namespace, **options)
            for tree in trees if schema == "nexml" else ():
                # DendroPy sets the root's length to 0 if the file has none.
                tree.seed_node.edge.length = tree.seed_node.edge.length or None
            return [_newick(tree) for tree in trees]
        except RecursionError:
            raise InputError(f"{what} with trees too deep for DendroPy; convert it to Newick") from None
        except Exception as error:
            raise InputError(f"DendroPy can't read the file as {what}: {brief(str(error), 200)}") from None


def _check_blocks(text: str) -> None:
    begun: int | None = None
    found = statements(text, escapes=False)
    if found and (at := _open_comment(found[-1][1])) is not None:
        line = found[-1][0] + found[-1][1].count("\n", 0, at) + 1
        raise InputError("the comment that begins here with [ has no ]", line=line)
    for line, statement in found:
        word = _WORD.match(statement)
        if word is not None and word[1].upper() in ("BEGIN", "END", "ENDBLOCK"):
            if word[1].upper() == "BEGIN" and begun is not None:
                break
            begun = line + statement.count("\n", 0, word.start(1)) + 1 if word[1].upper() == "BEGIN" else None
    if begun is not None:
        raise InputError("the block that begins here has no END;", line=begun)


def _open_comment(statement: str) -> int | None:
    begun: list[int] = []
    for mark in re.finditer(r"'(?:[^']|'')*'|[\[\]]", statement):
        if mark.group() == "[":
            begun.append(mark.start())
        elif mark.group() == "]" and begun:
            begun.pop()
    return begun[0] if begun else None


@contextmanager
def _deep(text: str) -> Iterator[None]:
    """Raise Python's recursion limit during the block to the depth of the trees in `text`, for DendroPy."""
    depth = deepest = 0
    for mark in re.finditer(r"[()]|<edge\b", text):
        depth += -1 if mark.group() == ")" else 1
        deepest = max(deepest, depth)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 2 * min(deepest, 1_000_000) + 1000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _newick(tree: Any) -> str:
    text: list[str] = []
    waiting: list[Any] = [tree.seed_node]
    while waiting:
        step = waiting.pop()
        if isinstance(step, str):
            text.append(step)
            continue
        children = step.child_nodes()
        about = _label(step, is_leaf=not children)
        if not children:
            text.append(about)
            continue
        text.append("(")
        waiting.append(f"){about}")
        for at, child in enumerate(reversed(children)):
            waiting += [",", child] if at else [child]
    return "".join(text) + ";"


def _label(node: Any, *, is_leaf: bool) -> str:
    notes = {note.name: note.value for note in node.annotations}
    label = node.taxon.label if node.taxon is not None else node.label
    text = "" if label is None else str(label)
    if not is_leaf and notes.get(_NAME) is not None:
        text = _quoted(str(notes[_NAME]))
    elif text and not _is_number(text):
        text = _quoted(text)
    support = [f"{key}={notes[key]}" for key in _SUPPORT if not is_leaf and _is_number(str(notes.get(key)))]
    length = node.edge.length
    return text + (f"[&{','.join(support)}]" if support else "") + ("" if length is None else f":{length!r}")


def _is_number(text: str) -> bool:
    return is_number(text) and "_" not in text


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def nexus_text(trees: Sequence[Dendrogram], texts: Sequence[str]) -> str:
    """Return a NEXUS file of trees, given their Newick texts, with a block of all leaves."""
    labels = list(dict.fromkeys(label for tree in trees for label in tree.labels))
    for name in (*labels, *(name for tree in trees for name in tree.node_names or ())):
        if name in _UNREADABLE:
            raise InputError(
                f"the name {name!r} cannot be written as NEXUS; write .nwk or .json, or change the name"
            )
    quoted = [label if re.fullmatch(r"[A-Za-z0-9.]+", label) else _quoted(label) for label in labels]
    lines = ["#NEXUS", "", "BEGIN TAXA;", f"    DIMENSIONS NTAX={len(labels)};", "    TAXLABELS"]
    lines += [f"        {label}" for label in quoted]
    lines += ["    ;", "END;", "", "BEGIN TREES;"]
    lines += [f"    TREE tree{at} = [&R] {_with_names(text)}" for at, text in enumerate(texts, start=1)]
    return "\n".join([*lines, "END;", ""])


def _with_names(text: str) -> str:
    """Return Newick text in which nodes' names that are numbers are replaced by annotations.

    Such names are quoted in Newick. But readers of NEXUS ignore quotes, and would read such a name as the
    support of the node.
    """

    def renamed(found: re.Match[str]) -> str:
        name = (found.group(1) or "")[1:-1]
        return f')[&{_NAME}="{name}"]' if name and _is_number(name) else found.group()

    return re.sub(r"\[[^]]*\]|\)('(?:[^']|'')*')|'(?:[^']|'')*'", renamed, text)
