//! What commands print.

use std::io::{self, Write};

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
