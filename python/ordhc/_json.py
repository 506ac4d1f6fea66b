"""Replace NaN and infinity by None, because JSON cannot store them."""

import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:
    """Return a copy of nested lists and mappings, with None for numbers that are not finite.

    Examples
    --------
    >>> finite({"a": [1.0, float("nan")], "b": (float("inf"), "c")})
    {'a': [1.0, None], 'b': [None, 'c']}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(part) for key, part in value.items()}
    return [finite(part) for part in value] if isinstance(value, list | tuple) else value
