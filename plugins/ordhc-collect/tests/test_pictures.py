"""Pictures of studies: copies for small screens, what is loaded first, and what `--check` says about them."""

import io
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ordhc_collect.study.copies import WIDTHS, Copies, copy_of, flaw_of, has_location, widths_of
from ordhc_collect.study.reading import read_study
from ordhc_collect.web.pages import Pages
from ordhc_collect.web.tokens import Signer
from PIL import Image
from studies import Client, make_study

from support.processes import command_here


def photo(path, width=900, height=600, **options):
    """A picture whose left half is red and whose right half is blue."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, : width // 2, 0] = 255
    pixels[:, width // 2 :, 2] = 255
    Image.fromarray(pixels).save(path, **options)
    return path


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 3000), st.integers(1, 40), st.sampled_from([".jpg", ".png", ".webp"]))
def test_copies_are_smaller_and_the_same_picture(tmp_path_factory, width, height, ending):
    path = photo(tmp_path_factory.mktemp("p") / f"a{ending}", width, height)
    widths = widths_of(path)
    assert widths == ((*(w for w in WIDTHS if w < width), width) if width > min(WIDTHS) else ())
    for each in widths[:-1]:
        copy = Image.open(io.BytesIO(copy_of(path, each)))
        assert copy.size == (each, max(1, round(height * each / width)))
        left, right = (copy.convert("RGB").getpixel((place, 0)) for place in (each // 8, each - each // 8))
        assert left[0] > 200 > 60 > left[2]
        assert right[2] > 200 > 60 > right[0]


def test_photos_are_turned_and_lose_their_place(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[1] = "N"
    path = photo(tmp_path / "a.jpg", 900, 600, exif=exif)
    assert has_location(path)
    assert widths_of(path) == (320, 600)
    copy = Image.open(io.BytesIO(copy_of(path, 320)))
    assert copy.size == (320, 480)
    assert not copy.getexif()
    # Turned clockwise, left is up.
    assert copy.getpixel((160, 20))[0] > 200


def test_what_is_not_copied(tmp_path):
    (tmp_path / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    frames = [Image.new("RGB", (900, 9), colour) for colour in ("red", "blue")]
    for name in ("b.gif", "c.webp", "d.png"):
        frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:])
    (tmp_path / "e.jpg").write_bytes(b"\xff\xd8\xff broken")
    for path in tmp_path.iterdir():
        assert widths_of(path) == (), path.name


def test_copies_are_made_once(tmp_path):
    (tmp_path / "copies").mkdir()
    copies = Copies(tmp_path / "copies")
    path = photo(tmp_path / "a.png")
    first = copies.get(path, 320)
    with Image.open(first) as image:
        assert image.width == 320
    made = first.stat().st_mtime_ns
    assert copies.get(path, 320).stat().st_mtime_ns == made
    for width in (900, 319, 640_000):
        assert copies.get(path, width) == path
    # A picture that was cut short after the study began is sent as it is.
    path.write_bytes(path.read_bytes()[:-200])
    assert copies.get(path, 640) == path


@pytest.fixture
def pictures(tmp_path):
    path = make_study(tmp_path, n=0, per_person=4)
    for k in range(4):
        photo(tmp_path / "items" / f"angry_{k:02}.jpg", exif=Image.Exif())
    return path


def test_browsers_choose_among_copies(tmp_path, pictures, serve):
    photo(tmp_path / "items" / "large.png", 4000, 40)
    server = serve(n=0, per_person=4)
    client = Client(server)
    page = client.begin()
    seen = page.text
    while 'data-item="4"' not in seen:
        page = client.answer(page)
        seen += page.text
    assert 'srcset="media/0/picture?w=320 320w, media/0/picture?w=640 640w, media/0/picture 900w"' in seen
    # Nobody's screen needs 4000 pixels.
    large = ", ".join(f"media/4/picture?w={width} {width}w" for width in WIDTHS)
    assert f'srcset="{large}"' in seen
    sizes = [len(client.get(f"/media/0/picture{query}").text) for query in ("?w=320", "?w=640", "")]
    assert sizes == sorted(set(sizes))
    assert client.get("/media/0/picture?w=641").text == client.get("/media/0/picture").text
    assert client.get("/media/0/picture?w=-1").status == 200
    listed = client.get("/preload.json").text
    assert listed.count("/picture?w=320 320w") == 5


def test_names_of_files_are_not_shown(pictures):
    study = read_study(pictures)
    pages = Pages(study, Signer(b"k" * 32))
    assert not study.captions
    assert all("caption" not in figure for figure in pages._figures["en"])


@pytest.mark.parametrize("given", ["", "preload = true", "preload = false"])
@pytest.mark.parametrize("per_person", [1, 2])
def test_what_is_loaded_first(tmp_path, pictures, serve, given, per_person):
    """Everything, unless most of it is never shown."""
    client = Client(serve(n=0, per_person=per_person, study=given))
    is_expected = "true" in given or (not given and per_person == 2)
    assert ("data-preload=" in client.begin().text) == is_expected


def test_the_size_of_pictures(pictures, serve):
    client = Client(serve(n=0, study="picture_size = 300"))
    page = client.begin()
    (style,) = re.findall(r'href="(size.css\?300)"', page.text)
    assert "width: min(100%, 300px)" in client.get(f"/{style}").text
    assert 'sizes="min(90vw, 300px)"' in page.text


# --- what --check says -----------------------------------------------------------------------


def check(path):
    found = command_here("collect", path, "--check")
    return found.returncode, found.stdout


def test_check_tells_megabytes_and_seconds(pictures):
    code, told = check(pictures)
    assert code == 0
    (line,) = re.findall(r"media .*", told)
    found = re.search(
        r"4 files, ([\d.]+) MB; a phone loads ([\d.]+) MB before the first question, (\d+) s", line
    )
    assert float(found[1]) >= float(found[2])
    text = pictures.read_text().replace('title = "Things"', 'title = "Things"\npreload = false')
    pictures.write_text(text)
    assert "s for each question on a slow connection" in check(pictures)[1]


@pytest.mark.parametrize("ending", [".jpg", ".png", ".webp", ".gif"])
def test_check_reads_every_picture_to_its_end(tmp_path, pictures, ending):
    path = photo(tmp_path / "items" / f"cut{ending}", 640, 480)
    assert flaw_of(path) is None
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    code, told = check(pictures)
    assert code == 2
    assert f"error    [items]: cut{ending} is a damaged picture: " in told


def test_check_reads_svg(tmp_path, pictures):
    (tmp_path / "items" / "a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><g></svg>")
    code, told = check(pictures)
    assert code == 2
    assert "error    [items]: a.svg is a damaged picture: mismatched tag" in told


def test_check_warns_of_places_and_of_names(tmp_path, pictures):
    exif = Image.Exif()
    exif.get_ifd(0x8825)[1] = "N"
    photo(tmp_path / "items" / "IMG_2041.jpg", exif=exif)
    code, told = check(pictures)
    assert code == 0
    assert "warning  [items]: IMG_2041.jpg: EXIF data contain the location" in told
    assert "captions" not in told
    pictures.write_text(pictures.read_text().replace('title = "Things"', 'title = "Things"\ncaptions = true'))
    assert "names that look like file names, such as 'angry_00'" in check(pictures)[1]


def test_check_warns_of_people_without_an_id(tmp_path):
    end = '[outcomes.done]\nurl = "https://app.prolific.com/submissions/complete?cc=X"'
    assert "warning  [people] anonymous = false: " in check(make_study(tmp_path, more=end))[1]
    assert "warning" not in check(make_study(tmp_path, more=f"{end}\n[people]\nanonymous = false"))[1]
