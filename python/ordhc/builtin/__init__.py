"""The linkages, similarities, methods, metrics and oracles of ordhc, registered with the hooks of plugins."""
