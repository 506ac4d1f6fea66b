"""Pictures of leaves in figures and on pages."""

import base64
import io
import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

import ordhc
from ordhc.errors import InputError
from ordhc.plotting import plot_dendrogram

NAMES = ["cat", "dog", "owl", "car", "bus"]
TREE = ordhc.Dendrogram([(0, 1), (3, 4), (5, 2), (7, 6)], [1.0, 1.5, 2.0, 3.0], names=NAMES)


def picture(colour, size=(40, 30), kind="PNG", **more):
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, kind, **more)
    return buffer.getvalue()


PICTURES = {name: picture((50 * at, 250 - 50 * at, 7)) for at, name in enumerate(NAMES)}


def boxes_of(ax):
    """Return the boxes of pictures and of names in pixels, by name."""
    figure = ax.figure
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    pictures = {
        NAMES[int(each.get_gid().rsplit("-", 1)[1])]: each
        for each in ax.artists
        if (each.get_gid() or "").startswith("ordhc-picture-")
    }
    texts = {t.get_text(): t for t in [*ax.get_yticklabels(), *ax.get_xticklabels(), *ax.texts]}
    texts |= {t.get_text(): t for t in ax.get_children() if hasattr(t, "get_text")}
    shown = {name: each.get_tightbbox(renderer) for name, each in pictures.items()}
    return shown, {name: texts[name].get_window_extent(renderer) for name in NAMES}, figure.bbox


@pytest.mark.parametrize(
    ("layout", "orientation"),
    [
        *(("rectangular", side) for side in ("right", "left", "top", "bottom")),
        ("circular", "right"),
        ("unrooted", "right"),
    ],
)
def test_pictures_stand_between_leaves_and_names_within_the_figure(layout, orientation):
    ax = plot_dendrogram(TREE, pictures=PICTURES, layout=layout, orientation=orientation, scale="none")
    shown, names, whole = boxes_of(ax)
    assert set(shown) == set(NAMES)
    for name in NAMES:
        box = shown[name]
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
        assert not box.overlaps(names[name]), name
        assert (box.width / box.height) == pytest.approx(4 / 3, rel=0.1)
        assert not any(box.overlaps(other) for label, other in shown.items() if label != name)
    if layout == "rectangular":
        along = 0 if orientation in ("right", "left") else 1
        sign = 1 if orientation in ("right", "top") else -1
        for name in NAMES:
            far = [names[name].x0, names[name].y0][along] - [shown[name].x0, shown[name].y0][along]
            assert sign * far > 0 or sign == -1
            # The picture is in the row of its name.
            one, two = (each.get_points().mean(axis=0)[1 - along] for each in (shown[name], names[name]))
            assert abs(one - two) < 4


def test_pictures_are_turned_as_the_camera_says_and_scaled_down(tmp_path):
    # Left half red, right half blue, to be shown turned by 90 degrees to the right.
    pixels = np.zeros((300, 400, 3), dtype=np.uint8)
    pixels[:, :200, 0], pixels[:, 200:, 2] = 255, 255
    exif = Image.Exif()
    exif[0x0112] = 6
    buffer = io.BytesIO()
    Image.fromarray(pixels).resize((4000, 3000)).save(buffer, "JPEG", exif=exif)
    ax = plot_dendrogram(TREE, pictures={"cat": buffer.getvalue()})
    (box,) = [each for each in ax.artists if (each.get_gid() or "").startswith("ordhc-picture")]
    data = np.asarray(box.offsetbox.get_data())
    assert max(data.shape[:2]) <= 60 * 300 / 72
    assert data.shape[0] > data.shape[1]
    assert data[3, 10, 0] > 200
    assert data[-3, 10, 2] > 200
    for ending in ("png", "svg", "pdf", "html"):
        path = tmp_path / f"tree.{ending}"
        TREE.savefig(path, pictures={"cat": buffer.getvalue()})
        assert path.stat().st_size < 300_000
        again = tmp_path / f"again.{ending}"
        TREE.savefig(again, pictures={"cat": buffer.getvalue()})
        assert path.read_bytes() == again.read_bytes()
    (uri,) = re.findall(r"data:image/jpeg;base64,([\w+/=]+)", (tmp_path / "tree.html").read_text())
    with Image.open(io.BytesIO(base64.b64decode(uri))) as image:
        assert image.size == (384, 512)


def test_leaves_inside_triangles_and_without_pictures_have_none():
    ax = plot_dendrogram(TREE, pictures={"cat": PICTURES["cat"], "bus": PICTURES["bus"]}, truncate=4)
    drawn = {each.get_gid() for each in ax.artists if (each.get_gid() or "").startswith("ordhc-picture")}
    assert drawn == {"ordhc-picture-4"}
    plain = plot_dendrogram(TREE, pictures={})
    assert [*plain.artists] == [*plot_dendrogram(TREE).artists] == []


@pytest.mark.parametrize(
    ("pictures", "message"),
    [
        ({"cow": PICTURES["cat"]}, "cow"),
        ([PICTURES["cat"]], "give a mapping by the names of leaves"),
        ({"cat": b"<svg xmlns='http://www.w3.org/2000/svg'/>"}, r"is svg, .*convert it to png"),
        ({"cat": b"no picture"}, "none of png, jpeg, gif, webp and svg"),
        ({"cat": PICTURES["cat"][:30]}, "cannot be decoded"),
        ({"cat": "/nowhere/cat.png"}, "the picture cannot be read"),
    ],
)
def test_pictures_that_are_none(tmp_path, pictures, message):
    with pytest.raises(InputError, match=message):
        TREE.savefig(tmp_path / "tree.png", pictures=pictures)
    assert not (tmp_path / "tree.png").exists()
