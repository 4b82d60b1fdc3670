"""Functions written in C++: ``@wp.func_native``."""

import os
import shutil

import numpy as np
import pytest
from _support import HEADER, child_path, load, run, run_child
from _wp import ON_WARP, wp

Vector = wp.types.vector(length=3, dtype=wp.float32)


def clang_is_there():
    names = [os.environ.get("INKLE_CLANG"), "clang-22", "/usr/lib/llvm-22/bin/clang"]
    return any(name and shutil.which(name) for name in names)


needs_clang = pytest.mark.skipif(not ON_WARP and not clang_is_there(), reason="clang 22 is not installed")


@wp.func_native("out[tid] = x[tid] + float(n);\nif (tid == 3) out[tid] = -1.0f;")
def shifted(x: wp.array(dtype=float), n: int, out: wp.array(dtype=float), tid: int):
    """Adds a number."""


@needs_clang
def test_a_snippet_reads_and_writes_arrays(device):
    @wp.kernel(module="unique")
    def kernel(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        shifted(x, 10, out, wp.tid())

    x = np.arange(100, dtype=np.float32)
    want = np.where(np.arange(100) == 3, -1.0, x + 10.0)
    got = wp.zeros(100, dtype=float, device=device)
    wp.launch(kernel, dim=100, inputs=[wp.array(x, dtype=float, device=device), got], device=device)
    assert (got.numpy() == want).all()
    assert shifted.__doc__ == "Adds a number."


@wp.func_native("return x * x;")
def square(x: float) -> float: ...


@wp.func_native("return x * x * x;")
def square(x: wp.float64) -> wp.float64: ...  # noqa: F811


@wp.func_native("return wp::vec_t<3, wp::float32>(x, 2.0f * x, -x);")
def three(x: float) -> Vector: ...


@wp.func_native("return wp::mat_t<2, 2, wp::float32>(x, 0.0f, 1.0f, x) * wp::vec2(a[1], a[0]);")
def turned(x: float, a: wp.vec2) -> wp.vec2: ...


@needs_clang
def test_snippets_return_numbers_and_vectors(device):
    @wp.kernel(module="unique")
    def kernel(x: wp.array(dtype=float), out: wp.array2d(dtype=wp.float64)):
        i = wp.tid()
        v = three(x[i])
        w = turned(x[i], wp.vec2(1.0, 2.0))
        out[i, 0] = wp.float64(square(x[i]))
        out[i, 1] = square(wp.float64(x[i]))
        out[i, 2] = wp.float64(v[0] + v[1] + v[2])
        out[i, 3] = wp.float64(w[0] * 1000.0 + w[1])

    x = np.arange(-7, 30, dtype=np.float32)
    got = run(kernel, wp.float64, (37, 4), wp.array(x, dtype=float, device=device), dim=37, device=device)
    want = np.stack([x**2, x.astype(np.float64) ** 3, 2 * x, 2 * x * 1000 + 2 + x], axis=1)
    assert (got == want).all()


@wp.struct
class Body:
    mass: float
    position: wp.vec3
    forces: wp.array(dtype=wp.vec3)


@wp.func_native("return b.position[axis] / b.mass + b.forces[i][axis];")
def acceleration(b: Body, i: int, axis: int) -> float: ...


@needs_clang
def test_structs_with_arrays_are_arguments(device):
    @wp.kernel(module="unique")
    def kernel(b: Body, out: wp.array(dtype=float)):
        i = wp.tid()
        if i % 2 == 0:
            out[i] = acceleration(b, i, 2)

    b = Body()
    b.mass = 2.0
    b.position = wp.vec3(1.0, 2.0, 3.0)
    b.forces = wp.array(np.arange(33).reshape(11, 3), dtype=wp.vec3, device=device)
    want = np.where(np.arange(11) % 2 == 0, 1.5 + np.arange(2, 33, 3), 0.0)
    assert (run(kernel, float, 11, b, dim=11, device=device) == want).all()


@wp.func_native(
    snippet="""
#if defined(__CUDA_ARCH__)
    return __ffsll((long long)x) - 1;
#else
    return __builtin_ctzll((unsigned long long)x);
#endif
"""
)
def trailing_zeros(x: wp.uint64) -> int: ...


@wp.func_native(snippet="WP_TILE_SYNC();")
def wait():
    pass


@needs_clang
def test_one_text_serves_both_kinds_of_devices(device):
    @wp.kernel(module="unique")
    def kernel(x: wp.array(dtype=wp.uint64), out: wp.array(dtype=int)):
        i = wp.tid()
        wait()
        out[i] = trailing_zeros(x[i])
        wait()

    x = wp.array([1 << i for i in range(64)], dtype=wp.uint64, device=device)
    assert (run(kernel, int, 64, x, dim=64, device=device) == np.arange(64)).all()


@wp.func_native("""
    __shared__ int values[128];
    values[threadIdx.x] = arr[tid];
    __syncthreads();
    arr[tid] = values[127 - threadIdx.x];
""")
def reverse_block(arr: wp.array(dtype=int), tid: int): ...


@wp.func_native("for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(0xffffffffu, x, by);\nreturn x;")
def warp_sum(x: float) -> float: ...


@needs_clang
def test_threads_of_a_gpu_exchange_values(cuda_device):
    @wp.kernel(module="unique")
    def kernel(arr: wp.array(dtype=int), sums: wp.array(dtype=float)):
        i = wp.tid()
        s = warp_sum(float(i))
        if i % 32 == 0:
            sums[i // 32] = s
        reverse_block(arr, i)

    arr = wp.array(np.arange(256), dtype=int, device=cuda_device)
    sums = wp.zeros(8, dtype=float, device=cuda_device)
    wp.launch(kernel, dim=256, inputs=[arr, sums], block_dim=128, device=cuda_device)
    want = np.concatenate([np.arange(127, -1, -1), np.arange(255, 127, -1)])
    assert (arr.numpy() == want).all()
    assert (sums.numpy() == np.arange(256.0).reshape(8, 32).sum(axis=1)).all()


@needs_clang
def test_a_function_with_another_text_is_another_function(device, tmp_path):
    text = """
        @wp.func_native("return x + %d;")
        def add(x: int) -> int: ...

        @wp.kernel(module="unique")
        def kernel(out: wp.array(dtype=int)):
            out[0] = add(1)
    """
    for n in (1, 2):
        module = load(tmp_path, text % n)
        assert run(module.kernel, int, 1, device=device)[0] == 1 + n


@wp.func_native("total += float(by);\nreturn total > 3.0f;")
def adds(total: wp.ref[float], by: int) -> bool: ...


@needs_clang
def test_references_are_changed(device):
    @wp.kernel(module="unique")
    def kernel(out: wp.array(dtype=float)):
        i = wp.tid()
        total = float(i)
        if adds(total, 2):
            adds(out[i], 10)
        out[i] += total

    want = [i + 2.0 + (10.0 if i + 2 > 3 else 0.0) for i in range(20)]
    assert run(kernel, float, 20, dim=20, device=device).tolist() == want


@pytest.mark.skipif(ON_WARP, reason="Warp says less")
@needs_clang
def test_mistakes_name_function_and_line(device):
    @wp.func_native("float y = x;\nreturn y + nothing;")
    def wrong(x: float) -> float: ...

    @wp.kernel(module="unique")
    def kernel(out: wp.array(dtype=float)):
        out[0] = wrong(1.0)

    with pytest.raises(RuntimeError, match=r"test_native.py:\d+.*\n?.*wrong:2:.*'nothing'"):
        run(kernel, float, 1, device=device)


@pytest.mark.skipif(ON_WARP, reason="Warp takes some of these, and then fails in C++")
def test_signatures_that_cpp_cannot_have_are_refused():
    @wp.func_native("return {};")
    def body(x: float) -> Body: ...

    @wp.func_native("return x;")
    def two(x: float) -> tuple[float, float]: ...

    @wp.kernel(module="unique")
    def gives_body(out: wp.array(dtype=float)):
        out[0] = body(1.0).mass

    @wp.kernel(module="unique")
    def gives_two(out: wp.array(dtype=float)):
        a, b = two(1.0)
        out[0] = a + b

    for kernel in (gives_body, gives_two):
        with pytest.raises(wp.CompileError, match="unsupported return type"):
            run(kernel, float, 1)
    with pytest.raises(NotImplementedError, match="written in C"):
        body(1.0)
    assert (body.native_snippet, body.adj_native_snippet, body.replay_snippet) == ("return {};", None, None)


@pytest.mark.skipif(ON_WARP, reason="Warp brings its own clang")
def test_without_clang_the_error_says_what_to_install(tmp_path):
    program = """
@wp.func_native("return 2.0f * x;")
def twice(x: float) -> float: ...

@wp.kernel
def kernel(out: wp.array(dtype=float)):
    out[0] = twice(1.0)

out = wp.zeros(1, dtype=float, device="cpu")
wp.launch(kernel, dim=1, inputs=[out], device="cpu")
"""
    path = tmp_path / "program.py"
    path.write_text(HEADER + program)
    env = child_path() | {"INKLE_CLANG": str(tmp_path / "clang"), "INKLE_CACHE_PATH": str(tmp_path / "cache")}
    done = run_child(path, env=env, check=False)
    assert done.returncode != 0
    assert "clang-22" in done.stderr and "apt install" in done.stderr and "program.py:8" in done.stderr


@pytest.mark.skipif(ON_WARP, reason="looks at inkle's cache")
@needs_clang
def test_a_kernel_in_the_cache_needs_no_clang(tmp_path):
    program = """
@wp.func_native("return 2.0f * x;")
def twice(x: float) -> float: ...

@wp.kernel
def kernel(out: wp.array(dtype=float)):
    out[0] = twice(1.5)

out = wp.zeros(1, dtype=float, device="cpu")
wp.launch(kernel, dim=1, inputs=[out], device="cpu")
print("GOT", out.numpy()[0])
"""
    path = tmp_path / "program.py"
    path.write_text(HEADER + program)
    env = child_path() | {"INKLE_CACHE_PATH": str(tmp_path / "cache")}
    assert "GOT 3.0" in run_child(path, env=env).stdout
    assert "GOT 3.0" in run_child(path, env=env | {"INKLE_CLANG": str(tmp_path / "clang")}).stdout


@wp.func_native(
    "out[tid] = a * x[tid] + y[tid];",
    adj_snippet="adj_a += x[tid] * adj_out[tid];\nadj_x[tid] += a * adj_out[tid];\nadj_y[tid] += adj_out[tid];",
)
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float), tid: int): ...


@wp.func_native("return x * x;", "adj_x += 2.0f * x * adj_ret;")
def squared(x: float) -> float: ...


@wp.func_native("x = y * 2.0f;", adj_snippet="adj_y += 2.0f * adj_x;\nadj_x = 0.0f;")
def doubled(x: wp.ref[float], y: float): ...


@wp.func_native("return x + 1.0f;")
def without_gradient(x: float) -> float: ...


@wp.func_native("x += 1.0f;")
def changes_without_gradient(x: wp.ref[float]): ...


def gradients(device, kernel, x, **arrays):
    """The result of a kernel (x, ..., out) and the gradients of its arrays for a gradient of ones."""
    inputs = {"x": x, **arrays}
    made = {n: wp.array(v, dtype=float, device=device, requires_grad=True) for n, v in inputs.items()}
    out = wp.zeros(len(x), dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, dim=len(x), inputs=[*made.values()], outputs=[out], device=device)
    tape.backward(grads={out: wp.ones_like(out)})
    return out.numpy(), {name: array.grad.numpy() for name, array in made.items()}


@needs_clang
def test_adjoint_snippets_give_gradients(device):
    @wp.kernel(module="unique", enable_backward=True)
    def arrays(x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
        saxpy(3.0, x, y, out, wp.tid())

    @wp.kernel(module="unique", enable_backward=True)
    def values(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        out[i] = 5.0 * squared(2.0 * x[i]) * without_gradient(x[i])

    @wp.kernel(module="unique", enable_backward=True)
    def references(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        total = float(7.0)
        doubled(total, x[i])
        doubled(out[i], total)

    x = np.arange(1, 20, dtype=np.float32)
    out, grads = gradients(device, arrays, x, y=x * 2)
    assert (out == 5 * x).all() and (grads["x"] == 3.0).all() and (grads["y"] == 1.0).all()
    out, grads = gradients(device, values, x)
    # Where there is no adjoint snippet nothing flows.
    assert np.allclose(out, 20 * x**2 * (x + 1)) and np.allclose(grads["x"], 40 * x * (x + 1))
    out, grads = gradients(device, references, x)
    assert (out == 4 * x).all() and (grads["x"] == 4.0).all()


@needs_clang
@pytest.mark.skipif(ON_WARP, reason="Warp refuses the kernel when it is declared")
def test_a_change_without_gradient_is_refused(device):
    @wp.kernel(module="unique", enable_backward=True)
    def kernel(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        out[i] = x[i]
        changes_without_gradient(out[i])

    with pytest.raises(wp.CompileError, match="adj_snippet"):
        gradients(device, kernel, np.arange(3, dtype=np.float32))


@wp.func_native("return atomicAdd(&counter[0], 1);", replay_snippet="return slots[tid];")
def take_slot(counter: wp.array(dtype=int), slots: wp.array(dtype=int), tid: int) -> int: ...


@needs_clang
def test_a_replay_snippet_runs_in_the_backward_pass(device):
    @wp.kernel(module="unique", enable_backward=True)
    def kernel(
        x: wp.array(dtype=float), counter: wp.array(dtype=int), slots: wp.array(dtype=int), out: wp.array(dtype=float)
    ):
        i = wp.tid()
        slot = take_slot(counter, slots, i)
        slots[i] = slot
        out[slot] = x[i] * x[i]

    x = np.arange(16, dtype=np.float32)
    given = wp.array(x, dtype=float, device=device, requires_grad=True)
    counter, slots = wp.zeros(1, dtype=int, device=device), wp.zeros(16, dtype=int, device=device)
    out = wp.zeros(16, dtype=float, device=device, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, dim=16, inputs=[given, counter, slots], outputs=[out], device=device)
    tape.backward(grads={out: wp.ones_like(out)})
    assert (given.grad.numpy() == 2 * x).all() and counter.numpy()[0] == 16
