//! `inkle keygen`, `inkle sign` and `inkle verify`: who vouches for a graph file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use inkle_graph::bundle::{PublicKey, SecretKey, write_file};
use serde::Serialize;

use crate::{CliError, Context, Outcome, Report, graph_file};

/// Make a pair of Ed25519 keys: `PATH` becomes the secret one, which `inkle sign` takes, and `PATH.pub` the public one,
/// which `inkle verify` and programs take. Both are PEM. Files that are there are left alone.
#[derive(Args, Debug)]
pub(crate) struct KeygenArguments {
    /// Where to write the secret key.
    path: PathBuf,
}

/// Sign a graph file, in place unless `--output` names another file. A signature that it has is replaced.
#[derive(Args, Debug)]
pub(crate) struct SignArguments {
    /// The file.
    path: PathBuf,
    /// The secret key: a file in PEM, from `inkle keygen` or `openssl genpkey -algorithm ed25519`.
    #[arg(long, value_name = "SECRET.pem")]
    key: PathBuf,
    /// Where to write.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Tell who signed a graph file, and whether it is as it was signed. Fails if it is not signed, or not with `--key`.
#[derive(Args, Debug)]
pub(crate) struct VerifyArguments {
    /// The file.
    path: PathBuf,
    /// The public key that it has to be signed with: a file in PEM. Without it, any signature will do.
    #[arg(long, value_name = "PUBLIC.pem")]
    key: Option<PathBuf>,
}

#[derive(Serialize)]
struct Keys {
    secret: PathBuf,
    public: PathBuf,
    public_key: String,
}

#[derive(Serialize)]
struct Signed {
    path: PathBuf,
    public_key: String,
}

#[derive(Serialize)]
struct Verified {
    path: PathBuf,
    /// The public key of whoever signed it.
    public_key: Option<String>,
    valid: bool,
    problem: Option<String>,
}

/// The public key in a file.
pub(crate) fn public_key(path: &Path) -> Result<PublicKey, CliError> {
    PublicKey::from_pem(&text(path)?).map_err(|error| wrong(path)(error.to_string()))
}

fn text(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| wrong(path)(error.to_string()))
}

fn wrong(path: &Path) -> impl Fn(String) -> CliError {
    move |message| CliError::Read { path: path.to_owned(), message }
}

pub(crate) fn keygen(arguments: &KeygenArguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| CliError::Random { message: error.to_string() })?;
    let secret = SecretKey::from_seed(&seed);
    let mut name = arguments.path.clone().into_os_string();
    name.push(".pub");
    let public_path = PathBuf::from(name);
    if public_path.exists() {
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(CliError::Write { path: public_path, error });
    }
    let pem = |made: Result<String, inkle_graph::bundle::BundleError>| {
        made.map_err(|error| wrong(&arguments.path)(error.to_string()))
    };
    write_new(&arguments.path, &pem(secret.to_pem())?, 0o600)?;
    write_new(&public_path, &pem(secret.public().to_pem())?, 0o644)?;
    let public_key = secret.public().to_string();
    context.show(&Keys { secret: arguments.path.clone(), public: public_path, public_key })?;
    Ok(Outcome::Right)
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), CliError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| CliError::Write { path: path.to_owned(), error })
}

pub(crate) fn sign(arguments: &SignArguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let key = SecretKey::from_pem(&text(&arguments.key)?)
        .map_err(|error| wrong(&arguments.key)(error.to_string()))?;
    let (bundle, _) = graph_file::read(&arguments.path)?;
    let path = arguments.output.as_ref().unwrap_or(&arguments.path);
    write_file(path, &bundle.to_signed_bytes(&key))
        .map_err(|error| CliError::Write { path: path.clone(), error })?;
    context.show(&Signed { path: path.clone(), public_key: key.public().to_string() })?;
    Ok(Outcome::Right)
}

pub(crate) fn verify(arguments: &VerifyArguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let key = arguments.key.as_deref().map(public_key).transpose()?;
    let (bundle, _) = graph_file::read(&arguments.path)?;
    let problem = match (&key, &bundle.signer) {
        (Some(key), _) => bundle.require_signer(key).err().map(|error| error.to_string()),
        (None, Some(_)) => None,
        (None, None) => Some("the graph file is not signed".to_owned()),
    };
    let public_key = bundle.signer.map(|signer| signer.to_string());
    let valid = problem.is_none();
    context.show(&Verified { path: arguments.path.clone(), public_key, valid, problem })?;
    Ok(if valid { Outcome::Right } else { Outcome::Wrong })
}

impl Report for Keys {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "secret key: {}; keep it to yourself", self.secret.display())?;
        writeln!(out, "public key: {}\n{}", self.public.display(), self.public_key)
    }
}

impl Report for Signed {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}: signed; the public key is {}", self.path.display(), self.public_key)
    }
}

impl Report for Verified {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        match (&self.problem, &self.public_key) {
            (Some(problem), _) => writeln!(out, "{}: {problem}", self.path.display()),
            (None, key) => {
                let key = key.as_deref().unwrap_or_default();
                writeln!(out, "{}: as it was signed with {key}", self.path.display())
            }
        }
    }
}
