"""Compute the numbers of a report: compare methods, make the tree, hold answers out, resample."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from ordhc._progress import Progress, part
from ordhc._version import __version__
from ordhc.clustering.cluster import fit
from ordhc.clustering.expected import Predicted
from ordhc.clustering.plan import MOVES_UP_TO, Plan, biased_text
from ordhc.clustering.posterior import Posterior, posterior
from ordhc.clustering.sampling import drawn_by
from ordhc.comparison.comparisons import Comparisons
from ordhc.comparison.units import shares_of
from ordhc.errors import InputError
from ordhc.evaluate.bootstrap import Bootstrap, bootstrap
from ordhc.evaluate.ceiling import noise_ceiling, satisfied_share
from ordhc.evaluate.held_out import Answers, HeldOut, held_out, scored
from ordhc.evaluate.intervals import FEWEST_UNITS
from ordhc.evaluate.people import Standing, standings
from ordhc.evaluate.people_groups import PeopleGroups, people_groups
from ordhc.evaluate.select import Selection, default_methods, select
from ordhc.evaluate.structure import Structure, seconds_needed, structure
from ordhc.metrics.trees import robinson_foulds, triplet_distance
from ordhc.plugins import registry
from ordhc.reporting.typical import typical_items
from ordhc.similarities.similarity import fitting
from ordhc.tree.dendrogram import Dendrogram
from ordhc.tree.settings import as_json

#: The maximum number of leaves for which kernel methods are tried, unless the caller names them. Kernels
#: compare all pairs of pairs, which takes too long with more leaves.
KERNELS_UP_TO = 3_000
#: The tree is compared with other models by default up to this processor time: a minute on two cores.
STRUCTURE_SECONDS = 120.0
SUPPORT = (0.5, 0.7, 0.95)
#: The size of the largest clusters whose leaves are listed. The report's section `tree` has all leaves.
LISTED = 100


@dataclass(frozen=True)
class Asked:
    """The settings of a report, see `report`."""

    method: str | None
    methods: Sequence[str] | None
    by: str
    folds: int
    n_resamples: int
    #: For a tree of the posterior: True if a cluster's support is the share of trees drawn from the
    #: posterior that contain the cluster. Then no resamples are made.
    draws_support: bool
    seed: int
    unit: str | None
    n_clusters: int | None
    structure: bool | None
    people_groups: bool


@dataclass(frozen=True)
class Findings:
    """All results of a report. `notes` has sentences about results that are missing, by section."""

    tree: Dendrogram
    method: str
    was_given: bool
    unanswered: list[int]
    selection: Selection | None
    held_out: HeldOut | None
    #: The share of a session's held-out answers that the posterior, or else the tree, predicts correctly.
    on_random: Predicted | None
    people: list[Standing] | None
    resampled: Bootstrap | None
    #: The posterior, if support comes from its trees.
    drawn: Posterior | None
    others: dict[str, Dendrogram]
    structure: Structure | None
    people_groups: PeopleGroups | None
    n_clusters: int
    notes: dict[str, str]


_T = TypeVar("_T")


@dataclass(frozen=True)
class _Work:
    """The input of a report's computations. `notes` has, for each section, why a result is missing."""

    data: Comparisons
    answers: Answers
    asked: Asked
    unit: str
    folds: int
    notes: dict[str, str]

    @property
    def split(self) -> dict[str, Any]:
        return {"folds": self.folds, "seed": self.asked.seed, "unit": self.unit}

    def found(self, section: str, failure: str, find: Callable[[], _T]) -> _T | None:
        try:
            return find()
        except InputError as error:
            self.notes[section] = f"{failure}: {error}."
            return None


def found_in(
    data: Comparisons,
    answers: Answers,
    asked: Asked,
    heldout: Comparisons | None,
    progress: Progress | None,
) -> Findings:
    """Return all results of a report.

    If `heldout` is given, methods and the tree are scored on it, and no tree is made from it.
    """
    notes: dict[str, str] = {}
    unit, folds = _split(answers, asked, notes)
    work = _Work(data, answers, asked, unit, folds, notes)
    selection = _selection(work, heldout, part(progress, 0.0, 0.35))
    plan = Plan.of(data, method=asked.method or (None if selection is None else selection.best))
    method = asked.method or plan.method or plan.title
    tree, unanswered = fit(plan, data, progress=part(progress, 0.35, 0.4))
    apart = _apart(work, plan, method, selection, part(progress, 0.4, 0.5))
    people = None
    if apart is not None and answers.person is not None:
        people = standings(data, answers, apart, seed=asked.seed)
    if (warning := biased_text(plan, data)) is not None:
        notes["biased"] = f"{warning[0].upper()}{warning[1:]}."
    drawn, resampled = None, None
    support_progress = part(progress, 0.5, 0.8)
    if asked.draws_support and plan.linkage.name == "posterior-al" and not len(unanswered):
        drawn = posterior(data, **drawn_by(plan.linkage_settings), progress=support_progress)
        tree = drawn.dendrogram
        if drawn.diagnostics.problem is not None:
            notes["mixing"] = f"{drawn.diagnostics.problem[0].upper()}{drawn.diagnostics.problem[1:]}."
    else:
        resampled = _resampled(work, plan, method, tree, support_progress)
        tree = tree if resampled is None else resampled.tree
    others = {}
    for name in [] if selection is None else [c.method for c in selection.candidates if c.method != method]:
        other = Plan.of(data, method=name)
        others[name], _ = fit(other, fitting(data, other.accepts, other.title))
    between = 0.9 if asked.people_groups else 0.99
    compared = _structure(work, tree, part(progress, 0.8, between))
    grouped = _people_groups(work, part(progress, between, 0.99))
    return Findings(
        tree=tree,
        method=method,
        was_given=asked.method is not None,
        unanswered=unanswered.tolist(),
        selection=selection,
        held_out=apart,
        on_random=None if heldout is None else scored(drawn or tree, heldout),
        people=people,
        resampled=resampled,
        drawn=drawn,
        others=others,
        structure=compared,
        people_groups=grouped,
        n_clusters=asked.n_clusters or _natural(tree, len(unanswered)),
        notes=notes,
    )


def _selection(work: _Work, heldout: Comparisons | None, progress: Progress | None) -> Selection | None:
    methods = _methods(work.data, work.asked, work.notes)
    if not work.folds or not methods:
        return None
    by = work.asked.by
    return work.found(
        "methods",
        "Methods could not be compared",
        lambda: select(work.data, methods, **work.split, by=by, heldout=heldout, progress=progress),
    )


def _apart(
    work: _Work, plan: Plan, method: str, selection: Selection | None, progress: Progress | None
) -> HeldOut | None:
    if not work.folds:
        return None
    known = None
    if selection is not None and not selection.on_random:
        known = next((each for each in selection.candidates if each.method == method), None)
    return work.found(
        "held_out",
        "No answers could be held out",
        lambda: held_out(work.data, plan, work.answers, **work.split, known=known, progress=progress),
    )


def _resampled(
    work: _Work, plan: Plan, method: str, tree: Dendrogram, progress: Progress | None
) -> Bootstrap | None:
    if not work.asked.n_resamples:
        work.notes["support"] = "No resamples were requested, so the support of clusters is unknown."
        return None
    return work.found(
        "support",
        "The tree has no support",
        lambda: bootstrap(
            work.data,
            method=method if plan.method else None,
            n_resamples=work.asked.n_resamples,
            seed=work.asked.seed,
            unit=work.unit,
            tree=tree,
            progress=progress,
        ),
    )


def _structure(work: _Work, tree: Dendrogram, progress: Progress | None) -> Structure | None:
    if work.asked.structure is False or not work.folds:
        # Without folds, the note on methods already says that no answers could be held out.
        return None
    seconds = seconds_needed(work.data, work.folds)
    if work.asked.structure is None and seconds > STRUCTURE_SECONDS:
        work.notes["structure"] = (
            f"Whether a tree describes the answers was not tested, because this takes about {seconds:,.0f} "
            "seconds of processor time. The option structure=True (--structure) of the report tests it, and "
            "so does ordhc structure."
        )
        return None
    return work.found(
        "structure",
        "Whether a tree describes the answers could not be tested",
        lambda: structure(work.data, **work.split, tree=tree, progress=progress),
    )


def _people_groups(work: _Work, progress: Progress | None) -> PeopleGroups | None:
    if not work.asked.people_groups:
        return None
    return work.found(
        "people_groups",
        "Whether people agree on one tree could not be tested",
        lambda: people_groups(work.data, folds=work.asked.folds, seed=work.asked.seed, progress=progress),
    )


def _split(answers: Answers, asked: Asked, notes: dict[str, str]) -> tuple[str, int]:
    """Return the unit that folds keep together ("group" or "answer"), and the number of folds.

    The number of folds is 0 if nothing can be held out, because all answers are by one person or to one
    question.
    """
    n_people = 0 if answers.person is None else len(np.unique(answers.person))
    unit = asked.unit
    if unit is None:
        unit = "group" if n_people >= FEWEST_UNITS else "answer"
        if 1 < n_people < FEWEST_UNITS:
            notes["unit"] = (
                f"There are only {n_people} people, too few to hold out whole people. Folds and resamples "
                "consist of answers, so intervals do not apply to other people."
            )
    count = n_people if unit == "group" else int(answers.question.max()) + 1
    if count < 2:
        notes["methods"] = (
            "There is only one person" if unit == "group" else "All answers are to one question"
        ) + ", so no answers can be held out: methods are not compared, and accuracy is unknown."
        return unit, 0
    if count < asked.folds:
        what = "people" if unit == "group" else "different questions"
        notes["folds"] = f"There are only {count} {what}, so answers are split into {count} folds."
    return unit, min(asked.folds, count)


def _methods(data: Comparisons, asked: Asked, notes: dict[str, str]) -> list[str]:
    if asked.methods is not None:
        found = list(asked.methods)
    else:
        found = default_methods(data, asked.by)
        if "posterior-al" not in found:
            notes["left_out"] = "The method posterior-al was not tried, because it would take too long."
        if data.n_leaves > MOVES_UP_TO:
            found = [name for name in found if name.endswith("-al")]
        if data.n_leaves > KERNELS_UP_TO:
            found = [name for name in found if name.startswith(("adds", "posterior"))]
    if asked.method is not None and asked.method not in found:
        found = [asked.method, *found]
    return found


def _natural(tree: Dendrogram, n_unanswered: int) -> int:
    n = tree.n_leaves
    most = min(12 + n_unanswered, n - 1)
    if most < 2 or tree.scale != "heights" or not tree.is_monotone:
        return min(n, 2)
    heights = np.sort(np.repeat(tree.heights, np.bincount(tree.parents[:-1])[n:] - 1))
    heights = heights if tree.kind == "dissimilarity" else -heights[::-1]
    # When k clusters are left, the next merge has the index n - k, and the previous merge n - k - 1.
    steps = {k: float(heights[n - k] - heights[n - k - 1]) for k in range(2, most + 1) if n - k - 1 >= 0}
    return max(steps, key=lambda k: (steps[k], -k)) if steps else 2


def sections_of(
    data: Comparisons, found: Findings, tree: Dendrogram, progress: Progress | None
) -> dict[str, Any]:
    ceiling = noise_ceiling(data, progress=progress)
    accuracy: dict[str, Any] = {
        "on_all_answers": satisfied_share(found.tree, data, shares_of(data)),
        "held_out": None,
        "held_out_questions": None,
        "ceiling": None if ceiling is None else asdict(ceiling),
    }
    if (folds := found.held_out) is not None:
        accuracy["held_out"] = {
            "estimate": folds.accuracy,
            "low": folds.low,
            "high": folds.high,
            "confidence": 0.95,
            "unit": folds.unit,
            "folds": folds.folds,
            "chance": folds.chance,
            "decided": folds.decided,
        }
    if found.on_random is not None:
        apart = found.on_random
        accuracy["held_out_questions"] = {
            "estimate": apart.accuracy,
            "low": apart.low,
            "high": apart.high,
            "confidence": 0.95,
            "n_answers": apart.n_answers,
            "chance": apart.chance,
            "by": "tree" if found.drawn is None else "posterior",
        }
    compared = None if found.structure is None else found.structure.to_dict()
    if compared is not None:
        # The report has a section `tree`.
        del compared["tree"]
    selection = None
    if found.selection is not None:
        selection = found.selection.to_dict()
        # Times differ between machines, but the same data and seed must give the same report.
        for candidate in selection["candidates"]:
            del candidate["seconds"]
        selection["clearly_worse"] = list(found.selection.clearly_worse)
    return {
        "method": {
            "name": found.method,
            "was_given": found.was_given,
            "settings": as_json(found.tree.settings),
            "unanswered": found.unanswered,
            "selection": selection,
        },
        "accuracy": accuracy,
        "people": None if found.people is None else [asdict(each) for each in found.people],
        "clusters": _clusters(found, tree),
        "lengths": None if found.drawn is None else typical_items(found.drawn),
        "structure": compared,
        "people_groups": None if found.people_groups is None else _with_distances(found.people_groups),
        "sensitivity": _sensitivity(found),
        "notes": found.notes,
        "versions": versions(),
    }


def _with_distances(found: PeopleGroups) -> dict[str, Any]:
    groups = found.to_dict()
    first = found.groups[0].dendrogram
    for group, each in zip(found.groups, groups["groups"], strict=True):
        each["triplet_distance"] = triplet_distance(group.dendrogram, first)
    return groups


def _clusters(found: Findings, tree: Dendrogram) -> dict[str, Any]:
    n = tree.n_leaves
    support = tree.support
    nodes, known = [], []
    for node in tree.nodes():
        if node.is_leaf or node.parent is None:
            continue
        share = None if support is None else float(support[node.label - n])
        if share is not None and not math.isnan(share):
            known.append(share)
        nodes.append(
            {
                "label": node.label,
                "name": node.name,
                "size": node.size,
                "height": node.height,
                "support": share,
                "leaves": np.sort(node.leaves).tolist() if node.size <= LISTED else None,
            }
        )
    made: Bootstrap | Posterior | None = found.resampled
    unit, mixing = None, None
    if found.resampled is not None:
        unit = found.resampled.unit
    elif found.drawn is not None:
        made, unit = found.drawn, "posterior"
        chains = found.drawn.diagnostics
        mixing = {"r_hat": chains.r_hat, "effective_size": chains.effective_size}
    return {
        "n_resamples": None if made is None else len(made.trees),
        "unit": unit,
        "mixing": mixing,
        "n_clusters": len(nodes),
        "n_known": len(known),
        "at_least": {f"{least:g}": sum(share >= least for share in known) for least in SUPPORT},
        "cut": {"n_clusters": found.n_clusters, "labels": tree.cut(found.n_clusters).tolist()},
        "nodes": nodes,
    }


def _sensitivity(found: Findings) -> list[dict[str, Any]]:
    rows = [
        {
            "method": name,
            "triplet_distance": float(triplet_distance(found.tree, other)),
            "robinson_foulds": float(robinson_foulds(found.tree, other)),
        }
        for name, other in found.others.items()
    ]
    return sorted(rows, key=lambda row: (row["triplet_distance"], row["method"]))


def versions() -> dict[str, Any]:
    brought = {each.plugin: each.version for each in registry.list_plugins() if each.plugin != "ordhc"}
    return {
        "ordhc": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "plugins": dict(sorted(brought.items())),
    }
