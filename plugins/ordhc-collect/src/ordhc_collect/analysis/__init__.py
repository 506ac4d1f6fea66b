"""The analysis of a study's answers."""
