"""Results of a scan beside those of all comparisons in memory, bit for bit."""

import warnings

import numpy as np

import ordhc


def same_bits(found, expected):
    """Whether two trees have the same merges and heights."""
    np.testing.assert_array_equal(found.merges, expected.merges)
    np.testing.assert_array_equal(found.heights, expected.heights)


def same_tree(scan, data, progress=None, **options):
    """Whether both give the same tree; return that of the scan."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ordhc.cluster(scan, progress=progress, **options)
        expected = ordhc.cluster(data, **options)
    same_bits(found, expected)
    assert found.names == expected.names
    assert found.settings == expected.settings
    return found


def same_similarity(scan, data, name="adds3", **options):
    """Whether both give the same similarities in each layout."""
    for layout in ("condensed", "square"):
        found, expected = (ordhc.similarity(each, name, layout=layout, **options) for each in (scan, data))
        np.testing.assert_array_equal(found, expected, strict=True)
    found, expected = (ordhc.similarity(each, name, layout="sparse", **options) for each in (scan, data))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
