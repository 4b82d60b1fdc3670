"""wp.launch: dimensions, inputs and outputs, argument conversion, recorded commands."""

import numpy as np
import pytest
from _support import differs_from_warp, run
from _wp import wp


@wp.kernel
def mark1(out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = i + 1


@wp.kernel
def mark2(out: wp.array2d(dtype=int)):
    i, j = wp.tid()
    out[i, j] = i * 10 + j + 1


@wp.kernel
def mark3(out: wp.array3d(dtype=int)):
    i, j, k = wp.tid()
    out[i, j, k] = i * 100 + j * 10 + k + 1


@wp.kernel
def mark4(out: wp.array4d(dtype=int)):
    i, j, k, m = wp.tid()
    out[i, j, k, m] = i * 1000 + j * 100 + k * 10 + m + 1


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (2, 3, 2, 5), (1000,), (33, 65), (1, 1, 1, 1)])
def test_every_thread_runs_once_with_its_index(device, shape):
    out = wp.zeros(shape, dtype=int, device=device)
    wp.launch((mark1, mark2, mark3, mark4)[len(shape) - 1], dim=shape, inputs=[out], device=device)
    weights = [1000, 100, 10, 1][4 - len(shape) :]
    want = sum(np.indices(shape)[axis] * w for axis, w in enumerate(weights)) + 1
    np.testing.assert_array_equal(out.numpy(), want)


@wp.kernel
def flat_over_2d(out: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(out, i, 1)


def test_one_index_of_a_two_dimensional_launch_is_the_first(device):
    out = wp.zeros(12, dtype=int, device=device)
    wp.launch(flat_over_2d, dim=(3, 4), inputs=[out], device=device)
    assert out.numpy().sum() == 12


DIMS = [6, np.int64(6), [6], (6,), np.array([6])]


@pytest.mark.parametrize("dim", DIMS, ids=lambda d: type(d).__name__)
def test_forms_of_dim(device, dim):
    out = wp.zeros(6, dtype=int, device=device)
    wp.launch(mark1, dim=dim, inputs=[out], device=device)
    wp.launch(mark1, out.shape, [out], device=device)
    assert out.numpy().tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("dim", [(), [], np.zeros(()).shape], ids=["tuple", "list", "shape"])
def test_an_empty_shape_is_one_thread(device, dim):
    out = wp.zeros(2, dtype=int, device=device)
    wp.launch(mark1, dim=dim, inputs=[out], device=device)
    assert out.numpy().tolist() == [1, 0]
    two = wp.zeros((1, 1), dtype=int, device=device)
    wp.launch(mark2, dim=dim, inputs=[two], device=device)
    assert two.numpy().tolist() == [[1]]


def test_empty_launches_do_nothing(device):
    out = wp.zeros(3, dtype=int, device=device)
    wp.launch(mark1, dim=0, inputs=[out], device=device)
    two = wp.zeros((2, 2), dtype=int, device=device)
    wp.launch(mark2, dim=(2, 0), inputs=[two], device=device)
    assert not out.numpy().any() and not two.numpy().any()


@pytest.mark.parametrize(
    "dim,error",
    [(-1, ValueError), ((1, 1, 1, 1, 1), ValueError), (2.0, TypeError), ("3", Exception), ((2, -1), ValueError)],
)
def test_refused_dims(dim, error):
    with pytest.raises(error):
        wp.launch(mark1, dim=dim, inputs=[wp.zeros(3, dtype=int, device="cpu")], device="cpu")


@differs_from_warp("dimensions over int32 wrap silently")
@pytest.mark.parametrize("dim", [2**31 + 1, 2**32 + 5])
def test_dims_that_do_not_fit_a_thread_index(dim):
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(ValueError):
        wp.launch(mark1, dim=dim, inputs=[out], device="cpu", record_cmd=True)
    with pytest.raises(ValueError):
        wp.launch(mark1, dim=dim, inputs=[out], device="cpu")
    command = wp.launch(mark1, dim=1, inputs=[out], device="cpu", record_cmd=True)
    with pytest.raises(ValueError):
        command.set_dim(dim)
    wp.launch(
        mark2, dim=(2**20, 2**12), inputs=[wp.zeros((1, 1), dtype=int, device="cpu")], device="cpu", record_cmd=True
    )


@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


def test_inputs_and_outputs_are_one_list(device):
    x, y = wp.ones(4, dtype=float, device=device), wp.ones(4, dtype=float, device=device)
    wp.launch(saxpy, dim=4, inputs=[2.0, x, y], device=device)
    wp.launch(saxpy, dim=4, inputs=(2.0, x), outputs=(y,), device=device)
    wp.launch(saxpy, dim=4, inputs=[2.0], outputs=[x, y], device=device)
    wp.launch(kernel=saxpy, dim=4, inputs=[], outputs=[2.0, x, y], device=device)
    assert y.numpy().tolist() == [9.0] * 4


@pytest.mark.parametrize(
    "options", [{"block_dim": 64}, {"block_dim": 32, "max_blocks": 1}, {"max_blocks": 2}, {"block_dim": 1024}]
)
def test_block_options_do_not_change_the_result(device, options):
    out = wp.zeros(3001, dtype=int, device=device)
    wp.launch(mark1, dim=3001, inputs=[out], device=device, **options)
    np.testing.assert_array_equal(out.numpy(), np.arange(3001) + 1)


def test_device_is_taken_from_the_scope(device):
    with wp.ScopedDevice(device):
        out = wp.zeros(3, dtype=int)
        wp.launch(mark1, dim=3, inputs=[out])
    assert str(out.device) == device and out.numpy().tolist() == [1, 2, 3]


def echo_kernel(T):
    @wp.kernel(module="unique")
    def echo(x: T, out: wp.array(dtype=T)):
        out[0] = x

    return echo


ACCEPTED = [
    (wp.int32, 3, 3), (wp.int32, True, 1), (wp.int32, np.int32(3), 3), (wp.int32, np.uint8(3), 3), (wp.int32, wp.int32(4), 4), (wp.int32, -1, -1),
    (wp.float32, 3, 3.0), (wp.float32, 2.5, 2.5), (wp.float32, np.float64(2.5), 2.5), (wp.float32, np.int32(3), 3.0),
    (wp.float32, wp.float64(2.5), 2.5), (wp.float32, True, 1.0), (wp.float64, 0.1, 0.1), (wp.float64, 1, 1.0), (wp.bool, True, True),
    (wp.bool, 0, False), (wp.bool, np.bool_(True), True), (wp.float16, 1.5, 1.5), (wp.uint64, 2**64 - 1, 2**64 - 1), (wp.int64, -(2**63), -(2**63)),
    (wp.int8, -128, -128), (wp.uint8, 255, 255), (wp.uint16, 65535, 65535),
    (wp.vec3, wp.vec3(1, 2, 3), [1, 2, 3]), (wp.vec3, (1, 2, 3), [1, 2, 3]), (wp.vec3, [1.0, 2.0, 3.0], [1, 2, 3]),
    (wp.vec3, np.array([1, 2, 3]), [1, 2, 3]), (wp.vec3i, (1, 2, 3), [1, 2, 3]), (wp.mat22, wp.mat22(1, 2, 3, 4), [[1, 2], [3, 4]]),
    (wp.mat22, ((1, 2), (3, 4)), [[1, 2], [3, 4]]), (wp.mat22, np.eye(2), [[1, 0], [0, 1]]), (wp.quat, (0, 0, 0, 1), [0, 0, 0, 1]),
    (wp.quat, wp.quat(1, 2, 3, 4), [1, 2, 3, 4]), (wp.transform, wp.transform((1, 2, 3), (0, 0, 0, 1)), [1, 2, 3, 0, 0, 0, 1]),
]  # fmt: skip


@pytest.mark.parametrize(
    "T,value,expected", ACCEPTED, ids=[f"{t.__name__}-{type(v).__name__}-{i}" for i, (t, v, _) in enumerate(ACCEPTED)]
)
def test_scalar_and_vector_arguments(device, T, value, expected):
    assert run(echo_kernel(T), T, 1, value, device=device)[0].tolist() == expected


def test_numpy_arrays_can_be_passed_to_cpu_kernels():
    x, y = np.arange(6, dtype=np.float32)[::2], np.ones(3, dtype=np.float32)
    wp.launch(saxpy, dim=3, inputs=[2.0, x, y], device="cpu")
    assert y.tolist() == [1.0, 5.0, 9.0]


def test_recorded_command(device):
    x, y, z = (wp.ones(4, dtype=float, device=device) for _ in range(3))
    command = wp.launch(saxpy, dim=4, inputs=[2.0, x, y], device=device, record_cmd=True)
    assert y.numpy().tolist() == [1.0] * 4, "a recorded launch does not run"
    command.launch()
    assert y.numpy().tolist() == [3.0] * 4
    command.set_param_at_index(0, 10.0)
    command.launch()
    assert y.numpy().tolist() == [13.0] * 4
    command.set_param_by_name("a", 1.0)
    command.set_param_by_name("y", z)
    command.launch()
    assert y.numpy().tolist() == [13.0] * 4 and z.numpy().tolist() == [2.0] * 4
    command.set_dim(2)
    command.launch()
    assert z.numpy().tolist() == [3.0, 3.0, 2.0, 2.0]
    command.set_params([5.0, y, z])
    command.set_dim((4,))
    command.launch()
    assert z.numpy().tolist() == [68.0, 68.0, 67.0, 67.0]


def test_recorded_command_keeps_its_arrays_alive(device):
    out = wp.zeros(4, dtype=float, device=device)
    command = wp.launch(
        saxpy, dim=4, inputs=[2.0, wp.full(4, 3.0, dtype=float, device=device), out], device=device, record_cmd=True
    )
    for _ in range(50):
        wp.full(4, -1.0, dtype=float, device=device)
    command.launch()
    assert out.numpy().tolist() == [6.0] * 4


def test_recorded_command_refuses_wrong_parameters(device):
    x, y = wp.ones(4, dtype=float, device=device), wp.ones(4, dtype=float, device=device)
    command = wp.launch(saxpy, dim=4, inputs=[2.0, x, y], device=device, record_cmd=True)
    with pytest.raises(IndexError):
        command.set_param_at_index(7, 1.0)
    with pytest.raises(ValueError, match="nothing"):
        command.set_param_by_name("nothing", 1.0)
    with pytest.raises(Exception, match="x"):
        command.set_param_by_name("x", wp.zeros(4, dtype=int, device=device))
    with pytest.raises(Exception, match="'?a'?"):
        command.set_param_at_index(0, "two")
    command.launch()
    assert y.numpy().tolist() == [3.0] * 4


def test_launch_order_on_one_device(device):
    x = wp.ones(1000, dtype=float, device=device)
    for _ in range(10):
        wp.launch(saxpy, dim=1000, inputs=[1.0, x, x], device=device)
    np.testing.assert_array_equal(x.numpy(), np.full(1000, 1024.0, dtype=np.float32))


# Where a GPU thread may run several consecutive threads of the launch: every number of threads left over, arrays that
# start off the 16 bytes of an access, elements of all sizes.

AROUND_MULTIPLES = [*range(1, 36), 63, 64, 65, 70, 255, 256, 257, 1023, 1025, 4099]


@pytest.mark.parametrize("threads_over", [0, -1, 3], ids=["whole", "fewer", "more"])
def test_elements_past_the_launch_are_left_alone(device, threads_over):
    for n in AROUND_MULTIPLES:
        size = max(n + threads_over, n)
        x = wp.array(np.arange(size), dtype=float, device=device)
        y = wp.full(size, 7.0, dtype=float, device=device)
        dim = min(n, n + threads_over)
        wp.launch(saxpy, dim=dim, inputs=[2.0, x, y], device=device)
        want = np.full(size, 7.0)
        want[:dim] += 2.0 * np.arange(dim)
        np.testing.assert_array_equal(y.numpy(), want, err_msg=f"{dim} threads, {size} elements")


@pytest.mark.parametrize("options", [{}, {"max_blocks": 1, "block_dim": 32}, {"max_blocks": 3, "block_dim": 64}])
@pytest.mark.parametrize("x_start,y_start", [(0, 0), (1, 0), (0, 1), (1, 1), (2, 3), (4, 8)])
def test_arrays_that_start_anywhere(device, options, x_start, y_start):
    numbers = np.random.default_rng(0).integers(-50, 50, 2100).astype(np.float32)
    for n in (1, 3, 4, 5, 17, 1000, 2048):
        x = wp.array(numbers, dtype=float, device=device)
        y = wp.array(numbers[::-1].copy(), dtype=float, device=device)
        want = y.numpy()
        want[y_start : y_start + n] += 3.0 * numbers[x_start : x_start + n]
        wp.launch(saxpy, dim=n, inputs=[3.0, x[x_start:], y[y_start:]], device=device, **options)
        np.testing.assert_array_equal(y.numpy(), want, err_msg=f"{n} threads")


def test_an_array_as_both_arguments(device):
    for n in AROUND_MULTIPLES:
        x = wp.array(np.arange(n), dtype=float, device=device)
        wp.launch(saxpy, dim=n, inputs=[2.0, x, x], device=device)
        np.testing.assert_array_equal(x.numpy(), 3.0 * np.arange(n))


def double_kernel(T):
    @wp.kernel(module="unique")
    def double(x: wp.array(dtype=T), y: wp.array(dtype=T)):
        i = wp.tid()
        y[i] = x[i] + x[i]

    return double


NARROW_TO_WIDE = [wp.int8, wp.uint16, wp.float16, wp.int32, wp.float32, wp.int64, wp.float64]
NARROW_TO_WIDE += [wp.vec2, wp.vec3, wp.vec4, wp.mat33, wp.vec3d, wp.vec3h, wp.quat]


@pytest.mark.parametrize("T", NARROW_TO_WIDE, ids=lambda t: t.__name__)
def test_elements_of_all_sizes(device, T):
    kernel = double_kernel(T)
    for n in (1, 2, 5, 8, 31, 64, 70, 1001):
        per_element = int(np.prod(wp.zeros(1, dtype=T, device="cpu").numpy().shape))
        numbers = (np.arange(n * per_element) % 50).astype(np.float32)
        x = wp.zeros(n + 3, dtype=T, device=device)
        x.assign(np.resize(numbers, x.numpy().shape).astype(x.numpy().dtype))
        for start in (0, 1, 3):
            y = wp.zeros(n + 3, dtype=T, device=device)
            wp.launch(kernel, dim=n, inputs=[x[start:], y[start:]], device=device)
            want = np.zeros_like(x.numpy())
            want[start : start + n] = x.numpy()[start : start + n] * 2
            np.testing.assert_array_equal(y.numpy(), want, err_msg=f"{n} threads from {start}")


@wp.kernel
def mixed_sizes(
    flag: wp.array(dtype=wp.bool),
    small: wp.array(dtype=wp.int8),
    half: wp.array(dtype=wp.float16),
    single: wp.array(dtype=wp.float32),
    double: wp.array(dtype=wp.float64),
    out: wp.array(dtype=wp.float64),
    positive: wp.array(dtype=wp.bool),
):
    i = wp.tid()
    s = double[i] + wp.float64(single[i]) + wp.float64(half[i]) + wp.float64(small[i])
    if flag[i]:
        s = -s
    out[i] = s + wp.float64(i)
    positive[i] = s > wp.float64(0.0)


def test_elements_of_several_sizes_in_one_kernel(device):
    for n in (1, 2, 3, 16, 33, 70, 1000):
        rng = np.random.default_rng(n)
        flag = rng.integers(0, 2, n).astype(np.bool_)
        small, half, single, double = (
            rng.integers(-9, 9, n).astype(t) for t in (np.int8, np.float16, np.float32, np.float64)
        )
        types = (wp.bool, wp.int8, wp.float16, wp.float32, wp.float64)
        values = (flag, small, half, single, double)
        inputs = [wp.array(v, dtype=t, device=device) for v, t in zip(values, types, strict=True)]
        out = wp.zeros(n, dtype=wp.float64, device=device)
        positive = wp.zeros(n, dtype=wp.bool, device=device)
        wp.launch(mixed_sizes, dim=n, inputs=[*inputs, out, positive], device=device)
        want = np.where(flag, -1.0, 1.0) * (small + half.astype(np.float64) + single + double)
        np.testing.assert_array_equal(out.numpy(), want + np.arange(n))
        np.testing.assert_array_equal(positive.numpy(), want > 0)


@wp.kernel
def waves(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) + wp.exp(x[i])


def test_functions_of_the_math_library_at_every_place(device):
    x = np.linspace(-3.0, 3.0, 1003, dtype=np.float32)
    out = run(waves, float, 1003, wp.array(x, device=device), dim=1003, device=device)
    np.testing.assert_allclose(out, np.sin(x) + np.exp(x), rtol=1e-5, atol=1e-6)


@wp.kernel
def first_index_only(out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = i + 1


def test_further_dimensions_repeat_the_first_one(device):
    for dim in [(5, 3), (4, 4), (9, 1), (1, 9), (16, 2, 3)]:
        out = wp.zeros(16, dtype=int, device=device)
        wp.launch(first_index_only, dim=dim, inputs=[out], device=device)
        want = np.where(np.arange(16) < dim[0], np.arange(16) + 1, 0)
        np.testing.assert_array_equal(out.numpy(), want, err_msg=str(dim))


@wp.kernel
def neighbours(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] + 2.0 * x[i + 1] + 4.0 * x[i + 4]


def test_neighbours_of_an_element(device):
    for n in (1, 4, 6, 70):
        x = np.arange(n + 4, dtype=np.float32)
        out = run(neighbours, float, n, wp.array(x, device=device), dim=n, device=device)
        np.testing.assert_array_equal(out, x[:n] + 2 * x[1 : n + 1] + 4 * x[4:])


def test_recorded_command_with_arrays_that_start_elsewhere(device):
    x = wp.array(np.arange(70), dtype=float, device=device)
    y, z = wp.zeros(70, dtype=float, device=device), wp.zeros(70, dtype=float, device=device)
    command = wp.launch(saxpy, dim=66, inputs=[2.0, x, y], device=device, record_cmd=True)
    command.launch()
    command.set_param_by_name("x", x[1:])
    command.launch()
    command.set_param_by_name("y", z[3:])
    command.launch()
    command.set_params([2.0, x[4:], z])
    command.launch()
    i = np.arange(66)
    want_y, want_z = np.zeros(70), np.zeros(70)
    want_y[:66] = 2 * i + 2 * (i + 1)
    want_z[3:69] += 2 * (i + 1)
    want_z[:66] += 2 * (i + 4)
    np.testing.assert_array_equal(y.numpy(), want_y)
    np.testing.assert_array_equal(z.numpy(), want_z)


def test_launches_are_told_to_the_logger(device):
    class Notes:
        def __init__(self):
            self.infos = []

        def info(self, message):
            self.infos.append(message)

        def debug(self, message): ...

        def warning(self, message, category=None, stacklevel=1): ...

        def error(self, message): ...

    notes = Notes()
    quiet, wp.config.quiet = wp.config.quiet, False
    wp.config.print_launches = True
    try:
        with wp.ScopedLogger(notes):
            wp.launch(mark1, dim=0, inputs=[wp.zeros(3, dtype=int, device=device)], device=device)
    finally:
        wp.config.print_launches = False
        wp.config.quiet = quiet
    assert any(f"kernel: {mark1.key}" in text and "dim: [0]" in text for text in notes.infos)


@wp.kernel
def vacant(out: wp.array(dtype=int), a: wp.array(dtype=float), b: wp.array2d(dtype=wp.vec3)):
    out[0] = a.shape[0] + b.shape[1]
    if a:
        out[1] = 1
    if b:
        out[1] = 2


def test_an_array_made_with_a_type_alone_has_no_elements(device):
    out = wp.full(2, 7, dtype=int, device=device)
    wp.launch(vacant, 1, [out, wp.array(dtype=float), wp.array2d(dtype=wp.vec3)], device=device)
    assert out.numpy().tolist() == [0, 7]
    wp.launch(vacant, 1, [out, wp.array(dtype=float), wp.zeros((2, 3), dtype=wp.vec3, device=device)], device=device)
    assert out.numpy().tolist() == [3, 2]
    for wrong in (wp.array(dtype=int), wp.array(dtype=float, ndim=2)):
        with pytest.raises(RuntimeError, match="'a'"):
            wp.launch(vacant, 1, [out, wrong, None], device=device)
    assert wp.array(dtype=float).numpy().shape == (0,)
    assert wp.array(dtype=wp.vec3, ndim=2).numpy().shape == (0, 0, 3)
    assert wp.array(dtype=int).list() == []
