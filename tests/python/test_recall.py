"""Kernels known without a check: in a later process or another definition, and never when anything they reach has changed."""

import json

import pytest
from _support import HEADER, child_path, differs_from_warp, load, run_child
from _wp import wp

pytestmark = differs_from_warp("Warp reads every kernel's source at each start")

# `probe` reaches everything that a variant may change; FIRST and SECOND are what a variant is before and after.
PROGRAM = """
import enum, os, types
wp.config.kernel_cache_dir = os.environ["TEST_CACHE"]
SCALE = {SCALE}
SHIFT = wp.constant({SHIFT})
space = types.SimpleNamespace(depth={DEPTH})

class Level(enum.IntEnum):
    LOW = {LEVEL}

@wp.struct
class Pair:
    {FIELDS}
    EXTRA = {EXTRA}

    @wp.func
    def share(x: float):
        return x * {SHARE}

{DEEPER}

@wp.func
def deep(x: float, more: float = {DEFAULT}):
    return {DEEP} + more

@wp.func
def helper(x: float):
    return deep(x) * 2.0

@wp.func
def generic(x: {ANNOTATION}):
    return float(x / {ANNOTATION}(2))

{OVERLOAD}

def make(captured):
    @wp.kernel
    def probe(out: wp.array(dtype=float), pairs: wp.array(dtype=Pair)):
        pair = pairs[0]
        s = float(0.0)
        for i in range(12):
            s += float(i % {TURNS})
        out[0] = (
            helper(1.0) + captured * 100.0 + SCALE + SHIFT + float(space.depth) + float(int(Level.LOW))
            + pair.a * 1000.0 + pair.EXTRA + pairs[0].share(2.0) + generic({ANNOTATION}(5)) + float(wp.static(len(NAMES))) + s
        )

    return probe

NAMES = {NAMES}
probe = make({CAPTURED})
pair = Pair()
pair.a = 7.0
pair.b = 3.0
out = wp.zeros(1, dtype=float, device="cpu")
pairs = wp.array([pair], dtype=Pair, device="cpu")
wp.launch(probe, dim=1, inputs=[out, pairs], device="cpu")
{AFTER}
print("RESULT", out.numpy()[0])
"""

BASE = {
    "SCALE": "1.0",
    "SHIFT": "2.0",
    "DEPTH": "3",
    "LEVEL": "4",
    "FIELDS": "a: float\n    b: float",
    "EXTRA": "8.0",
    "SHARE": "0.5",
    "DEEPER": "",
    "DEFAULT": "0.25",
    "DEEP": "x + 1.0",
    "ANNOTATION": "float",
    "OVERLOAD": "",
    "TURNS": "12",
    "NAMES": "['x', 'y']",
    "CAPTURED": "5.0",
    "AFTER": "",
}
BASE_RESULT = (
    (1.0 + 1.0 + 0.25) * 2.0 + 500.0 + 1.0 + 2.0 + 3.0 + 4.0 + 7000.0 + 9.0 + 2.5 + 2.0 + float(sum(range(12)))
)

CHANGES = {
    "a global number": ({"SCALE": "11.0"}, 10.0),
    "the type of a global number": ({"SCALE": "wp.float32(2.5)"}, 1.5),
    "a constant": ({"SHIFT": "12.0"}, 10.0),
    "an attribute": ({"DEPTH": "13"}, 10.0),
    "a member of an enumeration": ({"LEVEL": "14"}, 10.0),
    "a captured value": ({"CAPTURED": "6.0"}, 100.0),
    "the text of a function of a function": ({"DEEP": "x + 2.0"}, 2.0),
    "the default of a parameter": ({"DEFAULT": "0.75"}, 1.0),
    "the layout of a struct": ({"FIELDS": "b: float\n    a: float"}, 0.0),
    "the type of a field": ({"FIELDS": "a: float\n    b: wp.float64"}, 0.0),
    "a constant of a struct": ({"EXTRA": "18.0"}, 10.0),
    "a function of a struct": ({"SHARE": "1.5"}, 2.0),
    "an annotation": ({"ANNOTATION": "int"}, -0.5),
    "what Python evaluates": ({"NAMES": "['x', 'y', 'z']"}, 1.0),
    "an overload": ({"OVERLOAD": "@wp.func\ndef helper(x: wp.float32):\n    return 0.0"}, -4.5),
    "a name that is bound again": ({"DEEPER": "from math import pi as SCALE"}, 3.141592653589793 - 1.0),
    "the kernel": ({"TURNS": "6"}, -36.0),
}


class Program:
    """The program of these tests in a folder of its own, and what one run of it gives."""

    def __init__(self, folder):
        self.path, self.trace, self.cache = folder / "program.py", folder / "trace.json", folder / "cache"

    def run(self, changes=(), environment=()):
        """`(result, whether a kernel was checked)`."""
        self.path.write_text(HEADER + PROGRAM.format(**{**BASE, **dict(changes)}))
        self.trace.unlink(missing_ok=True)
        env = {
            **child_path(),
            "TEST_CACHE": str(self.cache),
            "INKLE_COMPILE_TIME_TRACE": str(self.trace),
            **dict(environment),
        }
        done = run_child(self.path, env=env)
        (result,) = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RESULT")]
        stages = {event.get("cat") for event in json.loads(self.trace.read_text())["traceEvents"]}
        return float(result), "IR" in stages


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program after a run, so that its kernel is known."""
    program = Program(tmp_path_factory.mktemp("recall"))
    assert program.run() == (BASE_RESULT, True)
    return program


def test_a_later_process_checks_nothing(program):
    assert program.run() == (BASE_RESULT, False)


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.replace(" ", "-"))
def test_a_change_of_anything_reached_is_seen(program, change):
    changes, difference = CHANGES[change]
    result, checked = program.run(changes)
    assert result == pytest.approx(BASE_RESULT + difference, rel=1e-6)
    assert checked
    # Both are known from now on.
    assert program.run(changes) == (result, False)
    assert program.run() == (BASE_RESULT, False)


def test_text_elsewhere_in_the_file_does_not_matter(program):
    assert program.run({"DEEPER": "# A comment\n\nOTHER = 7"}) == (BASE_RESULT, False)


def test_code_with_checks_is_made_from_a_check_since_it_tells_places(program):
    debug = {"AFTER": "wp.config.mode = 'debug'\nwp.launch(probe, dim=1, inputs=[out, pairs], device='cpu')"}
    assert program.run(debug) == (BASE_RESULT, True)
    assert program.run(debug) == (BASE_RESULT, True)


def test_gradients_of_a_known_kernel_are_those_of_a_checked_one(program):
    backward = {
        "AFTER": (
            "wp.config.enable_backward = True\n"
            "x = wp.array([2.0], dtype=float, device='cpu', requires_grad=True)\n"
            "y = wp.zeros(1, dtype=float, device='cpu', requires_grad=True)\n"
            "@wp.kernel\n"
            "def cube(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n"
            "    y[0] = x[0] * x[0] * helper(x[0])\n"
            "with wp.Tape() as tape:\n"
            "    wp.launch(cube, dim=1, inputs=[x, y], device='cpu')\n"
            "y.grad.fill_(1.0)\n"
            "tape.backward()\n"
            "out = x.grad\n"
        ),
    }
    # y = 2 x^3 + 2.5 x^2
    want = 6.0 * 4.0 + 5.0 * 2.0
    assert program.run(backward)[0] == want
    assert program.run(backward)[0] == want


@pytest.mark.parametrize("damage", ["cut", "flipped", "removed"])
def test_damaged_notes_cost_a_check(tmp_path, damage):
    program = Program(tmp_path)
    assert program.run() == (BASE_RESULT, True)
    notes = list(program.cache.rglob("*.ix"))
    assert notes
    for note in notes:
        whole = note.read_bytes()
        if damage == "cut":
            note.write_bytes(whole[: len(whole) // 2])
        elif damage == "flipped":
            note.write_bytes(whole[:-9] + bytes([whole[-9] ^ 4]) + whole[-8:])
        else:
            note.unlink()
    assert program.run() == (BASE_RESULT, True)
    assert program.run() == (BASE_RESULT, False)


def test_clearing_the_cache_removes_notes(program, tmp_path):
    other = Program(tmp_path)
    other.run()
    assert list(other.cache.rglob("*.ix"))
    assert other.run({"AFTER": "wp.clear_kernel_cache()"})[0] == BASE_RESULT
    assert not list(other.cache.rglob("*.ix"))


def test_warnings_are_given_in_every_process(tmp_path):
    path = tmp_path / "doubtful.py"
    path.write_text(
        HEADER
        + f"""
wp.config.kernel_cache_dir = {str(tmp_path / "cache")!r}

@wp.kernel
def doubtful(n: int, out: wp.array(dtype=int)):
    if n > 0:
        value = n
    if n > 0:
        out[0] = value

out = wp.zeros(1, dtype=int, device="cpu")
wp.launch(doubtful, dim=1, inputs=[3, out], device="cpu")
print("RESULT", out.numpy()[0])
"""
    )
    first, second = (run_child(path, env=child_path()) for _ in range(2))
    assert "value" in first.stdout + first.stderr
    assert (first.stdout + first.stderr).count("value") == (second.stdout + second.stderr).count("value")


def test_a_kernel_defined_again_is_the_one_that_is_loaded(tmp_path):
    source = load(
        tmp_path,
        """
        def make(scale):
            @wp.kernel
            def scaled(out: wp.array(dtype=float)):
                out[0] = float(scale)

            return scaled
        """,
    )
    out = wp.zeros(1, dtype=float, device="cpu")

    def launched(scale):
        wp.launch(source.make(scale), dim=1, inputs=[out], device="cpu")
        return float(out.numpy()[0])

    assert [launched(s) for s in (1.0, 2.0, 1.0, 2.0, 3.0)] == [1.0, 2.0, 1.0, 2.0, 3.0]
    # More than are kept in memory.
    assert [launched(float(s)) for s in range(80)] == [float(s) for s in range(80)]
    assert launched(0.0) == 0.0
    # Equal in Python and different in kernels.
    assert launched(1) == 1.0
    assert launched(True) == 1.0
