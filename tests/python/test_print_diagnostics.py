"""``print_diagnostics``: what a report of a problem should say."""

import numpy as np
from _wp import wp


def test_it_prints_what_it_returns(capsys):
    facts = wp.print_diagnostics()
    text = capsys.readouterr().out
    assert text.startswith("Software\n")
    assert facts["numpy"] == np.__version__ and np.__version__ in text
    assert [d["alias"] for d in facts["devices"]] == [d.alias for d in wp.get_devices()]
    assert facts["llvm"] in text


def test_arrays_know_their_kind_of_memory():
    array = wp.zeros(4, dtype=float, device="cpu")
    assert array.memory_kind is wp.MemoryKind.HOST
    assert array[1:].memory_kind is wp.MemoryKind.HOST
    assert wp.array(dtype=float).memory_kind is wp.MemoryKind.UNKNOWN
    shared = wp.array(np.zeros(3, dtype=np.float32), dtype=float, device="cpu", copy=False)
    assert shared.memory_kind is wp.MemoryKind.HOST


def test_gpu_arrays_are_in_gpu_memory(cuda_device):
    kinds = (wp.MemoryKind.CUDA_DEVICE, wp.MemoryKind.CUDA_MEMPOOL)
    assert wp.zeros(4, dtype=float, device=cuda_device).memory_kind in kinds
