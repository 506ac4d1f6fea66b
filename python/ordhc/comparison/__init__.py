"""The first noun: triplets and quadruplets, tables of leaves, columns by their names."""
