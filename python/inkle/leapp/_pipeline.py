"""A traced program as data: nodes, their ports, and what flows between them. Tracing makes it, export reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from ._semantics import TensorSemantics


@dataclass
class Port:
    """One named tensor at a node's edge.

    `name` is flattened: no nesting, unique among the node's inputs or outputs. Shapes are those of expanded scalars: an
    array (2, 4) of vec3 is (2, 4, 3) of float32.
    """

    name: str
    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device
    semantics: TensorSemantics | None = None
    #: Inputs: the node and the output whose value this is. None: an input of the pipeline.
    source: tuple[str, str] | None = None
    #: Inputs: the source runs after this node, so this is its value of the step before.
    feedback: bool = False
    #: Inputs that are fed back: the value in the first step.
    initial: torch.Tensor | None = None
    #: Values seen, one per execution, detached and not shared with anything.
    examples: list[torch.Tensor] = field(default_factory=list)
    #: Static outputs: the constant.
    static: torch.Tensor | None = None

    def __post_init__(self):
        self.shape = tuple(int(size) for size in self.shape)
        self.device = torch.device(self.device)
        if not isinstance(self.dtype, torch.dtype):
            raise TypeError(f"port {self.name}: dtype must be a torch.dtype, got {self.dtype!r}")
        if not self.name or "/" in self.name:
            raise ValueError(f"a port's name must not be empty and have no '/': {self.name!r}")


@dataclass
class State:
    """A tensor a node keeps: an input fed back from the node's own output."""

    name: str
    input: Port
    output: Port

    def __post_init__(self):
        if (self.input.shape, self.input.dtype) != (self.output.shape, self.output.dtype):
            raise ValueError(
                f"state {self.name}: it is {self.input.shape} of {self.input.dtype} before a step and "
                f"{self.output.shape} of {self.output.dtype} after it"
            )


@dataclass
class Segment:
    """One run of kernel launches, as the file that replays it.

    `inputs` and `outputs` are the bundle's names of what crosses its edge, in the order of the operator's tensors.
    `source` is where the run begins, as "file:line".
    """

    name: str
    bundle: bytes
    inputs: list[str]
    outputs: list[str]
    source: str


@dataclass
class Node:
    """One stage of the program: what is between its `input_tensors` and its `output_tensors`.

    `module` is called with the inputs and then the inputs of the states, and gives the outputs and then those of the
    states, as a tuple. Segments are calls of `torch.ops.inkle.replay(bundle, [inputs])` in it, with the bundle a uint8
    buffer of the module. It is None where nothing was traced.
    """

    name: str
    #: Order of completion.
    index: int
    inputs: list[Port]
    outputs: list[Port]
    states: list[State] = field(default_factory=list)
    module: torch.fx.GraphModule | None = None
    segments: list[Segment] = field(default_factory=list)
    export_with: str | None = None
    backend_params: dict[str, Any] = field(default_factory=dict)
    #: Where the annotation is, as "file:line".
    source: str = ""

    def __post_init__(self):
        for what, ports in (("inputs", self.all_inputs), ("outputs", self.all_outputs)):
            names = [port.name for port in ports]
            if repeated := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(
                    f"node '{self.name}': its {what} have names that are used twice: {', '.join(repeated)}"
                )

    @property
    def all_inputs(self) -> list[Port]:
        """The inputs, then those of the states: the parameters of `module`."""
        return self.inputs + [state.input for state in self.states]

    @property
    def all_outputs(self) -> list[Port]:
        """The outputs, then those of the states: what `module` returns."""
        return self.outputs + [state.output for state in self.states]


@dataclass
class Pipeline:
    """The nodes of a program, in order of completion, and where their models are to be written."""

    name: str
    directory: Path
    nodes: list[Node]
    dry_run: bool = False

    def __post_init__(self):
        self.directory = Path(self.directory)
        names = [node.name for node in self.nodes]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"nodes have names that are used twice: {', '.join(repeated)}")
