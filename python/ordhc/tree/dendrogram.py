"""The dendrogram: what we believe the hierarchy to be."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc.errors import InputError
from ordhc.tree import newick, tables
from ordhc.tree.beside import from_dict, same
from ordhc.tree.navigation import Navigation
from ordhc.tree.settings import in_words

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes

__all__ = ["Dendrogram"]


class Dendrogram(Navigation):
    """Merges of `n_leaves` leaves into one cluster, in order, with their heights.

    Clusters are labelled as SciPy labels them: leaves are 0..n-1, merge k makes cluster n + k.
    Heights are in the units that the tree was made from: similarities (they fall towards the root) or
    dissimilarities (they rise), see `kind`.

    Parameters
    ----------
    merges
        (n - 1, 2) cluster labels.
    heights
        (n - 1,) finite.
    kind
        "similarity" or "dissimilarity".
    names
        The names of the leaves.
    node_names
        (n - 1,) for each merge the name of its node, or None.
    support
        (n - 1,) for each merge how sure it is, from 0 to 1, as `bootstrap` gives it; NaN where that isn't
        known.
    branch_lengths
        (2n - 1,) for each cluster the length of the branch above it, NaN for none, as `from_newick` reads
        them where heights do not tell them.
    joined
        (n - 1,) for each merge, whether it belongs to the node of the merge above it, which has the same
        height. Such merges together are one node with more than two children. By default every merge is a
        node.
    leaf_heights
        (n,) the heights at which leaves themselves stand, as `cluster` gives them for dot products.
    settings
        What made the tree, see `Dendrogram.settings`.

    Examples
    --------
    >>> import ordhc
    >>> d = ordhc.Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
    >>> d.to_newick()
    '(car:2,(cat:0.5,dog:0.5):1.5);'
    >>> d.cut(n_clusters=2)
    array([0, 0, 1])
    """

    __slots__ = ()

    def to_linkage_matrix(self) -> NDArray[np.float64]:
        """SciPy's linkage matrix Z, (n - 1, 4): the two clusters, the height, the size.

        SciPy wants non-negative, growing heights. Dissimilarities stay as they are; similarities h
        become max(h) - h, so that the closest merge stands at 0 (`leaf_heights` have no place there).

        Examples
        --------
        >>> Dendrogram([(0, 1), (2, 3)], [5.0, 2.0], kind="similarity").to_linkage_matrix()
        array([[0., 1., 0., 2.],
               [2., 3., 3., 3.]])
        """
        heights = self.heights
        if self.kind == "similarity" and len(heights):
            heights = heights.max() - heights
        return np.column_stack([self.merges.astype(np.float64), heights, self.sizes.astype(np.float64)])

    @classmethod
    def from_linkage_matrix(cls, Z: ArrayLike, names: Sequence[str] | None = None) -> "Dendrogram":
        """From SciPy's linkage matrix Z, (n - 1, 4); heights are dissimilarities.

        Examples
        --------
        >>> Dendrogram.from_linkage_matrix([[0, 1, 0.5, 2], [2, 3, 1.0, 3]])
        <Dendrogram: 3 leaves, dissimilarity 0.5 .. 1>
        """
        table = _checks.numbers_of("Z", Z)
        if table.ndim != 2 or table.shape[1] != 4:
            raise InputError(f"Z has shape {table.shape}, not (n - 1, 4)")
        tree = cls(table[:, :2], table[:, 2], names=names)
        wrong = np.flatnonzero(table[:, 3] != tree.sizes)
        if wrong.size:
            at = wrong[0]
            raise InputError(f"Z[{at}, 3] is {table[at, 3]:g}, but merge {at} makes {tree.sizes[at]} leaves")
        return tree

    @shows_progress("writing")
    def to_newick(
        self, *, branch_lengths: bool = True, heights: bool = False, progress: Progress | bool | None = None
    ) -> str:
        """The tree as Newick text.

        Branch lengths are those that were read (`branch_lengths`) or else differences of heights: leaves
        stand at `leaf_heights` or, without these, at 0 with dissimilarities, at the closest merge with
        similarities. Joined merges are one node. Support is written as the label of a node, in percent
        (as shares where it was read so). Where a node has a name too, the name is its label, and support a
        comment. Names that hold blanks, ``_``, brackets, quotes and the like are quoted, those of nodes also
        where they are numbers.

        Parameters
        ----------
        branch_lengths
            Write them.
        heights
            Add the exact heights as comments, and the numbers of leaves and merges where the text does
            not tell them: `from_newick` restores the tree as it is.
        progress
            True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.25, 0.5], names=["my cat", "dog", "1"], support=[0.9, 1])
        >>> d.to_newick()
        "(1:0.5,('my cat':0.25,dog:0.25)90:0.25)100;"
        >>> Dendrogram.from_newick(d.to_newick(heights=True)) == d
        True
        """
        lengths, exact = _checks.flag("branch_lengths", branch_lengths), _checks.flag("heights", heights)
        progress = _checks.callback("progress", progress)
        return newick.write(self._tree, self._beside, lengths=lengths, heights=exact, progress=progress)

    @classmethod
    @shows_progress("reading")
    def from_newick(
        cls,
        text: str,
        names: Sequence[str] | None = None,
        *,
        preserve_underscores: bool = False,
        progress: Progress | bool | None = None,
    ) -> "Dendrogram":
        """Read Newick text; `to_newick` writes the same tree again.

        Parameters
        ----------
        text
            One tree. Comments in brackets are skipped, but for those of `to_newick`.
        names
            Number the leaves in this order. By default they are numbered as they stand; if all of them are
            the numbers 0..n-1 (outside of quotes), by these; and as comments of `to_newick` say.
        preserve_underscores
            Keep ``_`` in names that aren't quoted, where it means a blank.
        progress
            True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1.

        Returns
        -------
        Dendrogram
            Labels of inner nodes are `support` if they are numbers from 0 to 100 outside of quotes, in
            percent unless none of the tree's is above 1; of several numbers such as ``95.2/98`` (IQ-TREE)
            the last counts. All else is `node_names`, and all numbers where one is not from 0 to 100. Nodes
            of more than two children are merges of equal height, in the order written, all but the last
            `joined`. Nodes of one child are passed over, lengths added up.

            Heights come from comments of `to_newick`; else from branch lengths, if all leaves are equally
            far from the root (but for 1e-4 of that): the longest way down to a leaf. Else they are ranks: a
            node is one higher than its highest child. `branch_lengths` are kept where heights don't tell
            them.

        Warns
        -----
        OrdhcWarning
            Branch lengths that are those of no heights, so that heights are ranks; labels of nodes that are
            passed over.

        Raises
        ------
        InputError
            What can't be read, with its line; names that occur twice or aren't among `names`.

        Examples
        --------
        >>> d = Dendrogram.from_newick("((cat:1,my_dog:1)95:2,car:3)things;")
        >>> d.names, d.node_names, d.support
        (('cat', 'my dog', 'car'), (None, 'things'), array([0.95,  nan]))
        >>> d.to_newick()
        "((cat:1,'my dog':1)95:2,car:3)things;"
        """
        return cls._made(
            *newick.read(text, names, preserve_underscores=preserve_underscores, progress=progress)
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as a dict that JSON can hold; `from_dict` restores it unchanged."""
        everything: dict[str, Any] = {
            "n_leaves": self.n_leaves,
            "kind": self.kind,
            "merges": self.merges.tolist(),
            "heights": self.heights.tolist(),
            "names": None if self.names is None else list(self.names),
        }
        if self.joined is not None:
            everything["joined"] = self.joined.tolist()
        return {**everything, **self._beside.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Dendrogram":
        """From what `to_dict` gives."""
        if not isinstance(data, Mapping) or not {"merges", "heights", "kind"} <= data.keys():
            raise InputError("a tree is a dict that has the keys merges, heights and kind")
        merges, heights, kind = data["merges"], data["heights"], data["kind"]
        found = cls(merges, heights, kind=kind, names=data.get("names"), **from_dict(data))
        if (n := data.get("n_leaves")) is not None and _checks.whole(
            "n_leaves", n, at_least=1
        ) != found.n_leaves:
            raise InputError(
                f"n_leaves is {n}, but {len(found.merges)} merges make a tree of {found.n_leaves}"
            )
        shares, standing = data.get("support_as_shares"), data.get("leaves_as_written")
        if standing is not None:
            standing = _checks.whole_numbers("leaves_as_written", standing, (found.n_leaves,))
            if not np.array_equal(np.sort(standing), np.arange(found.n_leaves)):
                raise InputError(f"leaves_as_written is no order of {found.n_leaves} leaves")
        return found._with(
            shares=shares is not None and _checks.flag("support_as_shares", shares), standing=standing
        )

    def to_frame(self, backend: str = "pandas") -> Any:
        """A data frame with one row for each node, leaves first.

        Parameters
        ----------
        backend
            "pandas", "polars", "pyarrow", whichever is installed; or "dict", lists by column.

        Returns
        -------
        data frame
            Columns label, parent (none for the root), height, size, support, name, branch_length, is_leaf, as
            `ordhc.Node` has them. Joined merges are one row.

        Raises
        ------
        MissingExtraError
            The package isn't installed.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> table = d.to_frame("dict")
        >>> table["label"], table["parent"], table["name"]
        ([0, 1, 2, 3, 4], [3, 3, 4, 4, None], ['cat', 'dog', 'car', None, None])
        """
        return tables.as_frame(self, backend)

    def to_networkx(self) -> "networkx.DiGraph[int]":
        """The tree as a graph of NetworkX (the extra `trees`), with edges from parents to children.

        Nodes are labels, with height, size, support, name and is_leaf as far as there are any; edges have
        their length.

        Examples
        --------
        >>> graph = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"]).to_networkx()
        >>> sorted(graph.edges(data="length")), graph.nodes[0]["name"]
        ([(3, 0, 0.5), (3, 1, 0.5), (4, 2, 2.0), (4, 3, 1.5)], 'cat')
        """
        return tables.as_graph(self)

    def to_d3(self) -> str:
        """The tree as nested JSON, as D3's ``hierarchy(JSON.parse(text))`` takes it.

        Each node has height, size and label, name, support and branch_length as far as there are any, and but
        for leaves children. Leaves without names are called by their numbers.

        Examples
        --------
        >>> Dendrogram([(0, 1)], [0.5], names=["cat", "dog"]).to_d3()[:70]
        '{"height": 0.5, "size": 2, "label": 2, "children": [{"name": "cat", "h'
        """
        return tables.as_nested_json(self)

    def plot(self, ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the tree with Matplotlib (the extra `plot`).

        Options are those of `ordhc.plotting.plot_dendrogram`: layout, orientation, truncate, n_clusters,
        color_by, colors, columns, palette, labels, node_names, support, support_threshold, scale, width,
        height, font, font_size, line_width, theme, title, pyplot.

        Without `ax` into pyplot's current axes if these are empty, else into a new figure of pyplot, so
        that ``plt.savefig`` and notebooks show it. With `ax` nothing of pyplot is touched.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> ax = d.plot(layout="circular", n_clusters=2)
        """
        from ordhc.plotting.drawing import checked_options, plot_dendrogram

        return plot_dendrogram(self, ax, **{"pyplot": ax is None, **checked_options(options)})

    def savefig(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Draw the tree into an svg, png or pdf file (the extra `plot`), the same file every time.

        Text stays text: it can be edited in SVG, and PDF has fonts of Type 42.

        Parameters
        ----------
        path
            The file; its ending decides the format.
        **options
            `dpi` of a png (150), and as `ordhc.plotting.plot_dendrogram` takes them: ``width=85`` is a
            column of a journal, in millimetres.
        """
        from ordhc.plotting.drawing import save_plot

        save_plot(self, path, **options)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        n_clusters: int | None = None,
        support_threshold: float = 0.0,
        texts: Mapping[Any, Any] | None = None,
        pictures: Mapping[Any, Any] | None = None,
        title: str | None = None,
    ) -> str | None:
        """A page to explore the tree with: zoom, collapse, search, cut, copy clusters, export SVG.

        It is one file that needs no network, for mouse, touch, keys and screen readers. Texts are escaped.

        Parameters
        ----------
        path
            The file; without one the page is returned.
        n_clusters
            How many clusters to begin with.
        support_threshold
            Support from which it is shown, from 0 to 1; branches below it are dashed.
        texts, pictures
            By the names of leaves what is shown under the pointer: texts, and pictures as bytes or as paths
            of files (png, jpeg, gif, webp, svg), which are put into the page.
        title
            Of the page.

        Raises
        ------
        InputError
            Names that no leaf has, files that are no pictures.

        Examples
        --------
        >>> d = Dendrogram([(0, 1), (2, 3)], [0.5, 2.0], names=["cat", "dog", "car"])
        >>> d.to_html(n_clusters=2, texts={"cat": "purrs"})[:15]
        '<!doctype html>'
        """
        from ordhc.plotting.pages import page, write_page

        options: dict[str, Any] = {
            "n_clusters": n_clusters,
            "support_threshold": support_threshold,
            "texts": texts,
            "pictures": pictures,
            "title": title,
        }
        if path is None:
            return page(self, **options)
        write_page(self, path, **options)
        return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dendrogram):
            return NotImplemented
        if self is other:
            return True
        if self.kind != other.kind or self.n_leaves != other.n_leaves:
            return False
        if not self._beside.equals(other._beside):
            return False
        if not same(self.joined, other.joined):
            return False
        trees = [self._tree, other._tree]
        if self.joined is not None:
            trees = [tree.in_order_of_children() for tree in trees]
        if not np.array_equal(self.heights, other.heights):
            return False
        if not np.array_equal(trees[0].merges(), trees[1].merges()):
            return False
        if self.branch_lengths is None and other.branch_lengths is None:
            return True
        return same(self._beside.lengths(self._tree), other._beside.lengths(other._tree))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        heights = self.heights
        span = f", {self.kind} {heights[0]:.6g} .. {heights[-1]:.6g}" if len(heights) else ""
        made = "" if self.settings is None else in_words(self.settings)
        made = f", {made}" if 0 < len(made) <= 80 else ""
        leaves = "1 leaf" if self.n_leaves == 1 else f"{self.n_leaves:,} leaves"
        return f"<Dendrogram: {leaves}{span}{made}>"

    def _repr_html_(self) -> str:
        """The page of `to_html`, in a notebook; of more than 5,000 leaves only the text."""
        from ordhc.plotting.pages import inline

        return inline(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dendrogram.from_dict, (self.to_dict(),)
