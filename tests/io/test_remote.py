"""Answers in object stores and on web servers: as the same files on disk, and no secret is told."""

import logging
import os
import pickle
import shutil
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ordhc
from ordhc.errors import InputError, MissingExtraError
from ordhc.io import remote
from ordhc.io.paths import masked
from support.processes import command_here
from support.random_data import random_comparisons
from support.web import site_of

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("aiohttp")
pq = pytest.importorskip("pyarrow.parquet")

KINDS = ("csv", "tsv", "csv.gz", "csv.bz2", "csv.xz", "tsv.zst", "parquet")


def write(folder, data, cuts, kind, row_group=37):
    folder.mkdir(parents=True, exist_ok=True)
    for at, part in enumerate(np.split(np.arange(len(data)), cuts)):
        path = folder / f"{at:03}.{kind}"
        ordhc.write_comparisons(data[part[0] : part[-1] + 1], path)
        if kind == "parquet":
            pq.write_table(pq.read_table(path), path, row_group_size=row_group)
    return sorted(folder.iterdir())


@pytest.fixture
def store():
    found = fsspec.filesystem("memory")
    yield found
    found.store.clear()
    found.pseudo_dirs[:] = [""]


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "www"
    folder.mkdir()
    with site_of(folder) as found:
        yield found


def same(scan, local):
    for method in ("adds3", "mulk3"):
        np.testing.assert_array_equal(
            ordhc.similarity(scan, method), ordhc.similarity(local, method), strict=True
        )
    assert (scan.names, len(scan), scan.group_names) == (local.names, len(local), local.group_names)
    np.testing.assert_array_equal(scan.read().rows, local.read().rows)


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_and_a_web_server_are_as_a_disk(kind, tmp_path, store, site):
    data = random_comparisons(12, 120, seed=1)
    named = ordhc.Triplets(
        data.rows, names=[f"leaf {at}" for at in range(12)], groups=np.arange(len(data)) % 4
    )
    files = write(site.folder / "answers" / "deep", named, [1, 60], kind, row_group=20)
    (site.folder / "answers" / "_hidden.txt").write_text("anchor,near,far\nx,y,z\n")
    (site.folder / "answers" / "notes.md").write_text("no answers")
    for file in files:
        store.pipe(f"/bucket/answers/deep/{file.name}", file.read_bytes())
    local = ordhc.scan(files)
    for root in ("memory://bucket", site.url):
        one = f"{root}/answers/deep/{files[0].name}"
        for paths in (
            f"{root}/answers/deep/*.{kind}",
            f"{root}/answers/",
            [f"{root}/answers/deep/{f.name}" for f in files],
        ):
            same(ordhc.scan(paths), local)
        same(ordhc.scan(one), ordhc.scan(files[0]))
        read, expected = ordhc.read_answers(one), ordhc.read_answers(files[0])
        assert read == expected
        assert read.names == expected.names


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_cut_and_block(data):
    """Ranges of any size, with and without a server that sends them, give the rows of the file."""
    count = data.draw(st.integers(1, 60))
    rows = random_comparisons(9, 60, seed=data.draw(st.integers(0, 5))).rows[:count]
    quote = data.draw(st.booleans())
    text = "anchor,near,far\n" + "".join(
        ",".join(f'"leaf, {leaf}"' if quote else f"leaf{leaf}" for leaf in row) + "\n"
        for row in rows.tolist()
    )
    store = fsspec.filesystem("memory")
    store.pipe("/any/0.csv", text.encode())
    patch = pytest.MonkeyPatch()
    with patch.context() as patched:
        patched.setattr("ordhc.io.blocks.BYTES", data.draw(st.integers(1, 200)))
        patched.setattr("ordhc.io.blocks.BEGINNING", data.draw(st.integers(2, 30)))
        patched.setattr(remote, "_AHEAD", data.draw(st.integers(1, 100)))
        found = ordhc.scan("memory://any/0.csv").read()
    expected = ordhc.read_answers("memory://any/0.csv")
    assert found == expected
    assert found.names == expected.names


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_a_server_without_ranges_and_broken_connections(kind, tmp_path, site, monkeypatch):
    data = random_comparisons(20, 3000, seed=2)
    (file,) = write(site.folder, data, [], kind, row_group=1000)
    local, url = ordhc.scan(file), f"{site.url}/{file.name}"
    for name in ("_AHEAD", "_BLOCK"):
        monkeypatch.setattr(remote, name, 1024)
    monkeypatch.setattr("ordhc.io.blocks.BYTES", 2000)
    monkeypatch.setattr(remote, "_PAUSE", 0.001)
    same(ordhc.scan(url), local)
    ranges = [asked for method, _, asked in site.asked if method == "GET"]
    assert None not in ranges
    assert len(set(ranges)) > 1
    scan = ordhc.scan(url)
    site.breaks = 2
    assert len(scan.read()) == len(data)
    site.breaks = 1000
    with pytest.raises(InputError, match=rf"^{url}: (the connection failed|the Parquet file cannot be read)"):
        ordhc.scan(url).read()
    site.breaks, site.ranges = 0, False
    if kind == "parquet":
        with pytest.raises(
            InputError, match="this Parquet file needs byte ranges, which the server does not send"
        ):
            ordhc.scan(url).read()
    else:
        same(ordhc.scan(url), local)
        site.breaks = 1000
        with pytest.raises(InputError, match="the connection failed"):
            ordhc.scan(url).read()


def test_missing_denied_and_failing(tmp_path, site, store):
    (site.folder / "a.csv").write_text("anchor,near,far\n0,1,2\n")
    url = f"{site.url}/a.csv"
    with pytest.raises(FileNotFoundError, match=rf"^{site.url}/b.csv: there is no such file$"):
        ordhc.scan(f"{site.url}/b.csv")
    with pytest.raises(FileNotFoundError, match=r"^memory://b.csv: there is no such file$"):
        ordhc.scan("memory://b.csv")
    for paths in ("memory://x/*.csv", f"{site.url}/x*.csv"):
        with pytest.raises(InputError, match="no file matches the pattern"):
            ordhc.scan(paths)
    with pytest.raises(InputError, match=r"there is no file with the ending \.csv"):
        ordhc.scan("memory://nothing")
    with pytest.raises(InputError, match="is given twice"):
        ordhc.scan([url, url])
    with pytest.raises(InputError, match="Protocol not known: nowhere"):
        ordhc.scan("nowhere://a.csv")
    for status, kind, told in (
        (404, FileNotFoundError, "there is no such file"),
        (401, PermissionError, "access is denied; give credentials with storage_options"),
        (403, PermissionError, "access is denied"),
        (500, InputError, "the server answered with status 500"),
    ):
        site.status = None
        scan = ordhc.scan(url)
        site.status = status
        for call in (lambda: ordhc.scan(url), lambda scan=scan: len(scan), lambda: ordhc.read_answers(url)):
            with pytest.raises(kind, match=told):
                call()
    with pytest.raises(InputError, match="the connection failed"):
        ordhc.scan("http://127.0.0.1:1/a.csv")


def test_a_file_that_changes(site, store):
    text = "anchor,near,far\na,b,c\n"
    store.pipe("/bucket/a.csv", text.encode())
    path = site.folder / "a.csv"
    path.write_text(text)

    def change():
        # As long as before: only the time tells.
        store.pipe("/bucket/a.csv", text.replace("b,c", "c,b").encode())
        path.write_text(text.replace("b,c", "c,b"))
        os.utime(path, (0, time.time() - 5000))

    scans = [ordhc.scan(url) for url in ("memory://bucket/a.csv", f"{site.url}/a.csv")]
    for scan in scans:
        assert len(scan) == 1
    change()
    for scan in scans:
        with pytest.raises(
            InputError, match=r"a\.csv: the file has changed since it was scanned; scan it again$"
        ):
            scan.read()


def test_bad_rows_are_named(site, store):
    text = "anchor,near,far\n" + "0,1,2\n" * 50 + "0,1,x\n"
    store.pipe("/bucket/a.csv", text.encode())
    (site.folder / "a.csv").write_text(text)
    for url, shown in (
        ("memory://bucket/a.csv", "memory://bucket/a.csv"),
        (f"{site.url}/a.csv?token=abc", "a.csv?***"),
    ):
        with pytest.raises(InputError) as caught:
            ordhc.scan(url).read()
        assert str(caught.value).startswith(f"{caught.value.path}:52: `x` is not a leaf id")
        assert caught.value.path.endswith(shown)
        assert caught.value.line == 52


SECRETS = ("hunter2", "tok-en", "s3cr3t", "zoe7")


def test_no_secret_is_told(tmp_path, site, caplog, monkeypatch):
    names = [f"{'a long name of a leaf' * 20} {at}" for at in range(4000)]
    (site.folder / "a.csv").write_text(
        "anchor,near,far\n"
        + "".join(f"{a},{b},{c}\n" for a, b, c in zip(names, names[1:], names[2:], strict=False))
    )
    (site.folder / "bad.csv").write_text("anchor,near,far\n0,1,2\n0,0,1\n")
    host = site.url.removeprefix("http://")
    options = {"headers": {"X-Key": "s3cr3t"}}
    url = f"http://zoe7:hunter2@{host}/a.csv?sig=tok-en"
    told: list[str] = []
    spill = tmp_path / "spill"
    kept: list[bytes] = []
    rmtree = shutil.rmtree

    def look(folder, *args, **kwargs):
        kept.extend(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())
        rmtree(folder, *args, **kwargs)

    monkeypatch.setattr("ordhc.io.spill.shutil.rmtree", look)
    with (
        caplog.at_level(logging.INFO),
        warnings.catch_warnings(record=True) as warned,
        ThreadPoolExecutor(2) as executor,
    ):
        warnings.simplefilter("always")
        scan = ordhc.scan(url, storage_options=options, spill=spill, executor=executor)
        told += [repr(scan), str(scan.files), repr(scan.pieces), str(scan.__dict__)]
        ordhc.similarity(scan, layout="sparse", progress=lambda done: told.append(str(done)))
        told += [repr(scan), *(str(each.message) for each in warned), caplog.text]
    assert kept, "workers have left nothing to look at"
    calls = [
        lambda: ordhc.scan(f"http://zoe7:hunter2@{host}/none.csv?sig=tok-en", storage_options=options),
        lambda: ordhc.scan(f"http://zoe7:hunter2@{host}/bad.csv?sig=tok-en", storage_options=options).read(),
        lambda: ordhc.scan("http://zoe7:hunter2@127.0.0.1:1/a.csv?sig=tok-en", storage_options=options),
        lambda: ordhc.scan("nowhere://zoe7:hunter2@h/a.csv", storage_options={"key": "s3cr3t"}),
        lambda: ordhc.scan("memory://a.csv", storage_options="s3cr3t"),
        lambda: ordhc.read_answers(f"http://zoe7:hunter2@{host}/bad.csv?sig=tok-en"),
        lambda: ordhc.read_tree(f"http://zoe7:hunter2@{host}/bad.csv?sig=tok-en"),
        lambda: ordhc.scan([url, url]),
    ]
    for call in calls:
        with pytest.raises((InputError, OSError)) as caught:
            call()
        told.append("".join(traceback.format_exception(caught.value)[-1:]))
    found = command_here(
        "cluster", url, "--html", str(tmp_path / "page.html"), "--json", "-o", str(tmp_path / "tree.json")
    )
    told += [
        found.stdout,
        found.stderr,
        (tmp_path / "page.html").read_text(),
        (tmp_path / "tree.json").read_text(),
    ]
    told.append(command_here("cluster", url.replace("a.csv", "b.csv")).stderr)
    told.append(command_here(url).stderr)
    told.append(command_here("cluster", "a.csv", url).stderr)
    for secret in SECRETS:
        for text in told:
            assert secret not in text
        for data in kept:
            assert secret.encode() not in data
    assert "***@" in repr(scan.files)
    copy = pickle.loads(pickle.dumps(scan))
    assert len(copy.read()) == len(scan)


def test_a_url_without_its_secrets():
    for url, shown in (
        ("https://host/a.csv", "https://host/a.csv"),
        ("https://ann:pw@host/a.csv?x=1&y=2", "https://***@host/a.csv?***"),
        ("https://token@host/a.csv", "https://***@host/a.csv"),
        ("s3://bucket/a@b.csv", "s3://bucket/a@b.csv"),
        ("s3://bucket/part-?.csv", "s3://bucket/part-?.csv"),
        ("abfs://container@account/a.csv", "abfs://container@account/a.csv"),
        ("simplecache::https://ann:pw@host/a.csv?x=1", "simplecache::https://***@host/a.csv?***"),
        ("folder/a.csv", "folder/a.csv"),
        ("C:\\folder\\a?.csv", "C:\\folder\\a?.csv"),
    ):
        assert masked(url) == shown
        assert masked(shown) == shown


def test_executors_open_urls_themselves(site, store, tmp_path):
    data = random_comparisons(15, 900, seed=3)
    files = write(site.folder, data, [200, 400, 700], "csv")
    for file in files:
        store.pipe(f"/answers/{file.name}", file.read_bytes())
    expected = ordhc.similarity(data, layout="condensed")
    with ThreadPoolExecutor(3) as executor:
        for url in ("memory://answers/*.csv", f"{site.url}/*.csv"):
            scan = ordhc.scan(url, n_leaves=15, executor=executor)
            np.testing.assert_array_equal(ordhc.similarity(scan, layout="condensed"), expected)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        scan = ordhc.scan(f"{site.url}/*.csv", n_leaves=15, executor=executor)
        np.testing.assert_array_equal(ordhc.similarity(scan, layout="condensed"), expected)


def test_commands_take_urls(site, tmp_path):
    data = random_comparisons(15, 900, seed=3)
    write(site.folder / "some", data, [200, 400], "csv")
    write(site.folder, data, [], "csv")
    plain = command_here("cluster", str(site.folder / "000.csv"), "--method", "adds3-al", "--json")
    for path in ("some/*.csv", "some/", "000.csv"):
        found = command_here("cluster", f"{site.url}/{path}", "--method", "adds3-al", "--json")
        assert found.stdout == plain.stdout
    missing = command_here("cluster", f"{site.url}/none.csv")
    assert missing.returncode == 2
    assert missing.stderr == f"ordhc: {site.url}/none.csv: there is no such file\n"


def test_a_missing_package(monkeypatch):
    import builtins

    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] in ("fsspec", "s3fs"):
            raise ImportError(name=name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(
        MissingExtraError, match=r'^s3://b/a.csv needs fsspec: pip install "ordhc\[remote\]"$'
    ):
        ordhc.scan("s3://b/a.csv")


def test_storage_options_are_for_urls(tmp_path):
    (tmp_path / "a.csv").write_text("anchor,near,far\n0,1,2\n")
    for function in (ordhc.scan, ordhc.read_answers):
        with pytest.raises(InputError, match="storage_options is for URLs: leave it out"):
            function(tmp_path / "a.csv", storage_options={"anon": True})
        with pytest.raises(InputError, match=r"^storage_options is of type list; give a dict"):
            function("memory://a.csv", storage_options=["anon"])
