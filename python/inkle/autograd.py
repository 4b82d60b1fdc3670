"""Jacobians of kernels and of functions that launch them, and the check of one way to compute them by the other."""

import inspect

from inkle import _native
from inkle._checkpoint import checkpoint as checkpoint
from inkle._logger import get_logger
from inkle._tape import Tape


class FunctionMetadata:
    """Names and types of what a Jacobian is of.

    Labels are names; strides and types have one entry per label, ``None`` where it is no array.
    """

    def __init__(
        self,
        key=None,
        input_labels=None,
        output_labels=None,
        input_strides=None,
        output_strides=None,
        input_dtypes=None,
        output_dtypes=None,
    ):
        self.key = key
        self.input_labels, self.output_labels = input_labels, output_labels
        self.input_strides, self.output_strides = input_strides, output_strides
        self.input_dtypes, self.output_dtypes = input_dtypes, output_dtypes

    @property
    def is_empty(self):
        """Whether nothing is known."""
        return self.input_labels is None or self.output_labels is None


class _Subject:
    """A kernel, or a function that launches kernels, with arguments to run it on."""

    def __init__(self, function, dim, inputs, outputs, device, max_blocks, block_dim, restores=True):
        self.function, self.dim, self.inputs = function, dim, list(inputs or ())
        # Whether what a run does to its inputs is undone before the next.
        self.restores = restores
        self.is_kernel = isinstance(function, _native.Kernel)
        if self.is_kernel and outputs is None:
            raise ValueError("the outputs of a kernel must be given")
        self.given = None if outputs is None else list(outputs)
        self.launch = {"device": device, "max_blocks": max_blocks, "block_dim": block_dim}
        self.start = [_bytes(a) for a in self.inputs]
        self.given_start = [_bytes(a) for a in self.given or ()]

    def run(self):
        """Runs from the state at the start; gives the outputs."""
        if self.restores:
            self.restore()
        for array, data in zip(self.given or (), self.given_start):
            if data is not None:
                array.assign(data)
        return self.go()

    def go(self):
        if self.is_kernel:
            if self.launch["device"] is None:
                arrays = [a for a in (*self.inputs, *self.given) if isinstance(a, _native.array)]
                self.launch["device"] = arrays[0].device if arrays else None
            _native.launch(self.function, self.dim, self.inputs, self.given, **self.launch)
            return self.given
        result = self.function(*self.inputs)
        if self.given is not None:
            return self.given
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def restore(self):
        for array, data in zip(self.inputs, self.start):
            if data is not None:
                array.assign(data)

    def names(self, count):
        """The names of the inputs and of `count` outputs."""
        if self.is_kernel:
            names = self.function.parameter_names
            return names[: len(self.inputs)], names[len(self.inputs) :]
        names = list(inspect.signature(self.function).parameters)
        return names, [f"output_{i}" for i in range(count)]

    def pairs(self, outputs, mask):
        """``(input, output)`` places of the arrays with gradients that the mask leaves."""
        inputs = [i for i, a in enumerate(self.inputs) if _takes_part(a)]
        results = [j for j, a in enumerate(outputs) if _takes_part(a)]
        pairs = [(i, j) for i in inputs for j in results]
        if mask is None:
            return pairs
        names = self.names(len(outputs))
        wanted = {(_place(i, names[0], 0), _place(j, names[1], len(self.inputs))) for i, j in mask}
        return [pair for pair in pairs if pair in wanted]


def _place(name, names, before):
    """A place among `names` from a name, a place, or a place counted on from `before`."""
    if isinstance(name, str):
        if name not in names:
            raise ValueError(f"there is no argument `{name}` among {', '.join(names)}")
        return names.index(name)
    return name - before if before and name >= before else name


def _takes_part(argument):
    return isinstance(argument, _native.array) and argument.requires_grad


def _bytes(argument):
    return argument.numpy().copy() if isinstance(argument, _native.array) else None


def _count(array):
    return array.size * _native.type_size(array.dtype)


def _limit(count, most):
    return min(count, most) if most > 0 else count


def _matrix(rows, like):
    scalar = getattr(like.dtype, "_wp_scalar_type_", like.dtype)
    return _native.array(rows, dtype=scalar, device=like.device, ndim=2)


def _matrices(found, subject, results, plot, metadata):
    """The Jacobians of the rows found for each pair of an input and an output, drawn if that is asked for."""
    jacobians = {pair: _matrix(rows, subject.inputs[pair[0]]) for pair, rows in found.items()}
    if plot:
        jacobian_plot(jacobians, metadata or _metadata(subject, results))
    return jacobians


def jacobian(
    function,
    dim=None,
    inputs=None,
    outputs=None,
    input_output_mask=None,
    device=None,
    max_blocks=0,
    block_dim=None,
    max_outputs_per_var=-1,
    plot_jacobians=False,
    metadata=None,
    restore_inputs=True,
):
    """The Jacobians of a kernel, or of a function that launches kernels, by running it backwards once per output number.

    Args:
        function: A kernel, or a Python function of arrays that gives an array or several.
        dim: The extents of the launch of a kernel.
        inputs: The arguments; those with gradients take part.
        outputs: What a kernel writes.
        input_output_mask: ``(input, output)`` pairs by name or place; all for ``None``.
        device, max_blocks, block_dim: As for ``launch``, of a kernel.
        max_outputs_per_var: How many numbers of each output are looked at; all when not positive.
        plot_jacobians: Whether the Jacobians are drawn, with Matplotlib.
        metadata: Names for the drawing.
        restore_inputs: Whether the inputs are given their values back.

    Returns:
        ``{(input, output): matrix}``; a row for each output number, a column for each input number, NaN where it was not
        looked at.
    """
    import numpy as np

    subject = _Subject(function, dim, inputs, outputs, device, max_blocks, block_dim, restore_inputs)
    try:
        with Tape() as tape:
            results = subject.go()
        if any(not callable(launch) and not launch[0].has_backward for launch in tape.launches):
            raise ValueError("Kernel must have backward pass enabled to compute Jacobians")
        pairs = subject.pairs(results, input_output_mask)
        found = {
            (i, j): np.full((_count(results[j]), _count(subject.inputs[i])), np.nan, subject.inputs[i].numpy().dtype)
            for i, j in pairs
        }
        for j in sorted({j for _, j in pairs}):
            output = results[j]
            for row in range(_limit(_count(output), max_outputs_per_var)):
                for array in (*subject.inputs, *results):
                    if _takes_part(array):
                        array.grad.zero_()
                tape.zero()
                seed = np.zeros_like(output.numpy()).reshape(-1)
                seed[row] = 1.0
                output.grad.assign(seed.reshape(output.numpy().shape))
                tape.backward()
                for i, other in pairs:
                    if other == j:
                        found[i, j][row] = subject.inputs[i].grad.numpy().reshape(-1)
        for array in (*subject.inputs, *results):
            if _takes_part(array):
                array.grad.zero_()
    finally:
        if restore_inputs:
            subject.restore()
    return _matrices(found, subject, results, plot_jacobians, metadata)


def jacobian_fd(
    function,
    dim=None,
    inputs=None,
    outputs=None,
    input_output_mask=None,
    device=None,
    max_blocks=0,
    block_dim=None,
    max_inputs_per_var=-1,
    eps=1e-4,
    plot_jacobians=False,
    metadata=None,
    restore_inputs=True,
):
    """As :func:`jacobian`, by central differences of step ``eps``; nothing runs backwards."""
    import numpy as np

    subject = _Subject(function, dim, inputs, outputs, device, max_blocks, block_dim, restore_inputs)
    try:
        results = subject.run()
        pairs = subject.pairs(results, input_output_mask)
        found = {
            (i, j): np.full((_count(results[j]), _count(subject.inputs[i])), np.nan, subject.inputs[i].numpy().dtype)
            for i, j in pairs
        }
        for i in sorted({i for i, _ in pairs}):
            start = subject.start[i]
            for column in range(_limit(start.size, max_inputs_per_var)):
                sides = []
                for sign in (1.0, -1.0):
                    moved = start.reshape(-1).copy()
                    moved[column] += sign * eps
                    # What was really moved by: the step is rounded with the number.
                    step = float(moved[column]) - float(start.reshape(-1)[column])
                    subject.start[i] = moved.reshape(start.shape)
                    subject.inputs[i].assign(subject.start[i])
                    outs = subject.run()
                    sides.append(
                        (step, {j: outs[j].numpy().reshape(-1).astype(np.float64) for k, j in pairs if k == i})
                    )
                subject.start[i] = start
                (up, above), (down, below) = sides
                for j, values in above.items():
                    found[i, j][:, column] = (values - below[j]) / (up - down)
    finally:
        if restore_inputs:
            subject.restore()
    return _matrices(found, subject, results, plot_jacobians, metadata)


def gradcheck(
    function,
    dim=None,
    inputs=None,
    outputs=None,
    *,
    eps=1e-4,
    atol=1e-3,
    rtol=1e-2,
    raise_exception=True,
    input_output_mask=None,
    device=None,
    max_blocks=0,
    block_dim=None,
    max_inputs_per_var=-1,
    max_outputs_per_var=-1,
    plot_relative_error=False,
    plot_absolute_error=False,
    show_summary=True,
    restore_inputs=True,
):
    """Whether the Jacobians computed backwards agree with central differences.

    They do when there is no NaN in the former and they differ by at most ``atol + rtol * abs(difference quotient)``.
    ``raise_exception``: whether it is a ``ValueError`` if not. ``show_summary``: whether a table is printed. The other
    arguments are those of :func:`jacobian` and :func:`jacobian_fd`.
    """
    import numpy as np

    common = {"device": device, "max_blocks": max_blocks, "block_dim": block_dim}
    subject = _Subject(function, dim, inputs, outputs, device, max_blocks, block_dim, restore_inputs)
    try:
        differences = jacobian_fd(
            function,
            dim,
            inputs,
            outputs,
            input_output_mask,
            max_inputs_per_var=max_inputs_per_var,
            eps=eps,
            restore_inputs=restore_inputs,
            **common,
        )
        # A second run must start from the same outputs, to which it may add.
        for array, data in zip(subject.given or (), subject.given_start):
            if data is not None:
                array.assign(data)
        gradients = jacobian(
            function,
            dim,
            inputs,
            outputs,
            input_output_mask,
            max_outputs_per_var=max_outputs_per_var,
            restore_inputs=restore_inputs,
            **common,
        )
    finally:
        if restore_inputs:
            subject.restore()
    rows, fine = [], True
    for (i, j), quotient in differences.items():
        quotient, gradient = (m.numpy().astype(np.float64) for m in (quotient, gradients[i, j]))
        part = np.s_[: _limit(quotient.shape[0], max_outputs_per_var), : _limit(quotient.shape[1], max_inputs_per_var)]
        quotient, gradient = quotient[part], gradient[part]
        error = np.abs(gradient - quotient)
        passed = bool(np.isfinite(gradient).all() and (error <= atol + rtol * np.abs(quotient)).all())
        fine &= passed
        relative = error / np.maximum(np.abs(quotient), 1e-12)
        rows.append((i, j, float(error.max(initial=0.0)), float(relative.max(initial=0.0)), passed))
        for wanted, values, what in (
            (plot_absolute_error, error, "absolute error"),
            (plot_relative_error, relative, "relative error"),
        ):
            if wanted:
                like = subject.inputs[i]
                jacobian_plot({(i, j): _matrix(values, like)}, _metadata(subject, subject.given or []), title=what)
    name = getattr(function, "key", getattr(function, "__name__", "function"))
    if not rows:
        get_logger().warning(
            f"of the gradients of {name} none were compared: no input and output are arrays of floats with gradients; "
            "arrays in structs are not looked at"
        )
    if show_summary:
        print(f"gradients of {name}")
        print(f"{'input':>6} {'output':>6} {'absolute':>12} {'relative':>12}")
        for i, j, absolute, relative, passed in rows:
            print(f"{i:>6} {j:>6} {absolute:>12.4e} {relative:>12.4e} {'' if passed else 'FAIL'}")
    if not fine and raise_exception:
        bad = ", ".join(f"({i}, {j})" for i, j, _, _, passed in rows if not passed)
        raise ValueError(f"the gradients of {name} differ from difference quotients, for (input, output) {bad}")
    return fine


def gradcheck_tape(
    tape,
    *,
    eps=1e-4,
    atol=1e-3,
    rtol=1e-2,
    raise_exception=True,
    input_output_masks=None,
    blacklist_kernels=None,
    whitelist_kernels=None,
    max_inputs_per_var=-1,
    max_outputs_per_var=-1,
    plot_relative_error=False,
    plot_absolute_error=False,
    show_summary=True,
    reverse_launches=False,
    skip_to_launch_index=0,
):
    """Whether :func:`gradcheck` holds for every kernel launch on a tape; launches without a backward pass are left out."""
    launches = tape.launches[::-1] if reverse_launches else tape.launches
    fine = True
    for launch in launches[skip_to_launch_index:]:
        if callable(launch):
            continue
        kernel, dim, max_blocks, inputs, outputs, device, block_dim, _ = launch
        if kernel.key in (blacklist_kernels or ()) or (whitelist_kernels and kernel.key not in whitelist_kernels):
            continue
        if not kernel.has_backward:
            continue
        fine &= gradcheck(
            kernel,
            dim,
            inputs,
            outputs,
            eps=eps,
            atol=atol,
            rtol=rtol,
            raise_exception=raise_exception,
            input_output_mask=(input_output_masks or {}).get(kernel.key),
            device=device,
            max_blocks=max_blocks,
            block_dim=block_dim,
            max_inputs_per_var=max_inputs_per_var,
            max_outputs_per_var=max_outputs_per_var,
            plot_relative_error=plot_relative_error,
            plot_absolute_error=plot_absolute_error,
            show_summary=show_summary,
        )
    return fine


def _metadata(subject, outputs):
    names = subject.names(len(outputs))
    return FunctionMetadata(
        getattr(subject.function, "key", getattr(subject.function, "__name__", None)),
        *(list(n) for n in names),
        *([getattr(a, "strides", None) for a in arrays] for arrays in (subject.inputs, outputs)),
        *([getattr(a, "dtype", None) for a in arrays] for arrays in (subject.inputs, outputs)),
    )


def jacobian_plot(
    jacobians,
    kernel,
    inputs=None,
    show_plot=True,
    show_colorbar=True,
    scale_colors_per_submatrix=False,
    title=None,
    colormap="coolwarm",
    log_scale=False,
):
    """Draws Jacobians side by side with Matplotlib; gives the figure, or ``None`` when there are none.

    ``kernel`` is the kernel, with ``inputs``, or a :class:`FunctionMetadata`.
    """
    import numpy as np

    if isinstance(kernel, FunctionMetadata):
        key, columns, rows = kernel.key, kernel.input_labels, kernel.output_labels
    else:
        if inputs is None:
            raise ValueError("inputs must be provided with a kernel")
        names = kernel.parameter_names
        key, columns, rows = kernel.key, names[: len(inputs)], names[len(inputs) :]
    if not jacobians:
        return None
    for what, places, names in (
        ("input", {i for i, _ in jacobians}, columns),
        ("output", {j for _, j in jacobians}, rows),
    ):
        for place in sorted(places):
            if not names or place >= len(names) or names[place] is None:
                raise ValueError(f"Jacobian {what} index {place} has no name in the metadata")
    import matplotlib.pyplot as plt

    across, down = sorted({i for i, _ in jacobians}), sorted({j for _, j in jacobians})
    data = {pair: np.abs(m.numpy()) if log_scale else m.numpy() for pair, m in jacobians.items()}
    low, high = min(m.min() for m in data.values()), max(m.max() for m in data.values())
    widths = [next(m.shape[1] for (k, _), m in data.items() if k == i) for i in across]
    heights = [next(m.shape[0] for (_, k), m in data.items() if k == j) for j in down]
    figure, axes = plt.subplots(
        len(down), len(across), squeeze=False, gridspec_kw={"width_ratios": widths, "height_ratios": heights}
    )
    figure.suptitle(title or f"{key or 'unknown'} kernel Jacobian")
    image = None
    for y, j in enumerate(down):
        for x, i in enumerate(across):
            axis = axes[y][x]
            if (i, j) not in data:
                axis.axis("off")
                continue
            limits = {} if scale_colors_per_submatrix else {"vmin": low, "vmax": high}
            norm = {"norm": "log"} if log_scale else limits
            image = axis.imshow(data[i, j], cmap=colormap, aspect="auto", **norm)
            if show_colorbar and scale_colors_per_submatrix:
                figure.colorbar(image, ax=axis)
            if y == len(down) - 1:
                axis.set_xlabel(columns[i])
            if x == 0:
                axis.set_ylabel(rows[j])
    if show_colorbar and not scale_colors_per_submatrix and image is not None:
        figure.colorbar(image, ax=axes.ravel().tolist())
    if show_plot:
        plt.show()
    return figure
