//! A control loop at 1 kHz that replays a graph saved by Python (`wp.capture_save`), and how evenly it ran.
//!
//!     cargo run --release --example robot -- policy.inkle observation action [seconds]

use std::time::{Duration, Instant};

use inkle::{Device, Graph};

const PERIOD: Duration = Duration::from_millis(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, observation, action, rest @ ..] = args.as_slice() else {
        return Err("usage: robot FILE INPUT OUTPUT [SECONDS]".into());
    };
    let seconds: f64 = rest.first().map_or(Ok(5.0), |s| s.parse())?;
    let policy = Graph::load(file, Device::cpu())?;
    let mut late = control(&policy, observation, action, (seconds * 1000.0) as usize)?;
    late.sort_unstable();
    let at = |share: f64| {
        late.get((share * late.len() as f64) as usize).or(late.last()).copied().unwrap_or_default()
    };
    println!(
        "{} turns; done after: median {:?}, 99 % {:?}, worst {:?}",
        late.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    Ok(())
}

/// Runs the policy once a period; gives how long after each period's beginning its action was there.
#[expect(clippy::disallowed_methods, reason = "a period begins at a time and not by an event")]
fn control(policy: &Graph, observation: &str, action: &str, turns: usize) -> inkle::Result<Vec<Duration>> {
    let mut sensors = policy.get::<f32>(observation)?;
    let mut late = Vec::with_capacity(turns);
    let start = Instant::now();
    for turn in 0..turns as u32 {
        let due = start + PERIOD * turn;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        // A robot would read its sensors here and send the action to its motors.
        sensors.iter_mut().for_each(|s| *s = (f64::from(turn) * 0.001).sin() as f32);
        policy.set(observation, &sensors)?;
        policy.launch()?;
        policy.get::<f32>(action)?;
        late.push(due.elapsed());
    }
    Ok(late)
}

#[cfg(all(test, feature = "llvm"))]
mod tests {
    use inkle::prelude::*;

    #[inkle::kernel]
    fn react(seen: &Array<f32>, motors: &mut Array<f32>) {
        let i = tid();
        motors[i] = -2.0 * seen[i];
    }

    #[test]
    fn a_policy_acts_once_a_period() -> inkle::Result<()> {
        let (seen, mut motors) = (Array::<f32>::zeros(8)?, Array::<f32>::zeros(8)?);
        let graph = Graph::capture(Device::cpu(), || react.launch(8, (&seen, &mut motors)))?;
        let bytes = graph.saving().input("seen", &seen).output("motors", &motors).to_bytes()?;
        let policy = Graph::from_bytes(bytes, Device::cpu())?;
        assert_eq!(super::control(&policy, "seen", "motors", 20)?.len(), 20);
        assert_eq!(policy.get::<f32>("motors")?, [-2.0 * 0.019f64.sin() as f32; 8]);
        assert!(super::control(&policy, "sean", "motors", 1).is_err());
        Ok(())
    }
}
