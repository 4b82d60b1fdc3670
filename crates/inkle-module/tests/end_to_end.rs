//! From Python source to results on the CPU.

use inkle_diag::SourceFile;
use inkle_frontend::CheckOptions;
use inkle_ir::{ArrayDesc, LaunchBounds};
use inkle_module::{Kernel, KernelIr, Loaded, Options, library_function, library_names};
use inkle_python::{FileEnvironment, Library};
use inkle_runtime::Device;

/// The kernel `k` of a file.
fn kernel(source: &str) -> Kernel {
    let file = SourceFile::register("kernel.py", source);
    let env = FileEnvironment::new(&file, Library { functions: library_function, names: library_names });
    let (_, key) = *env.kernels().iter().find(|(name, _)| *name == "k").expect("the file has a kernel `k`");
    let args = env.kernel_types(key).unwrap().expect("its parameters are annotated");
    let ir = KernelIr::build(&env, key, &args, CheckOptions::default());
    Kernel::new(ir.unwrap_or_else(|e| panic!("{e}")))
}

#[derive(Clone)]
enum Arg<'a> {
    Floats(&'a [f32], i32),
    F32(f32),
    I32(i32),
}

fn launch(kernel: &Kernel, n: i32, args: &[Arg]) {
    let layout = kernel.ir().layout();
    let mut block = vec![0u8; layout.size as usize];
    let bounds = LaunchBounds { dims: [n as u32, 1, 1, 1], size: n as u64 };
    block[..16].copy_from_slice(&bounds.dims.map(u32::to_le_bytes).concat());
    block[16..24].copy_from_slice(&bounds.size.to_le_bytes());
    for (arg, at) in args.iter().zip(&layout.args) {
        let at = at.offset as usize;
        match arg {
            Arg::F32(x) => block[at..at + 4].copy_from_slice(&x.to_le_bytes()),
            Arg::I32(x) => block[at..at + 4].copy_from_slice(&x.to_le_bytes()),
            Arg::Floats(data, width) => {
                let address = data.as_ptr().expose_provenance() as u64;
                let desc = ArrayDesc {
                    data: address,
                    shape: [data.len() as i32 / width, 0, 0, 0],
                    strides: [i64::from(*width) * 4, 0, 0, 0],
                    ..ArrayDesc::default()
                };
                block[at..at + 8].copy_from_slice(&desc.data.to_le_bytes());
                block[at + 16..at + 32].copy_from_slice(&desc.shape.map(i32::to_le_bytes).concat());
                block[at + 32..at + 64].copy_from_slice(&desc.strides.map(i64::to_le_bytes).concat());
            }
        }
    }
    let words: Vec<u64> = block.chunks(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
    let options = Options { contiguous: kernel.ir().all_contiguous(), ..Options::default() };
    let (loaded, _) = kernel.load(Device::cpu(), &options).unwrap_or_else(|e| panic!("{e}"));
    let Loaded::Cpu(function) = &*loaded else { panic!("a CPU device loads CPU code") };
    function.launch(&words, n as u64).unwrap();
}

#[test]
fn saxpy() {
    let k = kernel(
        "import inkle as wp

@wp.kernel
def k(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]
",
    );
    let x: Vec<f32> = (0..1003).map(|i| i as f32).collect();
    let y = vec![1.0f32; 1003];
    launch(&k, 1003, &[Arg::Floats(&x, 1), Arg::Floats(&y, 1), Arg::F32(2.0)]);
    for (i, y) in y.iter().enumerate() {
        assert_eq!(*y, 2.0 * i as f32 + 1.0);
    }
}

#[test]
fn nbody_with_loops_vectors_and_library_calls() {
    let k = kernel(
        "import inkle as wp

@wp.kernel
def k(p: wp.array(dtype=wp.vec3), o: wp.array(dtype=wp.vec3), n: int):
    i = wp.tid()
    a = p[i]
    f = wp.vec3(0.0, 0.0, 0.0)
    for j in range(n):
        d = p[j] - a
        r2 = wp.dot(d, d) + 0.01
        inv = 1.0 / wp.sqrt(r2)
        if r2 > 0.5:
            f += d * (inv * inv * inv)
        else:
            continue
    o[i] = f
",
    );
    let n = 37;
    let p: Vec<f32> = (0..n * 3).map(|i| ((i * 7919) % 101) as f32 / 50.0).collect();
    let o = vec![0.0f32; n * 3];
    launch(&k, n as i32, &[Arg::Floats(&p, 3), Arg::Floats(&o, 3), Arg::I32(n as i32)]);
    for i in 0..n {
        let mut f = [0.0f64; 3];
        for j in 0..n {
            let d: Vec<f64> = (0..3).map(|c| f64::from(p[j * 3 + c]) - f64::from(p[i * 3 + c])).collect();
            let r2 = d.iter().map(|x| x * x).sum::<f64>() + 0.01;
            if r2 > 0.5 {
                (0..3).for_each(|c| f[c] += d[c] / r2.powf(1.5));
            }
        }
        for c in 0..3 {
            assert!((f64::from(o[i * 3 + c]) - f[c]).abs() < 1e-4, "{i} {c}: {} {}", o[i * 3 + c], f[c]);
        }
    }
}
