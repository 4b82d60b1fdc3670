"""Finds elements that are changed, or may be, while a tape's backward pass still needs what they were before:
``inkle.config.verify_autograd_array_access``."""

import itertools
import os
import sys
import weakref
from typing import NamedTuple

from inkle import _native, config
from inkle._logger import get_logger

_PACKAGE = os.path.dirname(__file__) + os.sep

_tapes = weakref.WeakSet()
# Reads that programs noted themselves, until they say that the array starts anew.
_noted = []


class Read(NamedTuple):
    """Elements that a recorded operation read."""

    array: object
    extent: tuple
    # What read them, for people.
    reader: str
    # Whether the backward pass reads them again.
    is_needed: bool


def extent(array):
    """The bytes between an array's first element and its last: ``(first, one past the last)``."""
    if isinstance(array, _native.indexedarray):
        return extent(array.data)
    first = last = getattr(array, "ptr", None) or 0
    if not first or not array.size:
        return first, first
    for count, stride in zip(array.shape, array.strides):
        reach = (max(count, 1) - 1) * stride
        first, last = (first + reach, last) if reach < 0 else (first, last + reach)
    return first, last + _native.type_size_in_bytes(array.dtype)


def overlap(a, b):
    """Whether two ranges of bytes have one in common."""
    return a[0] < b[1] and b[0] < a[1]


def check_launch(tape, kernel, inputs, outputs, device):
    """Looks at a launch that ``tape`` records: warns of what it overwrites, and notes what it reads."""
    _tapes.add(tape)
    place = _place()
    touched, doubt = _native.launch_access(kernel, inputs, outputs, device, True)
    if doubt and doubt not in tape.doubts:
        tape.doubts.add(doubt)
        get_logger().warning(f"kernel `{kernel.key}`{place}:\n{doubt}")
    # A kernel that writes an element before it reads it overwrites what others read, not what it reads itself.
    for name, array, writes, _, _ in touched:
        if writes:
            _check(array, f"argument `{name}` of kernel `{kernel.key}`{place} writes")
    own = []
    for name, array, _, reads, is_needed in touched:
        if reads:
            reader = f"argument `{name}` of kernel `{kernel.key}`{place}"
            own.append((name, Read(array, extent(array), reader, is_needed)))
    # Two arguments with memory in common; of one argument the compiler has looked at each element.
    for name, array, writes, _, _ in touched:
        others = (read for other, read in own if other != name and read.is_needed)
        if writes and (read := next((r for r in others if overlap(r.extent, extent(array))), None)):
            _warn(array, f"argument `{name}` of kernel `{kernel.key}`{place} writes", read)
    tape.reads.extend(read for _, read in own)


class _Watch:
    """Told of launches, copies and fills while no tape records: they may change what one that recorded still needs."""

    def record_launch(self, kernel, dim, max_blocks, inputs, outputs, device, block_dim=None, metadata=None):
        place = _place()
        touched, _ = _native.launch_access(kernel, inputs or (), outputs or (), device, False)
        for name, array, writes, _, _ in touched:
            if writes:
                self._check(array, f"argument `{name}` of kernel `{kernel.key}`{place} writes")

    def record_copy(self, dest, src, dest_offset, src_offset, count):
        self._check(dest, f"a copy{_place()} writes")

    def record_fill(self, array):
        self._check(array, f"an assignment{_place()} writes")

    def record_undifferentiated(self, name, read, written):
        for array in written:
            self._check(array, f"{name}{_place()} writes")

    def record_algorithm(self, name, out, read, details):
        self.record_undifferentiated(name, read, [out])

    def _check(self, array, what):
        if config.verify_autograd_array_access and any(tape.reads for tape in _tapes):
            _check(array, what)
        else:
            _native.set_tape_watch(None)


def watch():
    """Goes on looking when the tape that recorded records no more, until its backward pass has been run."""
    _native.set_tape_watch(_Watch())


def check_copy(tape, dest, src):
    """Looks at a copy that ``tape`` records; what the source held is not needed again."""
    _tapes.add(tape)
    _check(dest, f"a copy{_place()} writes")
    tape.reads.append(Read(src, extent(src), "a copy", False))


def check_fill(array):
    """Looks at the overwriting of all elements."""
    _check(array, f"an assignment{_place()} writes")


def is_read(array):
    """Whether a recorded operation read elements of the array, and its tape was not run backwards since."""
    return bool(_reads(array))


def mark_read(array):
    """Notes that the array's elements were read and are needed again."""
    _noted.append(Read(array, extent(array), "the program", True))


def mark_init(array):
    """Forgets the reads that programs noted of the array's elements."""
    _noted[:] = [read for read in _noted if not overlap(read.extent, extent(array))]


def mark_write(array):
    """Warns if the array's elements are needed again."""
    _check(array, f"the program{_place()} writes")


def _reads(array):
    known = itertools.chain(*(tape.reads for tape in _tapes), _noted)
    return [read for read in known if overlap(read.extent, extent(array))]


def _check(array, what):
    read = next((read for read in _reads(array) if read.is_needed), None)
    if read is not None:
        _warn(array, what, read)


def _warn(array, what, read):
    get_logger().warning(
        f"{what} elements of {array!r} that {read.reader} has read; the backward pass of that needs what they were, "
        "so gradients will be wrong: write to another array, or let the reader have a copy (`inkle.clone`)"
    )


def _place():
    """Where in the program this was called: `` at file:line``."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return f" at {frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""
