"""Operations that exist on one kind of device only, as the ones that say the same everywhere.

PyTorch chooses them below autograd, where operations are recorded: a pipeline traced on a GPU would not run on a CPU.
"""

from __future__ import annotations

import torch

aten = torch.ops.aten

#: An operation, its arguments, and per result of it the place among the results of the one it stands for. No places: its
#: only result is the first of those.
Portable = tuple[object, tuple, dict, tuple[int, ...] | None]


def portable(func, args: tuple, kwargs: dict) -> Portable | None:
    """What stands for an operation; None where it stands for itself."""
    rewrite = _REWRITES.get(func)
    if rewrite is None:
        return None
    given = _named(func, args, kwargs)
    return rewrite(given)


def _named(func, args: tuple, kwargs: dict) -> dict:
    """All arguments of a call by their names."""
    named = {}
    for index, argument in enumerate(func._schema.arguments):
        if index < len(args):
            named[argument.name] = args[index]
        elif argument.name in kwargs:
            named[argument.name] = kwargs[argument.name]
        else:
            named[argument.name] = argument.default_value
    return named


def _attention(given: dict) -> Portable:
    mask = given.get("attn_mask", given.get("attn_bias"))
    args = (given["query"], given["key"], given["value"], mask, given["dropout_p"], given["is_causal"])
    scale = {} if given["scale"] is None else {"scale": given["scale"]}
    return aten.scaled_dot_product_attention.default, args, scale, None


def _batch_norm(given: dict) -> Portable | None:
    if given["training"]:
        return None
    momentum = given["momentum"] if "momentum" in given else given["exponential_average_factor"]
    eps = given["eps"] if "eps" in given else given["epsilon"]
    names = ("input", "weight", "bias", "running_mean", "running_var")
    args = (*(given[name] for name in names), momentum, eps)
    return aten._native_batch_norm_legit_no_training.default, args, {}, (0,)


#: The modes of `_cudnn_rnn`.
_RNN_RELU, _RNN_TANH, _LSTM, _GRU = range(4)


def _recurrent(given: dict) -> Portable | None:
    if given["proj_size"] or given["batch_sizes"]:
        return None
    weights, layers = list(given["weight"]), given["num_layers"]
    rest = (
        weights,
        given["weight_stride0"] == 4,
        layers,
        given["dropout"],
        given["train"],
        given["bidirectional"],
        given["batch_first"],
    )
    if given["mode"] == _LSTM:
        return aten.lstm.input, (given["input"], [given["hx"], given["cx"]], *rest), {}, (0, 1, 2)
    op = {_RNN_RELU: aten.rnn_relu.input, _RNN_TANH: aten.rnn_tanh.input, _GRU: aten.gru.input}[given["mode"]]
    return op, (given["input"], given["hx"], *rest), {}, (0, 1)


_REWRITES = {
    aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
    aten._scaled_dot_product_flash_attention.default: _attention,
    aten._scaled_dot_product_efficient_attention.default: _attention,
    aten._scaled_dot_product_cudnn_attention.default: _attention,
    aten.native_batch_norm.default: _batch_norm,
    aten.cudnn_batch_norm.default: _batch_norm,
    aten.miopen_batch_norm.default: _batch_norm,
    aten._cudnn_rnn.default: _recurrent,
}
