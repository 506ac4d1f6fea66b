"""Make trees from distances, similarities or vectors, for `ordhc cluster`."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ordhc._checks import leaves_of_condensed
from ordhc.cli.output import check_n_clusters, finish, progress_bar
from ordhc.cli.reading import parameters_of, parts_of, read_labels
from ordhc.io import read_matrix, read_names, read_vectors
from ordhc.similarities.vectors import Vectors
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.settings import as_json

if TYPE_CHECKING:
    from ordhc.evaluate.bootstrap import Bootstrap

_KINDS = {
    "distances": "FILE is a matrix; larger is farther apart.",
    "similarities": "FILE is a matrix; larger is more alike.",
    "vectors": "FILE has a row of numbers for each leaf.",
}
#: Options for files of answers that also apply to files of distances, similarities or vectors.
_SHARED = ("names", "delimiter")


def numbers_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for name, text in reversed(_KINDS.items()):
        command = click.option(f"--{name}", is_flag=True, help=text)(command)
    return command


def numbers_in(reading: dict[str, Any]) -> str | None:
    """Return the kind of numbers in FILE that an option names, such as "vectors"; None if FILE has answers.

    `reading` has the values of options by name. The options --distances, --similarities and --vectors are
    removed from `reading`. If FILE has numbers, an option that is only for answers is an error.
    """
    given = [name for name in _KINDS if reading.pop(name)]
    if not given:
        return None
    if len(given) > 1:
        raise click.UsageError(f"give one of --{given[0]} and --{given[1]}")
    answers_only = {
        **{name: value for name, value in reading.items() if name not in _SHARED},
        **{
            name: click.get_current_context().params[name] for name in ("unit", "memory", "spill", "executor")
        },
    }
    for name, value in answers_only.items():
        if value not in (None, False, ()):
            raise click.UsageError(f"--{name.replace('_', '-')} is for answers, not for --{given[0]}")
    return given[0]


def cluster_numbers(kind: str) -> None:
    """Run `ordhc cluster` for distances, similarities or vectors."""
    given = click.get_current_context().params
    with progress_bar("clustering", quiet=given["quiet"]) as progress:
        if kind == "vectors":
            tree, resampled = _of_vectors(given, progress)
        else:
            tree, resampled = _of_matrix(given, kind, progress), None
    check_n_clusters(given["n_clusters"], tree.n_leaves)
    finish({"n_leaves": tree.n_leaves, "kind": kind, **as_json(tree.settings)}, tree, resampled)


def _of_matrix(given: dict[str, Any], kind: str, progress: Any) -> Dendrogram:
    from ordhc.agglomerate.linkage import linkage

    for name, reason in (
        ("method", "--linkage says how clusters are merged"),
        ("similarity", f"the file has the {kind} already"),
        ("bootstrap", "only answers and vectors can be resampled"),
    ):
        if given[name] is not None:
            raise click.UsageError(f"--{name} is not for --{kind}: {reason}")
    dissimilarity = kind == "distances"
    values, own = read_matrix(given["file"], dissimilarity=dissimilarity, delimiter=given["delimiter"])
    names = _names(given["names"], own)
    n = len(values) if values.ndim == 2 else leaves_of_condensed(len(values))
    settings = parameters_of(given["params"])
    parts = parts_of(None, given["linkage"], settings)
    return linkage(
        values,
        parts["linkage"] or "average",
        dissimilarity=dissimilarity,
        names=names,
        initial_clusters=None if given["initial"] is None else read_labels(given["initial"], names, n),
        tie_seed=given["seed"],
        progress=progress,
        **settings,
    )


def _of_vectors(given: dict[str, Any], progress: Any) -> "tuple[Dendrogram, Bootstrap | None]":
    from ordhc.clustering.cluster import cluster

    if given["method"] is None and given["similarity"] is None:
        raise click.UsageError(
            "--vectors needs --similarity and --linkage, such as --similarity euclidean --linkage ward; or a "
            "--method of vectors, such as cosine-al"
        )
    rows, own = read_vectors(given["file"], delimiter=given["delimiter"])
    if given["neighbors"] is not None and given["neighbors"] < 1:
        raise click.UsageError(f"--neighbors {given['neighbors']} is below 1")
    vectors = Vectors(rows, _names(given["names"], own), neighbors=given["neighbors"])
    settings = parameters_of(given["params"])
    initial = given["initial"]
    asked: dict[str, Any] = {
        "method": given["method"],
        **parts_of(given["similarity"], given["linkage"], settings),
        "initial_clusters": None if initial is None else read_labels(initial, vectors.names, len(vectors)),
        **settings,
        "progress": progress,
    }
    if given["bootstrap"] is None:
        return cluster(vectors, tie_seed=given["seed"], **asked), None
    from ordhc.evaluate.bootstrap import bootstrap

    found = bootstrap(vectors, n_resamples=given["bootstrap"], seed=given["seed"] or 0, **asked)
    return found.tree, found


def _names(given: str | None, own: Any) -> Any:
    return own if given is None else read_names(given)
