"""Any value for any argument of any public function: a result, or an error that says what is wrong."""

import asyncio
import functools
import inspect
import itertools
import os
import pathlib
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ordhc
from ordhc import Learner, Quadruplets, Triplets, learners, metrics, oracles
from ordhc.asking.analysis import Analysed
from ordhc.comparison.asked import FileOptions
from ordhc.errors import InputError, MissingExtraError, OrdhcWarning, PluginError

pytest.importorskip("scipy")
pytest.importorskip("sklearn")
from support.few_rounds import with_few_priors, with_few_rounds, with_few_sweeps
from support.folders import in_memory
from support.odd_things import AMOUNTS, ASK, NEWICK, ORACLE, THINGS, TREE, Q, S, T, X, anything

numbers_of_files = itertools.count()


def _learner(**options):
    learner = Learner(4, **options)
    learner.ask()
    return learner


#: The methods of learners, with what each needs.
_METHODS = {name: {} for name in learners.__all__ if name[0].isupper()}
for _name in ("Robust", "RobustPaper", "Majority"):
    _METHODS[_name] = {"p": 0.8}
_METHODS["Revise"] = {"prior": NEWICK}


def _learner_by(name):
    """Return a function that makes a learner by a method, with the parameters of the method."""
    made = getattr(learners, name)
    return functools.wraps(made)(lambda *args, **given: Learner(4, made(*args, **given)).ask())


def _learner_named(name, p=None):
    return Learner(4, learners.named(name, p=p)).ask()


def _session():
    session = ordhc.Session(f"session{next(numbers_of_files)}.ordhc", n_leaves=4)
    session.ask()
    return session


@functools.cache
def _one_session():
    return _session()


def _in_session(method):
    def call(*args, **given):
        session = _session() if method == "close" else _one_session()
        return getattr(session, method)(*args, **given)

    return functools.wraps(getattr(ordhc.Session, method))(call)


def _with_names(method):
    def call(*args, **given):
        with ordhc.Session(f"session{next(numbers_of_files)}.ordhc", ["a", "b", "c"]) as session:
            return getattr(session, method)(*args, **given)

    return functools.wraps(getattr(ordhc.Session, method))(call)


def _of_analysed(method):
    def call(*args, **given):
        return getattr(_one_session().analysed(), method)(*args, **given)

    return functools.wraps(getattr(Analysed, method))(call)


def _of_learner(method, **options):
    def call(*args, **given):
        return getattr(_learner(**options), method)(*args, **given)

    return functools.wraps(getattr(Learner, method))(call)


@functools.wraps(ordhc.scan)
def _scan_read(*args, **given):
    return ordhc.scan(*args, **given).read()


def _opened(path, names=None, *, n_leaves=None, **settings):
    with ordhc.Session(path, names, n_leaves=n_leaves, **settings) as session:
        return session.ask()


#: One event loop for all calls: starting one takes longer than most calls.
_one_loop = functools.cache(asyncio.Runner)


@functools.wraps(ordhc.learn_async)
def _learn_async(*args, **given):
    return _one_loop().run(ordhc.learn_async(*args, **given))


def _estimator(**given):
    return ordhc.OrdinalClustering(**given).fit(T.rows)


def _fitted(method):
    drawn = {"method": "posterior-al"} if method == "predict_proba" else {}
    return getattr(ordhc.OrdinalClustering(n_clusters=2, **drawn).fit(T.rows), method)


def _vectors(**given):
    return ordhc.VectorClustering(**given).fit(np.arange(12.0).reshape(6, 2))


ROWS = {"rows": T.rows}
OF_FILES = {**dict.fromkeys(FileOptions.__annotations__), "skip_bad": False}
PAIR = {"tree": TREE, "reference": NEWICK}
ANSWERS = {
    "data": {
        "a": ["x", "y"],
        "b": ["y", "z"],
        "c": ["z", "w"],
        "odd": ["z", "y"],
        "who": ["ann", "bob"],
        "n": [1, 2],
    },
    "kind": "odd-one-out",
    "items": ["a", "b", "c"],
    "chosen": "odd",
    "chosen_as": "name",
    "person": "who",
    "weights": "n",
    "exclude": {"who": "cid"},
    "na": ["skip"],
    "names": ["x", "y", "z", "w"],
    "n_leaves": 4,
    "skip_bad": False,
    **dict.fromkeys(("format", "participants", "wide", "questions", "ranks", "n_ranked")),
}

#: By name: what is called, and arguments that are right.
_PLAIN = "analysed ask close comparisons items people set_question set_rules table transaction tree undo"
CALLS = {
    "as_dendrogram": (ordhc.as_dendrogram, {"tree": NEWICK}),
    "bootstrap": (ordhc.bootstrap, {"data": T, "n_resamples": 2}),
    "cluster": (ordhc.cluster, {"data": T}),
    "consensus": (ordhc.consensus, {"trees": [TREE, TREE]}),
    "describe": (ordhc.describe, {"tree": TREE, "X": X}),
    "oracles.estimate_p": (ordhc.oracles.estimate_p, {"answers": [[0, 0, 1], [2, 2, 2]]}),
    "learn": (ordhc.learn, {"oracle": ORACLE, "n_leaves": 4}),
    "learn_async": (_learn_async, {"oracle": ORACLE, "n_leaves": 4}),
    "linkage": (ordhc.linkage, {"S": S, "dissimilarity": False}),
    "list_plugins": (ordhc.plugins.list_plugins, {}),
    "pca": (ordhc.similarities.pca, {"X": X, "n_components": 1}),
    "plan": (ordhc.plan, {"n_leaves": 30, "accuracy": 0.8}),
    "leaf_lengths": (ordhc.similarities.leaf_lengths, {"data": T}),
    "posterior": (ordhc.posterior, {"data": T, "sweeps": 2}),
    "read_answers": (ordhc.read_answers, {"file": "triplets.csv", **OF_FILES}),
    "read_answers of pairs": (ordhc.read_answers, {"file": "quadruplets.csv", "kind": "pairs"}),
    "read_tree": (ordhc.read_tree, {"path": "tree.nwk"}),
    "read_trees": (ordhc.read_trees, {"path": "tree.nwk"}),
    "refine": (ordhc.refine, {"tree": TREE, "data": T}),
    "report": (
        ordhc.report,
        {"data": T, "methods": ["adds3-al"], "folds": 2, "n_resamples": 2, "structure": False},
    ),
    "scan": (_scan_read, {"paths": "triplets.csv", "resume": None, "storage_options": None, **OF_FILES}),
    "score": (ordhc.score, {**PAIR, "metric": "aari"}),
    "select": (ordhc.select, {"data": T, "methods": ["adds3-al"], "folds": 2}),
    "similarity": (ordhc.similarity, {"data": T}),
    "people_groups": (ordhc.people_groups, {"data": T, "max_trees": 1, "folds": 2}),
    "Vectors": (ordhc.Vectors, {"X": X}),
    "supported": (ordhc.supported, {"tree": TREE, "triplets": T, "at_least": 1}),
    "structure": (ordhc.structure, {"data": T, "folds": 2}),
    "datasets.comparisons_of": (ordhc.datasets.comparisons_of, {"source": TREE, "number": 2}),
    "datasets.planted_similarities": (
        ordhc.datasets.planted_similarities,
        {"levels": 1, "leaves_per_cluster": 2},
    ),
    "datasets.random_tree": (ordhc.datasets.random_tree, {"n_leaves": 4}),
    "datasets.vectors_of": (
        ordhc.datasets.vectors_of,
        {
            "tree": ordhc.Dendrogram([[0, 1]], [1.0], kind="similarity", leaf_heights=[2.0, 2.0]),
            "n_vectors": 3,
            "n_features": 2,
        },
    ),
    "planted": (ordhc.datasets.planted, {"n_comparisons": 3, "levels": 1, "leaves_per_cluster": 2}),
    "write_comparisons": (ordhc.write_comparisons, {"data": T, "path": "written.csv"}),
    "write_tree": (ordhc.write_tree, {"tree": TREE, "path": "written.nwk"}),
    "write_trees": (ordhc.write_trees, {"trees": [TREE], "path": "written.nwk"}),
    "Triplets": (Triplets, ROWS),
    "Triplets.deduplicate": (T.deduplicate, {}),
    "Triplets.from_frame": (Triplets.from_frame, ANSWERS),
    "Triplets.from_most_central": (Triplets.from_most_central, ROWS),
    "Triplets.from_odd_one_out": (Triplets.from_odd_one_out, ROWS),
    "Triplets.from_ranking": (Triplets.from_ranking, ROWS),
    "Triplets.from_responses": (Triplets.from_responses, {"X": T.rows, "y": [1, -1, 1, 1]}),
    "Triplets.sample": (T.sample, {"m": 1}),
    "Triplets.split": (T.split, {}),
    "Triplets.to_quadruplets": (T.to_quadruplets, {}),
    "Triplets.__getitem__": (lambda index: T[index], {"index": 0}),
    "Quadruplets": (Quadruplets, {"rows": Q.rows}),
    "Quadruplets.from_frame": (
        Quadruplets.from_frame,
        {"data": {"a": ["x"], "b": ["y"], "c": ["x"], "d": ["z"]}, "items": list("abcd")},
    ),
    "Quadruplets.deduplicate": (Q.deduplicate, {}),
    "Quadruplets.sample": (Q.sample, {"m": 1}),
    "Quadruplets.split": (Q.split, {}),
    "Quadruplets.to_quadruplets": (Q.to_quadruplets, {}),
    "Dendrogram": (ordhc.Dendrogram, {"merges": [(0, 1), (2, 3)], "heights": [1.0, 2.0]}),
    "Dendrogram.cophenetic": (TREE.cophenetic, {}),
    "Dendrogram.keep": (TREE.keep, {"leaves": [0, 1]}),
    "Dendrogram.patristic": (TREE.patristic, {}),
    "Dendrogram.prune": (TREE.prune, {"leaves": [0, 1]}),
    "Dendrogram.reroot": (TREE.reroot, {"outgroup": [0]}),
    "Dendrogram.rotate": (TREE.rotate, {"node": 4}),
    "Dendrogram.rotate order": (TREE.rotate, {"order": TREE.leaf_order()}),
    "Dendrogram.rotate by size": (TREE.rotate, {"by_size": "ascending"}),
    "Dendrogram.collapse": (TREE.collapse, {"n_clusters": 2}),
    "Dendrogram.contract": (TREE.replace(support=[0.5, 0.8, 1.0]).contract, {"min_support": 0.7}),
    "Dendrogram.cut": (TREE.cut, {}),
    "Dendrogram.from_newick": (ordhc.Dendrogram.from_newick, {"text": NEWICK}),
    "Dendrogram.from_linkage_matrix": (ordhc.Dendrogram.from_linkage_matrix, {"Z": TREE.to_linkage_matrix()}),
    "Dendrogram.from_parents": (ordhc.Dendrogram.from_parents, {"parents": TREE.parents}),
    "Dendrogram.from_parents heights": (
        ordhc.Dendrogram.from_parents,
        {"parents": TREE.parents, "heights": [1.0, 2.0, 3.0], "leaf_heights": [0.0] * 4},
    ),
    "Dendrogram.from_parents lengths": (
        ordhc.Dendrogram.from_parents,
        {"parents": TREE.parents, "lengths": [1.0] * 6 + [np.nan]},
    ),
    "Dendrogram.leaf_order": (TREE.leaf_order, {}),
    "Dendrogram.node": (TREE.node, {"which": 0}),
    "Dendrogram.node of leaves": (TREE.node, {"which": [0, 1]}),
    "Dendrogram.nodes": (lambda order="preorder": list(TREE.nodes(order)), {}),
    "Dendrogram.to_frame": (TREE.to_frame, {}),
    "Dendrogram.to_networkx": (TREE.to_networkx, {}),
    "Dendrogram.replace": (
        TREE.replace,
        {"names": None, "node_names": None, "support": None, "settings": {"linkage": "by hand"}},
    ),
    "Dendrogram.relabel": (TREE.relabel, {"leaves": [1, 0, 2, 3]}),
    "Dendrogram.to_dict": (TREE.to_dict, {}),
    "Dendrogram.savefig": (
        TREE.savefig,
        {"path": "tree.html", "n_clusters": 2, "support_threshold": 0.5, "texts": {"0": "a"}},
    ),
    "Dendrogram.to_newick": (TREE.to_newick, {}),
    "Dendrogram.to_linkage_matrix": (TREE.to_linkage_matrix, {}),
    "as_dendrogram values": (
        lambda **given: ordhc.as_dendrogram({**TREE.to_dict(), **given}),
        dict.fromkeys(TREE.to_dict(), None) | TREE.to_dict(),
    ),
    "as_dendrogram lengths": (
        lambda **given: ordhc.as_dendrogram({**ordhc.as_dendrogram(NEWICK).to_dict(), **given}),
        ordhc.as_dendrogram(NEWICK).to_dict(),
    ),
    "insert": (
        ordhc.insert,
        {"tree": NEWICK, "items": "new", "oracle": lambda rows: np.zeros(len(rows), int)},
    ),
    "place": (ordhc.place, {"tree": TREE, "values": [1.0] * TREE.n_leaves, "linkage": "average"}),
    "Learner": (Learner, {"n_leaves": 4}),
    "Learner of pairs": (Learner, {"n_leaves": 4, "method": "4k-active"}),
    **{f"learners.{name}": (_learner_by(name), needed) for name, needed in _METHODS.items()},
    "learners.named": (_learner_named, {"name": "robust", "p": 0.8}),
    "learners.arguments": (learners.arguments, {"settings": {"p": 0.8}}),
    "oracles.named": (oracles.named, {"name": "tree", "source": NEWICK}),
    "Learner.ask": (_of_learner("ask"), {}),
    "Learner.tell": (_of_learner("tell"), {"ids": [0], "answers": [0]}),
    "Learner.tell repeatedly": (_of_learner("tell", repeat=3), {"ids": [0], "answers": [0]}),
    "Learner.tree": (_of_learner("tree"), {}),
    "Triplets.index": (T.index, {}),
    "Quadruplets.index": (Q.index, {}),
    "Learner.places": (_of_learner("places"), {"leaf": 0}),
    "Session": (_opened, {"path": "new.ordhc", "n_leaves": 4}),
    "Session.add_answers": (_in_session("add_answers"), {"rows": ASK, "answers": [0, 1]}),
    "Session.add_answers of gold": (
        _in_session("add_answers"),
        {"rows": ASK, "answers": [0, 1], "gold": True},
    ),
    **{f"Session.{name}": (_in_session(name), {}) for name in _PLAIN.split()},
    "Session.ask of a sampler": (_in_session("ask"), {"sampler": "random", "who": "ann"}),
    "Analysed.accuracy": (_of_analysed("accuracy"), {"model": TREE}),
    "Analysed.posterior": (_of_analysed("posterior"), {"sweeps": 2}),
    "Session.add_items": (_with_names("add_items"), {"items": "d"}),
    "Session.places": (_in_session("places"), {"item": 0}),
    "Session.retire": (_with_names("retire"), {"items": "b"}),
    "Session.forget": (_in_session("forget"), {"who": "ann"}),
    "Session.release": (_in_session("release"), {"ids": [1]}),
    "Session.tell": (_in_session("tell"), {"ids": [1], "answers": [0]}),
    "OrdinalClustering": (_estimator, dict(inspect.signature(ordhc.OrdinalClustering).parameters)),
    "VectorClustering": (_vectors, dict(inspect.signature(ordhc.VectorClustering).parameters)),
    "OrdinalClustering.fit": (_fitted("fit"), {"X": T.rows}),
    "OrdinalClustering.fit_predict": (_fitted("fit_predict"), {"X": T.rows}),
    "OrdinalClustering.predict_proba": (_fitted("predict_proba"), {"X": T.rows}),
    "OrdinalClustering.score": (_fitted("score"), {"X": T.rows}),
    "metrics.aari": (metrics.aari, PAIR),
    "metrics.ari": (metrics.ari, {"tree": TREE, "labels": [0, 0, 1, 1]}),
    "metrics.cophenetic_correlation": (metrics.cophenetic_correlation, PAIR),
    "metrics.dasgupta_cost": (metrics.dasgupta_cost, {"tree": TREE, "S": S}),
    "metrics.dasgupta_revenue": (metrics.dasgupta_revenue, {"tree": TREE, "S": S}),
    "metrics.dendrogram_purity": (metrics.dendrogram_purity, {"tree": TREE, "labels": [0, 0, 1, 1]}),
    "metrics.entanglement": (metrics.entanglement, PAIR),
    "metrics.kendall_tau_b": (metrics.kendall_tau_b, PAIR),
    "metrics.log_loss": (metrics.log_loss, {"predicted": [0.5] * 4, "comparisons": T}),
    "metrics.merge_distortion": (metrics.merge_distortion, PAIR),
    "metrics.quadruplet_revenue": (metrics.quadruplet_revenue, {"tree": TREE, "quadruplets": Q}),
    "metrics.robinson_foulds": (metrics.robinson_foulds, PAIR),
    "metrics.answer_accuracy": (metrics.answer_accuracy, {"tree": TREE, "comparisons": T}),
    "metrics.satisfied": (metrics.satisfied, {"tree": TREE, "comparisons": T}),
    "metrics.silhouette": (metrics.silhouette, {"tree": TREE, "S": S, "dissimilarity": False}),
    "metrics.tree_distances": (metrics.tree_distances, {"trees": [TREE, TREE]}),
    "metrics.triplet_distance": (metrics.triplet_distance, PAIR),
    "metrics.triplet_revenue": (metrics.triplet_revenue, {"tree": TREE, "triplets": T}),
    "oracles.Counting": (
        lambda oracle, rows: oracles.Counting(oracle)(rows),
        {"oracle": ORACLE, "rows": ASK},
    ),
    "oracles.from_similarity": (lambda S, rows: oracles.from_similarity(S)(rows), {"S": S, "rows": ASK}),
    "oracles.from_tree": (lambda tree, rows: oracles.from_tree(tree)(rows), {"tree": NEWICK, "rows": ASK}),
    "oracles.from_vectors": (
        lambda X, rows, similarity="dot": oracles.from_vectors(X, similarity)(rows),
        {"X": X, "rows": ASK},
    ),
    "oracles.majority": (
        lambda oracle, k, rows: oracles.majority(oracle, k)(rows),
        {"oracle": ORACLE, "k": 3, "rows": ASK},
    ),
    "oracles.noisy": (
        lambda oracle, p, rows, wrong="random", noise="persistent", seed=0: oracles.noisy(
            oracle, p, wrong=wrong, noise=noise, seed=seed
        )(rows),
        {"oracle": ORACLE, "p": 0.5, "rows": ASK},
    ),
    "oracles.person": (oracles.person, {"names": None}),
    "oracles.recorded": (
        lambda data, rows, missing="none": oracles.recorded(data, missing=missing)(rows),
        {"data": T, "rows": ASK},
    ),
    "oracles.Recording": (lambda oracle, rows: _recorded(oracle, rows), {"oracle": ORACLE, "rows": ASK}),
    "oracles.Recording.comparisons": (
        lambda n_leaves, names: _recorded(ORACLE, ASK, n_leaves, names),
        {"n_leaves": 4, "names": None},
    ),
    "oracles.workers": (
        lambda oracles_, rows: oracles.workers(oracles_)(rows),
        {"oracles_": [ORACLE, ORACLE], "rows": ASK},
    ),
}


def _recorded(oracle, rows, n_leaves=None, names=None):
    asked = oracles.Recording(oracle)
    asked(rows)
    return asked.comparisons(n_leaves, names)


#: What functions give, and errors: nothing that is checked. Drawing takes what Matplotlib takes.
OTHERS = {name for name in ordhc.__all__ if name.endswith(("Error", "Warning"))}
OTHERS |= {
    "Bootstrap",
    "Candidate",
    "Posterior",
    "Questions",
    "Report",
    "Selection",
    "PeopleGroups",
    "Structure",
    "StudyPlan",
}
OTHERS |= {"datasets", "metrics", "oracles", "plots", "__version__"}
OTHERS |= {"Dendrogram.plot", "Dendrogram.savefig", "metrics.KendallTau", "metrics.Satisfied"}
OTHERS |= {"metrics.Entanglement", "metrics.Silhouette"}


def _public():
    yield from (name for name in ordhc.__all__)
    yield from (f"metrics.{name}" for name in metrics.__all__)
    yield from (f"oracles.{name}" for name in oracles.__all__)
    yield from (f"learners.{name}" for name in learners.__all__)
    yield "OrdinalClustering"
    yield "VectorClustering"
    inherited = set(dir(ordhc.OrdinalClustering.__mro__[2])) - {"fit_predict", "score"}
    for kind in (Triplets, Quadruplets, ordhc.Dendrogram, Learner, ordhc.Session, ordhc.OrdinalClustering):
        for name in dir(kind):
            known = kind is ordhc.OrdinalClustering and (name in inherited or name.startswith("set_"))
            if not name.startswith("_") and callable(getattr(kind, name)) and not known:
                yield f"{kind.__name__}.{name}"


def test_nothing_public_is_left_out():
    assert sorted(set(_public()) - set(CALLS) - OTHERS) == []
    assert {name for name in CALLS if not name.startswith("_")} >= set(_public()) - OTHERS


@pytest.mark.parametrize("name", [name for name in CALLS if " " not in name and "Clustering" not in name])
def test_every_argument_is_tried(name):
    call, right = CALLS[name]
    assert set(_arguments(call, right)) >= set(right)


def _arguments(call, right):
    known = inspect.signature(call).parameters.values()
    named = [
        parameter.name for parameter in known if parameter.kind not in (2, 4) and parameter.name != "self"
    ]
    return sorted({*named, *right} - {"self"})


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    before = pathlib.Path.cwd()
    with in_memory(tmp_path_factory.mktemp("any")) as folder:
        os.chdir(folder)
        yield from _prepared()
        os.chdir(before)


def _prepared():
    ordhc.write_comparisons(T, "triplets.csv")
    ordhc.write_comparisons(Q, "quadruplets.csv")
    ordhc.write_tree(TREE, "tree.nwk")
    with pytest.MonkeyPatch.context() as patch:
        with_few_rounds(patch)
        with_few_sweeps(patch)
        with_few_priors(patch)
        yield
    for made in (_one_session, _one_loop):
        if made.cache_info().currsize:
            made().close()


def _is_large(value):
    values = value if isinstance(value, list | tuple) else [value]
    return any(isinstance(x, int | float | np.number) and 4 < x < 2**63 for x in values)


def _is_fair(what, value):
    """Whether the work is small, and what is called raises nothing of its own."""
    if what in {"oracle", "oracles_", "progress", "S"} and (isinstance(value, type) or value is len):
        return False
    return what not in AMOUNTS or not _is_large(value)


def _check(call, right, odd):
    given = {**right, **odd}
    if call in (_estimator, _vectors):
        given = odd
    if call is _opened and "path" not in odd:
        given["path"] = f"new{next(numbers_of_files)}.ordhc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OrdhcWarning)
        try:
            call(**given)
        except (InputError, MissingExtraError, PluginError) as error:
            text = str(error)
        except OSError:
            if not {
                "path",
                "paths",
                "spill",
                "resume",
                "file",
                "names",
                "participants",
                "questions",
                "prior",
                "start",
            } & set(odd):
                raise
            return
        except (IndexError, MemoryError) as error:
            text = str(error)
            if "index" not in odd and not (isinstance(error, MemoryError) and any(map(str.isdigit, text))):
                raise
        else:
            return
    assert text.isprintable(), text
    assert 0 < len(text) <= 500


#: These fit many models for each odd thing that is taken.
SLOW = {"people_groups", "report"}
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CALLS]


@pytest.mark.parametrize("name", NAMES)
def test_each_odd_thing_is_taken_or_explained(name):
    call, right = CALLS[name]
    for what in _arguments(call, right):
        for make in THINGS:
            value = make()
            if _is_fair(what, value):
                _check(call, right, {what: value})


@pytest.mark.parametrize("name", CALLS)
def test_anything_is_taken_or_explained(name):
    call, right = CALLS[name]
    arguments = _arguments(call, right)
    if not arguments:
        _check(call, right, {})
        return

    @settings(
        deadline=None,
        max_examples=15 + len(arguments),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    @given(st.dictionaries(st.sampled_from(arguments), anything(), min_size=1, max_size=2))
    def run(odd):
        odd = {what: value for what, value in odd.items() if _is_fair(what, value)}
        _check(call, right, odd)

    run()
