"""Pipelines: a program of PyTorch and kernels becomes models that ONNX Runtime and PyTorch run."""

from ._inference import InferenceManager
from ._semantics import GraphConfigs, InputKindEnum, OutputKindEnum, TemporalAxis, TensorSemantics

__all__ = ["GraphConfigs", "InferenceManager", "InputKindEnum", "OutputKindEnum", "TemporalAxis", "TensorSemantics"]
