"""Simulate a study with bots that take part over HTTP."""
