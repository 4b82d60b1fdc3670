"""Names of dtypes, as the description of a pipeline and the signatures of bundles write them."""

from __future__ import annotations

import re

import torch

_BY_NAME = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.bool,
        torch.uint8,
        torch.uint16,
        torch.uint32,
        torch.uint64,
        torch.int8,
        torch.int16,
        torch.int32,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float32,
        torch.float64,
    )
}


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype: "float32".

    Raises:
        TypeError: if tensors of it cannot cross the edge of a node.
    """
    name = str(dtype).removeprefix("torch.")
    if name not in _BY_NAME:
        raise TypeError(f"Unsupported dtype: {dtype}")
    return name


def dtype_of(name: str) -> torch.dtype:
    """The dtype of a name.

    Raises:
        ValueError: if there is none.
    """
    if name not in _BY_NAME:
        raise ValueError(f"{name!r} names no dtype; there are {', '.join(_BY_NAME)}")
    return _BY_NAME[name]


def parse_signature(text: str) -> list[tuple[torch.dtype, tuple[int, ...]]]:
    """Dtypes and shapes of tensors from their text: "float32[2,4,3] int32[5]"."""
    ports = []
    for word in text.split():
        parts = re.fullmatch(r"(\w+)\[([\d,]*)\]", word)
        if parts is None:
            raise ValueError(f"{word!r} is no dtype with a shape, such as float32[2,3]")
        shape = tuple(int(size) for size in parts[2].split(",") if size)
        ports.append((dtype_of(parts[1]), shape))
    return ports
