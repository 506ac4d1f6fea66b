"""Reports about a study: its tree, the certainty of the results, and the settings to reproduce them."""
