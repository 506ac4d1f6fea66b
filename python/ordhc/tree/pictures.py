"""The options of pictures of a tree, which `ordhc.plotting.plot_dendrogram` describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypedDict


class PictureOptions(TypedDict, total=False):
    """The options of `ordhc.plotting.plot_dendrogram`, which describes them."""

    layout: Literal["rectangular", "circular", "unrooted"]
    orientation: Literal["right", "left", "top", "bottom"]
    truncate: int | bool | None
    n_clusters: int | None
    color_by: Any
    colors: Any
    columns: Any
    palette: Mapping[Any, Any] | None
    marked: Iterable[Any]
    labels: bool
    pictures: Mapping[Any, Any] | None
    node_names: bool
    support: bool | Literal["numbers", "dots", "width"]
    support_threshold: float | None
    scale: Literal["axis", "bar", "none"] | None
    width: float | None
    height: float | None
    font: str | None
    font_size: float | None
    line_width: float | None
    theme: Literal["light", "dark"] | None
    title: str | None
    pyplot: bool


class SavedOptions(PictureOptions, total=False):
    """The options of `Dendrogram.savefig`: the options of `PictureOptions`, and also `dpi` and `texts`."""

    dpi: float
    texts: Mapping[Any, str] | None
