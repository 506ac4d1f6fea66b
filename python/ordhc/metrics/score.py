"""The verb `score`: how good a tree is."""

from typing import Any

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc.comparison.comparisons import Quadruplets
from ordhc.errors import InputError
from ordhc.io.scan import Scan, kind_of
from ordhc.metrics.comparisons import quadruplet_revenue, satisfied, triplet_revenue
from ordhc.plugins import registry
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import prepared

__all__ = ["score"]

#: Metrics that are sums over answers.
_OF_SCANS = (triplet_revenue, quadruplet_revenue, satisfied)


@shows_progress("scoring")
def score(
    tree: Any,
    reference: Any,
    metric: str | None = None,
    *,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Any:
    """How good a tree is.

    Parameters
    ----------
    tree
        A `Dendrogram`, or any form that `as_dendrogram` takes.
    reference
        What to compare with: the `Triplets` or `Quadruplets` it was made from or, better, ones held
        out, or for the revenues and "satisfied" a scan of files (`ordhc.scan`); another tree; labels or
        nested labels; similarities. Leaves are matched by name where both sides have names.
    metric
        One of those of `ordhc.metrics`, or a plugin's. By default "triplet_revenue" for triplets and
        "quadruplet_revenue" for quadruplets.
    progress
        True for a bar; what can be called is, now and then, with the share that is done, from 0 to 1;
        at least at the end.
    **parameters
        Settings of the metric, for example ``normalize=True``.

    Returns
    -------
    int or float
        Exact (an int) for the revenue of unweighted comparisons; some metrics give an object that
        `float()` turns into its main number.

    Raises
    ------
    InputError
        An unknown metric (with the nearest ones), what it does not take, other leaves.

    Examples
    --------
    >>> import ordhc
    >>> t = ordhc.Triplets([(0, 1, 2), (1, 0, 2)])
    >>> tree = ordhc.cluster(t)
    >>> ordhc.score(tree, t)
    2
    >>> ordhc.score(tree, "((1,2),0);", metric="triplet_distance")
    1.0
    """
    progress = _checks.callback("progress", progress)
    if metric is None:
        if kind_of(reference) is None:
            raise InputError(_without_metric(reference))
        metric = "quadruplet_revenue" if kind_of(reference) is Quadruplets else "triplet_revenue"
    spec = registry.get("metric", metric)
    settings = _checks.settings(f"metric {metric!r}", parameters, spec.parameters)
    tells = "progress" in spec.parameters
    if tells:
        settings["progress"] = progress
    if isinstance(reference, Scan):
        if spec.score not in _OF_SCANS:
            known = ", ".join(metric.__name__ for metric in _OF_SCANS)
            raise InputError(f"metric {metric!r} takes no scan, only {known} do: scan.read() reads it")
        return spec.score(tree, reference, **settings)
    found, other = prepared(tree, reference, spec.reference, metric)
    value = spec.score(found, other, **settings)
    if progress is not None and not tells:
        progress(1.0)
    return value


def _without_metric(reference: Any) -> str:
    """Say which metrics there are for a reference."""
    if isinstance(reference, str) and not {"(", ";"} & set(reference):
        return (
            f"the reference is {_checks.quoted(reference, 40)}, no Newick text; files are read by "
            "ordhc.read_tree, ordhc.read_answers and ordhc.io.read_reference"
        )
    is_tree = isinstance(reference, Dendrogram | str)
    known = [name for name in registry.names("metric") if not is_tree or "tree" in _taken(name)]
    return f"give a metric for {type(reference).__name__}: {', '.join(known)}"


def _taken(name: str) -> tuple[str, ...]:
    taken: tuple[str, ...] = registry.get("metric", name).reference
    return taken
