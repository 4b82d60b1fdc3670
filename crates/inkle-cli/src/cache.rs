//! `inkle cache`: the cache of compiled kernels.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use inkle_module::KernelCache;
use serde::Serialize;

use crate::{CliError, Context, Outcome, Report};

/// What to do with the cache.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Delete every entry.
    Clear(Place),
}

/// Which cache is meant.
#[derive(Args, Debug)]
pub(crate) struct Place {
    /// The cache's directory, when it is not that of this user's programs.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Place {
    fn cache(&self) -> KernelCache {
        KernelCache::at(self.dir.clone().unwrap_or_else(inkle_module::cache_dir))
    }
}

pub(crate) fn run(command: &Command, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    match command {
        Command::Clear(place) => {
            let cache = place.cache();
            cache.clear()?;
            context.show(&Cleared { dir: cache.dir().to_owned() })?;
            Ok(Outcome::Right)
        }
    }
}

#[derive(Serialize)]
struct Cleared {
    dir: PathBuf,
}

impl Report for Cleared {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: cleared", self.dir.display())
    }
}
