"""Linkages of a matrix: sizes at every threshold, every kind of numbers, every form of input."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import ordhc
from digests.listing import Listing, on_one_thread, outcome
from digests.matrices import KINDS, Floats, condensed, square
from ordhc import _ordhc
from ordhc.tree.dendrogram import from_engine

#: Every size at which an engine changes what it does, and the ones beside it.
SMALL = [1, 2, 3, 63, 64, 65, 128, 129]
LARGE = [1000, 1024, 1025, 1499, 1500, 1501, 2049, 3000]
LINKAGES = ["single", "complete", "average", "weighted", "ward", "centroid", "median"]
#: Kinds whose numbers 32 bits hold, too.
WHOLE = ["whole", "0-1", "equal"]
#: Kinds that are distances: as similarities they are negative.
POINTS = ["plane", "blobs", "nested"]


def run(listing: Listing) -> None:
    """Add all lines about linkages."""
    of_sizes_and_kinds(listing)
    of_initial_clusters(listing)
    of_engines(listing)
    of_single_linkage_of_ties(listing)
    of_plugins(listing)
    of_functions(listing)


def of_sizes_and_kinds(listing: Listing) -> None:
    """Every linkage of every kind and size; another form of the same input must give the same tree."""
    turn = 0
    for n in SMALL + LARGE:
        for kind in KINDS:
            pairs = condensed(kind, n)
            # Small matrices are both. Large ones take turns: one kind dissimilarities, the next similarities.
            both, turns = [True, False], (n + KINDS.index(kind)) % 2 == 0
            for dissimilarity in both if n in SMALL else [turns]:
                values = pairs if dissimilarity or kind not in POINTS else -pairs
                given = Given(n, kind, values, dissimilarity)
                trees = {linkage: outcome(given.tree(linkage)) for linkage in LINKAGES}
                sort = "dissimilarities" if dissimilarity else "similarities"
                listing.add_columns(f"linkage {n} {kind} {sort}", trees)
                for at in range(3 if n in SMALL else 2):
                    linkage = LINKAGES[(turn + at) % len(LINKAGES)]
                    forms = given.forms(linkage)
                    form = list(forms)[turn // len(LINKAGES) % len(forms)]
                    name = f"linkage {n} {kind} {sort} {linkage} {form}"
                    equal = listing.expect_alike if "overwrite" in form else listing.expect_equal
                    equal(name, trees[linkage], outcome(forms[form]))
                    turn += 1


@dataclass
class Given:
    """Numbers in both layouts."""

    n: int
    kind: str
    pairs: Floats
    dissimilarity: bool

    @cached_property
    def square(self) -> Floats:
        """The (n, n) matrix."""
        return square(self.pairs, self.n)

    def tree(self, linkage: str, values: Floats | None = None, **settings: Any) -> Callable[[], Any]:
        """The call that makes a tree."""
        return tree_of(self.pairs if values is None else values, linkage, self.dissimilarity, **settings)

    def forms(self, linkage: str) -> dict[str, Callable[[], Any]]:
        """The same numbers in other forms, by name."""
        forms = {
            "on one thread": on_one_thread(self.tree(linkage)),
            "square": lambda: self.tree(linkage, self.square)(),
            "overwrite": lambda: self.tree(linkage, self.pairs.copy(), overwrite=True)(),
            "square overwrite": lambda: self.tree(linkage, self.square.copy(), overwrite=True)(),
            "square on one thread": lambda: on_one_thread(self.tree(linkage, self.square))(),
        }
        for dtype in (np.float32, np.int32) if self.kind in WHOLE else ():
            forms[dtype.__name__] = lambda dtype=dtype: self.tree(linkage, self.pairs.astype(dtype))()
            forms[f"square {dtype.__name__}"] = lambda dtype=dtype: self.tree(
                linkage, self.square.astype(dtype)
            )()
        return forms


def tree_of(values: Floats, linkage: str, dissimilarity: bool, **settings: Any) -> Callable[[], Any]:
    """The call that makes a tree."""
    return lambda: ordhc.linkage(values, linkage, dissimilarity=dissimilarity, **settings)


def by_engine(values: Floats, linkage: str, dissimilarity: bool, engine: str) -> Callable[[], Any]:
    """The call that makes a tree by an engine that is named; `ordhc.linkage` lets the input choose."""
    rule = _ordhc.Linkage.native(linkage)

    def call() -> ordhc.Dendrogram:
        tree = _ordhc.agglomerate(values, rule, dissimilarity, engine, None, None, False)
        return from_engine(tree)

    return call


def of_initial_clusters(listing: Listing) -> None:
    """Leaves that are merged first, and ties that are broken at random."""
    for n in (3, 65, 1000, 1501, 2049):
        labels = np.random.default_rng(n).integers(0, max(2, n // 20), n)
        for kind in ("uniform", "whole", "blobs"):
            values = condensed(kind, n)
            columns = {}
            for linkage in LINKAGES if n < 2000 else ["single", "average", "ward"]:
                columns[linkage] = outcome(tree_of(values, linkage, True, initial_clusters=labels))
                other = outcome(
                    tree_of(values.copy(), linkage, True, initial_clusters=labels, overwrite=True)
                )
                listing.expect_alike(
                    f"initial clusters {n} {kind} {linkage} overwrite", columns[linkage], other
                )
            listing.add_columns(f"initial clusters {n} {kind}", columns)
        ties = {
            linkage: outcome(tree_of(condensed("whole", n), linkage, True, tie_seed=4))
            for linkage in LINKAGES
        }
        listing.add_columns(f"tie seed {n} whole", ties)


def of_engines(listing: Listing) -> None:
    """Engines that are chosen by name must find the same tree, but for the last digits of heights."""
    for n in (3, 65, 128):
        for kind in KINDS:
            values = condensed(kind, n)
            for linkage in LINKAGES:
                columns = {
                    engine: outcome(by_engine(values, linkage, False, engine))
                    for engine in ("auto", "chain", "nearest-pair", "naive")
                    if engine != "chain" or linkage not in ("centroid", "median")
                }
                for engine, tree in columns.items():
                    shapes = [
                        each.merges if isinstance(each, ordhc.Dendrogram) else each
                        for each in (columns["auto"], tree)
                    ]
                    listing.expect_equal(f"engine {engine} {n} {kind} {linkage}", *shapes)
    for kind in ("uniform", "whole", "nested"):
        values = condensed(kind, 1501)
        columns = {
            f"{linkage}-{engine}": outcome(by_engine(values, linkage, True, engine))
            for linkage in ("average", "ward", "centroid")
            for engine in ("chain", "nearest-pair")
            if engine != "chain" or linkage != "centroid"
        }
        listing.add_columns(f"engines 1501 {kind}", columns)


def of_single_linkage_of_ties(listing: Listing) -> None:
    """Single linkage of many equal values."""
    for n in (1025, 2049):
        values = condensed("0-1", n)
        # Each leaf of the second half is alone at the largest value.
        values[np.triu_indices(n, 1)[1] >= n // 2] = 0
        for dissimilarity in (True, False):
            listing.add(f"single of ties {n} {dissimilarity}", tree_of(1 + values, "single", dissimilarity))


def of_plugins(listing: Listing) -> None:
    """Linkages as plugins bring them: coefficients as formulas and row updates, through the hooks."""
    from digests.plugin import registered

    with registered():
        for n in (1, 2, 3, 65, 129, 1000, 1501):
            for kind in ("uniform", "whole", "signs"):
                values = condensed(kind, n)
                columns = {
                    name.removeprefix("digests-"): outcome(tree_of(values, name, dissimilarity))
                    for name, dissimilarity in (
                        ("digests-flexible", False),
                        ("digests-variance", True),
                        *((("digests-nearest", False), ("digests-members", True)) if n < 1000 else ()),
                    )
                }
                if kind == "whole":
                    columns["flexible-.1"] = outcome(tree_of(values, "digests-flexible", True, beta=-0.1))
                listing.add_columns(f"plugin {n} {kind}", columns)


def of_functions(listing: Listing) -> None:
    """Single linkage of similarities that a function gives, row by row."""
    for n in (1, 2, 65, 1501):
        for kind in ("uniform", "whole"):
            matrix = square(condensed(kind, n), n)
            call = lambda matrix=matrix, n=n: ordhc.linkage(
                lambda i, others: matrix[i, others], "single", n_leaves=n, dissimilarity=True
            )
            listing.add(f"function {n} {kind}", call)
