"""Files with mistakes in them, and files without, as people have them."""

import functools
import gzip
import io
import json
import pickle
import sqlite3
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist, squareform

GOOD = "anchor,near,far\ncat,dog,car\ndog,cat,bus\ncar,bus,cat\nbus,car,dog\n"
ODD = "a,b,c,odd\ncat,dog,car,car\ndog,cat,bus,bus\ncar,bus,cat,cat\nbus,car,dog,dog\n"
KEYS = "left,middle,right,key\ncat,dog,car,3\ndog,cat,bus,3\ncar,bus,cat,3\nbus,car,dog,3\n"


def zipped(*names):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
    return buffer.getvalue()


def tar(mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        archive.addfile(tarfile.TarInfo("a.csv"), io.BytesIO())
    return buffer.getvalue()


def database():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE answers (anchor, near, far)")
        connection.commit()
        connection.close()
        return path.read_bytes()


def npy(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def parquet(**columns):
    import pyarrow
    import pyarrow.parquet

    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def distances(n=12):
    return squareform(pdist(np.random.default_rng(0).normal(size=(n, 2))))


TRIALS = [{"anchor": "cat", "near": "dog", "far": "car"}]
TREE = b"((cat,dog),(car,bus));"


@functools.cache
def contents():
    """The bytes of each file by its name."""
    texts = {
        # Nothing is wrong with these.
        "ok.csv": GOOD,
        "ids.csv": "0,1,2\n1,0,3\n2,3,0\n3,2,1\n",
        "odd.csv": ODD,
        "keys.csv": KEYS,
        "labels.csv": "leaf,class\ncat,pet\ndog,pet\ncar,thing\nbus,thing\n",
        "names.txt": "cat\ndog\ncar\nbus\n",
        # Tables that a spreadsheet, a script or a mail has changed.
        "one.csv": "anchor,near,far\n1,2,3\n2,1,4\n3,4,1\n4,3,2\n",
        "empty.csv": "",
        "blank.csv": "\n\n  \n",
        "header.csv": "anchor,near,far\n",
        "joined.csv": GOOD + GOOD,
        "short.csv": GOOD + "cat,dog\n",
        "long.csv": GOOD + "cat,dog,car,bus,van\n",
        "title.csv": "My survey 2024\n\n" + GOOD,
        "semicolons.csv": "anchor;near;far;weight\n0;1;2;0,5\n1;0;2;0,7\n",
        "thousands.csv": 'anchor,near,far,count\n0,1,2,"1,000"\n1,0,2,3\n',
        "percent.csv": "anchor,near,far,weight\n0,1,2,50%\n1,0,2,20%\n",
        "euros.csv": "anchor,near,far,weight\n0,1,2,€5\n",
        "words.csv": "anchor,near,far,weight\n0,1,2,very sure\n",
        "nan_weight.csv": "anchor,near,far,weight\n0,1,2,nan\n",
        "negative_weight.csv": "anchor,near,far,count\n0,1,2,-3\n",
        "no_weight.csv": "anchor,near,far,count\n0,1,2,\n",
        "two_weights.csv": "anchor,near,far,count,weight\n0,1,2,1,2\n",
        "quote.csv": GOOD + '"cat,dog,car\n',
        "merged.csv": "anchor,near,far\ncat,dog,car\n,cat,bus\n,bus,cat\n,car,dog\n",
        "total.csv": "anchor,near,far,count\ncat,dog,car,2\ndog,cat,car,2\ncar,dog,cat,1\nTotal,,,5\n",
        "quadruplets.csv": "i,j,k,l\n0,1,2,3\n1,2,0,3\n",
        "transposed.csv": "anchor,cat,dog,car,bus\nnear,dog,cat,bus,car\nfar,car,bus,cat,dog\n",
        "matrix.csv": "0,1,5,6\n1,0,4,5\n5,4,0,1\n6,5,1,0\n",
        "index.csv": ",a,b,c\n0,cat,dog,car\n1,dog,cat,bus\n",
        "other_header.csv": "anchor,closer,further\ncat,dog,car\n",
        "misspelt.csv": GOOD.replace("near", "nera"),
        "twice.csv": "anchor,near,far,near\n0,1,2,3\n",
        "dates.csv": "anchor,near,far\n2024-01-01,2024-01-02,2024-01-03\n",
        "month.csv": GOOD.replace("bus", "1-Mar"),
        "formula.csv": GOOD.replace("bus", "#REF!"),
        "scientific.csv": "anchor,near,far\n1e0,2e0,0\n0,1,2\n1,0,2\n",
        "half.csv": "anchor,near,far\n0,1.5,2\n0,1,2\n",
        "bools.csv": "anchor,near,far\nTRUE,FALSE,TRUE\n",
        "minus.csv": "anchor,near,far\n0,1,2\n-1,0,2\n1,2,0\n",
        "code99.csv": "anchor,near,far\n0,1,2\n99,0,2\n1,2,0\n3,2,1\n",
        "code9999.csv": "anchor,near,far\n0,1,2\n1,9999,2\n1,2,0\n",
        "huge.csv": "anchor,near,far\n0,1,2\n0,1,20000000\n",
        "beyond.csv": "anchor,near,far\n0,1,2\n0,1,99999999999999999999\n",
        "same.csv": "anchor,near,far\ncat,dog,dog\n",
        "mixed.csv": "anchor,near,far\n0,1,2\n0,1,cat\n",
        "nbsp.csv": GOOD.replace("bus,cat\n", "bus,cat\u00a0\n"),
        "inner_blank.csv": GOOD.replace("bus", "ice cream").replace("car,ice cream", "car,ice  cream"),
        "underscore.csv": GOOD.replace("bus", "ice cream").replace("car,ice cream", "car,ice_cream"),
        "invisible.csv": GOOD.replace("bus,cat\n", "bus,\u200bcat\n"),
        "case.csv": GOOD.replace("bus,cat\n", "bus,Cat\n"),
        "decomposed.csv": "anchor,near,far\ncafé,dog,car\ndog,cafe\u0301,car\n",
        "wide_letters.csv": GOOD.replace("bus,cat\n", "bus,\uff43\uff41\uff54\n"),
        # Names, labels, vectors.
        "few.txt": "cat\ndog\ncar\n",
        "double.txt": "cat\ndog\ncat\nbus\n",
        "nothing.txt": "\n",
        "numbered.csv": "id,name\n1,cat\n2,dog\n2,car\n4,bus\n",
        "nameless.csv": "number,title\n0,cat\n1,dog\n",
        "short_labels.csv": "leaf,class\ncat,pet\ndog,pet\n",
        "other_labels.csv": "leaf,class\ncow,pet\ndog,pet\ncar,thing\nbus,thing\n",
        "double_labels.csv": "leaf,class\ncat,pet\ncat,pet\ncar,thing\nbus,thing\n",
        "all_labels.csv": "leaf,class\ncat,a\ndog,b\ncar,c\nbus,d\n",
        "initial.csv": "leaf,cluster\ncat,0\ncow,0\n",
        "capital_labels.csv": "leaf,class\ncat,pet\ndog,Pet\ncar,thing\nbus,thing\n",
        "named_matrix.csv": "name,cat,dog,car,bus\ncat,1,2,3,4\ndog,2,1,3,4\ncar,3,3,1,2\nbus,4,4,9,1\n",
        "header.txt": "name\ncat\ndog\ncar\nbus\n",
        "table.txt": "0,cat\n1,dog\n2,car\n3,bus\n",
        "alike.txt": "cat\ndog\ncar\nbus\nCat\n",
        "people.csv": "anchor,near,far,person\ncat,dog,car,ann\ndog,cat,bus,Ann\n",
        "no_vectors.csv": "x,y\n",
        "words_vectors.csv": "name,x,y\ncat,1.5,many\n",
        # Trees.
        "x.nwk": TREE,
        "y.nwk": "((cat,car),(dog,bus));",
        "others.nwk": "((cow,dog),(car,bus));",
        "small.nwk": "((cat,dog),car);",
        "open.nwk": "((cat,dog),(car,bus);",
        "double.nwk": "((cat,dog),(cat,bus));",
        "z.csv": "cluster_a,cluster_b,height,size\n0,1,1,2\n2,3,1,2\n4,5,2,3\n",
        "tree.json": '{"merges": [[0, 1]], "heights": "tall", "kind": "similarity"}',
        "text.nwk": "cat dog car bus",
        # Files of another kind than their names say.
        "nexus.nwk": "#NEXUS\nbegin trees;\ntree a=((a,b),c);\nend;",
        "page.csv": "<!DOCTYPE html>\n<html><title>Log in</title></html>",
        "table.xls": "<table><tr><td>cat</td></tr></table>",
        "json.csv": json.dumps(TRIALS),
        "lines.csv": "\n".join(json.dumps(TRIALS[0]) for _ in range(2)),
        "stata.csv": "<stata_dta><header>",
        "letter.csv": "{\\rtf1 cat}",
        "feed.csv": "<?xml version='1.0'?><a/>",
        "latin.csv": GOOD.replace("cat", "café").encode("latin-1"),
        "utf16.csv": GOOD.encode("utf-16"),
        "utf16_bare.csv": GOOD.encode("utf-16-le"),
        "excel.csv": zipped("[Content_Types].xml", "xl/workbook.xml"),
        "excel.xlsx": zipped("[Content_Types].xml", "xl/workbook.xml"),
        "excel.nwk": zipped("[Content_Types].xml", "xl/workbook.xml"),
        "old.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99),
        "calc.ods": zipped("mimetype", "content.xml"),
        "word.docx": zipped("word/document.xml"),
        "plain.zip": zipped("ok.csv"),
        "archive.csv": tar(),
        "spss.sav": b"$FL2@(#) SPSS DATA FILE" + bytes(99),
        "old.dta": b"\x72\x02\x01\0" + bytes(99),
        "workspace.rda": gzip.compress(b"RDX3\nX\n"),
        "object.rds": gzip.compress(b"X\n\0\0\0\3\0"),
        "data.pkl": pickle.dumps(TRIALS),
        "text.pkl": pickle.dumps({"a": 1}, protocol=0),
        "matlab.mat": b"MATLAB 5.0 MAT-file" + bytes(99),
        "hdf.h5": b"\x89HDF\r\n\x1a\n" + bytes(99),
        "feather.csv": b"ARROW1\0\0" + bytes(99),
        "paper.csv": b"%PDF-1.4\n",
        "photo.csv": b"\x89PNG\r\n\x1a\n" + bytes(99),
        "session.csv": database(),
        "parquet.csv": parquet(anchor=[0], near=[1], far=[2]),
        "cut.csv.gz": gzip.compress(GOOD.encode())[:-9],
        "packed_twice.csv.gz": gzip.compress(gzip.compress(GOOD.encode())),
        "bz.csv": b"BZh91AY&SY" + bytes(20),
        "array.npz": npy(np.array([[0, 1, 2]])),
        "arrays.npy": npz(rows=np.array([[0, 1, 2]])),
        "objects.npy": npy(np.array([{1: 2}], dtype=object), allow_pickle=True),
        "two_columns.npy": npy(np.array([[0, 1], [1, 2]])),
        "distances.npy": npy(distances(4)),
        "twelve.npy": npy(distances(12)),
        "text.parquet": GOOD,
        "other.parquet": parquet(one=["cat"], two=["dog"], three=["car"]),
        # Answers that say what was chosen.
        "stranger.csv": ODD.replace("bus,bus\n", "bus,cow\n"),
        "ambiguous.csv": "left,middle,right,key\ncat,dog,car,1\ndog,cat,bus,2\ncar,bus,cat,1\n",
        "place4.csv": KEYS.replace("cat,3", "cat,4"),
        "unanswered.csv": ODD.replace("car,car\n", "car,\n"),
        "two_people.csv": "person,subject,a,b,c,odd\nann,1,cat,dog,car,car\nann,2,dog,cat,bus,bus\n",
        "twice_odd.csv": "a,b,c,odd\ncat,cat,car,car\ndog,cat,bus,bus\n",
        "no_trials.json": "[]",
        "broken.json": '[{"a": 1},',
        "numbers.json": "[1, 2, 3]",
    }  # fmt: skip
    return {name: text.encode() if isinstance(text, str) else text for name, text in texts.items()}
