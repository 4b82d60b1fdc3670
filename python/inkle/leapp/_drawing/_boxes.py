"""Nodes as boxes: how large they are, where their ports are, how they look."""

from __future__ import annotations

from dataclasses import dataclass, field

from ._shapes import Disc, Rect, Text, text_width

INK, MUTED, PALE = "#1b2333", "#667085", "#98a2b3"
GREEN, BORDER = "#0e8f70", "#d5dbe6"
#: By what runs a model: the colour of its box's head, and of what is written there.
_HEADS = {
    "onnx": ("#e8effd", "#1d4fc4"),
    "pt2": ("#fdebe3", "#c0431a"),
    "jit": ("#fcf3d9", "#94680b"),
    "inkle": ("#e0f5ee", "#0b7a5f"),
}
_NO_HEAD = ("#eef0f4", "#566074")

_PAD = 16.0
_HEAD = 40.0
_NAME, _TYPE, _NOTE = 13.0, 11.0, 10.5
#: Heights of a port's line of name and of each line below it, and the space between ports.
_NAME_LINE, _SMALL_LINE, _PORT_GAP = 17.0, 14.5, 9.0
_BETWEEN_COLUMNS = 36.0
_LEAST_WIDTH = 170.0
_CHIP, _CHIP_GAP, _CHIP_SIZE = 21.0, 6.0, 11.0
#: More kernels than these are counted, not named.
_MOST_CHIPS = 12


@dataclass
class PortBox:
    """A port as it is drawn: its name, its type, a note, and whether it is the pipeline's."""

    name: str
    type: str
    note: str
    outside: bool
    #: The height of the middle of its name above the top of the node's box.
    at: float = 0.0

    @property
    def width(self) -> float:
        """How wide its text is."""
        lines = [text_width(self.name, _NAME, bold=True), text_width(self.type, _TYPE)]
        return max(*lines, text_width(self.note, _NOTE))

    @property
    def height(self) -> float:
        """How high its text is."""
        return _NAME_LINE + _SMALL_LINE * (2 if self.note else 1)


@dataclass
class Box:
    """A node as it is drawn. Its place is set by the layout."""

    name: str
    kind: str
    inputs: list[PortBox]
    outputs: list[PortBox]
    #: The names of the kernels of each run.
    kernels: list[list[str]]
    x: float = 0.0
    y: float = 0.0
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self):
        columns = max((p.width for p in self.inputs), default=0.0) + max((p.width for p in self.outputs), default=0.0)
        head = text_width(self.name, 14.0, bold=True) + text_width(self.kind, 11.0, bold=True) + 60.0
        self.width = max(_LEAST_WIDTH, columns + _BETWEEN_COLUMNS + 2 * _PAD, head)
        self.height = _HEAD + 12.0 + max(_place(self.inputs), _place(self.outputs)) + 4.0
        self._runs = [self._chips(run) for run in self.kernels if run]
        if self._runs:
            self._kernels_at = self.height
            self.height += 24.0 + sum(len(rows) * (_CHIP + _CHIP_GAP) for rows in self._runs) + 10.0

    def port(self, name: str, output: bool) -> PortBox:
        """The port of a name."""
        return next(port for port in (self.outputs if output else self.inputs) if port.name == name)

    def _chips(self, names: list[str]) -> list[list[str]]:
        """Names of kernels in rows that fit into the box. The first row of a run decides how wide the box must be."""
        shown = names[:_MOST_CHIPS]
        if len(names) > len(shown):
            shown.append(f"and {len(names) - len(shown)} more")
        self.width = max(self.width, max(_chip_width(name) for name in shown) + 2 * _PAD)
        rows: list[list[str]] = [[]]
        left = self.width - 2 * _PAD
        for name in shown:
            wide = _chip_width(name) + _CHIP_GAP
            if rows[-1] and wide > left + _CHIP_GAP:
                rows.append([])
                left = self.width - 2 * _PAD
            rows[-1].append(name)
            left -= wide
        return rows

    def shapes(self) -> list:
        """The box at its place."""
        x, y, w, h = self.x, self.y, self.width, self.height
        light, strong = _HEADS.get(self.kind, _NO_HEAD)
        shapes: list = [
            Rect(x - 1.0, y + 2.0, w + 2.0, h + 3.0, 13.0, "#1b2333", opacity=0.05),
            Rect(x, y + 1.0, w, h + 1.0, 12.0, "#1b2333", opacity=0.06),
            Rect(x, y, w, h, 12.0, "#ffffff", BORDER),
            Rect(x + 0.5, y + 0.5, w - 1.0, _HEAD, 11.5, light),
            Rect(x + 0.5, y + _HEAD - 12.0, w - 1.0, 12.5, 0.0, light),
            Text(x + _PAD, y + 25.5, self.name, 14.0, INK, bold=True),
            Text(x + w - _PAD, y + 25.0, self.kind, 11.0, strong, "end", bold=True),
        ]
        for port in self.inputs:
            shapes += _port_shapes(port, x, y, strong, "start")
        for port in self.outputs:
            shapes += _port_shapes(port, x + w, y, strong, "end")
        return shapes + self._kernel_shapes()

    def _kernel_shapes(self) -> list:
        if not self._runs:
            return []
        top = self.y + self._kernels_at
        x = self.x + _PAD
        shapes: list = [
            Rect(self.x + _PAD, top, self.width - 2 * _PAD, 1.0, 0.0, "#e6eaf1"),
            Text(x, top + 18.0, "kernels", 10.5, GREEN, bold=True),
        ]
        at = top + 27.0
        for rows in self._runs:
            for row in rows:
                left = x
                for name in row:
                    wide = _chip_width(name)
                    shapes.append(Rect(left, at, wide, _CHIP, 6.0, "#effaf6", "#b5e3d5"))
                    shapes.append(Text(left + wide / 2.0, at + 14.5, name, _CHIP_SIZE, "#0b6b54", "middle"))
                    left += wide + _CHIP_GAP
                at += _CHIP + _CHIP_GAP
        return shapes


def _chip_width(name: str) -> float:
    return text_width(name, _CHIP_SIZE) * 1.04 + 16.0


def _place(ports: list[PortBox]) -> float:
    """Puts ports below each other; how high all are."""
    y = 0.0
    for port in ports:
        port.at = _HEAD + 12.0 + y + _NAME_LINE / 2.0
        y += port.height + _PORT_GAP
    return y


def _port_shapes(port: PortBox, edge: float, top: float, color: str, anchor: str) -> list:
    x = edge + _PAD if anchor == "start" else edge - _PAD
    y = top + port.at
    shapes: list = [
        Disc(edge, y, 4.5, "#ffffff", color),
        Text(x, y + 4.5, port.name, _NAME, INK, anchor, bold=True),
        Text(x, y + 4.5 + _SMALL_LINE, port.type, _TYPE, MUTED, anchor),
    ]
    if port.note:
        shapes.append(Text(x, y + 4.5 + 2 * _SMALL_LINE, port.note, _NOTE, PALE, anchor))
    return shapes
