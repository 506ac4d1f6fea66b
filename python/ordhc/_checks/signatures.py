"""Signatures of functions with `**options`, and fields that users can read but not set."""

from collections.abc import Callable
from inspect import Parameter, signature
from operator import attrgetter
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def read_only(attribute: str, doc: str) -> Any:
    """Return a property that reads an attribute, such as "_tree.n_leaves", without a Python call."""
    return property(attrgetter(attribute), doc=doc)


def shows_options(options: type) -> Callable[[_F], _F]:
    """Return a decorator for functions with `**options`, so that `help` lists the keys of a `TypedDict`.

    The default of each option is shown as `...`, because another function has the default.
    """

    def decorate(function: _F) -> _F:
        known = signature(function)
        own = [each for each in known.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        more = [
            Parameter(
                name, Parameter.KEYWORD_ONLY, default=..., annotation=getattr(kind, "__forward_arg__", kind)
            )
            for name, kind in options.__annotations__.items()
        ]
        function.__signature__ = known.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return function

    return decorate
