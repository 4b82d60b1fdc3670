"""Pipelines: a program of PyTorch and kernels becomes models that ONNX Runtime and PyTorch run."""

from __future__ import annotations

import importlib.util
import os

if _missing := [name for name in ("safetensors", "torch", "yaml") if importlib.util.find_spec(name) is None]:
    raise ImportError(f"inkle.leapp needs {', '.join(_missing)}: pip install inkle[export]")

from ._annotate import annotate
from ._inference import InferenceManager
from ._patches import FunctionPatch
from ._semantics import GraphConfigs, InputKindEnum, OutputKindEnum, TemporalAxis, TensorSemantics
from ._session import Session, log, session_paths
from ._where import TraceError, TraceWarning

__all__ = [
    "FunctionPatch",
    "GraphConfigs",
    "InferenceManager",
    "InputKindEnum",
    "OutputKindEnum",
    "TemporalAxis",
    "TensorSemantics",
    "TraceError",
    "TraceWarning",
    "annotate",
    "compile_graph",
    "start",
    "stop",
]


def start(
    name,
    save_path=".",
    verbose=False,
    dry_run=False,
    non_traced=None,
    max_cached_io=5,
    global_patching=True,
    patching=None,
    passes=1,
):
    """Begins a trace: from now on annotations mark the stages of the program.

    Files go to `save_path`/`name`, where `name` may have folders of its own; its last part names the pipeline. With
    `dry_run` nothing is exported; of the nodes named in `non_traced` no model is made. Of each value that crosses a node's
    edge, `max_cached_io` are kept. `patching` is a list of `FunctionPatch`, in place from here to `stop` unless
    `global_patching` says no; inkle itself needs no patches to see kernels. With `passes=2` each node with
    kernels has to be executed twice, as LEAPP demands; otherwise once is enough.
    """
    base, directory = session_paths(name, save_path)
    if passes not in (1, 2):
        raise ValueError(f"leapp.start(passes=...) is 1 or 2, not {passes!r}")
    if annotate.session is not None:
        log.warning("a trace is under way; start() begins another and forgets it")
        annotate.session.end()
    os.makedirs(directory, exist_ok=True)
    names = [non_traced] if isinstance(non_traced, str) else list(non_traced or [])
    session = Session(
        base, directory, bool(dry_run), names, max_cached_io, passes, patching if global_patching else None
    )
    session.verbose = bool(verbose)
    session.begin()
    annotate._session = session


def stop():
    """Ends the trace; the process is as it was before `start`."""
    session = annotate.session
    if session is None:
        raise TraceError("leapp.stop() called with no active tracing session: did you call leapp.start()?")
    session.check_thread("leapp.stop()")
    session.end()


def compile_graph(visualize=True, verbose=None, validate=True, rtol=1e-3, atol=1e-5, strict=True, graph_configs=None):
    """Writes the traced pipeline: a model for each node, the description of how they are connected, and a drawing.

    With `validate` each model is run on the values that were traced and has to give the same, within `rtol` and `atol`; with
    `strict` it is an error if one does not.
    """
    session = annotate._session
    if annotate.session is not None:
        raise TraceError("LEAPP graph interpretation is enabled. Call leapp.stop() before leapp.compile_graph()")
    if session is None:
        raise TraceError("leapp.compile_graph() called without a trace: call leapp.start() and leapp.stop() first")
    from ._compile import compile_pipeline

    return compile_pipeline(
        session.pipeline(),
        visualize=visualize,
        verbose=session.verbose if verbose is None else verbose,
        validate=validate,
        rtol=rtol,
        atol=atol,
        strict=strict,
        graph_configs=graph_configs,
    )
