"""Trees of quartets (wQFM) and of embeddings (t-STE) beside ours: satisfied triplets, the truth, and time.

ORDHC_WQFM="java -jar wQFM.jar" python benches/bench_quartets.py [planted] [yule] [recorded] [--seeds 3]

wQFM (Mahbub et al. 2021) puts weighted quartets together. A triplet (a, b, c) is the quartet ab | cr with a
leaf r that stands for the root; quartets weigh what their triplets do, contradictions too. The tree is
rooted at r, which is taken out. The program is not a part of this repository (its licence is Apache 2.0):
get the jar of https://github.com/Mahim1997/wQFM-2020 with the folder `lib` beside it, or build its sources,
WQFM/src, against the jars in that folder (Java 8 or later), and put its command into ORDHC_WQFM; options -i
QUARTETS -o TREE are added. "java -XX:+UseSerialGC -jar ..." takes one thread. `--program NAME COMMAND` adds
another one that reads and writes the same, as TREE-QMC does: --program TREE-QMC "tree-qmc --quartets".
Without a program its rows are left out, without ordhc-embedding those of `tste-al` and `completion`.

"planted" has 60 and 240 leaves in clusters of levels, answers as they are and 20 % flipped; "yule" binary
trees, answers right with p = .8, about any three leaves or only where one pair is closer; "recorded" people's
answers about cars, dishes and, where ORDHC_DATA names a folder with them, materials. Satisfied: the share of
triplets that a tree agrees with, of those given and of others; "or open": what it leaves open counts as half.
Seconds are those of processors (ORDHC_NUM_THREADS=1).
"""

import argparse
import itertools
import os
import re
import shlex
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np

import ordhc
from bench_posterior import answers, balanced, yule
from measure import table
from ordhc.plugins import registry
from ordhc.tree.dendrogram import lca_size

METHODS = ("adds3-al", "adds3-al+spr", "consistency", "tste-al", "completion", "posterior-al")
ROOT = "r"
#: So many triplets are judged by that no tree is made from, and so many seconds are given to a program.
OTHERS, LIMIT = 20_000, 300
SIZES = {"n^2/4": 1 / 4, "n^2/16": 1 / 16}


def quartets(t):
    """A line for each quartet: two leaves, the third and the root, and the weight of triplets that say so."""
    rows = np.column_stack([np.sort(t.rows[:, :2], axis=1), t.rows[:, 2]])
    rows, which = np.unique(rows, axis=0, return_inverse=True)
    weights = np.bincount(which.ravel(), t.weights)
    return [
        f"(({a},{b}),({c},{ROOT})); {w:.12g}" for (a, b, c), w in zip(rows.tolist(), weights, strict=True)
    ]


def neighbours(newick):
    """By node those beside it: leaves by their names, inner nodes by numbers."""
    near, above, numbers = defaultdict(list), [], itertools.count()
    # Lengths, and labels of inner nodes, say nothing here.
    for token in re.findall(r"[()]|[^(),;\s]+", re.sub(r":[^(),;]*|(?<=\))[^(),;]+", "", newick)):
        if token == ")":
            above.pop()
            continue
        node = next(numbers) if token == "(" else token
        if above:
            near[above[-1]].append(node)
            near[node].append(above[-1])
        if token == "(":
            above.append(node)
    return near


def rooted(newick, n):
    """The dendrogram of leaves 0..n-1 that an unrooted tree is, seen from the root's leaf, without that leaf.

    Leaves that are missing stand beside all others.
    """
    near = neighbours(newick)

    def below(node, parent):
        parts = [below(child, node) for child in near[node] if child != parent]
        return f"({','.join(parts)})" if len(parts) > 1 else parts[0] if parts else node

    (top,) = near[ROOT]
    parts = [below(top, ROOT), *(str(leaf) for leaf in range(n) if str(leaf) not in near)]
    return ordhc.Dendrogram.from_newick((f"({','.join(parts)})" if len(parts) > 1 else parts[0]) + ";")


def amalgamated(t, command, limit=LIMIT):
    """The tree that a program makes of the quartets of triplets."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "quartets", Path(folder) / "tree"
        given.write_text("\n".join(quartets(t)) + "\n")
        run = [*shlex.split(command), "-i", str(given), "-o", str(made)]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL, timeout=limit)
        return rooted(made.read_text(), t.n_leaves)


def ways(programs):
    """By name what makes a tree of triplets: methods, and programs by their commands."""
    found = {
        name: lambda t, name=name: ordhc.cluster(t, method=name)
        for name in METHODS
        if name in registry.names("method")
    }
    for name, command in programs:
        found[name] = lambda t, command=command: amalgamated(t, command)
    return found


def judged(make, t, others, truth):
    """Shares of triplets, AARI, triplet distance, seconds: none without a truth, or if it takes too long."""
    start = sum(os.times()[:4])
    try:
        tree = make(t)
    except subprocess.TimeoutExpired:
        return [np.nan] * 6
    seconds = sum(os.times()[:4]) - start
    given, new = (ordhc.metrics.satisfied(tree, some) for some in (t, others))
    aari, distance = np.nan, np.nan
    if isinstance(truth, np.ndarray):
        aari = ordhc.metrics.aari(tree, truth)
    if truth is not None:
        distance = ordhc.metrics.triplet_distance(tree, ordhc.as_dendrogram(truth))
    return [given.agreed, new.agreed, new.agreed + new.unresolved / 2, aari, distance, seconds]


def beside(title, cases, makers):
    """A table of all methods, means over cases: what is given, what is judged by, and the truth."""
    lines, cases = [], list(cases)
    for name, make in makers.items():
        values = np.mean([judged(make, *case) for case in cases], axis=0)
        shown = ["" if np.isnan(value) else f"{value:.3f}" for value in values[:-1]]
        lines.append((name, *shown, "" if np.isnan(values[-1]) else f"{values[-1]:.2f}"))
    print(f"{title}, {len(cases[0][0]):,} triplets, {len(cases)} seeds\n")
    table(("method", "given", "others", "or open", "AARI", "triplet distance", "seconds"), lines)


def parted(t, m):
    """The first m triplets and the others."""
    return t[:m], t[m:]


def planted(makers, seeds):
    for n, flip, (size, share) in itertools.product((60, 240), (0.0, 0.2), SIZES.items()):
        m, levels = int(share * n * n), balanced(*((2, 15) if n == 60 else (3, 30)))
        cases = []
        for seed in range(seeds):
            t, labels = answers(levels, m + OTHERS, seed, flip)
            cases.append((*parted(t, m), labels))
        beside(f"planted, n = {n}, {flip:.0%} flipped, {size}", cases, makers)


def of_any(n, m, seed, accuracy=0.8):
    """Answers about a Yule tree, where neither pair is closer either one, and the tree."""
    truth = yule(n, 1, seed)[1]
    rng = np.random.default_rng(seed)
    rows = rng.integers(n, size=(2 * m, 3))
    rows = rows[(np.diff(np.sort(rows, axis=1)) > 0).all(axis=1)][:m]
    near, far = (np.asarray(lca_size(truth, rows[:, 0], rows[:, at])) for at in (1, 2))
    swap = np.where(near == far, rng.random(m) < 0.5, (near > far) ^ (rng.random(m) > accuracy))
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return ordhc.Triplets(rows, n_leaves=n), truth


def odd_ones_out(t):
    """The posterior's tree if the third leaf of a triplet is the odd one out, not only the farther one."""
    odd = ordhc.Triplets.from_odd_one_out(t.rows[:, [2, 0, 1]], n_leaves=t.n_leaves)
    return ordhc.cluster(odd, method="posterior-al")


def binary(makers, seeds):
    for what, draw, more in (
        ("any three leaves", of_any, {}),
        ("one pair is closer", yule, {"posterior-al, odd ones out": odd_ones_out}),
    ):
        for n, (size, share) in itertools.product((60, 240), SIZES.items()):
            m, cases = int(share * n * n), []
            for seed in range(seeds):
                t, truth = draw(n, m + OTHERS, seed)
                cases.append((*parted(t, m), truth))
            beside(f"Yule tree, {what}, n = {n}, p = .8, {size}", cases, makers | more)


def recorded(makers, seeds):
    """A fifth of the answers is kept to judge by; materials come with such a part."""
    sets = {"Car": ordhc.datasets.load_car().triplets, "Food": ordhc.datasets.load_food().triplets}
    for (name, t), m in itertools.product(sets.items(), (1000, None)):
        parts = [t.split(0.8, seed=seed, unit="answer") for seed in range(seeds)]
        cases = [
            (given.sample(m, seed=seed) if m else given, others, None)
            for seed, (given, others) in enumerate(parts)
        ]
        beside(name, cases, makers)
    if "ORDHC_DATA" in os.environ:
        given, others = (
            ordhc.read_answers(
                Path(os.environ["ORDHC_DATA"]) / f"material_{part}_triplets.csv.gz", n_leaves=100
            )
            for part in ("train", "test")
        )
        beside("Material", [(given.sample(1000, seed=seed), others, None) for seed in range(seeds)], makers)
        beside("Material", [(given, others, None)], makers)


GROUPS = {"planted": planted, "yule": binary, "recorded": recorded}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--program", nargs=2, action="append", metavar=("NAME", "COMMAND"), default=[])
    options = parser.parse_args()
    programs = [("wQFM", os.environ["ORDHC_WQFM"])] if "ORDHC_WQFM" in os.environ else []
    programs += options.program
    if not programs:
        print("Without wQFM: its command is not in ORDHC_WQFM; --help says where to get it.\n")
    for name in options.groups or GROUPS:
        GROUPS[name](ways(programs), options.seeds)


if __name__ == "__main__":
    main()
