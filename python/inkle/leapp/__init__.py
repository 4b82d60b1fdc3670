"""Pipelines: a program of PyTorch and kernels becomes models that ONNX Runtime and PyTorch run."""

from ._semantics import GraphConfigs, InputKindEnum, OutputKindEnum, TemporalAxis, TensorSemantics

__all__ = ["GraphConfigs", "InputKindEnum", "OutputKindEnum", "TemporalAxis", "TensorSemantics"]
