"""The version, and where bugs are reported."""

__version__ = "0.1.0"

ISSUES = "https://github.com/ordhc/ordhc/issues"
