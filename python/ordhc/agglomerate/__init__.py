"""From similarities to a dendrogram."""
