"""Numbers that JSON has no word for: NaN and infinity."""

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["finite"]


def finite(value: Any) -> Any:
    """Return a value of lists and mappings with None for numbers that aren't finite.

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
