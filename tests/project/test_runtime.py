"""Panics, threads and memory that cannot be had, forks: what happens at the border of the crate."""

import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import ordhc
from ordhc import _ordhc
from ordhc.errors import InputError, InternalError


def run(script, *arguments):
    """A script in a process of its own; `limit` sets limits, as somebody who isn't root."""
    begin = """
        import os, resource, sys
        import numpy as np
        import scipy.sparse
        import ordhc
        from ordhc import _ordhc

        def limit(which, value):
            resource.setrlimit(which, (value, value))
            if os.geteuid() == 0:
                os.setuid(65534)
    """
    text = textwrap.dedent(begin) + textwrap.dedent(script)
    command = [sys.executable, "-c", text, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_a_panic_is_an_ordinary_exception_that_says_how_to_report_it(capfd):
    with pytest.raises(InternalError) as caught:
        _ordhc.panic("all is lost")
    assert isinstance(caught.value, RuntimeError)
    assert not issubclass(InternalError, InputError)
    for part in ("all is lost", ordhc.__version__, "please report it", "/issues"):
        assert part in str(caught.value)
    assert "panicked" in capfd.readouterr().err
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is InternalError
    assert str(again) == str(caught.value)


FIRST_ARRAYS = """
    import builtins

    rows = np.array([[0, 1, 2]])
    points = np.zeros((3, 2))
    own = builtins.__import__

    def refused(name, *others, **named):
        if name.partition(".")[0] == "numpy":
            raise KeyboardInterrupt
        return own(name, *others, **named)

    builtins.__import__ = refused
    assert _ordhc.check_triplets(rows, 3)[1] == 3
    _ordhc.vector_linkage(points, "single", "euclidean", 1.0, None)
    print("fine")
"""


def test_numpy_is_looked_up_before_the_first_array_comes():
    """Else Ctrl-C at the first array would be a panic, or lost."""
    done = run(FIRST_ARRAYS)
    assert done.stdout == "fine\n", done


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_an_array_that_somebody_overwrites_is_not_one_of_a_wrong_type(dtype):
    square = np.random.default_rng(0).random((1500, 1500))
    square += square.T
    errors = []

    def meanwhile(_):
        try:
            _ordhc.vector_linkage(square.view(dtype), "single", "euclidean", 1.0, None)
        except Exception as error:
            errors.append(error)

    ordhc.linkage(square, dissimilarity=False, overwrite=True, progress=meanwhile)
    assert any(isinstance(error, InputError) and "in use by another call" in str(error) for error in errors)


def test_arrays_of_other_types_are_named():
    with pytest.raises(
        TypeError, match="int32 or int64 in 2 dimensions is needed, not 2-dimensional float64"
    ):
        _ordhc.check_triplets(np.zeros((3, 3)), 3)
    with pytest.raises(TypeError, match="in 2 dimensions is needed, not 1-dimensional int32"):
        _ordhc.adds(np.zeros(3, np.int32), None, 3, "condensed", "f8", None)
    with pytest.raises(TypeError, match="float64 or float32 in 2 dimensions is needed, not <class 'list'>"):
        _ordhc.vector_linkage([[0.0]], "single", "euclidean", 1.0, None)


WITHOUT_THREADS = """
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(60)[:3] for _ in range(40_000)])
    data = ordhc.Triplets(rows, 60)
    points = rng.standard_normal((1500, 300))
    full = rng.random(4000 * 3999 // 2)
    pairs = scipy.sparse.random_array((3000, 3000), density=0.01, rng=rng)
    pairs = scipy.sparse.csr_array(scipy.sparse.triu(pairs, 1))

    def work(progress):
        yield ordhc.similarity(data)
        yield ordhc.similarity(data, "mulk3")
        yield ordhc.cluster(data, method="3-al").heights
        yield ordhc.cluster(points, similarity="euclidean", linkage="single").heights
        yield ordhc.cluster(points, similarity="dot", linkage="average").heights
        yield ordhc.linkage(full, dissimilarity=False, progress=progress).heights
        yield ordhc.linkage(pairs, dissimilarity=False).heights
        yield ordhc.bootstrap(data, n_resamples=3, method="3-al").scores["revenue"]

    told = []
    expected = list(work(None))
    limit(resource.RLIMIT_NPROC, 0)
    try:
        import threading
        threading.Thread(target=print).start()
        print("there are threads")
    except RuntimeError:
        for one, other in zip(expected, work(told.append), strict=True):
            assert np.array_equal(one, other)
        assert told[-1] == 1.0 and len(told) > 1, told
        print("fine")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_without_threads_the_callers_does_the_work():
    done = run(WITHOUT_THREADS)
    assert done.stdout == "fine\n", done


#: The calls of each process, which share data.
MEMORY = {
    "similarities": [
        "ordhc.similarity(many, layout='condensed')",
        "ordhc.similarity(many, layout='sparse')",
        "ordhc.similarity(weighted, layout='sparse')",
    ],
    "mulk": ["ordhc.similarity(few, 'mulk3')", "ordhc.similarity(four, 'mulk4')"],
    "preferences": ["ordhc.cluster(many_of_few, method='3-al')", "ordhc.cluster(four_of_few, method='4-al')"],
    "linkage": ["ordhc.linkage(full, dissimilarity=False)"],
    "sparse linkages": [
        "ordhc.linkage(pairs, dissimilarity=False)",
        "ordhc.linkage(pairs, 'single', dissimilarity=False)",
        "ordhc.linkage(pairs, 'complete', dissimilarity=False)",
    ],
    "trees": [
        "ordhc.Dendrogram.from_newick(text)",
        "tree.to_newick()",
        "ordhc.metrics.triplet_distance(tree, tree)",
    ],
    "vectors": ["ordhc.cluster(points, similarity='euclidean', linkage='single')"],
}

LIMITED = """
    import contextlib
    rng = np.random.default_rng(0)

    def answers(kind, n, m, width):
        rows = rng.integers(0, n, (m, width), dtype=np.int32)
        fine = (np.diff(np.sort(rows, axis=1), axis=1) > 0).all(axis=1)
        return kind(rows[fine], n)

    calls = sys.argv[1:]
    what = " ".join(calls)
    many = answers(ordhc.Triplets, 8000, 500_000, 3) if "many," in what else None
    weighted = ordhc.Triplets(many.rows, 8000, weights=np.ones(len(many))) if "weighted" in what else None
    few = answers(ordhc.Triplets, 1500, 500_000, 3) if "mulk3" in what else None
    four = answers(ordhc.Quadruplets, 300, 300_000, 4) if "mulk4" in what else None
    many_of_few = answers(ordhc.Triplets, 2000, 700_000, 3) if "3-al" in what else None
    four_of_few = answers(ordhc.Quadruplets, 150, 500_000, 4) if "4-al" in what else None
    full = rng.random(5000 * 4999 // 2) if "full" in what else None
    if "pairs" in what:
        pairs = scipy.sparse.random_array((12_000, 12_000), density=0.01, rng=rng)
        pairs = scipy.sparse.csr_array(scipy.sparse.triu(pairs, 1))
    if "tree" in what or "text" in what:
        from ordhc.tree.dendrogram import from_engine

        tree = from_engine(_ordhc.random_tree("uniform", 150_000, 0))
        text = tree.to_newick() if "text" in what else None
    points = rng.standard_normal((20_000, 200)) if "points" in what else None

    def used():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * 4096

    # A little work, so that what is imported and started on demand is there.
    ordhc.cluster(ordhc.Triplets([(0, 1, 2)]))
    for call in calls:
        for megabytes in (8, 200):
            resource.setrlimit(resource.RLIMIT_AS, (used() + (megabytes << 20), -1))
            try:
                eval(call)
                said = "fine"
            except MemoryError as error:
                said = f"refused {error}"
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
            print(said, flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
@pytest.mark.parametrize("calls", MEMORY.values(), ids=MEMORY)
def test_memory_that_cannot_be_had_is_an_error_with_the_bytes(calls, monkeypatch):
    # The system gets back all memory that a call frees. So the next call cannot use it without asking.
    monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", "131072")
    done = run(LIMITED, *calls)
    assert done.returncode == 0, (done.stdout, done.returncode, done.stderr[-2000:])
    said = done.stdout.splitlines()
    assert len(said) == 2 * len(calls)
    for some in zip(said[::2], said[1::2], strict=True):
        refused = [line for line in some if line != "fine"]
        assert refused
        assert all("bytes" in line or "allocate" in line for line in refused), some
