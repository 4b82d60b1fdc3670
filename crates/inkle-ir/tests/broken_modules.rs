//! Violations that no text can express.

use inkle_ir::{
    Builder, Field, Function, FunctionKind, MAX_NESTING, Module, OpKind, Param, Scalar, Type, Value, verify,
};

fn kernel(params: &[Type]) -> Function {
    let params = params.iter().enumerate().map(|(i, &ty)| Param { name: format!("p{i}"), ty }).collect();
    Function::new("k", FunctionKind::Kernel, params, vec![])
}

fn finish(function: &mut Function) {
    let body = function.body;
    Builder::new(function, body).effect(OpKind::Return, []);
}

fn errors(function: Function) -> String {
    verify(&Module { functions: vec![function] }).map_or_else(|e| e.to_string(), |()| "ok".to_owned())
}

#[test]
fn v002_struct_names_are_unique() {
    let one = Type::structure("S", vec![Field { name: "a".into(), ty: Type::F32 }]);
    let two = Type::structure("S", vec![Field { name: "a".into(), ty: Type::I32 }]);
    let mut function = kernel(&[one, two]);
    finish(&mut function);
    assert!(errors(function).starts_with("V002: two structs are called `S`: "));
}

#[test]
fn v005_parameters_are_those_of_the_body() {
    let mut function = kernel(&[Type::F32]);
    function.params[0].ty = Type::I32;
    finish(&mut function);
    assert_eq!(errors(function.clone()), "V005: @k: parameter `p0` is i32, but f32 in the body");
    function.params.clear();
    assert_eq!(errors(function), "V005: @k: 0 parameters, but the body has 1");
}

#[test]
fn v007_references_hold() {
    let mut function = kernel(&[Type::BOOL]);
    let body = function.body;
    let c = function.block(body).params[0];
    let mut builder = Builder::new(&mut function, body);
    let not = builder.value(OpKind::Select, [c, c, c], Type::BOOL);
    finish(&mut function);
    assert_eq!(errors(function.clone()), "ok");

    let first = function.block(body).ops[0];
    let mut broken = function.clone();
    broken.op_mut(first).operands[2] = Value::new(99);
    assert_eq!(errors(broken), "V007: @k, `%1 = select %0, %0, %invalid99 : bool`: operand 3 does not exist");

    let mut broken = function.clone();
    broken.block_mut(body).ops.insert(0, first);
    assert!(errors(broken).ends_with("the operation is in a block already"));

    let mut broken = function.clone();
    broken.block_mut(body).params.push(not);
    assert!(errors(broken).contains("a value defined here has another definition on record"));

    let mut broken = function.clone();
    broken.op_mut(first).blocks.push(body);
    assert!(errors(broken).ends_with("block0 has another owner"));
}

#[test]
fn v008_nesting_is_bounded() {
    let nested = |depth: usize| {
        let mut function = kernel(&[Type::BOOL]);
        let c = function.block(function.body).params[0];
        let mut block = function.body;
        for _ in 0..depth {
            let (then, other) = (function.add_block(), function.add_block());
            Builder::new(&mut function, block).op(OpKind::If, [c], [], [then, other]);
            Builder::new(&mut function, other).effect(OpKind::Yield, []);
            let end = if block == function.body { OpKind::Return } else { OpKind::Yield };
            Builder::new(&mut function, block).effect(end, []);
            block = then;
        }
        let end = if depth == 0 { OpKind::Return } else { OpKind::Yield };
        Builder::new(&mut function, block).effect(end, []);
        function
    };
    let mut deepest = Module { functions: vec![nested(MAX_NESTING - 1)] };
    verify(&deepest).expect("the limit is allowed");
    let text = deepest.to_string();
    assert_eq!(inkle_ir::parse(&text).expect("the limit is read").to_string(), text);
    inkle_ir::simplify(&mut deepest);
    assert_eq!(deepest.to_string(), "kernel @k(%0 p0: bool) {\n  return\n}\n");
    assert_eq!(errors(nested(MAX_NESTING)), "V008: @k: blocks are nested more than 512 deep");
    // Deep enough that recursion would not survive it.
    assert_eq!(errors(nested(200_000)), "V008: @k: blocks are nested more than 512 deep");
}

#[test]
fn a_module_prints_whatever_is_wrong_with_it() {
    let mut function = kernel(&[Type::vec(0, Scalar::F16)]);
    let body = function.body;
    function.add_op(body, OpKind::If, [Value::new(7)], [Type::F32], [body], inkle_diag::Span::NONE);
    let text = Module { functions: vec![function] }.to_string();
    assert_eq!(text, "kernel @k(%0 p0: vec<0, f16>) {\n  %1 = if %invalid7 -> (f32)\n}\n");
}
