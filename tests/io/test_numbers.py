"""Matrices and vectors from files, as R, pandas and NumPy write them."""
# ruff: noqa: E501

import numpy as np
import pandas as pd
import pytest

import ordhc
from ordhc.io import read_matrix, read_reference, read_vectors
from support.answers import as_file

NAMES = ("cat", "my dog", "car, red", "1b")
D = np.array([[0, 1, 5, 4.5], [1, 0, 6, 4], [5, 6, 0, 0.25], [4.5, 4, 0.25, 0]])


def r_csv(table, names, *, quote='"', separator=",", corner=True):
    """Text as R's write.csv writes it, or write.table with `corner=False`."""
    cells = [f"{quote}{name}{quote}" for name in names]
    head = separator.join(([f"{quote}{quote}"] if corner else []) + cells)
    rows = [separator.join([cell, *map(repr, row)]) for cell, row in zip(cells, table.tolist(), strict=True)]
    return "\n".join([head, *rows]) + "\n"


def test_names_are_read_as_r_and_pandas_write_them(tmp_path):
    frame = pd.DataFrame(D, index=NAMES, columns=NAMES)
    frame.to_csv(tmp_path / "pandas.csv")
    frame.to_csv(tmp_path / "pandas.tsv", sep="\t")
    frame.to_csv(tmp_path / "columns.csv", index=False)
    frame.to_csv(tmp_path / "named.csv", index_label="species")
    frame.to_csv(tmp_path / "packed.csv.gz")
    frame.to_parquet(tmp_path / "pandas.parquet")
    frame.rename_axis("species").to_parquet(tmp_path / "named.parquet")
    frame.reset_index(names="species").to_parquet(tmp_path / "first.parquet")
    frame.reset_index(drop=True).to_parquet(tmp_path / "columns.parquet")
    (tmp_path / "r.csv").write_text(r_csv(D, NAMES))
    (tmp_path / "r.txt").write_text(r_csv(D, NAMES, separator=" ", corner=False))
    for path in sorted(tmp_path.iterdir()):
        values, names = read_matrix(path, dissimilarity=True)
        assert (names, values.tolist()) == (NAMES, D.tolist()), path.name


@pytest.mark.parametrize("ids", [range(4), range(1, 5), [101, 7, 3, 4]])
def test_names_that_count_from_0_are_none_as_in_data_frames(ids, tmp_path):
    frame = pd.DataFrame(D, index=list(ids), columns=list(ids))
    expected = ordhc.linkage(frame, dissimilarity=True)
    frame.to_csv(tmp_path / "d.csv")
    frame.rename(columns=str).to_parquet(tmp_path / "d.parquet")
    for name in ("d.csv", "d.parquet"):
        values, names = read_matrix(tmp_path / name, dissimilarity=True)
        assert ordhc.linkage(values, dissimilarity=True, names=names) == expected


def test_without_names(tmp_path):
    np.save(tmp_path / "square.npy", D)
    np.save(tmp_path / "pairs.npy", D[np.triu_indices(4, 1)])
    np.savetxt(tmp_path / "square.csv", D, delimiter=",")
    np.savetxt(tmp_path / "pairs.csv", D[np.triu_indices(4, 1)])
    expected = ordhc.linkage(D, dissimilarity=True)
    for path in sorted(tmp_path.iterdir()):
        values, names = read_matrix(path, dissimilarity=True)
        assert names is None
        assert ordhc.linkage(values, dissimilarity=True) == expected, path.name


def test_vectors_in_all_formats(tmp_path):
    X = np.array([[1, 2.5], [0.125, -1], [1e-8, 3], [4, 5]])
    frame = pd.DataFrame(X, index=NAMES, columns=["x", "y"])
    frame.to_csv(tmp_path / "pandas.csv")
    frame.to_csv(tmp_path / "item.csv", index_label="item")
    frame.to_csv(tmp_path / "species.csv", index_label="species")
    frame.to_parquet(tmp_path / "pandas.parquet")
    frame.rename_axis("species").reset_index().to_parquet(tmp_path / "first.parquet")
    frame[["x"]].assign(id=NAMES, y=frame["y"]).to_parquet(tmp_path / "within.parquet", index=False)
    for path in sorted(tmp_path.iterdir()):
        values, names = read_vectors(path)
        assert (names, values.tolist()) == (NAMES, X.tolist()), path.name
    np.save(tmp_path / "x.npy", X)
    assert read_vectors(tmp_path / "x.npy")[1] is None
    assert read_vectors(as_file(",x\n0,5\n1,6\n"))[0].tolist() == [[5], [6]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b\na,0,1\n", r"1 rows and 2 columns of numbers; a matrix of pairs is square"),
        (",a,b\na,0,1\nb,2,0\n", r"d\.csv:2: .* not symmetric: row 'a', column 'b' is 1\.0, but row 'b', column 'a' is 2\.0"),
        (",a,b\nb,0,1\na,1,0\n", r"d\.csv:2: the columns are in another order than the rows: row 0 is 'b', column 0 is 'a'"),
        (",a,b\na,0,1\nc,1,0\n", r"d\.csv:3: the columns have other names than the rows: row 1 is 'c', column 1 is 'b'"),
        (",a,b\na,0,NA\nb,NA,0\n", r"d\.csv:2: row 'a', column 'b' is missing"),
        (",a,b\na,0,\nb,,0\n", r"d\.csv:2: row 'a', column 'b' is missing"),
        (",a,b\na,0,inf\nb,inf,0\n", r"row 'a', column 'b' is inf; all pairs need finite numbers"),
        (",a,b\na,0,-1\nb,-1,0\n", r"d\.csv:2: row 'a', column 'b' is -1\.0; distances are 0 or larger.*dissimilarity=False"),
        ('"";"a";"b"\n"a";0;0,5\n"b";0,5;0\n', r"d\.csv:2: '0,5' is not a finite number; decimals need a point"),
        (",a,a\na,0,1\na,1,0\n", r"the name 'a' occurs twice"),
        (",a,b\na,0,1\nb,1\n", r"d\.csv:3: 2 columns instead of 3"),
        ("1,2,3,4\n", r"a condensed vector has n\(n-1\)/2 values; 4 is no such number"),
        ("", r"d\.csv: the file is empty"),
    ],
)  # fmt: skip
def test_bad_matrices(text, message):
    with pytest.raises(ordhc.errors.InputError, match=message):
        read_matrix(as_file(text), dissimilarity=True)


def test_rounding_is_symmetric_enough_and_the_diagonal_is_ignored():
    text = ",a,b\na,NA,1\nb,1.0000000001,\n"
    values, names = read_matrix(as_file(text), dissimilarity=False)
    assert names == ("a", "b")
    assert ordhc.linkage(values, dissimilarity=False).heights[0] == pytest.approx(1)
    assert read_matrix(as_file(",a,b\na,0,-1\nb,-1,0\n"), dissimilarity=False)[0][0, 1] == -1


def test_bad_vectors(tmp_path):
    for text, message in [
        ("name,x\na,1\nb,\n", r"d\.csv:3: row 'b', column 'x': the number is missing"),
        ("x,y\n1,2\n3,inf\n", r"d\.csv:3: row 1, column 'y': inf is not a finite number"),
        ("cat,0,1\ndog,1,1\n", r"d\.csv:1: 'cat' is not a finite number; a table with names needs a header"),
    ]:
        with pytest.raises(ordhc.errors.InputError, match=message):
            read_vectors(as_file(text))
    np.save(tmp_path / "x.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ordhc.errors.InputError, match=r"shape \(2, 2, 2\), not \(n, p\)"):
        read_vectors(tmp_path / "x.npy")
    pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}).to_parquet(tmp_path / "text.parquet")
    with pytest.raises(ordhc.errors.InputError, match=r"text\.parquet: column 'y' is text, not numbers"):
        read_vectors(tmp_path / "text.parquet")


def test_a_reference_with_names_is_matched_by_name():
    frame = pd.DataFrame(D, index=NAMES, columns=NAMES)
    tree = ordhc.linkage(frame, dissimilarity=True)
    moved = [NAMES[at] for at in (2, 0, 3, 1)]
    found = read_reference(as_file(frame.loc[moved, moved].to_csv()), tree.labels)
    assert found.tolist() == D.tolist()
    with pytest.raises(ordhc.errors.InputError, match="a column named 'leaf' or 'name' is needed"):
        read_reference(as_file(frame.loc[moved, moved].to_csv()), [*NAMES[:3], "cow"])
