"""Algorithms over arrays as kernels, which is how GPUs run them: nothing goes through the host, so graphs capture them.

Every thread works on a piece of the elements, one after another, and pieces are put together by the same means. What is
added in which order depends on sizes alone, so results are the same from run to run. Memory for what is in between comes
from the device's pool, in the order of its stream.
"""

from typing import Any

import inkle as wp
from inkle import _native

_MODULE = "inkle.parallel"
# Elements that a thread scans. Fewer would mean more rounds, more would leave a GPU's threads without work.
_SCANNED = 128
# Elements that a thread adds up at least, and the threads that are enough to fill a GPU.
_ADDED, _THREADS = 64, 1 << 17
# Bits that a pass of the sort looks at, and the pieces that are enough. A piece's counters have 8 bits each.
_DIGIT, _SORTERS, _LEAST, _MOST = 4, 1 << 15, 32, 248

_UNSIGNED, _SIGNED, _FLOATING = 0, 1, 2


def _kernel(function):
    return wp.kernel(function, enable_backward=False, module=_MODULE)


def _func(function):
    return wp.func(function, module=_MODULE)


def _divided(count, by):
    return -(-count // by)


def _scalar(array):
    return getattr(array.dtype, "_wp_scalar_type_", array.dtype)


def _lanes(array):
    return wp.types.type_size(array.dtype)


def _row(array):
    """The components of all elements in a row."""
    return _native.flat(array.contiguous(), _scalar(array))


class _Written:
    """A row to write the components of all elements of an array to, in a ``with`` statement."""

    def __init__(self, array):
        self.array = array

    def __enter__(self):
        self.made = self.array if self.array.is_contiguous else wp.clone(self.array, requires_grad=False)
        return _native.flat(self.made, _scalar(self.array))

    def __exit__(self, *failure):
        if self.made is not self.array and failure[0] is None:
            wp.copy(self.array, self.made)


def _launch(kernel, dim, inputs, device):
    wp.launch(kernel, dim=dim, inputs=inputs, device=device, record_tape=False)


# Running sums.


@_kernel
def _piece_sums(values: wp.array(dtype=Any), lanes: int, piece: int, count: int, sums: wp.array(dtype=Any)):
    p, lane = wp.tid()
    total = values.dtype(0)
    for i in range(p * piece, wp.min(p * piece + piece, count)):
        total += values[i * lanes + lane]
    sums[p * lanes + lane] = total


@_kernel
def _scan_pieces(
    values: wp.array(dtype=Any),
    before: wp.array(dtype=Any),
    has_before: bool,
    lanes: int,
    piece: int,
    count: int,
    inclusive: bool,
    out: wp.array(dtype=Any),
):
    p, lane = wp.tid()
    total = values.dtype(0)
    if has_before:
        total = before[p * lanes + lane]
    for i in range(p * piece, wp.min(p * piece + piece, count)):
        at = i * lanes + lane
        upto = total + values[at]
        if inclusive:
            out[at] = upto
        else:
            out[at] = total
        total = upto


def _scan(row, out, lanes, inclusive):
    count, device = row.size // lanes, row.device
    pieces = _divided(count, _SCANNED)
    sums = row
    if pieces > 1:
        sums = wp.empty(pieces * lanes, dtype=row.dtype, device=device)
        _launch(_piece_sums, (pieces, lanes), [row, lanes, _SCANNED, count, sums], device)
        _scan(sums, sums, lanes, False)
    inputs = [row, sums, pieces > 1, lanes, _SCANNED, count, inclusive, out]
    _launch(_scan_pieces, (pieces, lanes), inputs, device)


def scan(source, out, inclusive):
    """``array_scan``."""
    if source.size:
        with _Written(out) as row:
            _scan(_row(source), row, _lanes(source), inclusive)


# Sums and inner products.


@_kernel
def _partial_sums(
    values: wp.array(dtype=Any), extent: int, count: int, inner: int, parts: int, sums: wp.array(dtype=wp.float64)
):
    to, part = wp.tid()
    first = (to / inner) * extent * inner + to % inner
    total = wp.float64(0.0)
    for k in range(part, count, parts):
        total += wp.float64(values[first + k * inner])
    sums[to * parts + part] = total


@_kernel
def _partial_products(
    a: wp.array(dtype=Any),
    b: wp.array(dtype=Any),
    extent: int,
    count: int,
    inner: int,
    lanes: int,
    parts: int,
    sums: wp.array(dtype=wp.float64),
):
    to, part = wp.tid()
    first = (to / inner) * extent * inner + to % inner
    total = wp.float64(0.0)
    for k in range(part, count, parts):
        at = (first + k * inner) * lanes
        for lane in range(lanes):
            total += wp.float64(a[at + lane]) * wp.float64(b[at + lane])
    sums[to * parts + part] = total


@_kernel
def _store_sums(sums: wp.array(dtype=wp.float64), out: wp.array(dtype=Any)):
    i = wp.tid()
    out[i] = out.dtype(sums[i])


def _parts(count, outputs):
    return max(1, min(_divided(count, _ADDED), _THREADS // max(1, outputs)))


def _added(outputs, parts, sums):
    """One sum for each output, of the sums of its parts."""
    while parts > 1:
        fewer = _parts(parts, outputs)
        shorter = wp.empty(outputs * fewer, dtype=wp.float64, device=sums.device)
        _launch(_partial_sums, (outputs, fewer), [sums, parts, parts, 1, fewer, shorter], sums.device)
        parts, sums = fewer, shorter
    return sums


def _cut(array, axis, count):
    """How an array falls into sums: how many, of how many elements each of how many, and what lies between two."""
    if axis is None:
        return 1, array.size, array.size if count is None else count, 1
    axis %= array.ndim
    outer = inner = 1
    for extent in array.shape[:axis]:
        outer *= extent
    for extent in array.shape[axis + 1 :]:
        inner *= extent
    extent = array.shape[axis]
    return outer, extent, extent if count is None else count, inner


def total(values, out, count, axis):
    """``array_sum`` into ``out``."""
    outer, extent, count, inner = _cut(values, axis, count)
    inner *= _lanes(values)
    outputs = outer * inner
    if outputs == 0 or count == 0:
        out.zero_()
        return
    parts, device = _parts(count, outputs), values.device
    sums = wp.empty(outputs * parts, dtype=wp.float64, device=device)
    _launch(_partial_sums, (outputs, parts), [_row(values), extent, count, inner, parts, sums], device)
    with _Written(out) as row:
        _launch(_store_sums, outputs, [_added(outputs, parts, sums), row], device)


def inner(a, b, out, count, axis):
    """``array_inner`` into ``out``."""
    outer, extent, count, between = _cut(a, axis, count)
    outputs = outer * between
    if outputs == 0 or count == 0:
        out.zero_()
        return
    parts, device = _parts(count, outputs), a.device
    sums = wp.empty(outputs * parts, dtype=wp.float64, device=device)
    inputs = [_row(a), _row(b), extent, count, between, _lanes(a), parts, sums]
    _launch(_partial_products, (outputs, parts), inputs, device)
    with _Written(out) as row:
        _launch(_store_sums, outputs, [_added(outputs, parts, sums), row], device)


# Runs of equal values.


@_kernel
def _mark_runs(values: wp.array(dtype=Any), marks: wp.array(dtype=int)):
    i = wp.tid()
    mark = int(1)
    if i > 0:
        if values[i] == values[i - 1]:
            mark = 0
    marks[i] = mark


@_kernel
def _write_runs(
    values: wp.array(dtype=Any),
    places: wp.array(dtype=int),
    firsts: wp.array(dtype=int),
    run_values: wp.array(dtype=Any),
):
    i = wp.tid()
    before = int(0)
    if i > 0:
        before = places[i - 1]
    if places[i] != before:
        firsts[before] = i
        run_values[before] = values[i]


@_kernel
def _measure_runs(
    places: wp.array(dtype=int),
    firsts: wp.array(dtype=int),
    count: int,
    run_lengths: wp.array(dtype=int),
    run_count: wp.array(dtype=int),
):
    i = wp.tid()
    runs = places[count - 1]
    if i < runs:
        after = count
        if i + 1 < runs:
            after = firsts[i + 1]
        run_lengths[i] = after - firsts[i]
    if i == 0:
        run_count[0] = runs


def runs(values, run_values, run_lengths, run_count, count):
    """``runlength_encode`` with the number of runs in an array."""
    if count == 0:
        run_count.zero_()
        return
    device = values.device
    if values.ptr == run_values.ptr:
        values = wp.clone(values)
    places, firsts = (wp.empty(count, dtype=int, device=device) for _ in range(2))
    _launch(_mark_runs, count, [values, places], device)
    _scan(places, places, 1, True)
    _launch(_write_runs, count, [values, places, firsts, run_values], device)
    _launch(_measure_runs, count, [places, firsts, count, run_lengths, run_count], device)


# Sorts. Keys lie in the first half of an array, and the second half is where they go; each pass looks at one digit, from
# the lowest on, and keeps the order of equal ones.


@_func
def _ordered(key: wp.uint32, kind: int):
    """The bits of a key in an order that unsigned comparison keeps."""
    sign = wp.uint32(0x80000000)
    out = key
    if kind == 1:
        out = key ^ sign
    if kind == 2:
        if key == sign:
            out = wp.uint32(0)  # Both zeros are the same number.
        if (out & sign) == wp.uint32(0):
            out = out | sign
        else:
            out = ~out
    return out


@_func
def _ordered(key: wp.uint64, kind: int):  # noqa: F811 - an overload
    """As for 32 bits."""
    sign = wp.uint64(0x8000000000000000)
    out = key
    if kind == 1:
        out = key ^ sign
    if kind == 2:
        if key == sign:
            out = wp.uint64(0)
        if (out & sign) == wp.uint64(0):
            out = out | sign
        else:
            out = ~out
    return out


@_func
def _digit(key: Any, kind: int, shift: int, digits: int):
    return int(_ordered(key, kind) >> type(key)(shift)) & (digits - 1)


@_func
def _counter(low: wp.uint64, high: wp.uint64, digit: int):
    """The counter of a digit: eight of 8 bits in each number."""
    packed = low
    if digit >= 8:
        packed = high
    return int((packed >> wp.uint64(8 * (digit & 7))) & wp.uint64(255))


@_kernel
def _count_digits(
    keys: wp.array(dtype=Any),
    start: int,
    count: int,
    piece: int,
    pieces: int,
    kind: int,
    shift: int,
    digits: int,
    counts: wp.array(dtype=int),
):
    p = wp.tid()
    low, high = wp.uint64(0), wp.uint64(0)
    for i in range(p * piece, wp.min(p * piece + piece, count)):
        digit = _digit(keys[start + i], kind, shift, digits)
        one = wp.uint64(1) << wp.uint64(8 * (digit & 7))
        if digit < 8:
            low += one
        else:
            high += one
    for digit in range(digits):
        counts[digit * pieces + p] = _counter(low, high, digit)


@_kernel
def _move_by_digit(
    keys: wp.array(dtype=Any),
    words: wp.array(dtype=wp.uint32),
    width: int,
    start: int,
    to_start: int,
    count: int,
    piece: int,
    pieces: int,
    kind: int,
    shift: int,
    digits: int,
    places: wp.array(dtype=int),
):
    p = wp.tid()
    low, high = wp.uint64(0), wp.uint64(0)
    for i in range(p * piece, wp.min(p * piece + piece, count)):
        key = keys[start + i]
        digit = _digit(key, kind, shift, digits)
        to = to_start + places[digit * pieces + p] + _counter(low, high, digit)
        one = wp.uint64(1) << wp.uint64(8 * (digit & 7))
        if digit < 8:
            low += one
        else:
            high += one
        keys[to] = key
        for word in range(width):
            words[to * width + word] = words[(start + i) * width + word]


def _sort(keys, words, width, count, bits, kind):
    """Sorts ``count`` unsigned keys, and ``width`` words for each of them, by a range of bits. Both have twice the room."""
    device = keys.device
    piece = max(_LEAST, min(_MOST, _divided(count, _SORTERS)))
    pieces = _divided(count, piece)
    places = wp.empty(pieces << _DIGIT, dtype=int, device=device)
    start, other = 0, count
    for shift in range(bits[0], bits[1], _DIGIT):
        digits = 1 << min(_DIGIT, bits[1] - shift)
        row = places[: pieces * digits]
        inputs = [keys, start, count, piece, pieces, kind, shift, digits, row]
        _launch(_count_digits, pieces, inputs, device)
        _scan(row, row, 1, False)
        inputs = [keys, words, width, start, other, count, piece, pieces, kind, shift, digits, row]
        _launch(_move_by_digit, pieces, inputs, device)
        start, other = other, start
    if start:
        wp.copy(keys, keys, 0, start, count)
        wp.copy(words, words, 0, start * width, count * width)


def _kind(dtype):
    family = _native.scalar_family(dtype)
    return _FLOATING if family == "float" else _SIGNED if dtype.__name__.startswith("int") else _UNSIGNED


def sort_pairs(keys, values, count, begin_bit, end_bit):
    """``radix_sort_pairs``."""
    if count == 0 or begin_bit == end_bit:
        return
    size = wp.types.type_size_in_bytes(keys.dtype)
    unsigned = _native.flat(keys, wp.uint32 if size == 4 else wp.uint64)
    width = wp.types.type_size_in_bytes(values.dtype) // 4
    _sort(unsigned, _native.flat(values, wp.uint32), width, count, (begin_bit, end_bit), _kind(keys.dtype))


@_kernel
def _mark_segments(starts: wp.array(dtype=int), ends: wp.array(dtype=int), count: int, marks: wp.array(dtype=int)):
    s = wp.tid()
    start, end = starts[s], ends[s]
    # A segment that is not within the elements is left alone.
    if 0 <= start and start < end and end <= count:
        wp.atomic_add(marks, start, s + 1)
        wp.atomic_sub(marks, end, s + 1)


@_kernel
def _place_segments(segments: wp.array(dtype=int), starts: wp.array(dtype=int), firsts: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    first = i
    if segments[i] > 0:
        first = starts[segments[i] - 1]
    firsts[i] = wp.uint32(first)


@_kernel
def _number(order: wp.array(dtype=wp.uint32)):
    i = wp.tid()
    order[i] = wp.uint32(i)


@_kernel
def _pick(source: wp.array(dtype=Any), order: wp.array(dtype=wp.uint32), out: wp.array(dtype=Any)):
    i = wp.tid()
    out[i] = source[int(order[i])]


def segmented_sort_pairs(keys, values, count, starts, ends):
    """``segmented_sort_pairs``: by keys first, then by where the segment of each starts, which puts it back there."""
    if ends is None:
        starts, ends = starts[:-1], starts[1:]
    if count == 0 or starts.size == 0:
        return
    device = keys.device
    segments = wp.zeros(count + 1, dtype=int, device=device)
    _launch(_mark_segments, starts.size, [starts, ends, count, segments], device)
    _scan(segments, segments, 1, True)
    firsts, sorter, order = (wp.empty(2 * count, dtype=wp.uint32, device=device) for _ in range(3))
    _launch(_place_segments, count, [segments, starts, firsts], device)
    _launch(_number, count, [order], device)
    wp.copy(sorter, _native.flat(keys, wp.uint32), 0, 0, count)
    _sort(sorter, order, 1, count, (0, 32), _kind(keys.dtype))
    _launch(_pick, count, [firsts, order, sorter], device)
    _sort(sorter, order, 1, count, (0, max(1, (count - 1).bit_length())), _UNSIGNED)
    for array in (keys, values):
        row = _native.flat(array, wp.uint32)
        _launch(_pick, count, [row, order, sorter], device)
        wp.copy(row, sorter, 0, 0, count)


# Conversions.


@_kernel
def _convert(source: wp.array(dtype=Any), out: wp.array(dtype=Any)):
    i = wp.tid()
    out[i] = out.dtype(source[i])


def cast(source, out, count):
    """``array_cast``."""
    numbers = (source.size if count is None else count) * _lanes(source)
    if numbers:
        with _Written(out) as row:
            _launch(_convert, numbers, [_row(source), row], source.device)
