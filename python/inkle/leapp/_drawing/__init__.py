"""The drawing of a pipeline: nodes with their ports and kernels, what flows between them, what comes back a step later."""

from __future__ import annotations

import logging

from inkle._native import bundle_kernels

from .._dtypes import dtype_name
from .._flow import Flow
from .._pipeline import Node, Pipeline, Port
from ._boxes import Box, PortBox
from ._layout import picture
from ._shapes import Picture

_log = logging.getLogger("inkle.leapp")


def draw(pipeline: Pipeline, flow: Flow, kinds: dict[str, str | None], frequency: float | None = None) -> None:
    """Writes `NAME.svg` and `NAME.png` into the pipeline's directory. `kinds`: by node, what runs its model.

    The PNG needs Pillow; without it there is a warning, and the SVG.
    """
    drawn = scene(pipeline, flow, kinds, frequency)
    from ._svg import svg

    path = pipeline.directory / f"{pipeline.name}.svg"
    path.write_text(svg(drawn), encoding="utf-8")
    try:
        from ._png import write_png
    except ImportError:
        _log.warning("the pipeline's drawing is at %s; install Pillow to have it as PNG too", path)
        return
    write_png(drawn, path.with_suffix(".png"))


def scene(pipeline: Pipeline, flow: Flow, kinds: dict[str, str | None], frequency: float | None = None) -> Picture:
    """The drawing as shapes."""
    boxes = [_box(node, flow, kinds[node.name]) for node in pipeline.nodes]
    kernels = sum(len(run) for box in boxes for run in box.kernels)
    facts = [_count(len(boxes), "node")]
    if kernels:
        facts.append(_count(kernels, "kernel"))
    if frequency:
        facts.append(f"{frequency:g} Hz")
    return picture(pipeline.name, " · ".join(facts), boxes, _edges(flow.data), _edges(flow.feedback))


def _box(node: Node, flow: Flow, kind: str | None) -> Box:
    coming, leaving = set(flow.inputs.get(node.name, ())), set(flow.outputs.get(node.name, ()))
    states = {id(port) for state in node.states for port in (state.input, state.output)}
    return Box(
        name=node.name,
        kind=kind or "no model",
        inputs=[_port(port, port.name in coming, id(port) in states) for port in node.all_inputs],
        outputs=[_port(port, port.name in leaving, id(port) in states) for port in node.all_outputs],
        kernels=[bundle_kernels(segment.bundle) for segment in node.segments],
    )


def _port(port: Port, outside: bool, state: bool) -> PortBox:
    shape = f"[{', '.join(map(str, port.shape))}]" if port.shape else ""
    said = port.semantics.kind if port.semantics is not None else None
    note = getattr(said, "value", said) or ("state" if state else "constant" if port.static is not None else "")
    return PortBox(port.name, dtype_name(port.dtype) + shape, str(note), outside)


def _edges(flows: dict[str, list[str]]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of (node, output) and (node, input)."""

    def apart(key: str) -> tuple[str, str]:
        node, _, port = key.partition("/")
        return node, port

    return [(apart(source), apart(target)) for source, targets in flows.items() for target in targets]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
