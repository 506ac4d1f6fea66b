"""Find installed plugins, and look up linkages, similarities, methods, oracles and metrics by name.

The specs of ordhc itself are in `ordhc.builtin`, which registers them in the same way as plugins.
"""

from ordhc.plugins.registry import list_plugins, registered

__all__ = ["list_plugins", "registered"]


def __dir__() -> list[str]:
    return sorted(__all__)
