"""Where things are: nodes in columns from left to right, lines between them, what comes back below everything.

Columns follow what flows: a node stands right of all that it takes values from in the same step. A line that passes a
column has a lane of its own there. Within a column the order is the one with few crossings that repeated sorting by the
mean place of the neighbours finds. The gap between two columns has, from left to right, room for what leaves the
pipeline, for lines to change their height, and for what comes into it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ._boxes import INK, MUTED, Box, PortBox
from ._shapes import Line, Picture, Rect, Text, text_width

Edge = tuple[tuple[str, str], tuple[str, str]]

_MARGIN, _TITLE = 36.0, 74.0
_ROW_GAP, _LANE = 40.0, 18.0
_TURN = 84.0
_PILL, _PILL_GAP = 26.0, 18.0
_FLOW, _BACK = "#5b6b86", "#8247e5"
_COMING, _LEAVING = ("#e8f1ff", "#9cbdf5", "#1d4fc4"), ("#fff0e3", "#f0b483", "#a8490b")


@dataclass
class _Lane:
    """The place of a line in a column that it passes."""

    height: float = _LANE
    y: float = 0.0


@dataclass
class _Route:
    """A line from an output to an input, and the lanes in the columns between."""

    source: tuple[Box, PortBox]
    target: tuple[Box, PortBox]
    lanes: list[_Lane] = field(default_factory=list)


def picture(title: str, subtitle: str, boxes: list[Box], data: list[Edge], feedback: list[Edge]) -> Picture:
    """The drawing of nodes and of what flows between them."""
    by_name = {box.name: box for box in boxes}
    columns, routes = _columns(boxes, data, by_name)
    _order(columns, routes)
    _place_rows(columns, routes)
    gaps = _place_columns(columns, feedback, by_name)
    bottoms = [max(item.y + item.height for item in column) for column in columns] or [_TITLE]

    shapes: list = []
    for route in routes:
        shapes += _flowing(route, columns, gaps)
    shapes += _returning(feedback, by_name, columns, gaps, bottoms)
    for column, gap in zip(columns, gaps, strict=False):
        for box in column:
            if isinstance(box, Box):
                shapes += _pills(box, gap)
                shapes += box.shapes()

    width = math.ceil(max(gaps[-1].right, _MARGIN * 2 + text_width(title, 22.0, bold=True) + 260.0))
    height = math.ceil(max(bottoms) + _MARGIN)
    frame: list = [
        Rect(0.0, 0.0, width, height, 0.0, "#f7f9fc"),
        Text(_MARGIN, 42.0, title, 22.0, INK, bold=True),
        Text(_MARGIN, 61.0, subtitle, 12.0, MUTED),
    ]
    return Picture(title, width, height, frame + _legend(width, bool(data), bool(feedback)) + shapes)


@dataclass
class _Gap:
    """The space left of a column, and right of the last: where pills and turning lines are."""

    left: float
    #: Where what leaves the column before ends, where what comes into the next column starts, and the next column.
    turn: float
    turned: float
    right: float
    #: How many lines of what comes back turn here that have no place yet, down and up.
    downs: int = 0
    ups: int = 0


def _columns(boxes: list[Box], data: list[Edge], by_name: dict[str, Box]) -> tuple[list[list], list[_Route]]:
    column_of: dict[str, int] = {}
    # Nodes are in the order of their completion, so what a node takes is placed before it.
    for box in boxes:
        before = [source for (source, _), (target, _) in data if target == box.name and source in column_of]
        column_of[box.name] = max((column_of[name] + 1 for name in before), default=0)
    columns: list[list] = [[] for _ in range(max(column_of.values(), default=0) + 1)]
    for box in boxes:
        columns[column_of[box.name]].append(box)
    routes = []
    for (source, output), (target, taken) in data:
        start, end = by_name[source], by_name[target]
        route = _Route((start, start.port(output, True)), (end, end.port(taken, False)))
        for column in range(column_of[source] + 1, column_of[target]):
            route.lanes.append(_Lane())
            columns[column].append(route.lanes[-1])
        routes.append(route)
    return columns, routes


def _order(columns: list[list], routes: list[_Route]) -> None:
    """Sorts columns so that lines cross seldom."""
    links: dict[int, list[tuple[object, float]]] = {}
    for route in routes:
        (start, output), (end, taken) = route.source, route.target
        chain = [
            (start, output.at / start.height),
            *((lane, 0.5) for lane in route.lanes),
            (end, taken.at / end.height),
        ]
        for (one, one_at), (other, other_at) in zip(chain, chain[1:], strict=False):
            links.setdefault(id(one), []).append((other, other_at))
            links.setdefault(id(other), []).append((one, one_at))
    for sweep in range(8):
        order = range(1, len(columns)) if sweep % 2 == 0 else range(len(columns) - 2, -1, -1)
        for index in order:
            beside = columns[index - 1 if sweep % 2 == 0 else index + 1]
            place = {id(item): rank for rank, item in enumerate(beside)}

            def mean(item, place=place, column=columns[index]):
                ranks = [place[id(o)] + at for o, at in links.get(id(item), ()) if id(o) in place]
                return sum(ranks) / len(ranks) if ranks else float(column.index(item))

            keys = {id(item): mean(item) for item in columns[index]}
            columns[index].sort(key=lambda item, keys=keys: keys[id(item)])


def _place_rows(columns: list[list], routes: list[_Route]) -> None:
    """Heights: each column from the top, then moved towards what its items are connected with."""
    for column in columns:
        y = _TITLE + 16.0
        for item in column:
            item.y = y
            y += item.height + _ROW_GAP
    wishes: dict[int, list] = {}
    for route in routes:
        chain = [route.source, *((lane, None) for lane in route.lanes), route.target]
        for one, other in zip(chain, chain[1:], strict=False):
            wishes.setdefault(id(one[0]), []).append((one, other))
            wishes.setdefault(id(other[0]), []).append((other, one))

    def height(end) -> float:
        item, port = end
        return item.y + (port.at if port is not None else item.height / 2.0)

    for _ in range(6):
        for column in columns:
            for index in range(len(column) - 1, -1, -1):
                item = column[index]
                moves = [height(other) - height(one) for one, other in wishes.get(id(item), ())]
                move = sum(moves) / len(moves) if moves else 0.0
                lowest = column[index + 1].y - _ROW_GAP - item.height if index + 1 < len(column) else float("inf")
                above = column[index - 1] if index else None
                highest = above.y + above.height + _ROW_GAP if above else _TITLE + 16.0
                item.y = max(highest, min(lowest, item.y + move))


def _place_columns(columns: list[list], feedback: list[Edge], by_name: dict[str, Box]) -> list[_Gap]:
    """Sets where columns are from left to right; the gaps between them, before the first and after the last."""
    gaps, x = [], _MARGIN
    before: list = []
    for column in [*columns, []]:
        leaving = max((_pill_width(p) for b in before for p in b.outputs if p.outside), default=0.0)
        coming = max((_pill_width(p) for b in column if isinstance(b, Box) for p in b.inputs if p.outside), default=0.0)
        downs = sum(by_name[s] in before for (s, _), _ in feedback)
        ups = sum(isinstance(b, Box) and b.name == t for _, (t, _) in feedback for b in column)
        left = x
        turn = left + (leaving + 2 * _PILL_GAP if leaving else 14.0 if before else 0.0) + 10.0 * downs
        between = _TURN if before and column else 6.0 if downs or ups else 0.0
        turned = turn + between
        right = turned + 10.0 * ups + (coming + 2 * _PILL_GAP if coming else 14.0 if column else 0.0)
        gaps.append(_Gap(left, turn, turned, right, downs, ups))
        x = right
        if column:
            wide = max((item.width for item in column if isinstance(item, Box)), default=0.0)
            for item in column:
                if isinstance(item, Box):
                    item.x = right + (wide - item.width) / 2.0
            x = right + wide
        before = [item for item in column if isinstance(item, Box)]
    gaps[-1].right += _MARGIN
    return gaps


def _gap_after(box: Box, columns: list[list]) -> int:
    return next(i for i, column in enumerate(columns) if any(item is box for item in column)) + 1


def _start(box: Box, port: PortBox) -> float:
    """Where lines of an output begin: at the port, or at the pill that it has."""
    x = box.x + box.width
    return x + _PILL_GAP + _pill_width(port) if port.outside else x + 4.5


def _flowing(route: _Route, columns: list[list], gaps: list[_Gap]) -> list:
    (start, output), (end, taken) = route.source, route.target
    gap = _gap_after(start, columns)
    y = start.y + output.at
    first = (_start(start, output), y)
    pieces: list = []
    for lane in [*route.lanes, None]:
        goal = lane.y + lane.height / 2.0 if lane is not None else end.y + taken.at
        a, b = gaps[gap].turn, gaps[gap].turned
        middle = (a + b) / 2.0
        pieces += [((a, y),), ((middle, y), (middle, goal), (b, goal))]
        y = goal
        gap += 1
    pieces.append(((end.x - 4.5, y),))
    return [Line(first, tuple(pieces), _FLOW, arrow=True)]


def _returning(
    feedback: list[Edge], by_name: dict[str, Box], columns: list[list], gaps: list[_Gap], bottoms: list[float]
) -> list:
    """Lines of values that the next step takes, below the columns that they pass. `bottoms` ends below them, too."""
    shapes: list = []

    def span(edge: Edge) -> tuple[int, float]:
        (source, output), (target, _) = edge
        start, end = by_name[source], by_name[target]
        return _gap_after(start, columns) - _gap_after(end, columns), -(start.y + start.port(output, True).at)

    # Short ways are inside long ones, so that they do not cross.
    for (source, output), (target, taken) in sorted(feedback, key=span):
        start, end = by_name[source], by_name[target]
        out, into = start.port(output, True), end.port(taken, False)
        last, first = _gap_after(start, columns), _gap_after(end, columns) - 1
        leaving, coming = gaps[last], gaps[first]
        passed = range(min(first, last - 1), max(first, last - 1) + 1)
        y = max(bottoms[column] for column in passed) + 28.0
        for column in passed:
            bottoms[column] = y - 6.0
        leaving.downs -= 1
        coming.ups -= 1
        down = leaving.turn - 4.0 - 10.0 * leaving.downs
        up = coming.turned + 4.0 + 10.0 * coming.ups
        y0, y1 = start.y + out.at, end.y + into.at
        r = 9.0
        pieces = (
            ((down - r, y0),),
            ((down, y0), (down, y0), (down, y0 + r)),
            ((down, y - r),),
            ((down, y), (down, y), (down - r, y)),
            ((up + r, y),),
            ((up, y), (up, y), (up, y - r)),
            ((up, y1 + r),),
            ((up, y1), (up, y1), (up + r, y1)),
            ((end.x - 4.5, y1),),
        )
        shapes.append(Line((_start(start, out), y0), pieces, _BACK, dashed=True, arrow=True))
        name = output if output == taken else f"{output} to {taken}"
        wide = text_width(name, 11.0) * 1.04 + 18.0
        middle = (down + up) / 2.0
        shapes.append(Rect(middle - wide / 2.0, y - 9.0, wide, 18.0, 9.0, "#f7f9fc"))
        shapes.append(Text(middle, y + 4.0, name, 11.0, _BACK, "middle"))
    return shapes


def _pill_width(port: PortBox) -> float:
    return text_width(port.name, 12.0, bold=True) * 1.04 + 22.0


def _pills(box: Box, gap: _Gap) -> list:
    """What comes from outside and what goes there, beside the box."""
    shapes: list = []
    for ports, side in ((box.inputs, -1), (box.outputs, 1)):
        for port in ports:
            if not port.outside:
                continue
            wide, y = _pill_width(port), box.y + port.at
            edge = box.x if side < 0 else box.x + box.width
            x = edge - _PILL_GAP - wide if side < 0 else edge + _PILL_GAP
            light, border, strong = _COMING if side < 0 else _LEAVING
            line = (x + wide, edge - 4.5) if side < 0 else (edge + 4.5, x)
            shapes.append(Line((line[0], y), (((line[1], y),),), border, width=1.8, arrow=True))
            shapes.append(Rect(x, y - _PILL / 2.0, wide, _PILL, _PILL / 2.0, light, border))
            shapes.append(Text(x + wide / 2.0, y + 4.2, port.name, 12.0, strong, "middle", bold=True))
    return shapes


def _legend(width: float, data: bool, feedback: bool) -> list:
    """What the kinds of lines mean, in the upper right corner."""
    shapes: list = []
    x = width - _MARGIN
    for text, color, dashed in [("next step", _BACK, True)] * feedback + [("same step", _FLOW, False)] * data:
        x -= text_width(text, 11.0)
        shapes.append(Text(x, 40.0, text, 11.0, MUTED))
        shapes.append(Line((x - 34.0, 36.0), (((x - 8.0, 36.0),),), color, dashed=dashed, arrow=True))
        x -= 56.0
    return shapes
