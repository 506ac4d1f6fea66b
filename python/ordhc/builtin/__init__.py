"""Register the linkages, similarities, methods, metrics and oracles of ordhc with the hooks of plugins."""
