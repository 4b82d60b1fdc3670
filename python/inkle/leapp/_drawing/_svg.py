"""A picture as SVG."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from ._shapes import Disc, Line, Picture, Rect, Text

_FONT = "Inter, 'Segoe UI', 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', sans-serif"


def svg(picture: Picture) -> str:
    """The picture as the text of a file."""
    size = f'width="{picture.width:.0f}" height="{picture.height:.0f}" '
    size += f'viewBox="0 0 {picture.width:.0f} {picture.height:.0f}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{_FONT}">',
        f"<title>{escape(picture.title)}</title>",
        *(_shape(shape) for shape in picture.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _shape(shape) -> str:
    if isinstance(shape, Rect):
        paint = f'fill="{shape.fill or "none"}"' + (f' stroke="{shape.stroke}"' if shape.stroke else "")
        paint += f' fill-opacity="{shape.opacity:g}"' if shape.opacity != 1.0 else ""
        box = f'x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}"'
        return f'<rect {box} rx="{shape.radius:g}" {paint}/>'
    if isinstance(shape, Disc):
        border = f' stroke="{shape.stroke}" stroke-width="1.6"' if shape.stroke else ""
        return f'<circle cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}" fill="{shape.fill}"{border}/>'
    if isinstance(shape, Line):
        return _line(shape)
    assert isinstance(shape, Text)
    weight = ' font-weight="600"' if shape.bold else ""
    place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" text-anchor="{shape.anchor}"'
    return f"<text {place} fill={quoteattr(shape.color)}{weight}>{escape(shape.text)}</text>"


def _line(line: Line) -> str:
    path = f"M{line.start[0]:.1f} {line.start[1]:.1f}"
    for piece in line.pieces:
        path += ("C" if len(piece) == 3 else "L") + " ".join(f"{x:.1f} {y:.1f}" for x, y in piece)
    dash = ' stroke-dasharray="6 4"' if line.dashed else ""
    drawn = f'<path d="{path}" fill="none" stroke="{line.color}" stroke-width="{line.width:g}"{dash}/>'
    if not line.arrow:
        return drawn
    x, y = line.pieces[-1][-1]
    tip = f"M{x:.1f} {y:.1f}L{x - 8:.1f} {y - 4:.1f}L{x - 8:.1f} {y + 4:.1f}z"
    return f'{drawn}<path d="{tip}" fill="{line.color}"/>'
