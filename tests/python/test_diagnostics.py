"""What a mistake in a kernel says: code, file and line, source text, caret, what is wrong, what to do.

Only inkle makes this promise. The wording is free; what is checked is that the message leads to the mistake.
"""

import re

import pytest
from _support import line_of, load
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: its messages have no codes, carets or help")

CODE = re.compile(r"error\[([A-Z]\d{3})\]")

TEMPLATE = """
GAIN = wp.constant(2.5)

@wp.struct
class Cell:
    level: float

@wp.func
def half(x: float) -> float:
    return x * 0.5

def undecorated(x):
    return x

@wp.kernel(module="unique")
def guilty(n: int, f: float, d: wp.float64, v: wp.vec3, m: wp.mat33, cell: Cell, a: wp.array(dtype=float), g: wp.array2d(dtype=float)):
    i = wp.tid()
{body}
"""

# The mistake, words that the message has to contain, and whether it has to offer help.
MISTAKES = {
    "operand types": ("x = f + n  # HERE", ["float32", "int32"], True),
    "literal type": ("x = f * 2  # HERE", ["float32", "int32"], True),
    "double and float": ("x = d + 1.0  # HERE", ["float64", "float32"], True),
    "vector times vector": ("x = v * v  # HERE", ["vec3", "cw_mul"], True),
    "matrix shapes": ("x = m * wp.vec2(1.0, 2.0)  # HERE", ["mat33", "vec2"], False),
    "integer power": ("x = n ** 2  # HERE", ["int32"], False),
    "bitwise on floats": ("x = f & f  # HERE", ["float32"], False),
    "arithmetic on bool": ("x = (n > 1) + (n > 2)  # HERE", ["bool"], False),
    "vector as condition": ("if v:  # HERE\n        a[i] = 1.0", ["vec3"], False),
    "array store type": ("a[i] = n  # HERE", ["float32", "int32"], True),
    "array index type": ("a[f] = 1.0  # HERE", ["float32"], True),
    "too many indices": ("a[i, i] = 1.0  # HERE", ["2", "1"], False),
    "too few indices to store": ("g[i] = 1.0  # HERE", ["1", "2"], False),
    "index out of range": ("x = v[3]  # HERE", ["3"], False),
    "changed type": ("x = 1\n    x = 2.0  # HERE", ["x", "int32", "float32"], True),
    "branch types": ("x = f if n > 0 else n  # HERE", ["float32", "int32"], False),
    "undefined name": ("x = halve  # HERE", ["halve"], False),
    "undefined function": ("x = halv(f)  # HERE", ["halv", "half"], True),
    "undefined builtin": ("x = wp.squareroot(f)  # HERE", ["squareroot"], False),
    "misspelt builtin": ("x = wp.sqr(f)  # HERE", ["sqr", "sqrt"], True),
    "plain python function": ("x = undecorated(f)  # HERE", ["undecorated", "wp.func"], True),
    "argument type": ("x = half(n)  # HERE", ["half", "int32", "float32"], False),
    "argument count": ("x = half(f, f)  # HERE", ["half", "2"], False),
    "builtin argument": ("x = wp.sqrt(n)  # HERE", ["sqrt", "int32"], True),
    "unknown attribute": ("x = v.w  # HERE", ["w", "vec3"], False),
    "unknown field": ("x = cell.height  # HERE", ["height", "Cell", "level"], False),
    "field type": ("cell.level = n  # HERE", ["level", "float32", "int32"], False),
    "array attribute": ("x = a.length  # HERE", ["length"], False),
    "vector constructor": ("x = wp.vec3(1.0, 2.0)  # HERE", ["vec3", "2"], False),
    "unset variable": ("if n > 0:\n        x = 1.0\n    a[i] = x  # HERE", ["x"], True),
    "kernel returns a value": ("return f  # HERE", ["guilty", "return"], True),
    "list": ("x = [1, 2, 3]  # HERE", ["list"], True),
    "string method": ("x = 'a'.upper()  # HERE", [], False),
    "comprehension": ("x = [j for j in range(n)]  # HERE", ["comprehension"], False),
    "lambda": ("x = lambda y: y  # HERE", ["lambda"], True),
    "try": ("try:  # HERE\n        x = 1\n    except Exception:\n        pass", ["try"], False),
    "with": ("with f:  # HERE\n        x = 1", ["with"], False),
    "import": ("import math  # HERE", ["import"], False),
    "raise": ("raise ValueError  # HERE", ["raise"], False),
    "loop over list": ("for x in (1, 2):  # HERE\n        a[i] = f", ["range"], True),
    "range of float": ("for x in range(f):  # HERE\n        a[i] = f", ["range", "float32"], False),
    "unpacking count": ("x, y, z = n, f  # HERE", ["3", "2"], False),
    "thread index count": ("p, q, r, s, t = wp.tid()  # HERE", ["tid"], False),
    "none": ("x = None  # HERE", ["None"], False),
    "is": ("if a is None:  # HERE\n        a[i] = 1.0", ["is"], True),
    "in": ("if n in (1, 2):  # HERE\n        a[i] = 1.0", ["in"], False),
    "print many": ("print(n, f)  # HERE", ["print", "printf"], True),
}  # fmt: skip


def module_with(tmp_path, body):
    return load(
        tmp_path,
        TEMPLATE.format(body="\n".join("    " + line if k == 0 else line for k, line in enumerate(body.split("\n")))),
    )


def launch(module, data=None):
    cell = module.Cell()
    a = wp.zeros(4, dtype=float, device="cpu") if data is None else data
    inputs = [1, 1.0, 1.0, wp.vec3(1.0), wp.mat33(1.0), cell, a, wp.zeros((2, 2), dtype=float, device="cpu")]
    wp.launch(module.guilty, dim=4, inputs=inputs, device="cpu")


def message_of(module, data=None):
    with pytest.raises(Exception) as caught:
        launch(module, data)
    return str(caught.value)


def source_of(module):
    return open(module.__file__).read().splitlines()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_message(tmp_path, mistake):
    body, words, needs_help = MISTAKES[mistake]
    module = module_with(tmp_path, body)
    data = wp.zeros(4, dtype=float, device="cpu")
    message = message_of(module, data)
    assert CODE.search(message), message
    line = line_of(module.__file__, "# HERE")
    assert f"{module.__file__}:{line}" in message or re.search(
        rf"{re.escape(module.__name__)}\.py:{line}\b", message
    ), message
    assert source_of(module)[line - 1].strip() in message, message
    assert "^" in message
    for word in words:
        assert word in message, (word, message)
    if needs_help:
        assert "help" in message, message
    assert not data.numpy().any(), "part of a refused kernel ran"


def carets_of(message):
    """The source text above each row of carets."""
    lines = message.splitlines()
    marked = []
    for above, row in zip(lines, lines[1:]):
        hit = re.search(r"\^+", row)
        if hit:
            marked.append(above[hit.start() : hit.end()])
    return marked


@pytest.mark.parametrize(
    "body,text",
    [
        ("x = 1.0 + (f * n)  # HERE", "f * n"),
        ("x = half(f) + missing_name  # HERE", "missing_name"),
        ("a[i] = half(wp.sqrt(v.w))  # HERE", "v.w"),
        ("x = wp.squareroot(f)  # HERE", "wp.squareroot"),
    ],
)
def test_carets_mark_the_offending_expression(tmp_path, body, text):
    marked = carets_of(message_of(module_with(tmp_path, body)))
    assert any(text in m for m in marked), marked
    # The whole line is never what is wrong here.
    assert all(len(m.strip()) < len(body) - len("  # HERE") for m in marked), marked


def test_all_mistakes_of_a_kernel_are_reported_together(tmp_path):
    body = "x = f + n  # FIRST\n    y = undefined_thing  # SECOND\n    a[i] = n  # THIRD\n    for k in range(n):\n        z = v.w  # FOURTH"
    module = module_with(tmp_path, body)
    message = message_of(module)
    assert len(CODE.findall(message)) >= 4, message
    lines = [line_of(module.__file__, f"# {word}") for word in ("FIRST", "SECOND", "THIRD", "FOURTH")]
    places = [re.search(rf"\.py:{line}\b", message).start() for line in lines]
    assert places == sorted(places), "mistakes come in the order of the source"


def test_one_mistake_is_one_report(tmp_path):
    body = "x = undefined_thing  # HERE\n    y = x + 1.0\n    a[i] = y * x"
    assert len(CODE.findall(message_of(module_with(tmp_path, body)))) == 1


def test_codes_are_stable_and_tell_mistakes_apart(tmp_path):
    codes = {}
    for name in (
        "operand types",
        "undefined name",
        "unset variable",
        "kernel returns a value",
        "lambda",
        "argument count",
    ):
        messages = [message_of(module_with(tmp_path, MISTAKES[name][0])) for _ in range(2)]
        first, second = (CODE.search(m).group(1) for m in messages)
        assert first == second
        codes[name] = first
    assert len(set(codes.values())) == len(codes), codes
    same = CODE.search(message_of(module_with(tmp_path, "q = d * f  # HERE"))).group(1)
    assert same == codes["operand types"]


def test_mistake_in_a_function_points_into_the_function(tmp_path):
    module = load(
        tmp_path,
        """
        @wp.func
        def broken(x: float) -> float:
            return x + 1  # HERE

        @wp.kernel(module="unique")
        def guilty(a: wp.array(dtype=float)):
            a[0] = broken(a[0])
        """,
    )
    a = wp.zeros(1, dtype=float, device="cpu")
    with pytest.raises(Exception) as caught:
        wp.launch(module.guilty, dim=1, inputs=[a], device="cpu")
    message = str(caught.value)
    assert CODE.search(message) and f".py:{line_of(module.__file__, '# HERE')}" in message and "x + 1" in message


def test_recursion_names_the_function(tmp_path):
    module = load(
        tmp_path,
        """
        @wp.func
        def spiral(x: float) -> float:
            return spiral(x - 1.0)  # HERE

        @wp.kernel(module="unique")
        def guilty(a: wp.array(dtype=float)):
            a[0] = spiral(a[0])
        """,
    )
    with pytest.raises(Exception) as caught:
        wp.launch(module.guilty, dim=1, inputs=[wp.zeros(1, dtype=float, device="cpu")], device="cpu")
    assert CODE.search(str(caught.value)) and "spiral" in str(caught.value) and "recurs" in str(caught.value)


def test_same_report_at_every_launch_and_from_every_way_in(tmp_path):
    module = module_with(tmp_path, "a[i] = 1.0\n    x = f + n  # HERE")
    data = wp.zeros(4, dtype=float, device="cpu")
    messages = [message_of(module, data) for _ in range(3)]
    with pytest.raises(Exception) as caught:
        wp.load_module(module.guilty.module, device="cpu")
    assert CODE.search(str(caught.value))
    messages.append(message_of(module, data))
    assert len(set(messages)) == 1 and not data.numpy().any()


def test_a_broken_kernel_leaves_the_others_alone(tmp_path):
    module = load(
        tmp_path,
        """
        @wp.kernel
        def healthy(a: wp.array(dtype=float)):
            a[wp.tid()] = 3.0

        @wp.kernel
        def guilty(a: wp.array(dtype=float)):
            a[0] = 1
        """,
    )
    a = wp.zeros(2, dtype=float, device="cpu")
    with pytest.raises(Exception, match=r"error\["):
        wp.launch(module.guilty, dim=1, inputs=[a], device="cpu")
    wp.launch(module.healthy, dim=2, inputs=[a], device="cpu")
    assert a.numpy().tolist() == [3.0, 3.0]


def test_carets_line_up_with_wide_and_tabbed_source(tmp_path):
    module = module_with(tmp_path, "größe = f  # ein Wort\n    x = größe + n  # HERE")
    message = message_of(module)
    assert any("größe + n" in m for m in carets_of(message)), message


def test_exception_carries_the_diagnostics_as_data(tmp_path):
    module = module_with(tmp_path, "x = f + n  # HERE\n    y = undefined_thing")
    with pytest.raises(wp.CompileError) as caught:
        launch(module)
    assert isinstance(caught.value, RuntimeError)
    first, second = caught.value.diagnostics
    line = line_of(module.__file__, "# HERE")
    assert (first["line"], second["line"]) == (line, line + 1) and first["file"] == module.__file__
    assert source_of(module)[line - 1][first["column"] - 1 :].startswith("f + n")
    assert [d["code"] for d in (first, second)] == CODE.findall(str(caught.value))
    assert first["message"] in str(caught.value) and first["help"] in str(caught.value)


OUTSIDE = """
import numpy as np
TABLE = wp.zeros(3, dtype=float, device="cpu")
NUMBERS = np.zeros(3)
LIST = [1.0, 2.0]
def plain(x): return x

@wp.kernel(module="unique")
def guilty(out: wp.array(dtype=float)):
    out[0] = {value}  # HERE
"""


@pytest.mark.parametrize(
    "value, words",
    {
        "TABLE[0]": "`TABLE` is an array outside the kernel (pass it as an argument)",
        "NUMBERS[0]": "help: pass it to the kernel as an argument",
        "LIST[0]": "`LIST` is a list (a tuple would be a constant)",
        "plain(1.0)": "`plain` is a Python function without `@wp.func`",
        "wp.sinn(1.0)": "did you mean `sin`?",
    }.items(),
)
def test_what_lies_outside_the_kernel(tmp_path, value, words):
    module = load(tmp_path, OUTSIDE.format(value=value))
    with pytest.raises(Exception) as caught:
        wp.launch(module.guilty, 1, inputs=[wp.zeros(1, dtype=float, device="cpu")], device="cpu")
    assert words in str(caught.value)


def test_an_array_s_annotation_needs_its_elements(tmp_path):
    module = load(tmp_path, '@wp.kernel(module="unique")\ndef guilty(out: wp.array):\n    pass\n')
    with pytest.raises(Exception, match=r"say what it holds: `wp.array\(dtype=float\)`"):
        wp.launch(module.guilty, 1, inputs=[wp.zeros(1, dtype=float, device="cpu")], device="cpu")


def test_code_that_exec_runs_has_no_source():
    scope = {"wp": wp}
    exec("@wp.kernel\ndef guilty(out: wp.array(dtype=float)):\n    out[0] = 1.0\n", scope)
    with pytest.raises(Exception, match="text given to `exec` is not kept by Python"):
        wp.launch(scope["guilty"], 1, inputs=[wp.zeros(1, dtype=float, device="cpu")], device="cpu")
