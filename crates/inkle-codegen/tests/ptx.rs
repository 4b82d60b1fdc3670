//! GPU code: properties of the PTX, and that NVIDIA's assembler accepts it.

mod common;

use std::path::Path;

use common::{module, with_packages};
use inkle_codegen::{
    ArtifactKind, CodegenError, CudaOutput, CudaTarget, Emit, Options, Target, compile, emit_text,
};

fn target(arch: u32, output: CudaOutput) -> Target {
    Target::Cuda(CudaTarget { arch, output })
}

fn ptx(text: &str, options: &Options) -> String {
    let artifact =
        compile(&module(text), &target(90, CudaOutput::Ptx), options).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(artifact.kind, ArtifactKind::Ptx);
    String::from_utf8(artifact.code).expect("PTX is text")
}

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("kernels/", $name, ".ink"))
    };
}

/// Every kernel of the tests.
fn all_kernels() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let mut all: Vec<(String, String)> = folder
        .read_dir()
        .expect("the kernels are there")
        .map(|entry| {
            let path = entry.expect("the folder can be read").path();
            (path.display().to_string(), std::fs::read_to_string(&path).expect("the kernel can be read"))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn one_entry_takes_one_block_by_value() {
    let text = ptx(kernel!("saxpy"), &Options { contiguous: 3, ..Options::default() });
    assert!(text.contains(".visible .entry inkle_kernel("), "{text}");
    assert!(text.contains(".param .align 8 .b8 inkle_kernel_param_0[160]"), "{text}");
    assert!(text.contains("ld.param"), "{text}");
    assert!(text.contains("ld.global.b32") && text.contains("st.global.b32"), "{text}");
    assert!(!text.contains(".local"), "no stack: {text}");
    assert!(!text.contains("ld.b32"), "no generic loads: {text}");
}

/// How often a text has a part.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn elements_move_in_accesses_of_16_bytes() {
    let aligned = Options { contiguous: 3, aligned: true, ..Options::default() };
    let text = ptx(kernel!("saxpy"), &aligned);
    assert_eq!((count(&text, "ld.global.v4.b32"), count(&text, "st.global.v4.b32")), (2, 1), "{text}");
    assert_eq!((count(&text, "ld.global.b32"), count(&text, "st.global.b32")), (2, 1), "a rest: {text}");
    assert_eq!(count(&text, "fma.rn.f32"), 5, "{text}");
    for options in
        [Options { aligned: false, ..aligned.clone() }, Options { contiguous: 0, ..aligned.clone() }]
    {
        let text = ptx(kernel!("saxpy"), &options);
        assert!(!text.contains(".v4") && !text.contains(".v2"), "{text}");
    }
    let halves = ptx(&kernel!("saxpy").replace("f32", "f16"), &aligned);
    assert!(halves.contains("ld.global.v4.b32") && halves.contains("fma.rn.f16x2"), "{halves}");
    let doubles = ptx(&kernel!("saxpy").replace("f32", "f64"), &aligned);
    assert!(doubles.contains("ld.global.v2.b64"), "{doubles}");
    let bytes = ptx(&kernel!("saxpy").replace("f32", "i8"), &aligned);
    assert!(bytes.contains("ld.global.v2.b32") && bytes.contains("st.global.v2.b32"), "{bytes}");
}

#[test]
fn vectors_of_three_move_in_accesses_of_16_bytes() {
    let text = ptx(
        "kernel @k(%x: array<vec<3, f32>, 1>, %y: array<vec<3, f32>, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<vec<3, f32>>
  %xv = load %xe : vec<3, f32>
  %ye = elem %y, %i : ref<vec<3, f32>>
  %yv = load %ye : vec<3, f32>
  %r = add %xv, %yv : vec<3, f32>
  store %ye, %r
  return
}",
        &Options { contiguous: 3, aligned: true, ..Options::default() },
    );
    assert_eq!((count(&text, "ld.global.v4.b32"), count(&text, "st.global.v4.b32")), (6, 3), "{text}");
}

#[test]
fn whole_vectors_of_four_are_one_access_wherever_they_lie() {
    let text = "kernel @k(%x: array<vec<4, f32>, 1>, %at: array<i32, 1>, %y: array<vec<4, f32>, 1>) {
  %i = tid 0 : i32
  %ae = elem %at, %i : ref<i32>
  %j = load %ae : i32
  %xe = elem %x, %j : ref<vec<4, f32>>
  %xv = load %xe : vec<4, f32>
  %ye = elem %y, %i : ref<vec<4, f32>>
  store %ye, %xv
  return
}";
    let aligned = ptx(text, &Options { contiguous: 7, aligned: true, ..Options::default() });
    assert_eq!((count(&aligned, "ld.global.v4"), count(&aligned, "st.global.v4")), (1, 1), "{aligned}");
    let plain = ptx(text, &Options { contiguous: 7, ..Options::default() });
    assert!(!plain.contains(".v4"), "{plain}");
}

#[test]
fn lanes_share_library_functions() {
    with_packages();
    let text = kernel!("saxpy").replace("%ax = mul %a, %xv", "%e = exp %xv : f32\n  %ax = mul %a, %e");
    let options = Options { contiguous: 3, aligned: true, ..Options::default() };
    match compile(&module(&text), &target(90, CudaOutput::Ptx), &options) {
        Err(CodegenError::MissingLibrary { library, .. }) => println!("skipped: {library} is not installed"),
        Err(e) => panic!("{e}"),
        Ok(artifact) => {
            let text = String::from_utf8(artifact.code).expect("PTX is text");
            assert_eq!(artifact.lanes, 4);
            assert_eq!((count(&text, "ld.global.v4.b32"), count(&text, "ex2.approx")), (2, 5), "{text}");
            assert!(!text.contains("call"), "{text}");
        }
    }
}

#[test]
fn only_far_angles_are_left_to_the_library() {
    with_packages();
    let text = kernel!("saxpy").replace("%ax = mul %a, %xv", "%e = sin %xv : f32\n  %ax = mul %a, %e");
    let of = |fast_math| {
        let options = Options { contiguous: 3, aligned: true, fast_math, ..Options::default() };
        match compile(&module(&text), &target(90, CudaOutput::Ptx), &options) {
            Err(CodegenError::MissingLibrary { library, .. }) => {
                println!("skipped: {library} is not installed");
                None
            }
            Err(e) => panic!("{e}"),
            Ok(artifact) => Some(String::from_utf8(artifact.code).expect("PTX is text")),
        }
    };
    let (Some(exact), Some(fast)) = (of(false), of(true)) else { return };
    // A call for each lane and for a single thread, behind the comparison with the limit, 65536.
    assert_eq!(count(&exact, "call.uni"), 5, "{exact}");
    assert!(exact.contains("0f47800000") && exact.contains("ld.global.v4.b32"), "{exact}");
    assert!(fast.contains("sin.approx") && !fast.contains("call"), "{fast}");
}

#[test]
fn contraction_follows_the_option() {
    assert!(ptx(kernel!("saxpy"), &Options::default()).contains("fma.rn.f32"));
    let strict = ptx(kernel!("saxpy"), &Options { fuse_fp: false, ..Options::default() });
    assert!(
        !strict.contains("fma") && strict.contains("mul.rn.f32") && strict.contains("add.rn.f32"),
        "{strict}"
    );
}

#[test]
fn reciprocal_square_roots_are_one_instruction() {
    assert!(ptx(kernel!("nbody"), &Options::default()).contains("rsqrt.approx.f32"));
    let strict = ptx(kernel!("nbody"), &Options { fuse_fp: false, ..Options::default() });
    assert!(
        strict.contains("sqrt.rn.f32") && strict.contains("div.rn.f32") | strict.contains("rcp.rn.f32"),
        "{strict}"
    );
    let fast = ptx(kernel!("unary"), &Options { fast_math: true, ..Options::default() });
    assert!(fast.contains("sqrt.approx"), "{fast}");
}

#[test]
fn the_block_size_is_the_launchs() {
    let text = "kernel @k(%x: array<i32, 1>) {
          %i = tid 0 : i32
          %e = elem %x, %i : ref<i32>
          %b = block_dim : i32
          store %e, %b
          return
        }";
    let code = ptx(text, &Options::default());
    let stored = code.lines().find(|l| l.contains("st.global")).expect("a store");
    let register = stored.rsplit(' ').next().expect("a register").trim_end_matches(';');
    assert!(code.contains(&format!("{register}, %ntid.x;")), "{code}");
}

#[test]
fn a_grid_loops_only_when_asked_to() {
    assert!(!ptx(kernel!("saxpy"), &Options::default()).contains("%nctaid"));
    let looping = ptx(kernel!("saxpy"), &Options { grid_stride: true, ..Options::default() });
    assert!(looping.contains("%nctaid"), "{looping}");
}

#[test]
fn indices_are_found_in_32_bits_unless_the_launch_is_larger() {
    let text = "kernel @k(%x: array<f32, 2>) {
  %i = tid 0 : i32
  %j = tid 1 : i32
  %e = elem %x, %i, %j : ref<f32>
  %one = const 1.0 : f32
  store %e, %one
  return
}";
    let text = ptx(text, &Options { contiguous: u64::MAX, ..Options::default() });
    // The launch's size decides, and what is larger than 32 bits can count is divided in another place.
    let (small, large) = text.split_once("4294967295").expect("the size is looked at");
    assert!(small.contains("setp.gt.u64") && !small.contains("div."), "{text}");
    assert!(large.contains("div.u32") && large.contains("div.u64"), "{text}");
    assert!(large.find("div.u32") < large.find("div.u64"), "the small launch comes first: {text}");
    assert_eq!(
        count(&text, "mul.wide."),
        2,
        "the thread's number, and the element's place in its row: {text}"
    );
}

#[test]
fn bounds_become_directives() {
    let options =
        Options { launch_bounds: Some((128, Some(3))), max_registers: Some(40), ..Options::default() };
    let text = ptx(kernel!("saxpy"), &options);
    for directive in [".maxntid 128", ".minnctapersm 3", ".maxnreg 40"] {
        assert!(text.contains(directive), "{directive}: {text}");
    }
}

#[test]
fn atomics_are_device_wide_instructions() {
    let text = ptx(kernel!("atomics"), &Options::default());
    // Nobody looks at the old values; minima of floats and small integers are made of exchanges.
    for part in ["add.f32", "add.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b64"] {
        assert!(text.contains(&format!("red.relaxed.gpu.global.{part}")), "{part}: {text}");
    }
    assert!(text.contains("cas.b32"), "{text}");
    let used = "kernel @k(%x: array<i32, 1>) {
      %i = tid 0 : i32
      %zero = const 0 : i32
      %e = elem %x, %zero : ref<i32>
      %old = atomic_add %e, %i : i32
      %o = elem %x, %i : ref<i32>
      store %o, %old
      return
    }";
    let text = ptx(used, &Options::default());
    assert!(text.contains("atom.") && !text.contains("red."), "{text}");
}

#[test]
fn a_float_becomes_an_integer_in_one_instruction() {
    let text = "kernel @k(%x: array<f32, 1>, %y: array<i32, 1>) {
      %i = tid 0 : i32
      %e = elem %x, %i : ref<f32>
      %v = load %e : f32
      %n = cast %v : i32
      %o = elem %y, %i : ref<i32>
      store %o, %n
      return
    }";
    let text = ptx(text, &Options::default());
    assert!(text.contains("cvt.rzi.s32.f32") && !text.contains("selp"), "{text}");
}

#[test]
fn library_functions_are_linked_in() {
    with_packages();
    for fast_math in [false, true] {
        let options = Options { fast_math, ..Options::default() };
        match compile(&module(kernel!("math")), &target(75, CudaOutput::Ptx), &options) {
            Err(CodegenError::MissingLibrary { library, .. }) => {
                return println!("skipped: {library} is not installed");
            }
            Err(e) => panic!("{e}"),
            Ok(artifact) => {
                let text = String::from_utf8(artifact.code).expect("PTX is text");
                assert!(!text.contains(".extern") && !text.contains("reflect"), "{text}");
                assert_eq!(text.contains("mul.rn.ftz.f32"), fast_math, "{text}");
                assert_eq!(text.contains("sin.approx"), fast_math);
            }
        }
    }
}

#[test]
fn a_missing_library_says_what_to_install() {
    // Only kernels that call the library need it: no other test in this process must set the variable.
    let missing = CodegenError::MissingLibrary { library: "libdevice", searched: vec!["/nowhere".into()] };
    let text = missing.to_string();
    assert!(text.contains("pip install inkle[cuda]") && text.contains("/nowhere"), "{text}");
}

#[test]
fn checks_report_and_end_the_thread() {
    let record = ".global .align 8 .u64 inkle_check_record";
    let text = ptx(kernel!("saxpy"), &Options { checks: true, ..Options::default() });
    // The loader finds the variable by its name; a thread that fails ends, and the others go on.
    assert!(text.contains(&format!(".visible {record}")), "{text}");
    assert!(text.contains("exit;") && text.contains("membar.sys"), "{text}");
    assert!(text.contains("atom.relaxed.sys.cas.b32") || text.contains("atom.sys"), "{text}");
    let text = ptx(kernel!("saxpy"), &Options { verify_fp: true, ..Options::default() });
    assert!(text.contains(record) && !text.contains("exit;") && text.contains("vprintf"), "{text}");
    let without = ptx(kernel!("saxpy"), &Options::default());
    assert!(!without.contains(record) && !without.contains("vprintf"), "{without}");
}

#[test]
fn lines_are_those_of_the_source() {
    with_packages();
    let source = "a = 1\nb = x[i]\ny[i] = a * b\n";
    let file = inkle_diag::SourceFile::register("/somewhere/some/kernel.py", source);
    let mut module = module(kernel!("saxpy"));
    let kernel = module.functions.last_mut().expect("a kernel");
    kernel.span = inkle_diag::Span::new(file.id(), 0, 5);
    let ops = kernel.block(kernel.body).ops.clone();
    for op in ops {
        let start = if matches!(kernel.op(op).kind, inkle_ir::OpKind::Store) { 15 } else { 6 };
        kernel.op_mut(op).span = inkle_diag::Span::new(file.id(), start, start + 3);
    }
    let options = Options { lineinfo: true, ..Options::default() };
    let artifact = compile(&module, &target(90, CudaOutput::Ptx), &options).unwrap_or_else(|e| panic!("{e}"));
    let text = String::from_utf8(artifact.code).expect("PTX is text");
    assert!(
        text.contains("kernel.py\"") && text.contains(".loc\t1 2 1") && text.contains(".loc\t1 3 1"),
        "{text}"
    );
    assert!(!text.contains("debug_info") && !text.contains(", debug"), "{text}");
    match compile(&module, &target(90, CudaOutput::Cubin), &options) {
        Err(CodegenError::MissingLibrary { library, .. }) => println!("skipped: {library} is not installed"),
        Err(e) => panic!("{e}"),
        Ok(cubin) => assert!(cubin.code.windows(9).any(|w| w == b"kernel.py")),
    }
}

#[test]
fn small_loops_are_unrolled() {
    let text = ptx(kernel!("nbody"), &Options::default());
    assert!(text.matches("rsqrt.approx.f32").count() >= 5, "four and a rest: {text}");
}

#[test]
fn the_assembler_accepts_every_kernel() {
    with_packages();
    for (name, text) in all_kernels() {
        for arch in [75, 80, 90, 120] {
            for options in [
                Options::default(),
                Options { checks: true, verify_fp: true, grid_stride: true, ..Options::default() },
                Options { contiguous: u64::MAX, aligned: true, ..Options::default() },
            ] {
                match compile(&module(&text), &target(arch, CudaOutput::Cubin), &options) {
                    Err(CodegenError::MissingLibrary { library, .. }) => {
                        return println!("skipped: {library} is not installed");
                    }
                    Err(e) => {
                        let asm =
                            emit_text(&module(&text), &target(arch, CudaOutput::Ptx), &options, Emit::Asm);
                        panic!("{name} sm_{arch}: {e}\n{}", asm.unwrap_or_default());
                    }
                    Ok(artifact) => {
                        assert_eq!(artifact.kind, ArtifactKind::Cubin);
                        assert!(artifact.code.starts_with(b"\x7fELF"), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn local_arrays_use_local_memory_and_arguments_stay_global() {
    let text = ptx(kernel!("local"), &Options { contiguous: 15, ..Options::default() });
    assert!(text.contains(".local"), "{text}");
    assert!(text.contains("st.local") || text.contains("ld.local"), "{text}");
    assert!(text.contains("ld.global") && text.contains("st.global"), "{text}");
    // The count that all threads share is the only thing updated atomically.
    let atomics: Vec<&str> =
        text.lines().filter(|l| l.contains("atom.") || l.contains("red.relaxed")).collect();
    assert!(atomics.len() == 1 && atomics[0].contains(".global."), "{atomics:?}\n{text}");
}
