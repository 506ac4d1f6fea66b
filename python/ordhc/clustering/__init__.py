"""From data to a dendrogram in one step: methods, their routes, and better trees."""
