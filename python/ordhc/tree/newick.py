"""Read dendrograms from Newick text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc.errors import InputError, warn
from ordhc.tree.annotations import Annotations, shown


def read(
    text: str,
    names: Sequence[str] | None,
    *,
    preserve_underscores: bool = False,
    progress: Progress | bool | None = None,
) -> tuple[_ordhc.Tree, Annotations]:
    """Return the tree and the annotations of Newick text; warn about parts of the text that are dropped."""
    tree, found, is_numbered, has_node_numbers, written_order, node_names, support, shares, note = (
        _ordhc.Tree.from_newick(
            _checks.text("the Newick text", text),
            _checks.flag("preserve_underscores", preserve_underscores),
            _checks.callback("progress", progress),
        )
    )
    if note is not None:
        warn(note)
    annotations = Annotations.of(
        tree,
        names=None if is_numbered and names is None else found,
        node_names=node_names,
        support=support,
        shares=shares,
        written_order=written_order,
    )
    if names is None:
        return tree, annotations
    order = _order(found, _checks.names(names) or ())
    if np.array_equal(order, np.arange(len(order))):
        return tree, annotations
    tree, annotations = tree.relabel(order), annotations.relabelled(order)
    if has_node_numbers:
        return tree, annotations
    tree, kept = tree.sorted()
    return tree, annotations.of_nodes(kept, len(order), len(order))


def _order(found: list[str], wanted: tuple[str, ...]) -> NDArray[np.int64]:
    place = _checks.LeafNumbers(wanted)
    for name in found:
        if name not in place:
            raise InputError(f"the tree's leaf {shown(name)} is not in names")
    if len(wanted) != len(found):
        there = set(found)
        lost = next(name for name in wanted if name not in there)
        raise InputError(f"the name {shown(lost)} is not in the tree")
    return np.array([place[name] for name in found], dtype=np.int64)


def statements(text: str, *, escapes: bool = True) -> list[tuple[int, str]]:
    """Return the trees of a text, each with the number of lines before the tree.

    Text after the last `;` counts as a tree too, unless there are only blanks and comments. With `escapes` a
    quote after a backslash is part of a name.
    """
    found: list[tuple[int, str]] = []
    start = lines = depth = 0
    is_quoted = False
    for mark in re.finditer(r"['\[\];]", text):
        at = mark.start()
        if is_quoted:
            # Biopython writes a quote within a name as `\'`.
            is_inside = (
                escapes
                and text[at - 1] == "\\"
                and not re.match(r"\s*([(),:;\[]|$)", text[at + 1 : at + 100])
            )
            is_quoted = mark.group() != "'" or is_inside
        elif mark.group() == "[":
            depth += 1
        elif mark.group() == "]":
            depth = max(depth - 1, 0)
        elif depth <= 0 and mark.group() == "'":
            is_quoted = True
        elif depth <= 0 and mark.group() == ";":
            found.append((lines, text[start : at + 1]))
            lines += text.count("\n", start, at + 1)
            start = at + 1
    rest = text[start:]
    # A comment without `]` extends to the end of the text. The pattern accepts `\Z` as an end, because a
    # failed search for `]` at each bracket would take quadratic time.
    if depth or re.sub(r"\[[^]]*(?:\]|\Z)", "", rest).strip():
        found.append((lines, rest))
    return found
