"""THIRD-PARTY-LICENSES: the licences of the crates that wheels hold, made from `cargo metadata`.

python .ci/licences.py            # is the file what Cargo.lock says?
python .ci/licences.py --write
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "THIRD-PARTY-LICENSES"
#: For which wheels are made.
PLATFORMS = (
    *(f"{cpu}-unknown-linux-{libc}" for cpu in ("x86_64", "aarch64") for libc in ("gnu", "musl")),
    *(f"{cpu}-apple-darwin" for cpu in ("x86_64", "aarch64")),
    *(f"{cpu}-pc-windows-msvc" for cpu in ("x86_64", "aarch64")),
)
#: If a crate has several licences, the first of these is used; a person must look at any other.
TAKEN = ("MIT", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "Apache-2.0")
_FILES = {
    "MIT": ("LICENSE-MIT", "LICENSE"),
    "BSD-2-Clause": ("LICENSE-BSD", "LICENSE"),
    "BSD-3-Clause": ("LICENSE-BSD", "LICENSE"),
    "Zlib": ("LICENSE-ZLIB", "LICENSE"),
    "Apache-2.0": ("LICENSE-APACHE", "LICENSE"),
}
HEAD = """\
The compiled part of ordhc (ordhc/_ordhc) holds the crates below, each under the licence that stands under
it, and Rust's standard library (MIT OR Apache-2.0, the Rust project's developers). `python .ci/licences.py
--write` makes this file from Cargo.lock.
"""


def linked():
    """Return the crates that end up in the extension: no build scripts, macros or tests."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    command += [part for platform in PLATFORMS for part in ("--filter-platform", platform)]
    told = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in told["packages"]}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}
    (start,) = [key for key, package in packages.items() if package["name"] == "ordhc-python"]
    seen, left = set(), [start]
    while left:
        key = left.pop()
        kinds = {kind for target in packages[key]["targets"] for kind in target["kind"]}
        if key in seen or "proc-macro" in kinds:
            continue
        seen.add(key)
        for needed in nodes[key]["deps"]:
            if any(kind["kind"] is None for kind in needed["dep_kinds"]):
                left.append(needed["pkg"])
    found = [packages[key] for key in seen if packages[key]["source"] is not None]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def licence_of(package):
    """Return the licence that is taken, and its text."""
    said = package["license"] or ""
    there = set(re.split(r"\s+OR\s+|/", said.replace("(", "").replace(")", "")))
    taken = next((name for name in TAKEN if name in there), None)
    if taken is None:
        sys.exit(f"{package['name']} {package['version']}: the licence is {said!r}; may it be shipped?")
    folder = Path(package["manifest_path"]).parent
    for name in _FILES[taken]:
        if (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8")
            return taken, "\n".join(line.rstrip() for line in text.strip().splitlines())
    sys.exit(f"{package['name']} {package['version']} has no text of its licence, {taken}")


def made():
    """Return the whole text; crates with the same text share a section."""
    texts = {}
    for package in linked():
        texts.setdefault(licence_of(package), []).append(f"{package['name']} {package['version']}")
    parts = [HEAD]
    for (taken, text), names in sorted(texts.items(), key=lambda item: item[1]):
        parts.append(f"{'=' * 78}\n{', '.join(names)} ({taken})\n{'=' * 78}\n\n{text}\n")
    return "\n".join(parts)


def main():
    """Write the file, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    text = made()
    if parser.parse_args().write:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit("THIRD-PARTY-LICENSES is not what Cargo.lock says: run python .ci/licences.py --write")


if __name__ == "__main__":
    main()
