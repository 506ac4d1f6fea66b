"""Open the file of a session, or create the file if it does not exist."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ordhc import _checks, _ordhc
from ordhc.asking.events import ADDED, RETIRED
from ordhc.asking.fill import DEFAULT_FILL, checked_fill
from ordhc.asking.given import DOES_NOT_WEIGH
from ordhc.asking.learner import Learner
from ordhc.asking.methods import Insertion, Method, Robust, Uncertain
from ordhc.asking.people import PRIOR
from ordhc.asking.prior import read_prior
from ordhc.asking.settings import OF_LEARNERS, as_method, from_settings, kept_settings
from ordhc.asking.store import FORMAT, Store, create, damaged
from ordhc.errors import InputError
from ordhc.io.paths import brief
from ordhc.tree.dendrogram import Dendrogram

_DEFAULTS = {"repeat": 1, "seed": 0, "fill": DEFAULT_FILL, "distinct": True}


#: The `method` of a session, and the other settings that the caller gave, for JSON.
Given = tuple[Method | None, dict[str, Any]]


def _checked(method: Any, fill: Any, distinct: Any, **settings: Any) -> Given:
    given = {key: value for key, value in settings.items() if value is not None}
    if "start" in given:
        given["start"] = read_prior(given["start"]).to_dict()
    if fill is not None:
        given["fill"] = checked_fill(fill)
    if distinct is not None:
        given["distinct"] = _checks.flag("distinct", distinct)
    kept = {key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()}
    return None if method is None else as_method(method), kept


def opened(
    path: str, names: Sequence[str] | None, n_leaves: int | None, **settings: Any
) -> tuple[Store, _ordhc.SessionLearner, Dendrogram | None]:
    """Return the session's file, its learner, and the learner's `start` tree (None without this setting).

    A file that does not exist, or is empty, is created. An existing file must have the same settings.
    """
    given = _checked(**settings)
    checked = _checks.names(names)
    if n_leaves is not None:
        n_leaves = _checks.whole("n_leaves", n_leaves, at_least=1, at_most=2**31 - 1)
    if not Path(path).exists() or not Path(path).stat().st_size:
        _create(path, checked, n_leaves, given)
    store = Store(path)
    try:
        return store, *_learner_of(store, checked, n_leaves, given)
    except BaseException:
        store.close()
        raise


def _create(path: str, names: tuple[str, ...] | None, n_leaves: int | None, given: Given) -> None:
    if names is None and n_leaves is None:
        raise InputError("a new session needs names or n_leaves", path=brief(path, 200))
    if names is not None and n_leaves is not None and len(names) != n_leaves:
        raise InputError(f"there are {len(names)} names, but n_leaves = {n_leaves}")
    n = len(names or ()) if n_leaves is None else n_leaves
    method = given[0] or Insertion()
    kept = {**kept_settings(method, names, n), **given[1]}
    _new_learner(names, n, kept)
    if not (folder := Path(path).absolute().parent).is_dir():
        reason = f"unable to open database file: there is no folder {brief(str(folder), 200)}"
        raise InputError(reason, path=brief(path, 200))
    listed = None if names is None else list(names)
    create(path, {"format": FORMAT, "n_leaves": n, "names": listed, "learner": kept}, method.width)


def _later_names(store: Store) -> tuple[tuple[str, ...], tuple[str, ...]]:
    added, retired = store.item_names(ADDED), set(store.item_names(RETIRED))
    every = (*(store.settings["names"] or ()), *added)
    return every, tuple(name for name in every if name not in retired)


def _learner_of(
    store: Store, names: tuple[str, ...] | None, n_leaves: int | None, given: Given
) -> tuple[_ordhc.SessionLearner, Dendrogram | None]:
    settings, n = store.settings["learner"], store.settings["n_leaves"]
    own_names = None if store.settings["names"] is None else tuple(store.settings["names"])
    if names is not None and names != own_names and names not in _later_names(store):
        reason = "the names of the session differ from the given names; `ordhc session add` adds items"
        raise InputError(reason, path=brief(store.path, 200))
    if n_leaves is not None and n_leaves != n and n_leaves not in map(len, _later_names(store)):
        raise InputError(f"the session has {n} leaves, not {n_leaves}", path=brief(store.path, 200))
    # The file of a salvaged session may lack settings of the method; `to_settings` adds their defaults.
    kept = {**_DEFAULTS, **settings, **store.method.to_settings()}
    method = {} if given[0] is None else kept_settings(given[0], own_names, n)
    for key, value in {**method, **given[1]}.items():
        if kept.get(key) != value:
            reason = (
                f"{key} is {_checks.quoted(kept.get(key))}, not {_checks.quoted(value)}; a session keeps its "
                f"settings: leave out {key}, or begin a session with the tree of this one as start (--start)"
            )
            raise InputError(reason, path=brief(store.path, 200))
    try:
        return _new_learner(own_names, n, settings)
    except (TypeError, ValueError) as error:
        raise damaged(store.path, error) from None


def _new_learner(
    names: Sequence[str] | None, n_leaves: int, settings: Mapping[str, Any]
) -> tuple[_ordhc.SessionLearner, Dendrogram | None]:
    """Return a learner that has asked no question yet, and the tree of its setting `start`, or None."""
    # A leaf takes at least 100 bytes in the learner and its snapshots.
    _ordhc.check_memory(f"a session of {n_leaves:,} leaves", 100 * n_leaves)
    method = from_settings(settings)
    if isinstance(method, Uncertain) and method.among is not None:
        raise InputError("a session does not support among=, a list of questions: use a Learner")
    if method.is_by_person:
        assert isinstance(method, Robust)
        if settings.get("repeat", 1) != 1:
            raise InputError(DOES_NOT_WEIGH)
        # The prior mean of the reliability, for people without answers.
        method = replace(method, p=PRIOR[0] / sum(PRIOR))
    own = {key: settings[key] for key in OF_LEARNERS if key in settings}
    learner = Learner(n_leaves if names is None else names, method, **own)
    bounds = [None if bound == np.inf else int(bound) for bound in (learner._limit, learner._budget)]
    return _ordhc.SessionLearner(learner._learner, *bounds), learner._start
