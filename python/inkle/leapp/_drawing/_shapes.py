"""Shapes that a picture is made of, and how wide text is. Units are pixels of the SVG; y grows downwards."""

from __future__ import annotations

from dataclasses import dataclass, field

Point = tuple[float, float]


@dataclass(frozen=True)
class Rect:
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 0.0
    fill: str | None = None
    stroke: str | None = None
    #: Of the fill, 0 to 1.
    opacity: float = 1.0


@dataclass(frozen=True)
class Disc:
    """A circle's area, with a border."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str | None = None


@dataclass(frozen=True)
class Line:
    """A line through points; every piece is straight (1 further point) or a cubic Bézier curve (3 further points)."""

    start: Point
    pieces: tuple[tuple[Point, ...], ...]
    color: str
    width: float = 1.6
    dashed: bool = False
    #: Whether an arrow's tip is at the end, which then comes from the left.
    arrow: bool = False


@dataclass(frozen=True)
class Text:
    """A line of text. `anchor`: what of it is at x: "start", "middle" or "end". y is the baseline."""

    x: float
    y: float
    text: str
    size: float
    color: str
    anchor: str = "start"
    bold: bool = False


@dataclass
class Picture:
    """Shapes, in the order in which they are drawn."""

    title: str
    width: float
    height: float
    shapes: list = field(default_factory=list)


# Widths of Helvetica and what looks like it, in thousandths of the size, for groups of characters.
_WIDTHS = {
    222: "ijl|'`",
    278: "ft.,:;/\\!I[] ·",
    333: 'r()-{}"*',
    500: "ckszJvxy",
    556: "abdeghnopquL?_#$0123456789",
    584: "+=<>~×^",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "wCDHNRU",
    778: "GOQ",
    833: "mM",
    944: "W%@",
}
_WIDTH = {character: width for width, characters in _WIDTHS.items() for character in characters}


def text_width(text: str, size: float, bold: bool = False) -> float:
    """How wide text is, or a little less: fonts differ."""
    thousandths = sum(_WIDTH.get(character, 600) for character in text)
    return thousandths * size / 1000.0 * (1.08 if bold else 1.0)
