"""From data to similarities of all pairs of leaves."""
