"""Make dendrograms of comparisons or vectors: choose a method, compute the tree, and refine it."""
