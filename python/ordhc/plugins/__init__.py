"""The plugins that are installed: specs, hooks, discovery and lookup by name.

This package names no spec of ordhc itself; `ordhc.builtin` registers them.
"""

from ordhc.plugins.registry import list_plugins

__all__ = ["list_plugins"]


def __dir__() -> list[str]:
    return sorted(__all__)
