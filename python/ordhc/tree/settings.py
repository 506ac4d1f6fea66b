"""The settings of a tree: the similarity, linkage and objective that made it, and their parameters."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ordhc import _checks
from ordhc.errors import InputError

#: The largest number of array elements that settings store. For larger arrays settings store the shape.
_MANY = 100


def made_by(
    *,
    method: str | None = None,
    similarity: str | None = None,
    similarity_parameters: Mapping[str, Any] | None = None,
    linkage: str | None = None,
    linkage_parameters: Mapping[str, Any] | None = None,
    refine: str | None = None,
    refine_parameters: Mapping[str, Any] | None = None,
) -> Mapping[str, Any]:
    """Return the settings of the method that made a tree; their keys are the names of the arguments.

    The value None means that a part (similarity, linkage, objective) was not used or is unknown. Without
    parameters the value is an empty mapping.
    """
    return _plain(  # type: ignore[no-any-return]
        {
            "method": method,
            "similarity": similarity,
            "similarity_parameters": similarity_parameters or {},
            "linkage": linkage,
            "linkage_parameters": linkage_parameters or {},
            "refine": refine,
            "refine_parameters": refine_parameters or {},
        }
    )


def settings_of(given: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a read-only copy of settings, with values that JSON can store; other values become text."""
    if given is None:
        return None
    if not isinstance(given, dict | Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"settings are {_checks.quoted(given)}, not a mapping of names to values")
    found: Mapping[str, Any] = _plain(given)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return str(value) if value.isascii() else _checks.text("a setting", value)
    if isinstance(value, dict | Mapping):
        return MappingProxyType({_plain(str(name)): _plain(part) for name, part in value.items()})
    if isinstance(value, np.ndarray | np.generic):
        if value.size > _MANY:
            return f"{type(value).__name__} of shape {value.shape}"
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(map(_plain, value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    return value if value is None or isinstance(value, bool | int) else _checks.quoted(value)


def as_json(settings: Any) -> Any:
    if isinstance(settings, Mapping):
        return {name: as_json(part) for name, part in settings.items()}
    return [as_json(part) for part in settings] if isinstance(settings, tuple) else settings


def in_words(settings: Mapping[str, Any]) -> str:
    words = [
        f"{before}{settings[part]}{after}"
        for part, before, after in (
            ("similarity", "", " similarity"),
            ("linkage", "", " linkage"),
            ("refine", "refined by ", ""),
        )
        if settings.get(part)
    ]
    if (settings.get("similarity_parameters") or {}).get("lengths"):
        words.insert(1, "lengths of leaves")
    parts = ", ".join(words)
    return f"{settings['method']}: {parts}" if settings.get("method") else parts
