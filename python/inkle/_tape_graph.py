"""Drawing a tape: its launches and the arrays between them, in GraphViz's language."""

import subprocess

from inkle import _native


def _quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _arrays(value, name):
    """``(name, array)`` of an argument and of the arrays in it."""
    if isinstance(value, (_native.array, _native.indexedarray)):
        yield name, value
    elif isinstance(value, _native.StructInstance):
        for field in value._cls.vars:
            yield from _arrays(getattr(value, field), f"{name}.{field}")


def _repeated(launches, start, stop):
    """``(first, last, times)``: what stands there and is done ``times`` times in a row, in order."""
    at = start
    while at < stop:
        best = (1, 1)
        for length in range(1, (stop - at) // 2 + 1):
            unit = launches[at : at + length]
            times = 1
            while (
                at + (times + 1) * length <= stop and launches[at + times * length : at + (times + 1) * length] == unit
            ):
                times += 1
            if times > 1 and times * length > best[0] * best[1]:
                best = (length, times)
                break
        length, times = best
        yield at, at + length, times
        at += length * times


class _Drawing:
    def __init__(self, tape, labels, longest, hidden, direction):
        self.tape, self.labels, self.longest, self.hidden = tape, labels, longest, hidden
        self.lines = ["digraph tape {", f"  graph [rankdir={direction}];", "  node [fontname=sans];"]
        self.names, self.arrays, self.written, self.edges = {}, {}, set(), []

    def launch(self, index, indent):
        launch = self.tape.launches[index]
        node = f"op{index}"
        if callable(launch):
            self.lines.append(f"{indent}{node} [shape=box, style=dashed, label={_quoted('function')}];")
            return
        kernel, dim, _, inputs, outputs, device, *_ = launch
        tooltip = f"kernel {kernel.key}, dim {dim}, on {device}"
        self.lines.append(
            f"{indent}{node} [shape=box, style=filled, fillcolor=lightblue, label={_quoted(kernel.key)},"
            f" tooltip={_quoted(tooltip)}];"
        )
        names = kernel.parameter_names
        for place, argument in enumerate((*inputs, *outputs)):
            parameter = names[place] if place < len(names) else f"argument {place}"
            for name, array in _arrays(argument, parameter):
                self.array(name, array)
                if place < len(inputs):
                    self.edges.append((array, node, True))
                else:
                    self.written.add(id(array))
                    self.edges.append((array, node, False))

    def array(self, name, array):
        self.arrays[id(array)] = array
        known = self.names.get(id(array))
        if known is None or (self.longest and len(name) > len(known)):
            self.names[id(array)] = name

    def part(self, start, stop, simplify, indent):
        """The launches of a range, what repeats in a box of its own."""
        keys = [r if callable(r) else (r[0].key, *(id(a) for a in (*r[3], *r[4]))) for r in self.tape.launches]
        spans = _repeated(keys, start, stop) if simplify else ((i, i + 1, 1) for i in range(start, stop))
        for first, last, times in spans:
            inner = indent
            if times > 1:
                self.lines.append(f"{indent}subgraph cluster_repeat{first} {{")
                self.lines.append(f"{indent}  label={_quoted(f'repeated {times}x')};")
                inner = indent + "  "
            for index in range(first, last):
                self.launch(index, inner)
            if times > 1:
                self.lines.append(f"{indent}}}")

    def finish(self, shown):
        for array in shown:
            self.array(self.labels.get(array, "array"), array)
        keep = {id(array) for array in shown}
        visible = {
            key: array for key, array in self.arrays.items() if not self.hidden or key in self.written or key in keep
        }
        for key, array in visible.items():
            label = self.labels.get(array, self.names[key])
            fill = "lightgreen" if array.grad is not None else "white"
            tooltip = f"array: dtype={_native.type_repr(array.dtype)}, shape={tuple(array.shape)}, ptr={array.ptr}"
            self.lines.append(
                f"  array{key} [style=filled, fillcolor={fill}, label={_quoted(label)}, tooltip={_quoted(tooltip)}];"
            )
        for array, node, is_input in dict.fromkeys((id(a), n, i) for a, n, i in self.edges):
            if array in visible:
                ends = (f"array{array}", node) if is_input else (node, f"array{array}")
                self.lines.append(f"  {ends[0]} -> {ends[1]};")
        self.lines.append("}")
        return "\n".join(self.lines) + "\n"


def draw(tape, simplify, hide_readonly, labels, longest, scopes, shown, direction):
    """The tape as text."""
    drawing = _Drawing(tape, labels, longest, hide_readonly, direction)
    at, depth = 0, 1
    for number, (place, name, _) in enumerate(tape.scopes if scopes else ()):
        drawing.part(at, place, simplify, "  " * depth)
        at = place
        if name is None:
            depth -= 1
            drawing.lines.append("  " * depth + "}")
        else:
            drawing.lines.append("  " * depth + f"subgraph cluster_scope{number} {{")
            depth += 1
            drawing.lines.append("  " * depth + f"label={_quoted(name)};")
    drawing.part(at, len(tape.launches), simplify, "  " * depth)
    while depth > 1:
        depth -= 1
        drawing.lines.append("  " * depth + "}")
    return drawing.finish(shown)


def write(text, filename):
    """Writes GraphViz text to a file, or what GraphViz makes of it when the name ends in `.svg`."""
    if not str(filename).endswith(".svg"):
        with open(filename, "w") as file:
            file.write(text)
        return
    try:
        subprocess.run(["dot", "-Tsvg", "-o", str(filename)], input=text, text=True, check=True)
    except FileNotFoundError:
        raise RuntimeError(
            "an SVG file is drawn by GraphViz's `dot`, which is not installed; write a `.dot` file"
        ) from None
