"""The second noun: the dendrogram, its text, and trees in any other form."""
