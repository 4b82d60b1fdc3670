//! The reader and the printer: what they agree on, and what the reader refuses.

use inkle_ir::{AtomicOp, BinaryOp, CmpOp, Constant, Module, OpKind, UnaryOp, parse};

/// The message of the error in `text`, with its place.
fn error(text: &str) -> String {
    parse(text).map(|m| m.to_string()).expect_err("the text is wrong").to_string()
}

fn round_trip(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let printed = module.to_string();
    let again = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(printed, again.to_string());
    module
}

#[test]
fn names_and_comments_of_hand_written_text_are_replaced() {
    let module = round_trip(
        "; a comment\nfunc @f(%x: f32) -> (f32) { ; another\n %y.0 = add %x, %x : f32 return %y.0 }",
    );
    assert_eq!(module.functions[0].params[0].name, "x");
    assert_eq!(
        module.to_string(),
        "func @f(%0 x: f32) -> (f32) {\n  %1 = add %0, %0 : f32\n  return %1\n}\n"
    );
}

#[test]
fn broken_modules_have_a_text() {
    let text = "\
func @f(%0 c: bool) -> (f32) {
  yield
  %1 = add : f32
  %2 = const 1 : f32
  %3 = const 0x3fb999999999999a : f32
  %4 = const 1.5 : i32
  for _ = %2, _, _ {
  }
  %5 = for %6: i32 = %2, %2, %2 carry(%7: f32 = %2, _ = %2) -> (f32) {
    yield %5
  } block(%8: f32) {
  }
  while carry(%9: f32 = _) {
    yield %7
  } do(%10: i8, %11: i8) {
  }
  if then(%12: bool) {
    yield
  } else(%13: f32) {
  }
  call @#7()
  %14, %15 = mul %2, %2, %2 : f32, bool
}
";
    assert_eq!(round_trip(text).to_string(), text);
}

#[test]
fn constants_are_exact() {
    let text = "\
kernel @k() {
  %0 = const 0.1 : f32
  %1 = const 0.1 : f64
  %2 = const -0.0 : f32
  %3 = const 3.4028235e38 : f32
  %4 = const 0.099975586 : f16
  %5 = const 0.100097656 : bf16
  %6 = const 5e-324 : f64
  %7 = const nan : f32
  %8 = const -inf : f16
  %9 = const 18446744073709551615 : u64
  %10 = const -9223372036854775808 : i64
  %11 = const 1e16 : f32
  return
}
";
    let module = round_trip(text);
    assert_eq!(module.to_string(), text);
    let constant = |index: usize| {
        let function = &module.functions[0];
        match &function.op(function.block(function.body).ops[index]).kind {
            OpKind::Const(constant) => *constant,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(constant(0), Constant::Float(f64::from(0.1f32)));
    assert_eq!(constant(1), Constant::Float(0.1));
    assert_eq!(constant(2), Constant::Float(-0.0));
    assert_eq!(constant(4), Constant::Float(0.0999755859375));
    assert_eq!(constant(9), Constant::Int(u64::MAX.into()));
}

#[test]
fn names_are_quoted_where_they_are_not_plain() {
    let text = "\
struct \"a b\" { \"\": f32, \"_\": struct_ }
";
    assert_eq!(error(text), "1:30: `struct_` is not a type");
    let text = "\
struct \"a \\\"b\\\"\" { \"\": f32, \"_\": i8 }

func @\"f<int>\"(%0 \"x\\u{1b}\": struct \"a \\\"b\\\"\", %1 \"1\": i32) {
  return
}

kernel @k.1$(%0 x: ref<struct \"a \\\"b\\\"\">) {
  print \"é %d\\n\\t\\\\\"
  return
}
";
    assert_eq!(round_trip(text).to_string(), text);
}

#[test]
fn calls_go_by_name_only_where_the_name_finds_the_callee() {
    let text = "\
func @f() {
  call @#1()
  return
}

func @f() {
  call @f()
  call @g()
  return
}

func @g() {
  return
}
";
    assert_eq!(round_trip(text).to_string(), text);
}

#[test]
fn errors_say_where_and_what() {
    assert_eq!(error("func @f() {\n  %0 = ad : f32\n}"), "2:8: no operation is called `ad`");
    assert_eq!(error("kernel @f() {"), "1:14: expected an operation or `}`, found the end");
    assert_eq!(error("kernel f() {"), "1:8: expected the function's `@name`, found `f`");
    assert_eq!(error("kernel @f(%0 x: f33) {"), "1:17: `f33` is not a type");
    assert_eq!(error("kernel @f() { return %1 }"), "1:22: `%1` is not defined in this function");
    assert_eq!(error("kernel @f(%x: i8, %x: i8) { return }"), "1:19: `%x` is defined twice");
    assert_eq!(error("kernel @f() { call @g() return }"), "1:20: no function is called `@g`");
    assert_eq!(error("kernel @f(%0 x: struct S) {"), "1:24: struct `S` is not declared above");
    assert_eq!(error("struct S { } struct S { }"), "1:21: struct `S` is declared twice");
    assert_eq!(error("kernel @f() { print \"abc\n"), "1:21: the string does not end on its line");
    assert_eq!(
        error("kernel @f() { print \"\\x\" }"),
        "1:22: unknown escape; there are \\\" \\\\ \\n \\r \\t and \\u{..}"
    );
    assert_eq!(error("é"), "1:1: unexpected character 'é'");
    assert_eq!(error("kernel @f() { %0 = tid : i32 }"), "1:20: `tid` needs an index");
    assert_eq!(error("kernel @f() { %0 = tid -1 : i32 }"), "1:24: `-1` is not an index");
    assert_eq!(error("kernel @f() { %0 = add 1 : i32 }"), "1:24: `add` takes values only, not `1`");
    assert_eq!(error("kernel @f() { %0 = const tru : i32 }"), "1:26: expected `:`, found `tru`");
    assert_eq!(error("kernel @f() { %0 = const 1x : i32 }"), "1:26: `1x` is not a literal");
    assert_eq!(error("kernel @f() { %0 = zero }"), "1:25: expected `:`, found `}`");
    assert_eq!(error("kernel @f() { %0 = zero : i8, i8 }"), "1:34: the operation gives 1 values but 2 types");
}

#[test]
fn nesting_is_bounded() {
    let deep = format!("kernel @f(%0: bool) {{ {}", "if %0 { ".repeat(100_000));
    assert!(error(&deep).ends_with("blocks are nested more than 512 deep"));
    let deep = format!("kernel @f(%0: {}", "ref<".repeat(100_000));
    assert!(error(&deep).ends_with("the type is nested more than 64 deep"));
    let mut doubling = String::from("struct S0 { a: f32 }");
    for i in 1..100 {
        doubling += &format!("struct S{i} {{ a: struct S{0}, b: struct S{0} }}", i - 1);
    }
    assert!(error(&doubling).ends_with("the struct has more than 4096 parts"));
}

#[test]
fn the_filetests_of_every_operation_have_every_operation() {
    let others = "const zero select cast bitcast construct extract extract_dyn insert insert_dyn elem view field comp \
        grad_array shape stride address load store atomic_cas tid launch_dim block_dim if for while call print assert yield return";
    let mut keywords: Vec<&str> = others.split_whitespace().collect();
    keywords.extend(UnaryOp::ALL.iter().map(|op| op.keyword()));
    keywords.extend(BinaryOp::ALL.iter().map(|op| op.keyword()));
    keywords.extend(CmpOp::ALL.iter().map(|op| op.keyword()));
    keywords.extend(AtomicOp::ALL.iter().map(|op| op.keyword()));
    for file in [
        include_str!("filetests/print/every_operation.ink"),
        include_str!("filetests/verify/every_operation.ink"),
    ] {
        let words: Vec<&str> = file.split_whitespace().collect();
        for keyword in &keywords {
            assert!(words.contains(keyword), "no `{keyword}`");
        }
    }
}
