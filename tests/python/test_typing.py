"""What type every expression has, and which combinations are refused.

There is no implicit conversion: both operands of an arithmetic operator have the same scalar type, a literal is
int32, float32 or bool. Comparisons alone accept any two scalars.
"""

import pytest
from _support import differs_from_warp, kernel_from, load
from _wp import wp

PARAMS = """b: wp.bool, i8: wp.int8, i16: wp.int16, i32: wp.int32, i64: wp.int64,
          u8: wp.uint8, u16: wp.uint16, u32: wp.uint32, u64: wp.uint64,
          f16: wp.float16, bf16: wp.bfloat16, f32: wp.float32, f64: wp.float64,
          v3: wp.vec3, v3d: wp.vec3d, v3i: wp.vec3i, v2: wp.vec2, m33: wp.mat33, m22: wp.mat22, q: wp.quat, t: wp.transform,
          A: wp.array(dtype=float), A2: wp.array2d(dtype=float), AI: wp.array(dtype=int), AV: wp.array(dtype=wp.vec3),
          out: wp.array(dtype=int)"""

NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "vec2 vec3 vec3d vec3i mat33 mat22 quat transform"
).split()

BEFORE = """
FLOAT = wp.constant(2.5)
INT = wp.constant(7)
PLAIN = 1.5
DOUBLE = wp.constant(wp.float64(0.1))
BYTE = wp.constant(wp.uint8(200))
AXIS = wp.vec3(1.0, 2.0, 3.0)

@wp.func
def double_it(x: float):
    return x * 2.0

@wp.func
def same(x: Any):
    return x

@wp.func
def minus(x: float, y: float = 3.0):
    return x - y
""" + "\n".join(f"@wp.func\ndef code(x: wp.{name}) -> int:\n    return {i}\n" for i, name in enumerate(NAMES, 1))

RESULTS = [
    # literals and constants
    ("1", "int32"), ("1.0", "float32"), ("True", "bool"), ("wp.PI", "float32"), ("math.pi", "float32"), ("np.pi", "float32"),
    ("FLOAT", "float32"), ("INT", "int32"), ("PLAIN", "float32"), ("DOUBLE", "float64"), ("BYTE", "uint8"), ("AXIS", "vec3"),
    ("f32 + FLOAT", "float32"), ("f32 + PLAIN", "float32"), ("i32 + INT", "int32"), ("f64 + DOUBLE", "float64"),
    ("u8 + BYTE", "uint8"), ("f64 * wp.float64(wp.PI)", "float64"),
    # arithmetic keeps the operands' type
    ("i32 / 2", "int32"), ("1 / 2", "int32"), ("1 // 2", "int32"), ("f32 // f32", "float32"), ("f32 % f32", "float32"),
    ("u8 % u8", "uint8"), ("i8 * i8", "int8"), ("f16 + f16", "float16"), ("bf16 * bf16", "bfloat16"), ("f64 - f64", "float64"),
    ("f32 ** 2.0", "float32"), ("2.0 ** 3.0", "float32"), ("f64 ** f64", "float64"), ("f16 ** f16", "float16"),
    ("i32 << 1", "int32"), ("u8 << u8", "uint8"), ("i64 >> i64", "int64"), ("u16 & u16", "uint16"), ("i8 | i8", "int8"),
    ("u64 ^ u64", "uint64"), ("-u8", "uint8"), ("+u8", "uint8"), ("~u8", "uint8"), ("~i64", "int64"), ("-f16", "float16"),
    # bool
    ("b and b", "bool"), ("i32 and f32", "bool"), ("i32 or 2", "bool"), ("not b", "bool"), ("not i32", "bool"), ("not A", "bool"),
    ("A and b", "bool"), ("1.0 < f32 < 2.0", "bool"),
    # comparisons take any two scalars
    ("i32 == 1", "bool"), ("i32 == 1.0", "bool"), ("f32 < 1", "bool"), ("i32 < i64", "bool"), ("u8 >= 1", "bool"),
    ("b == True", "bool"), ("v3 == v3", "bool"), ("m33 == m33", "bool"), ("q == q", "bool"),
    # vectors
    ("v3 + v3", "vec3"), ("v3 - v3", "vec3"), ("-v3", "vec3"), ("+v3", "vec3"), ("v3 * 2.0", "vec3"), ("2.0 * v3", "vec3"),
    ("v3 / 2.0", "vec3"), ("2.0 / v3", "vec3"), ("v3 % v3", "vec3"), ("v3d * f64", "vec3d"), ("v3i * 2", "vec3i"),
    ("v3i & v3i", "vec3i"), ("v3i << v3i", "vec3i"), ("~v3i", "vec3i"), ("v3i % v3i", "vec3i"),
    ("v3[0]", "float32"), ("v3[-1]", "float32"), ("v3[i64]", "float32"), ("v3.x", "float32"), ("v3i.z", "int32"), ("v3[0:2]", "vec2"),
    ("v3[::-1]", "vec3"), ("v3[::2]", "vec2"),
    # matrices
    ("m33 * m33", "mat33"), ("m33 @ m33", "mat33"), ("m33 * v3", "vec3"), ("m33 @ v3", "vec3"), ("v3 @ m33", "vec3"),
    ("v3 * m33", "vec3"), ("m33 * 2.0", "mat33"), ("2.0 * m33", "mat33"), ("m33 / 2.0", "mat33"), ("m33 + m33", "mat33"),
    ("-m33", "mat33"), ("m33[0]", "vec3"), ("m33[-1]", "vec3"), ("m33[0, 1]", "float32"), ("m33[0][1]", "float32"),
    ("m33[:, 0]", "vec3"), ("m33[0:2, 1]", "vec2"), ("m33[0:2, 0:2]", "mat22"),
    # quaternions and transforms
    ("q * q", "quat"), ("q * 2.0", "quat"), ("2.0 * q", "quat"), ("q / 2.0", "quat"), ("q + q", "quat"), ("q - q", "quat"),
    ("-q", "quat"), ("q[0]", "float32"), ("q.w", "float32"), ("q[0:3]", "vec3"),
    ("t * t", "transform"), ("t * 2.0", "transform"), ("2.0 * t", "transform"), ("t + t", "transform"), ("t - t", "transform"),
    ("t.p", "vec3"), ("t.q", "quat"), ("t[0]", "float32"), ("t.p.x", "float32"), ("t.p[0]", "float32"),
    # conditional expressions
    ("1 if b else 2", "int32"), ("f32 if i32 else 2.0", "float32"), ("v3 if f32 > 1.0 else v3", "vec3"), ("f32 if A else 2.0", "float32"),
    # built-ins
    ("min(i32, 1)", "int32"), ("max(1, 2)", "int32"), ("min(v3, v3)", "vec3"), ("min(v3)", "float32"), ("abs(i32)", "int32"),
    ("abs(u8)", "uint8"), ("abs(v3)", "vec3"), ("round(f32)", "float32"), ("int(f64)", "int32"), ("int(b)", "int32"),
    ("float(i32)", "float32"), ("float(f64)", "float32"), ("bool(f32)", "bool"), ("len(v3)", "int32"), ("len(m33)", "int32"),
    ("len(A)", "int32"), ("len(A2)", "int32"), ("wp.sqrt(f64)", "float64"), ("wp.clamp(i32, 0, 5)", "int32"),
    ("wp.clamp(x=f32, low=0.0, high=1.0)", "float32"), ("wp.clamp(f32, high=1.0, low=0.0)", "float32"),
    ("wp.where(b, 1.0, 2.0)", "float32"), ("wp.where(A, 1.0, 2.0)", "float32"), ("wp.cast(i32, float)", "float32"),
    ("wp.int64(i32)", "int64"), ("type(i32)(1.0)", "int32"), ("A.dtype(1)", "float32"), ("v3d.dtype(1)", "float64"),
    # arrays
    ("A[0]", "float32"), ("A[i64]", "float32"), ("A[u8]", "float32"), ("A2[0, 1]", "float32"), ("A2[0][1]", "float32"),
    ("AV[0]", "vec3"), ("AV[0][1]", "float32"), ("AV[0].x", "float32"), ("A.shape[0]", "int32"), ("A2.shape[i32]", "int32"),
    ("wp.atomic_add(A, 0, 1.0)", "float32"), ("wp.atomic_add(AV, 0, v3)", "vec3"), ("wp.atomic_cas(AI, 0, 1, 2)", "int32"),
    # functions
    ("double_it(1.0)", "float32"), ("same(1)", "int32"), ("same(1.0)", "float32"), ("same(v3)", "vec3"), ("minus(1.0)", "float32"),
    ("minus(1.0, y=2.0)", "float32"), ("minus(y=1.0, x=2.0)", "float32"), ("wp.tid()", "int32"),
    # constructors: literals take the precision of what is built
    ("wp.vec3(1.0, 2, 3.0)", "vec3"), ("wp.vec3(1, 2, 3)", "vec3"), ("wp.vec3()", "vec3"), ("wp.vec3(1)", "vec3"), ("wp.vec3(f32)", "vec3"),
    ("wp.vec3(v3d)", "vec3"), ("wp.vec3(v3i)", "vec3"), ("wp.vec3d(1.0, 2.0, 3.0)", "vec3d"), ("wp.vec3d(v3)", "vec3d"),
    ("wp.vec3i(1.0, 2.0, 3.0)", "vec3i"), ("wp.vector(1.0, 2.0, 3.0)", "vec3"), ("wp.vector(f64, f64, f64)", "vec3d"),
    ("wp.vector(1.0, length=2)", "vec2"), ("wp.vector(v3, dtype=wp.float64)", "vec3d"),
    ("wp.mat22(1, 2, 3, 4)", "mat22"), ("wp.mat33()", "mat33"), ("wp.mat33(1.0)", "mat33"), ("wp.mat33(m33)", "mat33"),
    ("wp.matrix(1.0, 2.0, 3.0, 4.0, shape=(2, 2))", "mat22"), ("wp.matrix_from_rows(v3, v3, v3)", "mat33"),
    ("wp.matrix_from_cols(v2, v2)", "mat22"), ("wp.identity(n=3, dtype=float)", "mat33"), ("wp.diag(v3)", "mat33"),
    ("wp.quat(v3, 1.0)", "quat"), ("wp.quat_identity()", "quat"), ("wp.transform(v3, q)", "transform"),
    ("wp.transform(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)", "transform"), ("wp.transform_identity()", "transform"),
    ("wp.dot(v3i, v3i)", "int32"), ("wp.length(q)", "float32"), ("wp.length_sq(v3i)", "int32"), ("wp.outer(v2, v2)", "mat22"),
    ("wp.determinant(m33)", "float32"), ("wp.transpose(m22)", "mat22"), ("wp.quat_to_matrix(q)", "mat33"),
]  # fmt: skip

ERRORS = [
    "f32 + 1", "1 + f32", "f32 * 2", "2 / f32", "f32 // 2", "f32 % 2", "i32 + 1.0", "i32 * 2.5", "i64 + 1", "u8 + 1", "u64 | 1",
    "i64 << 1", "i64 << i32", "u8 & 1", "f16 + 1.0", "bf16 * 2", "f64 + 1.0", "f64 * 2", "f64 + f32", "i32 + f32", "i32 + i64",
    "u32 + i32", "i32 & i64", "f64 * wp.PI", "f64 + FLOAT", "i32 * FLOAT", "f32 * INT", "i64 * INT", "f32 + DOUBLE", "i32 + BYTE",
    "f64 + PLAIN", "2 ** 3", "f32 ** 2", "f64 ** 2.0", "i32 ** i32",
    "b + b", "b + 1", "b * f32", "b & b", "b | b", "b ^ b", "~b", "-b", "not f32", "not v3", "~f32", "f32 & f32",
    "v3 * v3", "v3 / v3", "v3 + 1.0", "1.0 + v3", "v3 * 2", "2 * v3", "v3 / 2", "v3d * 2.0", "v3d * f32", "v3i * 2.0", "v3 + v3d",
    "v3i + v3", "v3 + v2", "v3 % 2.0", "v3i // 2", "v3i // v3i", "v3i / v3i", "v3i & 1", "v3 < v3", "v3.w", "v3.xy",
    "v3[i32:]", "m33 + 1.0", "2 * m33", "m33 / 2", "m33 / m33", "m33 @ m22", "m22 * v3", "m33.x", "q * v3", "t / 2.0", "-t", "t * v3",
    "i32 if b else f32", "1 if b else 2.0", "min(i32, f32)", "min(f32, 1)", "min(i32, i64)", "max(u8, 1)", "min(i32, i32, i32)",
    "round(i32)", "bool(v3)", "sum(v3)", "str(i32)", "wp.sqrt(2)", "wp.sqrt(i32)", "wp.clamp(f32, 0, 5)", "wp.pow(f32, 2)",
    "wp.where(b, 1.0, 2)", "double_it(1)", "double_it(f64)", "double_it(f32, f32)", "double_it()", "minus(1.0, z=2.0)", "minus(1.0, 2)",
    "wp.vec3(i32, i32, i32)", "wp.vec3(f64, f64, f64)", "wp.vec3(1.0, 2.0)", "wp.vec4(v3, 1.0)", "wp.vector(1.0, 2)",
    "wp.mat33(v3, v3, v3)", "wp.mat33(1.0, 2.0)", "wp.quat(0, 0, 0, 1)", "wp.dot(v3, v3d)", "wp.length(v3i)", "wp.normalize(v3i)",
    "wp.determinant(wp.matrix(shape=(2, 3), dtype=float))", "A[f32]", "A[b]", "A[0, 1]", "A2[0, 1, 2]", "AV[0, 1]", "A.grad", "A.nonsense",
    "wp.atomic_add(A, 0, 1)", "wp.atomic_add(A2, 0, 1.0)", "wp.atomic_and(A, 0, 1.0)", "undefined_name", "undefined_function(1)",
    "wp.undefined_function(1)", "i32 in (1, 2)", "b is True", "A is None", "lambda x: x", "[1, 2]", "{1: 2}", "[i for i in range(3)]",
    "f'{i32}'", "(i32 := 3)", "None",
]  # fmt: skip


def arguments():
    scalars = [True] + [1] * 8 + [1.0] * 4
    vectors = [
        wp.vec3(1.0),
        wp.vec3d(1.0),
        wp.vec3i(1),
        wp.vec2(1.0),
        wp.mat33(1.0),
        wp.mat22(1.0),
        wp.quat(0.0, 0.0, 0.0, 1.0),
    ]
    pose = wp.transform(wp.vec3(1.0), wp.quat(0.0, 0.0, 0.0, 1.0))
    return scalars + vectors + [pose] + [
        wp.zeros(3, dtype=float, device="cpu"), wp.zeros((2, 2), dtype=float, device="cpu"),
        wp.zeros(3, dtype=int, device="cpu"), wp.zeros(3, dtype=wp.vec3, device="cpu"),
    ]  # fmt: skip


@pytest.mark.parametrize("expression,expected", RESULTS, ids=[e for e, _ in RESULTS])
def test_type_of(tmp_path, expression, expected):
    kernel = kernel_from(tmp_path, f"out[0] = code({expression})", PARAMS, BEFORE)
    out = wp.zeros(1, dtype=int, device="cpu")
    wp.launch(kernel, dim=1, inputs=[*arguments(), out], device="cpu")
    assert NAMES[out.numpy()[0] - 1] == expected


@pytest.mark.parametrize("expression", ERRORS)
def test_refused(tmp_path, expression):
    kernel = kernel_from(tmp_path, f"value = {expression}\nout[0] = 1", PARAMS, BEFORE)
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017, PT011 - the class is the diagnostics tests' business
        wp.launch(kernel, dim=1, inputs=[*arguments(), out], device="cpu")
    assert out.numpy()[0] == 0, "part of a refused kernel ran"


@differs_from_warp("a float index of a vector is accepted")
def test_float_index_of_a_vector(tmp_path):
    test_refused(tmp_path, "v3[f32]")


@differs_from_warp("an index that is known to be out of range is not diagnosed")
@pytest.mark.parametrize("expression", ["v3[3]", "v3[-4]", "m33[3]", "m33[0, 3]", "q[4]"])
def test_constant_index_out_of_range(tmp_path, expression):
    test_refused(tmp_path, expression)


STORES = [
    "A[0] = 1", "A[0] = f64", "A[0] = i32", "A[0] += 1", "AI[0] = 1.0", "AI[0] = True", "AI[0] = b", "AI[0] = i64", "AI[f32] = 1",
    "AI[b] = 1", "AI[0, 0] = 1", "A2[0] = f32", "A2[0] = A", "AV[0] = f32", "AV[0] = v3d", "v3[0] = 1", "v3.x += 1", "v3 += 1.0",
    "v3 *= v3", "i32 = 1.0", "f32 = i32", "f32 += 1", "i32 /= 2.0", "v3[0:2] = wp.vec3(1.0)", "v3[0:2] = 1.0", "q.w = 1", "t.p = q",
    "m33[0] = wp.vec2(1.0, 2.0)", "m33[0, 0] = 1",
]  # fmt: skip


@pytest.mark.parametrize("statement", STORES)
def test_store_of_another_type_is_refused(tmp_path, statement):
    kernel = kernel_from(tmp_path, f"{statement}\nout[0] = 1", PARAMS, BEFORE)
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017, PT011
        wp.launch(kernel, dim=1, inputs=[*arguments(), out], device="cpu")
    assert out.numpy()[0] == 0


CONDITIONS = [
    ("b", 1),
    ("i32", 1),
    ("u64", 1),
    ("f32", 1),
    ("A", 1),
    ("1", 1),
    ("0.0", 0),
    ("i32 - 1", 0),
    ("f32 - 1.0", 0),
]


@pytest.mark.parametrize("condition,expected", CONDITIONS)
def test_truth_of(tmp_path, condition, expected):
    kernel = kernel_from(tmp_path, f"if {condition}:\n    out[0] = 1", PARAMS, BEFORE)
    out = wp.zeros(1, dtype=int, device="cpu")
    wp.launch(kernel, dim=1, inputs=[*arguments(), out], device="cpu")
    assert out.numpy()[0] == expected


def test_unsigned_comparisons_follow_value_of_common_type(tmp_path):
    module = load(
        tmp_path,
        """
        @wp.kernel(module="unique")
        def probe(big: wp.uint32, small: wp.uint8, wide: wp.int64, out: wp.array(dtype=int)):
            out[0] = int(big > wp.uint32(5))
            out[1] = int(small == wp.uint8(255))
            out[2] = int(wide > 5)
            out[3] = int(small < 300)
            out[4] = int(wide == 5000000000.0)
        """,
    )
    out = wp.zeros(5, dtype=int, device="cpu")
    wp.launch(module.probe, dim=1, inputs=[4000000000, 255, 5_000_000_000, out], device="cpu")
    assert out.numpy().tolist() == [1, 1, 1, 1, 1]


def test_annotations_of_arrays_compare_by_meaning():
    assert wp.array[float] == wp.array[wp.float32] == wp.array(dtype=float)
    assert hash(wp.array[float]) == hash(wp.array(dtype=wp.float32, ndim=1))
    assert wp.array[float] != wp.array2d[float]
    assert wp.array[float] != wp.indexedarray[float]
    both = wp.zeros(1, dtype=float, device="cpu"), wp.zeros(1, dtype=float, device="cpu")
    assert both[0] == both[0]
    assert both[0] != both[1]
    assert len({wp.array[float], wp.array(dtype=float), both[0], both[1]}) == 3


def test_numbers_with_a_type_have_a_magnitude_and_round():
    assert abs(wp.int32(-3)) == 3
    assert abs(wp.float32(-1.5)) == 1.5
    assert round(wp.float32(1.75)) == 2
    assert round(wp.float64(2.625), 2) == 2.62
