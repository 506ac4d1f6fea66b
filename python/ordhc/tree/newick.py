"""Dendrograms from Newick text and to it."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ordhc import _checks, _ordhc
from ordhc._progress import Progress
from ordhc.errors import InputError, warn
from ordhc.tree.beside import Beside, shown


def read(
    text: str,
    names: Sequence[str] | None,
    *,
    preserve_underscores: bool = False,
    progress: Progress | bool | None = None,
) -> tuple[_ordhc.Dendrogram, Beside]:
    """A tree and what stands beside it; warns of what it can't show as it was written."""
    tree, found, numbers, is_numbered, node_names, support, shares, lengths, own, note = (
        _ordhc.Dendrogram.from_newick(
            _checks.text("the Newick text", text),
            _checks.flag("preserve_underscores", preserve_underscores),
            _checks.callback("progress", progress),
        )
    )
    if note is not None:
        warn(note)
    beside = Beside.of(
        tree,
        names=found,
        node_names=node_names,
        support=support,
        branch_lengths=lengths,
        leaf_heights=own,
        shares=shares,
        standing=np.arange(len(found)),
    )
    order = numbers
    if names is not None:
        order = _order(found, _checks.names(names) or ())
    if order is not None and not np.array_equal(order, np.arange(len(order))):
        tree, beside = tree.relabel(order), beside.relabelled(order)
    if names is None and is_numbered:
        beside = replace(beside, names=None)
    return tree, beside


def _order(found: list[str], wanted: tuple[str, ...]) -> NDArray[np.int64]:
    place = {name: leaf for leaf, name in enumerate(wanted)}
    for name in found:
        if name not in place:
            raise InputError(f"the tree's leaf {shown(name)} is not among the names")
    if len(wanted) != len(found):
        there = set(found)
        lost = next(name for name in wanted if name not in there)
        raise InputError(f"the name {shown(lost)} is not in the tree")
    return np.array([place[name] for name in found], dtype=np.int64)


def statements(text: str, *, escapes: bool = True) -> list[tuple[int, str]]:
    """The trees in a text, each with the number of lines before it; what follows the last `;` is one, too.

    With `escapes` a quote after a backslash is part of a name.
    """
    found: list[tuple[int, str]] = []
    start = lines = depth = 0
    is_quoted = False
    for mark in re.finditer(r"['\[\];]", text):
        at = mark.start()
        if is_quoted:
            # As Biopython writes quotes within names: `\'`.
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
    # A comment without end runs to the end: looked for at each bracket it would take quadratic time.
    if depth or re.sub(r"\[[^]]*(?:\]|\Z)", "", rest).strip():
        found.append((lines, rest))
    return found


def write(
    tree: _ordhc.Dendrogram, beside: Beside, *, lengths: bool, heights: bool, progress: Progress | None = None
) -> str:
    """Newick text; see `Dendrogram.to_newick`."""
    return tree.to_newick(
        None if beside.names is None else list(beside.names),
        None if beside.node_names is None else list(beside.node_names),
        beside.support,
        beside.shares,
        beside.standing,
        beside.branch_lengths,
        beside.leaf_heights,
        lengths=lengths,
        heights=heights,
        progress=progress,
    )
