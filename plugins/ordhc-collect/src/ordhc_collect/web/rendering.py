"""How templates become pages."""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["environment"]


def environment(extensions: Sequence[str] = ()) -> Environment:
    """The package's templates; whatever stands in them is escaped, and names that are missing are errors."""
    return Environment(
        loader=PackageLoader("ordhc_collect"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=extensions,
    )
