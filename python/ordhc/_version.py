"""The version of ordhc, and the address for reports of bugs."""

__version__ = "0.1.0"

ISSUES = "https://github.com/ordhc/ordhc/issues"
