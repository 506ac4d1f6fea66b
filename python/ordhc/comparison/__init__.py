"""Comparisons of leaves (triplets and quadruplets), and how tables of answers are converted to them."""
