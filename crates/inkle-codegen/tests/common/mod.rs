//! Runs compiled kernels on plain buffers.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod apart;
pub mod gpu;
pub mod ways;

use std::path::{Path, PathBuf};

use inkle_codegen::{Artifact, CpuTarget, Lanes, Options, Target, compile, set_package_folders};
use inkle_ir::{
    ArrayDesc, IndexedArrayDesc, LaunchBounds, Module, OwnRange, ParamLayout, Type, parse, verify,
};
use inkle_runtime::elf::LoadedObject;

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub enum Arg {
    /// The bytes of a scalar, vector or struct without arrays.
    Bytes(Vec<u8>),
    /// An array of elements with strides in bytes.
    Array { data: Vec<u8>, shape: Vec<i32>, strides: Vec<i64> },
    /// An indexed array: data as before, index lists per dimension, extents as seen.
    Indexed { data: Vec<u8>, strides: Vec<i64>, lists: Vec<Option<Vec<i32>>>, shape: Vec<i32> },
}

pub fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_ne_bytes).collect()
}

pub fn i32s(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    values.into_iter().flat_map(i32::to_ne_bytes).collect()
}

pub fn as_f32s(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|&c| f32::from_ne_bytes(c)).collect()
}

pub fn as_i32s(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks::<4>().0.iter().map(|&c| i32::from_ne_bytes(c)).collect()
}

impl Arg {
    /// A contiguous array of `elem_size` bytes an element.
    pub fn array(data: Vec<u8>, elem_size: i64, shape: &[i32]) -> Arg {
        let mut strides = vec![elem_size; shape.len()];
        for d in (0..shape.len().saturating_sub(1)).rev() {
            strides[d] = strides[d + 1] * i64::from(shape[d + 1]);
        }
        Arg::Array { data, shape: shape.to_vec(), strides }
    }

    /// A one-dimensional array of f32.
    pub fn f32(values: impl IntoIterator<Item = f32>) -> Arg {
        let data = f32s(values);
        let n = data.len() as i32 / 4;
        Arg::array(data, 4, &[n])
    }

    /// A one-dimensional array of i32.
    pub fn i32(values: impl IntoIterator<Item = i32>) -> Arg {
        let data = i32s(values);
        let n = data.len() as i32 / 4;
        Arg::array(data, 4, &[n])
    }

    /// The bytes of the array's memory.
    pub fn data(&self) -> &[u8] {
        match self {
            Arg::Bytes(data) | Arg::Array { data, .. } | Arg::Indexed { data, .. } => data,
        }
    }
}

/// Reads and verifies a module.
pub fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    if let Err(errors) = verify(&module) {
        panic!("{errors}\n{text}");
    }
    module
}

/// A kernel's entry, and the ranges that the form for running alone takes.
type AloneEntry = unsafe extern "C" fn(*const u8, u64, u64, *mut OwnRange);

/// Compiled code in memory.
pub struct Code {
    pub artifact: Artifact,
    object: LoadedObject,
    layout: ParamLayout,
    types: Vec<Type>,
}

impl Code {
    pub fn new(module: &Module, target: &CpuTarget, options: &Options) -> Code {
        let artifact =
            compile(module, &Target::Cpu(target.clone()), options).unwrap_or_else(|e| panic!("{e}"));
        Code::load(module, artifact)
    }

    /// Loads code whose entry takes what a CPU kernel's does.
    pub fn load(module: &Module, artifact: Artifact) -> Code {
        let object = LoadedObject::load(&artifact.code).unwrap_or_else(|e| panic!("{e}"));
        let types: Vec<Type> = module.kernel().expect("a kernel").params.iter().map(|p| p.ty).collect();
        Code { artifact, object, layout: ParamLayout::new(types.iter().copied()), types }
    }

    /// The address of the entry point.
    pub fn entry(&self) -> *const u8 {
        self.object.symbol(&self.artifact.entry).expect("the entry").cast()
    }

    /// Runs all threads of a launch, in the ranges that `cuts` makes, and gives the arguments as they are then. Code
    /// with a second form for running alone must give the same by it.
    pub fn run(&self, args: &[Arg], dims: &[i32], cuts: &[u64]) -> Vec<Arg> {
        let mut ran = args.to_vec();
        self.run_on(&self.artifact.entry, &mut ran, dims, cuts, 1);
        let alone = format!("{}_alone", self.artifact.entry);
        if self.object.symbol(&alone).is_some() {
            let mut ran_alone = args.to_vec();
            self.run_on(&alone, &mut ran_alone, dims, cuts, 1);
            for (i, (got, want)) in ran_alone.iter().zip(&ran).enumerate() {
                assert!(got.data() == want.data(), "argument {i} differs in the form that runs alone");
            }
        }
        ran
    }

    /// Runs all threads of a launch by the form for running alone, which is there, and gives the arguments as they are then.
    pub fn run_alone(&self, args: &[Arg], dims: &[i32]) -> Vec<Arg> {
        let mut ran = args.to_vec();
        self.run_on(&format!("{}_alone", self.artifact.entry), &mut ran, dims, &[], 1);
        ran
    }

    /// The shortest time of several runs, ms.
    pub fn time(&self, args: &[Arg], dims: &[i32], times: usize) -> f64 {
        self.run_on(&self.artifact.entry, &mut args.to_vec(), dims, &[], times)
    }

    /// Calls `f` with the parameter block of a launch with these arguments.
    pub fn with_params<R>(&self, args: &mut [Arg], dims: &[i32], f: impl FnOnce(&[u64]) -> R) -> R {
        assert_eq!(args.len(), self.types.len());
        let mut all_dims = [1; 4];
        for (to, &dim) in all_dims.iter_mut().zip(dims) {
            *to = dim as u32;
        }
        let size = dims.iter().map(|&d| d as u64).product();
        // As words, for the alignment of the block.
        let mut block = vec![0u64; self.layout.size as usize / 8];
        let bounds = LaunchBounds { dims: all_dims, size };
        let at = block.as_mut_ptr().cast::<u8>();
        // SAFETY: the block is as large as the layout says, and fields lie inside it.
        unsafe { at.cast::<LaunchBounds>().write_unaligned(bounds) };
        for ((arg, field), ty) in args.iter_mut().zip(&self.layout.args).zip(&self.types) {
            // SAFETY: as above.
            let at = unsafe { at.add(field.offset as usize) };
            match arg {
                Arg::Bytes(bytes) => {
                    assert_eq!(bytes.len(), ty.size() as usize);
                    // SAFETY: the field has the argument's size.
                    unsafe { at.copy_from(bytes.as_ptr(), bytes.len()) };
                }
                Arg::Array { data, shape, strides } => {
                    let desc = descriptor(data, shape, strides);
                    // SAFETY: the field has a descriptor's size.
                    unsafe { at.cast::<ArrayDesc>().write_unaligned(desc) };
                }
                Arg::Indexed { data, strides, lists, shape } => {
                    let mut desc =
                        IndexedArrayDesc { array: descriptor(data, shape, strides), ..Default::default() };
                    desc.shape[..shape.len()].copy_from_slice(shape);
                    for (slot, list) in desc.indices.iter_mut().zip(lists) {
                        *slot = list.as_ref().map_or(0, |l| l.as_ptr().expose_provenance() as u64);
                    }
                    // SAFETY: the field has a descriptor's size.
                    unsafe { at.cast::<IndexedArrayDesc>().write_unaligned(desc) };
                }
            }
        }
        f(&block)
    }

    fn run_on(&self, entry: &str, args: &mut [Arg], dims: &[i32], cuts: &[u64], times: usize) -> f64 {
        let size = dims.iter().map(|&d| d as u64).product();
        let entry = self.object.symbol(entry).expect("the entry");
        // SAFETY: the entry point has this type, by the contract of `inkle_codegen`; only that of the form for running alone
        // looks at ranges.
        let entry: AloneEntry = unsafe { std::mem::transmute(entry) };
        let mut everything = [OwnRange::EVERYTHING; OwnRange::MOST];
        self.with_params(args, dims, |block| {
            let mut best = f64::INFINITY;
            for _ in 0..times {
                let start = cpu_ms();
                let ends = cuts.iter().copied().filter(|&c| c < size).chain([size]);
                let mut begin = 0;
                for end in ends {
                    // SAFETY: the block is laid out as the code expects, and kernels in tests stay in their arrays.
                    unsafe { entry(block.as_ptr().cast(), begin, end, everything.as_mut_ptr()) };
                    begin = end;
                }
                best = best.min(cpu_ms() - start);
            }
            best
        })
    }
}

/// The CPU time of this thread so far, ms: on a shared machine the clock on the wall says little.
pub fn cpu_ms() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes the struct that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 * 1e-6
}

fn descriptor(data: &mut [u8], shape: &[i32], strides: &[i64]) -> ArrayDesc {
    let mut desc = ArrayDesc { data: data.as_mut_ptr().expose_provenance() as u64, ..Default::default() };
    desc.shape[..shape.len()].copy_from_slice(shape);
    desc.strides[..strides.len()].copy_from_slice(strides);
    desc
}

/// Options that leave floats alone, so that every way of compiling must give the same bits.
pub fn exact(level: u8, lanes: u32) -> Options {
    Options { optimization_level: level, lanes: Lanes::Fixed(lanes), fuse_fp: false, ..Options::default() }
}

/// A small generator of numbers (splitmix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In -1..1.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// CPUs that this machine can run code for, narrowest first.
pub fn runnable_targets() -> Vec<CpuTarget> {
    let mut targets = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        let level = |cpu: &str| CpuTarget { cpu: cpu.into(), ..CpuTarget::baseline_x86_64() };
        targets.push(CpuTarget::baseline_x86_64());
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            targets.push(level("x86-64-v3"));
        }
        if std::arch::is_x86_feature_detected!("avx512vl") {
            targets.push(level("x86-64-v4"));
        }
    }
    targets.push(CpuTarget::host());
    targets
}

/// Points the compiler at NVIDIA's wheels, in the active or the repository's virtual environment.
pub fn with_packages() {
    let mut roots: Vec<PathBuf> = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from).into_iter().collect();
    roots.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv"));
    let mut folders = Vec::new();
    for root in roots {
        let Ok(versions) = root.join("lib").read_dir() else { continue };
        folders.extend(versions.flatten().map(|v| v.path().join("site-packages")));
    }
    set_package_folders(folders);
}
