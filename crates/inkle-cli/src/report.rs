//! What commands print.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::{CliError, Host};

/// What a command found out. Its JSON is that of its fields.
pub trait Report: Serialize {
    /// Writes the report for people.
    ///
    /// # Errors
    /// When the output cannot be written.
    fn text(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Whether what a command looked at is as it should be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is.
    Right,
    /// It is not; the report says what is wrong.
    Wrong,
}

/// Where a command runs and where its report goes.
pub struct Context<'a> {
    json: bool,
    host: &'a dyn Host,
    out: &'a mut dyn Write,
}

impl<'a> Context<'a> {
    pub(crate) fn new(json: bool, host: &'a dyn Host, out: &'a mut dyn Write) -> Context<'a> {
        Context { json, host, out }
    }

    /// The program that the command is part of.
    pub fn host(&self) -> &'a dyn Host {
        self.host
    }

    /// Prints a report.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn show(&mut self, report: &impl Report) -> Result<(), CliError> {
        if self.json {
            serde_json::to_writer_pretty(&mut self.out, report).map_err(io::Error::from)?;
            writeln!(self.out)?;
        } else {
            report.text(self.out)?;
        }
        self.out.flush()?;
        Ok(())
    }

    /// Tells why the command failed: on standard error, and as JSON on the output when that was asked for.
    pub(crate) fn fail(&mut self, error: &CliError) {
        if self.json {
            // The exit code tells it too.
            let _ = writeln!(self.out, "{}", serde_json::json!({ "error": error.to_string() }));
        }
        eprintln!("inkle: {error}");
    }
}

/// A number of bytes for people, in the unit that leaves one to four digits.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{count} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}

/// A length of time for people, in its largest unit.
pub(crate) fn age(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_a_fitting_unit() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(10 << 30), "10.0 GiB");
        assert_eq!(bytes(3 << 40), "3.0 TiB");
    }

    #[test]
    fn ages_are_shown_in_their_largest_unit() {
        let shown = |seconds| age(Duration::from_secs(seconds));
        assert_eq!(shown(59), "59 s");
        assert_eq!(shown(3599), "59 min");
        assert_eq!(shown(86_400), "24 h");
        assert_eq!(shown(3 * 86_400), "3 days");
    }
}
