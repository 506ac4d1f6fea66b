"""Mistakes that people make, and what they must be told: tables, and the harness that goes through them."""
