"""Where a tensor's elements lie, and how one tensor is a view of another."""

from __future__ import annotations

from typing import NamedTuple

import torch

aten = torch.ops.aten


class Layout(NamedTuple):
    """A tensor's place in memory: tensors of equal layout are one and the same value.

    Strides are in elements, and zero along axes of one element.
    """

    address: int
    dtype: torch.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: torch.device
    #: Whether the elements are the conjugates of what is in memory, and whether they are its negatives.
    is_conj: bool = False
    is_neg: bool = False

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Layout | None:
        """The layout of a tensor; None if it has no elements or no memory of its own kind."""
        if tensor.layout is not torch.strided or tensor.device.type == "meta" or tensor.numel() == 0:
            return None
        shape = tuple(tensor.shape)
        strides = tuple(0 if n == 1 else s for n, s in zip(shape, tensor.stride(), strict=True))
        return cls(tensor.data_ptr(), tensor.dtype, shape, strides, tensor.device, tensor.is_conj(), tensor.is_neg())

    @property
    def span(self) -> tuple[int, int]:
        """The first byte and the one after the last."""
        size = self.dtype.itemsize
        low = high = self.address
        for n, stride in zip(self.shape, self.strides, strict=True):
            reach = (n - 1) * stride * size
            low, high = (low + reach, high) if reach < 0 else (low, high + reach)
        return low, high + size

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other in row-major order."""
        expected = 1
        for n, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if n != 1 and stride != expected:
                return False
            expected *= n
        return True

    @property
    def is_dense(self) -> bool:
        """Whether the elements fill their span."""
        low, high = self.span
        count = 1
        for n in self.shape:
            count *= n
        return high - low == count * self.dtype.itemsize


def view_steps(base: Layout, view: Layout) -> list[tuple] | None:
    """The operations, each a function and its further arguments, that make the view of the base.

    None if the view is not made of the base's elements, or not by any known way.
    """
    if base == view:
        return []
    low, high = base.span
    if not (low <= view.span[0] and view.span[1] <= high and base.device == view.device):
        return None
    steps: list[tuple] = []
    if base.is_conj != view.is_conj:
        steps.append((aten._conj.default,))
    if base.is_neg != view.is_neg:
        steps.append((aten._neg_view.default,))
    base = base._replace(is_conj=view.is_conj, is_neg=view.is_neg)
    if base == view:
        return steps
    if base.dtype.itemsize != view.dtype.itemsize:
        size = _count(base.shape) * base.dtype.itemsize
        if not base.is_contiguous or size % view.dtype.itemsize:
            return None
        steps.append((aten.view.default, [-1]))
        shape = (size // view.dtype.itemsize,)
        steps.append((aten.view.dtype, view.dtype))
        base = base._replace(dtype=view.dtype, shape=shape, strides=(1,) if shape[0] > 1 else (0,))
        if base == view:
            return steps
    if base.dtype != view.dtype:
        steps.append((aten.view.dtype, view.dtype))
        base = base._replace(dtype=view.dtype)
        if base == view:
            return steps
    if base.address == view.address and base.is_contiguous and view.is_contiguous:
        count = _count(base.shape)
        if count == _count(view.shape):
            return [*steps, (aten.view.default, list(view.shape))]
    cut = _cut(base, view)
    if cut is not None:
        return steps + cut
    offset, rest = divmod(view.address - base.address, view.dtype.itemsize)
    if rest or not base.is_dense:
        return None
    return [*steps, (aten.as_strided.default, list(view.shape), list(view.strides), offset)]


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count


def _cut(base: Layout, view: Layout) -> list[tuple] | None:
    """The view as slices and single indices of the base's axes, whose order may change."""
    if any(stride <= 0 for n, stride in zip(base.shape, base.strides, strict=True) if n > 1):
        return None
    offset, rest = divmod(view.address - base.address, base.dtype.itemsize)
    if rest or offset < 0:
        return None
    axes = sorted((d for d in range(len(base.shape)) if base.shape[d] > 1), key=lambda d: -base.strides[d])
    first = dict.fromkeys(range(len(base.shape)), 0)
    for d in axes:
        first[d], offset = divmod(offset, base.strides[d])
        if first[d] >= base.shape[d]:
            return None
    if offset:
        return None
    taken: dict[int, int] = {}
    for v, (n, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if n == 1:
            continue
        fits = [
            d
            for d in axes
            if d not in taken.values()
            and stride > 0
            and stride % base.strides[d] == 0
            and first[d] + (n - 1) * (stride // base.strides[d]) < base.shape[d]
        ]
        if not fits:
            return None
        taken[v] = min(fits, key=lambda d: stride // base.strides[d])
    steps: list[tuple] = []
    kept = [d for d in range(len(base.shape)) if d in taken.values()]
    by_axis = {d: v for v, d in taken.items()}
    gone = 0
    for d in range(len(base.shape)):
        at = d - gone
        if d not in by_axis:
            steps.append((aten.select.int, at, first[d]))
            gone += 1
            continue
        n, step = view.shape[by_axis[d]], view.strides[by_axis[d]] // base.strides[d]
        if (first[d], n, step) != (0, base.shape[d], 1):
            steps.append((aten.slice.Tensor, at, first[d], first[d] + (n - 1) * step + 1, step))
    order = [kept.index(taken[v]) for v in sorted(taken)]
    if order != sorted(order):
        steps.append((aten.permute.default, order))
    if len(order) != len(view.shape):
        for v, n in enumerate(view.shape):
            if n == 1:
                steps.append((aten.unsqueeze.default, v))
    return steps


def intersection(a: Layout, b: Layout) -> Layout | None:
    """The elements that two tensors of one type have in common, as a tensor; None if there are none, or they are no box."""
    if a.address > b.address:
        a, b = b, a
    size = a.dtype.itemsize
    if a.dtype != b.dtype or (a.is_conj, a.is_neg) != (b.is_conj, b.is_neg) or are_disjoint(a, b):
        return None
    extents: dict[int, list[int]] = {}
    for which, layout in enumerate((a, b)):
        for n, stride in zip(layout.shape, layout.strides, strict=True):
            if n > 1:
                if stride <= 0 or extents.setdefault(stride, [1, 1])[which] != 1:
                    return None
                extents[stride][which] = n
    offset, rest = divmod(b.address - a.address, size)
    address, shape, strides = a.address, [], []
    for stride in sorted(extents, reverse=True):
        place, offset = divmod(offset, stride)
        end = min(extents[stride][0], place + extents[stride][1])
        if end <= place:
            return None
        address += place * stride * size
        shape.append(end - place)
        strides.append(stride if end - place > 1 else 0)
    inner = 1
    for stride in sorted(extents):
        # Boxes of one grid: nothing reaches into the next place of a coarser step.
        if stride < inner:
            return None
        inner = max(inner, stride * max(extents[stride]))
    if rest or offset:
        return None
    return a._replace(address=address, shape=tuple(shape), strides=tuple(strides))


def are_disjoint(a: Layout, b: Layout) -> bool:
    """Whether two tensors have no byte in common; False where that is not seen easily.

    Tensors whose spans meet are still disjoint if they are boxes of one grid that do not meet, such as columns of a matrix.
    """
    if a.address > b.address:
        a, b = b, a
    if a.span[1] <= b.span[0] or b.span[1] <= a.span[0]:
        return True
    if any(s < 0 for s in (*a.strides, *b.strides)):
        return False
    extents: dict[int, list[int]] = {}
    for which, layout in enumerate((a, b)):
        for n, stride in zip(layout.shape, layout.strides, strict=True):
            if n > 1:
                known = extents.setdefault(stride * layout.dtype.itemsize, [1, 1])
                if stride == 0 or known[which] != 1:
                    return False
                known[which] = n
    offset = b.address - a.address
    inner = [a.dtype.itemsize, b.dtype.itemsize]
    places = {}
    for step in sorted(extents, reverse=True):
        places[step], offset = divmod(offset, step)
    # From the finest step on: nothing may reach into the next place of a coarser one.
    first = [0, offset]
    apart = first[0] + inner[0] <= first[1] or first[1] + inner[1] <= first[0]
    for step in sorted(extents):
        if first[0] + inner[0] > step or first[1] + inner[1] > step:
            return False
        counts, place = extents[step], places[step]
        apart = apart or counts[0] <= place
        inner = [inner[i] + (counts[i] - 1) * step for i in (0, 1)]
        first[1] += place * step
    return apart
