//! `inkle compile`: what kernels become, for any target.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use inkle_codegen::{ArtifactKind, Emit as Text, ScalarReason};
use inkle_diag::{SourceFile, Span};
use inkle_module::{CudaOutput, Options, Target};
use serde::Serialize;

use crate::report::bytes;
use crate::{CliError, Context, Outcome, Program, Report};

/// Compile the kernels of a file and print what they become; nothing is launched. The Python package imports the file,
/// as a program that uses it would; without Python it is read only. A file of kernel IR (`.ir`) is compiled as it is.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The file with the kernels.
    path: PathBuf,
    /// What to compile for: `native`, `x86_64`, `x86-64-v3`, `aarch64`, `sm_75` to `sm_121`; may be repeated.
    #[arg(long, value_name = "TARGET", default_value = "native")]
    target: Vec<String>,
    /// What to print instead of a summary.
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Write each kernel's code into this folder, one file a kernel and target.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Only kernels of this name; may be repeated.
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,
    /// Say why a kernel runs its threads one by one instead of in vectors, or which parts of it
    #[arg(long)]
    explain: bool,
    /// How hard to optimise, 0 to 3; by default what the program says.
    #[arg(short = 'O', value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(0..=3))]
    optimization: Option<u8>,
    /// Compile for arrays that may lie anywhere, not for those that are contiguous and aligned.
    #[arg(long)]
    any_arrays: bool,
}

/// What is printed of a kernel.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Emit {
    /// The kernel IR.
    Ir,
    /// LLVM IR as lowered.
    Llvm,
    /// LLVM IR after optimisation.
    LlvmOpt,
    /// PTX; the target must be a GPU.
    Ptx,
    /// The target's assembly.
    Asm,
}

/// What became of a kernel for one target.
#[derive(Serialize)]
struct Compiled {
    kernel: String,
    target: String,
    /// Threads of a launch that the code handles at once.
    lanes: Option<u32>,
    bytes: Option<usize>,
    ms: Option<f64>,
    /// Why there is one lane.
    scalar: Option<Reason>,
    /// What lanes do one after the other.
    lane_by_lane: Vec<Reason>,
    /// The text that was asked for.
    text: Option<String>,
    /// The file that was written.
    file: Option<PathBuf>,
    error: Option<String>,
}

/// Why a kernel has one lane.
#[derive(Serialize)]
struct Reason {
    message: String,
    file: Option<String>,
    line: Option<usize>,
    /// The line's text.
    source: Option<String>,
}

#[derive(Serialize)]
struct Compilation {
    path: PathBuf,
    kernels: Vec<Compiled>,
    #[serde(skip)]
    explain: bool,
    #[serde(skip)]
    emit: Option<Emit>,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let targets = arguments
        .target
        .iter()
        .map(|name| Target::named(name, CudaOutput::Ptx).map(|target| (name.as_str(), target)))
        .collect::<Result<Vec<_>, _>>()?;
    if arguments.emit == Some(Emit::Ptx)
        && let Some((name, _)) = targets.iter().find(|(_, t)| matches!(t, Target::Cpu(_)))
    {
        return Err(CliError::NoPtx { target: (*name).to_owned() });
    }
    let programs = programs(arguments, context)?;
    let mut report = Compilation {
        path: arguments.path.clone(),
        kernels: Vec::new(),
        explain: arguments.explain,
        emit: arguments.emit,
    };
    for program in &programs {
        for (name, target) in &targets {
            report.kernels.push(compile(program, name, target, arguments)?);
        }
    }
    context.show(&report)?;
    let wrong = report.kernels.iter().any(|k| k.error.is_some());
    Ok(if wrong { Outcome::Wrong } else { Outcome::Right })
}

fn programs(arguments: &Arguments, context: &Context<'_>) -> Result<Vec<Program>, CliError> {
    let path = &arguments.path;
    let mut programs = if path.extension().is_some_and(|e| e == "ir") {
        vec![program_of_ir(path)?]
    } else {
        if !path.is_file() {
            return Err(CliError::Read { path: path.clone(), message: "no such file".into() });
        }
        context.host().kernels(path)?
    };
    if !arguments.kernel.is_empty() {
        let known: Vec<String> = programs.iter().map(|p| p.name.clone()).collect();
        if let Some(missing) = arguments.kernel.iter().find(|name| !known.contains(name)) {
            return Err(CliError::NoKernel { path: path.clone(), name: missing.clone(), known });
        }
        programs.retain(|p| arguments.kernel.contains(&p.name));
    }
    if programs.is_empty() {
        return Err(CliError::Read { path: path.clone(), message: "it has no kernels".into() });
    }
    Ok(programs)
}

fn program_of_ir(path: &std::path::Path) -> Result<Program, CliError> {
    let fail = |message: String| CliError::Read { path: path.to_owned(), message };
    let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
    let module = inkle_ir::parse(&text).map_err(|e| fail(e.to_string()))?;
    inkle_ir::verify(&module).map_err(|e| fail(e.to_string()))?;
    let name = module.kernel().map(|k| k.name.clone()).ok_or_else(|| fail("it has no kernel".into()))?;
    Ok(Program { name, kernel: Ok((module, Options::default())) })
}

fn compile(
    program: &Program,
    name: &str,
    target: &Target,
    arguments: &Arguments,
) -> Result<Compiled, CliError> {
    let mut compiled = Compiled {
        kernel: program.name.clone(),
        target: name.to_owned(),
        lanes: None,
        bytes: None,
        ms: None,
        scalar: None,
        lane_by_lane: Vec::new(),
        text: None,
        file: None,
        error: None,
    };
    let (module, options) = match &program.kernel {
        Ok(kernel) => kernel,
        Err(message) => {
            compiled.error = Some(message.clone());
            return Ok(compiled);
        }
    };
    let arrays = module.kernel().map_or(0, |kernel| {
        let arrays = kernel.params.iter().enumerate().take(64).filter(|(_, p)| p.ty.as_array().is_some());
        arrays.fold(0, |mask, (index, _)| mask | 1 << index)
    });
    let options = Options {
        contiguous: if arguments.any_arrays { 0 } else { arrays },
        aligned: !arguments.any_arrays && matches!(target, Target::Cuda(_)),
        optimization_level: arguments.optimization.unwrap_or(options.optimization_level),
        ..options.clone()
    };
    let start = Instant::now();
    let artifact = match inkle_codegen::compile(module, target, &options) {
        Ok(artifact) => artifact,
        Err(error) => {
            compiled.error = Some(error.to_string());
            return Ok(compiled);
        }
    };
    compiled.ms = Some(start.elapsed().as_secs_f64() * 1e3);
    compiled.lanes = Some(artifact.lanes);
    compiled.bytes = Some(artifact.code.len());
    compiled.scalar = artifact.scalar_reason.as_ref().map(Reason::new);
    compiled.lane_by_lane = artifact.lane_by_lane.iter().map(Reason::new).collect();
    let text = |emit| inkle_codegen::emit_text(module, target, &options, emit);
    let text = match arguments.emit {
        None => None,
        Some(Emit::Ir) => Some(Ok(module.to_string())),
        Some(Emit::Llvm) => Some(text(Text::Llvm)),
        Some(Emit::LlvmOpt) => Some(text(Text::LlvmOptimized)),
        Some(Emit::Ptx | Emit::Asm) => Some(text(Text::Asm)),
    };
    match text.transpose() {
        Ok(text) => compiled.text = text,
        Err(error) => compiled.error = Some(error.to_string()),
    }
    if let Some(dir) = &arguments.out {
        let kind = match (arguments.emit, artifact.kind) {
            (Some(Emit::Ir), _) => "ir",
            (Some(Emit::Llvm | Emit::LlvmOpt), _) => "ll",
            (Some(Emit::Asm), ArtifactKind::ElfObject) => "s",
            (_, ArtifactKind::ElfObject) => "o",
            (_, ArtifactKind::Ptx) => "ptx",
            (_, ArtifactKind::Cubin) => "cubin",
        };
        let path = dir.join(format!("{}.{name}.{kind}", program.name));
        let content = compiled.text.take().map_or(artifact.code, String::into_bytes);
        std::fs::create_dir_all(dir)
            .and_then(|()| std::fs::write(&path, content))
            .map_err(|error| CliError::Write { path: path.clone(), error })?;
        compiled.file = Some(path);
    }
    Ok(compiled)
}

impl Reason {
    fn new(reason: &ScalarReason) -> Reason {
        let place = |span: Span| {
            let file = SourceFile::get(span.file)?;
            let (line, _) = file.line_column(span.start);
            Some((file.name().to_owned(), line, file.line_text(line).trim().to_owned()))
        };
        let (file, line, source) = match place(reason.span) {
            Some((file, line, source)) => (Some(file), Some(line), Some(source)),
            None => (None, None, None),
        };
        Reason { message: reason.message.clone(), file, line, source }
    }

    /// Prints the line it is about, where there is one.
    fn place(&self, out: &mut dyn Write) -> io::Result<()> {
        if let (Some(file), Some(line), Some(source)) = (&self.file, self.line, &self.source) {
            writeln!(out, "    {file}:{line}: {source}")?;
        }
        Ok(())
    }
}

impl Report for Compilation {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        for each in &self.kernels {
            if let Some(error) = &each.error {
                writeln!(out, "{} for {}: {}", each.kernel, each.target, error.trim_end())?;
                continue;
            }
            if let (Some(text), Some(emit)) = (&each.text, self.emit) {
                // A comment in the language of the text, so that it can be read by other tools; kernel IR has none.
                let mark = match emit {
                    Emit::Ir => None,
                    Emit::Ptx => Some("//"),
                    Emit::Llvm | Emit::LlvmOpt => Some(";"),
                    Emit::Asm => Some("#"),
                };
                if let Some(mark) = mark {
                    writeln!(out, "{mark} {} for {}", each.kernel, each.target)?;
                }
                writeln!(out, "{}", text.trim_end())?;
            } else if let (Some(lanes), Some(size), Some(ms)) = (each.lanes, each.bytes, each.ms) {
                let to = each.file.as_ref().map_or(String::new(), |f| format!("  {}", f.display()));
                writeln!(
                    out,
                    "{:<32} {:<10} {lanes:>2} lanes  {:>10}  {ms:>8.1} ms{to}",
                    each.kernel,
                    each.target,
                    bytes(size as u64)
                )?;
            }
            if self.explain {
                explain(each, out)?;
            }
        }
        Ok(())
    }
}

fn explain(each: &Compiled, out: &mut dyn Write) -> io::Result<()> {
    match (&each.scalar, each.lanes) {
        (Some(reason), _) => {
            writeln!(out, "    one lane: {}", reason.message)?;
            reason.place(out)
        }
        (None, Some(1)) => writeln!(out, "    one lane: nothing is gained by more here"),
        (None, _) => {
            writeln!(out, "    runs in vectors")?;
            for part in &each.lane_by_lane {
                writeln!(out, "    one lane after the other: {}", part.message)?;
                part.place(out)?;
            }
            Ok(())
        }
    }
}
