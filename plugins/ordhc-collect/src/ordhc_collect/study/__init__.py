"""Studies: what a study file says, checked."""
