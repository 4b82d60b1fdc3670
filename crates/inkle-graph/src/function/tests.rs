//! Functions on the CPU, of bundles without kernels.

use inkle_ir::{Scalar, Type};
use inkle_runtime::{Array, Device};

use super::plan::Home;
use super::*;
use crate::bundle::Blob;
use crate::ops::{Node, Op, OpStream, Region, RegionKind, Space, View};

/// A view of numbers of a region: `count` of them, `step` apart, from the number `from` on.
fn numbers(region: u32, from: u64, count: i32, step: i64) -> View {
    View { region, offset: 4 * from, dtype: Type::F32, shape: vec![count], strides: vec![4 * step] }
}

fn given(numbers: u64) -> Region {
    Region { bytes: 4 * numbers, space: Space::Host, kind: RegionKind::Given }
}

fn copy(dst: View, src: View) -> Op {
    Op::Copy { dst, src }
}

fn fill(dst: View, value: f32) -> Op {
    Op::Fill { dst, pattern: value.to_ne_bytes().into() }
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn contents(values: &[f32]) -> Option<Blob> {
    Some(bytes(values).into())
}

fn bundle(
    regions: Vec<Region>,
    memory: Vec<Option<Blob>>,
    ops: Vec<Op>,
    inputs: Vec<(&str, View)>,
    outputs: Vec<(&str, View)>,
) -> Bundle {
    let body = ops.into_iter().map(|op| Node { queue: 0, op }).collect();
    let param =
        |direction| move |(name, view): (&str, View)| Param { name: name.to_owned(), direction, view };
    let params = inputs.into_iter().map(param(Direction::Input));
    let params = params.chain(outputs.into_iter().map(param(Direction::Output))).collect();
    Bundle {
        producer: "test".into(),
        notes: Vec::new(),
        stream: OpStream { regions, body, ..OpStream::default() },
        params,
        code: Vec::new(),
        ir: Vec::new(),
        signer: None,
        memory,
    }
}

fn array(values: &[f32]) -> Array {
    Array::from_bytes(Device::cpu(), Type::F32, &[values.len() as i64], &bytes(values)).unwrap()
}

fn values(array: &Array) -> Vec<f32> {
    let bytes = array.to_bytes().unwrap();
    bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_ne_bytes(*chunk)).collect()
}

/// Calls with fresh outputs that hold what nobody should see.
fn call(function: &Function, inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    let inputs: Vec<Array> = inputs.iter().map(|values| array(values)).collect();
    let outputs: Vec<Array> =
        function.outputs().iter().map(|port| array(&vec![-777.0; port.shape[0] as usize])).collect();
    let before: Vec<Vec<f32>> = inputs.iter().map(values).collect();
    function.call(Device::cpu(), &inputs, &outputs, None).unwrap();
    assert_eq!(inputs.iter().map(values).collect::<Vec<_>>(), before, "inputs are not written");
    outputs.iter().map(values).collect()
}

#[test]
fn tensors_are_the_memory_of_parameters() {
    let ops = vec![copy(numbers(1, 0, 3, 1), numbers(0, 0, 3, 1))];
    let ports = (vec![("x", numbers(0, 0, 3, 1))], vec![("y", numbers(1, 0, 3, 1))]);
    let function = Function::new(bundle(vec![given(3); 2], vec![None, None], ops, ports.0, ports.1)).unwrap();
    assert_eq!(function.plan.homes, [Home::Tensor, Home::Tensor]);
    assert_eq!(function.plan.stream.body.len(), 1, "nothing is copied, and all of `y` is overwritten");
    for x in [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] {
        assert_eq!(call(&function, &[&x]), [x]);
    }
    assert_eq!(function.signature(), "float32[3]");
}

#[test]
fn an_output_that_is_written_in_part_keeps_the_rest_of_the_bundle() {
    let ops = vec![copy(numbers(1, 1, 1, 1), numbers(0, 0, 1, 1))];
    let ports = (vec![("x", numbers(0, 0, 1, 1))], vec![("y", numbers(1, 0, 3, 1))]);
    for (memory, rest) in [(None, 0.0), (contents(&[7.0, 8.0, 7.0]), 7.0)] {
        let memory = vec![None, memory];
        let ports = ports.clone();
        let made = bundle(vec![given(1), given(3)], memory, ops.clone(), ports.0, ports.1);
        let function = Function::new(made).unwrap();
        assert_eq!(function.plan.homes[1], Home::Tensor);
        assert_eq!(call(&function, &[&[5.0]]), [[rest, 5.0, rest]]);
    }
}

#[test]
fn every_call_starts_from_the_bundles_memory() {
    // The state is the input of the last call and goes out before it is replaced.
    let ops =
        vec![copy(numbers(2, 0, 2, 1), numbers(1, 0, 2, 1)), copy(numbers(1, 0, 2, 1), numbers(0, 0, 2, 1))];
    let ports = (vec![("x", numbers(0, 0, 2, 1))], vec![("before", numbers(2, 0, 2, 1))]);
    let memory = vec![None, contents(&[3.0, 4.0]), None];
    let function = Function::new(bundle(vec![given(2); 3], memory, ops, ports.0, ports.1)).unwrap();
    assert_eq!(function.hidden_state(), [8]);
    for _ in 0..2 {
        assert_eq!(call(&function, &[&[1.0, 2.0]]), [[3.0, 4.0]]);
    }
}

#[test]
fn memory_is_kept_where_that_is_asked_for() {
    // The last input and the one before it come out; of the latter one number is a constant.
    let ops =
        vec![copy(numbers(2, 0, 1, 1), numbers(1, 0, 1, 1)), copy(numbers(1, 0, 1, 1), numbers(0, 0, 1, 1))];
    let outputs = vec![("before", numbers(2, 0, 2, 1)), ("now", numbers(1, 0, 1, 1))];
    let memory = vec![None, contents(&[3.0]), contents(&[0.0, 7.0])];
    let regions = vec![given(1), given(1), given(2)];
    let made = bundle(regions, memory, ops, vec![("x", numbers(0, 0, 1, 1))], outputs);
    let function = Function::keeping_memory(made).unwrap();
    for (x, before) in [(1.0, 3.0), (2.0, 1.0), (5.0, 2.0)] {
        assert_eq!(call(&function, &[&[x]]), [vec![before, 7.0], vec![x]]);
    }
}

#[test]
fn scratch_memory_is_no_state() {
    let ops =
        vec![copy(numbers(1, 0, 2, 1), numbers(0, 0, 2, 1)), copy(numbers(2, 0, 2, 1), numbers(1, 0, 2, 1))];
    let ports = (vec![("x", numbers(0, 0, 2, 1))], vec![("y", numbers(2, 0, 2, 1))]);
    let memory = vec![None, contents(&[9.0, 9.0]), None];
    let function = Function::new(bundle(vec![given(2); 3], memory, ops, ports.0, ports.1)).unwrap();
    assert!(function.hidden_state().is_empty());
    assert_eq!(function.plan.stream.body.len(), 2, "nobody can tell what it held before");
    assert_eq!(call(&function, &[&[1.0, 2.0]]), [[1.0, 2.0]]);
}

#[test]
fn an_array_that_is_input_and_output_is_copied_first() {
    let ops = vec![fill(numbers(0, 1, 1, 1), 5.0)];
    let view = numbers(0, 0, 3, 1);
    let ports = (vec![("x", view.clone())], vec![("x_out", view)]);
    let function = Function::new(bundle(vec![given(3)], vec![None], ops, ports.0, ports.1)).unwrap();
    assert!(function.hidden_state().is_empty());
    assert_eq!(call(&function, &[&[1.0, 2.0, 3.0]]), [[1.0, 5.0, 3.0]]);
    assert_eq!(function.plan.stream.body.len(), 2, "the input's elements go where the output's are");
}

#[test]
fn parameters_with_gaps_are_gathered_and_scattered() {
    // Two fields of an array of structs go in, one comes out beside what is left of the bundle.
    let fields = |field| numbers(0, field, 3, 2);
    let ops = vec![copy(numbers(1, 0, 6, 1), numbers(0, 0, 6, 1))];
    let inputs = vec![("a", fields(0)), ("b", fields(1))];
    let outputs = vec![("b_out", numbers(1, 1, 3, 2)), ("all", numbers(1, 0, 6, 1))];
    let function = Function::new(bundle(vec![given(6); 2], vec![None; 2], ops, inputs, outputs)).unwrap();
    let [b, all] = call(&function, &[&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]]).try_into().unwrap();
    assert_eq!((b, all), (vec![4.0, 5.0, 6.0], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
    assert_eq!(function.signature(), "float32[3] float32[6]");
}

#[test]
fn what_passes_through_untouched_comes_out() {
    let view = numbers(0, 0, 2, 1);
    let ports = (vec![("x", view.clone())], vec![("y", view), ("constant", numbers(1, 1, 1, 1))]);
    let memory = vec![None, contents(&[1.0, 2.0])];
    let function = Function::new(bundle(vec![given(2); 2], memory, vec![], ports.0, ports.1)).unwrap();
    assert_eq!(call(&function, &[&[8.0, 9.0]]), [vec![8.0, 9.0], vec![2.0]]);
}

#[test]
fn a_part_of_an_array_is_an_input_and_the_rest_is_the_bundles() {
    let ops = vec![copy(numbers(1, 0, 4, 1), numbers(0, 0, 4, 1))];
    let ports = (vec![("tail", numbers(0, 2, 2, 1))], vec![("y", numbers(1, 0, 4, 1))]);
    let memory = vec![contents(&[1.0, 2.0, 0.0, 0.0]), None];
    let function = Function::new(bundle(vec![given(4); 2], memory, ops, ports.0, ports.1)).unwrap();
    assert_eq!(call(&function, &[&[8.0, 9.0]]), [[1.0, 2.0, 8.0, 9.0]]);
}

#[test]
fn tensors_anywhere_in_memory_do() {
    let ops = vec![copy(numbers(1, 0, 3, 1), numbers(0, 0, 3, 1))];
    let ports = (vec![("x", numbers(0, 0, 3, 1))], vec![("y", numbers(1, 0, 3, 1))]);
    let function = Function::new(bundle(vec![given(3); 2], vec![None; 2], ops, ports.0, ports.1)).unwrap();
    let (room, place) = (array(&[0.0; 16]), array(&[0.0; 16]));
    let tail = |array: &Array, from: usize| {
        Array::from_parts(array.memory().clone(), 4 * from, Type::F32, &[3], None).unwrap()
    };
    for from in 0..8usize {
        let (x, y) = (tail(&room, from), tail(&place, 8 - from));
        x.write_bytes(&bytes(&[from as f32, 1.0, 2.0])).unwrap();
        function.call(Device::cpu(), &[x], std::slice::from_ref(&y), None).unwrap();
        assert_eq!(values(&y), [from as f32, 1.0, 2.0]);
    }
}

#[test]
fn calls_of_several_threads_do_not_see_each_other() {
    let ops = vec![
        copy(numbers(1, 0, 64, 1), numbers(0, 0, 64, 1)),
        copy(numbers(2, 0, 32, 1), numbers(1, 0, 32, 2)),
    ];
    let ports = (vec![("x", numbers(0, 0, 64, 1))], vec![("y", numbers(2, 0, 32, 1))]);
    let regions = vec![given(64), given(64), given(32)];
    let function = Function::new(bundle(regions, vec![None; 3], ops, ports.0, ports.1)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let function = &function;
            scope.spawn(move || {
                for round in 0..200 {
                    let value = (thread * 1000 + round) as f32;
                    assert_eq!(call(function, &[&[value; 64]]), [[value; 32]]);
                }
            });
        }
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    let ports = (vec![("x", numbers(0, 0, 3, 1))], vec![("y", numbers(0, 0, 3, 1))]);
    let function = Function::new(bundle(vec![given(3)], vec![None], vec![], ports.0, ports.1)).unwrap();
    let (good, short) = (array(&[0.0; 3]), array(&[0.0; 2]));
    let refused = |inputs: &[&Array], outputs: &[&Array]| {
        let owned = |arrays: &[&Array]| arrays.iter().map(|array| (*array).clone()).collect::<Vec<Array>>();
        function.call(Device::cpu(), &owned(inputs), &owned(outputs), None).unwrap_err().to_string()
    };
    assert_eq!(refused(&[], &[&good]), "the bundle has 1 input, 0 given");
    let message = refused(&[&short], &[&good]);
    assert_eq!(message, "input 0 `x`: expected float32 of shape [3], got float32 of shape [2]");
    assert!(refused(&[&good], &[&short]).starts_with("output 0 `y`: "));

    let pair = Type::structure("Pair", Vec::new());
    let view = View { dtype: pair, ..numbers(0, 0, 1, 1) };
    let error =
        Function::new(bundle(vec![given(3)], vec![None], vec![], vec![("p", view)], vec![])).unwrap_err();
    assert!(
        error.to_string().starts_with("Unsupported dtype: parameter `p` has elements of Pair;"),
        "{error}"
    );
}

#[test]
fn signatures_go_both_ways() {
    let text = "float32[2,4,3] bool[] uint64[0]";
    let parsed = parse_signature(text).unwrap();
    let right = [(Scalar::F32, vec![2, 4, 3]), (Scalar::Bool, vec![]), (Scalar::U64, vec![0])];
    assert_eq!(parsed, right);
    let again: Vec<String> = parsed.iter().map(|(scalar, shape)| tensor_text(*scalar, shape)).collect();
    assert_eq!(again.join(" "), text);
    assert_eq!(parse_signature(""), Ok(vec![]));
    for wrong in
        ["float32", "float[2]", "float32[-1]", "float32[2", "float32[,]", "float32[+1]", "int32[2] x"]
    {
        assert!(matches!(parse_signature(wrong), Err(FunctionError::BadSignature { .. })), "{wrong}");
    }
    let ports = (vec![], vec![("y", numbers(0, 0, 3, 1))]);
    let function = Function::new(bundle(vec![given(3)], vec![None], vec![], ports.0, ports.1)).unwrap();
    assert_eq!(
        (function.check_signature("float32[3]"), function.check_signature(" float32[3]")),
        (Ok(()), Ok(()))
    );
    let error = function.check_signature("float32[4]").unwrap_err();
    assert_eq!(error.to_string(), "the bundle's outputs are `float32[3]`, but the model says `float32[4]`");
}

#[test]
fn tensors_have_the_numbers_of_elements_as_further_dimensions() {
    let shape = |dtype: Type| {
        let size = i64::from(dtype.size());
        let view = View { region: 0, offset: 0, dtype, shape: vec![2], strides: vec![size] };
        let param = Param { name: "p".into(), direction: Direction::Input, view };
        Port::of(&param).unwrap().to_string()
    };
    assert_eq!(shape(Type::vec(3, Scalar::F32)), "float32[2,3]");
    assert_eq!(shape(Type::mat(2, 5, Scalar::F64)), "float64[2,2,5]");
    assert_eq!(shape(Type::Quat(Scalar::F16)), "float16[2,4]");
    assert_eq!(shape(Type::Transform(Scalar::BF16)), "bfloat16[2,7]");
    assert_eq!(shape(Type::BOOL), "bool[2]");
}
