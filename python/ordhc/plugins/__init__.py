"""Find installed plugins, and look up linkages, similarities, methods, oracles and metrics by name.

`ordhc.builtin` has the linkages, similarities, methods, oracles and metrics of ordhc itself. They are
registered in the same way as those of plugins.
"""

from ordhc.plugins.registry import list_plugins, registered

__all__ = ["list_plugins", "registered"]
__dir__ = __all__.copy
