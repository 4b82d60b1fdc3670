//! The tree of every kind of node.

use inkle_diag::SourceFile;
use inkle_python::parse_expression;

use crate::{dump, first};

fn check(source: &str, expected: &str) {
    let got = dump::function(&first(source).expect("lowers"));
    let expected: String = expected.trim_start_matches('\n').to_owned();
    assert_eq!(got, expected, "\n--- got\n{got}--- expected\n{expected}");
}

fn check_expr(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        let expr = parse_expression(&SourceFile::register("<expression>", source)).expect(source);
        assert_eq!(dump::expr(&expr), *expected, "for {source}");
    }
}

#[test]
fn signature() {
    check(
        "@wp.kernel\n@wp.func(module=\"unique\")\ndef f(a: wp.array(dtype=float), b: 'int', /, c=2.5, *rest: int, d: float = 1, e, **more) -> wp.vec3:\n    pass\n",
        "
@wp.kernel
@wp.func(module=\"unique\")
def f(a: wp.array(dtype=float), b: \"int\", c = 2.5, *rest: int, kw d: float = 1, kw e, **more) -> wp.vec3
  pass
",
    );
}

#[test]
fn docstring_is_taken_out_of_the_body() {
    check(
        "def f():\n    \"\"\"One.\n\n    Two\n      three.\n    \"\"\"\n    return 1\n",
        "
def f()
  doc \"One.\\n\\nTwo\\n  three.\"
  return 1
",
    );
    check("def f():\n    'only' \"this\"\n", "def f()\n  doc \"onlythis\"\n");
    check("def f():\n    f'no {doc}'\n", "def f()\n  f[\"no \" {doc}]\n");
}

#[test]
fn statements() {
    check(
        "
def f(x, y):
    a = b = x
    i, (j, k) = 1, (2, 3)
    [p, q] = y
    a.b.c = 1
    a[0, 1:2] = 3
    n: int = 4
    m: wp.vec3
    a += 1
    a @= m
    a[i] //= 2
    a >>= 1
    if a:
        pass
    elif b:
        return
    elif c:
        pass
    else:
        return a, b
    for i in range(3):
        if i: continue
        break
    else:
        pass
    for (i, j) in z: pass
    while True:
        x; y
    else:
        pass
    assert x
    assert x, \"message\"
    def inner(z): return z
    print(x)
    ...
",
        "
def f(x, y)
  a = b = x
  tuple(i, tuple(j, k)) = tuple(1, tuple(2, 3))
  tuple(p, q) = y
  a.b.c = 1
  a[0, 1:2:] = 3
  n: int = 4
  m: wp.vec3
  a Add= 1
  a MatMul= m
  a[i] FloorDiv= 2
  a Shr= 1
  if a
    pass
  else
    if b
      return
    else
      if c
        pass
      else
        return tuple(a, b)
  for i in range(3)
    if i
      continue
    break
  else
    pass
  for tuple(i, j) in z
    pass
  while true
    x
    y
  else
    pass
  assert x
  assert x, \"message\"
  def inner
  print(x)
  ...
",
    );
}

#[test]
fn unsupported_statements_are_nodes() {
    check(
        "
def f():
    class A: pass
    del a
    with a: pass
    match a:
        case 1: pass
    raise a
    try: pass
    except* E: pass
    import a
    from a import b
    global g
    nonlocal h
    type T = int
    async def g(): pass
    async for i in a: pass
    async with a: pass
",
        "
def f()
  unsupported class
  unsupported del
  unsupported with
  unsupported match
  unsupported raise
  unsupported try
  unsupported import
  unsupported import
  unsupported global
  unsupported nonlocal
  unsupported type
  def g
  unsupported async for
  unsupported async with
",
    );
    check("async def f():\n    await g\n", "def f()\n  unsupported async def\n  <await>\n");
    check("def f[T](x: T): pass\n", "def f(x: T)\n  unsupported type parameters\n  pass\n");
}

#[test]
fn literals() {
    check_expr(&[
        ("0", "0"),
        ("1_000", "1000"),
        ("0xFF", "255"),
        ("0b1_01", "5"),
        ("0o17", "15"),
        ("18446744073709551616", "18446744073709551616"),
        ("0xFFFF_FFFF_FFFF_FFFF_F", "295147905179352825855"),
        ("0B1", "1"),
        ("170141183460469231731687303715884105727", "170141183460469231731687303715884105727"),
        ("1.5", "1.5"),
        ("1e-3", "0.001"),
        (".5", "0.5"),
        ("1e999", "inf"),
        ("2j", "<complex>"),
        ("True", "true"),
        ("False", "false"),
        ("None", "None"),
        ("...", "..."),
        ("'a' 'b'", "\"ab\""),
        ("r'\\n' '\\n\\x41\\u00e9'", "\"\\\\n\\nAé\""),
        ("b'x'", "<bytes>"),
    ]);
}

#[test]
fn format_strings() {
    check_expr(&[
        ("f''", "f[]"),
        ("f'a{x}b'", "f[\"a\" {x} \"b\"]"),
        ("f'{x:.3f}{y!r:>{w}}'", "f[{x : .3f} {y : >{w}}]"),
        ("f'{{{x}}}'", "f[\"{\" {x} \"}\"]"),
        ("f'{x = }'", "f[\"x = \" {x}]"),
        ("'a' f'b{x}' 'c' f'd'", "f[\"ab\" {x} \"cd\"]"),
        ("f'{d['k']}'", "f[{d[\"k\"]}]"),
        ("t'{x}'", "<t-string>"),
    ]);
}

#[test]
fn operators() {
    check_expr(&[
        (
            "a+b - c*d / e // f % g ** h @ i",
            "((a Add b) Sub (((((c Mul d) Div e) FloorDiv f) Mod (g Pow h)) MatMul i))",
        ),
        ("a & b | c ^ d << e >> f", "((a BitAnd b) BitOr (c BitXor ((d Shl e) Shr f)))"),
        ("-a", "(Neg a)"),
        ("+a", "(Pos a)"),
        ("~a", "(Invert a)"),
        ("not a", "(Not a)"),
        ("-2 ** 2", "(Neg (2 Pow 2))"),
        ("a and b and c or d", "((a and b and c) or d)"),
        (
            "a < b <= c > d >= e == f != g is h is not i in j not in k",
            "(a Lt b LtE c Gt d GtE e Eq f NotEq g Is h IsNot i In j NotIn k)",
        ),
        ("a if b else c", "(a if b else c)"),
    ]);
}

#[test]
fn composite_expressions() {
    check_expr(&[
        ("a.b.c", "a.b.c"),
        ("f()", "f()"),
        ("f(a, *b, c=d, **e)", "f(a, *b, c=d, **e)"),
        ("a[i]", "a[i]"),
        ("a[i, j]", "a[i, j]"),
        ("a[(i, j)]", "a[i, j]"),
        ("a[i,]", "a[i]"),
        ("a[()]", "a[tuple()]"),
        ("a[1:2, ::3, :, ..., None]", "a[1:2:, ::3, ::, ..., None]"),
        ("()", "tuple()"),
        ("(a,)", "tuple(a)"),
        ("a, b", "tuple(a, b)"),
        ("(a)", "a"),
        ("[a, [b]]", "list(a, list(b))"),
        ("[*a, b]", "list(*a, b)"),
        ("lambda: 1", "(lambda : 1)"),
        ("lambda a, b: a + b", "(lambda a, b: (a Add b))"),
    ]);
}

#[test]
fn unsupported_expressions_are_nodes() {
    check_expr(&[
        ("(a := b)", "<:=>"),
        ("{a: b}", "<dict>"),
        ("{a, b}", "<set>"),
        ("[a for a in b]", "<list comprehension>"),
        ("{a for a in b}", "<set comprehension>"),
        ("{a: b for a in b}", "<dict comprehension>"),
        ("(a for a in b)", "<generator expression>"),
        ("await a", "<await>"),
        ("(yield)", "<yield>"),
        ("(yield from a)", "<yield from>"),
        ("lambda a=1: a", "<lambda with defaults, `*` or `/`>"),
        ("lambda *a: a", "<lambda with defaults, `*` or `/`>"),
    ]);
}

#[test]
fn an_integer_beyond_128_bits_is_reported() {
    let wide = "170141183460469231731687303715884105728";
    let error = first(&format!("def f():\n    return {wide} + 1\n")).unwrap_err();
    assert_eq!(error.0.len(), 1);
    assert_eq!(error.0[0].code.0, "S002");
    assert_eq!((error.0[0].span.start, error.0[0].span.end), (20, 20 + wide.len() as u32));
    let hex = format!("0x{}", "F".repeat(40));
    assert_eq!(first(&format!("def f(x={hex}): pass")).unwrap_err().0[0].code.0, "S002");
}

#[test]
fn nesting_has_a_limit_and_a_report() {
    let sum = |n: usize| format!("def f():\n    return {}1\n", "1 + ".repeat(n));
    assert!(first(&sum(500)).is_ok());
    let error = first(&sum(5000)).unwrap_err();
    assert_eq!(error.0.len(), 1);
    assert_eq!(error.0[0].code.0, "S004");
    let parens = format!("def f():\n    return {}1{}\n", "-(".repeat(2000), ")".repeat(2000));
    assert_eq!(first(&parens).unwrap_err().0[0].code.0, "S004");
}

#[test]
fn a_long_elif_chain_keeps_its_order() {
    let mut source = "def f(x):\n    if x == 0: pass\n".to_owned();
    for i in 1..300 {
        source += &format!("    elif x == {i}: pass\n");
    }
    let text = dump::function(&first(&source).expect("lowers"));
    assert_eq!(text.matches("if (x Eq ").count(), 300);
    assert!(text.find("Eq 7)").unwrap() < text.find("Eq 8)").unwrap());
}
