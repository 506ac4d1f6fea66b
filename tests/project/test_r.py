"""The how-to for R runs in R, and R has what Python has. Needs r-base, r-cran-ape and r-cran-jsonlite."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ordhc

PAGE = Path(__file__).parents[2] / "docs/howto/r.md"
#: Prints what R has, as JSON.
TOLD = """
told <- list(tips = phy$tip.label, lengths = phy$edge.length, edge = phy$edge, labels = phy$node.label,
  cut = cutree(hc, k = 2), leaves = labels(dend), heights = hc$height, merge = hc$merge, order = hc$order,
  supports = supports, upgma = cutree(upgma, k = 3), own = cutree(hclust(dist(x), "average"), k = 3),
  same = same,
  equal = isTRUE(all.equal(upgma$height, hclust(dist(x), "average")$height)))
cat("\\nTOLD", jsonlite::toJSON(told, digits = NA), "\\n")
"""


def blocks():
    text = PAGE.read_text()
    before, after = text.split("## In one process: reticulate")
    return ["\n".join(re.findall(r"```r\n(.*?)```", part, re.DOTALL)) for part in (before, after)]


def needs(condition, what):
    """Skip the test if R is missing, or a condition in R is false."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is missing: apt-get install r-base r-cran-ape r-cran-jsonlite")
    if subprocess.run(["Rscript", "-e", f"quit(status = !({condition}))"], capture_output=True).returncode:
        pytest.skip(f"R has no {what}")


def in_r(folder, code):
    """Return what R code prints in a folder where `ordhc` is a command."""
    both = "requireNamespace('ape', quietly = TRUE) && requireNamespace('jsonlite', quietly = TRUE)"
    needs(both, "ape or jsonlite: apt-get install r-cran-ape r-cran-jsonlite")
    command = folder / "ordhc"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m ordhc "$@"\n')
    command.chmod(0o755)
    (folder / "page.R").write_text(code)
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "RETICULATE_PYTHON": sys.executable,
    }
    done = subprocess.run(
        ["Rscript", "page.R"], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_in_r(tmp_path):
    out = in_r(tmp_path, blocks()[0] + TOLD)
    told = json.loads(re.search(r"TOLD (.*)", out)[1])
    tree = ordhc.read_tree(tmp_path / "tree.json")
    # phylo: names, lengths and supports, in the order of the text.
    assert told["tips"] == [tree.labels[leaf] for leaf in tree.leaf_order()]
    assert set(told["tips"]) == {"Homo_sapiens", "Pan paniscus", "Mus", "Rattus"}
    nodes = list(tree.nodes())
    length = dict(zip(map(tuple, told["edge"]), told["lengths"], strict=True))
    below = {child: value for (_, child), value in length.items()}
    for at, name in enumerate(told["tips"], start=1):
        assert below[at] == pytest.approx(tree.lengths[tree.labels.index(name)])
    inner = [node for node in nodes if not node.is_leaf]
    assert [float(label) for label in told["labels"]] == pytest.approx([100 * node.support for node in inner])
    # hclust and dendrogram.
    assert told["cut"] == (tree.cut(2) + 1).tolist()
    assert told["heights"] == pytest.approx(tree.to_linkage_matrix()[:, 2].tolist())
    assert sorted(told["leaves"]) == sorted(tree.labels)
    assert sorted(told["order"]) == [1, 2, 3, 4]
    assert told["supports"] == pytest.approx(tree.support.tolist())
    # Distances and trees of R.
    assert told["equal"] == [True]
    assert told["upgma"] == told["own"]
    assert told["same"] == ["robinson_foulds  0.0"]
    matrix = pd.read_csv(tmp_path / "d.csv", index_col=0)
    matrix.columns = matrix.index
    assert ordhc.read_tree(tmp_path / "upgma.json") == ordhc.linkage(matrix, dissimilarity=True)


def test_the_page_by_reticulate(tmp_path):
    if int(np.__version__.split(".")[0]) >= 2:
        needs("packageVersion('reticulate') >= '1.38'", "reticulate that knows NumPy 2")
    needs("requireNamespace('reticulate', quietly = TRUE)", "reticulate: apt-get install r-cran-reticulate")
    ready = blocks()[0].split("status <-")[0] + "library(ape)\n"
    ready += "x <- scale(iris[c(1:5, 51:55, 101:105), 1:4])\n"
    found = "list(cut = tree$cut(2L), tips = phy2$tip.label, s = boot$support)"
    told = f'\ncat("\\nTOLD", jsonlite::toJSON({found}), "\\n")'
    out = in_r(tmp_path, ready + blocks()[1] + told)
    found = json.loads(re.search(r"TOLD (.*)", out)[1])
    assert sorted(found["cut"]) == [0, 0, 1, 1]
    assert len(found["tips"]) == 15
    assert len(found["s"]) == 3
