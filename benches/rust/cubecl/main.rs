//! CubeCL's side of `make bench-rust`; see `common.rs`.

#[path = "../common.rs"]
mod common;

use common::{BODIES, ELEMENTS, SOFTENING, floats, print_first, print_steady};
use cubecl::Device;
use cubecl::calculate_cube_count_elemwise;
use cubecl::client::Client;
use cubecl::prelude::*;
use cubecl::server::Handle;

#[cube(launch_unchecked)]
fn saxpy<N: Size>(x: &[Vector<f32, N>], y: &mut [Vector<f32, N>], a: f32) {
    if ABSOLUTE_POS < y.len() {
        y[ABSOLUTE_POS] = Vector::new(a) * x[ABSOLUTE_POS] + y[ABSOLUTE_POS];
    }
}

#[cube(launch_unchecked)]
fn map<N: Size>(x: &[Vector<f32, N>], y: &mut [Vector<f32, N>]) {
    if ABSOLUTE_POS < y.len() {
        let v = x[ABSOLUTE_POS];
        y[ABSOLUTE_POS] = Vector::sin(v) * Vector::exp(-v) + Vector::sqrt(v);
    }
}

/// A unit computes the pull on as many bodies as a vector has numbers, from the same arrays as numbers one by one.
#[cube(launch_unchecked)]
fn nbody<N: Size>(
    x: &[f32],
    y: &[f32],
    z: &[f32],
    xs: &[Vector<f32, N>],
    ys: &[Vector<f32, N>],
    zs: &[Vector<f32, N>],
    softening: f32,
    pull: &mut [Vector<f32, N>],
) {
    if ABSOLUTE_POS < pull.len() {
        let xi = xs[ABSOLUTE_POS];
        let yi = ys[ABSOLUTE_POS];
        let zi = zs[ABSOLUTE_POS];
        let mut sum = Vector::<f32, N>::new(0.0f32);
        for j in 0..x.len() {
            let dx = Vector::new(x[j]) - xi;
            let dy = Vector::new(y[j]) - yi;
            let dz = Vector::new(z[j]) - zi;
            let square = dx * dx + dy * dy + dz * dz + Vector::new(softening);
            let inverse = Vector::new(1.0f32) / Vector::sqrt(square);
            sum += inverse * inverse * inverse * dx;
        }
        pull[ABSOLUTE_POS] = sum;
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.last().copied() {
        #[cfg(feature = "cpu")]
        Some("cpu") => run(&words, &Device::Cpu(Default::default()).client(), 1),
        #[cfg(feature = "cuda")]
        Some("cuda:0") => run(&words, &Device::Cuda(Default::default()).client(), 20),
        _ => panic!(
            "usage: bench-cubecl first|steady KERNEL DEVICE, or overhead plain DEVICE; built for no such device"
        ),
    }
}

/// What a kernel is launched on.
struct Work {
    client: Client,
    count: usize,
    /// The widest vectors that divide the work and that the device takes.
    width: usize,
    inputs: [Handle; 3],
    output: Handle,
}

fn run(words: &[&str], client: &Client, batch: u32) {
    let (mode, kernel) = (words[0], if words[0] == "overhead" { "saxpy" } else { words[1] });
    let count = match (mode, kernel) {
        ("overhead", _) => 1,
        (_, "nbody") => BODIES,
        _ => ELEMENTS,
    };
    let values = floats(3 * BODIES.max(count / 3 + 1));
    let bytes = |range: std::ops::Range<usize>| client.create_from_slice(f32::as_bytes(&values[range]));
    let inputs = match kernel {
        "nbody" => [bytes(0..count), bytes(count..2 * count), bytes(2 * count..3 * count)],
        _ => [bytes(0..count), bytes(0..1), bytes(0..1)],
    };
    let output = client.create_from_slice(f32::as_bytes(&vec![0.0; count]));
    let widths = client.io_optimized_vector_sizes(size_of::<f32>());
    // The bodies are few for a GPU, which needs a unit for each of them to be busy; cores need vectors.
    let width = match (kernel, client.properties().hardware.num_cpu_cores) {
        ("nbody", None) => 1,
        _ => widths.filter(|width| count.is_multiple_of(*width)).max().unwrap_or(1),
    };
    let work = Work { client: client.clone(), count, width, inputs, output };
    let launch = || launch(&work, kernel);
    let read = || f32::from_bytes(&work.client.read_one_unchecked(work.output.clone()))[count / 2];
    launch();
    let check = read();
    match mode {
        "first" => print_first(check),
        "overhead" => print_steady(check, 1000, launch, || wait(&work.client)),
        _ => print_steady(check, batch, launch, || wait(&work.client)),
    }
}

fn wait(client: &Client) {
    cubecl::future::block_on(client.sync()).expect("the device does its work");
}

fn launch(work: &Work, kernel: &str) {
    let Work { client, count, width, inputs, output } = work;
    let units = count / width;
    // CubeCL's own choice for the device: up to 256 units on GPUs, a unit per core on the CPU.
    let dim = CubeDim::new(client, units);
    let cubes = calculate_cube_count_elemwise(client, units, dim);
    // SAFETY: every handle has as many elements as is said here, and kernels compare their position with that.
    unsafe {
        let array = |handle: &Handle, len: usize| BufferArg::from_raw_parts(handle.clone(), len);
        match kernel {
            "saxpy" => saxpy::launch_unchecked(
                client,
                cubes,
                dim,
                *width,
                array(&inputs[0], *count),
                array(output, *count),
                2.0,
            ),
            "map" => map::launch_unchecked(
                client,
                cubes,
                dim,
                *width,
                array(&inputs[0], *count),
                array(output, *count),
            ),
            "nbody" => nbody::launch_unchecked(
                client,
                cubes,
                dim,
                *width,
                array(&inputs[0], *count),
                array(&inputs[1], *count),
                array(&inputs[2], *count),
                array(&inputs[0], *count),
                array(&inputs[1], *count),
                array(&inputs[2], *count),
                SOFTENING,
                array(output, *count),
            ),
            other => panic!("there is no kernel `{other}`"),
        }
    }
}
