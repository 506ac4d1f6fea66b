"""The version of ordhc, and the web address for bug reports."""

__version__ = "0.1.0"

ISSUES = "https://github.com/ordhc/ordhc/issues"
