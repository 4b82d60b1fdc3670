"""Optimisers: steps down a gradient, as kernels."""

from inkle import _native

_f16, _f32, _f64 = (_native.named_type(name) for name in ("float16", "float32", "float64"))
_bf16 = _native.named_type("bfloat16")
tid, sqrt = (_native.builtin(name) for name in ("tid", "sqrt"))


def _sgd_kernel(scalar, state):
    @_native.kernel(enable_backward=False, module="unique")
    def sgd_step(
        gradient: _native.array(dtype=scalar),
        velocity: _native.array(dtype=state),
        rate: state,
        momentum: state,
        dampening: state,
        decay: state,
        nesterov: bool,
        is_first: bool,
        parameter: _native.array(dtype=scalar),
    ):
        i = tid()
        p = state(parameter[i])
        g = state(gradient[i]) + decay * p
        if momentum != state(0.0):
            v = g
            if not is_first:
                v = momentum * velocity[i] + (state(1.0) - dampening) * g
            velocity[i] = v
            if nesterov:
                g = g + momentum * v
            else:
                g = v
        parameter[i] = scalar(p - rate * g)

    return sgd_step


def _adam_kernel(scalar, state):
    @_native.kernel(enable_backward=False, module="unique")
    def adam_step(
        gradient: _native.array(dtype=scalar),
        first: _native.array(dtype=state),
        second: _native.array(dtype=state),
        rate: state,
        beta1: state,
        beta2: state,
        scale1: state,
        scale2: state,
        eps: state,
        parameter: _native.array(dtype=scalar),
    ):
        i = tid()
        g = state(gradient[i])
        m = beta1 * first[i] + (state(1.0) - beta1) * g
        v = beta2 * second[i] + (state(1.0) - beta2) * g * g
        first[i] = m
        second[i] = v
        parameter[i] = scalar(state(parameter[i]) - rate * (m * scale1) / (sqrt(v * scale2) + eps))

    return adam_step


_kernels = {}


def _kernel(make, scalar):
    key = (make, _native.type_repr(scalar))
    if key not in _kernels:
        _kernels[key] = make(scalar, _state_of(scalar))
    return _kernels[key]


def _state_of(scalar):
    """The type that moments are kept in: half precision is not enough for sums."""
    return _f64 if _native.types_equal(scalar, _f64) else _f32


def _scalar_of(array):
    found = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
    if not any(_native.types_equal(found, known) for known in (_f16, _bf16, _f32, _f64)):
        raise TypeError(f"parameters are floats or made of floats, not {_native.type_repr(array.dtype)}")
    return found


def _flat(array, scalar):
    """The scalars of an array that is contiguous, in one dimension, in place."""
    count = array.size * _native.type_size(array.dtype)
    return _native.array(ptr=array.ptr, dtype=scalar, shape=(count,), device=array.device, copy=False)


def _misfit(gradient, param):
    """Why an array cannot be the gradient of a parameter, and what to do; None if it can."""
    if gradient is None:
        return "must be an array, got None", "make the parameter with `requires_grad=True`, or leave it out of `params`"
    if _native.array_kind(gradient) is None:
        return f"must be an array, got {type(gradient).__name__}", "make one with `array(...)`"
    if not _native.types_equal(gradient.dtype, param.dtype):
        given, wanted = (_native.type_repr(a.dtype) for a in (gradient, param))
        return f"dtype must match parameter dtype {wanted}, got {given}", "convert it with `utils.array_cast`"
    if tuple(gradient.shape) != tuple(param.shape):
        shapes = f"{tuple(param.shape)}, got {tuple(gradient.shape)}"
        return f"shape must match parameter shape {shapes}", "reshape it, or put the gradients in the parameters' order"
    if gradient.device != param.device:
        devices = f"{param.device}, got {gradient.device}"
        return f"device must match parameter device {devices}", f"copy it with `gradient.to('{param.device}')`"
    return None


class _Optimizer:
    def __init__(self, params):
        self.params = None
        self.t = 0
        if params is not None:
            self.set_params(params)

    def _checked(self, params):
        for param in params:
            if not isinstance(param, _native.array):
                raise TypeError(f"parameters are arrays, not {type(param).__name__}")
            if not param.is_contiguous:
                raise ValueError("parameters must be contiguous")
            _scalar_of(param)
        return list(params)

    def _follow(self, moments):
        """The moments that go with the parameters: those there are where they fit, on the parameters' devices."""
        made = []
        for index, param in enumerate(self.params):
            state = _state_of(_scalar_of(param))
            count = param.size * _native.type_size(param.dtype)
            old = moments[index] if index < len(moments) else None
            if old is None or old.size != count or not _native.types_equal(old.dtype, state):
                old = _native.zeros(count, dtype=state, device=param.device)
            made.append(old if old.device == param.device else old.to(param.device))
        return made

    def _pairs(self, grad):
        """The gradients, each with its parameter: all of them are checked before any parameter is changed."""
        name = type(self).__name__
        if self.params is None:
            raise RuntimeError(f"{name} parameters must be set before calling step(), got None")
        takes = f"{name}.step() takes a list with one gradient per parameter, in the parameters' order"
        if _native.array_kind(grad) is not None or not hasattr(grad, "__len__"):
            raise _native.ArgumentError(f"{takes}, got {type(grad).__name__}")
        if len(grad) != len(self.params):
            raise _native.ArgumentError(f"{takes}: expected {len(self.params)}, got {len(grad)}")
        for index, (gradient, param) in enumerate(zip(grad, self.params)):
            if problem := _misfit(gradient, param):
                what, remedy = problem
                raise _native.ArgumentError(f"{name} gradient {what}, for parameter {index}; {remedy}")
        return ((gradient.contiguous(), param, _scalar_of(param)) for gradient, param in zip(grad, self.params))


class SGD(_Optimizer):
    """Stochastic gradient descent with momentum.

    Args:
        params: The arrays to optimise, of floats or of vectors of floats, contiguous.
        lr: The size of a step.
        momentum: How much of the last step is made again.
        dampening: How much less of the gradient goes into the momentum.
        weight_decay: How much of the parameters is added to their gradients.
        nesterov: Whether the momentum is applied ahead of the step.
    """

    def __init__(self, params=None, lr=0.001, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
        self.lr, self.momentum, self.dampening = lr, momentum, dampening
        self.weight_decay, self.nesterov = weight_decay, nesterov
        self.b = []
        super().__init__(params)

    def set_params(self, params):
        """Sets the arrays to optimise; what is known of those that stay as they were is kept."""
        self.params = self._checked(params)
        self.b = self._follow(self.b)

    def reset_internal_state(self):
        """Forgets the steps made so far."""
        for buffer in self.b:
            buffer.zero_()
        self.t = 0

    def step(self, grad):
        """Makes a step down the gradients, one array per parameter.

        Raises:
            ArgumentError: A gradient is None or does not fit its parameter; no parameter has changed.
        """
        for (gradient, param, scalar), buffer in zip(self._pairs(grad), self.b):
            flat = _flat(param, scalar)
            settings = [self.lr, self.momentum, self.dampening, self.weight_decay, self.nesterov, self.t == 0]
            inputs = [_flat(gradient, scalar), buffer, *settings, flat]
            _native.launch(_kernel(_sgd_kernel, scalar), flat.size, inputs, device=param.device, record_tape=False)
        self.t += 1


class Adam(_Optimizer):
    """Adam (Kingma and Ba, 2015): steps scaled by running means of the gradient and of its square.

    Args:
        params: The arrays to optimise, of floats or of vectors of floats, contiguous.
        lr: The size of a step.
        betas: How slowly the two means forget.
        eps: Added to the root of the mean of squares.
    """

    def __init__(self, params=None, lr=0.001, betas=(0.9, 0.999), eps=1e-8):
        self.lr, (self.beta1, self.beta2), self.eps = lr, betas, eps
        self.m, self.v = [], []
        super().__init__(params)

    def set_params(self, params):
        """Sets the arrays to optimise; what is known of those that stay as they were is kept."""
        self.params = self._checked(params)
        self.m, self.v = self._follow(self.m), self._follow(self.v)

    def reset_internal_state(self):
        """Forgets the steps made so far."""
        for buffer in (*self.m, *self.v):
            buffer.zero_()
        self.t = 0

    def step(self, grad):
        """Makes a step down the gradients, one array per parameter.

        Raises:
            ArgumentError: A gradient is None or does not fit its parameter; no parameter has changed.
        """
        scales = [1.0 / (1.0 - beta ** (self.t + 1)) for beta in (self.beta1, self.beta2)]
        for (gradient, param, scalar), m, v in zip(self._pairs(grad), self.m, self.v):
            flat = _flat(param, scalar)
            inputs = [_flat(gradient, scalar), m, v, self.lr, self.beta1, self.beta2, *scales, self.eps, flat]
            _native.launch(_kernel(_adam_kernel, scalar), flat.size, inputs, device=param.device, record_tape=False)
        self.t += 1
