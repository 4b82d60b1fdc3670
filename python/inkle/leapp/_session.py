"""A trace: from `start` to `stop`, and the nodes that it finds."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from inkle import _native

from . import _trace_numpy
from ._finish import drop_inputs, drop_outputs, finish
from ._layout import Layout
from ._patches import Patches
from ._pipeline import Node, Pipeline, Port, Segment, State
from ._recorder import Recorder
from ._segments import Watch
from ._where import TraceError, TraceWarning, where

log = logging.getLogger("inkle.leapp")
_byte_bounds = np.byte_bounds if hasattr(np, "byte_bounds") else np.lib.array_utils.byte_bounds


@dataclass(eq=False)
class TracedNode:
    """A node as it is found: what its executions have in common, and the one under way."""

    name: str
    source: str
    inputs: dict[str, Port] = field(default_factory=dict)
    outputs: dict[str, Port] = field(default_factory=dict)
    #: Names of inputs that are states, in order.
    states: list[str] = field(default_factory=list)
    updated: dict[str, torch.Tensor] = field(default_factory=dict)
    origins: set[str] = field(default_factory=set)
    index: int = -1
    executions: int = 0
    first: Recorder | None = None
    export_with: str | None = None
    backend_params: dict = field(default_factory=dict)
    trackers: list = field(default_factory=list)
    #: Those of the states that are buffers which the node was seen to change.
    buffers: set[str] = field(default_factory=set)
    next_buffer: int = 0
    #: What the graph of the first execution returns: names, and nodes.
    results: list[tuple[str, torch.fx.Node]] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether it was executed once."""
        return self.index >= 0


@dataclass(eq=False)
class Published:
    """A value that left a node: whose it is, and what it was."""

    node: TracedNode
    output: str
    tensor: torch.Tensor
    value: torch.Tensor


class Session:
    """A trace under way, or one that has ended."""

    def __init__(self, name, directory, dry_run, non_traced, max_cached_io, passes, patches):
        self.name = name
        self.directory = Path(directory)
        self.dry_run = dry_run
        self.non_traced = set(non_traced)
        self.max_cached_io = max(int(max_cached_io), 1)
        self.passes = passes
        self.log = log
        self.nodes: dict[str, TracedNode] = {}
        #: The executions under way, by node.
        self.active: dict[str, Recorder] = {}
        self.is_running = False
        self.watch = Watch(self)
        self.verbose = False
        self._published: dict[Layout, Published] = {}
        self._completed = 0
        self._pauses = 0
        self._warned: set[tuple[str, str]] = set()
        self._thread = threading.get_ident()
        self._patches = Patches(self, patches)
        self._modes = None

    # From start to stop

    def begin(self) -> None:
        """Starts to watch what the thread does."""
        from ._trace_torch import Modes

        self._modes = Modes(self)
        self._patches.install()
        self._modes.enter()
        _trace_numpy.install(self)
        _native.set_observer(self.watch)
        self.is_running = True

    def end(self) -> None:
        """Leaves everything as it was before `begin`."""
        if not self.is_running:
            return
        self.is_running = False
        self.watch.drop()
        for name in list(self.active):
            self.leave(name)
        self._published.clear()
        _native.set_observer(None)
        _trace_numpy.uninstall()
        self._patches.uninstall()
        self._modes.leave()

    @contextlib.contextmanager
    def pause(self):
        """What happens inside is not watched."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1

    @property
    def is_paused(self) -> bool:
        """Whether nothing is watched now."""
        return self._pauses > 0 or threading.get_ident() != self._thread

    def check_thread(self, call: str) -> None:
        """Fails in another thread than the one that started the trace."""
        if threading.get_ident() != self._thread:
            raise TraceError(f"{call} was called in another thread than leapp.start(); a trace belongs to one thread")

    # Whose values are they

    def owner(self, tensors, call) -> Recorder | None:
        """The execution that has values of any of the tensors; a segment under way that has them ends."""
        owners = []
        open_one = self.watch.segment
        for tensor in tensors:
            layout = Layout.of(tensor)
            if layout is None:
                continue
            if open_one is not None:
                if open_one.owner is not None:
                    self.watch.check_block(layout, call())
                elif open_one.knows(*layout.span):
                    with self.pause():
                        self.watch.end(call())
                    open_one = None
            owners += [r for r in self.active.values() if r not in owners and r.has(layout)]
        if len(owners) > 1:
            raise TraceError(
                f"{call()} at {where()} uses values of nodes {' and '.join(repr(r.name) for r in owners)} at once. End one "
                "node with output_tensors() and pass its output to the other with input_tensors()"
            )
        if not owners:
            return None
        if self.watch.segment is not None and self.watch.segment.owner is None:
            with self.pause():
                self.watch.end(call())
        return owners[0]

    def owner_of_memory(self, start: int, end: int) -> Recorder | None:
        """The execution that has values in a range of memory."""
        return next((r for r in self.active.values() if r.overlapping(start, end)), None)

    def owner_of_array(self, array: np.ndarray) -> Recorder | None:
        """The execution that has values of a numpy array."""
        if not self.active or self.is_paused or array.size == 0:
            return None
        low, high = _byte_bounds(array)
        return self.owner_of_memory(low, high)

    def copied(self, tensor: torch.Tensor, array: np.ndarray) -> None:
        """Says that a numpy array is a copy of a tensor."""
        recorder = self.owner([tensor], lambda: "numpy()")
        with self.pause():
            host = torch.from_numpy(array)
            node = recorder.node_of(tensor)
            aten = torch.ops.aten
            recorder.add_part(
                host, recorder.emit(aten._to_copy.default, (node,), {"dtype": host.dtype, "device": host.device})
            )

    def written(self, tensor: torch.Tensor, is_renewed: bool) -> None:
        """Says that something outside of the nodes wrote a tensor, and whether all of it."""
        layout = Layout.of(tensor)
        if layout is not None:
            for recorder in self.active.values():
                recorder.forget_constants(*layout.span)
                if is_renewed:
                    recorder.note_renewed(layout)

    def made(self, result, is_blank: bool) -> None:
        """Says that something outside of the nodes made tensors, and whether their contents are nothing yet."""
        for tensor in result if isinstance(result, (list, tuple)) else (result,):
            layout = Layout.of(tensor) if isinstance(tensor, torch.Tensor) else None
            if layout is not None:
                for recorder in self.active.values():
                    recorder.note_local(*layout.span)
                    if is_blank:
                        recorder.note_blank(*layout.span)

    def made_array(self, array: np.ndarray) -> None:
        """Says that something outside of the nodes made a numpy array."""
        for recorder in self.active.values():
            recorder.note_local(*_byte_bounds(array))

    # What cannot be repeated

    def host_read(self, recorder: Recorder, what: str) -> None:
        """The program looks at a value: what it does with it is constant in the export."""
        self._warn(
            recorder,
            f"{what} of a traced tensor is read by the program at {where()}: what depends on it (a branch, a number) is "
            "constant in the exported model; use torch.where, or wp.capture_if and wp.capture_while in kernels",
        )

    def data_shape(self, recorder: Recorder, func) -> None:
        """An operation's result has a shape that depends on values."""
        self._warn(
            recorder,
            f"{str(func).removeprefix('aten.')} at {where()} gives a tensor whose shape depends on traced values: the exported "
            "model works only for values that give the same shape",
        )

    def _warn(self, recorder: Recorder, message: str) -> None:
        if (recorder.name, message) in self._warned:
            return
        self._warned.add((recorder.name, message))
        log.warning("node '%s': %s", recorder.name, message)
        warnings.warn(f"node '{recorder.name}': {message}", TraceWarning, stacklevel=_depth())

    # Nodes

    def exports(self, name: str) -> bool:
        """Whether a node becomes a model."""
        return not self.dry_run and name not in self.non_traced

    def enter(self, name: str, origin: str) -> tuple[TracedNode, Recorder]:
        """The execution of a node that an annotation at a place of the program belongs to."""
        node = self.nodes.get(name)
        if node is None:
            node = self.nodes[name] = TracedNode(name, origin)
        recorder = self.active.get(name)
        if recorder is None:
            if node.is_complete and origin not in node.origins:
                raise TraceError(
                    f"node '{name}' is called from a different annotation origin than the first trace: {origin}, and before "
                    f"{', '.join(sorted(node.origins))}. A node's name belongs to one place of the program"
                )
            is_second = self.passes == 2 and node.executions == 1
            recorder = self.active[name] = Recorder(name, node.first, is_second, self._warn)
            node.updated = {}
            node.next_buffer = 0
        elif node.is_complete and origin not in node.origins:
            raise TraceError(f"node '{name}': input_tensors() at {origin} was not called in the first execution")
        node.origins.add(origin)
        return node, recorder

    def recorder(self, name: str, call: str) -> tuple[TracedNode, Recorder]:
        """The execution of a node that is under way."""
        recorder = self.active.get(name)
        if recorder is None:
            known = "has no execution under way" if name in self.nodes else "is not known"
            raise TraceError(
                f"{call}() called for node '{name}', which {known} (at {where()}). Call annotate.input_tensors() for it first"
            )
        return self.nodes[name], recorder

    def add_input(self, node: TracedNode, recorder: Recorder, name: str, tensor: torch.Tensor, semantics) -> None:
        """Makes a tensor an input; one that is an input already keeps its first name."""
        layout = Layout.of(tensor)
        first = recorder.declared.get(layout) if layout is not None and name not in recorder.placeholders else None
        if first is not None and not recorder.is_written(tensor):
            if node.inputs[first].semantics is None and semantics is not None:
                node.inputs[first].semantics = replace(semantics, name=first)
            log.info(
                "input '%s' of node '%s' is its input '%s' too, and has that name in the model", name, node.name, first
            )
            recorder.entry(("input", first, name), f"input '{name}'")
            return
        if layout is not None:
            recorder.declared[layout] = name
        self.add_placeholder(node, recorder, name, tensor)
        published = self._source(tensor)
        port = self.describe_input(node, name, tensor, semantics)
        if published is not None and port.source is None and name not in node.states:
            port.source = (published.node.name, published.output)

    def add_placeholder(self, node: TracedNode, recorder: Recorder, name: str, tensor: torch.Tensor) -> None:
        """Makes a tensor's memory hold the value of a new parameter of the node's graph."""
        if name in recorder.placeholders:
            raise TraceError(
                f"Duplicate i/o name '{name}' in node '{node.name}' (at {where()}): its inputs are "
                f"{', '.join(recorder.placeholders)}"
            )
        recorder.add_part(tensor.detach(), recorder.placeholder(name))

    def describe_input(self, node: TracedNode, name: str, tensor: torch.Tensor, semantics) -> Port:
        """The port of an input, with one more value seen."""
        value = tensor.detach().clone(memory_format=torch.contiguous_format)
        port = node.inputs.get(name)
        if port is None:
            if node.is_complete:
                raise TraceError(
                    f"node '{node.name}': input '{name}' at {where()} was not there in the first execution, whose inputs were "
                    f"{', '.join(node.inputs)}"
                )
            port = Port(name, tuple(tensor.shape), tensor.dtype, tensor.device, semantics, initial=value)
            node.inputs[name] = port
        self._check_port(node, port, value, "input")
        if len(port.examples) < self.max_cached_io:
            port.examples.append(value)
        return port

    def _check_port(self, node: TracedNode, port: Port, value: torch.Tensor, what: str) -> None:
        now, before = (tuple(value.shape), value.dtype, value.device), (port.shape, port.dtype, port.device)
        if now != before:
            raise TraceError(
                f"node '{node.name}': {what} '{port.name}' at {where()} is {_about(*now)}, and in the first execution it was "
                f"{_about(*before)}"
            )

    def _source(self, tensor: torch.Tensor) -> Published | None:
        """The output of a node whose value a tensor is, if nothing changed it since."""
        found = self._published.get(Layout.of(tensor))
        if found is None or not torch.equal(found.value, tensor.detach()) and not _same(found.value, tensor.detach()):
            return None
        return found

    def publish(self, node: TracedNode, output: str, tensor: torch.Tensor) -> None:
        """Says that a tensor is an output, for the inputs of other nodes."""
        layout = Layout.of(tensor)
        if layout is not None:
            kept = tensor.detach()
            self._published[layout] = Published(node, output, kept, kept.clone())

    def mirror(self, source: torch.Tensor, target: torch.Tensor) -> None:
        """Makes a tensor of equal contents stand for another."""
        found = self._source(source)
        if found is not None:
            self.publish(found.node, found.output, target)
        for recorder in self.active.values():
            if recorder.touches(source) and not recorder.touches(target):
                node = recorder.emit(torch.ops.aten.clone.default, (recorder.node_of(source),))
                recorder.add_part(target.detach(), node)

    def complete(self, node: TracedNode, recorder: Recorder, outputs: dict, static: dict, semantics: dict) -> None:
        """Ends an execution of a node: `outputs` and `static` are tensors by name."""
        for tracker in node.trackers:
            tracker.collect(self, node, recorder)
        node.trackers.clear()
        states = {name: node.updated[name] for name in node.states if name in node.updated}
        for name in list(node.states):
            if name not in node.updated and not node.is_complete:
                log.warning(
                    "State tensor '%s' in node '%s' was not updated via update_state(); it is a regular input",
                    name,
                    node.name,
                )
                node.states.remove(name)
        results = [(name, recorder.node_of(tensor)) for name, tensor in {**outputs, **states}.items()]
        recorder.entry(
            ("outputs", tuple((n, recorder.number(x)) for n, x in results), tuple(static)), "output_tensors()"
        )
        recorder.check_complete()
        values = {**outputs, **static, **states}
        for name, tensor in values.items():
            self._complete_output(node, name, tensor, static, semantics)
        if recorder.is_first:
            node.first, node.results = recorder, results
            node.index, self._completed = self._completed, self._completed + 1
        for name, tensor in values.items():
            self.publish(node, name, tensor)
        segments_left = recorder.is_capture_pass and len(recorder.segments) < len(node.first.segments)
        if not segments_left:
            node.executions += 1
            if recorder.divergence is not None:
                raise recorder.divergence

    def _complete_output(self, node: TracedNode, name: str, tensor, static: dict, semantics: dict) -> None:
        value = tensor.detach().clone(memory_format=torch.contiguous_format)
        port = node.outputs.get(name)
        if port is None:
            if node.is_complete:
                raise TraceError(
                    f"node '{node.name}': output '{name}' at {where()} was not there in the first execution, whose outputs "
                    f"were {', '.join(node.outputs)}"
                )
            port = Port(name, tuple(value.shape), value.dtype, value.device, semantics.get(name))
            port.static = value if name in static else None
            node.outputs[name] = port
        self._check_port(node, port, value, "output")
        if port.static is not None and not _same(port.static, value):
            raise TraceError(
                f"node '{node.name}': static output '{name}' at {where()} has changed since the first execution"
            )
        if len(port.examples) < self.max_cached_io:
            port.examples.append(value)

    def leave(self, name: str) -> None:
        """Forgets the values of an execution."""
        recorder = self.active.pop(name, None)
        if recorder is not None:
            recorder.release()

    # The result

    def pipeline(self) -> Pipeline:
        """What was found, as data.

        Raises:
            TraceError: when a node never completed, or was not executed as often as it has to be.
        """
        open_nodes = sorted(name for name, node in self.nodes.items() if not node.is_complete)
        if open_nodes:
            raise TraceError(
                f"The following nodes were created but never completed: {', '.join(open_nodes)}. Did you forget to call "
                "output_tensors() or finish the annotated function?"
            )
        if self.passes == 2:
            once = sorted(n for n, node in self.nodes.items() if node.first.segments and node.executions < 2)
            if once:
                raise TraceError(
                    f"The following nodes have Warp segments and were not executed a second time for APIC capture: "
                    f"{', '.join(once)}. Run the same annotated path again, or start with passes=1"
                )
        nodes = sorted(self.nodes.values(), key=lambda node: node.index)
        return Pipeline(self.name, self.directory, [self._described(node) for node in nodes], self.dry_run)

    def _described(self, node: TracedNode) -> Node:
        states = [name for name in node.states if name in node.outputs]
        statics = {name: port.static for name, port in node.outputs.items() if port.static is not None}
        names = [name for name in node.outputs if name not in states] + states
        inputs = [name for name in node.inputs if name not in states] + states
        by_name = dict(node.results)
        examples = {name: node.inputs[name].examples[0] for name in inputs}
        module, unused = finish(node.first, examples, [by_name.get(name, statics.get(name)) for name in names])
        # What they had is never read, so they carry nothing from step to step.
        taken = {port.source for other in self.nodes.values() if other is not node for port in other.inputs.values()}
        rewritten = {name for name in node.buffers & unused if name in states and (node.name, name) not in taken}
        drop_outputs(module, {index for index, name in enumerate(names) if name in rewritten})
        states, names = ([name for name in known if name not in rewritten] for known in (states, names))
        unused -= set(states)
        drop_inputs(module, unused)
        if unused := unused - rewritten:
            log.warning(
                "node '%s': the inputs %s are not used and are left out of its model",
                node.name,
                ", ".join(sorted(unused)),
            )
        for port in node.inputs.values():
            self._connect(node, port, port.name in states)
        kept = [name for name in inputs if name not in unused | rewritten]
        return Node(
            name=node.name,
            index=node.index,
            inputs=[node.inputs[name] for name in kept if name not in states],
            outputs=[node.outputs[name] for name in names if name not in states],
            states=[State(name, node.inputs[name], node.outputs[name]) for name in states],
            module=module,
            segments=[Segment(s.name, s.bundle, s.inputs, s.outputs, s.source) for s in node.first.segments],
            export_with=node.export_with if self.exports(node.name) else None,
            backend_params=dict(node.backend_params),
            source=node.source,
        )

    def _connect(self, node: TracedNode, port: Port, is_state: bool) -> None:
        if is_state:
            port.source, port.feedback = (node.name, port.name), True
            return
        if port.source is None:
            port.initial = None
            return
        port.feedback = self.nodes[port.source[0]].index >= node.index
        if not port.feedback:
            port.initial = None


def _about(shape, dtype, device) -> str:
    return f"{str(dtype).removeprefix('torch.')} of shape {list(shape)} on {device}"


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        return False
    return bool(torch.all((a == b) | ((a != a) & (b != b))))


def _depth() -> int:
    """How far up the stack the user's line is, for a warning."""
    import sys

    from ._where import _is_library

    depth, frame = 1, sys._getframe(1)
    while frame is not None and _is_library(frame.f_code.co_filename):
        depth, frame = depth + 1, frame.f_back
    return depth


def session_paths(name: str, save_path: Any) -> tuple[str, str]:
    """The name of a pipeline and the directory its files go to."""
    if not isinstance(name, str):
        raise TypeError(f"leapp.start(name=...) must be a string, got {type(name).__name__}")
    normal = os.path.normpath(os.path.expanduser(name))
    folder, base = os.path.split(normal)
    if normal in ("", ".", "..", os.sep) or not base:
        raise ValueError(
            f"leapp.start(name={name!r}) does not contain a usable graph name; give one such as 'my_graph'"
        )
    return base, os.path.join(save_path, folder, base)
