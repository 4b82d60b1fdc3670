"""What a person says about a tensor beyond its type: what it measures, what its elements are called, how it is timed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

import numpy as np
import torch

import inkle

_log = logging.getLogger("inkle.leapp")

#: What stands in the description of a tensor for an axis that is time.
TEMPORAL_AXIS = "__temporal_axis__"


class InputKindEnum(Enum):
    """What an input measures or asks for. The value is what the description of the pipeline says."""

    JOINT_POSITION = "state/joint/position"
    JOINT_VELOCITY = "state/joint/velocity"
    JOINT_EFFORT = "state/joint/effort"
    BODY_POSE = "state/body/pose"
    BODY_VEL = "state/body/velocity"
    BODY_ACC = "state/body/acceleration"
    BODY_LINEAR_ACCELERATION = "state/body/linear_acceleration"
    BODY_LINEAR_VELOCITY = "state/body/linear_velocity"
    BODY_ANGULAR_ACCELERATION = "state/body/angular_acceleration"
    BODY_ANGULAR_VELOCITY = "state/body/angular_velocity"
    BODY_ROTATION = "state/body/rotation"
    BODY_POSITION = "state/body/position"
    WRENCH = "state/wrench"
    VECTOR3D = "state/vector3d"
    COMMAND_JOINT_POSITION = "command/joint/position"
    COMMAND_JOINT_VELOCITY = "command/joint/velocity"
    COMMAND_JOINT_TORQUES = "command/joint/torques"
    COMMAND_BODY_ROTATION = "command/body/rotation"
    COMMAND_BODY_VELOCITY = "command/body/velocity"
    COMMAND_POSE = "command/body/pose"


class OutputKindEnum(Enum):
    """What an output is a target of. The value is what the description of the pipeline says."""

    KP = "kp"
    KD = "kd"
    JOINT_POSITION = "target/joint/position"
    JOINT_VELOCITY = "target/joint/velocity"
    JOINT_TORQUES = "target/joint/torques"
    JOINT_EFFORT = "target/joint/effort"
    BODY_POSITION = "target/body/position"
    BODY_LINEAR_ACCELERATION = "target/body/linear_acceleration"
    BODY_ORIENTATION = "target/body/orientation"
    BODY_LINEAR_VELOCITY = "target/body/linear_velocity"
    BODY_ANGULAR_ACCELERATION = "target/body/angular_acceleration"


@dataclass(frozen=True)
class TemporalAxis:
    """An axis of a tensor that is time: its elements are `period_ms` milliseconds apart.

    Stands among `TensorSemantics.element_names` for the names of that axis.

    Raises:
        ValueError: if the period is not positive.
    """

    period_ms: float

    def __post_init__(self):
        if not self.period_ms > 0:
            raise ValueError(f"TemporalAxis period_ms must be positive, got {self.period_ms}")


@dataclass
class GraphConfigs:
    """What the description of a pipeline says about the whole of it.

    `frequency`: how often the pipeline is to run, in hertz. `extra`: further entries, written beside it.

    Raises:
        ValueError: if the frequency is not positive.
    """

    frequency: float | None = None
    extra: dict[str, Any] | None = None

    def __post_init__(self):
        if self.frequency is None:
            return
        if isinstance(self.frequency, bool) or not isinstance(self.frequency, (int, float)):
            raise TypeError(f"GraphConfigs frequency must be a number, got {type(self.frequency).__name__}")
        if not self.frequency > 0:
            raise ValueError(f"GraphConfigs frequency must be positive when provided, got {self.frequency}")

    def to_dict(self) -> dict[str, Any]:
        """The entries that are set, those of `extra` among them."""
        set_entries = {} if self.frequency is None else {"frequency": self.frequency}
        return set_entries | (self.extra or {})


@dataclass
class TensorSemantics:
    """A tensor with its name and its meaning, to be given to an annotation in place of a named tensor.

    `ref` is the tensor (PyTorch, numpy or `wp.array`). `kind` says what it measures: a member of `InputKindEnum` or
    `OutputKindEnum`, or any text. `element_names` names its elements: a list of names for a tensor of one axis, or a
    list with one entry per axis, each a list of names, None or a `TemporalAxis`. `extra` is written beside them.

    Raises:
        TypeError: if `ref` is not a tensor.
        ValueError: if there is more than one `TemporalAxis`, or one inside the names of an axis.
    """

    name: str | None = None
    ref: Any = None
    kind: InputKindEnum | OutputKindEnum | str | None = None
    element_names: list | None = None
    temporal_period_ms: float | None = field(default=None, init=False)
    extra: dict[str, Any] | None = None

    def __post_init__(self):
        if not isinstance(self.ref, (torch.Tensor, np.ndarray, inkle.array)):
            raise TypeError(
                "TensorSemantics 'ref' must be a traceable tensor type (torch.Tensor, numpy.ndarray or inkle.array), "
                f"got {type(self.ref).__name__}"
            )
        # The names may have been normalized before, when `update` changes something else.
        known_period, self.temporal_period_ms = self.temporal_period_ms, None
        if self.element_names is not None:
            self.element_names, period = _normalize(self.element_names, known_period is not None)
            self.temporal_period_ms = period or known_period

    def to_dict(self) -> dict[str, Any]:
        """What is said about the tensor, without its name and itself; the entries of `extra` are among the others."""
        said = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("name", "ref", "extra")}
        return {key: value for key, value in said.items() if value is not None} | (self.extra or {})

    def update(self, values: dict[str, Any]) -> None:
        """Sets what is said from a dictionary; what is no field goes to `extra`."""
        for key, value in values.items():
            if key in ("kind", "element_names"):
                setattr(self, key, value)
            else:
                self.extra = (self.extra or {}) | {key: value}
        self.__post_init__()


def _normalize(names, normalized_before):
    """Element names as one entry per axis, and the period of the axis that is time.

    A name or a list of names are those of the only axis. Anything but lists and names is left as it is.
    """
    if isinstance(names, str):
        if names == TEMPORAL_AXIS:
            raise ValueError(f"{TEMPORAL_AXIS!r} is reserved for TemporalAxis")
        return [[names]], None
    if not isinstance(names, list):
        return names, None

    period = None
    axes = []
    for item in names:
        if isinstance(item, TemporalAxis):
            if period is not None:
                raise ValueError("element_names can contain at most one TemporalAxis")
            period = item.period_ms
            axes.append(TEMPORAL_AXIS)
        elif isinstance(item, list):
            if any(isinstance(name, TemporalAxis) or name == TEMPORAL_AXIS for name in item):
                raise ValueError("TemporalAxis must be an axis item, not nested in a list")
            axes.append(list(item))
        elif item == TEMPORAL_AXIS and not normalized_before:
            raise ValueError(f"{TEMPORAL_AXIS!r} is reserved for TemporalAxis")
        elif isinstance(item, str) or item is None:
            axes.append(item)
        else:
            _log.warning("element_names has mixed types, expected names or axis descriptors: %r", names)
            return names, period
    # Names alone are those of the only axis.
    if all(isinstance(axis, str) and axis != TEMPORAL_AXIS for axis in axes):
        return [axes], period
    return axes, period
