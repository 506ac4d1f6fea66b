"""Text that is packed by gzip, bzip2, xz or zstd is read as if it were not."""

import bz2
import gzip
import lzma

import pytest

import ordhc
from ordhc.errors import InputError
from ordhc.io.packed import format_of

pa = pytest.importorskip("pyarrow")

TEXT = b"anchor,near,far\n" + b"cat,dog,car\ndog,cat,bus\ncar,bus,cat\n" * 50


def zstd(data):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}


@pytest.mark.parametrize("ending", PACKED)
def test_packed_files_are_read_and_scanned(tmp_path, ending):
    (tmp_path / "plain.csv").write_bytes(TEXT)
    folder = tmp_path / "packed"
    folder.mkdir()
    path = folder / f"answers.csv{ending}"
    path.write_bytes(PACKED[ending](TEXT))
    expected = ordhc.read_answers(tmp_path / "plain.csv")
    assert ordhc.read_answers(path) == expected
    assert ordhc.scan(path).read() == expected
    assert ordhc.scan(folder).read() == expected


@pytest.mark.parametrize("ending", PACKED)
def test_packed_files_are_written(tmp_path, ending):
    path = tmp_path / f"answers.tsv{ending}"
    data = ordhc.Triplets([("cat", "dog", "car"), ("dog", "cat", "bus")])
    ordhc.write_comparisons(data, path)
    assert format_of(path.read_bytes()[:10]) is not None
    assert ordhc.read_answers(path) == data


@pytest.mark.parametrize("ending", PACKED)
def test_damaged_files_are_refused(tmp_path, ending):
    path = tmp_path / f"answers.csv{ending}"
    path.write_bytes(PACKED[ending](TEXT)[:-9])
    for read in (ordhc.read_answers, lambda path: ordhc.scan(path).read()):
        with pytest.raises(InputError, match="file is cut or damaged"):
            read(path)


@pytest.mark.parametrize("ending", PACKED)
def test_bombs_stop_at_the_limit(tmp_path, monkeypatch, ending):
    monkeypatch.setenv("ORDHC_MAX_UNPACKED", "1K")
    path = tmp_path / f"answers.csv{ending}"
    path.write_bytes(PACKED[ending](TEXT))
    with pytest.raises(InputError, match="unpacks to more than 1,024 bytes"):
        ordhc.read_answers(path)


def test_a_table_may_begin_like_bzip2():
    assert format_of(b"BZh,near,far\n") is None
    assert format_of(b"") is None


@pytest.mark.parametrize(
    "call", [ordhc.similarity, lambda *args, **options: ordhc.cluster(*args, "adds3-al", **options)]
)
def test_the_first_pass_over_text_tells_progress(tmp_path, call):
    """Names are counted file by file, before answers are added."""
    for at in range(5):
        (tmp_path / f"{at}.csv").write_bytes(TEXT)
    told = []
    expected = call(ordhc.scan(tmp_path))
    found = call(ordhc.scan(tmp_path), progress=told.append)
    assert (found == expected).all() if hasattr(found, "all") else found == expected
    assert told == sorted(told)
    assert len([done for done in told if done < 0.4]) >= 5
    assert told[-1] == 1
