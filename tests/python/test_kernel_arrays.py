"""Arrays inside kernels: indexing, views, attributes, atomics."""

import numpy as np
import pytest
from _support import differs_from_warp, run
from _wp import wp


@wp.kernel
def copy1(a: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a[i]


@wp.kernel
def copy2(a: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = a[i, j]


@wp.kernel
def copy3(a: wp.array3d(dtype=float), out: wp.array3d(dtype=float)):
    i, j, k = wp.tid()
    out[i, j, k] = a[i, j, k]


@wp.kernel
def copy4(a: wp.array4d(dtype=float), out: wp.array4d(dtype=float)):
    i, j, k, m = wp.tid()
    out[i, j, k, m] = a[i, j, k, m]


@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_strided_inputs_of_every_rank(device, ndim):
    rng = np.random.default_rng(ndim)
    full = rng.normal(size=(6, 5, 4, 3)[:ndim]).astype(np.float32)
    base = wp.array(full, device=device)
    kernel = (copy1, copy2, copy3, copy4)[ndim - 1]
    every_second = base[tuple(slice(None, None, 2) for _ in range(ndim))]
    want = full[tuple(slice(None, None, 2) for _ in range(ndim))]
    np.testing.assert_array_equal(run(kernel, float, want.shape, every_second, dim=want.shape, device=device), want)
    turned = base.transpose()
    np.testing.assert_array_equal(run(kernel, float, full.T.shape, turned, dim=full.T.shape, device=device), full.T)


@wp.kernel
def write_rows(a: wp.array3d(dtype=float), n: int):
    i = wp.tid()
    plane = a[i]
    row = plane[1]
    row[0] = 1.0
    plane[0, 1] = 2.0
    a[i, 0][0] = 3.0
    a[i][1][1] = 4.0
    again = a[i, n]
    again[2] += 5.0


def test_partial_indexing_gives_views(device):
    a = wp.zeros((2, 2, 3), dtype=float, device=device)
    wp.launch(write_rows, dim=2, inputs=[a, 1], device=device)
    assert a.numpy().tolist() == [[[3.0, 2.0, 0.0], [1.0, 4.0, 5.0]]] * 2


@wp.kernel
def slices(a: wp.array(dtype=int), m: wp.array2d(dtype=int), out: wp.array(dtype=int)):
    part = a[1:4]
    out[0] = part[0]
    out[1] = part.shape[0]
    column = m[:, 1]
    out[2] = column[2]
    block = m[1:3, 0]
    out[3] = block[1]
    part[2] = 77


def test_slices_in_kernels(device):
    a = wp.array(np.arange(6), dtype=int, device=device)
    m = wp.array(np.arange(12).reshape(4, 3), dtype=int, device=device)
    assert run(slices, int, 4, a, m, device=device).tolist() == [1, 3, 7, 6]
    assert a.numpy().tolist() == [0, 1, 2, 77, 4, 5]


@wp.kernel
def attributes(a: wp.array(dtype=float), b: wp.array4d(dtype=float), n: int, out: wp.array(dtype=int)):
    out[0] = a.shape[0]
    out[1] = b.shape[0] * 1000 + b.shape[1] * 100 + b.shape[2] * 10 + b.shape[3]
    out[2] = b.shape[n]
    out[3] = len(a)
    out[4] = len(b)
    s = b.shape
    out[5] = s[1]
    row = b[0, 1]
    out[6] = row.shape[0] * 10 + row.shape[1]


def test_shape_and_length(device):
    a = wp.zeros(7, dtype=float, device=device)
    b = wp.zeros((2, 3, 4, 5), dtype=float, device=device)
    assert run(attributes, int, 7, a, b, 2, device=device).tolist() == [7, 2345, 4, 7, 2, 3, 45]


@wp.kernel
def index_types(
    a: wp.array(dtype=int), i8: wp.int8, u8: wp.uint8, i64: wp.int64, u64: wp.uint64, out: wp.array(dtype=int)
):
    out[0] = a[i8]
    out[1] = a[u8]
    out[2] = a[i64]
    out[3] = a[u64]
    out[i8 + i8] = 9


def test_any_integer_is_an_index(device):
    a = wp.array([10, 11, 12, 13], dtype=int, device=device)
    assert run(index_types, int, 6, a, 2, 1, 3, 0, device=device).tolist() == [12, 11, 13, 10, 9, 0]


@wp.kernel
def negative(a: wp.array(dtype=int), m: wp.array2d(dtype=int), n: int, out: wp.array(dtype=int)):
    out[0] = a[-1]
    out[1] = a[n]
    out[2] = m[-1, -2]
    out[-1] = 5


def test_negative_indices_count_from_the_end(device):
    a = wp.array([10, 11, 12, 13], dtype=int, device=device)
    m = wp.array([[1, 2, 3], [4, 5, 6]], dtype=int, device=device)
    assert run(negative, int, 5, a, m, -3, device=device).tolist() == [13, 11, 5, 0, 5]


@wp.kernel
def optional(a: wp.array(dtype=float), out: wp.array(dtype=int)):
    if a:
        out[0] = 1
    if not a:
        out[0] = 2
    out[1] = a.shape[0]


def test_none_is_a_missing_array(device):
    assert run(optional, int, 2, None, device=device).tolist() == [2, 0]
    assert run(optional, int, 2, wp.zeros(3, dtype=float, device=device), device=device).tolist() == [1, 3]


@wp.kernel
def elements(
    v: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat22), q: wp.array(dtype=wp.quat), out: wp.array(dtype=float)
):
    v[0] = wp.vec3(1.0, 2.0, 3.0)
    v[0][1] = 20.0
    v[0].z = 30.0
    v[0].x += 4.0
    v[0][1] *= 2.0
    v[1] += wp.vec3(1.0, 1.0, 1.0)
    m[0] = wp.mat22(1.0, 2.0, 3.0, 4.0)
    m[0][1, 0] = 7.0
    m[0][0] = wp.vec2(8.0, 9.0)
    q[0] = wp.quat(1.0, 2.0, 3.0, 4.0)
    q[0].w = 5.0
    q[0][0] += 1.0
    out[0] = v[0][1] + v[0].x
    out[1] = m[0][1, 0] + m[0][0][1]
    out[2] = q[0].w + q[0][0]


def test_components_of_array_elements(device):
    v = wp.zeros(2, dtype=wp.vec3, device=device)
    m = wp.zeros(1, dtype=wp.mat22, device=device)
    q = wp.zeros(1, dtype=wp.quat, device=device)
    assert run(elements, float, 3, v, m, q, device=device).tolist() == [45.0, 16.0, 7.0]
    assert v.numpy().tolist() == [[5.0, 40.0, 30.0], [1.0, 1.0, 1.0]]
    assert m.numpy().tolist() == [[[8.0, 9.0], [7.0, 4.0]]]
    assert q.numpy().tolist() == [[2.0, 2.0, 3.0, 5.0]]


@wp.kernel
def slice_of(a: wp.array(dtype=int), start: int, stop: int, step: int, out: wp.array(dtype=int)):
    part = a[start:stop:step]
    out[0] = part.shape[0]
    for i in range(part.shape[0]):
        out[1 + i] = part[i]


DOWNWARDS = differs_from_warp("a slice downwards to before the first element may be empty")


@pytest.mark.parametrize("step", [1, 2, 3, 9, *(pytest.param(step, marks=DOWNWARDS) for step in (-1, -2, -3, -9))])
def test_slices_choose_as_in_python(device, step):
    values = list(range(10, 17))
    a = wp.array(values, dtype=int, device=device)
    bounds = (-20, -8, -7, -6, -1, 0, 1, 3, 6, 7, 8, 20)
    for start in bounds:
        for stop in bounds:
            want = values[start:stop:step]
            got = run(slice_of, int, 8, a, start, stop, step, device=device).tolist()
            assert got == [len(want), *want] + [0] * (7 - len(want)), (start, stop, step)


@wp.kernel
def open_slices(m: wp.array2d(dtype=int), n: int, out: wp.array2d(dtype=int)):
    i = wp.tid()
    row = m[i, ::2]
    out[i, 0] = row[1]
    out[i, 1] = row.shape[0]
    back = m[::-1]
    out[i, 2] = back[i, 0]
    tail = m[n:, 1:]
    out[i, 3] = tail.shape[0] * 10 + tail.shape[1]
    inner = tail[:, 1:2]
    out[i, 4] = inner[-1, -1]
    empty = m[2:1]
    out[i, 5] = empty.shape[0]
    column = m[:, n - 1]
    column[i] += 100


def test_open_ends_rows_and_columns(device):
    values = np.arange(12).reshape(3, 4)
    m = wp.array(values, dtype=int, device=device)
    out = wp.zeros((3, 6), dtype=int, device=device)
    wp.launch(open_slices, dim=3, inputs=[m, 2], outputs=[out], device=device)
    assert out.numpy().tolist() == [[4 * i + 2, 2, 8 - 4 * i, 13, 10, 0] for i in range(3)]
    values[:, 1] += 100
    np.testing.assert_array_equal(m.numpy(), values)


@wp.func
def total(a: wp.array(dtype=int)):
    sum = int(0)
    for i in range(a.shape[0]):
        sum += a[i]
    return sum


@wp.kernel
def sliced_arguments(m: wp.array2d(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = total(m[i, 1:3]) * 1000 + total(m[:, i])


def test_slices_as_arguments(device):
    values = np.arange(12).reshape(3, 4)
    m = wp.array(values, dtype=int, device=device)
    want = values[:, 1:3].sum(1) * 1000 + values[:, :3].sum(0)
    assert run(sliced_arguments, int, 3, m, dim=3, device=device).tolist() == want.tolist()


def test_assigning_to_a_slice_is_refused(device):
    @wp.kernel(module="unique")
    def fill(a: wp.array(dtype=int)):
        a[0:2] = 1

    with pytest.raises(Exception, match="(?i)slice|assign|store"):
        wp.launch(fill, dim=1, inputs=[wp.zeros(3, dtype=int, device=device)], device=device)


@wp.kernel
def local_arrays(out: wp.array(dtype=float)):
    i = wp.tid()
    scratch = wp.zeros(shape=4, dtype=float)
    for k in range(4):
        scratch[k] = float(k * i)
    total = float(0.0)
    for k in range(4):
        total += scratch[3 - k]
    out[i] = total


def test_arrays_local_to_a_thread(device):
    assert run(local_arrays, float, 3, dim=3, device=device).tolist() == [0.0, 6.0, 12.0]


@wp.func
def scale(a: wp.array2d(dtype=float), x: float):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] *= x


@wp.func
def make_pair(x: float):
    pair = wp.zeros(shape=2, dtype=float)
    pair[0] = x
    pair[1] = -x
    return pair


@wp.kernel
def local_grids(n: wp.array(dtype=int), out: wp.array2d(dtype=float)):
    i = wp.tid()
    grid = wp.zeros(shape=(2, 3), dtype=float)
    grid[1, n[i]] = float(i)
    grid[-1, -1] += 10.0
    scale(grid, 2.0)
    out[i, 0] = grid[1, 0] + 100.0 * grid[1, 1]
    row = grid[1]
    out[i, 1] = row[2]
    out[i, 2] = float(grid.shape[0] * 10 + row.shape[0])
    vectors = wp.zeros(shape=3, dtype=wp.vec3)
    vectors[n[i]] += wp.vec3(1.0, 2.0, float(i))
    vectors[n[i]][1] = 7.0
    v = vectors[n[i]]
    out[i, 3] = v[0] + v[1] * 10.0 + v[2] * 100.0
    first = make_pair(1.0)
    second = make_pair(float(i))
    out[i, 4] = first[0] * 10.0 + second[1]


def test_local_grids_and_vectors(device):
    count = 40
    n = np.arange(count) % 3
    out = wp.zeros((count, 5), dtype=float, device=device)
    wp.launch(local_grids, dim=count, inputs=[wp.array(n, dtype=int, device=device)], outputs=[out], device=device)
    i = np.arange(count)
    want = np.stack(
        [
            2 * i * (n == 0) + 200 * i * (n == 1),
            20 + 2 * i * (n == 2),
            np.full(count, 23),
            71 + 100 * i,
            10 - i,
        ],
        axis=1,
    )
    np.testing.assert_array_equal(out.numpy(), want)


@wp.kernel
def local_in_loops(turns: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    sum = int(0)
    for k in range(turns[i]):
        seen = wp.zeros(shape=5, dtype=int)
        seen[k % 5] += 1
        for j in range(5):
            sum += seen[j]
    out[i] = sum


def test_local_arrays_are_zeroed_in_every_turn(device):
    turns = wp.array(np.arange(50) * 3, dtype=int, device=device)
    assert run(local_in_loops, int, 50, turns, dim=50, device=device).tolist() == (np.arange(50) * 3).tolist()


@wp.kernel
def local_atomics(x: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    count = wp.zeros(shape=4, dtype=int)
    old = wp.atomic_add(count, x[i], 5)
    old += wp.atomic_max(count, x[i], 9)
    old += wp.atomic_cas(count, x[i], 9, 3)
    out[i] = old * 10 + count[x[i]]


def test_atomics_on_local_arrays(device):
    x = wp.array(np.arange(40) % 4, dtype=int, device=device)
    assert run(local_atomics, int, 40, x, dim=40, device=device).tolist() == [143] * 40


@wp.kernel
def reinterpret(out: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    numbers = wp.zeros(shape=6, dtype=float)
    for k in range(6):
        numbers[k] = float(k)
    pairs = wp.array(ptr=numbers.ptr, shape=(3,), dtype=wp.vec2)
    out[i] = pairs[i]


def test_arrays_at_addresses(device):
    out = wp.zeros(3, dtype=wp.vec2, device=device)
    wp.launch(reinterpret, dim=3, inputs=[out], device=device)
    assert out.numpy().tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


@wp.kernel
def count_all(
    out: wp.array(dtype=int), f: wp.array(dtype=float), v: wp.array(dtype=wp.vec2), m: wp.array2d(dtype=wp.int64)
):
    i = wp.tid()
    out[i % 3] += 1
    out[3] -= 2
    f[0] += 0.5
    v[0] += wp.vec2(1.0, 2.0)
    wp.atomic_add(m, 1, i % 2, wp.int64(3))


def test_augmented_assignment_to_elements_is_atomic(device):
    n = 30000
    out = wp.zeros(4, dtype=int, device=device)
    f = wp.zeros(1, dtype=float, device=device)
    v = wp.zeros(1, dtype=wp.vec2, device=device)
    m = wp.zeros((2, 2), dtype=wp.int64, device=device)
    wp.launch(count_all, dim=n, inputs=[out, f, v, m], device=device)
    assert out.numpy().tolist() == [n // 3] * 3 + [-2 * n]
    assert f.numpy()[0] == n / 2
    assert v.numpy().tolist() == [[n, 2 * n]]
    assert m.numpy().tolist() == [[0, 0], [3 * n // 2, 3 * n // 2]]


@wp.struct
class Tally:
    count: int
    moment: wp.vec3


@wp.kernel
def count_components(v: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat22), t: wp.array(dtype=Tally), one: float):
    i = wp.tid()
    v[i % 2].x += one
    v[i % 2][1] -= one * 0.5
    m[0][1, 0] += one
    t[0].count += 1
    t[0].moment.z += 2.0


def test_augmented_assignment_to_components_is_atomic(device):
    n = 30000
    v = wp.zeros(2, dtype=wp.vec3, device=device)
    m = wp.zeros(1, dtype=wp.mat22, device=device)
    t = wp.zeros(1, dtype=Tally, device=device)
    wp.launch(count_components, dim=n, inputs=[v, m, t, 1.0], device=device)
    assert v.numpy().tolist() == [[n / 2, -n / 4, 0.0]] * 2
    assert m.numpy().tolist() == [[[0.0, 0.0], [n, 0.0]]]
    assert t.numpy()["count"].tolist() == [n] and t.numpy()["moment"].tolist() == [[0.0, 0.0, 2 * n]]


def atomic_kernel(T):
    @wp.kernel(module="unique")
    def act(a: wp.array(dtype=T), v: wp.array(dtype=T), old: wp.array2d(dtype=T)):
        for i in range(v.shape[0]):
            old[0, i] = wp.atomic_min(a, 0, v[i])
            old[1, i] = wp.atomic_max(a, 1, v[i])
            old[2, i] = wp.atomic_add(a, 2, v[i])
            old[3, i] = wp.atomic_sub(a, 3, v[i])
            old[4, i] = wp.atomic_exch(a, 4, v[i])

    return act


FLOAT_ATOMICS = differs_from_warp("atomic_min and atomic_max of floats return the new value on the CPU")


@pytest.mark.parametrize(
    "name",
    ["int32", "int64", "uint32", "uint64", *(pytest.param(n, marks=FLOAT_ATOMICS) for n in ("float32", "float64"))],
)
def test_atomics_return_the_old_value(device, name):
    values = [abs(x) for x in (-3, 5, -7, 2, 9, -7)] if name.startswith("u") else [-3, 5, -7, 2, 9, -7]
    T = getattr(wp, name)
    state = [1, 1, 100, 100, 4]
    a = wp.array(state, dtype=T, device=device)
    old = wp.zeros((5, len(values)), dtype=T, device=device)
    wp.launch(atomic_kernel(T), dim=1, inputs=[a, wp.array(values, dtype=T, device=device), old], device=device)
    want = []
    for v in values:
        want.append(list(state))
        state = [min(state[0], v), max(state[1], v), state[2] + v, state[3] - v, v]
    np.testing.assert_array_equal(old.numpy(), np.array(want, dtype=name).T)
    np.testing.assert_array_equal(a.numpy(), np.array(state, dtype=name))


@wp.kernel
def compare_and_swap(a: wp.array(dtype=int), bits: wp.array(dtype=wp.uint32), old: wp.array(dtype=int)):
    old[0] = wp.atomic_cas(a, 0, 5, 6)
    old[1] = wp.atomic_cas(a, 0, 5, 7)
    old[2] = int(wp.atomic_or(bits, 0, wp.uint32(6)))
    old[3] = int(wp.atomic_and(bits, 0, wp.uint32(3)))
    old[4] = int(wp.atomic_xor(bits, 0, wp.uint32(1)))
    bits[1] |= wp.uint32(8)
    bits[1] &= wp.uint32(12)
    bits[1] ^= wp.uint32(1)


def test_atomic_cas_and_bits(device):
    a = wp.array([5], dtype=int, device=device)
    bits = wp.array([8, 5], dtype=wp.uint32, device=device)
    assert run(compare_and_swap, int, 5, a, bits, device=device).tolist() == [5, 6, 8, 14, 2]
    assert a.numpy()[0] == 6 and bits.numpy().tolist() == [3, 13]


@wp.kernel
def contended_extremes(
    v: wp.array(dtype=float), low: wp.array(dtype=float), high: wp.array(dtype=float), bits: wp.array(dtype=wp.uint32)
):
    i = wp.tid()
    wp.atomic_min(low, 0, v[i])
    wp.atomic_max(high, 0, v[i])
    wp.atomic_or(bits, i / 32, wp.uint32(1) << wp.uint32(i % 32))


def test_contended_atomics(device):
    x = np.random.default_rng(5).normal(size=4096).astype(np.float32)
    low, high = wp.full(1, 100.0, dtype=float, device=device), wp.full(1, -100.0, dtype=float, device=device)
    bits = wp.zeros(128, dtype=wp.uint32, device=device)
    wp.launch(contended_extremes, dim=4096, inputs=[wp.array(x, device=device), low, high, bits], device=device)
    assert low.numpy()[0] == x.min() and high.numpy()[0] == x.max()
    assert (bits.numpy() == 0xFFFFFFFF).all()


@wp.kernel
def tickets(counter: wp.array(dtype=int), owner: wp.array(dtype=int)):
    slot = wp.atomic_add(counter, 0, 1)
    owner[slot] = wp.tid()


def test_atomic_add_hands_out_unique_slots(device):
    n = 5000
    counter = wp.zeros(1, dtype=int, device=device)
    owner = wp.full(n, -1, dtype=int, device=device)
    wp.launch(tickets, dim=n, inputs=[counter, owner], device=device)
    np.testing.assert_array_equal(np.sort(owner.numpy()), np.arange(n))


def test_variables_hold_arrays_of_several_dimensions(device):
    @wp.kernel
    def parts(grid: wp.array2d[int], out: wp.array[int]):
        part = grid[1:]
        out[0] = part[0, 1]
        part = grid[0]
        out[1] = part[2]

    out = wp.zeros(2, dtype=int, device=device)
    wp.launch(parts, 1, inputs=[wp.array(np.arange(6).reshape(2, 3), dtype=int, device=device), out], device=device)
    assert list(out.numpy()) == [4, 2]


@wp.struct
class Placed:
    at: wp.vec3
    mass: float


@wp.kernel
def scattered_elements(
    index: wp.array(dtype=int),
    pairs: wp.array(dtype=wp.vec2),
    points: wp.array(dtype=wp.vec3),
    turns: wp.array(dtype=wp.quat),
    cells: wp.array2d(dtype=wp.types.vector(length=3, dtype=wp.int32)),
    placed: wp.array(dtype=Placed),
    out: wp.array2d(dtype=float),
):
    i = wp.tid()
    k = index[i]
    # Where there is no thread, or this one does nothing, an index may lead anywhere.
    if k >= 0:
        p = pairs[k]
        out[i, 0] = p[0] + 2.0 * p[1]
        out[i, 1] = wp.dot(points[k], wp.vec3(1.0, 2.0, 4.0))
        q = turns[k]
        out[i, 2] = q[0] + 2.0 * q[1] + 4.0 * q[2] + 8.0 * q[3]
        c = cells[k, k % 2]
        out[i, 3] = float(c[0] + 10 * c[1] + 100 * c[2])
        out[i, 4] = wp.length(placed[k].at) + placed[k].mass


@pytest.mark.parametrize("n", [1, 4, 15, 16, 37, 1000])
def test_elements_at_scattered_places(device, n):
    rng = np.random.default_rng(n)
    index = rng.integers(0, n, n).astype(np.int32)
    index[rng.random(n) < 0.3] = np.iinfo(np.int32).min
    pairs, points, turns = (rng.random((n, width)).astype(np.float32) for width in (2, 3, 4))
    cells = rng.integers(0, 9, (n, 2, 3)).astype(np.int32)
    data = np.zeros(n, dtype=Placed.numpy_dtype())
    data["at"], data["mass"] = points, pairs[:, 0]
    out = wp.zeros((n, 5), dtype=float, device=device)
    arrays = [
        wp.array(index, dtype=int, device=device),
        wp.array(pairs, dtype=wp.vec2, device=device),
        wp.array(points, dtype=wp.vec3, device=device),
        wp.array(turns, dtype=wp.quat, device=device),
        wp.array(cells, dtype=wp.types.vector(length=3, dtype=wp.int32), device=device),
        wp.array(data, dtype=Placed, device=device),
    ]
    wp.launch(scattered_elements, n, arrays, [out], device=device)
    active, k = index >= 0, np.where(index >= 0, index, 0)
    expected = np.stack(
        [
            pairs[k] @ [1.0, 2.0],
            points[k] @ [1.0, 2.0, 4.0],
            turns[k] @ [1.0, 2.0, 4.0, 8.0],
            cells[k, k % 2] @ [1.0, 10.0, 100.0],
            np.linalg.norm(points[k], axis=1) + pairs[k, 0],
        ],
        axis=1,
    )
    np.testing.assert_allclose(out.numpy(), np.where(active[:, None], expected, 0.0), rtol=1e-5)


@wp.kernel
def grow(x: wp.array(dtype=float), factor: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    for j in range(factor.shape[0]):
        y[i] = y[i] + x[i] * factor[j]


@wp.kernel
def grow_vectors(x: wp.array(dtype=wp.vec3), factor: wp.array(dtype=float), y: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    for j in range(factor.shape[0]):
        if factor[j] < 0.0:
            break
        for k in range(2):
            y[i] += x[i] * factor[j] * float(k + 1)


@pytest.mark.parametrize("count", [1, 16, 1000])
@pytest.mark.parametrize("shift", [0, 1, 1000])
def test_what_a_loop_keeps_in_an_element_is_seen_by_reads_of_the_same_memory(count, shift, device):
    # Whole numbers, so that all sums are exact.
    values = np.arange(2001, dtype=np.float32) % 5
    factor = wp.array([1.0, 2.0, 3.0], dtype=float, device=device)
    memory = wp.array(values, dtype=float, device=device)
    x, y = memory[:1000], memory[shift : shift + 1000]
    if shift == 1:
        # Threads write what their neighbours read: only one at a time has one result.
        count = 1
    wp.launch(grow, count, [x, factor, y], device=device)
    wanted = values.copy()
    for i in range(count):
        for f in (1.0, 2.0, 3.0):
            wanted[shift + i] += wanted[i] * f
    np.testing.assert_array_equal(memory.numpy(), wanted)


@pytest.mark.parametrize("same", [True, False])
def test_what_nested_loops_keep_in_a_vector_is_seen_by_reads_of_the_same_memory(same, device):
    values = np.arange(300, dtype=np.float32).reshape(100, 3) % 7
    factor = wp.array([1.0, 2.0, -1.0, 5.0], dtype=float, device=device)
    y = wp.array(values, dtype=wp.vec3, device=device)
    x = y if same else wp.clone(y)
    wp.launch(grow_vectors, 100, [x, factor, y], device=device)
    wanted = values.copy()
    for f in (1.0, 2.0, 2.0, 4.0):
        wanted += (wanted if same else values) * f
    np.testing.assert_array_equal(y.numpy(), wanted)
