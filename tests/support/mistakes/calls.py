"""What people call in Python, and what they must be told; all files are those of `files`."""
# ruff: noqa: E501

import numpy as np
import scipy.sparse

import ordhc
from ordhc import Dendrogram, Quadruplets, Triplets, metrics
from ordhc.io import read_names, read_reference, read_vectors
from ordhc.tree.dendrogram import lca_size
from support.mistakes.files import distances

ROWS = [(0, 1, 2), (1, 0, 3), (2, 3, 0), (3, 2, 1)]
NAMED = [("cat", "dog", "car"), ("dog", "cat", "bus"), ("car", "bus", "cat"), ("bus", "car", "dog")]
T = Triplets(ROWS)
Q = Quadruplets([(0, 1, 2, 3), (0, 2, 1, 3)])
TREE = ordhc.as_dendrogram("((0,1),(2,3));")
WORDS = ordhc.as_dendrogram("((cat,dog),(car,bus));")
S = np.array([[9, 5, 1, 1], [5, 9, 1, 2], [1, 1, 9, 4], [1, 2, 4, 9.0]])
X = np.random.default_rng(0).normal(size=(6, 3))
D = distances()
FRAME = {"far": [2, 3], "near": [1, 0], "anchor": [0, 1]}


def changed(array, place, value):
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def masked():
    return np.ma.MaskedArray(S, mask=S == 5)


def frame(**columns):
    return {name: list(values) for name, values in columns.items()}


#: An InputError (or FileNotFoundError), and what it says.
REFUSED = {
    # Comparisons.
    "rows of two": (lambda: Triplets([(0, 1), (1, 2)]), r"rows have shape \(2, 2\); 3 columns are needed: anchor, near, far"),
    "rows of four": (lambda: Triplets([(0, 1, 2, 3)]), r"rows have shape \(1, 4\); 3 columns"),
    "a table on its side": (lambda: Triplets(np.arange(30).reshape(3, 10)), r"rows have shape \(3, 10\); 3 columns"),
    "rows of different lengths": (lambda: Triplets([(0, 1, 2), (0, 1)]), r"row 1: 2 columns instead of 3"),
    "a file's name for rows": (lambda: Triplets("ok.csv"), r"rows have shape \(\); 3 columns are needed|ok\.csv"),
    "a leaf twice": (lambda: Triplets([(0, 1, 2), (0, 1, 1)]), r"row 1: leaf 1 occurs twice in the triplet \[0, 1, 1\]; its three leaves must differ"),
    "equal pairs": (lambda: Quadruplets([(0, 1, 1, 0)]), r"row 0: the quadruplet \[0, 1, 1, 0\] compares a pair with itself"),
    "minus one": (lambda: Triplets([(0, 1, 2), (-1, 0, 1)]), r"row 1: leaf -1 is outside 0.*; if -1 means no answer"),
    "ids from 1 with n leaves": (lambda: Triplets([(1, 2, 3), (2, 3, 1)], n_leaves=3), r"row 0: leaf 3 is outside .*subtract 1, so that they are 0..2"),
    "ids from 1 with names": (lambda: Triplets([(1, 2, 3)], names=["cat", "dog", "car"]), r"leaf 3 is outside .*subtract 1"),
    "an id beyond all": (lambda: Triplets([(0, 1, 10**9)]), r"row 0: leaf 1000000000 is far above .*n_leaves=1000000001"),
    "an id of NaN": (lambda: Triplets([(0, 1, float("nan"))]), r"row 0: far is nan; leaf ids are whole numbers"),
    "half an id": (lambda: Triplets([(0, 1.5, 2)]), r"row 0: near is 1\.5; leaf ids are whole numbers"),
    "None among names": (lambda: Triplets([("cat", "dog", None)]), r"row 0: far is None, neither id nor name"),
    "ids among names": (lambda: Triplets([("cat", "dog", 3)]), r"row 0: far is 3, but the first cell is 'cat': give ids \(numbers\) or names \(text\), not both"),
    "bools for ids": (lambda: Triplets([(True, False, True)]), r"rows of type bool are neither ids nor names"),
    "a masked id": (lambda: Triplets(np.ma.MaskedArray(ROWS, mask=np.eye(4, 3))), r"rows\[0, 0\] is masked; leave out missing values"),
    "complex ids": (lambda: Triplets(np.array(ROWS) + 0j), r"rows holds? complex numbers"),
    "dates for ids": (lambda: Triplets(np.full((2, 3), np.datetime64("2024-01-01"))), r"rows holds? dates or times"),
    "no rows at all": (lambda: Triplets([]), r"without comparisons the number of leaves is unknown: pass n_leaves or names"),
    "quadruplets for triplets": (lambda: Triplets(Q), r"rows are Quadruplets; Triplets are needed"),
    "a frame of quadruplets": (lambda: Triplets(frame(i=[0], j=[1], k=[2], l=[3])), r"i, j, k, l are for ordhc\.Quadruplets"),
    "a frame of odd ones": (lambda: Triplets(frame(odd=[0], a=[1], b=[2])), r"odd, a, b are for ordhc\.Triplets\.from_odd_one_out"),
    "a frame with half a header": (lambda: Triplets(frame(anchor=[0], close=[1], away=[2])), r"'anchor' alone does not say which column is which"),
    "too few names": (lambda: Triplets(NAMED, names=["cat", "dog", "car"]), r"row 1: the name 'bus' is unknown"),
    "a misspelt name": (lambda: Triplets(NAMED, names=["cat", "dgo", "car", "bus"]), r"row 0: the name 'dog' is unknown; nearest: 'dgo'"),
    "a name twice": (lambda: Triplets(ROWS, names=["cat", "dog", "cat", "bus"]), r"the name 'cat' occurs twice, at 0 and 2"),
    "one string for names": (lambda: Triplets(ROWS, names="abcd"), r"names must be a sequence of strings, not the string 'abcd'"),
    "numbers for names": (lambda: Triplets(ROWS, names=[1, 2, 3, 4]), r"names\[0\] is 1, not a string"),
    "names of other leaves": (lambda: Triplets(ROWS, 5, names=["cat", "dog", "car", "bus"]), r"names has 4 entries, but n_leaves = 5"),
    "n leaves in words": (lambda: Triplets(ROWS, "four"), r"n_leaves = 'four' is not a whole number"),
    "weights of another length": (lambda: Triplets(ROWS, weights=[1, 2]), r"weights have shape \(2,\) for 4 comparisons"),
    "weights in words": (lambda: Triplets(ROWS, weights=["a", "b", "c", "d"]), r"weights must be numbers, not text such as 'a'"),
    "a negative weight": (lambda: Triplets(ROWS, weights=[1, 1, -1, 1]), r"row 2: weight is -1\.0; weights must be finite and not negative"),
    "a weight of NaN": (lambda: Triplets(ROWS, weights=[1, np.nan, 1, 1]), r"row 1: weight is nan"),
    "more than everything": (lambda: T.split(1.5), r"fraction = 1\.5 is outside 0\.\.1"),
    "more answers than there are": (lambda: T.sample(9), r"m = 9 is more than the number of comparisons, 4"),
    # Matrices.
    "vectors for similarities": (lambda: ordhc.linkage(X, dissimilarity=False), r"the matrix has shape \(6, 3\); .*for vectors, .*ordhc\.cluster\(X"),
    "a cube": (lambda: ordhc.linkage(np.zeros((2, 2, 2)), dissimilarity=False), r"shape \(2, 2, 2\); \(n, n\) or a condensed vector is needed"),
    "a matrix of unsaid meaning": (lambda: ordhc.linkage(D, "ward"), r"say what numbers mean: linkage\(S, 'ward', dissimilarity=True\) if larger numbers mean farther apart, dissimilarity=False if larger numbers mean more alike"),
    "a sparse matrix of unsaid meaning": (lambda: ordhc.linkage(scipy.sparse.csr_array(S)), r"linkage\(S, 'average', dissimilarity=True\) if .* dissimilarity=False if"),
    "a function of unsaid meaning": (lambda: ordhc.linkage(lambda i, others: D[i, others], "single", n_leaves=12), r"linkage\(S, 'single', dissimilarity=True\) if .* dissimilarity=False if"),
    "a matrix of unsaid meaning to refine by": (lambda: ordhc.refine(TREE, S), r"refine\(tree, S, dissimilarity=True\) if .* dissimilarity=False if"),
    "SciPy's name, nothing else": (lambda: ordhc.linkage(S, method="average"), r"no parameter 'method': use name='average'"),
    "a condensed vector of no length": (lambda: ordhc.linkage([1.0, 2, 3, 4], dissimilarity=False), r"n\(n-1\)/2 values; 4 is no such number"),
    "an asymmetric matrix": (lambda: ordhc.linkage(changed(S, (0, 1), 7), dissimilarity=False), r"not symmetric: \[0, 1\] is 7 but \[1, 0\] is 5"),
    "NaN in a matrix": (lambda: ordhc.linkage(changed(S, (2, 3), np.nan), dissimilarity=False), r"NaN|not symmetric: \[2, 3\] is NaN"),
    "infinity in a matrix": (lambda: ordhc.linkage([np.inf, 1.0, 2.0], dissimilarity=False), r"position 0 \(pair \[0, 1\]\) is inf: .*must be finite"),
    "text in a matrix": (lambda: ordhc.linkage(S.astype(str), dissimilarity=False), r"the matrix has text \(<U32\), not numbers"),
    "None in a matrix": (lambda: ordhc.linkage([[0, None], [None, 0]], dissimilarity=False), r"the matrix\[0, 1\] is None; the matrix must be numbers"),
    "a masked matrix": (lambda: ordhc.linkage(masked(), dissimilarity=False), r"the matrix\[0, 1\] is masked; leave out"),
    "a ragged matrix": (lambda: ordhc.linkage([[0, 1], [1]], dissimilarity=False), r"the matrix cannot be read as an array"),
    "comparisons for a matrix": (lambda: ordhc.linkage(T, dissimilarity=False), r"S is Triplets, not a matrix: make a tree of comparisons by ordhc\.cluster"),
    "a tree for a matrix": (lambda: ordhc.linkage(TREE, dissimilarity=False), r"S is a Dendrogram, not a matrix: it is a tree already"),
    "a file's name for a matrix": (lambda: ordhc.linkage("distances.npy", dissimilarity=False), r"S is 'distances\.npy', not a matrix: read files by numpy\.load"),
    "a sparse matrix of distances": (lambda: ordhc.linkage(scipy.sparse.csr_array(D), dissimilarity=True), r"identical: pass missing='ignore'"),
    "a sparse matrix for ward": (lambda: ordhc.linkage(scipy.sparse.csr_array(S), "ward", dissimilarity=False), r"linkage 'ward' does not accept a sparse matrix: pass S\.toarray\(\)"),
    "squares of negative numbers": (lambda: ordhc.linkage(-D, "ward", dissimilarity=True), r"dissimilarity of leaves \d+ and \d+ is negative, .*give dissimilarity=False for similarities"),
    "SciPy's name of the linkage": (lambda: ordhc.linkage(S, dissimilarity=False, method="average"), r"no parameter 'method': use name='average'"),
    "SciPy's metric": (lambda: ordhc.linkage(X, dissimilarity=False, metric="euclidean"), r"no parameter 'metric', .*ordhc\.cluster\(X, similarity='euclidean'"),
    "a misspelt linkage": (lambda: ordhc.linkage(S, "averge", dissimilarity=False), r"unknown linkage 'averge' \(did you mean average"),
    "a linkage by another name": (lambda: ordhc.linkage(S, "wpgma", dissimilarity=False), r"unknown linkage 'wpgma' \(did you mean weighted\?\)"),
    "a linkage of comparisons": (lambda: ordhc.linkage(S, "3-al", dissimilarity=False), r"takes comparisons, not similarities: ordhc\.cluster\(data, linkage='3-al'\)"),
    "a word for a flag": (lambda: ordhc.linkage(S, dissimilarity="yes"), r"dissimilarity = 'yes' is neither True nor False"),
    "a setting that there is not": (lambda: ordhc.linkage(S, dissimilarity=False, beta=1), r"linkage 'average' has no parameter 'beta'; its parameters: none"),
    "names of fewer leaves": (lambda: ordhc.linkage(S, dissimilarity=False, names=["a", "b"]), r"names has 2 entries for 4 leaves"),
    "integers to overwrite": (lambda: ordhc.linkage(S.astype(int), dissimilarity=False, overwrite=True), r"overwrite=True needs .*float64.*np\.array\(S"),
    "labels of other leaves": (lambda: ordhc.linkage(S, dissimilarity=False, initial_clusters=[0, 1]), r"initial_clusters has shape \(2,\); a label for each of 4 leaves"),
    # Methods.
    "rows that are no comparisons": (lambda: ordhc.cluster(ROWS), r"list is neither Triplets nor Quadruplets: make ordhc\.Triplets\(rows\)"),
    "similarities to cluster": (lambda: ordhc.cluster(S), r"\(n, n\) similarities are for ordhc\.linkage\(S, dissimilarity=False\), distances for ordhc\.linkage\(D, dissimilarity=True\)"),
    "a file's name to cluster": (lambda: ordhc.cluster("ok.csv"), r"str is neither Triplets nor Quadruplets"),
    "a misspelt method": (lambda: ordhc.cluster(T, method="adds3al"), r"unknown method 'adds3al' \(did you mean adds3-al"),
    "a similarity for a method": (lambda: ordhc.cluster(T, method="adds3"), r"unknown method 'adds3' \(did you mean|\(there is a similarity of that name\)"),
    "a method and its parts": (lambda: ordhc.cluster(T, method="adds3-al", linkage="average"), r"give a method, or a similarity and a linkage, not both"),
    "flat clusters of a tree": (lambda: ordhc.cluster(T, n_clusters=2), r"no parameter 'n_clusters' .*cut\(n_clusters\)"),
    "quadruplets to a method of triplets": (lambda: ordhc.cluster(Q, method="adds3-al"), r"takes triplets, not Quadruplets"),
    "vectors to a method of triplets": (lambda: ordhc.cluster(X, method="adds3-al"), r"takes triplets, not ndarray"),
    "comparisons to a method of vectors": (lambda: ordhc.cluster(T, method="cosine-al"), r"takes vectors, not Triplets"),
    "vectors with NaN": (lambda: ordhc.cluster(changed(X, (4, 2), np.nan), method="cosine-al"), r"row 4: column 2: nan is not finite"),
    "a misspelt similarity": (lambda: ordhc.similarity(T, "add3"), r"unknown similarity 'add3' \(did you mean adds3"),
    "a linkage for a similarity": (lambda: ordhc.similarity(T, "average"), r"unknown similarity 'average' \(there is a linkage of that name\)"),
    "a layout misspelt": (lambda: ordhc.similarity(T, layout="squareform"), r"layout is 'squareform', not one of square, condensed, sparse"),
    "counts as text": (lambda: ordhc.similarity(T, dtype="str"), r"dtype is 'str', not one of float64"),
    "an objective misspelt": (lambda: ordhc.refine(TREE, T, "dasgupa"), r"objective is 'dasgupa', not one of"),
    # Trees.
    "no clusters": (lambda: TREE.cut(0), r"n_clusters = 0 is below 1"),
    "more clusters than leaves": (lambda: TREE.cut(9), r"n_clusters = 9 is outside 1..=4"),
    "two and a half clusters": (lambda: TREE.cut(2.5), r"n_clusters = 2\.5 is not a whole number"),
    "a number as text": (lambda: TREE.cut("2"), r"n_clusters = '2' is not a whole number"),
    "neither clusters nor height": (lambda: TREE.cut(), r"give one of n_clusters, height, depth and path, not none"),
    "a height in words": (lambda: TREE.cut(height="high"), r"height must be numbers, not text such as 'high'"),
    "a leaf that there is not": (lambda: lca_size(TREE, 0, 7), r"7"),
    "comparisons for a tree": (lambda: ordhc.as_dendrogram(T), r"Triplets are not a tree: make a tree of them by ordhc\.cluster"),
    "a matrix for a tree": (lambda: ordhc.as_dendrogram(S), r"a symmetric matrix, \(4, 4\), is not a tree: make a tree by ordhc\.linkage\(D, dissimilarity=True\) from distances, or by ordhc\.linkage\(S, dissimilarity=False\) from similarities"),
    "a file's name for a tree": (lambda: ordhc.as_dendrogram("x.nwk"), r"'x\.nwk' is not Newick text; read files by ordhc\.read_tree"),
    "a bracket too few": (lambda: Dendrogram.from_newick("((a,b),c;"), r"line 1|\)"),
    "merges of merges to come": (lambda: Dendrogram([(0, 5), (1, 2)], [1, 2]), r"merge 0"),
    "heights of other merges": (lambda: Dendrogram([(0, 1)], [1, 2]), r"heights.*1|1 merge"),
    "a tree to a strange ending": (lambda: ordhc.write_tree(TREE, "x.xyz"), r"x\.xyz: the ending is none of \.nwk"),
    "a tree to no folder": (lambda: ordhc.write_tree(TREE, "no/x.nwk"), r"no/x\.nwk: there is no folder no"),
    "a tree and its file swapped": (lambda: ordhc.write_tree("x.nwk", TREE), r"a tree must be a Dendrogram, not 'x\.nwk'"),
    # Scores.
    "a reference that is a file's name": (lambda: ordhc.score(TREE, "ok.csv"), r"'ok\.csv'.*files are read by ordhc\.read_tree"),
    "a tree without a metric": (lambda: ordhc.score(TREE, TREE), r"give a metric for Dendrogram: .*triplet_distance"),
    "a tree and answers swapped": (lambda: ordhc.score(T, T), r"Triplets are not a tree: make a tree of them by ordhc\.cluster"),
    "a metric misspelt": (lambda: ordhc.score(TREE, T, "satisfed"), r"unknown metric 'satisfed' \(did you mean satisfied"),
    "comparisons to a metric of labels": (lambda: metrics.ari(TREE, T), r"takes labels, not Triplets: comparisons are for triplet_revenue"),
    "a tree to a metric of labels": (lambda: metrics.ari(TREE, TREE), r"ari takes labels, not Dendrogram: another tree is for triplet_distance"),
    "comparisons to a metric of trees": (lambda: metrics.triplet_distance(TREE, T), r"takes tree, not Triplets: comparisons are for"),
    "comparisons to a metric of matrices": (lambda: metrics.dasgupta_cost(TREE, T), r"takes similarity, not Triplets: comparisons are for"),
    "a tree to a metric of comparisons": (lambda: metrics.satisfied(TREE, TREE), r"takes triplets.*, not Dendrogram: another tree is for"),
    "labels to a metric of comparisons": (lambda: metrics.satisfied(TREE, [0, 0, 1, 1]), r"takes triplets.*, not list: labels are for ari"),
    "labels in words to a metric of matrices": (lambda: metrics.dasgupta_cost(TREE, ["a", "a", "b", "b"]), r"takes similarity, not text of shape \(4,\): labels are for ari"),
    "a matrix to a metric of labels": (lambda: metrics.aari(TREE, S), r"a symmetric matrix, \(4, 4\), does not contain labels: similarities are for dasgupta_cost"),
    "a matrix to a metric of trees": (lambda: metrics.triplet_distance(TREE, S), r"a symmetric matrix, \(4, 4\), is not a tree"),
    "labels of three leaves of four": (lambda: metrics.ari(TREE, [0, 1, 1]), r"labels have shape \(3,\); the tree has 4 leaves"),
    "a missing label": (lambda: metrics.ari(TREE, ["a", None, "b", "b"]), r"the label of leaf 1 in column 0 is missing"),
    "a matrix of fewer leaves": (lambda: metrics.dasgupta_cost(TREE, S[:3, :3]), r"the tree has 4 leaves, the matrix has 3"),
    "answers about more leaves": (lambda: metrics.triplet_revenue(TREE, Triplets([(0, 1, 4), (2, 3, 4)])), r"the tree has 4 leaves, the comparisons have 5"),
    "leaves of other names": (lambda: metrics.triplet_distance(WORDS, "((cow,dog),(car,bus));"), r"different names: 'cat' is only in the tree"),
    "a setting of another metric": (lambda: ordhc.score(TREE, T, "satisfied", levels=[1]), r"metric 'satisfied' has no parameter 'levels'; its parameters: "),
    # Files.
    "no such file": (lambda: ordhc.read_answers("nowhere.csv"), r"nowhere\.csv: there is no such file"),
    "a number for a file": (lambda: ordhc.read_answers(3), r"source = 3 is not a path of a file"),
    "items as one string": (lambda: ordhc.read_answers("ok.csv", items="anchor,near,far"), r"there is no column 'anchor,near,far'"),
    "columns for a kind": (lambda: ordhc.read_answers("ok.csv", "anchor,near,far"), r"kind is 'anchor,near,far', not one of"),
    "missing words as one string": (lambda: ordhc.read_answers("ok.csv", na="NA"), r"na is 'NA'; give a list"),
    "a ranking of many files": (lambda: ordhc.scan("ok.csv", "ranking"), r"kind='ranking' is for one file"),
    "a choice in many files": (lambda: ordhc.scan("ok.csv", chosen_as="place"), r"chosen_as is for one file"),
    "JSON for triplets": (lambda: ordhc.read_answers("json.csv"), r"looks like JSON, .*ordhc\.read_answers"),
    "answers for a tree": (lambda: ordhc.read_tree("ok.csv"), r"ok\.csv: looks like comparisons"),
    "labels for a tree": (lambda: ordhc.read_tree("labels.csv"), r"labels\.csv:1: the columns leaf, class are not those of a tree"),
    "answers for labels": (lambda: read_reference("ok.csv", ["cat"]), r"ok\.csv:1: .*these look like comparisons"),
    "Excel for names": (lambda: read_names("excel.xlsx"), r"excel\.xlsx: looks like an Excel workbook .*, not names"),
    "names for vectors": (lambda: read_vectors("ok.csv"), r"ok\.csv:2: 'cat' is not a finite number"),
    "Excel for vectors": (lambda: read_vectors("excel.csv"), r"excel\.csv: looks like an Excel workbook .*, not vectors"),
    # Answers.
    "a chosen item that isn't there": (lambda: Triplets.from_frame(frame(a=["x"], b=["y"], c=["z"], odd=["w"]), kind="odd-one-out", items=["a", "b", "c"], chosen="odd"), r"row 0: column 'odd' has 'w', which is no item"),
    "places that can be two": (lambda: Triplets.from_frame(frame(a=["x", "y"], b=["y", "z"], c=["z", "w"], odd=[1, 2]), kind="odd-one-out", items=["a", "b", "c"], chosen="odd"), r"can be read as .*chosen_as='place' or chosen_as='place0'"),
    "no column of what was chosen": (lambda: Triplets.from_frame(frame(a=["x"], b=["y"], c=["z"]), kind="odd-one-out", items=["a", "b", "c"]), r"chosen=\.\.\. \(--chosen\)"),
    "an item's column misspelt": (lambda: Triplets.from_frame(frame(left=["x"], middle=["y"], right=["z"], key=[1]), kind="odd-one-out", items=["left", "midle", "right"], chosen="key"), r"'midle'.*'middle'"),
    "a kind misspelt": (lambda: ordhc.read_answers("odd.csv", "odd one out"), r"kind is 'odd one out', not one of .*odd-one-out"),
    "a format misspelt": (lambda: ordhc.read_answers("odd.csv", format="cblearnn"), r"format is 'cblearnn', not one of salmon"),
    "a file for a frame": (lambda: Triplets.from_frame("odd.csv"), r"odd\.csv|table|frame"),
    "a ranking of one": (lambda: ordhc.read_answers("odd.csv", "ranking", ["a", "b"]), r"3 or more|at least two others"),
}  # fmt: skip

#: A warning, and what it says.
WARNED = {
    "distances for vectors": (lambda: ordhc.cluster(D, method="cosine-al"), r"the vectors, \(12, 12\), look like distances .*ordhc\.linkage\(D, dissimilarity=True\)"),
    "similarities for distances": (lambda: ordhc.linkage(S, dissimilarity=True), r"diagonal is the largest of each row \(\[0, 0\] is 9\): .*give dissimilarity=False for similarities"),
    "correlations for distances": (lambda: ordhc.linkage(np.corrcoef(X), dissimilarity=True), r"is negative, -0\.\d+: the matrix looks like similarities"),
    "negative distances": (lambda: ordhc.linkage([1.0, -2.0, 3.0], dissimilarity=True), r"leaves 0 and 2 is negative, -2"),
    "ids from 1": (lambda: Triplets(np.array(ROWS) + 1), r"the ids are 1..4 and 0 never occurs: .*subtract 1, .*n_leaves=5"),
    "quadruplets from 1": (lambda: Quadruplets([(1, 2, 3, 4), (1, 3, 2, 4)]), r"the ids are 1..4 and 0 never occurs"),
    "answers from 1": (lambda: Triplets.from_odd_one_out(np.array(ROWS) + 1), r"the ids are 1..4 and 0 never occurs"),
    "99 for no answer": (lambda: Triplets([*ROWS, (0, 1, 99)]), r"leaf 99 is far above all others, which end at 3: .*n_leaves=100"),
    "a blank at the end of a name": (lambda: Triplets([*NAMED, ("cat ", "dog", "car")]), r"the leaves 'cat' and 'cat ' differ only in blanks"),
    "a capital": (lambda: Triplets([*NAMED, ("Cat", "dog", "car")]), r"'cat' and 'Cat' differ only in case: are they the same"),
    "numbers as text": (lambda: Triplets([("2", "1", "0"), ("1", "2", "3")]), r"the leaves are numbers given as text, as '2': .*give whole numbers for ids"),
    "groups that are alike": (lambda: Triplets(ROWS, groups=["ann", "Ann", "bob", "bob"]), r"the groups 'ann' and 'Ann' differ only in case"),
    "dates for names": (lambda: Triplets([("2024-01-01", "2024-01-02", "2024-01-03")]), r"the leaves are dates, such as '2024-01-01'"),
    "leaves without answers": (lambda: ordhc.cluster(Triplets(ROWS, 6)), r"2 leaves have no answers and are merged last: 4, 5"),
    "a branch without a length": (lambda: Dendrogram.from_newick("((a:1,b):1,c:9);"), r"length"),
}  # fmt: skip
