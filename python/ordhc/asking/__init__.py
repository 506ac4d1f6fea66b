"""Asking for comparisons: learners, oracles, the loop between them, and sessions that are files."""
