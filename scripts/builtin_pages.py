"""Writes docs/builtins/*.md and python/inkle/__init__.pyi from the registry of built-ins.

`python scripts/builtin_pages.py` writes them, with `--check` it says which are not up to date and fails.
"""

import inspect
import pathlib
import sys

import inkle
from inkle import _native

ROOT = pathlib.Path(__file__).parents[1]
PAGES = ROOT / "docs/builtins"
STUB = ROOT / "python/inkle/__init__.pyi"

NOTATION = """\
How to read the signatures:

- `float32`, `int32` and so on are these types; `S` is any scalar type, `R` any integer or float, `I` any integer,
  `F` any float, `B` any integer or `bool`, `T` any type at all. A letter means the same type throughout a signature.
- `vec[N, S]` is a vector of length `N`, `mat[N, M, S]` a matrix of `N` rows and `M` columns, `quat[F]` a quaternion,
  `transform[F]` a rigid transform, `array[T, D]` an array of `D` dimensions.
- `ref[..]` is a variable that the function assigns to. `tuple[..]` are several results.
- Parameters with ` = ` have a default. All can be given by name.
"""


def slug(group):
    return group.lower().replace(" ", "_")


def forms_of_all():
    """Group -> name -> its forms there, as pairs of signature and documentation, in order."""
    groups = {}
    for name in _native.builtin_names():
        for group, signature, doc in _native.builtin(name).forms:
            groups.setdefault(group, {}).setdefault(name, []).append((signature, doc))
    return dict(sorted(groups.items()))


def merged(forms):
    """Forms with the same documentation together: lists of signatures, each with the documentation."""
    by_doc = {}
    for signature, doc in forms:
        by_doc.setdefault(doc, []).append(signature)
    return [(signatures, doc) for doc, signatures in by_doc.items()]


def page(group, names):
    lines = [
        f"# {group}",
        "",
        "Made by `scripts/builtin_pages.py`. The notation is explained in the [index](README.md).",
    ]
    for name, forms in names.items():
        lines += ["", f"## {name}"]
        for signatures, doc in merged(forms):
            lines += ["", "```", *(f"{name}{s or '(...)'}" for s in signatures), "```", "", doc]
    return "\n".join(lines) + "\n"


def index(groups):
    lines = [
        "# Built-in functions",
        "",
        "What kernels can call, as `wp.name(...)`. Most can be called from Python too.",
    ]
    for group, names in groups.items():
        lines += ["", f"## [{group}]({slug(group)}.md)", ""]
        lines += [", ".join(f"[{n}]({slug(group)}.md#{n})" for n in names)]
    return "\n".join([*lines, "", "## Notation", "", NOTATION])


# Stubs

ALIASES = {
    "T": "Any",
    "bool": "_builtins.bool",
    "vec": "_Vector",
    "mat": "_Matrix",
    "quat": "_Quaternion",
    "transform": "_Transform",
    "array": "array",
}
SUFFIXES = ("", "h", "f", "d")
VECTOR_SUFFIXES = (*SUFFIXES, "b", "ub", "s", "us", "i", "ui", "l", "ul")
TYPES = {
    **{f"{'u' * u}int{b}": "_Scalar" for b in (8, 16, 32, 64) for u in (0, 1)},
    **dict.fromkeys(("bool", "bfloat16", "float16", "float32", "float64"), "_Scalar"),
    **{f"vec{n}{s}": "_Vector" for n in (2, 3, 4) for s in VECTOR_SUFFIXES},
    **{f"mat{n}{n}{s}": "_Matrix" for n in (2, 3, 4) for s in SUFFIXES},
    **{f"quat{s}": "_Quaternion" for s in SUFFIXES},
    **{f"transform{s}": "_Transform" for s in SUFFIXES},
    **{f"spatial_vector{s}": "_Vector" for s in SUFFIXES},
    **{f"spatial_matrix{s}": "_Matrix" for s in SUFFIXES},
}
HEADER = '''\
# Made by `scripts/builtin_pages.py`.
# The types of kernels are checked by inkle when it compiles them; these are coarser.
import builtins as _builtins
from typing import Any, Generic, TypeAlias, TypeVar
from typing import overload as _overload

_T = TypeVar("_T")

class _Value:
    """Scalars, vectors, matrices, quaternions and transforms have the operators that kernels have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __len__(self) -> _builtins.int: ...
    def __add__(self, other: Any) -> Any: ...
    def __radd__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __rtruediv__(self, other: Any) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...

class _Scalar(_Value): ...
class _Vector(_Value): ...
class _Matrix(_Value): ...
class _Quaternion(_Value): ...
class _Transform(_Value): ...

_Number: TypeAlias = _builtins.float | _Scalar
'''


def split(text):
    """At commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


def annotation(pattern):
    head, _, inner = pattern.partition("[")
    if head == "ref":
        return annotation(inner[:-1])
    if head == "tuple":
        return f"_builtins.tuple[{', '.join(map(annotation, split(inner[:-1])))}]"
    return ALIASES.get(head, "_Number")


def parameters(text):
    out = []
    for part in split(text):
        name, _, rest = part.partition(":")
        pattern, _, default = rest.partition("=")
        out.append(f"{name}: {annotation(pattern.strip())}" + (f" = {default.strip()}" if default else ""))
    return ", ".join(out)


def definition(name, signature, doc):
    params, _, result = signature[1:].partition(") -> ") if " -> " in signature else (signature[1:-1], "", "")
    head = f"def {name}({parameters(params)}) -> {annotation(result) if result else 'None'}:"
    if not signature:
        head = f"def {name}(*args: Any, **kwargs: Any) -> Any:"
    return [head, *documentation(doc, "    ")]


def documentation(doc, indent):
    if not doc:
        return [f"{indent}..."]
    lines = doc.strip().replace("\\", "\\\\").split("\n")
    if len(lines) == 1:
        return [f'{indent}"""{lines[0]}"""']
    return [f'{indent}"""{lines[0]}', *((indent + x).rstrip() for x in lines[1:]), f'{indent}"""']


def plain_parameters(function, method=False):
    """The parameters of a function of Python or of the extension module, without types."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ("self, " if method else "") + "*args: Any, **kwargs: Any"
    out, starred = [], False
    for p in signature.parameters.values():
        if method and p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            out.append("*")
        starred |= p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        prefix = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        out.append(f"{prefix}{p.name}: Any" + ("" if p.default is p.empty else " = ..."))
    return ", ".join((["self"] if method else []) + out)


SPECIAL = (
    "__init__",
    "__call__",
    "__enter__",
    "__exit__",
    "__getitem__",
    "__len__",
    "__setitem__",
)


def class_stub(name, cls):
    lines = []
    # A class without a list of its members is described by one that takes anything. What a class has from one of the
    # library's own is written with it, as those are not public.
    own = [c for c in cls.__mro__ if c.__module__ not in ("builtins", "enum", "typing")]
    members = {member: value for c in reversed(own) for member, value in vars(c).items()}
    for member, value in sorted(members.items()):
        if member.startswith("_") and member not in SPECIAL:
            continue
        doc = getattr(value, "__doc__", None) if not member.startswith("_") else None
        if callable(value):
            result = "None" if member == "__init__" else "Any"
            lines.append(f"    def {member}({plain_parameters(value, method=True)}) -> {result}:")
            lines += documentation(doc, "        ")
        elif inspect.isdatadescriptor(value):
            lines += ["    @property", f"    def {member}(self) -> Any:", *documentation(doc, "        ")]
    if "__init__" not in members:
        lines.insert(0, "    def __init__(self, *args: Any, **kwargs: Any) -> None: ...")
    base = "(Generic[_T])" if "__class_getitem__" in members else ""
    base = "(Exception)" if issubclass(cls, BaseException) else base
    return [f"class {name}{base}:", *documentation_of_class(cls), *lines]


def documentation_of_class(cls):
    return documentation(cls.__doc__, "    ") if isinstance(cls.__doc__, str) else []


def stub(groups):
    lines = [HEADER]
    lines += [f"from inkle import {name} as {name}" for name in ("config", *inkle._LAZY_MODULES)]
    for name, base in TYPES.items():
        lines.append(f"class {name}({base}): ...")
    builtins = {}
    for names in groups.values():
        for name, forms in names.items():
            builtins.setdefault(name, []).extend(forms)
    # What Python has of its own under a built-in's name, such as `zeros`, is what code outside kernels calls.
    own = {
        name: getattr(inkle, name)
        for name in sorted({"map", "print_diagnostics", *vars(inkle)})
        if not name.startswith("_")
    }
    own = {
        n: v for n, v in own.items() if n not in TYPES and not inspect.ismodule(v) and type(v) is not _native.Builtin
    }
    for name, value in own.items():
        if inspect.isclass(value):
            lines += ["", *class_stub(name, value)]
        elif callable(value):
            lines += ["", f"def {name}({plain_parameters(value)}) -> Any:", *documentation(value.__doc__, "    ")]
        else:
            lines += ["", f"{name}: _builtins.{type(value).__name__}"]
    for name in (*inkle._TORCH, "DeviceLike", "Float", "Int", "Scalar"):
        lines += ["", f"{name}: Any"]
    for name, forms in sorted(builtins.items()):
        if name in TYPES or name in own:
            continue
        # Forms that differ in types that the stub does not tell apart are one.
        definitions = {}
        for signature, doc in forms:
            head, *rest = definition(name, signature, doc)
            definitions.setdefault(head, rest)
        lines.append("")
        for head, rest in definitions.items():
            lines += ["@_overload"] * (len(definitions) > 1) + [head, *rest]
    return "\n".join(lines) + "\n"


def outputs():
    """Every file that is made, with its text."""
    groups = forms_of_all()
    files = {PAGES / f"{slug(group)}.md": page(group, names) for group, names in groups.items()}
    files[PAGES / "README.md"] = index(groups)
    files[STUB] = stub(groups)
    return files


def main():
    files = outputs()
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    stale += sorted(set(PAGES.glob("*.md")) - set(files))
    for path in stale:
        print(path.relative_to(ROOT))
    if "--check" in sys.argv[1:]:
        sys.exit("not up to date: run scripts/builtin_pages.py" if stale else 0)
    for path in stale:
        if path in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
        else:
            path.unlink()


if __name__ == "__main__":
    main()
