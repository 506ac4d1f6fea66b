"""The modules that are documented as public."""

PUBLIC = (
    "ordhc",
    "ordhc.commands",
    "ordhc.datasets",
    "ordhc.errors",
    "ordhc.executors",
    "ordhc.hooks",
    "ordhc.io",
    "ordhc.learners",
    "ordhc.metrics",
    "ordhc.oracles",
    "ordhc.plotting",
    "ordhc.plugins",
    "ordhc.progress",
    "ordhc.results",
    "ordhc.similarities",
    "ordhc.specs",
    "ordhc.testing",
)
