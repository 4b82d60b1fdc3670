"""A picture as PNG, painted by Pillow with the font that it brings."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageColor, ImageDraw, ImageFont

from ._shapes import Disc, Line, Picture, Point, Rect, Text

#: Pixels of the file for one of the picture, and pixels painted for one of the file: the rest is smoothing.
_SCALE = 2
_SMOOTH = 2
#: A picture with more pixels is painted coarser.
_MOST_PIXELS = 60_000_000


def write_png(picture: Picture, path: Path) -> None:
    """Paints the picture into a file."""
    painted = _SCALE * _SMOOTH
    pixels = picture.width * picture.height
    scale = min(painted, math.sqrt(_MOST_PIXELS / pixels))
    width, height = math.ceil(picture.width * scale), math.ceil(picture.height * scale)
    canvas = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(canvas, "RGBA")
    for shape in picture.shapes:
        _paint(pen, shape, scale)
    smooth = max(1, round(scale / _SCALE)) if scale >= _SCALE else 1
    canvas = canvas.resize((width // smooth, height // smooth), Image.Resampling.LANCZOS)
    canvas.save(path, optimize=True)


def _paint(pen: ImageDraw.ImageDraw, shape, scale: float) -> None:
    if isinstance(shape, Rect):
        box = [shape.x, shape.y, shape.x + shape.width, shape.y + shape.height]
        fill = (*ImageColor.getrgb(shape.fill), round(255 * shape.opacity)) if shape.fill else None
        pen.rounded_rectangle(
            [value * scale for value in box],
            radius=shape.radius * scale,
            fill=fill,
            outline=shape.stroke,
            width=max(1, round(scale)) if shape.stroke else 0,
        )
    elif isinstance(shape, Disc):
        x, y, r = shape.x * scale, shape.y * scale, shape.radius * scale
        border = {"outline": shape.stroke, "width": max(1, round(1.6 * scale))} if shape.stroke else {}
        pen.ellipse([x - r, y - r, x + r, y + r], fill=shape.fill, **border)
    elif isinstance(shape, Line):
        _paint_line(pen, shape, scale)
    else:
        _paint_text(pen, shape, scale)


def _paint_text(pen: ImageDraw.ImageDraw, text: Text, scale: float) -> None:
    anchor = {"start": "ls", "middle": "ms", "end": "rs"}[text.anchor]
    size = text.size * scale
    # The font has one weight.
    stroke = size * 0.022 if text.bold else 0
    place = (text.x * scale, text.y * scale)
    pen.text(place, text.text, fill=text.color, font=_font(round(size)), anchor=anchor, stroke_width=stroke)


@lru_cache(maxsize=32)
def _font(size: int):
    return ImageFont.load_default(size)


def _paint_line(pen: ImageDraw.ImageDraw, line: Line, scale: float) -> None:
    points = [(x * scale, y * scale) for x, y in _points(line)]
    width = max(1, round(line.width * scale))
    tip = points[-1]
    if line.arrow:
        # Under the tip the line would be wider than it.
        points[-1] = (tip[0] - 4 * scale, tip[1])
    for piece in _dashes(points, 6 * scale, 4 * scale) if line.dashed else [points]:
        pen.line(piece, fill=line.color, width=width, joint="curve")
    if line.arrow:
        back = tip[0] - 8 * scale
        pen.polygon([tip, (back, tip[1] - 4 * scale), (back, tip[1] + 4 * scale)], fill=line.color)


def _points(line: Line) -> list[Point]:
    """Points of the line so close to each other that it looks smooth."""
    points = [line.start]
    for piece in line.pieces:
        if len(piece) == 1:
            points.append(piece[0])
            continue
        corners = [points[-1], *piece]
        steps = 32
        for step in range(1, steps + 1):
            t = step / steps
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (sum(w * corner[axis] for w, corner in zip(weights, corners, strict=True)) for axis in (0, 1))
            points.append((x, y))
    return points


def _dashes(points: list[Point], on: float, off: float) -> list[list[Point]]:
    """The pieces of a line that are drawn if it is dashed."""
    pieces: list[list[Point]] = []
    drawing, left = True, on
    current = [points[0]]
    for end in points[1:]:
        start = current[-1]
        while (length := math.dist(start, end)) > left:
            part = left / length
            start = (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
            if drawing:
                pieces.append([*current, start])
            current = [start]
            drawing, left = not drawing, off if drawing else on
        left -= length
        current.append(end)
    if drawing and len(current) > 1:
        pieces.append(current)
    return pieces
