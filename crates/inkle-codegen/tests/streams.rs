//! Stores past the caches: which kernels have them, and that they leave what others leave.

mod common;

use common::{Code, Numbers, exact, module, runnable_targets};
use inkle_codegen::{CpuTarget, Emit, Options, Target, emit_text};
use inkle_ir::{ArrayDesc, LaunchBounds, Module, ParamLayout};

/// Extents that make a launch large, although only a part of it is run.
const LARGE: i32 = 1 << 28;
/// Elements of each array that are there.
const THERE: usize = 1 << 10;

/// `y[i] = 2 x[i]`, the store in some surroundings.
fn doubling(store: &str) -> String {
    format!(
        "kernel @k(%x: array<f32, 1>, %y: array<f32, 1>) {{
          %i = tid 0 : i32
          %xe = elem %x, %i : ref<f32>
          %v = load %xe : f32
          %r = add %v, %v : f32
          %ye = elem %y, %i : ref<f32>
          {store}
          return
        }}"
    )
}

/// Vectors and numbers, each to an array of its own.
const TWO_ARRAYS: &str = "kernel @k(%x: array<f32, 1>, %y: array<vec<3, f32>, 1>, %z: array<f64, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f32>
  %v = load %xe : f32
  %w = add %v, %v : f32
  %wide = cast %v : f64
  %three = construct %v, %w, %v : vec<3, f32>
  %ye = elem %y, %i : ref<vec<3, f32>>
  store %ye, %three
  %ze = elem %z, %i : ref<f64>
  store %ze, %wide
  return
}";

/// Rows whose length is no multiple of the lanes.
const ROWS: &str = "kernel @k(%x: array<f32, 1>, %y: array<f32, 2>) {
  %i = tid 0 : i32
  %j = tid 1 : i32
  %xe = elem %x, %j : ref<f32>
  %v = load %xe : f32
  %ye = elem %y, %i, %j : ref<f32>
  store %ye, %v
  return
}";

/// Under a condition that differs between lanes.
const SOME: &str = "%half = const 0.5 : f32
  %large = gt %v, %half : bool
  if %large {
    store %ye, %r
    yield
  } else {
    yield
  }";

/// A kernel, the size of an element of each array, and extents of launches.
type Kernel<'a> = (&'a str, &'a [usize], &'a [&'a [i32]]);

/// The arguments of a launch: arrays of so many bytes an element, `offset` bytes from where the the lines of caches begin.
struct Arrays {
    memory: Vec<Vec<u8>>,
    elements: Vec<usize>,
    offset: usize,
}

impl Arrays {
    fn new(elements: &[usize], offset: usize) -> Arrays {
        let memory = elements.iter().map(|size| vec![0; size * THERE + 128]).collect();
        let mut arrays = Arrays { memory, elements: elements.to_vec(), offset };
        let mut numbers = Numbers(7);
        for array in 0..elements.len() {
            let start = arrays.start(array);
            for value in arrays.memory[array][start..].chunks_exact_mut(4).take(THERE) {
                value.copy_from_slice(&numbers.unit().to_ne_bytes());
            }
        }
        arrays
    }

    /// Where an array begins in its memory.
    fn start(&self, array: usize) -> usize {
        self.memory[array].as_ptr().align_offset(64) + self.offset
    }

    /// What an array holds.
    fn data(&self, array: usize) -> &[u8] {
        &self.memory[array][self.start(array)..][..self.elements[array] * THERE]
    }

    /// Runs the first threads of a launch of these extents. The last array has all of them, others the last ones.
    fn run(&mut self, code: &Code, kernel: &Module, dims: &[i32], threads: u64) {
        let params = &kernel.kernel().expect("a kernel").params;
        let layout = ParamLayout::new(params.iter().map(|p| p.ty));
        let mut block = vec![0u64; layout.size as usize / 8];
        let mut bounds = LaunchBounds { dims: [1; 4], size: 1 };
        for (to, &extent) in bounds.dims.iter_mut().zip(dims) {
            *to = extent as u32;
            bounds.size *= extent as u64;
        }
        let at = block.as_mut_ptr().cast::<u8>();
        // SAFETY: the block is as large as the layout says.
        unsafe { at.cast::<LaunchBounds>().write_unaligned(bounds) };
        for (i, (param, place)) in params.iter().zip(&layout.args).enumerate() {
            let start = self.start(i);
            let address = self.memory[i][start..].as_mut_ptr();
            let mut desc = ArrayDesc { data: address.expose_provenance() as u64, ..Default::default() };
            let ndim = param.ty.as_array().expect("an array").ndim as usize;
            let extents = if ndim == dims.len() { dims } else { &dims[dims.len() - ndim..] };
            let mut stride = self.elements[i] as i64;
            for d in (0..ndim).rev() {
                desc.shape[d] = extents[d];
                desc.strides[d] = stride;
                stride *= i64::from(extents[d]);
            }
            // SAFETY: as above.
            unsafe { at.add(place.offset as usize).cast::<ArrayDesc>().write_unaligned(desc) };
        }
        // SAFETY: what the entry point is by the contract of `inkle_codegen`.
        let entry: unsafe extern "C" fn(*const u8, u64, u64) = unsafe { std::mem::transmute(code.entry()) };
        // SAFETY: the threads that run stay in what is there of the arrays.
        unsafe { entry(block.as_ptr().cast(), 0, threads) };
    }
}

fn assembly(text: &str, target: &CpuTarget, options: &Options) -> String {
    emit_text(&module(text), &Target::Cpu(target.clone()), options, Emit::Asm).expect("it compiles")
}

/// What large and small launches leave in memory, wherever arrays lie, is what code of one lane leaves.
#[test]
fn stores_past_the_caches_leave_what_others_do() {
    let all = doubling("store %ye, %r");
    let some = doubling(SOME);
    let kernels: [Kernel<'_>; 4] = [
        (&all, &[4, 4], &[&[LARGE], &[1000]]),
        (&some, &[4, 4], &[&[LARGE], &[1000]]),
        (TWO_ARRAYS, &[4, 12, 8], &[&[LARGE], &[1000]]),
        (ROWS, &[4, 4], &[&[LARGE / 100, 100], &[10, 100], &[LARGE / 64, 64]]),
    ];
    for (text, elements, launches) in kernels {
        let kernel = module(text);
        let reference = Code::new(&kernel, &CpuTarget::host(), &exact(0, 1));
        for target in runnable_targets() {
            for lanes in [4, 8, 16, 64] {
                let code = Code::new(&kernel, &target, &Options { contiguous: 7, ..exact(2, lanes) });
                for (dims, offset) in launches.iter().flat_map(|&dims| [0, 4, 16, 32].map(|o| (dims, o))) {
                    let (mut want, mut got) = (Arrays::new(elements, offset), Arrays::new(elements, offset));
                    want.run(&reference, &kernel, dims, 999);
                    got.run(&code, &kernel, dims, 999);
                    for array in 0..elements.len() {
                        assert!(
                            got.data(array) == want.data(array),
                            "array {array}, {} lanes {lanes}, {dims:?}, offset {offset}",
                            target.cpu
                        );
                    }
                }
            }
        }
    }
}

/// Which kernels write past the caches: those that do nothing else with an array.
#[test]
fn arrays_that_are_only_written_are_written_past_the_caches() {
    let target = CpuTarget { cpu: "x86-64-v4".into(), ..CpuTarget::baseline_x86_64() };
    let options = Options { contiguous: 7, ..exact(2, 16) };
    let streams = |text: &str| {
        let text = assembly(text, &target, &options);
        let fences = text.matches("sfence").count();
        assert_eq!(fences > 0, text.contains("vmovnt"), "what is written is made visible\n{text}");
        text.matches("vmovnt").count()
    };
    assert_eq!(streams(&doubling("store %ye, %r")), 1);
    // Three vectors of a vector's parts, and two of f64.
    assert_eq!(streams(TWO_ARRAYS), 5);
    assert_eq!(streams(ROWS), 1);
    // Lanes that are left out.
    assert_eq!(streams(&doubling(SOME)), 0);
    // Read, whether before or after.
    assert_eq!(streams(&doubling("%old = load %ye : f32\n%s = add %old, %r : f32\nstore %ye, %s")), 0);
    assert_eq!(streams(&doubling("store %ye, %r\n%y0 = elem %y, %i : ref<f32>\n%old = load %y0 : f32")), 0);
    // Written twice, or again and again.
    assert_eq!(streams(&doubling("store %ye, %v\nstore %ye, %r")), 0);
    let rounds = "%none = const 0 : i32
      %one = const 1 : i32
      for %n: i32 = %none, %i, %one {
        store %ye, %r
        yield
      }";
    assert_eq!(streams(&doubling(rounds)), 0);
    // Others may wait for an update that is made after the store.
    let flag = "store %ye, %r\n%o = atomic_add %xe, %v : f32";
    assert_eq!(streams(&doubling(flag)), 0);
    let one_lane = assembly(&doubling("store %ye, %r"), &target, &exact(2, 1));
    assert!(!one_lane.contains("sfence"), "{one_lane}");
}
