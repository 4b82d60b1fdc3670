//! Runs the graph that `../export.py` saves, on the CPU or on a GPU:
//! `cargo run -p inkle-replay --example replay -- swarm.inkle [cpu|cuda:0]`.

use std::process::ExitCode;

use inkle_replay::{Replay, ReplayError, device};

fn run(path: &str, device_name: &str) -> Result<(), ReplayError> {
    let replay = Replay::open(path, device(device_name)?)?;
    for param in replay.params() {
        println!(
            "{:?} {}: {} {:?}",
            param.direction,
            param.name,
            param.view.dtype.python_name(),
            param.view.shape
        );
    }
    replay.set("target", &[1.0f32, 2.0, 3.0])?;
    for step in 1..=100 {
        replay.launch(None)?;
        if step % 20 == 0 {
            println!("step {step}: distance {:.6}", replay.get::<f32>("distance")?[0]);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(path) = arguments.get(1) else {
        eprintln!("usage: replay FILE [DEVICE]");
        return ExitCode::from(2);
    };
    match run(path, arguments.get(2).map_or("cpu", String::as_str)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("replay: {error}");
            ExitCode::FAILURE
        }
    }
}
