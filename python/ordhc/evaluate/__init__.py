"""How sure a tree is, and which method to take."""
