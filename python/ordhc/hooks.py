"""The hooks by which plugins register methods, metrics, oracles and commands.

The hooks are defined in `ordhc.plugins.hooks`.
"""

from ordhc.plugins.hooks import (
    hookimpl,
    hookspec,
    ordhc_commands,
    ordhc_linkages,
    ordhc_methods,
    ordhc_metrics,
    ordhc_oracles,
    ordhc_similarities,
)

__all__ = [
    "hookimpl",
    "hookspec",
    "ordhc_commands",
    "ordhc_linkages",
    "ordhc_methods",
    "ordhc_metrics",
    "ordhc_oracles",
    "ordhc_similarities",
]
__dir__ = __all__.copy
