"""One execution of a node as a graph.

A value is known by its memory. A *root* is a piece of memory that holds values of the node; its *parts* are tensors that
together make up what is known of it, each with a node of the graph. Every other tensor, numpy array or `wp.array` in that
memory is a view of a part, however it was made. Operations that write in place are in the graph as they are, so that it
has the aliases of the program; `_finish` makes a function of it.

What is in no root is a constant: its contents are kept when an operation first uses it.
"""

from __future__ import annotations

import bisect
import hashlib
import operator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx
from torch.utils._pytree import tree_leaves, tree_map

from inkle import _native

from ._layout import Layout, are_disjoint, intersection, view_steps
from ._portable import portable
from ._where import TraceError, where

aten = torch.ops.aten


@dataclass(eq=False)
class Part:
    """A tensor of a root. `tensor` keeps its memory."""

    tensor: torch.Tensor
    layout: Layout
    node: torch.fx.Node


@dataclass(eq=False)
class Root:
    """A piece of memory with values of the node, from byte `start` to `end`."""

    start: int
    end: int
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Call:
    """An entry of an execution, to compare executions by."""

    what: tuple
    label: str
    source: str


class Recorder:
    """Records one execution of the node `name`; `reference` is the first one."""

    def __init__(self, name: str, reference: Recorder | None, strict_passes: bool, warn):
        self.name = name
        self._warn = warn
        self.reference = reference
        #: Whether this is the second of two passes, whose segments are compared by themselves.
        self.is_capture_pass = strict_passes
        self.divergence: TraceError | None = None
        #: The serial numbers of allocations made since are not below this.
        self.serial = _native.live_serial()
        self.graph = torch.fx.Graph()
        self.module = torch.nn.Module()
        self.calls: list[Call] = []
        self.segments: list = []
        self.placeholders: dict[str, torch.fx.Node] = {}
        #: The inputs by their memory.
        self.declared: dict[Layout, str] = {}
        #: Placeholders that turned out to be constants, and those.
        self.baked: dict[str, str] = {}
        self._written: list[tuple[int, int]] = []
        #: Memory that was made or first written, by nothing traced, while the node ran.
        self._local: dict[int, int] = {}
        self._renewed: list[Layout] = []
        #: Memory that was made while the node ran and that nothing has written yet.
        self._blank: list[tuple[int, int]] = []
        self._starts: list[int] = []
        self._roots: list[Root] = []
        self._views: dict[Layout, torch.fx.Node] = {}
        #: The tensors are kept, so that no other one gets their memory.
        self._constants: dict[Layout, tuple[torch.fx.Node, torch.Tensor]] = {}
        self._numbers: dict[torch.fx.Node, int] = {}

    def release(self) -> None:
        """Lets go of the memory of all values; the graph stays."""
        for known in (
            self._starts,
            self._roots,
            self._views,
            self._constants,
            self._local,
            self._blank,
            self._renewed,
            self.declared,
        ):
            known.clear()

    @property
    def is_first(self) -> bool:
        """Whether this execution makes the node's graph."""
        return self.reference is None

    # Memory

    def overlapping(self, start: int, end: int) -> list[Root]:
        """The roots that have bytes of a range."""
        at = max(bisect.bisect_right(self._starts, start) - 1, 0)
        found = []
        while at < len(self._roots) and self._roots[at].start < end:
            if self._roots[at].end > start:
                found.append(self._roots[at])
            at += 1
        return found

    def has(self, layout: Layout | None) -> bool:
        """Whether a tensor of that layout has values of the node."""
        return layout is not None and (layout in self._views or bool(self._parts(layout)))

    def _parts(self, layout: Layout) -> list[Part]:
        """The parts that have bytes of a tensor."""
        roots = self.overlapping(*layout.span)
        return [part for root in roots for part in root.parts if not are_disjoint(part.layout, layout)]

    def touches(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor has values of the node."""
        return self.has(Layout.of(tensor))

    def _root(self, start: int, end: int) -> Root:
        """A root with at least that range; roots it overlaps become part of it."""
        old = self.overlapping(start, end)
        if len(old) == 1 and old[0].start <= start and end <= old[0].end:
            return old[0]
        root = Root(min([start] + [r.start for r in old]), max([end] + [r.end for r in old]))
        for gone in old:
            root.parts += gone.parts
            at = self._roots.index(gone)
            del self._roots[at], self._starts[at]
        at = bisect.bisect_left(self._starts, root.start)
        self._roots.insert(at, root)
        self._starts.insert(at, root.start)
        return root

    def add_part(self, tensor: torch.Tensor, node: torch.fx.Node) -> Root | None:
        """Says that a tensor's memory has the value of a node."""
        layout = Layout.of(tensor)
        if layout is None:
            return None
        start, end = layout.span
        is_new = not self.overlapping(start, end)
        root = self._root(start, end)
        if not is_new:
            root.parts = [p for p in root.parts if view_steps(layout, p.layout) is None]
            for known in [x for x in self._views if not are_disjoint(x, layout)]:
                del self._views[known]
            for part in root.parts:
                self._views[part.layout] = part.node
        root.parts.append(Part(tensor, layout, node))
        self._views[layout] = node
        return root

    def forget_constants(self, start: int, end: int) -> None:
        """Says that something outside of the node wrote to memory."""
        self._blank = [(a, b) for a, b in self._blank if b <= start or end <= a]
        for layout in [x for x in self._constants if x.span[0] < end and start < x.span[1]]:
            del self._constants[layout]

    def note_local(self, start: int, end: int) -> None:
        """Says that memory got its contents while the node ran."""
        self._local[start] = max(end, self._local.get(start, end))

    def note_renewed(self, layout: Layout) -> None:
        """Says that a tensor got its contents while the node ran."""
        self._renewed.append(layout)

    def is_local(self, layout: Layout) -> bool:
        """Whether a tensor got its contents while the node ran."""
        start, end = layout.span
        within = any(a <= start and end <= b for a, b in self._local.items())
        return within or any(view_steps(known, layout) is not None for known in self._renewed)

    def note_blank(self, start: int, end: int) -> None:
        """Says that memory was made and not written."""
        self._blank.append((start, end))

    # Nodes

    def node_of(self, tensor: torch.Tensor) -> torch.fx.Node:
        """The node with the value of a tensor; a constant where it is none of the node's."""
        layout = Layout.of(tensor)
        if layout is None:
            return self._constant(tensor, layout)
        found = self._views.get(layout)
        if found is not None:
            return found
        parts = self._parts(layout)
        if not parts:
            return self._constant(tensor, layout)
        for part in parts:
            steps = view_steps(part.layout, layout)
            if steps is not None:
                self._views[layout] = node = self._apply(part.node, steps)
                return node
        return self._widened(tensor, layout, parts)

    def _apply(self, node: torch.fx.Node, steps: list[tuple]) -> torch.fx.Node:
        for target, *rest in steps:
            node = self.emit(target, (node, *rest))
        return node

    def _widened(self, tensor: torch.Tensor, layout: Layout, inside: list[Part]) -> torch.fx.Node:
        """A tensor that has more than what is known: the rest of it is constant."""
        common = [
            part.layout if view_steps(layout, part.layout) is not None else intersection(part.layout, layout)
            for part in inside
        ]
        steps = [None if x is None else view_steps(layout, x) for x in common]
        taken = [None if x is None else view_steps(p.layout, x) for p, x in zip(inside, common, strict=True)]
        if any(found is None for found in (*steps, *taken)):
            raise TraceError(
                f"node '{self.name}': a tensor of shape {list(layout.shape)} shares part of its memory with other values "
                f"of the node in a way that cannot be followed (at {where()}); use clones there"
            )
        rest = tensor.detach().clone()
        for found in steps:
            # What is known is no constant.
            place = rest
            for target, *arguments in found:
                place = target(place, *arguments)
            place.zero_()
        whole = self.emit(aten.clone.default, (self._keep(rest),))
        for part, found, own in zip(inside, steps, taken, strict=True):
            self.emit(aten.copy_.default, (self._apply(whole, found), self._apply(part.node, own)))
        if all(view_steps(layout, part.layout) is not None for part in inside):
            self.add_part(tensor, whole)
        return whole

    def adopt(self, tensor: torch.Tensor) -> None:
        """Makes a constant that is about to be written a value of the node."""
        layout = Layout.of(tensor)
        start, end = layout.span
        if any(a <= start and end <= b for a, b in self._blank):
            # Whatever happens to be in new memory is nothing to keep.
            kept = self._keep(torch.zeros_like(tensor))
        else:
            kept = self._constant(tensor, layout)
        self.add_part(tensor.detach(), self.emit(aten.clone.default, (kept,)))

    def _gather(self, tensor: torch.Tensor) -> None:
        """Makes one part of all that is known of the tensor that a tensor is a view of."""
        base = tensor._base if tensor._is_view() and tensor._base is not None else tensor
        layout = Layout.of(base)
        parts = self._parts(layout) if layout is not None else []
        if any(view_steps(layout, part.layout) is None for part in parts) or not parts:
            raise TraceError(
                f"node '{self.name}': a tensor of shape {list(tensor.shape)} that is written at {where()} shares part of its "
                "memory with other values of the node in a way that cannot be followed; use clones there"
            )
        self._widened(base.detach(), layout, parts)

    def is_whole(self, value) -> bool:
        """Whether a value is no tensor, or one that a part has, or one that has nothing of the node."""
        layout = Layout.of(value) if isinstance(value, torch.Tensor) else None
        if layout is None or layout in self._views:
            return True
        parts = self._parts(layout)
        return not parts or any(view_steps(part.layout, layout) is not None for part in parts)

    def _renew(self, tensor: torch.Tensor) -> None:
        """Makes a tensor, all of which is about to be written, a value of the node; what it had is of no interest."""
        layout = Layout.of(tensor)
        if layout is None or any(n > 1 and not s for n, s in zip(layout.shape, layout.strides, strict=True)):
            return
        parts = self._parts(layout)
        if any(view_steps(part.layout, layout) is not None for part in parts):
            return
        if all(view_steps(layout, part.layout) is not None for part in parts):
            blank = self._keep(torch.zeros_like(tensor, memory_format=torch.contiguous_format))
            self.add_part(tensor.detach(), self.emit(aten.clone.default, (blank,)))

    def _constant(self, tensor: torch.Tensor, layout: Layout | None) -> torch.fx.Node:
        if layout is None:
            return self._keep(tensor)
        known = self._constants.get(layout)
        found = known and known[0]
        if found is None:
            base = tensor._base if tensor._is_view() else None
            if base is not None and base.numel() == tensor.numel():
                base_layout = Layout.of(base)
                steps = view_steps(base_layout, layout) if base_layout is not None else None
                if steps:
                    found = self._apply(self._constant(base, base_layout), steps)
            if found is None:
                found = self._keep(tensor)
            self._constants[layout] = (found, tensor)
        return found

    def _keep(self, tensor: torch.Tensor) -> torch.fx.Node:
        """A node with the contents that a tensor has now."""
        kept = tensor.detach().clone(memory_format=torch.contiguous_format)
        name = f"constant_{sum(1 for _ in self.module.buffers()) + sum(1 for _ in self.module.parameters())}"
        if isinstance(tensor, torch.nn.Parameter):
            self.module.register_parameter(name, torch.nn.Parameter(kept, requires_grad=False))
        else:
            self.module.register_buffer(name, kept)
        about = f"a constant {str(kept.dtype).removeprefix('torch.')} tensor of shape {list(kept.shape)}"
        self.entry(("constant", str(kept.dtype), tuple(kept.shape), str(kept.device), digest(kept)), about)
        return self._number(self.graph.get_attr(name))

    def placeholder(self, name: str) -> torch.fx.Node:
        """A node for an input."""
        self.entry(("input", name), f"input '{name}'")
        node = self.graph.placeholder(name)
        self.placeholders[name] = node
        return self._number(node)

    def bake(self, name: str, value: torch.Tensor) -> None:
        """Makes an input a constant."""
        self.baked[name] = self._keep(value).target

    def attribute(self, name: str) -> torch.fx.Node:
        """A node for something that `module` has."""
        return self._number(self.graph.get_attr(name))

    def note_write(self, start: int, end: int) -> None:
        """Says that values in a range of memory were changed in place."""
        self._written.append((start, end))

    def is_written(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor's values were changed in place."""
        layout = Layout.of(tensor)
        return layout is not None and any(a < layout.span[1] and layout.span[0] < b for a, b in self._written)

    def emit(self, target, args: tuple, kwargs: dict | None = None) -> torch.fx.Node:
        """A call in the graph, that views of tensors or segments need."""
        node = self.graph.call_function(target, args, kwargs or {})
        return self._number(node)

    def _number(self, node: torch.fx.Node) -> torch.fx.Node:
        self._numbers[node] = len(self._numbers)
        return node

    def number(self, node: torch.fx.Node) -> int:
        """The place of a node in the order in which they were made."""
        return self._numbers[node]

    # Operations

    def operation(self, func, args: tuple, kwargs: dict) -> Any:
        """Runs an operation of PyTorch that uses values of the node, and records it."""
        written = [t for t in written_arguments(func, args, kwargs) if Layout.of(t) is not None]
        if returns_alias(func) and not written and not all(self.is_whole(t) for t in tree_leaves((args, kwargs))):
            # A view of what is known in pieces: what it is, is found when it is used.
            return func(*args, **kwargs)
        for tensor in overwritten_arguments(func, args, kwargs):
            self._renew(tensor)
        for tensor in written:
            if not self.touches(tensor):
                if not self.is_local(Layout.of(tensor)):
                    self.hidden_state(f"a tensor of shape {list(tensor.shape)} is changed in place by {func}")
                self.adopt(tensor)
            elif not self.is_whole(tensor):
                self._gather(tensor)
            self.note_write(*Layout.of(tensor).span)
        same = portable(func, args, kwargs)
        target, places = func, None
        if same is not None:
            target, kept_args, kept_kwargs, places = same
        else:
            kept_args, kept_kwargs = args, kwargs
        as_node = lambda value: self.node_of(value) if isinstance(value, torch.Tensor) else value  # noqa: E731
        node_args, node_kwargs = tree_map(as_node, (kept_args, kept_kwargs))
        result = func(*args, **kwargs)
        results = [result] if isinstance(result, torch.Tensor) else result
        results = list(results) if isinstance(results, (list, tuple)) else []
        if same is not None:
            results = [results[place] for place in places or (0,)]
        layouts = [Layout.of(r) if isinstance(r, torch.Tensor) else None for r in results]
        if not written and results and all(x is not None and x in self._views for x in layouts):
            return result
        node_kwargs.pop("pin_memory", None)
        shapes = tuple((str(r.dtype), tuple(r.shape)) if isinstance(r, torch.Tensor) else r for r in results)
        name = str(target).removeprefix("aten.")
        self.entry((str(target), self._encoded(node_args), self._encoded(node_kwargs), shapes), f"call of {name}")
        node = self.emit(target, node_args, node_kwargs)
        is_one = isinstance(result, torch.Tensor) if same is None else places is None
        aliases = returns_alias(func)
        for index, (value, layout) in enumerate(zip(results, layouts, strict=True)):
            if layout is None or layout in self._views and aliases:
                continue
            of_result = node if is_one else self.emit(operator.getitem, (node, index))
            if aliases and self.has(layout):
                self._views[layout] = of_result
            else:
                self.add_part(value.detach(), of_result)
        return result

    def _encoded(self, value: Any) -> Any:
        """Arguments of a call in a form that can be compared between executions."""
        if isinstance(value, torch.fx.Node):
            return ("node", self._numbers[value])
        if isinstance(value, (list, tuple)):
            return tuple(self._encoded(v) for v in value)
        if isinstance(value, dict):
            return tuple((k, self._encoded(v)) for k, v in sorted(value.items()))
        if isinstance(value, float):
            return ("float", value.hex())
        if isinstance(value, (int, str, bool, type(None), complex)):
            return (type(value).__name__, value)
        return str(value)

    def hidden_state(self, what: str) -> None:
        """Warns of something that carries values from one execution to the next behind the node's back."""
        self._warn(
            self,
            f"{what} at {where()}, and had its contents before the node began: the exported model starts from these contents "
            "each time. If they are carried from step to step, declare them with annotate.state_tensors() and update_state(), or "
            "annotate.register_buffer()",
        )

    # Comparing

    def entry(self, what: tuple, label: str, source: str | None = None) -> None:
        """Notes what happens, and fails if it is not what happened in the first execution."""
        call = Call(what, label, source or where())
        at = len(self.calls)
        self.calls.append(call)
        if self.reference is None or self.divergence is not None:
            return
        known = self.reference.calls
        if at >= len(known):
            self.diverges(f"{call.label} at {call.source} has no counterpart: the first execution had ended")
        elif known[at].what != what:
            first = known[at]
            if first.what[0] == what[0] == "constant":
                which = "it has other contents" if first.what[1:-1] == what[1:-1] else f"it was {first.label}"
                self.diverges(
                    f"{call.label} used at {call.source} is not what the first execution used: {which}. What changes "
                    "between executions must be an input or a state of the node"
                )
            elif first.what[0] == what[0]:
                self.diverges(f"{call.label} at {call.source} has other arguments or results than at {first.source}")
            else:
                self.diverges(
                    f"{call.label} at {call.source}, where the first execution had {first.label} at {first.source}"
                )

    def diverges(self, message: str) -> None:
        """Fails because this execution is not like the first, or notes that until the pass has ended."""
        error = TraceError(f"node '{self.name}' did not do what it did when it was traced first: {message}")
        if not self.is_capture_pass:
            raise error
        self.divergence = self.divergence or error

    def check_complete(self) -> None:
        """Fails if the first execution did more."""
        if self.reference is None or self.divergence is not None:
            return
        if len(self.calls) < len(self.reference.calls):
            missing = self.reference.calls[len(self.calls)]
            self.diverges(f"it ended before {missing.label}, which the first execution had at {missing.source}")


def digest(tensor: torch.Tensor) -> bytes:
    """A digest of a contiguous tensor's bytes."""
    flat = tensor.detach().reshape(-1).view(torch.uint8) if tensor.numel() else tensor.new_empty(0, dtype=torch.uint8)
    return hashlib.blake2b(flat.cpu().numpy().tobytes(), digest_size=16).digest()


def written_arguments(func, args: tuple, kwargs: dict) -> list[torch.Tensor]:
    """The tensors among an operation's arguments that it writes."""
    found = []
    for index, argument in enumerate(func._schema.arguments):
        if argument.alias_info is None or not argument.alias_info.is_write:
            continue
        value = args[index] if index < len(args) else kwargs.get(argument.name)
        found += [value] if isinstance(value, torch.Tensor) else list(value or [])
    return found


#: Operations that write all of their first argument, whatever it was.
_OVERWRITING = {aten.copy_.default, aten.fill_.Scalar, aten.fill_.Tensor, aten.zero_.default}


def overwritten_arguments(func, args: tuple, kwargs: dict) -> list[torch.Tensor]:
    """The tensors among an operation's arguments that it writes whole and does not read."""
    if func in _OVERWRITING:
        return [args[0]]
    found = []
    for argument in func._schema.arguments:
        if argument.is_out and isinstance(value := kwargs.get(argument.name), torch.Tensor):
            found.append(value)
    return found


def returns_alias(func) -> bool:
    """Whether an operation's results share memory with its arguments."""
    return any(result.alias_info is not None for result in func._schema.returns)
