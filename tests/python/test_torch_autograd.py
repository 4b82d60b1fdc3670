"""Kernels as functions of PyTorch's autograd, with values and gradients in the memory of either side."""

import numpy as np
import pytest
from _wp import wp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

wp.set_module_options({"enable_backward": True})


@wp.kernel
def rosenbrock(xy: wp.array(dtype=wp.vec2), z: wp.array(dtype=float)):
    i = wp.tid()
    x = xy[i][0]
    y = xy[i][1]
    z[i] = (1.0 - x) * (1.0 - x) + 100.0 * (y - x * x) * (y - x * x)


class Rosenbrock(torch.autograd.Function):
    """Forward and backward run the kernel; nothing is copied."""

    # What the last call saw, for the tests.
    seen: dict = {}

    @staticmethod
    def forward(ctx, xy):
        ctx.xy = wp.from_torch(xy.detach(), dtype=wp.vec2, requires_grad=True)
        ctx.z = wp.zeros(len(ctx.xy), dtype=float, device=ctx.xy.device, requires_grad=True)
        with wp.ScopedStream(stream_of(xy)):
            wp.launch(rosenbrock, len(ctx.xy), [ctx.xy], [ctx.z], device=ctx.xy.device)
        z = wp.to_torch(ctx.z, requires_grad=False)
        Rosenbrock.seen = {"x": (xy.data_ptr(), ctx.xy.ptr), "z": (z.data_ptr(), ctx.z.ptr)}
        return z

    @staticmethod
    def backward(ctx, adj_z):
        given = wp.from_torch(adj_z.contiguous())
        with wp.ScopedStream(stream_of(adj_z)):
            wp.launch(
                rosenbrock,
                len(ctx.xy),
                [ctx.xy],
                [ctx.z],
                adj_inputs=[ctx.xy.grad],
                adj_outputs=[given],
                adjoint=True,
                device=ctx.xy.device,
            )
        gradient = wp.to_torch(ctx.xy.grad)
        Rosenbrock.seen["adj_x"] = (gradient.data_ptr(), ctx.xy.grad.ptr)
        Rosenbrock.seen["adj_z"] = (adj_z.data_ptr(), given.ptr)
        return gradient


def stream_of(tensor):
    return wp.stream_from_torch(torch.cuda.current_stream(tensor.device)) if tensor.is_cuda else None


def tensor(data, device):
    if "cuda" in device and not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return torch.tensor(data, dtype=torch.float32, device=device, requires_grad=True)


def test_a_kernel_is_a_function_of_autograd(device):
    xy = tensor([[0.5, 2.0], [1.0, 1.0], [-1.0, 0.5]], device)
    loss = (Rosenbrock.apply(3.0 * xy) * torch.tensor([1.0, 2.0, 3.0], device=device)).sum()
    loss.backward()
    found = xy.grad.cpu().numpy()
    again = xy.detach().clone().requires_grad_(True)
    x, y = (3.0 * again).unbind(1)
    expected = ((1 - x) ** 2 + 100 * (y - x * x) ** 2) * torch.tensor([1.0, 2.0, 3.0], device=device)
    expected.sum().backward()
    np.testing.assert_allclose(found, again.grad.cpu().numpy(), rtol=1e-4)
    # Values and gradients lie in one place for both.
    for name, (theirs, ours) in Rosenbrock.seen.items():
        assert theirs == ours, name


def test_an_optimiser_of_pytorch_finds_the_minimum(device):
    xy = tensor([[-0.5, 1.0], [1.5, 0.5]], device)
    optimiser = torch.optim.LBFGS([xy], max_iter=200, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        z = Rosenbrock.apply(xy).sum()
        z.backward()
        return z

    optimiser.step(loss)
    np.testing.assert_allclose(xy.detach().cpu().numpy(), 1.0, atol=0.01)


def test_gradients_of_pytorch_and_of_arrays_are_one(device):
    weights = tensor([[0.5, 2.0], [1.0, 0.0]], device)
    xy = wp.from_torch(weights, dtype=wp.vec2)
    z = wp.zeros(2, dtype=float, device=device, requires_grad=True)
    assert xy.grad is not None and xy.grad.ptr == weights.grad.data_ptr()
    with wp.Tape() as tape:
        wp.launch(rosenbrock, 2, [xy], [z], device=device)
    tape.backward(grads={z: wp.ones_like(z)})
    if weights.is_cuda:
        wp.synchronize_device(device)
    x, y = weights.detach().cpu().numpy().T
    expected = np.stack([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)], 1)
    np.testing.assert_allclose(weights.grad.cpu().numpy(), expected, rtol=1e-5)
