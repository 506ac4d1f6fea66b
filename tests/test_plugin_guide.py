"""What docs/plugins.md says is so."""

import dataclasses
from pathlib import Path

from ordhc import hooks, specs, testing
from support.plugins import rows_of

GUIDE = Path(__file__).parent.parent / "docs" / "plugins.md"


def test_the_guide_names_hooks_fields_and_variables():
    text = GUIDE.read_text(encoding="utf-8")
    names = [name for name in vars(hooks) if name.startswith("ordhc_")]
    assert len(names) == 5
    for name in specs.__all__:
        cls = getattr(specs, name)
        if name != "Spec":
            names.append(name)
        names.extend(field.name for field in dataclasses.fields(cls))
    names += ["ORDHC_PLUGINS", "ORDHC_STRICT"]
    missing = [name for name in names if f"`{name}`" not in text]
    assert not missing


def test_the_guide_has_a_plugin_that_works(install):
    text = GUIDE.read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    plugins = [block for block in blocks if "@hookimpl" in block]
    assert plugins
    for at, block in enumerate(plugins):
        install(f"guide-{at}", block)
        assert {row.status for row in rows_of(f"guide-{at}")} == {"ok"}
        for row in rows_of(f"guide-{at}"):
            if row.kind == "linkage":
                testing.check_linkage(row.name)
            elif row.kind == "similarity":
                testing.check_similarity(row.name)
            elif row.kind == "metric":
                testing.check_metric(row.name)
