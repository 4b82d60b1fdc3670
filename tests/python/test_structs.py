"""wp.struct: values from Python, fields in kernels, nested structs, arrays in structs and arrays of structs."""

import copy
import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from _support import differs_from_warp, kernel_from, load, run
from _wp import wp


@wp.struct
class Material:
    density: float
    kind: int
    axis: wp.vec3


@wp.struct
class Body:
    mass: wp.float64
    flag: wp.bool
    tiny: wp.int8
    material: Material
    pose: wp.transform
    inertia: wp.mat33
    points: wp.array(dtype=wp.vec3)
    grid: wp.array2d(dtype=float)


def body(device):
    b = Body()
    b.mass = 2.5
    b.flag = True
    b.tiny = -7
    b.material.density = 0.5
    b.material.kind = 3
    b.material.axis = wp.vec3(1.0, 2.0, 3.0)
    b.pose = wp.transform(wp.vec3(4.0, 5.0, 6.0), wp.quat_identity())
    b.inertia = wp.mat33(*np.eye(3).ravel())
    b.points = wp.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=wp.vec3, device=device)
    b.grid = wp.zeros((2, 2), dtype=float, device=device)
    return b


@wp.kernel
def read(b: Body, n: int, out: wp.array(dtype=float)):
    out[0] = float(b.mass)
    out[1] = float(b.flag)
    out[2] = float(b.tiny)
    out[3] = b.material.density + float(b.material.kind)
    out[4] = b.material.axis[1] + b.material.axis.z
    out[5] = b.pose.p.x
    out[6] = b.inertia[n, n]
    out[7] = b.points[1].y + b.points[0][2]
    out[8] = float(b.points.shape[0] * 10 + b.grid.shape[1])
    b.grid[1, 0] = 8.0
    b.points[0] = wp.vec3(7.0, 7.0, 7.0)


def test_reading_every_kind_of_field(device):
    b = body(device)
    assert run(read, float, 9, b, 1, device=device).tolist() == [2.5, 1.0, -7.0, 3.5, 5.0, 4.0, 1.0, 8.0, 22.0]
    assert b.grid.numpy().tolist() == [[0.0, 0.0], [8.0, 0.0]]
    assert b.points.numpy()[0].tolist() == [7.0, 7.0, 7.0]


@wp.func
def heavier(b: Body, factor: wp.float64) -> Body:
    b.mass = b.mass * factor
    b.material.axis[0] += 1.0
    return b


@wp.func
def make_material(density: float, kind: int):
    m = Material()
    m.density = density
    m.kind = kind
    return m


@wp.kernel
def write(b: Body, out: wp.array(dtype=float)):
    c = heavier(b, wp.float64(2.0))
    out[0] = float(b.mass)
    out[1] = float(c.mass)
    out[2] = b.material.axis[0]
    out[3] = c.material.axis[0]
    c.material = make_material(9.0, 4)
    out[4] = c.material.density + float(c.material.kind)
    d = Material(1.5, 2, wp.vec3(1.0, 1.0, 1.0))
    d.density *= 2.0
    d.axis.y = 6.0
    out[5] = d.density + d.axis[1]
    e = Material()
    out[6] = e.density + float(e.kind) + e.axis[2]
    b.mass = wp.float64(77.0)
    out[7] = float(b.mass)


def test_structs_are_values_in_kernels(device):
    b = body(device)
    assert run(write, float, 8, b, device=device).tolist() == [2.5, 5.0, 1.0, 2.0, 13.0, 9.0, 0.0, 77.0]
    assert b.mass == 2.5 and list(b.material.axis) == [1.0, 2.0, 3.0]


@wp.kernel
def update(items: wp.array(dtype=Material), out: wp.array(dtype=float)):
    i = wp.tid()
    items[i].density += 1.0
    items[i].axis[1] = float(i)
    items[i].axis.x *= 2.0
    copy = items[i]
    copy.density = 100.0
    out[i] = items[i].density + float(items[i].kind)
    if i == 1:
        items[i] = copy


def test_arrays_of_structs(device):
    values = []
    for i in range(3):
        m = Material()
        m.density, m.kind, m.axis = 0.5 * i, i, wp.vec3(1.0, 2.0, 3.0)
        values.append(m)
    items = wp.array(values, dtype=Material, device=device)
    assert run(update, float, 3, items, dim=3, device=device).tolist() == [1.0, 2.5, 4.0]
    got = items.numpy()
    assert got["density"].tolist() == [1.0, 100.0, 2.0] and got["kind"].tolist() == [0, 1, 2]
    assert got["axis"].tolist() == [[2.0, 0.0, 3.0], [2.0, 1.0, 3.0], [2.0, 2.0, 3.0]]


def test_struct_arrays_to_and_from_numpy(device):
    zeros = wp.zeros(4, dtype=Material, device=device)
    assert zeros.numpy()["kind"].tolist() == [0, 0, 0, 0]
    data = np.zeros(2, dtype=Material.numpy_dtype())
    data["density"] = [1.0, 2.0]
    data["axis"] = [[1, 2, 3], [4, 5, 6]]
    items = wp.array(data, dtype=Material, device=device)
    np.testing.assert_array_equal(items.numpy(), data)
    twice = wp.clone(items)
    np.testing.assert_array_equal(twice.numpy(), data)


@wp.struct
class Mixed:
    a: wp.int8
    b: wp.float64
    c: wp.int16
    d: wp.vec3h
    e: wp.uint64
    f: wp.bool


@wp.kernel
def mixed_layout(items: wp.array(dtype=Mixed), one: Mixed, out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    m = items[i]
    out[i] = wp.float64(m.a) + m.b + wp.float64(m.c) + wp.float64(m.d[2]) + wp.float64(m.e) + wp.float64(one.c)
    items[i].f = not m.f


def test_layout_agrees_with_numpy(device):
    data = np.zeros(3, dtype=Mixed.numpy_dtype())
    data["a"], data["b"], data["c"] = [-1, 2, 3], [0.5, 1.5, 2.5], [100, 200, 300]
    data["d"][:, 2], data["e"], data["f"] = [4, 5, 6], [7, 8, 9], [True, False, True]
    items = wp.array(data, dtype=Mixed, device=device)
    one = Mixed()
    one.c = 1000
    got = run(mixed_layout, wp.float64, 3, items, one, dim=3, device=device)
    assert got.tolist() == [-1 + 0.5 + 100 + 4 + 7 + 1000, 2 + 1.5 + 200 + 5 + 8 + 1000, 3 + 2.5 + 300 + 6 + 9 + 1000]
    assert items.numpy()["f"].tolist() == [False, True, False]


def test_missing_array_field_is_none(device):
    @wp.kernel(module="unique")
    def check(b: Body, out: wp.array(dtype=int)):
        if b.points:
            out[0] = 1
        else:
            out[0] = 2

    assert run(check, int, 1, Body(), device=device)[0] == 2
    assert run(check, int, 1, body(device), device=device)[0] == 1


def test_field_assignment_is_checked_in_python():
    m = Material()
    assert m.density == 0.0 and m.kind == 0 and list(m.axis) == [0.0, 0.0, 0.0]
    m.density = 3
    assert m.density == 3.0
    m.axis = (1.0, 2.0, 3.0)
    assert list(m.axis) == [1.0, 2.0, 3.0]
    with pytest.raises(Exception):  # noqa: B017
        m.density = "heavy"


BEFORE = "@wp.struct\nclass P:\n    a: float\n    v: wp.vec3\n"


@pytest.mark.parametrize(
    "body_text", ["p.a = 1", "x = p.missing", "p.missing = 1.0", "x = P(1.0)", "x = p + p", "p = 1.0"]
)
def test_mistakes_with_structs_are_refused(tmp_path, body_text):
    kernel = kernel_from(tmp_path, f"p = P()\n{body_text}\nout[0] = 1", before=BEFORE)
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017
        wp.launch(kernel, dim=1, inputs=[1, 1.0, out], device="cpu")
    assert out.numpy()[0] == 0


def test_structs_do_not_inherit():
    @wp.struct
    class Base:
        x: int

    with pytest.raises(RuntimeError, match="`Base`"):

        @wp.struct
        class Derived(Base):
            y: int


def test_none_sets_a_vector_field_to_zero():
    @wp.struct
    class Holder:
        v: wp.vec3

    holder = Holder()
    holder.v = (1.0, 2.0, 3.0)
    holder.v = None
    assert list(holder.v) == [0.0, 0.0, 0.0]
    with pytest.raises(TypeError, match="field 'v' expects vec3f but got a single value"):
        holder.v = 1.0


def test_annotations_in_quotes_where_all_are_text(tmp_path):
    # What `from __future__ import annotations` makes of a quoted annotation: text of text.
    module = load(
        tmp_path,
        """
        class Quoted:
            x: "'float'"
            v: "wp.vec3"
            a: "'wp.array(dtype=int)'"

        Quoted = wp.struct(Quoted)
    """,
    )
    quoted = module.Quoted()
    quoted.x, quoted.v = 1.5, (1.0, 2.0, 3.0)
    assert (quoted.x, list(quoted.v)) == (1.5, [1.0, 2.0, 3.0])
    quoted.a = wp.zeros(2, dtype=int, device="cpu")
    assert quoted.a.shape == (2,)


def test_a_struct_moves_with_its_arrays_to_a_device(device):
    @wp.struct
    class Inner:
        values: wp.array(dtype=float)

    @wp.struct
    class Outer:
        scale: float
        inner: Inner
        indices: wp.array(dtype=int)

    outer = Outer()
    outer.scale = 2.5
    outer.inner.values = wp.array([1.0, 2.0], dtype=float, device="cpu")
    moved = outer.to(device)
    assert moved.scale == 2.5 and moved.indices is None
    assert moved.inner.values.device == device and moved.inner.values.numpy().tolist() == [1.0, 2.0]
    assert outer.inner.values.device == "cpu"
    moved.scale = 1.0
    assert outer.scale == 2.5
    assert (moved.inner.values is outer.inner.values) == (device == "cpu")


@wp.struct
class Patch:
    body: Body
    scale: float
    samples: wp.array(dtype=float)


def test_elements_of_arrays_of_structs_tell_the_types_of_their_arrays(device):
    patch = Patch()
    patch.scale = 2.0
    patch.samples = wp.zeros(4, dtype=float, device=device)
    (listed,) = wp.array([patch], dtype=Patch, device=device).list()
    assert listed.scale == 2.0
    assert listed.samples.dtype is wp.float32 and listed.samples.ndim == 1
    assert listed.body.grid.ndim == 2


def test_numbers_of_numpy_and_booleans_fill_vectors_with_a_warning():
    @wp.struct
    class Filled:
        v: wp.vec3
        t: wp.transform

    filled = Filled()
    quiet, wp.config.quiet = wp.config.quiet, False
    try:
        with pytest.warns(DeprecationWarning, match="`float32`.*`vec3f` of struct field 'v'"):
            filled.v = np.float32(1.5)
        with pytest.warns(DeprecationWarning, match="`bool`.*`transformf` of struct field 't'"):
            filled.t = True
    finally:
        wp.config.quiet = quiet
    assert list(filled.v) == [1.5] * 3 and list(filled.t) == [1.0] * 7


@wp.struct
class Row:
    values: wp.array(dtype=float)


@wp.struct
class Table:
    rows: wp.array(dtype=Row)


def row(value, device):
    made = Row()
    made.values = wp.full(4, value, dtype=float, device=device)
    return made


@wp.kernel
def sum_rows(rows: wp.array(dtype=Row), out: wp.array(dtype=float)):
    i = wp.tid()
    for k in range(rows[i].values.shape[0]):
        out[i] += rows[i].values[k]


def sums(rows):
    # What nobody keeps is given back, and its memory is used again here.
    gc.collect()
    others = [wp.full(4, 100.0, dtype=float, device=rows.device) for _ in range(50)]
    out = wp.zeros(rows.size, dtype=float, device=rows.device)
    wp.launch(sum_rows, dim=rows.size, inputs=[rows, out], device=rows.device)
    assert others[0].numpy()[0] == 100.0
    return out.numpy().tolist()


def test_arrays_of_structs_keep_the_arrays_of_their_elements(device):
    rows = wp.array([row(1.0, device), row(2.0, device)], dtype=Row, device=device)
    assert sums(rows) == [4.0, 8.0]
    rows[1] = row(3.0, device)
    assert sums(rows) == [4.0, 12.0]
    rows.fill_(row(4.0, device))
    assert sums(rows) == [16.0, 16.0]
    rows.assign([row(5.0, device), row(6.0, device)])
    assert sums(rows) == [20.0, 24.0]


def test_copies_of_arrays_of_structs_keep_the_arrays_of_their_elements(device):
    rows = wp.array([row(1.0, device), row(2.0, device)], dtype=Row, device=device)
    copy, last = wp.clone(rows), wp.empty(1, dtype=Row, device=device)
    wp.copy(last, rows, src_offset=1, count=1)
    table = Table()
    table.rows = rows[1:]
    del rows
    assert (sums(copy), sums(last), sums(table.rows)) == ([4.0, 8.0], [8.0], [8.0])


def test_arrays_that_elements_no_longer_refer_to_are_given_back(device):
    first, second = row(1.0, device), row(2.0, device)
    lives = [weakref.ref(first.values), weakref.ref(second.values)]
    rows = wp.array([first, second], dtype=Row, device=device)
    del first, second
    assert all(life() is not None for life in lives)
    rows.fill_(row(4.0, device))
    assert all(life() is None for life in lives)


@wp.struct
class Disc:
    radius: float

    SIDES = 2

    @wp.func
    def area(disc: Any):
        return wp.pi * disc.radius * disc.radius

    @wp.func
    def twice(x: float):
        return x * 2.0

    @staticmethod
    def plain(x):
        return x + 1


@wp.kernel
def with_functions_of_the_class(radius: float, out: wp.array(dtype=float)):
    disc = Disc()
    disc.radius = radius
    out[0] = Disc.area(disc)
    out[1] = Disc.twice(disc.radius)


def test_functions_in_the_class_are_called_by_its_name(device):
    out = run(with_functions_of_the_class, float, 2, 3.0, device=device)
    np.testing.assert_allclose(out, [9.0 * np.pi, 6.0], rtol=1e-6)


@wp.struct
class Pile:
    top: Disc
    discs: wp.array(dtype=Disc)


@wp.func
def sides_of(disc: Any):
    return disc.SIDES


@wp.kernel
def with_what_values_have(pile: Pile, out: wp.array(dtype=float)):
    disc = Disc()
    disc.radius = 1.0
    out[0] = float(disc.SIDES + pile.top.SIDES + pile.discs[0].SIDES)
    out[1] = disc.twice(pile.top.radius)
    out[2] = pile.discs[0].area(disc)
    out[3] = float(sides_of(disc))
    for i in range(disc.SIDES):
        out[4] += 1.0


def test_values_have_what_is_in_the_class(device):
    pile = Pile()
    pile.top.radius = 3.0
    pile.discs = wp.zeros(1, dtype=Disc, device=device)
    out = run(with_what_values_have, float, 5, pile, device=device)
    np.testing.assert_allclose(out, [6.0, 6.0, np.pi, 2.0, 2.0], rtol=1e-6)


def test_structs_of_one_name_keep_their_own(device):
    def made(factor):
        @wp.struct
        class Scaled:
            x: float
            FACTOR = factor

            @wp.func
            def times(s: float):
                return s * wp.static(float(factor))

        @wp.kernel
        def scale(s: Scaled, out: wp.array(dtype=float)):
            out[0] = s.x * float(s.FACTOR)
            out[1] = s.times(s.x)

        return Scaled, scale

    for Scaled, scale in [made(2), made(3)]:
        scaled = Scaled()
        scaled.x = 10.0
        assert run(scale, float, 2, scaled, device=device).tolist() == [10.0 * Scaled.FACTOR] * 2


@differs_from_warp("types there know their class")
def test_what_is_not_clear_of_a_class_is_asked_for(tmp_path):
    source = """
        @wp.struct
        class Vague:
            x: float
            FACTOR = 2

        first = Vague

        @wp.struct
        class Vague:
            x: float
            FACTOR = 3

        @wp.struct
        class Holder:
            vague: Vague

        holder, Other = Holder(), Vague
        del Vague
    """
    kernel = kernel_from(tmp_path, "out[0] = h.vague.FACTOR", "h: Holder, out: wp.array(dtype=int)", source)
    with pytest.raises(wp.CompileError, match="several structs `Vague` have differently"):
        run(kernel, int, 1, sys.modules[kernel.func.__module__].holder)


@pytest.mark.parametrize("line", ["disc.SIDES = 3", "disc.SIDES += 1", "disc.edge = 1"])
def test_what_is_in_the_class_cannot_be_assigned(tmp_path, line):
    source = "@wp.struct\nclass Disc:\n    radius: float\n    SIDES = 2\n"
    kernel = kernel_from(tmp_path, f"disc = Disc()\n{line}\nout[0] = 1", "out: wp.array(dtype=int)", source)
    with pytest.raises(Exception, match="SIDES|edge"):
        run(kernel, int, 1)


@differs_from_warp("references need no function of their own")
def test_functions_that_change_arguments_are_called_by_the_name_of_the_struct(tmp_path):
    source = """
        @wp.struct
        class Disc:
            radius: float

            @wp.func
            def grow(x: wp.ref[float]):
                x = x * 2.0
    """
    body = "disc = Disc()\nr = 1.0\nfor i in range(n):\n    {}.grow(r)\nout[0] = int(r)"
    kernel = kernel_from(tmp_path, body.format("Disc"), "n: int, out: wp.array(dtype=int)", source)
    assert run(kernel, int, 1, 20)[0] == 2**20
    kernel = kernel_from(tmp_path, body.format("disc"), "n: int, out: wp.array(dtype=int)", source)
    with pytest.raises(wp.CompileError, match=r"Disc.grow\(...\)"):
        run(kernel, int, 1, 20)


def test_the_class_of_a_struct_has_what_was_written_in_it():
    assert (Disc.SIDES, Disc.twice(4.0), Disc.plain(2)) == (2, 8.0, 3)
    with pytest.raises(AttributeError, match="edge"):
        Disc.edge  # noqa: B018


@differs_from_warp("constants of a struct's class are not found")
def test_constants_in_the_class_are_known_in_kernels(tmp_path):
    body = "out[0] = Disc.SIDES"
    source = "@wp.struct\nclass Disc:\n    radius: float\n    SIDES = {}\n"
    for sides in (2, 3):
        kernel = kernel_from(tmp_path, body, "out: wp.array(dtype=int)", source.format(sides))
        assert run(kernel, int, 1)[0] == sides


@differs_from_warp("the message names no attribute")
def test_what_the_class_does_not_have_is_named(tmp_path):
    kernel = kernel_from(
        tmp_path, "out[0] = Disc.edge", "out: wp.array(dtype=int)", "@wp.struct\nclass Disc:\n    radius: float\n"
    )
    with pytest.raises(AttributeError, match="`edge` is not an attribute of the type Disc"):
        run(kernel, int, 1)


@differs_from_warp("arrays cannot be copied by the module copy")
def test_copies_share_arrays_and_deep_copies_have_their_own(device):
    original = row(1.0, device)
    shared, own = copy.copy(original), copy.deepcopy(original)
    original.values.fill_(5.0)
    assert shared.values is original.values
    assert sums(wp.array([shared, own], dtype=Row, device=device)) == [20.0, 4.0]


@differs_from_warp("arrays cannot be copied by the module copy")
def test_deep_copies_keep_what_is_one_array_one():
    @wp.struct
    class Pair:
        first: wp.array(dtype=float)
        second: wp.array(dtype=float)

    pair = Pair()
    pair.first = pair.second = wp.zeros(2, dtype=float, device="cpu")
    own = copy.deepcopy(pair)
    assert own.first is own.second
    assert own.first is not pair.first


@differs_from_warp("fields keep numbers that kernels do not see")
def test_whole_numbers_that_do_not_fit_are_refused():
    @wp.struct
    class Counts:
        many: int
        few: wp.uint8

    counts = Counts()
    counts.many, counts.few = 2**32 - 1, -1
    assert (counts.many, counts.few) == (-1, 255), "as launches take them: their bits fit"
    for name, value in (("many", 2**40), ("few", 300), ("few", -129)):
        with pytest.raises(wp.ArgumentError, match=f"'{name}' expects .* but got int {value}"):
            setattr(counts, name, value)
    assert (counts.many, counts.few) == (-1, 255)
