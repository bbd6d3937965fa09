"""Colours that stay readable: computed in OKLCH for the light and the dark theme, given as sRGB. Pure.

Fills of the light theme have nearly one lightness and carry dark labels, those of the dark theme have another and carry
light ones, so that every label passes WCAG AA in any hue. Layers that often meet differ in hue as people with any
colour blindness see it, and otherwise in lightness; the legend and its words say the rest.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import cos, radians, sin

INK = ("#1d1813", "#f6f2ea")  # labels in the light and in the dark theme
PAPER = ("#faf9f6", "#171512")
FOUND = ("#e58af5", "#8b2ea3")  # what a search matched
LIGHT, DARK = 0.815, 0.43
SHADES = 5  # of one layer, so that neighbours can be told apart
Pair = tuple[str, str]


def oklch(lightness: float, chroma: float, hue: float) -> str:
    """Return an OKLCH colour as ``#rrggbb``, with less chroma if sRGB has no such colour.

    Source: Björn Ottosson, *A perceptual color space for image processing*, 2020.
    """
    while chroma > 0:
        linear = _linear(lightness, chroma, hue)
        if all(-0.0005 <= part <= 1.0005 for part in linear):
            return _hex(linear)
        chroma -= 0.004
    return _hex(_linear(lightness, 0.0, hue))


def shades(hue: float, chroma: float, lift: float = 0.0) -> list[Pair]:
    """Return the shades of one layer, each for the light and the dark theme. ``lift`` shifts the lightness of all."""
    steps = [(step - (SHADES - 1) / 2) * 0.017 for step in range(SHADES)]
    return [
        (oklch(LIGHT + lift + step, chroma, hue), oklch(DARK + lift * 0.6 + step, chroma * 0.85, hue)) for step in steps
    ]


def shade_of(name: str) -> int:
    """Return the index of the shade that a name always gets."""
    return zlib.crc32(name.encode("utf-8", "replace")) % SHADES


def of_package(package: str) -> Pair:
    """Return the colour that a package always gets: one of thirty hues and lightnesses, picked by its name."""
    if not package:
        return oklch(LIGHT, 0.008, 80), oklch(DARK, 0.008, 80)
    crc = zlib.crc32(package.encode("utf-8", "replace"))
    hue, step = crc % 15 * 24 + 8, crc // 15 % 2
    return oklch(LIGHT + step * 0.05 - 0.03, 0.1, hue), oklch(DARK + step * 0.04 - 0.02, 0.085, hue)


def heat(step: int, steps: int) -> Pair:
    """Return one step of the scale from nothing to most: pale to strong, in the same order for every eye."""
    share = step / max(1, steps - 1)
    hue = 95 - 65 * share
    return oklch(0.95 - 0.25 * share, 0.03 + 0.12 * share, hue), oklch(0.3 + 0.21 * share, 0.02 + 0.12 * share, hue)


def change(step: int, steps: int) -> Pair:
    """Return one step of the scale of differences: −``steps`` (blue, less), 0 (grey), +``steps`` (orange, more).

    Blue and orange can be distinguished with every kind of colour blindness.
    """
    share = abs(step) / steps
    hue = 50 if step > 0 else 252
    light = 0.93 - 0.21 * share
    return oklch(light, 0.15 * share, hue), oklch(0.33 + 0.16 * share, 0.13 * share, hue)


def table(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Return colours in the form that pages and pictures receive: one list per theme."""
    return {"light": [pair[0] for pair in pairs], "dark": [pair[1] for pair in pairs]}


def _linear(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    a, b = chroma * cos(radians(hue)), chroma * sin(radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )


def _hex(linear: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * _gamma(min(1.0, max(0.0, part)))):02x}" for part in linear)


def _gamma(part: float) -> float:
    return 12.92 * part if part <= 0.0031308 else float(1.055 * part ** (1 / 2.4) - 0.055)
