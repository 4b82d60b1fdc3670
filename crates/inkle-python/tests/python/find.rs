//! Functions and lambdas are found by line.

use std::sync::Arc;

use inkle_diag::SourceFile;
use inkle_python::parse_file;

use crate::{dump, parse};

const NESTED: &str = "
def make(n):
    if n:
        @wp.func
        def scale(x: float): return x * 2.0
    else:
        @wp.func
        def scale(x: float): return x * 3.0
    class A:
        def method(self):
            try:
                for i in n:
                    with i:
                        def deep(): return 1
            except E:
                def caught(): pass
            finally:
                while n:
                    match n:
                        case 1:
                            def last(): pass
    return scale
";

#[test]
fn functions_at_any_depth() {
    let file = parse(NESTED);
    let names: Vec<_> = file.functions().map(|f| (f.line(), f.name())).collect();
    let expected =
        [(2, "make"), (4, "scale"), (7, "scale"), (10, "method"), (14, "deep"), (16, "caught"), (21, "last")];
    assert_eq!(names, expected);
    for (line, name) in expected {
        assert_eq!(file.function_at_line(line, name).expect(name).name, name);
    }
    // Two functions of one name are told apart by their lines, of `def` or of the decorator.
    for (line, factor) in [(4, "2.0"), (5, "2.0"), (7, "3.0"), (8, "3.0")] {
        let def = file.function_at_line(line, "scale").expect("found");
        assert!(dump::function(&def).contains(&format!("(x Mul {factor})")));
    }
}

#[test]
fn a_function_is_lowered_once() {
    let file = parse(NESTED);
    let one = file.function_at_line(4, "scale").expect("found");
    let two = file.function_at_line(5, "scale").expect("found");
    assert!(Arc::ptr_eq(&one, &two));
    assert!(Arc::ptr_eq(&file, &parse_file(file.source())));
}

#[test]
fn a_missing_function_is_a_diagnostic() {
    let file = parse("x = 1\ndef f(): pass\n");
    for (line, name) in [(1, "f"), (2, "g"), (3, "f"), (99, "f"), (0, "f")] {
        let error = file.function_at_line(line, name).unwrap_err();
        assert_eq!(error.0[0].code.0, "S003", "{line} {name}");
    }
}

#[test]
fn lambdas_of_a_line() {
    let source = "\nf = wp.map(lambda x: x + 1, a); g = [lambda: lambda y: y]\nh = wp.map(\n    lambda x,\n    y: x, a)\n@d(lambda q: q)\ndef k(z=lambda: 3): return lambda w: w\n";
    let file = parse(source);
    let lambdas = |line| -> Vec<String> {
        file.lambdas_at_line(line).expect("lowers").iter().map(dump::expr).collect()
    };
    assert_eq!(lambdas(1), [""; 0]);
    assert_eq!(lambdas(2), ["(lambda x: (x Add 1))", "(lambda : (lambda y: y))", "(lambda y: y)"]);
    assert_eq!(lambdas(3), [""; 0]);
    assert_eq!(lambdas(4), ["(lambda x, y: x)"]);
    assert_eq!(lambdas(6), ["(lambda q: q)"]);
    assert_eq!(lambdas(7), ["(lambda : 3)", "(lambda w: w)"]);
}

#[test]
fn a_syntax_error_elsewhere_does_not_hide_a_function() {
    let source = "def good(x):\n    return x\n\ndef bad(x):\n    y = x +\n    return (y\n\ndef after(z):\n    return z\n";
    let file = parse(source);
    assert!(file.function_at_line(1, "good").is_ok());
    let error = file.function_at_line(4, "bad").unwrap_err();
    assert_eq!(error.0[0].code.0, "S001");
    assert_eq!(file.source().line_column(error.0[0].span.start).0, 5);
    assert!(error.render().contains("expected an expression"), "{error}");
}

#[test]
fn a_syntax_error_that_hides_a_function_is_what_is_reported() {
    let file = parse("x = (1 +\n\ndef f(:\n    pass\n");
    let error = file.function_at_line(3, "f").unwrap_err();
    assert!(!error.is_empty() && error.0.iter().all(|d| d.code.0 == "S001"));
}

#[test]
fn an_expression_that_is_none_is_a_diagnostic() {
    for source in ["", "1 +", "x = 1", "a b", "(", "f(", "'", "f'{'", "lambda", "1; 2", "*", "\u{0}"] {
        let error = inkle_python::parse_expression(&SourceFile::register("<expression>", source));
        assert_eq!(error.expect_err(source).0[0].code.0, "S001", "{source}");
    }
}
