"""The annotations: where the stages of a program begin and end."""

from __future__ import annotations

import ast
import collections.abc
import contextlib
import dataclasses
import functools
import inspect
import textwrap
from typing import Any

import numpy as np
import torch

import inkle

from ._layout import Layout
from ._segments import boundary_arrays, tensor_of
from ._semantics import TensorSemantics
from ._session import Session, log
from ._trace_numpy import TracedArray, plain
from ._where import TraceError, where


def is_tensor(value: Any) -> bool:
    """Whether a value can be traced."""
    return isinstance(value, (torch.Tensor, np.ndarray, inkle.array))


def flatten(value: Any, name: str = "") -> dict[str, Any]:
    """The tensors of a nested structure by their full names: keys, places and fields joined with `_`."""
    found: dict[str, Any] = {}
    _flatten(value, name, found)
    return found


def _flatten(value, name, found) -> None:
    if is_tensor(value):
        if name in found:
            raise TraceError(f"Duplicate i/o name '{name}': two tensors of a nested structure get one name")
        found[name] = value
        return
    for key, item in _items(value):
        _flatten(item, f"{name}_{key}" if name else str(key), found)


def _items(value):
    """The named parts of a value that has some."""
    if isinstance(value, collections.abc.Mapping):
        return list(value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(zip(value._fields, value, strict=True))
    if isinstance(value, collections.abc.Sequence) and not isinstance(value, (str, bytes)):
        return list(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)]
    if hasattr(value, "__dict__") and not isinstance(value, (type, torch.nn.Module)) and not callable(value):
        return [(k, v) for k, v in vars(value).items() if not k.startswith("_")]
    return []


def _has_tensors(value) -> bool:
    return is_tensor(value) or any(_has_tensors(item) for _, item in _items(value))


def _named(call: str, node: str, tensors) -> tuple[dict[str, Any], dict[str, TensorSemantics]]:
    """The tensors by name, and what is said about them."""
    if isinstance(tensors, TensorSemantics):
        tensors = [tensors]
    if isinstance(tensors, (list, tuple)) and any(isinstance(t, TensorSemantics) for t in tensors):
        others = sorted({type(t).__name__ for t in tensors if not isinstance(t, TensorSemantics)})
        if others:
            raise TypeError(
                f"{call}() for node '{node}': all items must be TensorSemantics, but there are {', '.join(others)}"
            )
        names = [t.name for t in tensors]
        repeated = sorted({n for n in names if names.count(n) > 1}, key=str)
        if repeated:
            raise ValueError(
                f"{call}() for node '{node}': duplicate TensorSemantics names: {', '.join(map(str, repeated))}"
            )
        return {t.name: t.ref for t in tensors}, {t.name: t for t in tensors}
    if is_tensor(tensors):
        raise TypeError(
            f"{call}() for node '{node}' does not accept a bare tensor. Pass a dict of named tensors or a "
            "TensorSemantics/list of TensorSemantics"
        )
    if not isinstance(tensors, dict):
        raise TypeError(
            f"{call}() for node '{node}' expects either a dict of named tensors or a TensorSemantics/list of "
            f"TensorSemantics. Received {type(tensors).__name__}"
        )
    said = {name: value for name, value in tensors.items() if isinstance(value, TensorSemantics)}
    return {name: value.ref if name in said else value for name, value in tensors.items()}, said


def _unwrapped(tensors: dict):
    values = list(tensors.values())
    return values[0] if len(values) == 1 else tuple(values)


def _flat_states(call: str, node: str, tensors) -> None:
    for name, value in tensors.items():
        if not is_tensor(value):
            raise TypeError(
                f"{call}() for node '{node}' does not support nested state structures: state '{name}' is "
                f"{type(value).__name__}. Name each tensor by itself, or use input_tensors() and let LEAPP find the feedback"
            )


def _tensors(value, name: str) -> dict[str, torch.Tensor]:
    """A value that can be traced as tensors over its memory: one, or one for each field of a struct."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if isinstance(value, np.ndarray):
        return {name: torch.from_numpy(plain(value))}
    return {full: tensor_of(part) for full, part in boundary_arrays(value, name).items()}


class _Tracked:
    """Tensors that become states of a node if it changes them, and constants if it does not."""

    def __init__(self, buffers: dict):
        #: By name: what gives the tensor now, the tensor as it was found, and its contents then.
        self._buffers = {
            name: (now, tensor, tensor.detach().clone(memory_format=torch.contiguous_format))
            for name, (now, tensor) in buffers.items()
        }

    def inject(self, session: Session, node, recorder) -> None:
        """Gives each tensor a parameter of the graph."""
        for name, (_, tensor, _) in self._buffers.items():
            session.add_placeholder(node, recorder, name, tensor)

    def collect(self, session: Session, node, recorder) -> None:
        """Finds out which tensors were changed."""
        for name, (now, tensor, before) in self._buffers.items():
            value = now()
            if value is tensor and not recorder.is_written(tensor):
                if name in node.states:
                    raise TraceError(
                        f"node '{node.name}' changed its buffer '{name}' in the first execution, and not in this one"
                    )
                recorder.bake(name, before)
                continue
            if not node.is_complete:
                node.states.append(name)
                node.buffers.add(name)
            elif name not in node.states:
                raise TraceError(f"node '{node.name}' changed its buffer '{name}', and not in the first execution")
            if value.shape != tensor.shape or value.dtype != tensor.dtype:
                raise TraceError(
                    f"node '{node.name}': buffer '{name}' was {tensor.dtype} of shape {list(tensor.shape)} and became "
                    f"{value.dtype} of shape {list(value.shape)}"
                )
            session.describe_input(node, name, before, None)
            node.updated[name] = value


def _module_buffers(node: str, module: torch.nn.Module, names) -> dict:
    known = dict(module.named_buffers())
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise TraceError(f"module() for node '{node}': the module has no buffers {', '.join(unknown)} (at {where()})")
    found = {}
    for full, buffer in known.items():
        if names is None or full in names:
            owner_name, _, attribute = full.rpartition(".")
            owner = module.get_submodule(owner_name)
            found[full.replace(".", "_")] = (functools.partial(getattr, owner, attribute), buffer)
    return found


class Annotate:
    """Marks where the stages of a program begin and end. Outside of a trace each annotation gives back what it gets."""

    def __init__(self):
        self._session: Session | None = None

    @property
    def session(self) -> Session | None:
        """The trace under way."""
        session = self._session
        return session if session is not None and session.is_running else None

    def _begin(self, session: Session, call: str, tensors=None) -> None:
        """Ends the segment under way, if tensors that are to be inputs lie in memory that it uses."""
        session.check_thread(call)
        segment = session.watch.segment
        if segment is None or segment.owner is not None:
            return
        with session.pause():
            leaves = [t for name, v in flatten(tensors or {}).items() for t in _tensors(v, name).values()]
            layouts = [Layout.of(t) for t in leaves]
            if tensors is None or any(x is not None and segment.knows(*x.span) for x in layouts):
                session.watch.end(call)

    def input_tensors(self, node_name: str, tensors):
        """Begins a node, or adds to it: the tensors of a dict (or of `TensorSemantics`) are its inputs.

        Gives back the values, one by itself or several as a tuple; they are the tensors that were given, numpy arrays
        aside, which become views that are watched. Structures of dicts, lists, tuples and objects are flattened into named
        tensors.

        Raises:
            TypeError: for something without names.
            TraceError: for another place of the program than in the first execution, or for other tensors.
        """
        tensors, said = _named("input_tensors", node_name, tensors)
        session = self.session
        if session is None:
            return _unwrapped(tensors)
        self._begin(session, "input_tensors()", tensors)
        with session.pause():
            node, recorder = session.enter(node_name, where())
            result = {}
            for name, value in tensors.items():
                if not _has_tensors(value):
                    log.warning(
                        "Non-tracable input '%s' (%s) in node '%s' is passed on as a constant",
                        name,
                        type(value).__name__,
                        node_name,
                    )
                for full, leaf in flatten(value, name).items():
                    self._foreign(session, node_name, full, leaf)
                    for port, tensor in _tensors(leaf, full).items():
                        session.add_input(node, recorder, port, tensor, _semantics(said.get(name), name, port))
                result[name] = _watched(value)
        return _unwrapped(result)

    def _foreign(self, session: Session, node: str, name: str, value) -> None:
        for tensor in _tensors(value, name).values():
            for other, recorder in session.active.items():
                if other != node and recorder.touches(tensor):
                    raise TraceError(
                        f"input '{name}' of node '{node}' (at {where()}) is an active value of node '{other}'. Mixing active "
                        "contexts is not allowed: call output_tensors() on the source node first"
                    )

    def output_tensors(self, node_name: str, tensors, static_outputs=None, export_with=None, backend_params=None):
        """Ends a node: the tensors are its outputs. Gives back the values as `input_tensors` does.

        `export_with` names the format of its model; `backend_params` are the exporter's. `static_outputs` are constants
        that the model returns too.

        Raises:
            TraceError: for tensors that are not made of the node's inputs, and where the execution is not like the first.
        """
        tensors, said = _named("output_tensors", node_name, tensors)
        static, static_said = {}, {}
        if static_outputs is not None:
            static, static_said = _named("output_tensors static_outputs", node_name, static_outputs)
        session = self.session
        if session is None:
            return _unwrapped(tensors)
        self._begin(session, "output_tensors()")
        with session.pause():
            session.watch.check_no_block(node_name, "output_tensors()")
            if node_name not in session.nodes:
                raise TraceError(
                    f"output_tensors() called for node '{node_name}' but input_tensors() was never called for it (at {where()})"
                )
            node, recorder = session.recorder(node_name, "output_tensors")
            try:
                outputs, semantics = self._outputs(session, "output_tensors", node, recorder, tensors, said)
                constants = {}
                for full, leaf in flatten(static).items():
                    for port, tensor in _tensors(leaf, full).items():
                        if recorder.touches(tensor):
                            raise TraceError(
                                f"node '{node_name}': static output '{port}' (at {where()}) is made of the node's inputs. Static "
                                "outputs are constants; make it a regular output"
                            )
                        constants[port] = tensor
                        semantics[port] = _semantics(static_said.get(full), full, port)
                if not node.is_complete:
                    node.export_with = export_with
                    node.backend_params = dict(backend_params or {})
                session.complete(node, recorder, outputs, constants, semantics)
            finally:
                session.leave(node_name)
        return _unwrapped(tensors)

    def _outputs(self, session, call, node, recorder, tensors, said, segment=None):
        outputs, semantics, untraced = {}, {}, []
        for name, value in tensors.items():
            for full, leaf in flatten(value, name).items():
                for port, tensor in _tensors(leaf, full).items():
                    others = [r.name for r in session.active.values() if r is not recorder and r.touches(tensor)]
                    if others and not recorder.touches(tensor):
                        raise TraceError(
                            f"{call}() for node '{node.name}' (at {where()}): '{port}' belongs to a different node: {others[0]}"
                        )
                    layout = Layout.of(tensor)
                    soon = segment is not None and layout is not None and segment.knows(*layout.span)
                    if not recorder.touches(tensor) and not soon:
                        untraced.append(port)
                    outputs[port] = tensor
                    semantics[port] = _semantics(said.get(name), name, port)
        if untraced:
            raise TraceError(
                f"{call}() for node '{node.name}' received non-traced tensors: {', '.join(untraced)} (at {where()}). They are not "
                f"made of what annotate.input_tensors('{node.name}', ...) gave back, or an operation broke the trace on the way; "
                "a constant is given with static_outputs"
            )
        return outputs, semantics

    def state_tensors(self, node_name: str, tensors: dict):
        """Tensors that a node keeps from one execution to the next: inputs that `update_state` gives the next values of."""
        _flat_states("state_tensors", node_name, tensors)
        session = self.session
        if session is None:
            return _unwrapped(tensors)
        self._begin(session, "state_tensors()", tensors)
        with session.pause():
            node, recorder = session.recorder(node_name, "state_tensors")
            result = {}
            for name, value in tensors.items():
                if name in node.states and name in recorder.placeholders:
                    log.warning("State tensor '%s' already registered for node '%s'", name, node_name)
                    result[name] = value
                    continue
                self._foreign(session, node_name, name, value)
                for port, tensor in _tensors(value, name).items():
                    if not node.is_complete:
                        node.states.append(port)
                    session.add_input(node, recorder, port, tensor, None)
                result[name] = _watched(value)
        return _unwrapped(result)

    def update_state(self, node_name: str, tensors: dict):
        """The values of a node's states after this execution."""
        _flat_states("update_state", node_name, tensors)
        session = self.session
        if session is None:
            return _unwrapped(tensors)
        session.check_thread("update_state()")
        with session.pause():
            node, recorder = session.recorder(node_name, "update_state")
            segment = session.watch.segment
            outputs, _ = self._outputs(session, "update_state", node, recorder, tensors, {}, segment)
            for name, tensor in outputs.items():
                port = node.inputs.get(name) if name in recorder.placeholders else None
                if port is None or (name not in node.states and not node.is_complete):
                    raise TraceError(
                        f"update_state called for '{name}' (at {where()}), which is not registered as a state tensor of node "
                        f"'{node_name}'. Call state_tensors() first"
                    )
                for what, now, before in (
                    ("shape", tuple(tensor.shape), port.shape),
                    ("dtype", tensor.dtype, port.dtype),
                ):
                    if now != before:
                        raise TraceError(
                            f"update_state for '{name}' (at {where()}) has {what} {now} but expected {before}, that of the state"
                        )
                node.updated[name] = tensor
        return _unwrapped(tensors)

    def register_buffer(self, node_name: str, tensors):
        """Tensors that are part of a node's model: a tensor, a list of them, or a dict of names."""
        single = is_tensor(tensors)
        session = self.session
        if session is None:
            if single:
                return tensors
            values = list(tensors.values()) if isinstance(tensors, dict) else list(tensors)
            return values[0] if len(values) == 1 else tuple(values)
        self._begin(session, "register_buffer()", tensors if not single else {"": tensors})
        with session.pause():
            node, recorder = session.recorder(node_name, "register_buffer")
            named = tensors
            if not isinstance(tensors, dict):
                items = [tensors] if single else list(tensors)
                named = {f"buffer_{node.next_buffer + i}": value for i, value in enumerate(items)}
                node.next_buffer += len(items)
            result, buffers = {}, {}
            for name, value in named.items():
                for leaf_name, leaf in flatten(value, name).items():
                    for full, tensor in _tensors(leaf, leaf_name).items():
                        if recorder.touches(tensor):
                            raise TraceError(
                                f"register_buffer() for node '{node_name}' (at {where()}): '{full}' is made of the node's inputs"
                            )
                        buffers[full] = (functools.partial(lambda t: t, tensor), tensor)
                result[name] = _watched(value)
            tracked = _Tracked(buffers)
            tracked.inject(session, node, recorder)
            node.trackers.append(tracked)
        values = list(result.values())
        return values[0] if single or len(values) == 1 else tuple(values)

    def module(self, node_name: str, model: torch.nn.Module, buffer_names: list[str] | None = None) -> None:
        """Watches the buffers of a module: those that the node changes become states, the others stay constants."""
        session = self.session
        if session is None:
            return
        self._begin(session, "module()")
        with session.pause():
            node, recorder = session.recorder(node_name, "module")
            tracked = _Tracked(_module_buffers(node_name, model, buffer_names))
            tracked.inject(session, node, recorder)
            node.trackers.append(tracked)

    def method(self, **params):
        """A decorator that makes a function a node: its arguments are the inputs, what it returns the outputs.

        `node_name`: the function's name if left out; `export_with` and `backend_params` as of `output_tensors`.
        """

        def decorate(function):
            name = params.get("node_name", function.__name__)

            @functools.wraps(function)
            def call(*args, **kwargs):
                if self.session is None:
                    return function(*args, **kwargs)
                return self._call(function, name, params, args, kwargs)

            return call

        return decorate

    _method = method

    def _call(self, function, name, params, args, kwargs):
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        inputs: dict[str, Any] = {}
        buffers: dict[str, Any] = {}
        for index, (key, parameter) in enumerate(signature.parameters.items()):
            value = bound.arguments[key]
            if index == 0 and key in ("self", "cls"):
                continue
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                inputs.update({f"arg_{i}": v for i, v in enumerate(value)})
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                inputs.update(value)
            elif key in given:
                inputs[key] = value
            elif is_tensor(value):
                buffers[key] = value
        watched = {}
        if traced := {k: v for k, v in inputs.items() if _has_tensors(v)}:
            values = self.input_tensors(name, traced)
            watched = dict(zip(traced, (values,) if len(traced) == 1 else values, strict=True))
        else:
            with self.session.pause():
                self.session.enter(name, where())
        if buffers:
            values = self.register_buffer(name, buffers)
            watched |= dict(zip(buffers, (values,) if len(buffers) == 1 else values, strict=True))
        for key, parameter in signature.parameters.items():
            value = bound.arguments[key]
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                bound.arguments[key] = tuple(watched.get(f"arg_{i}", v) for i, v in enumerate(value))
            elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
                bound.arguments[key] = {k: watched.get(k, v) for k, v in value.items()}
            else:
                bound.arguments[key] = watched.get(key, value)
        result = function(*bound.args, **bound.kwargs)
        names = return_names(function)
        if result is None:
            raise TraceError(f"annotated method {name} returned None, but LEAPP expects a return value")
        values = result if isinstance(result, tuple) else (result,)
        if len(names) != len(values):
            raise TraceError(
                f"annotated method {name} returned {len(values)} values, but its source returns {', '.join(names)}"
            )
        options = {k: params[k] for k in ("export_with", "backend_params") if k in params}
        self.output_tensors(name, dict(zip(names, values, strict=True)), **options)
        return result

    @contextlib.contextmanager
    def warp_op(self, node_name: str, inputs=None, outputs=None, **params):
        """A `with` block whose kernels are one segment. Also gives the block as a decorator of a function."""
        session = self.session
        if session is None:
            yield
            return
        self._begin(session, "warp_op()")
        if node_name not in session.nodes:
            raise ValueError(
                f"warp_op: node '{node_name}' is not known (at {where()}). Call annotate.input_tensors() first"
            )
        with session.pause():
            _, recorder = session.recorder(node_name, "warp_op")
            session.watch.open_block(recorder)
        try:
            yield
        except BaseException:
            session.watch.drop()
            raise
        with session.pause():
            session.watch.close_block()

    def mirror_leapp_tags(self, source, target):
        """Lets copies stand for the outputs they were made of, so that nodes that get them are connected.

        Gives back the target; where it has numpy arrays, a structure with watched views of them.

        Raises:
            TraceError: unless both have the same structure and contents.
        """
        session = self.session
        if session is None:
            return target
        with session.pause():
            have, get = flatten(source, ""), flatten(target, "")
            if list(have) != list(get):
                raise TraceError(f"source and target do not match: {list(have)} and {list(get)} (at {where()})")
            pairs = [
                pair
                for name in have
                for pair in zip(_tensors(have[name], name).values(), _tensors(get[name], name).values(), strict=True)
            ]
            for a, b in pairs:
                if a.shape != b.shape or not torch.equal(a.detach().cpu(), b.detach().cpu()):
                    raise TraceError(f"source and target do not match: {a} and {b} (at {where()})")
            for a, b in pairs:
                session.mirror(a, b)
            return _watched(target)


def _semantics(said: TensorSemantics | None, name: str, port: str) -> TensorSemantics | None:
    """What is said about one of the tensors that a name stands for."""
    if said is None or name == port:
        return said
    return dataclasses.replace(said, name=port)


def _watched(value):
    """A structure with numpy arrays as views that are watched."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.names is not None else value.view(TracedArray)
    if isinstance(value, (torch.Tensor, inkle.array, TensorSemantics)):
        return value
    if isinstance(value, dict):
        return type(value)((k, _watched(v)) for k, v in value.items()) if type(value) is dict else value
    if type(value) in (list, tuple):
        return type(value)(_watched(v) for v in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_watched(v) for v in value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        arrays = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}
        return dataclasses.replace(value, **{k: _watched(v) for k, v in arrays.items() if isinstance(v, np.ndarray)})
    return value


def return_names(function) -> list[str]:
    """The names of what a function returns, of its source; `output1` and so on for expressions.

    Raises:
        TraceError: when its return statements have different numbers of values.
    """
    function = inspect.unwrap(function)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return ["output1"]
    found = []
    pending = list(tree.body[0].body) if tree.body and hasattr(tree.body[0], "body") else []
    while pending:
        node = pending.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Return) and node.value is not None:
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            found.append([v.id if isinstance(v, ast.Name) else f"output{i + 1}" for i, v in enumerate(values)])
        pending += ast.iter_child_nodes(node)
    if not found:
        return ["output1"]
    if len({len(names) for names in found}) > 1:
        raise TraceError(
            f"function {function.__name__} has return statements with different numbers of values: "
            f"{', '.join(str(len(names)) for names in found)}"
        )
    return found[0]


annotate = Annotate()
