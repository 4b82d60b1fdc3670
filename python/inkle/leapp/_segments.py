"""Runs of kernels: launches, copies and fills on a node's arrays, which replay as one operator.

inkle shows every operation on arrays to `Watch` before it runs. Those that use values of a node, or memory that the
segment under way knows, run and are recorded by inkle at once; nothing runs twice. When the segment ends, the recording
becomes a bundle, and the graph gets one call of `torch.ops.inkle.replay` with the values that the segment used. What it
wrote is copied into the values' memory there, so that views see it as they do in the program.
"""

from __future__ import annotations

import hashlib
import operator
from dataclasses import dataclass, field

import numpy as np
import torch

from inkle import _native

from ._layout import Layout, are_disjoint, view_steps
from ._recorder import Recorder, Root
from ._trace_numpy import TracedArray
from ._where import TraceError, where

aten = torch.ops.aten

#: Arrays have no more dimensions than this.
MAX_DIMS = 4


@dataclass(eq=False)
class Memory:
    """An allocation that a segment uses and that holds no values of the node before it."""

    start: int
    end: int
    arrays: list = field(default_factory=list)
    is_written: bool = False
    is_inside: bool = False
    #: Whether it had contents before the node began, which the segment reads.
    is_carried: bool = False


@dataclass(eq=False)
class OpenSegment:
    """A segment under way."""

    recorder: Recorder
    device: object
    source: str
    index: int
    #: The `warp_op` block that owns it: only that ends it.
    owner: object = None
    #: The serial numbers of allocations made in it are not below this.
    serial: int = 0
    began: bool = False
    operations: list[tuple] = field(default_factory=list)
    roots: list[Root] = field(default_factory=list)
    written: list[Root] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)

    def knows(self, start: int, end: int) -> bool:
        """Whether the segment uses bytes of a range."""
        return any(m.start < end and start < m.end for m in self.memories)


@dataclass
class ClosedSegment:
    """A segment that ended: its bundle, the names of what crosses its edge, and what it did."""

    name: str
    bundle: bytes
    inputs: list[str]
    outputs: list[str]
    source: str
    operations: list[tuple]


def tensor_of(array) -> torch.Tensor:
    """A tensor over the memory of an array, in the layout of expanded scalars."""
    return torch.utils.dlpack.from_dlpack(array)


def boundary_arrays(array, name: str) -> dict[str, object]:
    """The arrays that an array crosses a boundary as: itself, or one for each field of a struct.

    Raises:
        TypeError: for fields that have no layout as numbers.
    """
    if _native.type_kind(array.dtype) != "struct":
        return {name: array}
    found: dict[str, object] = {}
    _fields(array, array.dtype, name, 0, found)
    return found


def _fields(array, struct, name: str, offset: int, found: dict) -> None:
    layout = np.dtype(struct.numpy_dtype())
    for field_name, var in struct.vars.items():
        place = offset + layout.fields[field_name][1]
        full = f"{name}_{field_name}" if name else field_name
        kind = _native.type_kind(var.type)
        if kind == "struct":
            _fields(array, var.type, full, place, found)
        elif kind in ("scalar", "vector", "matrix", "quaternion", "transformation"):
            found[full] = _native.array(
                ptr=array.ptr + place, dtype=var.type, shape=array.shape, strides=array.strides, device=array.device
            )
        else:
            raise TypeError(
                f"Unsupported dtype: field '{field_name}' of struct {_native.type_repr(struct)} is "
                f"{_native.type_repr(var.type)}, which no tensor holds"
            )


class Watch:
    """What inkle shows its operations on arrays to."""

    def __init__(self, session):
        self.session = session
        self.segment: OpenSegment | None = None
        #: The `warp_op` block that is open: whose it is, and where it began.
        self.block: tuple[Recorder, str] | None = None

    # Called by inkle

    def operation(self, kind, name, device, detail, arrays) -> bool:
        """Whether an operation that is about to run is to be recorded."""
        session = self.session
        if session.is_paused or not session.active:
            return False
        with session.pause():
            return self._seen(kind, name, device, detail, arrays)

    def boundary(self, name: str) -> None:
        """Arrays leave for another library or come from one, or the host waits."""
        session = self.session
        if session.is_paused or self.segment is None:
            return
        with session.pause():
            self.end(name)

    def host_read(self, array) -> None:
        """The program gets values of an array by themselves."""
        session = self.session
        if session.is_paused or not session.active or not array.size:
            return
        with session.pause():
            self.end("a value's reading")
            layout = Layout.of(tensor_of(next(iter(boundary_arrays(array, "").values()))))
            recorder = next((r for r in session.active.values() if r.has(layout)), None)
            if recorder is not None:
                session.host_read(recorder, "a value of an array")

    def host_view(self, array, view):
        """What `array.numpy()` gives."""
        session = self.session
        if session.is_paused or not session.active:
            return view
        with session.pause():
            return self._host_view(array, view)

    # Segments

    def _seen(self, kind, name, device, detail, arrays) -> bool:
        session, segment = self.session, self.segment
        spans = [(start, start + size) for _, _, _, _, start, size in arrays]
        owners = [r for r in session.active.values() if any(r.overlapping(a, b) for a, b in spans if b > a)]
        call = f"inkle.{kind}({name})" if name else f"inkle.{kind}"
        if segment is not None and segment.device == device:
            known = any(segment.knows(a, b) for a, b in spans) or any(used[3] >= segment.serial for used in arrays)
            if known and segment.recorder not in owners:
                owners.append(segment.recorder)
        if len(owners) > 1:
            raise TraceError(
                f"{call} received traced Warp arrays from different LEAPP trace contexts: nodes "
                f"{' and '.join(repr(r.name) for r in owners)} (at {where()}). End one node with output_tensors() and pass "
                "its output to the other with input_tensors()"
            )
        if self.block is not None:
            recorder, source = self.block
            if owners and owners != [recorder]:
                self._protected(f"{call} uses values of node '{owners[0].name}'")
            if segment is not None and segment.device != device:
                raise TraceError(
                    f"{call} at {where()} runs on {device}, but the warp_op block of node '{recorder.name}' at {source} began on "
                    f"{segment.device}: a block belongs to one device"
                )
            owners = [recorder]
        if not owners:
            for recorder in session.active.values():
                for (_, _, writes, _, _, _), (a, b) in zip(arrays, spans, strict=True):
                    if writes:
                        recorder.forget_constants(a, b)
                        recorder.note_local(a, b)
            return False
        recorder = owners[0]
        if kind == "copy" and arrays[0][0].device != arrays[1][0].device:
            return self._transfer(recorder, call, arrays[0][0], arrays[1][0])
        if segment is None or segment.recorder is not recorder or segment.device != device:
            segment = self.begin(recorder, device)
        self._note(segment, call, detail, arrays)
        return segment.began

    def _transfer(self, recorder: Recorder, call: str, src, dst) -> bool:
        """A copy from one device to another is no kernel's: the graph has PyTorch's operation for it."""
        if self.block is not None:
            raise TraceError(
                f"{call} at {where()} copies from {src.device} to {dst.device} inside the warp_op block of node "
                f"'{recorder.name}', which began at {self.block[1]}: a block belongs to one device"
            )
        self.end(call)
        source, target = tensor_of(src), tensor_of(dst)
        recorder.entry(("transfer", str(source.device), str(target.device), tuple(target.shape)), call)
        value = recorder.emit(aten._to_copy.default, (recorder.node_of(source),), {"device": target.device})
        if recorder.touches(target):
            recorder.emit(aten.copy_.default, (recorder.node_of(target), value))
            recorder.note_write(*Layout.of(target).span)
        else:
            target._keeps = dst
            recorder.add_part(target, value)
        return False

    def begin(self, recorder: Recorder, device) -> OpenSegment:
        """Begins a segment, and ends the one under way."""
        self.end("another segment")
        index = len(recorder.segments)
        if recorder.is_capture_pass and index >= len(recorder.reference.segments):
            raise TraceError(
                f"node '{recorder.name}': Warp capture encountered more regions than discovery: the one at {where()} was "
                "not there in the first pass"
            )
        recorder.entry(("segment",), f"kernel segment {index}")
        segment = OpenSegment(recorder, device, where(), index, self.block, _native.live_serial())
        if recorder.is_first and not self.session.dry_run:
            _native.live_begin(device)
            segment.began = True
        self.segment = segment
        return segment

    def open_block(self, recorder: Recorder) -> None:
        """Begins a `warp_op` block: its operations are one segment."""
        if self.block is not None:
            self._protected(f"a warp_op block of node '{recorder.name}' begins")
        self.end("warp_op()")
        self.block = (recorder, where())

    def close_block(self) -> None:
        """Ends the block, and its segment."""
        owner, self.block = self.block, None
        self.end("the end of the block", owner)

    def check_block(self, layout: Layout, call: str) -> None:
        """Fails if an operation outside of kernels uses what the open block wrote."""
        segment = self.segment
        start, end = layout.span
        roots = [(r.start, r.end) for r in segment.written]
        if any(a < end and start < b for a, b in roots + [(m.start, m.end) for m in segment.memories if m.is_written]):
            raise TraceError(
                f"{call} at {where()} uses an array that the warp_op block of node '{segment.recorder.name}' at "
                f"{segment.source} writes, while the block is open: its values are known when the block ends"
            )

    def check_no_block(self, node: str, call: str) -> None:
        """Fails if a node is to end while its block is open."""
        if self.block is not None and self.block[0].name == node:
            raise TraceError(
                f"{call} at {where()} ends node '{node}' inside its warp_op block, which began at {self.block[1]}"
            )

    def _protected(self, what: str) -> None:
        recorder, source = self.block
        raise TraceError(
            "Cannot begin WarpOp because the active WarpOp is protected by an owner token: inside the warp_op block of node "
            f"'{recorder.name}', which began at {source}, {what} (at {where()})"
        )

    def _note(self, segment: OpenSegment, call: str, detail: bytes, arrays) -> None:
        recorder = segment.recorder
        uses = []
        for array, reads, writes, serial, start, size in arrays:
            if not size:
                uses.append(("empty",))
                continue
            roots = recorder.overlapping(start, start + size)
            if roots:
                if writes:
                    recorder.note_write(start, start + size)
                # A graph shows its memory as bytes.
                for part in boundary_arrays(array, "").values() if call != "inkle.graph" else ():
                    tensor = tensor_of(part)
                    # Makes a part of what no part has yet.
                    recorder.node_of(tensor)
                    if writes and not recorder.is_whole(tensor):
                        raise TraceError(
                            f"{call} at {where()} writes an array of shape {tuple(array.shape)} that shares part of its memory "
                            "with other values of the node in a way that cannot be followed; use clones there"
                        )
                roots = recorder.overlapping(start, start + size)
                for root in roots:
                    if root not in segment.roots:
                        segment.roots.append(root)
                    if writes and root not in segment.written:
                        segment.written.append(root)
                parts = tuple(recorder.number(part.node) for root in roots for part in root.parts)
                which = ("value", parts, start - roots[0].start)
            else:
                which = self._memory(segment, array, reads, writes, serial, start, start + size)
            layout = (tuple(array.shape), tuple(array.strides), _native.type_repr(array.dtype), array.ptr - start)
            uses.append((*which, layout, reads, writes))
        segment.operations.append((call, detail, tuple(uses)))
        recorder.entry(("kernel", call, hashlib.blake2b(detail, digest_size=16).digest(), tuple(uses)), call)
        if recorder.is_capture_pass:
            self._check_pass(segment)

    def _memory(self, segment, array, reads, writes, serial, start, end) -> tuple:
        recorder, inside = segment.recorder, serial >= segment.serial
        known = next((m for m in segment.memories if m.start < end and start < m.end), None)
        which: tuple = ()
        if known is None:
            known = Memory(start, end, is_inside=inside)
            segment.memories.append(known)
            if reads and not inside:
                part = next(iter(boundary_arrays(array, "").values()))
                is_local, is_new = recorder.is_local(Layout.of(tensor_of(part))), serial >= recorder.serial
                # What happens to be in memory that the node made and did not write is nothing to compare or to keep.
                if is_local or not is_new:
                    which = ("constant", _contents(array))
                known.is_carried = not is_local and not is_new
        if writes and known.is_carried:
            known.is_carried = False
            recorder.hidden_state(f"an array of shape {tuple(array.shape)} is read and then written by kernels")
        known.start, known.end = min(known.start, start), max(known.end, end)
        known.is_written |= writes
        known.arrays.append((array, writes))
        return ("memory", segment.memories.index(known), *which)

    def _check_pass(self, segment: OpenSegment) -> None:
        first = segment.recorder.reference.segments[segment.index].operations
        at = len(segment.operations) - 1
        if at < len(first) and first[at][:2] == segment.operations[at][:2]:
            return
        had = first[at][0] if at < len(first) else "nothing more"
        self.drop()
        raise TraceError(
            f"node '{segment.recorder.name}': Warp segment diverged between discovery and capture: {where()} calls "
            f"{segment.operations[at][0]}, where the first pass had {had}"
        )

    def end(self, why: str, owner=None) -> None:
        """Ends the segment under way; inside a `warp_op` block only says so."""
        segment = self.segment
        if segment is None:
            return
        if segment.owner is not None and segment.owner is not owner:
            self.session.log.warning(
                "node '%s': %s at %s does not end the segment of the warp_op block at %s, which stays open",
                segment.recorder.name,
                why,
                where(),
                segment.source,
            )
            return
        self.segment = None
        try:
            self._close(segment)
        except BaseException:
            if segment.began:
                _native.live_abandon(segment.device)
            raise

    def drop(self) -> None:
        """Gives up the segment under way."""
        segment, self.segment, self.block = self.segment, None, None
        if segment is not None and segment.began:
            _native.live_abandon(segment.device)

    def _close(self, segment: OpenSegment) -> None:
        recorder = segment.recorder
        if recorder.is_capture_pass:
            first = recorder.reference.segments[segment.index].operations
            if len(segment.operations) < len(first):
                raise TraceError(
                    f"node '{recorder.name}': Warp segment diverged between discovery and capture: it ended before "
                    f"{first[len(segment.operations)][0]}"
                )
        inputs, outputs, arrays_in, arrays_out = [], [], {}, {}
        for root in segment.roots:
            for part in root.parts:
                tensor, node = part.tensor, part.node
                if tensor.dim() > MAX_DIMS and part.layout.is_contiguous:
                    tensor, node = tensor.view(-1), recorder.emit(aten.view.default, (node, [-1]))
                arrays_in[f"in{len(inputs)}"] = _native.from_dlpack(tensor)
                inputs.append(node)
                if root in segment.written:
                    arrays_out[f"out{len(outputs)}"] = _native.from_dlpack(tensor)
                    outputs.append((tensor, node))
        for memory in segment.memories:
            if memory.is_written:
                for tensor in _written_parts(memory):
                    arrays_out[f"out{len(outputs)}"] = _native.from_dlpack(tensor)
                    outputs.append((tensor, None))
        bundle = b""
        if segment.began:
            bundle = bytes(_native.live_end(segment.device, arrays_in, arrays_out))
        name = f"warp_segment_{len(recorder.segments)}"
        closed = ClosedSegment(name, bundle, list(arrays_in), list(arrays_out), segment.source, segment.operations)
        recorder.segments.append(closed)
        recorder.entry(("segment ends", len(segment.operations)), f"the end of kernel segment {segment.index}")
        if outputs:
            self._emit(recorder, closed, inputs, outputs)

    def _emit(self, recorder: Recorder, closed: ClosedSegment, inputs, outputs) -> None:
        buffer = f"{closed.name}_bundle"
        recorder.module.register_buffer(buffer, torch.frombuffer(bytearray(closed.bundle or b"\0"), dtype=torch.uint8))
        bundle = recorder.attribute(buffer)
        signature = " ".join(_described(tensor) for tensor, _ in outputs)
        call = recorder.emit(replay_operator(), (bundle, inputs, signature))
        for index, (tensor, known) in enumerate(outputs):
            value = recorder.emit(operator.getitem, (call, index))
            if known is None:
                recorder.add_part(tensor, value)
            else:
                recorder.emit(aten.copy_.default, (known, value))

    def _host_view(self, array, view):
        session = self.session
        recorder = session.owner_of_memory(array.ptr, array.ptr + max(view.nbytes, 1))
        if recorder is None:
            # The program may write to it, and nobody sees that.
            for active in session.active.values():
                active.note_local(array.ptr, array.ptr + view.nbytes)
        if recorder is None or not view.size:
            return view
        if not array.device.is_cpu:
            host = torch.from_numpy(view)
            node = recorder.emit(
                aten._to_copy.default, (recorder.node_of(tensor_of(array)),), {"device": torch.device("cpu")}
            )
            recorder.add_part(host, node)
        elif np.shape(view) and recorder.overlapping(view.ctypes.data, view.ctypes.data + 1) == []:
            return view
        return view.view(TracedArray) if view.dtype.names is None else view


def replay_operator():
    """The operator that replays a bundle.

    Raises:
        ImportError: when the operator library cannot be loaded.
    """
    from inkle import torch as operators

    operators.load()
    return torch.ops.inkle.replay.default


def _described(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')}[{','.join(map(str, tensor.shape))}]"


def _contents(array) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(array.numpy()).tobytes(), digest_size=16).digest()


def _written_parts(memory: Memory) -> list[torch.Tensor]:
    """Tensors that together have all that was written of an allocation; none of them overlaps another."""
    tensors: list[torch.Tensor] = []
    for array, writes in memory.arrays:
        if writes:
            for part in boundary_arrays(array, "").values():
                tensors.append(tensor_of(part))
                # A field's array does not keep the memory of the struct's.
                tensors[-1]._keeps = array
    if (whole := _whole(memory, tensors)) is not None:
        return [whole]
    kept: list[torch.Tensor] = []
    for tensor in sorted(tensors, key=lambda t: -t.numel()):
        layout = Layout.of(tensor)
        if layout is None:
            continue
        others = [Layout.of(k) for k in kept]
        if any(view_steps(other, layout) is not None for other in others):
            continue
        if not all(are_disjoint(layout, other) for other in others):
            raise TraceError(
                f"a segment writes overlapping views of one array, of shapes {[list(x.shape) for x in (*others, layout)]}, in "
                f"a way that no tensor describes (at {where()}); write the whole array there"
            )
        kept.append(tensor)
    return kept


def _whole(memory: Memory, written: list[torch.Tensor]) -> torch.Tensor | None:
    """A tensor of the whole allocation, if there is one whose elements are those that were written."""
    if len({tensor.dtype for tensor in written}) != 1:
        return None
    is_all = lambda x: x is not None and x.is_dense and x.span == (memory.start, memory.end)  # noqa: E731
    for array, _ in memory.arrays:
        if _native.type_kind(array.dtype) == "struct":
            return None
        tensor = tensor_of(array)
        if tensor.dtype == written[0].dtype and is_all(Layout.of(tensor)):
            tensor._keeps = array
            return tensor
    layouts = [Layout.of(tensor) for tensor in written]
    array = memory.arrays[0][0]
    size, rest = divmod(memory.end - memory.start, _native.type_size_in_bytes(array.dtype))
    if rest or not all(x is not None and x.is_dense for x in layouts):
        return None
    if len({array.dtype for array, _ in memory.arrays}) != 1:
        return None
    flat = _native.array(ptr=memory.start, dtype=array.dtype, shape=size, device=array.device)
    tensor = tensor_of(flat)
    tensor._keeps = array
    return tensor
