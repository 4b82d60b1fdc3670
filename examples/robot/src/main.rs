//! A robot's program: no compiler, no Python, one file.
//!
//! Its kernels were compiled when it was built (`build.rs`), and a policy that Python saved runs from its file. It turns
//! joints to where the policy, or without one a sine, wants them, with a controller at 1 kHz.
//!
//!     cargo run -p inkle-robot --profile replay -- [TURNS [POLICY INPUT OUTPUT]]
//!
//! With the feature `gpu` it runs on an NVIDIA GPU where there is one; `INKLE_ROBOT_DEVICE=cpu` keeps it from that.
#![forbid(unsafe_code)]

mod kernels;

use inkle::{Array, Graph};
use kernels::{Joint, control, smooth};

const JOINTS: usize = 12;
const STEP: f32 = 0.001;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let turns = args.first().map_or(Ok(2000), |text| text.parse())?;
    inkle::include_kernels!()?;
    if let Ok(name) = std::env::var("INKLE_ROBOT_DEVICE") {
        inkle::set_default_device(inkle::device(&name)?);
    }
    let device = inkle::default_device();
    let policy = match args.get(1..) {
        Some([file, input, output]) => Some((Graph::load(file, device)?, input.as_str(), output.as_str())),
        Some([]) | None => None,
        Some(_) => return Err("usage: inkle-robot [TURNS [POLICY INPUT OUTPUT]]".into()),
    };
    let error = run(turns, policy.as_ref().map(|(graph, input, output)| (graph, *input, *output)))?;
    println!("after {turns} turns on {device} the joints are {error:.4} rad from where they should be");
    Ok(())
}

/// Runs the controller; the mean distance of the joints from the wanted angles at the end. With a policy those are its
/// outputs for the angles as its inputs.
fn run(turns: usize, policy: Option<(&Graph, &str, &str)>) -> inkle::Result<f32> {
    let mut joints = Array::from_slice(&[Joint { angle: 0.0, rate: 0.0 }; JOINTS])?;
    let mut wanted = Array::<f32>::zeros(JOINTS)?;
    let mut raw = Array::<f32>::zeros(JOINTS)?;
    let mut torques = Array::<f32>::zeros(JOINTS)?;
    let mut moving = vec![Joint { angle: 0.0, rate: 0.0 }; JOINTS];
    let mut goal = vec![0.0f32; JOINTS];
    for turn in 0..turns {
        match policy {
            Some((graph, input, output)) => {
                let mut seen = graph.get::<f32>(input)?;
                seen.iter_mut().zip(&moving).for_each(|(seen, joint)| *seen = joint.angle);
                graph.set(input, &seen)?;
                graph.launch()?;
                let action = graph.get::<f32>(output)?;
                goal.iter_mut().zip(action).for_each(|(goal, action)| *goal = action);
            }
            None => goal.fill((turn as f32 * STEP).sin()),
        }
        raw.copy_from_slice(&goal)?;
        smooth.launch(JOINTS, (&raw, &mut wanted, 0.1))?;
        joints.copy_from_slice(&moving)?;
        control.launch(JOINTS, (&joints, &wanted, &mut torques, 40.0))?;
        // Where a robot would send torques to its motors, these move joints of 0.05 kg m².
        for (joint, torque) in moving.iter_mut().zip(torques.to_vec()?) {
            joint.rate += STEP * torque / 0.05;
            joint.angle += STEP * joint.rate;
        }
    }
    let distance = |(joint, goal): (&Joint, &f32)| (joint.angle - goal).abs();
    Ok(moving.iter().zip(&goal).map(distance).sum::<f32>() / JOINTS as f32)
}

#[cfg(test)]
mod tests {
    use inkle::Array;

    use super::*;

    #[test]
    fn the_joints_follow() -> inkle::Result<()> {
        inkle::include_kernels!()?;
        let error = run(2000, None)?;
        assert!(error > 0.0 && error < 0.1, "{error}");
        Ok(())
    }

    #[test]
    fn a_launch_of_what_was_not_compiled_says_so() -> inkle::Result<()> {
        inkle::include_kernels!()?;
        let (raw, mut state) = (Array::<f64>::zeros(2)?, Array::<f64>::zeros(2)?);
        let Err(error) = smooth.launch(2, (&raw, &mut state, 0.5)) else {
            println!("skipped: inkle was built with its compiler, for other crates");
            return Ok(());
        };
        let text = error.to_string();
        for part in [
            "`smooth(array<f64, 1>, array<f64, 1>, f64)`",
            "`smooth(array<f32, 1>, array<f32, 1>, f32)`",
            "`.kernel(smooth.of::<..>())`",
        ] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        Ok(())
    }
}
