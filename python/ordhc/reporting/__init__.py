"""Reports: what answers say, how sure that is, and how somebody else gets the same."""
