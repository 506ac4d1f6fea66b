"""The papers' tables and figures, beside what ordhc gives (`python -m reproduce --list`)."""
