"""Tests of `inkle.leapp` need PyTorch, and those with kernels the operator library."""

import contextlib

import pytest


class Trace:
    """A trace of a test: what it found, and whether its modules give what the program gave."""

    def __init__(self, path):
        self.path = path
        self.pipeline = None

    @contextlib.contextmanager
    def __call__(self, name="pipe", **options):
        from inkle import leapp

        leapp.start(name, save_path=str(self.path), **options)
        try:
            yield leapp.annotate
        finally:
            if leapp.annotate.session is not None:
                leapp.stop()
        self.pipeline = leapp.annotate._session.pipeline()

    def node(self, name="a"):
        return next(node for node in self.pipeline.nodes if node.name == name)

    def check(self, name="a", tolerance=1e-6):
        """Runs a node's module on every set of inputs seen; gives the node."""
        import torch

        node = self.node(name)
        count = max(len(port.examples) for port in node.all_outputs)
        for step in range(count):
            inputs = [port.examples[step].clone() for port in node.all_inputs]
            kept = [value.clone() for value in inputs]
            results = node.module(*inputs)
            assert len(results) == len(node.all_outputs)
            for port, result in zip(node.all_outputs, results, strict=True):
                wanted = port.static if port.static is not None else port.examples[step]
                assert result.dtype == wanted.dtype and result.shape == wanted.shape, port.name
                torch.testing.assert_close(result, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
            for before, after in zip(kept, inputs, strict=True):
                assert torch.equal(before, after), "the module wrote to an input"
        return node


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path)


@pytest.fixture
def operators():
    """The operator library; skips where it is not built."""
    try:
        from inkle import torch as operators

        operators.load()
    except (ImportError, RuntimeError, OSError) as error:
        pytest.skip(f"no operator library: {str(error).splitlines()[0][:80]}")
    return operators
