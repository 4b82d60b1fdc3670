//! A line on the terminal that shows how much of the waiting is over.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shown when the work takes longer than this: a line that flashes by tells nothing.
const PATIENCE: Duration = Duration::from_millis(300);

/// How much of some work is done.
pub struct Progress {
    bar: ProgressBar,
    start: std::time::Instant,
    steps: u64,
}

impl Progress {
    /// Progress over `steps` kernels, on standard error when that is a terminal.
    pub fn on_terminal(steps: usize) -> Progress {
        let progress = Progress::hidden();
        let style = ProgressStyle::with_template("compiling [{bar:30}] {pos}/{len} kernels, {eta} left");
        // The template is ours; without it the bar has its usual looks.
        if let Ok(style) = style {
            progress.bar.set_style(style.progress_chars("=> "));
        }
        progress.bar.set_length(steps as u64);
        Progress { steps: steps as u64, ..progress }
    }

    /// Progress that nobody sees.
    pub fn hidden() -> Progress {
        Progress { bar: ProgressBar::hidden(), start: std::time::Instant::now(), steps: 0 }
    }

    /// One more step is done.
    pub fn step(&mut self) {
        if self.steps > 1 && self.bar.is_hidden() && self.start.elapsed() > PATIENCE {
            // Draws nothing where standard error is no terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(1);
    }

    /// All is done; the line goes away.
    pub fn finish(&mut self) {
        self.bar.finish_and_clear();
    }
}
