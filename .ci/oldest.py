"""The oldest versions that pyproject.toml allows, for pip: python .ci/oldest.py plot sklearn."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def oldest(extras):
    """Return a line for each requirement of the package and of extras: exactly its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    found = {}
    for line in lines:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)(,<[0-9.]+)?", line)
        if match is None:
            sys.exit(f"{line!r} in pyproject.toml has no lower bound")
        found[match[1]] = f"{match[1]}=={match[2]}"
    return sorted(found.values())


if __name__ == "__main__":
    print("\n".join(oldest(sys.argv[1:])))
