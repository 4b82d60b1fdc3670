"""Models that run: one way to load and to call each kind of file."""

from __future__ import annotations

import logging
import re
import zipfile
from pathlib import Path

import torch
import torch.export.passes

from ._dtypes import dtype_of

_log = logging.getLogger("inkle.leapp")


class Runner:
    """A model on a device. Called with the node's inputs as tensors on it, gives its outputs as a tuple of new tensors.

    `inputs` and `outputs` are the descriptions of the node's ports: dictionaries with name, dtype and shape.
    """

    def __init__(self, path: Path, inputs: list[dict], outputs: list[dict], device: torch.device, facts: dict):
        self.path, self.inputs, self.outputs, self.device, self.facts = path, inputs, outputs, device, facts
        self.open()

    def open(self) -> None:
        """Loads the file."""
        raise NotImplementedError

    def run(self, tensors: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        """Runs the model."""
        raise NotImplementedError

    def __call__(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        outputs = self.run(tensors)
        if len(outputs) != len(self.outputs):
            raise RuntimeError(f"{self.path.name} gave {len(outputs)} outputs, {len(self.outputs)} are described")
        return outputs


def load(
    kind: str | None, path: Path, inputs: list[dict], outputs: list[dict], device: torch.device, facts: dict
) -> Runner:
    """The model in a file, on a device.

    Raises:
        ValueError: if models of that kind cannot be run here.
    """
    if kind not in _RUNNERS:
        raise ValueError(f"a model of kind {kind!r} cannot be run here; these can: {', '.join(_RUNNERS)}")
    return _RUNNERS[kind](path, inputs, outputs, device, facts)


def usable_device(kind: str | None, wanted: str | torch.device) -> torch.device:
    """Where a model of a kind runs that is best run on `wanted`: there, or on the CPU if this machine cannot."""
    wanted = torch.device(wanted)
    if wanted.type == "cuda":
        there = torch.cuda.is_available()
        if kind == "onnx" and there:
            import onnxruntime

            there = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
        if not there:
            _log.info("a model of kind %s runs on the CPU: what it would run on %s with is not there", kind, wanted)
            return torch.device("cpu")
    return wanted


class _Onnx(Runner):
    """A model in ONNX Runtime. Inputs and outputs stay where they are: the session gets their addresses."""

    def open(self) -> None:
        import onnxruntime

        import inkle.onnx

        options = onnxruntime.SessionOptions()
        # Its further optimizations have changed results of exported graphs.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.log_severity_level = 3
        if self.facts.get("warp_segments") or _has_own_operators(self.path):
            inkle.onnx.register(options)
        providers = ["CPUExecutionProvider"]
        if self.device.type == "cuda":
            if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
                raise ValueError(
                    f"{self.path.name} cannot run on {self.device}: this ONNX Runtime has no CUDAExecutionProvider; "
                    "install onnxruntime-gpu, or run on the CPU with device='cpu'"
                )
            # As PyTorch does by default, it multiplies in float32, not in TF32 with its 10 bits.
            settings = {"device_id": self.device.index or 0, "use_tf32": 0}
            providers.insert(0, ("CUDAExecutionProvider", settings))
        self._session = onnxruntime.InferenceSession(str(self.path), options, providers=providers)
        there = [port.name for port in self._session.get_inputs()]
        described = [port["name"] for port in self.inputs]
        # A model that its exporter left unused inputs out of takes the others.
        if unknown := [name for name in there if name not in described]:
            raise ValueError(f"{self.path.name} has inputs that are not described: {', '.join(unknown)}")
        self._taken = set(there)
        self._results = [port.name for port in self._session.get_outputs()]

    def run(self, tensors):
        binding = self._session.io_binding()
        where = (self.device.type, self.device.index or 0)
        kept = []
        for port, tensor in zip(self.inputs, tensors, strict=True):
            if port["name"] not in self._taken:
                continue
            tensor = tensor.detach().contiguous()
            kept.append(tensor)
            binding.bind_input(port["name"], *where, _onnx_type(tensor.dtype), list(tensor.shape), tensor.data_ptr())
        results = []
        for name, port in zip(self._results, self.outputs, strict=True):
            result = torch.empty(tuple(port["shape"]), dtype=dtype_of(port["dtype"]), device=self.device)
            results.append(result)
            binding.bind_output(name, *where, _onnx_type(result.dtype), list(result.shape), result.data_ptr())
        if self.device.type == "cuda":
            # The session works on a stream of its own.
            torch.cuda.current_stream(self.device).synchronize()
        self._session.run_with_iobinding(binding)
        if self.device.type == "cuda":
            binding.synchronize_outputs()
        del kept
        return tuple(results)


class _Program(Runner):
    """An exported program of PyTorch."""

    def open(self) -> None:
        _load_operators(_namespaces(self.path))
        program = torch.export.load(self.path)
        # LEAPP does not say where it traced a program, which is where the program makes its tensors.
        if self.facts.get("device") != self.device.type:
            program = torch.export.passes.move_to_device_pass(program, str(self.device))
        self._module = program.module().to(self.device)

    def run(self, tensors):
        with torch.no_grad():
            return _own(self._module(*tensors))


class _Script(Runner):
    """A TorchScript model."""

    def open(self) -> None:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            warnings.simplefilter("ignore", DeprecationWarning)
            self._module = torch.jit.load(str(self.path), map_location=self.device).eval()

    def run(self, tensors):
        with torch.no_grad():
            return _own(self._module(*tensors))


class _Bundle(Runner):
    """A graph of kernels, run by the operator that exported models use."""

    def open(self) -> None:
        import inkle.torch

        inkle.torch.load()
        self._bundle = torch.frombuffer(bytearray(self.path.read_bytes()), dtype=torch.uint8)
        there = inkle.torch.describe(self._bundle)
        self._signature = there["signature"]
        inputs, outputs = [p["name"] for p in there["inputs"]], [p["name"] for p in there["outputs"]]
        described = [p["name"] for p in self.inputs], [p["name"] for p in self.outputs]
        if (inputs, outputs) != described:
            raise ValueError(
                f"{self.path.name} takes {inputs} and gives {outputs}; described are {described[0]} and {described[1]}"
            )

    def run(self, tensors):
        return tuple(torch.ops.inkle.replay.default(self._bundle, list(tensors), self._signature))


_RUNNERS = {"onnx": _Onnx, "pt2": _Program, "jit": _Script, "inkle": _Bundle}
#: Kinds of models that run here.
KINDS = frozenset(_RUNNERS)


def _own(result) -> tuple[torch.Tensor, ...]:
    """The results of a module in memory of their own: they may be its constants, or its inputs."""
    return tuple(value.clone() for value in (result if isinstance(result, (tuple, list)) else (result,)))


def _load_operators(namespaces: set[str]) -> None:
    """Makes operators available that programs with operators of these namespaces may need."""
    if namespaces & {"inkle", "leapp"}:
        import inkle.torch

        inkle.torch.load()
        if "leapp" in namespaces:
            inkle.torch.load_leapp()


def _namespaces(path: Path) -> set[str]:
    """The namespaces of the operators in an exported program; PyTorch says only while it reads one what it lacks."""
    found = set()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.endswith(".json"):
                    found |= set(re.findall(r"torch\.ops\.(\w+)\.", archive.read(name).decode(errors="replace")))
    return found


def _has_own_operators(path: Path) -> bool:
    """Whether a model has operators of a domain that ONNX Runtime may not know."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    return any(opset.domain not in ("", "ai.onnx", "ai.onnx.ml", "com.microsoft") for opset in model.opset_import)


def _onnx_type(dtype: torch.dtype) -> int:
    """The number that ONNX has for a dtype."""
    return _ONNX_TYPES[dtype]


_ONNX_TYPES = {
    torch.float32: 1,
    torch.uint8: 2,
    torch.int8: 3,
    torch.uint16: 4,
    torch.int16: 5,
    torch.int32: 6,
    torch.int64: 7,
    torch.bool: 9,
    torch.float16: 10,
    torch.float64: 11,
    torch.uint32: 12,
    torch.uint64: 13,
    torch.bfloat16: 16,
}
