"""Palettes of distinguishable colours for white and black backgrounds, and the colours of themes."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The first colours of each palette: six of Okabe and Ito (2008), and six chosen by a search so that all
#: twelve are distinguishable with any colour vision. The smallest distance in CIELAB is 26 with normal
#: vision, 19 without red cones, 18 without green and 16 without blue cones. Among the first six it is 26, 21,
#: 18 and 16.
TWELVE = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"),
    *("#A600FF", "#DE004E", "#90C885", "#9090FF", "#B1A64E", "#854EDE"),
)
#: The limits of lightness (CIELAB) of colours that are visible on white and on black.
_DARKEST, _LIGHTEST = 45.0, 76.0


@dataclass(frozen=True, slots=True)
class Theme:
    """The colours of text, lines, pale areas and the background."""

    ink: str
    line: str
    pale: str
    background: str

    @classmethod
    def of(cls, theme: str | None, ax: Any) -> "Theme":
        if theme is None:
            from matplotlib.colors import to_hex, to_rgba

            figure = ax.get_figure(root=True)
            faces = [to_rgba(face.get_facecolor()) for face in (ax.patch, figure.patch)]
            seen = next((face for face in faces if face[3] > 0.5), (1.0, 1.0, 1.0, 1.0))
            found = DARK if float(np.dot(seen[:3], (0.299, 0.587, 0.114))) < 0.5 else LIGHT
            return cls(found.ink, found.line, found.pale, to_hex(seen))
        return DARK if theme == "dark" else LIGHT


LIGHT = Theme("#1f2428", "#5f6a72", "#d5dade", "#ffffff")
DARK = Theme("#e8ebee", "#9aa5ad", "#3d454c", "#16191c")


@lru_cache(maxsize=32)
def palette(count: int) -> tuple[str, ...]:
    """Return `count` distinct colours.

    The first twelve colours are distinguishable with any colour vision; the first six of them are from Okabe
    and Ito. Each further colour has the largest possible distance to all colours before, where distance is
    perceptual (CIELAB, normal vision). A longer palette begins with the shorter palette.

    Examples
    --------
    >>> palette(2), len(set(palette(40)))
    (('#0072B2', '#D55E00'), 40)
    """
    found = list(TWELVE[:count])
    if count <= len(found):
        return tuple(found)
    # Use the same grid of candidates for all palettes, so that longer palettes extend shorter ones. Only very
    # long palettes need a finer grid.
    steps = 20
    while True:
        candidates = _candidates(steps)
        if len(candidates) >= 4 * count or steps > 120:
            break
        steps *= 2
    lab = _lab(candidates)
    gap = np.full(len(candidates), np.inf)
    for given in found:
        gap = np.minimum(gap, ((lab - _lab(_rgb(given)[None])) ** 2).sum(axis=1))
    while len(found) < count:
        best = int(gap.argmax())
        red, green, blue = (round(255 * part) for part in candidates[best].tolist())
        found.append(f"#{red:02X}{green:02X}{blue:02X}")
        gap = np.minimum(gap, ((lab - lab[best]) ** 2).sum(axis=1))
    return tuple(found)


def _candidates(steps: int) -> NDArray[np.float64]:
    levels = np.linspace(0.0, 1.0, steps)
    grid = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), axis=-1).reshape(-1, 3)
    lab = _lab(grid)
    is_colour = np.hypot(lab[:, 1], lab[:, 2]) > 18
    return grid[is_colour & (lab[:, 0] > _DARKEST) & (lab[:, 0] < _LIGHTEST)]


def _lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    linear = _linear(rgb)
    to_xyz = np.array(
        [
            [0.4124564, 0.3575761, 0.1804375],
            [0.2126729, 0.7151522, 0.072175],
            [0.0193339, 0.119192, 0.9503041],
        ]
    )
    xyz = linear @ to_xyz.T / (0.95047, 1.0, 1.08883)
    root = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.column_stack(
        [116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])]
    )


@lru_cache(maxsize=4096)
def readable(colour: str, background: str) -> str:
    """Return a colour for text on a background: `colour`, mixed with as little black or white as possible.

    The contrast of the result is at least 4.5, as WCAG 2 requires.

    Examples
    --------
    >>> readable("#0072B2", "#ffffff"), readable("#0072B2", "#16191c"), readable("#E69F00", "#ffffff")
    ('#0072b2', '#2989be', '#9c6c00')
    """
    inks = np.array([_rgb(colour), _rgb(background)])
    target = 0.0 if _luminance(inks[1]) > 0.18 else 1.0
    for share in np.linspace(0.0, 1.0, 101):
        mixed = (1 - share) * inks[0] + share * target
        light, dark = sorted((_luminance(mixed), _luminance(inks[1])), reverse=True)
        if (light + 0.05) / (dark + 0.05) >= 4.5:
            break
    return "#" + "".join(f"{round(255 * part):02x}" for part in mixed.tolist())


def _rgb(colour: str) -> NDArray[np.float64]:
    return np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])


def _luminance(rgb: NDArray[np.float64]) -> float:
    return float(_linear(rgb) @ (0.2126, 0.7152, 0.0722))


def _linear(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
