"""The class `Dendrogram`, its Newick text, and conversion of trees in other forms."""
