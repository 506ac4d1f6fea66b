"""The plugin contract: specs, hooks, discovery and lookup. Knows no spec by its name."""
