"""Argument mistakes name the kernel, the argument and both types, and nothing runs."""

import numpy as np
import pytest
from _support import differs_from_warp, kernel_from, load
from _wp import wp


@wp.struct
class Pair:
    a: float


@wp.kernel
def consume(
    count: int,
    gain: float,
    axis: wp.vec3,
    data: wp.array(dtype=float),
    grid: wp.array2d(dtype=wp.vec3),
    pair: Pair,
    flag: wp.bool,
):
    i = wp.tid()
    data[i] = float(count) * gain


def good():
    data, grid = wp.zeros(2, dtype=float, device="cpu"), wp.zeros((2, 2), dtype=wp.vec3, device="cpu")
    return [1, 2.0, wp.vec3(1.0), data, grid, Pair(), True]


def launched_with(**changes):
    arguments = dict(zip(["count", "gain", "axis", "data", "grid", "pair", "flag"], good()))
    data = arguments["data"]
    arguments.update(changes)
    with pytest.raises(Exception) as caught:
        wp.launch(consume, dim=2, inputs=list(arguments.values()), device="cpu")
    assert data.numpy().tolist() == [0.0, 0.0]
    return str(caught.value)


def cpu_array(shape, dtype):
    return wp.zeros(shape, dtype=dtype, device="cpu")


def test_the_good_launch_works():
    arguments = good()
    wp.launch(consume, dim=2, inputs=arguments, device="cpu")
    assert arguments[3].numpy().tolist() == [2.0, 2.0]


ARRAYS = [
    ("data", lambda: cpu_array(2, int), ["float32", "int32"]),
    ("data", lambda: cpu_array(2, wp.float64), ["float32", "float64"]),
    ("data", lambda: cpu_array((2, 2), float), ["1", "2"]),
    ("grid", lambda: cpu_array((2, 2, 3), float), ["vec3", "float32"]),
    ("grid", lambda: cpu_array(2, wp.vec3), ["2", "1"]),
    ("data", lambda: [1.0, 2.0], ["list"]),
]


@pytest.mark.parametrize("name,value,types", ARRAYS, ids=lambda x: x if isinstance(x, str) else "")
def test_wrong_array(name, value, types):
    message = launched_with(**{name: value()})
    assert "consume" in message and name in message
    for word in types:
        assert word in message, (word, message)


SCALARS = [
    ("count", 2.5, ["float", "int32"]),
    ("count", "three", ["str", "int32"]),
    ("count", None, ["None", "int32"]),
    ("count", [1], ["list", "int32"]),
    ("count", np.float64(1.5), ["float64", "int32"]),
    ("gain", "x", ["str", "float32"]),
    ("gain", (1.0,), ["tuple", "float32"]),
    ("axis", (1.0, 2.0), ["vec3"]),
    ("axis", 1.0, ["float", "vec3"]),
]


@pytest.mark.parametrize("name,value,types", SCALARS, ids=[f"{n}-{type(v).__name__}" for n, v, _ in SCALARS])
def test_wrong_scalar_or_vector(name, value, types):
    message = launched_with(**{name: value})
    assert name in message
    for word in types:
        assert word in message, (word, message)


@differs_from_warp("the kernel is not named, or the mistake is accepted")
@pytest.mark.parametrize(
    "name,value,types",
    [
        *SCALARS,
        ("count", 2**40, ["int32"]),
        ("pair", 3.0, ["Pair", "float"]),
        ("data", 1.0, ["float32", "float"]),
        ("data", np.zeros(2), ["float32", "float64"]),
    ],
)
def test_kernel_argument_and_types_are_named(name, value, types):
    message = launched_with(**{name: value})
    assert "consume" in message and name in message
    for word in types:
        assert word in message, (word, message)


@pytest.mark.parametrize("count", [0, 3, 6, 8])
def test_wrong_count(count):
    arguments = (good() + [1])[:count]
    with pytest.raises(Exception) as caught:
        wp.launch(consume, dim=2, inputs=arguments, device="cpu")
    assert "consume" in str(caught.value) and str(count) in str(caught.value) and "7" in str(caught.value)


def test_wrong_device(cuda_device):
    arguments = good()
    with pytest.raises(Exception) as caught:
        wp.launch(consume, dim=2, inputs=arguments, device=cuda_device)
    message = str(caught.value)
    assert "consume" in message and "data" in message and "cpu" in message and cuda_device in message


def test_unknown_device():
    with pytest.raises(ValueError, match="gpu7"):
        wp.launch(consume, dim=2, inputs=good(), device="gpu7")


def test_only_kernels_can_be_launched():
    with pytest.raises(Exception, match="kernel"):
        wp.launch(lambda x: x, dim=2, inputs=[], device="cpu")
    with pytest.raises(Exception, match="launch"):
        consume(*good())


DECLARATIONS = {
    "return annotation": ("@wp.kernel\ndef bad(x: float) -> float:\n    return\n", ["bad", "return"]),
    "returned value": ("@wp.kernel\ndef bad(x: float):\n    return x\n", ["bad", "return"]),
    "no annotation": ("@wp.kernel\ndef bad(x):\n    y = x\n", ["bad"]),
    "unknown annotation": ("@wp.kernel\ndef bad(x: str):\n    y = x\n", []),
}


@pytest.mark.parametrize("mistake", DECLARATIONS)
def test_wrong_declarations(tmp_path, mistake):
    source, words = DECLARATIONS[mistake]
    with pytest.raises(Exception) as caught:
        wp.launch(load(tmp_path, source).bad, dim=1, inputs=[1.0], device="cpu")
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_kernel_without_source_file_is_explained():
    scope = {"wp": wp}
    with pytest.raises(Exception):  # noqa: B017
        exec("@wp.kernel\ndef ghost(out: wp.array(dtype=int)):\n    out[0] = 1\n", scope)
        wp.launch(scope["ghost"], dim=1, inputs=[wp.zeros(1, dtype=int, device="cpu")], device="cpu")


def test_same_error_at_every_launch(tmp_path):
    kernel = kernel_from(tmp_path, "out[0] = 1\nx = f + n")
    messages = []
    for _ in range(3):
        out = wp.zeros(1, dtype=int, device="cpu")
        with pytest.raises(Exception) as caught:
            wp.launch(kernel, dim=1, inputs=[1, 1.0, out], device="cpu")
        messages.append(str(caught.value))
        assert out.numpy()[0] == 0
    with pytest.raises(Exception):  # noqa: B017
        wp.launch(kernel, dim=1, inputs=[1, 1.0, out], device="cpu", record_cmd=True).launch()
    assert messages[0] == messages[1] == messages[2]
