//! Functions of tensors on a GPU.

use inkle_graph::function::Function;
use inkle_ir::Type;
use inkle_runtime::cuda::CaptureMode;
use inkle_runtime::{Array, Device, Stream, collect_retired};

use super::support::bundle;
use super::{driver, graphs, ints, turn, values};

/// Calls with new tensors, of which none stays.
fn call(function: &Function, device: Device, stream: &Stream, x: [i32; 2]) -> [Vec<i32>; 2] {
    let (input, outputs) = (ints(device, &x), [ints(device, &[-7; 2]), ints(device, &[-7; 2])]);
    function.call(device, std::slice::from_ref(&input), &outputs, Some(stream)).unwrap();
    assert_eq!(values(&input), x, "inputs are not written");
    outputs.map(|output| values(&output))
}

#[test]
fn tensors_are_used_in_place_when_their_addresses_come_again() {
    let (_turn, device) = turn();
    let stream = Stream::new(device, 0).unwrap();
    let (function, before) = (Function::new(bundle()).unwrap(), graphs::alive().1);
    let (input, outputs) = (ints(device, &[0, 0]), [ints(device, &[0; 2]), ints(device, &[0; 2])]);
    let made = [1, 2, 2, 2].map(|graphs| before + graphs);
    for (round, made) in made.into_iter().enumerate() {
        let x = [round as i32, 10];
        input.copy_from(&ints(device, &x), None).unwrap();
        function.call(device, std::slice::from_ref(&input), &outputs, Some(&stream)).unwrap();
        assert_eq!([values(&outputs[0]), values(&outputs[1])], [vec![3, 4], x.to_vec()]);
        assert_eq!(values(&input), x);
        assert_eq!(graphs::alive().1, made, "graphs after round {round}");
    }
    drop(function);
    assert_eq!(graphs::alive().1, before);
}

#[test]
fn tensors_anywhere_do() {
    let (_turn, device) = turn();
    let stream = Stream::new(device, 0).unwrap();
    let function = Function::new(bundle()).unwrap();
    let (room, place) = (ints(device, &[0; 8]), ints(device, &[0; 16]));
    let part = |array: &Array, from: usize| {
        Array::from_parts(array.memory().clone(), 4 * from, Type::I32, &[2], None).unwrap()
    };
    for round in 0..3 {
        for from in 0..4usize {
            let (input, outputs) = (part(&room, from), [part(&place, from), part(&place, from + 5)]);
            input.copy_from(&ints(device, &[round, from as i32]), None).unwrap();
            function.call(device, &[input], &outputs, Some(&stream)).unwrap();
            assert_eq!([values(&outputs[0]), values(&outputs[1])], [vec![3, 4], vec![round, from as i32]]);
        }
    }
}

#[test]
fn a_busy_stream_keeps_no_other_waiting() {
    let (_turn, device) = turn();
    let (one, other) = (Stream::unordered(device).unwrap(), Stream::unordered(device).unwrap());
    let (function, before) = (Function::new(bundle()).unwrap(), graphs::alive().1);
    call(&function, device, &one, [1, 2]);
    call(&function, device, &other, [1, 2]);
    assert_eq!(graphs::alive().1, before + 1, "what is done can be used by the next");
    driver::state().busy.insert(other.handle() as usize);
    call(&function, device, &other, [1, 2]);
    assert_eq!(graphs::alive().1, before + 1, "a stream waits for itself anyway");
    assert_eq!(call(&function, device, &one, [5, 6]), [vec![3, 4], vec![5, 6]]);
    assert_eq!(graphs::alive().1, before + 2);
    driver::state().busy.clear();
}

#[test]
fn a_capture_takes_the_call_and_keeps_its_memory() {
    let (_turn, device) = turn();
    let stream = Stream::new(device, 0).unwrap();
    for aligned in [true, false] {
        let function = Function::new(bundle()).unwrap();
        let room = ints(device, &[0; 16]);
        let part = |from: usize| {
            let from = 4 * from + usize::from(!aligned);
            Array::from_parts(room.memory().clone(), 4 * from, Type::I32, &[2], None).unwrap()
        };
        let (input, outputs) = (part(0), [part(1), part(2)]);
        collect_retired();
        let before = driver::state().blocks.len();
        stream.begin_capture(CaptureMode::Global).unwrap();
        function.call(device, std::slice::from_ref(&input), &outputs, Some(&stream)).unwrap();
        let graph = stream.end_capture().unwrap();
        assert_eq!(values(&outputs[1]), [0, 0], "it has not run");
        for round in 0..3 {
            input.copy_from(&ints(device, &[round, 20]), None).unwrap();
            graph.launch(&stream).unwrap();
            assert_eq!([values(&outputs[0]), values(&outputs[1])], [vec![3, 4], vec![round, 20]]);
            // Other calls do not see it, nor it them.
            assert_eq!(call(&function, device, &stream, [8, 9]), [vec![3, 4], vec![8, 9]]);
        }
        drop(function);
        input.copy_from(&ints(device, &[7, 7]), None).unwrap();
        graph.launch(&stream).unwrap();
        assert_eq!([values(&outputs[0]), values(&outputs[1])], [vec![3, 4], vec![7, 7]]);
        drop(graph);
        collect_retired();
        assert_eq!(driver::state().blocks.len(), before, "what the capture kept is given back");
    }
}

#[test]
fn memory_is_kept_where_that_is_asked_for() {
    let (_turn, device) = turn();
    let (one, other) = (Stream::unordered(device).unwrap(), Stream::unordered(device).unwrap());
    let function = Function::keeping_memory(bundle()).unwrap();
    let mut last = vec![3, 4];
    for round in 0..6 {
        let stream = if round % 2 == 0 { &one } else { &other };
        assert_eq!(call(&function, device, stream, [round, 1]), [last, vec![round, 1]]);
        last = vec![round, 1];
    }
    let (input, outputs) = (ints(device, &[50, 60]), [ints(device, &[0; 2]), ints(device, &[0; 2])]);
    one.begin_capture(CaptureMode::Global).unwrap();
    function.call(device, std::slice::from_ref(&input), &outputs, Some(&one)).unwrap();
    let graph = one.end_capture().unwrap();
    graph.launch(&one).unwrap();
    assert_eq!(values(&outputs[0]), last);
    assert_eq!(call(&function, device, &other, [0, 0])[0], [50, 60]);
}
