"""Measure how certain a tree is, and compare methods."""
