//! Options for all kernels of a program. Alone in its file, since they are for the whole program.

use inkle::prelude::*;
use inkle::{Defaults, Result};

#[inkle::kernel]
fn past_the_end(x: &mut Array<f32>) {
    x[2] = 1.0;
}

#[inkle::kernel(checks = false)]
fn last(x: &mut Array<f32>) {
    assert!(x[1] > 0.0);
    x[1] = 1.0;
}

#[inkle::options(enable_backward = true)]
mod differentiated {
    use inkle::prelude::*;

    #[inkle::kernel]
    pub fn double(x: &Array<f32>, y: &mut Array<f32>) {
        let i = tid();
        y[i] = 2.0 * x[i];
    }
}

#[inkle::kernel]
fn triple(x: &Array<f32>, y: &mut Array<f32>) {
    let i = tid();
    y[i] = 3.0 * x[i];
}

#[test]
fn kernels_that_say_nothing_have_the_options_of_the_program() -> Result<()> {
    inkle::set_defaults(Defaults::new().checks(true).enable_backward(false));
    let mut x = Array::<f32>::zeros(2)?;
    let error = past_the_end.launch(1, (&mut x,)).unwrap_err();
    assert!(error.to_string().contains("out of bounds"), "{error}");
    last.launch(1, (&mut x,))?;
    assert_eq!(x.to_vec()?, [0.0, 1.0]);

    let x = Array::from_slice(&[1.0f32, 2.0])?.with_grad()?;
    let mut y = Array::<f32>::zeros(2)?.with_grad()?;
    y.grad_mut().unwrap().fill(1.0)?;
    Tape::record(|| differentiated::double.launch(2, (&x, &mut y)))?.backward()?;
    assert_eq!(x.grad().unwrap().to_vec()?, [2.0, 2.0]);
    let backward = Tape::record(|| triple.launch(2, (&x, &mut y)))?.backward();
    assert!(matches!(backward, Err(inkle::Error::NoBackward { kernel: "triple" })), "{backward:?}");

    // A kernel keeps what it was first used with.
    inkle::set_defaults(Defaults::new());
    let backward = Tape::record(|| triple.launch(2, (&x, &mut y)))?.backward();
    assert!(matches!(backward, Err(inkle::Error::NoBackward { .. })));
    Ok(())
}
