"""Opening the file of a session, which is made if it isn't there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ordhc import _checks, _ordhc
from ordhc.asking.desk import new_desk
from ordhc.asking.fill import DEFAULT_FILL, checked_fill
from ordhc.asking.learner import width_of
from ordhc.asking.prior import with_kept_prior
from ordhc.asking.schema import FORMAT, damaged
from ordhc.asking.store import Store, create
from ordhc.errors import InputError
from ordhc.io.guard import brief

__all__ = ["given_settings", "opened"]

_DEFAULTS = {"method": "insertion", "fill": DEFAULT_FILL, "distinct": True}


def given_settings(**settings: Any) -> dict[str, Any]:
    """The settings that are not None, as they are kept."""
    given = {key: value for key, value in settings.items() if value is not None}
    if "fill" in given:
        given["fill"] = checked_fill(given["fill"])
    if "distinct" in given:
        given["distinct"] = _checks.flag("distinct", given["distinct"])
    return {key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()}


def opened(
    path: str, names: Sequence[str] | None, n_leaves: int | None, given: dict[str, Any]
) -> tuple[Store, _ordhc.Desk]:
    """The file, and a desk by its settings; what was given otherwise must be the same."""
    checked = _checks.names(names)
    if n_leaves is not None:
        n_leaves = _checks.whole("n_leaves", n_leaves, at_least=1, at_most=2**31 - 1)
    if not Path(path).exists() or not Path(path).stat().st_size:
        _create(path, checked, n_leaves, given)
    store = Store(path)
    try:
        return store, _desk_of(store, checked, n_leaves, given)
    except BaseException:
        store.close()
        raise


def _create(path: str, names: tuple[str, ...] | None, n_leaves: int | None, given: dict[str, Any]) -> None:
    if names is None and n_leaves is None:
        raise InputError("a new session needs names or n_leaves", path=brief(path, 200))
    if names is not None and n_leaves is not None and len(names) != n_leaves:
        raise InputError(f"{len(names)} names for n_leaves = {n_leaves}")
    n = len(names or ()) if n_leaves is None else n_leaves
    given = with_kept_prior(given, names, n)
    new_desk(names, n, given)
    if not (folder := Path(path).absolute().parent).is_dir():
        reason = f"unable to open database file: there is no folder {brief(str(folder), 200)}"
        raise InputError(reason, path=brief(path, 200))
    listed = None if names is None else list(names)
    create(path, {"format": FORMAT, "n_leaves": n, "names": listed, "learner": given}, width_of(given))


def _desk_of(
    store: Store, names: tuple[str, ...] | None, n_leaves: int | None, given: dict[str, Any]
) -> _ordhc.Desk:
    settings, n = store.settings["learner"], store.settings["n_leaves"]
    own_names = None if store.settings["names"] is None else tuple(store.settings["names"])
    if names is not None and names != own_names:
        raise InputError("the session has other names than those given", path=brief(store.path, 200))
    if n_leaves is not None and n_leaves != n:
        raise InputError(f"the session has {n} leaves, not {n_leaves}", path=brief(store.path, 200))
    kept = settings if given.get("prior") is None else with_kept_prior(settings, own_names, n)
    for key, value in with_kept_prior(given, own_names, n).items():
        own = kept.get(key, _DEFAULTS.get(key))
        if own != value:
            told = f"{key} is {_checks.quoted(own)}, not {_checks.quoted(value)}"
            raise InputError(told, path=brief(store.path, 200))
    try:
        return new_desk(own_names, n, settings)
    except (TypeError, ValueError) as error:
        raise damaged(store.path, error) from None
