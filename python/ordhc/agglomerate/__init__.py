"""Agglomerative clustering: the function `linkage` makes a dendrogram from similarities."""
