//! Functions written in C++: on the CPU run, for GPUs as text. Without clang the tests say so and return.

mod common;

use common::{Arg, Code, as_f32s, as_i32s, exact, f32s, i32s, module, runnable_targets};
use inkle_codegen::{CodegenError, CpuTarget, CudaOutput, CudaTarget, Options, Target, compile};

/// Runs a kernel over `dims` at every lane count, optimised and not, and checks one argument afterwards.
fn run(text: &str, args: &[Arg], dims: &[i32], check: impl Fn(&[Arg], &str)) {
    let module = module(text);
    for target in runnable_targets() {
        for (level, lanes) in [(0, 1), (2, 1), (2, 4), (2, 8), (3, 16)] {
            let options = exact(level, lanes);
            match compile(&module, &Target::Cpu(target.clone()), &options) {
                Err(CodegenError::MissingClang { .. }) => return println!("skipped: clang is not installed"),
                Err(e) => panic!("{e}"),
                Ok(artifact) => {
                    assert_eq!(artifact.lanes, lanes, "{:?}", artifact.scalar_reason);
                    let out = Code::load(&module, artifact).run(args, dims, &[3]);
                    check(&out, &format!("{} at level {level}, {lanes} lanes", target.cpu));
                }
            }
        }
    }
}

#[test]
fn scalars_arrays_and_results_pass_to_and_fro() {
    let text = r#"
    native @step(%0 a: f32, %1 x: array<f32, 1>, %2 y: array<f32, 1>, %3 i: i32) -> (f32)
      "y[i] = a * x[i];\n if (i % 3 == 0) return -1.0f;\n return x(i) + x.shape[0];"
    kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>, %2 z: array<f32, 1>) {
      %i = tid 0 : i32
      %two = const 2.0 : f32
      %r = call @step(%two, %0, %1, %i) : f32
      %e = elem %2, %i : ref<f32>
      store %e, %r
      return
    }"#;
    let n = 37;
    let x: Vec<f32> = (0..n).map(|i| i as f32 * 0.5).collect();
    // Every other element of a longer array, to see that strides are followed.
    let spaced: Vec<f32> = x.iter().flat_map(|&v| [v, 1e9]).collect();
    let spaced = Arg::Array { data: f32s(spaced), shape: vec![n], strides: vec![8] };
    let args = [spaced, Arg::f32(vec![0.0; n as usize]), Arg::f32(vec![0.0; n as usize])];
    run(text, &args, &[n], |out, how| {
        let y: Vec<f32> = x.iter().map(|v| 2.0 * v).collect();
        let z: Vec<f32> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { i as f32 * 0.5 + n as f32 }).collect();
        assert_eq!(as_f32s(out[1].data()), y, "{how}");
        assert_eq!(as_f32s(out[2].data()), z, "{how}");
    });
}

#[test]
fn only_active_lanes_call() {
    let text = r#"
    native @count(%0 at: array<i32, 1>, %1 i: i32) "atomicAdd(&at[i & 1], 1);"
    kernel @k(%0 at: array<i32, 1>, %1 x: array<i32, 1>) {
      %i = tid 0 : i32
      %e = elem %1, %i : ref<i32>
      %v = load %e : i32
      %zero = const 0 : i32
      %some = gt %v, %zero : bool
      if %some {
        %n = for %j: i32 = %zero, %v, %v carry(%c: i32 = %zero) -> (i32) {
          call @count(%0, %i)
          yield %c
        }
        yield
      } else {
        yield
      }
      return
    }"#;
    let values: Vec<i32> = (0..41).map(|i| i % 5 - 2).collect();
    let args = [Arg::i32([0, 0]), Arg::i32(values.clone())];
    run(text, &args, &[41], |out, how| {
        let count =
            |odd: usize| values.iter().enumerate().filter(|(i, v)| i % 2 == odd && **v > 0).count() as i32;
        assert_eq!(as_i32s(out[0].data()), [count(0), count(1)], "{how}");
    });
}

#[test]
fn composites_have_the_layout_of_memory() {
    let text = r#"
    struct Inner { flag: bool, v: vec<3, f64> }
    struct Body { m: mat<2x3, f32>, inner: struct Inner, q: quat<f32>, xs: array<f32, 1>, h: f16 }
    native @mix(%0 b: struct Body, %1 p: transform<f32>, %2 i: i32) -> (vec<4, f32>)
      "wp::vec3 col = wp::vec3(b.m(0, 0), b.m(1, 1), b.m.data[1][2]); return wp::vec4(col[0] + col[1] + col[2], float(b.inner.v[2]) + (b.inner.flag ? 100.0f : 0.0f), b.q.w + p.q.z + p.p[1], b.xs[i] + float(b.h));"
    native @same(%0 a: array<f32, 2>) -> (array<f32, 2>) "return a;"
    native @turned(%0 m: mat<2x3, f32>) -> (mat<3x2, f32>) "return wp::transpose(m);"
    kernel @k(%0 b: struct Body, %1 p: transform<f32>, %2 out: array<vec<4, f32>, 1>, %3 grid: array<f32, 2>) {
      %i = tid 0 : i32
      %r = call @mix(%0, %1, %i) : vec<4, f32>
      %e = elem %2, %i : ref<vec<4, f32>>
      store %e, %r
      %g = call @same(%3) : array<f32, 2>
      %zero = const 0 : i32
      %ge = elem %g, %i, %zero : ref<f32>
      %m = extract %0, 0 : mat<2x3, f32>
      %t = call @turned(%m) : mat<3x2, f32>
      %c = extract %t, 5 : f32
      store %ge, %c
      return
    }"#;
    let mut body = f32s([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    body.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    body.extend([0.5f64, 0.25, 8.0].iter().flat_map(|v| v.to_ne_bytes()));
    body.extend(f32s([0.0, 0.0, 0.0, 0.75]));
    let xs: Vec<f32> = (0..9).map(|i| i as f32 * 10.0).collect();
    body.extend((xs.as_ptr().expose_provenance() as u64).to_ne_bytes());
    body.extend(0u64.to_ne_bytes());
    body.extend(i32s([9, 0, 0, 0]));
    body.extend([4i64, 0, 0, 0].iter().flat_map(|v| v.to_ne_bytes()));
    // 1.5 as f16, and padding.
    body.extend([0x00, 0x3e, 0, 0, 0, 0, 0, 0]);
    let args = [
        Arg::Bytes(body),
        Arg::Bytes(f32s([0.0, 20.0, 0.0, 0.0, 0.0, 300.0, 0.0])),
        Arg::array(f32s([0.0; 36]), 16, &[9]),
        Arg::array(f32s([0.0; 18]), 4, &[9, 2]),
    ];
    run(text, &args, &[9], |out, how| {
        let want: Vec<f32> =
            (0..9).flat_map(|i| [1.0 + 5.0 + 6.0, 108.0, 320.75, i as f32 * 10.0 + 1.5]).collect();
        assert_eq!(as_f32s(out[2].data()), want, "{how}");
        assert_eq!(as_f32s(out[3].data()), [6.0, 0.0].repeat(9), "{how}");
    });
    assert_eq!(xs.len(), 9);
}

#[test]
fn references_are_what_the_function_changes() {
    let text = r#"
    native @swap(%0 a: ref<i32>, %1 b: ref<vec<2, i32>>) "int t = a; a = b[1]; b[1] = t;"
    kernel @k(%0 x: array<i32, 1>, %1 y: array<vec<2, i32>, 1>) {
      %i = tid 0 : i32
      %a = elem %0, %i : ref<i32>
      %b = elem %1, %i : ref<vec<2, i32>>
      call @swap(%a, %b)
      return
    }"#;
    let args = [Arg::i32(0..20), Arg::array(i32s((0..40).map(|i| 100 + i)), 8, &[20])];
    run(text, &args, &[20], |out, how| {
        assert_eq!(as_i32s(out[0].data()), (0..20).map(|i| 101 + 2 * i).collect::<Vec<_>>(), "{how}");
        let y: Vec<i32> = (0..20).flat_map(|i| [100 + 2 * i, i]).collect();
        assert_eq!(as_i32s(out[1].data()), y, "{how}");
    });
}

#[test]
fn mathematics_and_bits_are_those_of_kernels() {
    let text = r#"
    native @f(%0 x: f32) -> (f32) "return sinf(x) + powf(x, 2.0f) + wp::sqrt(x) + fabsf(-x) + fminf(x, 0.5f);"
    native @bits(%0 x: u64) -> (i32)
      "\n#if defined(__CUDA_ARCH__)\n return __ffsll((long long)x) - 1;\n#else\n return __builtin_ctzll((unsigned long long)x) + __popcll(x) * 100;\n#endif\n"
    kernel @k(%0 x: array<f32, 1>, %1 n: array<i32, 1>) {
      %i = tid 0 : i32
      %e = elem %0, %i : ref<f32>
      %v = load %e : f32
      %r = call @f(%v) : f32
      store %e, %r
      %one = const 1 : u64
      %three = const 3 : u64
      %shift = cast %i : u64
      %b = shl %three, %shift : u64
      %c = call @bits(%b) : i32
      %ne = elem %1, %i : ref<i32>
      store %ne, %c
      return
    }"#;
    let xs: Vec<f32> = (0..33).map(|i| 0.25 + i as f32 / 7.0).collect();
    let args = [Arg::f32(xs.clone()), Arg::i32(vec![0; 33])];
    run(text, &args, &[33], |out, how| {
        for (x, got) in xs.iter().map(|&x| f64::from(x)).zip(as_f32s(out[0].data())) {
            let want = x.sin() + x * x + x.sqrt() + x + x.min(0.5);
            assert!((f64::from(got) - want).abs() < 1e-5 * want.abs(), "{how}: {got} for {x}, not {want}");
        }
        assert_eq!(as_i32s(out[1].data()), (0..33).map(|i| i + 200).collect::<Vec<_>>(), "{how}");
    });
}

/// The error for a native function whose text is `body`, its parameters one f32 `x`.
fn refusal(body: &str, target: &Target) -> Option<String> {
    let text = format!(
        "native @first(%0 x: f32) -> (f32) \"return x;\"
         native @wrong(%0 x: f32) -> (f32) {body:?}
         kernel @k(%0 x: f32) {{
           %a = call @first(%0) : f32
           %b = call @wrong(%a) : f32
           return
         }}"
    );
    match compile(&module(&text), target, &Options::default()) {
        Err(CodegenError::MissingClang { .. }) => None,
        Err(e @ CodegenError::Native { .. }) => Some(e.to_string()),
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("{body} compiles"),
    }
}

fn gpu(arch: u32) -> Target {
    Target::Cuda(CudaTarget { arch, output: CudaOutput::Ptx })
}

#[test]
fn mistakes_are_told_with_function_and_line() {
    for target in [Target::Cpu(CpuTarget::host()), gpu(80)] {
        let Some(text) = refusal("float y = x;\n  return y + z;", &target) else {
            return println!("skipped: clang is not installed");
        };
        assert!(text.contains("wrong:2:14: error: use of undeclared identifier 'z'"), "{text}");
        let unclosed = refusal("if (x > 0.0f) {", &target).expect("clang is there");
        assert!(unclosed.contains("error"), "{unclosed}");
    }
    let system = r#"return system("true");"#;
    let text = refusal(system, &Target::Cpu(CpuTarget::host())).expect("clang is there");
    assert!(text.contains("undeclared identifier 'system'"), "{text}");
    let declared = "extern float inkle_elsewhere(float); return inkle_elsewhere(x);";
    let text = refusal(declared, &Target::Cpu(CpuTarget::host())).expect("clang is there");
    assert!(text.contains("inkle_elsewhere") && text.contains("which kernels do not have"), "{text}");
}

#[test]
fn gpu_code_uses_the_hardware_and_keeps_memory_apart() {
    common::with_packages();
    let text = r#"
    native @reverse(%0 d: array<i32, 1>, %1 n: i32, %2 i: i32)
      "__shared__ int s[128];\n s[threadIdx.x] = d[i];\n __syncthreads();\n d[i] = s[n - threadIdx.x - 1];"
    native @sum(%0 x: f32) -> (f32)
      "for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(0xffffffffu, x, by);\n return x + rsqrtf(x) + exp2f(x);"
    native @wait() "WP_TILE_SYNC();"
    native @bits(%0 x: u64) -> (i32)
      "\n#if defined(__CUDA_ARCH__)\n return __ffsll((long long)x) - 1;\n#else\n return 0;\n#endif\n"
    kernel @k(%0 d: array<i32, 1>, %1 x: array<f32, 1>, %2 b: u64) {
      %i = tid 0 : i32
      %n = const 128 : i32
      call @reverse(%0, %n, %i)
      call @wait()
      %e = elem %1, %i : ref<f32>
      %v = load %e : f32
      %s = call @sum(%v) : f32
      store %e, %s
      %c = call @bits(%2) : i32
      %de = elem %0, %c : ref<i32>
      store %de, %c
      return
    }"#;
    let module = module(text);
    for arch in [75, 90, 120] {
        let options = Options { aligned: true, contiguous: 3, ..Options::default() };
        let ptx = match compile(&module, &gpu(arch), &options) {
            Err(CodegenError::MissingClang { .. }) => return println!("skipped: clang is not installed"),
            Err(CodegenError::MissingLibrary { library, .. }) => {
                return println!("skipped: {library} is not installed");
            }
            Err(e) => panic!("{e}"),
            Ok(artifact) => {
                assert_eq!(artifact.lanes, 1, "threads that wait for each other are not run as lanes");
                String::from_utf8(artifact.code).expect("PTX is text")
            }
        };
        assert!(ptx.contains(".shared") && ptx.contains("shfl.sync.down.b32"), "{ptx}");
        assert!(ptx.matches("bar").count() >= 2 && ptx.contains("popc.b64"), "{ptx}");
        assert!(ptx.contains("ld.global") && ptx.contains("st.global"), "{ptx}");
        assert!(!ptx.contains("call") && !ptx.contains(".local") && !ptx.contains("__nv_"), "{ptx}");
        let cubin = Target::Cuda(CudaTarget { arch, output: CudaOutput::Cubin });
        match compile(&module, &cubin, &options) {
            Err(CodegenError::MissingLibrary { library, .. }) => {
                println!("skipped: {library} is not installed")
            }
            Err(e) => panic!("{e}"),
            Ok(code) => assert!(code.code.starts_with(b"\x7fELF")),
        }
    }
}
