"""Runs Warp's own tests on inkle and prints what part passes; a list of failures by cause goes to build/conformance.

The tests come from an installed `warp-lang` wheel and are run in place by the driver in `../shared/conformance`, which
also has the record of what Warp itself passes. Wanted are the tests that Warp passes on a CPU; those that need
tiles, or reach into Warp's internals, are counted apart.

    python scripts/conformance.py [--groups GROUPS] [--only MODULES] [--jobs N] [--timeout S] [--list]

`--trim` counts tests that need meshes, BVHs, grids, sparse matrices or finite elements apart too, and takes kernels that use
them, or tiles, out of the test modules, so that the rest of those loads.

With `--device cuda:0` what counts are the variants of the same tests for that GPU. `--pack FOLDER` copies what a machine
without a network needs, 8 MiB that must not be committed; there, `--kit FOLDER` runs from it.
"""

import argparse
import ast
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("INKLE_SHARED", ROOT.parent / "shared")) / "conformance"
DRIVER, RECORD = "run_warp_tests.py", "warp_tests_cpu_pertest.json"
BUILD = ROOT / "build" / "conformance"
WHEEL = "warp-lang==1.19.0"
DEFAULT_GROUPS = "language core,types,arrays,utilities,autodiff + optim"

# Names whose use puts a test out of the range that is measured.
TILES = re.compile(r"^(tile|tile_\w+|launch_tiled|tile2d)$")
INTERNALS = re.compile(
    r"^(ModuleBuilder|ModuleHasher|runtime|user_modules|builtin_functions|Adjoint|_build_module|init_kernel_cache"
    r"|adj|hash_module|get_module_hash|add_builtin|launch_bounds_t|_canonicalize_dim|_build_launch_bounds_from_tuple"
    r"|_is_tid_call|resolve_grid_stride|_SharedFunctionSource|_substitute_nodes|get_arg_type|codegen_func_forward"
    r"|pack_arg|infer_argument_types|_resolve_array_family|_normalize_array_argument_type|_verify_library_version"
    r"|_apic_capture|resolve_options"
    r"|user_overloads|cptr|ctype_ret_str|_get_ml_dtypes_bfloat16|get_builtin_call_desc|code_transformers)$"
)
OUTSIDE = [("tiles", TILES), ("internals", INTERNALS)]
ABSENT = re.compile(
    r"^(Mesh|Bvh|HashGrid|Volume|hash_grid_\w+|(mesh|bvh|volume)_(query|eval|get|sample|lookup|store|index|world)\w*"
    r"|bsr_\w+|BSR_\w+|borrow_temporary)$"
)


def groups_of_modules(shared):
    """The groups of test modules that the driver's README lists, as {group: [module name without `test_`]}."""
    text = (shared / "README.md").read_text()
    found = {}
    for match in re.finditer(r"^- \*\*([^*]+)\*\*: ([a-z0-9_., ]+)\.$", text, re.MULTILINE):
        found[match[1]] = [name.strip() for name in match[2].split(",")]
    return found


def full_name(short):
    """`matrix.mat` to `warp.tests.matrix.test_mat`."""
    folder, _, name = short.rpartition(".")
    return ".".join(part for part in ("warp.tests", folder, f"test_{name}") if part)


class Uses:
    """Which tests of one file need what, from its source: the names a test's function reaches within the file."""

    def __init__(self, path):
        tree = ast.parse(path.read_text())
        self.names, self.tests = {}, []
        self.classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
        # Functions within functions are part of those; methods go by their own name.
        for node in tree.body:
            for part in [node, *(node.body if isinstance(node, ast.ClassDef) else ())]:
                if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                    self.names.setdefault(part.name, set()).update(self.names_in(part))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and re.fullmatch(r"add_\w*test\w*", self.called(node)):
                self.register(node)

    @staticmethod
    def called(node):
        return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")

    @staticmethod
    def names_in(node):
        found = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                found.add(part.id)
            elif isinstance(part, ast.Attribute):
                found.add(part.attr)
            elif isinstance(part, ast.keyword) and part.arg:
                # An argument that says no does not use the thing.
                if not (isinstance(part.value, ast.Constant) and not part.value.value):
                    found.add(part.arg)
        return found

    @staticmethod
    def names_of_decorators(node):
        return set().union(*(Uses.names_in(decorator) for decorator in node.decorator_list))

    def register(self, node):
        """Notes which function a test name, maybe made from parts, stands for."""
        values = list(node.args) + [k.value for k in node.keywords]
        names = [v for v in values if isinstance(v, (ast.Constant, ast.JoinedStr)) and not self.is_number(v)]
        if not names:
            return
        pattern, known = "", 0
        for part in getattr(names[0], "values", [names[0]]):
            fixed = isinstance(part, ast.Constant)
            pattern += re.escape(str(part.value)) if fixed else ".*"
            known += len(str(part.value)) if fixed else 0
        # A class among them is the test case that the test is added to.
        functions = {v.id for v in values if isinstance(v, ast.Name) and v.id not in self.classes}
        self.tests.append((known, re.compile(f"{pattern}(_cpu)?"), functions))

    @staticmethod
    def is_number(value):
        return isinstance(value, ast.Constant) and not isinstance(value.value, str)

    def reached(self, test):
        """The names that the test of this method name reaches."""
        matches = [(known, functions) for known, pattern, functions in self.tests if pattern.fullmatch(test)]
        # The registration that fixes most of the name is the one meant.
        best = max((known for known, _ in matches), default=0)
        todo, seen = [f for known, functions in matches if known == best for f in functions] or [test], set()
        while todo:
            name = todo.pop()
            for used in self.names.get(name, ()):
                if used not in seen:
                    seen.add(used)
                    todo.append(used)
        return seen

    def outside(self, test):
        """Why the test is not among those measured; `None` when it is."""
        names = self.reached(test)
        return next((why for why, pattern in OUTSIDE if any(pattern.match(n) for n in names)), None)


def wheel_folder(python):
    """The folder `warp` of the wheel, installed beside inkle's builds when no environment has it."""
    code = "import importlib.util as u; s = u.find_spec('warp'); print(s.submodule_search_locations[0] if s else '')"
    for candidate in (python, BUILD / "venv" / "bin" / "python"):
        if Path(candidate).exists():
            found = subprocess.run([candidate, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
            if found:
                return found
    print(f"== installing {WHEEL} into {BUILD / 'venv'}", flush=True)
    venv.create(BUILD / "venv", with_pip=True)
    python = BUILD / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", WHEEL, "numpy"], check=True)
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def trimmed(wheel, modules):
    """A copy of the wheel's tests in which kernels that use tiles, or meshes and the like, are `None`."""
    folder = BUILD / "trimmed" / "warp"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(wheel / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "examples").symlink_to(wheel / "examples")
    for module in modules:
        path = folder.parent / (module.replace(".", "/") + ".py")
        lines = path.read_text().splitlines()
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or not Uses.names_of_decorators(node) & {"kernel", "func"}:
                continue
            if any(ABSENT.match(name) or TILES.match(name) for name in Uses.names_in(node)):
                # The lines of what stays keep their numbers.
                first, last = node.decorator_list[0].lineno - 1, node.end_lineno
                lines[first:last] = [" " * node.col_offset + f"{node.name} = None"] + [""] * (last - first - 1)
        path.write_text("\n".join(lines) + "\n")
    return folder


def pack(folder, wheel):
    """Copies the wheel's tests and examples, the driver and its record into `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("tests", "examples"):
        # Some tests run the examples, and some read arrays and meshes that lie beside them.
        shutil.copytree(wheel / part, folder / "warp" / part, ignore=shutil.ignore_patterns("__pycache__"))
    for name in (DRIVER, RECORD, "README.md"):
        shutil.copy(SHARED / name, folder / name)
    print(f"{folder}: what a run with --kit needs")


def read_messages(work):
    """{test id: (state, message)} of every test that ran, and {module: why it did not load}."""
    messages, unloaded = {}, {}
    for path in work.glob("*/events.jsonl"):
        for line in path.read_text().splitlines():
            event = json.loads(line)
            if event["e"] == "done":
                messages[event["id"]] = (event["s"], event["m"])
            elif event["e"] == "import_error":
                unloaded[path.parent.name] = event["m"]
    return messages, unloaded


def cause(message):
    """A message without what differs from case to case, so that equal causes are equal text."""
    head = message.split(" [")[0] if message.startswith("AssertionError") else message
    lines = [line for line in head.splitlines() if line.strip()]
    text = " ".join(lines[:1]) if lines else "(no message)"
    text = re.sub(r"\(<?[^()]*\)(?=: )", "", text)
    text = re.sub(r"0x[0-9a-f]+|-?\b\d+(\.\d+)?(e[-+]?\d+)?", "N", text)
    return text[:180]


def write_triage(path, failures, skipped):
    """Writes failures by cause, most frequent first, with up to five tests of each."""
    by_cause = collections.defaultdict(list)
    for test, text in failures:
        by_cause[cause(text)].append((test, text))
    with path.open("w") as out:
        out.write(f"{len(failures)} wanted tests do not pass; {len(skipped)} of other reach are not counted\n")
        for text, tests in sorted(by_cause.items(), key=lambda item: -len(item[1])):
            out.write(f"\n{len(tests):5}  {text}\n")
            for test, message in tests[:5]:
                out.write(f"         {test.removeprefix('warp.tests.')}\n")
            detail = tests[0][1].strip()
            if "\n" in detail:
                out.write("".join(f"           | {line}\n" for line in detail.splitlines()[:8]))
    return by_cause


def main():
    """Runs the chosen groups and prints the scoreboard."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--groups", default=DEFAULT_GROUPS, help="comma-separated groups, or `all`")
    parser.add_argument("--only", help="comma-separated modules of the groups, such as `vec,matrix.mat`")
    parser.add_argument("--jobs", type=int, default=2, help="modules run at once")
    parser.add_argument("--timeout", type=float, default=240, help="seconds for one module")
    parser.add_argument("--python", default=str(ROOT / ".venv" / "bin" / "python"), help="runs inkle; needs numpy")
    parser.add_argument("--report", action="store_true", help="print the latest run again, run nothing")
    parser.add_argument("--device", default="cpu", help="the device whose tests count, such as cuda:0")
    parser.add_argument("--pack", type=Path, metavar="FOLDER", help="copy what --kit needs to FOLDER, run nothing")
    parser.add_argument("--kit", type=Path, metavar="FOLDER", help="tests, driver and record that --pack copied")
    parser.add_argument("--trim", action="store_true", help="take out kernels that need tiles, meshes and the like")
    parser.add_argument("--list", action="store_true", help="print the groups and their modules")
    arguments = parser.parse_args()
    shared = arguments.kit or SHARED
    if not (shared / DRIVER).exists():
        sys.exit(f"error: {shared / DRIVER} is absent: it runs the tests; beside it is the record of what Warp passes")
    groups = groups_of_modules(shared)
    if arguments.list:
        for name, modules in groups.items():
            print(f"{name}: {', '.join(modules)}")
        return
    chosen = list(groups) if arguments.groups == "all" else [g.strip() for g in arguments.groups.split(",")]
    if unknown := [g for g in chosen if g not in groups]:
        sys.exit(f"error: no group named {', '.join(unknown)}; there are {', '.join(groups)}")
    wanted_modules = {full_name(m): g for g in chosen for m in groups[g]}
    if arguments.only:
        only = {full_name(m.strip()) for m in arguments.only.split(",")}
        wanted_modules = {m: g for m, g in wanted_modules.items() if m in only}
    BUILD.mkdir(parents=True, exist_ok=True)
    wheel = (arguments.kit / "warp").resolve() if arguments.kit else Path(wheel_folder(arguments.python))
    if arguments.pack:
        return pack(arguments.pack, wheel)
    if arguments.trim:
        OUTSIDE.append(("absent", ABSENT))
        wheel = trimmed(wheel, wanted_modules)
    work, states = BUILD / "work", BUILD / "states.json"
    if not arguments.report:
        run_driver(arguments, shared, wheel, wanted_modules, work, states)
    baseline = json.loads((shared / RECORD).read_text())
    report(wanted_modules, chosen, wheel, work, baseline, json.loads(states.read_text()), arguments.device)


def run_driver(arguments, shared, wheel, modules, work, states):
    """Runs the test modules on inkle: this tree's where it is built, else the one that is installed."""
    environment = dict(os.environ, INKLE_CACHE_PATH=str(BUILD / "cache"))
    command = [arguments.python, str(shared / DRIVER), "--alias", "inkle"]
    if any((ROOT / "python" / "inkle").glob("_native*.so")):
        command += ["--path", str(ROOT / "python")]
    command += ["--python", arguments.python, "--wheel-dir", str(wheel)]
    command += ["--only", ",".join(modules), "--workdir", str(work), "--out", str(BUILD / "modules.json")]
    command += ["--per-test", str(states), "--jobs", str(arguments.jobs), "--timeout", str(arguments.timeout)]
    subprocess.run(command, env=environment, check=True)


def variant(test, device):
    """The test's name on `device`: that of the record ends in `_cpu` where there is one for each device."""
    return re.sub(r"_cpu(#\d+)?$", rf"_{re.sub(r'[^A-Za-z0-9_]', '_', device)}\1", test)


def report(modules, groups, wheel, work, baseline, states, device):
    """Prints matched and wanted tests per group and writes the list of failures."""
    messages, unloaded = read_messages(work)
    tally = {group: collections.Counter() for group in groups}
    failures, skipped, all_states = [], [], {}
    for module, group in modules.items():
        path = wheel.parent / (module.replace(".", "/") + ".py")
        uses = Uses(path)
        for test, state in baseline.get(module, {}).items():
            if state != "pass":
                continue
            why = uses.outside(re.sub(r"#\d+$", "", test).rsplit(".", 1)[1])
            recorded, test = test, variant(test, device)
            ran = states.get(module, {})
            if test != recorded and recorded in ran and test not in ran:
                continue  # A test of the CPU alone.
            got = ran.get(test, "unloaded" if module in unloaded else "absent")
            tally[group]["all"] += 1
            tally[group]["all matched"] += got == "pass"
            all_states[test] = [got, why]
            if why:
                skipped.append(test)
                continue
            tally[group]["wanted"] += 1
            if got == "pass":
                tally[group]["matched"] += 1
            else:
                message = messages.get(test, ("", unloaded.get(module, got)))[1] or got
                failures.append((test, message))
    by_cause = write_triage(BUILD / "triage.txt", failures, skipped)
    (BUILD / "tests.json").write_text(json.dumps(all_states, indent=1))
    print(f"\n{'group':40} {'matched':>8} {'wanted':>8} {'%':>6}   with gradients, tiles, internals")
    total = sum(tally.values(), collections.Counter())
    for name, count in [*tally.items(), ("total", total)]:
        percent = 100 * count["matched"] / max(1, count["wanted"])
        print(
            f"{name:40} {count['matched']:8} {count['wanted']:8} {percent:6.1f}   {count['all matched']}/{count['all']}"
        )
    print(f"\nmost frequent causes (all in {(BUILD / 'triage.txt').relative_to(ROOT)}):")
    for text, tests in sorted(by_cause.items(), key=lambda item: -len(item[1]))[:12]:
        print(f"{len(tests):5}  {text[:130]}")


if __name__ == "__main__":
    main()
