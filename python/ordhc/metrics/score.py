"""Score a tree against a reference by the name of a metric (`score`)."""

from __future__ import annotations

from typing import Any

from ordhc import _checks
from ordhc._progress import Progress, shows_progress
from ordhc.comparison.comparisons import Quadruplets
from ordhc.errors import InputError
from ordhc.io.scan import Scan, kind_of
from ordhc.metrics.comparisons import quadruplet_revenue, satisfied, triplet_revenue
from ordhc.plugins import registry
from ordhc.plugins.names import Metric
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.matching import prepared

#: Metrics that are sums over comparisons, so that they can be computed block by block.
_OF_SCANS = (triplet_revenue, quadruplet_revenue, satisfied)


@shows_progress("scoring")
def score(
    tree: Any,
    reference: Any,
    metric: Metric | None = None,
    *,
    progress: Progress | bool | None = None,
    **parameters: Any,
) -> Any:
    """Return the score of a tree against a reference.

    Parameters
    ----------
    tree
        The tree, in any form that `ordhc.as_dendrogram` takes.
    reference
        The data that the tree is compared with. Leaves are matched by name if both arguments have names. The
        reference is one of:

        * `Triplets` or `Quadruplets`. Use comparisons that the tree was not made from;
        * a scan of files (`ordhc.scan`), for the revenues and "satisfied";
        * another tree;
        * labels or nested labels;
        * similarities.
    metric
        The name of a function in `ordhc.metrics`, or of a plugin's metric. The default is "triplet_revenue"
        for triplets and "quadruplet_revenue" for quadruplets; other references have no default.
    progress
        `True` shows a progress bar; a callable receives the completed fraction in [0, 1].
    **parameters
        Settings of the metric, for example ``normalize=True``.

    Returns
    -------
    int or float
        The score. The revenue of unweighted comparisons is an exact int. Some metrics return an object with
        several numbers, for which `float()` returns the main number.

    Raises
    ------
    InputError
        An unknown metric (the error lists similar names); a reference or setting that the metric does not
        take; a tree and a reference with different leaves.

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
    settings = registry.settings_for(f"metric {metric!r}", parameters, spec.parameters)
    tells = "progress" in spec.parameters
    if tells:
        settings["progress"] = progress
    if isinstance(reference, Scan):
        if not takes_scan(metric):
            known = ", ".join(metric.__name__ for metric in _OF_SCANS)
            raise InputError(f"metric {metric!r} takes no scan (only {known} do): give scan.read()")
        return spec.score(tree, reference, **settings)
    found, other = prepared(tree, reference, spec.reference, metric)
    value = spec.score(found, other, **settings)
    if progress is not None and not tells:
        progress(1.0)
    return value


def takes_scan(metric: str) -> bool:
    """Return True if a metric is a sum over comparisons, so that it also takes files read block by block."""
    return registry.get("metric", metric).score in _OF_SCANS


def _without_metric(reference: Any) -> str:
    if isinstance(reference, str) and not {"(", ";"} & set(reference):
        return (
            f"the reference, {_checks.quoted(reference, 40)}, is not Newick text; files are read by "
            "ordhc.read_tree, ordhc.read_answers and ordhc.io.read_reference"
        )
    is_tree = isinstance(reference, Dendrogram | str)
    known = [
        name
        for name in registry.names("metric")
        if not is_tree or "tree" in registry.get("metric", name).reference
    ]
    return f"give a metric for {type(reference).__name__}: {', '.join(known)}"
