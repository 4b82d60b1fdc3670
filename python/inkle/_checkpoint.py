"""Many steps of a simulation on a tape, of which only some states are kept."""

import math

from inkle import _native
from inkle._accumulate import accumulate
from inkle._tape import Tape


def checkpoint(step, state, steps, every=None):
    """Runs ``steps`` steps from ``state`` and lets the active tape run them backwards with few states in memory.

    Every ``every``-th state is kept. The backward pass goes from one of them to the next, last first: it runs the steps
    in between again, on a tape of its own, and those backwards. So there are about ``steps / every + every`` states in
    memory, ``2 * sqrt(steps)`` if ``every`` is the square root, and every step runs twice. Gradients of the arrays that
    the steps use besides the state, such as parameters, add up as usual.

    Args:
        step: Called as ``step(index, state, next_state)`` with lists of arrays; launches what computes ``next_state`` from
            ``state``. Called twice with an index it must do the same. What ``next_state`` holds before is undefined.
            Arrays that it writes besides, such as forces, are part of the state, or are made in it.
        state: The arrays of the first state. They are not changed and not kept: they must stay as they are until the
            backward pass. Gradients flow through those of later states whether these have gradients or not.
        steps: The number of steps.
        every: How many steps there are between states that are kept; the square root of ``steps`` if ``None``.

    Returns:
        The arrays of the last state.

    Without an active tape the steps are just run.
    """
    state = list(state)
    if steps < 0 or every is not None and every < 1:
        raise ValueError(f"there are no {steps} steps with a state kept every {every}")
    every = every or max(1, math.isqrt(steps))
    tape = _native.get_tape()
    _native.set_tape(None)
    try:
        last, kept = _forward(step, state, steps, every if tape is not None else None)
    finally:
        _native.set_tape(tape)
    if tape is not None:
        flowing = [array for array in (*state, *last) if array.grad is not None]
        tape.record_func(lambda: _backward(step, kept, last, steps, every, tape), flowing)
    return last


def _like(state, requires_grad):
    """New arrays for a state; those of floats have gradients if that is asked for."""
    return [
        _native.empty_like(array, requires_grad=requires_grad and bool(_native.float_parts(array.dtype)))
        for array in state
    ]


def _copy(to, of):
    for a, b in zip(to, of):
        _native.copy(a, b)


def _forward(step, state, steps, every):
    """The last state, with gradients if states are kept, and the states at the start of each stretch of steps."""
    last = _like(state, every is not None)
    buffers = [_like(state, False), _like(state, False)]
    kept, current = [state], state
    for index in range(steps):
        if every and index and index % every == 0:
            kept.append(_like(state, False))
            _copy(kept[-1], current)
        following = last if index == steps - 1 else buffers[index % 2]
        step(index, current, following)
        current = following
    if steps == 0:
        _copy(last, state)
    return last, kept


def _backward(step, kept, last, steps, every, tape):
    first = kept[0]
    states = [_like(first, True) for _ in range(min(every, steps) + 1)]
    own = {id(array) for state in states for array in state}
    gradients = [None if array.grad is None else _native.clone(array.grad, requires_grad=False) for array in last]
    for place in reversed(range(len(kept) if steps else 0)):
        start, stop = place * every, min((place + 1) * every, steps)
        _copy(states[0], kept[place])
        for array in (array for state in states for array in state if array.grad is not None):
            array.grad.zero_()
        with Tape() as stretch:
            for index in range(start, stop):
                step(index, states[index - start], states[index - start + 1])
        stretch.backward(grads={a: g for a, g in zip(states[stop - start], gradients) if g is not None})
        gradients = [None if a.grad is None else _native.clone(a.grad, requires_grad=False) for a in states[0]]
        used = {a: g for a, g in stretch.gradients.items() if id(a) not in own}
        tape.gradients.update(used)
    for array, end, gradient in zip(first, last, gradients):
        if gradient is None:
            continue
        if array.grad is not None:
            accumulate(array.grad, gradient)
        if not end.retain_grad:
            end.grad.zero_()
