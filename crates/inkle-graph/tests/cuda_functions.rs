//! Functions of tensors on a real GPU.

#[path = "support/functions.rs"]
mod support;

use inkle_graph::function::Function;
use inkle_ir::Type;
use inkle_runtime::cuda::CaptureMode;
use inkle_runtime::{Array, Device, Stream, cuda_status};

fn gpu() -> Option<Device> {
    match cuda_status() {
        Ok(()) => Some(Device::cuda(0).unwrap()),
        Err(error) => {
            println!("skipped: no CUDA driver ({error})");
            None
        }
    }
}

fn bytes(values: [i32; 2]) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_le_bytes).collect()
}

/// Two numbers at a place in memory of 64.
fn part(room: &Array, from: usize) -> Array {
    Array::from_parts(room.memory().clone(), 4 * from, Type::I32, &[2], None).unwrap()
}

/// Room for tensors, ready for use on any stream.
fn room(device: Device) -> Array {
    let room = Array::zeros(device, Type::I32, &[64]).unwrap();
    device.synchronize().unwrap();
    room
}

fn set(array: &Array, values: [i32; 2], stream: &Stream) {
    let from = Array::from_bytes(Device::cpu(), Type::I32, &[2], &bytes(values)).unwrap();
    array.copy_from(&from, Some(stream)).unwrap();
}

fn get(array: &Array, stream: &Stream) -> Vec<u8> {
    stream.synchronize().unwrap();
    array.to_bytes().unwrap()
}

#[test]
fn tensors_in_place_and_elsewhere_on_several_streams() {
    let Some(device) = gpu() else { return };
    let function = Function::new(support::bundle()).unwrap();
    let streams = [Stream::unordered(device).unwrap(), Stream::unordered(device).unwrap()];
    let rooms = [room(device), room(device)];
    for round in 0..24 {
        // The same places three times, then others, some of them not aligned.
        let from = 5 * (round as usize / 3);
        for (stream, room) in streams.iter().zip(&rooms) {
            let (x, outputs) = (part(room, from), [part(room, from + 20), part(room, from + 24)]);
            set(&x, [round, 3], stream);
            function.call(device, std::slice::from_ref(&x), &outputs, Some(stream)).unwrap();
            assert_eq!(get(&outputs[0], stream), bytes([3, 4]));
            assert_eq!(get(&outputs[1], stream), bytes([round, 3]));
            assert_eq!(get(&x, stream), bytes([round, 3]));
        }
    }
}

#[test]
fn a_capture_of_another_takes_a_call() {
    let Some(device) = gpu() else { return };
    let (stream, room) = (Stream::unordered(device).unwrap(), room(device));
    for from in [0, 1] {
        let function = Function::new(support::bundle()).unwrap();
        let (x, outputs) = (part(&room, from), [part(&room, from + 4), part(&room, from + 8)]);
        stream.begin_capture(CaptureMode::Global).unwrap();
        function.call(device, std::slice::from_ref(&x), &outputs, Some(&stream)).unwrap();
        let graph = stream.end_capture().unwrap();
        drop(function);
        for round in 0..3 {
            set(&x, [round, 9], &stream);
            graph.launch(&stream).unwrap();
            assert_eq!(get(&outputs[0], &stream), bytes([3, 4]));
            assert_eq!(get(&outputs[1], &stream), bytes([round, 9]));
        }
    }
}

#[test]
fn memory_is_kept_where_that_is_asked_for() {
    let Some(device) = gpu() else { return };
    let (stream, room) = (Stream::unordered(device).unwrap(), room(device));
    let function = Function::keeping_memory(support::bundle()).unwrap();
    let (x, outputs) = (part(&room, 0), [part(&room, 4), part(&room, 8)]);
    let mut last = [3, 4];
    for round in 0..6 {
        set(&x, [round, round], &stream);
        function.call(device, std::slice::from_ref(&x), &outputs, Some(&stream)).unwrap();
        assert_eq!(get(&outputs[0], &stream), bytes(last));
        last = [round, round];
    }
}
