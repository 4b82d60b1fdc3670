//! What is said where a feature was left out. `scripts/check_features.sh` runs it in each combination.

use inkle::prelude::*;

#[inkle::kernel(checks = false)]
fn double(x: &mut Array<f32>) {
    x[tid()] *= 2.0;
}

#[inkle::kernel]
fn scale<T: Number>(x: &mut Array<T>, by: T) {
    x[tid()] *= by;
}

#[test]
fn arrays_need_no_feature() -> inkle::Result<()> {
    let mut x = Array::from_shape([2, 2], &[1.0f32, 2.0, 3.0, 4.0])?;
    x.set([1, 0], 9.0)?;
    assert_eq!(x.transposed()?.to_vec()?, [1.0, 9.0, 2.0, 4.0]);
    Ok(())
}

#[test]
fn a_launch_without_code_and_compiler_says_what_to_write() -> inkle::Result<()> {
    let mut x = Array::full(3, 1.0f32)?;
    let launched = double.launch(3, (&mut x,));
    if cfg!(feature = "llvm") {
        launched?;
        assert_eq!(x.to_vec()?, [2.0; 3]);
        return Ok(());
    }
    let texts = [launched, scale.launch(3, (&mut x, 2.0)), double.load(Device::cpu()), double.ir().map(drop)]
        .map(|outcome| outcome.unwrap_err().to_string());
    for (text, kernel) in
        texts.iter().zip(["double(array<f32, 1>)", "scale(array<f32, 1>, f32)", "double(", "double("])
    {
        assert!(text.contains(kernel) && text.contains("feature `llvm`"), "{text}");
    }
    for part in ["inkle::include_kernels!()?", "build.rs", ".kernel(double)"] {
        assert!(texts[0].contains(part), "{part} is not in: {}", texts[0]);
    }
    assert!(texts[1].contains(".kernel(scale.of::<..>())"), "{}", texts[1]);
    assert_eq!(x.to_vec()?, [1.0; 3]);
    Ok(())
}

#[test]
fn a_built_in_on_the_host_without_a_compiler_says_what_it_needs() {
    let called = std::panic::catch_unwind(|| sin(0.5f32));
    if cfg!(feature = "llvm") {
        assert_eq!(called.unwrap(), 0.5f32.sin());
        return;
    }
    let message = called.unwrap_err();
    let text = message.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(text.contains("`sin`") && text.contains("feature `llvm`"), "{text}");
}

#[test]
fn bytes_that_are_no_kernels_are_refused() {
    let error = inkle::add_kernels(b"something else").unwrap_err();
    assert!(matches!(error, inkle::Error::Ahead(_)), "{error:?}");
}

#[test]
fn a_gpu_that_was_left_out_is_missed_by_name() {
    let Err(error) = inkle::device("cuda:0") else { return };
    let text = error.to_string();
    assert_eq!(text.contains("feature `cuda`"), !cfg!(feature = "cuda"), "{text}");
    assert!(inkle::devices().iter().all(|device| device.is_cpu()));
}
