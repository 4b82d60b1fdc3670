//! Sources that must not make the front end panic.

use inkle_diag::SourceFile;
use inkle_python::parse_expression;

use crate::{dump, parse};

const CORPUS: &[&str] = &[
    "",
    "\u{feff}def f(): pass\n",
    "def f(): pass",
    "def f():\r\n\tif x:\r\n\t\treturn 1\r\n",
    "def f():\n\tif x:\n        return 1\n",
    "def größe(变量, ñ=1): return 变量 + ñ\n",
    "def f():\n    while (n := g()) > 0: print(n)\n",
    "def f(x):\n    match x:\n        case {'a': [1, *rest], **kw} if x: pass\n        case A(b=1) | None: pass\n        case _: pass\n",
    "def f():\n    try: pass\n    except A as e: pass\n    except (B, C): pass\n    else: pass\n    finally: pass\n",
    "async def f():\n    async with a as b, c: pass\n    return [x async for x in y]\n",
    "def f(): return f'{x!r:{w}.{p}} {{}} {f\"{y}\"} {lambda: 1}'\n",
    "def f(): return t'{x}' t'{y=}'\n",
    "def f(*a, **k): g(*a, *b, **k, **m)\n",
    "def f(): a, *b = c; return *a, b\n",
    "def f():\n    x = a + \\\n        b\n    return x\n",
    "@a(\n  b,\n  c,\n)\n@(lambda f: f)\n@x[0].y\ndef f(): pass\n",
    "def \\\n  f(\\\n  ): pass\n",
    "def f(x): return x[::, ..., None, 1:2:3, *y]\n",
    "def f(): return 0x_F, 0b1, 0o7, 1e5j, 1_0.0_1\n",
    "def f(): print('''a\n\"b''' r\"\\d\" u'x' Rb'y')\n",
    "def f(): return a if b else c if d else e\n",
    "def f(): return not not a, ~-+a\n",
    "def f(): return (yield a), (yield), (yield from b)\n",
    "class A[T: int = str](B, metaclass=C):\n    x: int\n    @property\n    def f[**P, *Ts](self) -> 'A[T]': ...\n",
    "type X[T] = list[T]\n",
    "def f(a, /, b, *, c): global x; nonlocal y; del x, y[0]\n",
    "def f():\n    assert x, (\n        'long'\n    )\n    raise A from B\n",
    "if 1:\n    pass\nelif 2:\n    def f(): pass\nelse:\n    def g(): pass\n",
    "def f(): pass; pass; return; 1\n",
    "def f(x: 'not python at all!!', y: f'{z}') -> (yield): pass\n",
    "lambda *, a=(lambda: 1): a\n",
    "def f(): return [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]\n",
    "x = {**a, 'b': c}; y = {*a, b}\n",
    "def f(): with_ = 1; match = 2; case = 3; type = 4; _ = 5\n",
    "with (open(a) as b, c as d): pass\n",
    "for x in *a, *b: pass\n",
    "print(f'''{\n1\n}''')\n",
    "def f():\n    x = '\\N{DIGIT ONE}'\n    y = '\\ud800'\n",
    // Broken ones.
    "def",
    "def f(",
    "def f(:",
    "def f(): return",
    "def f():\n",
    "def f():\nreturn 1\n",
    "def f(a, a, *, **k): pass",
    "def f():\n    x = = 1\n    y = (1,, 2)\n",
    "def f():\n    return a b c\n  bad dedent\n",
    "def f():\n    x = 'unterminated\n    return x\n",
    "def f():\n    '''never closed\n",
    "def f(): return f'{x' + '}'\n",
    "def f(): return f'{x!z}' f'{}' f'}'\n",
    "def f(): return 0x, 0b2, 1__0, 012, 1e\n",
    "def f(): a +; b =; c[; d.\n",
    "@\ndef f(): pass\n",
    "@a b\ndef f(): pass\n",
    "class:\n    def f(): pass\n",
    "def 1f(): pass\n",
    "if:\n  def f(): pass\n",
    "\u{0}\u{1}def f(): pass",
    "def f(): $ ? ! `a`\n",
    "%timeit x\n!ls\ndef f(): ?x\n",
    "\\",
    "def f(): \\",
    "((((((((((",
    "))))))))))",
    "match x:\n case",
    "try:\n pass\ndef f(): pass\n",
    "def f(): lambda: (yield\n",
    "é = \u{200b}1\n",
];

#[test]
fn nothing_panics_and_errors_lie_in_the_file() {
    for source in CORPUS {
        let file = parse(source);
        for error in file.errors() {
            assert!(error.span.end as usize <= source.len(), "{source:?}");
            assert!(!error.render().is_empty());
        }
        for function in file.functions() {
            match function.def() {
                Ok(def) => assert!(!dump::function(&def).is_empty()),
                Err(errors) => assert!(!errors.is_empty(), "{source:?}"),
            }
            let _ = file.function_at_line(function.line(), function.name());
        }
        for line in 0..source.lines().count() + 2 {
            let _ = file.lambdas_at_line(line);
        }
        let _ = parse_expression(&SourceFile::register("<expression>", source));
    }
}

#[test]
fn every_truncation_of_valid_source_is_handled() {
    for source in CORPUS {
        for (end, _) in source.char_indices() {
            let file = parse(&source[..end]);
            for function in file.functions() {
                let _ = function.def();
            }
        }
    }
}

#[test]
fn a_function_with_an_error_is_never_lowered_as_if_it_had_none() {
    let broken = [
        "def f(): return (1 +\n",
        "def f():\n    x = \n    return x\n",
        "def f(a b): pass\n",
        "def f(): return f'{'\n",
        "def f():\n    return a b\n",
        "def f(): return [1, 2\n\ndef g(): pass\n",
    ];
    for source in broken {
        let file = parse(source);
        let function = file.functions().next().expect(source);
        let errors = function.def().expect_err(source);
        assert!(errors.0.iter().all(|e| e.code.0 == "S001"), "{source}");
    }
}
