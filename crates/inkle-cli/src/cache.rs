//! `inkle cache`: the cache of compiled kernels.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use inkle_module::{KernelCache, SizeLimit, Stored};
use serde::Serialize;

use crate::report::{age, bytes};
use crate::{CliError, Context, Outcome, Report};

/// What to do with the cache.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// List the compiled kernels, those used last first.
    List(Place),
    /// Count the compiled kernels and their bytes.
    Stats(Place),
    /// Check every entry against its digest; exit code 1 when one is damaged.
    Verify {
        #[command(flatten)]
        place: Place,
        /// Delete the damaged entries; they are compiled again when they are needed.
        #[arg(long)]
        delete: bool,
    },
    /// Delete the kernels not used for longest, and what killed processes left.
    Prune {
        #[command(flatten)]
        place: Place,
        /// Keep at most this much: `500MB`, `2GiB`. By default the limit that programs keep, see INKLE_CACHE_LIMIT.
        #[arg(long, value_name = "SIZE")]
        to: Option<SizeLimit>,
        /// Delete what was not used for so many days.
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u16).range(1..))]
        unused: Option<u16>,
    },
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
        let usual = inkle_module::kernel_cache();
        match &self.dir {
            Some(dir) => KernelCache::at(dir).with_limit(usual.limit()),
            None => usual,
        }
    }
}

pub(crate) fn run(command: &Command, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    match command {
        Command::List(place) => list(&place.cache(), context),
        Command::Stats(place) => stats(&place.cache(), context),
        Command::Verify { place, delete } => verify(&place.cache(), *delete, context),
        Command::Prune { place, to, unused } => prune(&place.cache(), *to, *unused, context),
        Command::Clear(place) => {
            let cache = place.cache();
            let entries = cache.entries()?;
            cache.clear()?;
            let report = Removed {
                dir: cache.dir().to_owned(),
                removed: entries.len(),
                freed: entries.iter().map(|e| e.bytes).sum(),
                left: cache.entries()?.iter().map(|e| e.bytes).sum(),
            };
            context.show(&report)?;
            Ok(Outcome::Right)
        }
    }
}

/// One compiled kernel. Of a damaged one nothing is known but its file.
#[derive(Serialize)]
struct Line {
    key: String,
    path: PathBuf,
    bytes: u64,
    /// Seconds since 1970.
    used: u64,
    damaged: bool,
    kernel: Option<String>,
    target: Option<String>,
    options: Option<String>,
    lanes: Option<u32>,
    compile_ms: Option<f64>,
}

impl Line {
    fn new(cache: &KernelCache, stored: &Stored) -> Line {
        let entry = cache.read(stored);
        let origin = entry.as_ref().map(|e| &e.origin);
        Line {
            key: stored.key.to_hex().to_string(),
            path: stored.path.clone(),
            bytes: stored.bytes,
            used: stored.used.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            damaged: entry.is_none(),
            kernel: origin.map(|o| o.kernel.clone()),
            target: origin.map(|o| o.target.clone()),
            options: origin.map(|o| o.options.clone()),
            lanes: entry.as_ref().map(|e| e.lanes),
            compile_ms: origin.map(|o| f64::from(o.micros) / 1e3),
        }
    }
}

/// A target without the list of a CPU's features, which fills a screen.
fn short(target: &str) -> String {
    let mut parts = target.splitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(arch), Some(output @ ("ptx" | "cubin"))) => format!("{arch} {output}"),
        (Some(triple), Some(cpu), _) => {
            format!("{} {cpu}", triple.split('-').next().unwrap_or(triple))
        }
        _ => target.to_owned(),
    }
}

#[derive(Serialize)]
struct Listing {
    dir: PathBuf,
    entries: Vec<Line>,
}

fn list(cache: &KernelCache, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let mut stored = cache.entries()?;
    stored.sort_by_key(|e| std::cmp::Reverse(e.used));
    let entries = stored.iter().map(|e| Line::new(cache, e)).collect();
    context.show(&Listing { dir: cache.dir().to_owned(), entries })?;
    Ok(Outcome::Right)
}

impl Report for Listing {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        for line in &self.entries {
            let unused = age(now.saturating_sub(Duration::from_secs(line.used)));
            let key = &line.key[..12];
            match (&line.kernel, &line.target, line.compile_ms) {
                (Some(kernel), Some(target), Some(ms)) => writeln!(
                    out,
                    "{key}  {:>10}  {ms:>8.1} ms  {unused:>8} ago  {:<28} {kernel}",
                    bytes(line.bytes),
                    short(target)
                )?,
                _ => writeln!(out, "{key}  {:>10}  damaged: {}", bytes(line.bytes), line.path.display())?,
            }
        }
        writeln!(out, "{} kernels in {}", self.entries.len(), self.dir.display())
    }
}

/// How much there is of one kind.
#[derive(Serialize, Default)]
struct Share {
    entries: usize,
    bytes: u64,
    /// What the compiler took for them.
    compile_ms: f64,
}

#[derive(Serialize)]
struct Stats {
    dir: PathBuf,
    entries: usize,
    bytes: u64,
    limit: Option<u64>,
    remote: Option<String>,
    damaged: usize,
    targets: BTreeMap<String, Share>,
}

fn stats(cache: &KernelCache, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let stored = cache.entries()?;
    let mut report = Stats {
        dir: cache.dir().to_owned(),
        entries: stored.len(),
        bytes: stored.iter().map(|e| e.bytes).sum(),
        limit: cache.limit(),
        remote: inkle_module::remote_cache_url(),
        damaged: 0,
        targets: BTreeMap::new(),
    };
    for each in &stored {
        let Some(entry) = cache.read(each) else {
            report.damaged += 1;
            continue;
        };
        let share = report.targets.entry(short(&entry.origin.target)).or_default();
        share.entries += 1;
        share.bytes += each.bytes;
        share.compile_ms += f64::from(entry.origin.micros) / 1e3;
    }
    context.show(&report)?;
    Ok(Outcome::Right)
}

impl Report for Stats {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let limit = self.limit.map_or_else(|| "no limit".to_owned(), |l| format!("limit {}", bytes(l)));
        writeln!(out, "{}: {} kernels, {}, {limit}", self.dir.display(), self.entries, bytes(self.bytes))?;
        for (target, share) in &self.targets {
            writeln!(
                out,
                "  {target}: {} kernels, {}, compiled in {:.1} s",
                share.entries,
                bytes(share.bytes),
                share.compile_ms / 1e3
            )?;
        }
        if self.damaged > 0 {
            writeln!(out, "  {} damaged; `inkle cache verify` names them", self.damaged)?;
        }
        match &self.remote {
            Some(remote) => writeln!(out, "remote: {remote}"),
            None => Ok(()),
        }
    }
}

#[derive(Serialize)]
struct Verified {
    dir: PathBuf,
    intact: usize,
    damaged: Vec<PathBuf>,
    deleted: bool,
}

fn verify(cache: &KernelCache, delete: bool, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let mut report =
        Verified { dir: cache.dir().to_owned(), intact: 0, damaged: Vec::new(), deleted: delete };
    for stored in cache.entries()? {
        if cache.read(&stored).is_some() {
            report.intact += 1;
            continue;
        }
        // One that another process has removed meanwhile is not damaged.
        if stored.path.exists() {
            if delete {
                cache.remove(&stored)?;
            }
            report.damaged.push(stored.path);
        }
    }
    context.show(&report)?;
    Ok(if report.damaged.is_empty() { Outcome::Right } else { Outcome::Wrong })
}

impl Report for Verified {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for path in &self.damaged {
            writeln!(out, "damaged{}: {}", if self.deleted { ", deleted" } else { "" }, path.display())?;
        }
        writeln!(
            out,
            "{} kernels intact, {} damaged in {}",
            self.intact,
            self.damaged.len(),
            self.dir.display()
        )
    }
}

/// What was deleted.
#[derive(Serialize)]
struct Removed {
    dir: PathBuf,
    removed: usize,
    freed: u64,
    left: u64,
}

fn prune(
    cache: &KernelCache,
    to: Option<SizeLimit>,
    unused: Option<u16>,
    context: &mut Context<'_>,
) -> Result<Outcome, CliError> {
    let mut report = Removed { dir: cache.dir().to_owned(), removed: 0, freed: 0, left: 0 };
    if let Some(days) = unused {
        let pruned = cache.prune_unused(Duration::from_secs(86_400 * u64::from(days)))?;
        (report.removed, report.freed) = (pruned.removed, pruned.freed);
    }
    let target = to.map_or(cache.limit(), |size| size.0).unwrap_or(u64::MAX);
    let pruned = cache.prune(target)?;
    report.removed += pruned.removed;
    report.freed += pruned.freed;
    report.left = pruned.left;
    context.show(&report)?;
    Ok(Outcome::Right)
}

impl Report for Removed {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Removed { dir, removed, freed, left } = self;
        writeln!(
            out,
            "{}: {removed} kernels removed, {} freed, {} left",
            dir.display(),
            bytes(*freed),
            bytes(*left)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_named_short() {
        assert_eq!(short("nvptx64-nvidia-cuda:sm_90:cubin"), "sm_90 cubin");
        assert_eq!(short("x86_64-unknown-linux-gnu:znver4:+avx2,-amx"), "x86_64 znver4");
    }
}
