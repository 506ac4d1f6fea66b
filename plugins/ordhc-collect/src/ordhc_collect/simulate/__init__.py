"""Bots that take part in a study over HTTP."""
