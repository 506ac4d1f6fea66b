"""The environment of the HTML templates."""

from collections.abc import Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

__all__ = ["environment"]


def environment(extensions: Sequence[str] = ()) -> Environment:
    """Return the environment of the package's templates; values are escaped, missing names are errors."""
    return Environment(
        loader=PackageLoader("ordhc_collect"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=extensions,
    )
