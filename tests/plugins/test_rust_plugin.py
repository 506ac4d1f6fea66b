"""The example of a linkage written in Rust (plugins/ordhc-soft) is compiled, and keeps its promises."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import ordhc
from ordhc import testing
from ordhc.plugins import registered

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "plugins" / "ordhc-soft"


@pytest.fixture(scope="module")
def soft(tmp_path_factory):
    """The plugin, compiled and importable."""
    if not (ROOT / "Cargo.toml").exists() or shutil.which("cargo") is None:
        pytest.skip("compiling the plugin needs cargo")
    folder = tmp_path_factory.mktemp("soft")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = ["cargo", "build", "--quiet", "--locked", "--release", "--package", "ordhc-soft"]
    subprocess.run(command, cwd=ROOT, check=True)
    shutil.copytree(SOURCE / "src" / "ordhc_soft", folder / "ordhc_soft")
    (built,) = [
        path for path in (target / "release").glob("*_native.*") if path.suffix in (".so", ".dylib", ".dll")
    ]
    shutil.copy(
        built, folder / "ordhc_soft" / ("_native.pyd" if built.suffix == ".dll" else "_native.abi3.so")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield import_module("ordhc_soft")
    sys.modules.pop("ordhc_soft", None)


def heights_of(S, sharpness):
    """Heights by the definition, from the similarities of leaves, in pure Python."""
    rows = {(leaf,): {} for leaf in range(len(S))}
    for a in rows:
        for b in rows:
            if a != b:
                rows[a][b] = S[a[0], b[0]]
    found = []
    while len(rows) > 1:
        value, a, b = max((rows[a][b], a, b) for a in rows for b in rows[a])
        found.append(value)
        x, y = rows.pop(a), rows.pop(b)
        merged = {}
        for other in rows:
            total = len(a) * np.exp(sharpness * x[other]) + len(b) * np.exp(sharpness * y[other])
            merged[other] = np.log(total / (len(a) + len(b))) / sharpness
            rows[other].pop(a)
            rows[other].pop(b)
            rows[other][a + b] = merged[other]
        rows[a + b] = merged
    return sorted(found, reverse=True)


@pytest.mark.slow
def test_the_plugin_passes_the_conformance_checks(soft):
    testing.check_linkage(soft.SOFT)


@pytest.mark.slow
@pytest.mark.parametrize("sharpness", [0.01, 1.0, 30.0])
def test_heights_are_those_of_the_definition(soft, sharpness):
    S = np.random.default_rng(3).normal(size=(12, 12))
    S += S.T
    with registered(soft.SOFT):
        tree = ordhc.linkage(S, "soft", dissimilarity=False, sharpness=sharpness)
    assert sorted(tree.heights, reverse=True) == pytest.approx(heights_of(S, sharpness))


@pytest.mark.slow
def test_bad_settings_are_errors_with_the_value(soft):
    with registered(soft.SOFT), pytest.raises(ValueError, match=r"sharpness is -1"):
        ordhc.linkage(np.eye(4), "soft", dissimilarity=False, sharpness=-1.0)
