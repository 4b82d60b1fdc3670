"""The tape: what was launched and copied, in order, to be run backwards."""

from inkle import _algorithm_gradients, _native, _overwrites, config
from inkle._accumulate import accumulate
from inkle._logger import get_logger
from inkle._overwrites import extent, overlap


class Tape(_native.LaunchTape):
    """Records launches, copies and fills while it is entered, and runs them backwards.

    ``gradients`` has the gradient of every array that took part, and for structs a struct of the gradients of its arrays.
    """

    def __init__(self):
        self.scopes = []
        self.loss = None
        # What recorded operations read that the backward pass has not gone through yet; see `_overwrites`.
        self.reads = []
        # What was said of kernels that may overwrite what they need themselves, and of graphs.
        self.doubts = set()
        # The bytes that what was recorded used, (first, one past the last), but for the arrays in `lately_used`: only those
        # who fill arrays ask.
        self._used = set()

    def __enter__(self):
        if _native.get_tape() is not None:
            raise RuntimeError("a tape is entered already; one at a time can record")
        _native.set_tape(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if _native.get_tape() is None:
            raise RuntimeError("the tape was not entered")
        _native.set_tape(None)
        if self.reads:
            _overwrites.watch()

    def backward(self, loss=None, grads=None):
        """Runs everything backwards, last first.

        Args:
            loss: An array of one number, whose gradient becomes one.
            grads: ``{array: gradient}`` to start from.
        """
        if loss is not None:
            if loss.size > 1 or _native.type_size(loss.dtype) > 1:
                raise RuntimeError("gradients start from a loss of one number; for others give `grads`")
            if not loss.requires_grad:
                raise RuntimeError("the loss has no gradient: make it with `requires_grad=True`")
            loss.grad.fill_(1.0)
        for array, gradient in (grads or {}).items():
            if getattr(gradient, "size", array.size) != array.size:
                raise ValueError(
                    f"the gradient given for {array!r} has {gradient.size} elements: give one for each element of the array"
                )
            if array.grad is None:
                array.grad = gradient
            else:
                array.grad.assign(gradient)
        self.run_backward()
        self.reads.clear()

    def record_func(self, backward, arrays):
        """Adds a function without parameters that the backward pass calls; the gradients of ``arrays`` are known to
        :meth:`zero` from then on."""
        self.launches.append(backward)
        for array in arrays:
            if not isinstance(array, (_native.array, _native.indexedarray)) or array.grad is None:
                raise RuntimeError(f"{array!r} is no array with a gradient: make it with `requires_grad=True`")
            self.gradients[array] = array.grad
            self.note_use(array)

    def record_copy(self, dest, src, dest_offset, src_offset, count):
        """Adds a copy: its gradient goes from ``dest`` to ``src``."""
        if config.verify_autograd_array_access:
            _overwrites.check_copy(self, dest, src)
        if dest.grad is None:
            return
        if src.grad is None or not _native.float_parts(src.dtype):
            self._record_overwritten(dest, dest_offset, count or (0 if dest.size == src.size else src.size))
            return
        are_alike = _native.types_equal(dest.dtype, src.dtype)
        if not are_alike and not _native.are_same_floats(dest.dtype, src.dtype):
            raise RuntimeError(
                f"a copy of {src!r} to {dest!r} cannot be differentiated: the elements are not the same floats; convert "
                "them in a kernel, or copy before the tape records"
            )

        def backward():
            to, of = _regions(src.grad, dest.grad, src_offset, dest_offset, count)
            local = of if are_alike else of.view(dtype=to.dtype)
            if of.device != to.device or overlap(extent(of), extent(to)):
                local = _native.clone(local, device=to.device, requires_grad=False)
                if not dest.retain_grad:
                    of.zero_()
                accumulate(to, local)
                return
            accumulate(to, local)
            if not dest.retain_grad:
                of.zero_()

        self.record_func(backward, [dest, src])

    def record_fill(self, array):
        """Adds the overwriting of all elements by constants: what comes before it has no part in what comes after."""
        if config.verify_autograd_array_access:
            _overwrites.check_fill(array)
        if array.grad is not None:
            self._record_overwritten(array, 0, 0)

    def record_graph(self):
        """Says, once, that a graph that is launched is not recorded."""
        message = (
            "a graph that is launched is not differentiated: gradients of what it writes do not flow to what it reads; "
            "launch the kernels themselves, or capture their backward pass too"
        )
        if message not in self.doubts:
            self.doubts.add(message)
            get_logger().warning(message)

    def record_undifferentiated(self, name, read, written):
        """Adds an operation through which no gradients flow: what it wrote was overwritten, and a gradient that gets lost
        there is reported."""
        for array in written:
            self.record_fill(array)
        if any(a.grad is not None for a in read) and any(a.grad is not None for a in written):
            get_logger().warning(
                f"{name} is not differentiated: gradients of what it writes do not flow to what it reads; use a kernel, "
                "or arrays without gradients"
            )

    def record_algorithm(self, name, out, read, details):
        """Adds an algorithm of ``wp.utils`` that overwrote ``out`` by what follows from the arrays in ``read``."""
        if config.verify_autograd_array_access:
            _overwrites.check_fill(out)
        if out.grad is None:
            return
        if all(a.grad is None or not _native.float_parts(a.dtype) for a in read):
            self._record_overwritten(out, 0, 0)
            return

        def backward():
            gradient = _native.clone(out.grad, requires_grad=False)
            if not out.retain_grad:
                out.grad.zero_()
            _algorithm_gradients.run(name, gradient, *read, *details)

        self.record_func(backward, [out, *(a for a in read if a.grad is not None)])

    def _record_overwritten(self, array, offset, count):
        # Where nothing recorded used the elements before, nobody is misled by the gradient of what they hold now.
        if not self._is_used(array):
            return

        def backward():
            if isinstance(array, _native.indexedarray):
                if not array.data.retain_grad:
                    _native.indexedarray(array.data.grad, array.indices).zero_()
            elif not array.retain_grad:
                _region(array.grad, offset, count).zero_()

        self.record_func(backward, [array])

    def _is_used(self, array):
        self._used.update(map(extent, self.lately_used))
        self.lately_used.clear()
        return any(overlap(used, extent(array)) for used in self._used)

    def record_scope_begin(self, scope_name, metadata=None):
        """Begins a named part of the tape; :meth:`visualize` shows it."""
        self.scopes.append((len(self.launches), scope_name, metadata or {}))

    def record_scope_end(self, remove_scope_if_empty=True):
        """Ends the part begun last; one without content is forgotten."""
        depth = sum(1 if name is not None else -1 for _, name, _ in self.scopes)
        if depth == 0:
            raise RuntimeError("ended tape scope, but scope not present: none was begun")
        place, name, _ = self.scopes[-1]
        if remove_scope_if_empty and name is not None and place == len(self.launches):
            self.scopes.pop()
        else:
            self.scopes.append((len(self.launches), None, None))

    def get_adjoint(self, a):
        """The gradient of an argument: an array, a struct of the gradients of a struct's arrays, or ``None``."""
        if isinstance(a, (_native.array, _native.indexedarray)):
            if a.grad is not None:
                self.gradients[a] = a.grad
            return a.grad
        if not isinstance(a, _native.StructInstance):
            return None
        adjoint = a._cls()
        for name in a._cls.vars:
            value = getattr(a, name)
            if isinstance(value, (_native.array, _native.indexedarray)):
                setattr(adjoint, name, self.get_adjoint(value))
            elif isinstance(value, _native.StructInstance):
                setattr(adjoint, name, self.get_adjoint(value))
            elif value is not None:
                setattr(adjoint, name, value)
        self.gradients[a] = adjoint
        return adjoint

    def reset(self):
        """Forgets everything recorded and makes all gradients zero."""
        self.launches = []
        self.scopes = []
        self.reads = []
        self.doubts = set()
        self._used = set()
        self.lately_used.clear()
        self.zero()

    def zero(self):
        """Makes the gradients of everything that took part zero."""
        for gradient in self.gradients.values():
            if not isinstance(gradient, _native.StructInstance):
                gradient.zero_()

    def visualize(
        self,
        filename=None,
        simplify_graph=True,
        hide_readonly_arrays=False,
        array_labels=None,
        choose_longest_node_name=True,
        ignore_graph_scopes=False,
        track_inputs=None,
        track_outputs=None,
        track_input_names=None,
        track_output_names=None,
        graph_direction="LR",
    ):
        """The launches, and the arrays between them, as a GraphViz graph; written to ``filename`` if one is given (as
        SVG if it ends so, which needs GraphViz's ``dot``).

        Args:
            filename: Where to write it.
            simplify_graph: Whether launches that are repeated are shown once.
            hide_readonly_arrays: Whether arrays that nothing writes are left out.
            array_labels: Names of arrays.
            choose_longest_node_name: Whether an array is called by the longest of its parameters' names, or the first.
            ignore_graph_scopes: Whether named parts are left out.
            track_inputs, track_outputs: Arrays that are shown in any case.
            track_input_names, track_output_names: Their names.
            graph_direction: GraphViz's ``rankdir``.
        """
        from inkle import _tape_graph

        labels = dict(array_labels or {})
        for arrays, names in ((track_inputs, track_input_names), (track_outputs, track_output_names)):
            labels.update(zip(arrays or (), names or ()))
        text = _tape_graph.draw(
            self,
            simplify=simplify_graph,
            hide_readonly=hide_readonly_arrays,
            labels=labels,
            longest=choose_longest_node_name,
            scopes=not ignore_graph_scopes,
            shown=[*(track_inputs or ()), *(track_outputs or ())],
            direction=graph_direction,
        )
        if filename is not None:
            _tape_graph.write(text, filename)
        return text


def _region(array, offset, count):
    """The elements that a copy with this offset and count touches."""
    if offset == 0 and count == 0:
        return array
    flat = array if array.ndim == 1 else array.flatten()
    return flat[offset : offset + count] if count else flat[offset:]


def _regions(src, dest, src_offset, dest_offset, count):
    if (src_offset, dest_offset, count) == (0, 0, 0) and src.shape == dest.shape:
        return src, dest
    count = count or src.size - src_offset
    return _region(src, src_offset, count), _region(dest, dest_offset, count)
