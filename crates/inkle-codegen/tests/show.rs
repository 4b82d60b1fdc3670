mod common;
use common::*;
use inkle_codegen::*;

const SAXPY: &str = "
kernel @saxpy(%0 x: array<f32, 1>, %1 y: array<f32, 1>, %2 a: f32) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = elem %1, %3 : ref<f32>
  %7 = load %6 : f32
  %8 = mul %2, %5 : f32
  %9 = add %8, %7 : f32
  store %6, %9
  return
}
";

#[test]
fn saxpy() {
    let m = module(SAXPY);
    for target in runnable_targets() {
        for (level, lanes) in [(0, 1), (2, 1), (2, 4), (2, 8), (2, 16), (0, 8)] {
            for contiguous in [0, 3] {
                let options = Options { contiguous, ..exact(level, lanes) };
                let code = Code::new(&m, &target, &options);
                let n = 37;
                let args = [
                    Arg::f32((0..n).map(|i| i as f32)),
                    Arg::f32((0..n).map(|i| 100.0 + i as f32)),
                    Arg::Bytes(f32s([2.0])),
                ];
                let out = code.run(&args, &[n], &[5]);
                let want: Vec<f32> = (0..n).map(|i| 100.0 + 3.0 * i as f32).collect();
                assert_eq!(as_f32s(out[1].data()), want, "{target:?} {options:?}");
            }
        }
    }
}

#[test]
fn show() {
    if std::env::var("SHOW").is_err() {
        return;
    }
    let m = module(SAXPY);
    let options = Options { contiguous: 3, ..Options::default() };
    println!("{}", emit_text(&m, &Target::Cpu(CpuTarget::host()), &options, Emit::Llvm).unwrap());
    println!("{}", emit_text(&m, &Target::Cpu(CpuTarget::host()), &options, Emit::Asm).unwrap());
    println!("{}", emit_text(&m, &Target::Cuda(CudaTarget { arch: 90, output: CudaOutput::Ptx }), &options, Emit::Asm).unwrap());
}
