"""Convert methods of learners from and to names and flat settings.

Flat settings come from options of commands, tables of files, and the file of a session.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from ordhc import _checks
from ordhc.asking.methods import CLASSES, Method, OfPairs, Revise
from ordhc.asking.prior import prior_tree
from ordhc.errors import InputError
from ordhc.tree.dendrogram import from_engine

#: The settings that all learners have.
OF_LEARNERS = ("repeat", "budget", "limit", "seed", "start")
METHODS = tuple(CLASSES)


def _fields(name: str) -> tuple[str, ...]:
    return tuple(field.name for field in fields(CLASSES[name]))  # type: ignore[arg-type]


SETTINGS = tuple(sorted({setting for name in METHODS for setting in _fields(name)}))


def named(name: str, **settings: Any) -> Method:
    """Return the method of this name with these settings.

    Parameters
    ----------
    name
        "insertion", "quick", "robust", "robust-paper", "majority", "revise", "uncertain", "single",
        "complete" or "4k-active".
    **settings
        The parameters of the method's class. None means the default.

    Raises
    ------
    InputError
        An unknown name, a setting that the method does not have, or an impossible value.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.learners.named("majority", p=0.8)
    Majority(p=0.8, delta=0.05)
    """
    name = _checks.choice("method", name, METHODS)
    own = _fields(name)
    given = {key: value for key, value in settings.items() if value is not None}
    for key in given:
        if key not in own:
            users = [other for other in METHODS if key in _fields(other)]
            if not users:
                raise InputError(f"no method has a setting {_checks.quoted(key)}")
            takes = f"{', '.join(users)} {'does' if len(users) == 1 else 'do'}"
            has = f"{name} takes no {key}; {takes}"
            remedy = ""
            if key == "p" and name == "uncertain":
                remedy = "; it estimates how often answers are wrong"
            elif key == "p" and issubclass(CLASSES[name], OfPairs):
                remedy = "; give repeat=3 or more, to take majorities"
            raise InputError(has + remedy)
    return CLASSES[name](**given)


def from_settings(settings: Mapping[str, Any], *, default: str = "insertion") -> Method:
    """Return the method that a mapping of settings describes.

    Keys other than "method" and the settings of methods are ignored. Without the key "method", the method
    is "revise" if there is a prior. Otherwise it is the first of `default`, "insertion" and "robust" that has
    all given settings.
    """
    given = {key: value for key, value in settings.items() if key in SETTINGS and value is not None}
    name = settings.get("method")
    if name is None:
        candidates = ("revise",) if "prior" in given else (default, "insertion", "robust")
        name = next((name for name in candidates if given.keys() <= set(_fields(name))), candidates[0])
    return named(name, **given)


def arguments(settings: Mapping[str, Any], *, default: str = "insertion") -> dict[str, Any]:
    """Return the arguments of `ordhc.Learner` and `ordhc.Session` that a flat table of settings describes.

    Parameters
    ----------
    settings
        `method`, the name of a method; the settings of that method; `repeat`, `budget`, `limit`, `seed` and
        `start`. None means the default.
    default
        The method if `settings` has neither a `method` nor a `prior`; a `prior` alone means "revise". If the
        default lacks one of the settings, "insertion" or "robust" is used, whichever has all settings.

    Returns
    -------
    dict
        `method`, and each of `repeat`, `budget`, `limit`, `seed` and `start` that is given.

    Raises
    ------
    InputError
        A setting that does not exist or that the method does not have, or an impossible value.

    Examples
    --------
    >>> import ordhc
    >>> ordhc.learners.arguments({"method": "majority", "p": 0.8, "seed": 3})
    {'method': Majority(p=0.8, delta=0.05), 'seed': 3}
    """
    if not isinstance(settings, Mapping):
        raise InputError(f"settings = {_checks.quoted(settings)} is not a mapping")
    for key in settings:
        if key not in (*SETTINGS, *OF_LEARNERS, "method"):
            raise InputError(f"there is no setting {_checks.quoted(key)} of learners")
    default = _checks.choice("default", default, METHODS)
    given = {key: settings[key] for key in OF_LEARNERS if settings.get(key) is not None}
    return {"method": from_settings(settings, default=default), **given}


def kept_settings(method: Method, names: Sequence[str] | None, n_leaves: int) -> dict[str, Any]:
    """Return the settings of a method as a dict for JSON; the prior of "revise" has numbered leaves."""
    if isinstance(method, Revise):
        prior = from_engine(prior_tree(method.prior, names, n_leaves))
        method = replace(method, prior=prior.to_dict())
    return method.to_settings()


def as_method(method: Any) -> Method:
    if isinstance(method, Method):
        return method
    if isinstance(method, str):
        return named(method)
    raise InputError(
        f"method = {_checks.quoted(method)} is neither a name of a method nor a method of ordhc.learners"
    )
