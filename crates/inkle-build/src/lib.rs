//! Compiles a crate's kernels when the crate is built, so that the program needs no compiler: it starts at once, is small, and
//! links no LLVM.
//!
//! The kernels are in a file of their own. The build script compiles that file too, as a module, and lists the kernels:
//!
//! ```toml
//! [dependencies]
//! inkle = { version = "0.1", default-features = false }
//!
//! [build-dependencies]
//! inkle = "0.1"
//! inkle-build = "0.1"
//! ```
//!
//! ```no_run
//! // build.rs, with `#[path = "src/kernels.rs"] mod kernels;` before this
//! # mod kernels {
//! #     use inkle::prelude::*;
//! #     #[inkle::kernel]
//! #     pub fn saxpy(x: &Array<f32>, y: &mut Array<f32>, a: f32) {
//! #         let i = tid();
//! #         y[i] = a * x[i] + y[i];
//! #     }
//! #     #[inkle::kernel]
//! #     pub fn scale<T: Number>(x: &mut Array<T>, by: T) {
//! #         x[tid()] *= by;
//! #     }
//! # }
//! fn main() -> Result<(), inkle_build::Error> {
//!     inkle_build::Kernels::new()
//!         .kernel(kernels::saxpy)
//!         .kernel(kernels::scale.of::<f32>()) // a generic kernel: every instance that the program launches
//!         .usual_targets() // the CPUs of the kind that the crate is built for; alone it need not be said
//!         .target("compute_75") // and NVIDIA's GPUs from Turing on
//!         .build()
//! }
//! ```
//!
//! ```text
//! // src/main.rs
//! mod kernels;
//!
//! fn main() -> inkle::Result<()> {
//!     inkle::include_kernels!()?;
//!     // ... and kernels::saxpy.launch(..) as ever
//! }
//! ```
//!
//! # What the kernels may use
//!
//! Whatever the build script can: functions, structs and constants of the file, of its submodules, and of crates that are
//! build dependencies too. What else the file names is an error of rustc in the build script, at its place. For the sake of
//! this it names its own things by `self` and `super`, not by `crate`.
//!
//! # What is checked
//!
//! The program finds code by a digest of the kernel's source with everything that the source reaches, so code never runs for
//! a kernel that it was not made of. A kernel without code is an error that says what there is and what to add
//! ([`inkle::Error::NotCompiled`]); where the program has a compiler, it compiles the kernel.
//!
//! Options in the attribute of the kernel hold here too. `checks` is on by default where debug assertions are, which Cargo
//! gives to the build script of a development build and not to that of a release build, as to the program. Where a profile
//! says otherwise, name it: `#[inkle::kernel(checks = false)]`.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

use std::path::PathBuf;
use std::{env, fmt, fs, io};

use inkle::AnyKernel;
use inkle_graph::bundle::CodeTarget;

/// The kernels of a crate, and what they are compiled for.
#[derive(Debug, Default)]
pub struct Kernels {
    kernels: Vec<AnyKernel>,
    targets: Vec<String>,
    /// Whether those that there are without any are meant too.
    usual: bool,
}

/// Why a build script could not compile the kernels. Returned by `main`, it shows as text.
#[non_exhaustive]
pub enum Error {
    /// A kernel is wrong, or code for a target cannot be made.
    Compile(inkle::Error),
    /// There is no target of a name.
    Target {
        /// The name.
        name: String,
    },
    /// No kernel was listed.
    NoKernels,
    /// Cargo sets this variable for build scripts, and it is not set.
    NoBuildScript {
        /// The variable.
        variable: &'static str,
    },
    /// The crate is built for a processor that kernels cannot be compiled for.
    Processor {
        /// The processor, as Cargo names it.
        name: String,
    },
    /// The file of compiled kernels cannot be written.
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Compile(error) => error.fmt(f),
            Error::Target { name } => write!(
                f,
                "`{name}` is no target of kernels; there are `x86-64-v2` to `x86-64-v4`, `aarch64`, `native` for this machine's \
                 CPU, `compute_75` and so on for PTX, and `sm_75` and so on for machine code of GPUs"
            ),
            Error::NoKernels => {
                f.write_str("no kernels are listed; `.kernel(kernels::name)` lists one, of a module that the build script has")
            }
            Error::NoBuildScript { variable } => {
                write!(f, "the variable {variable} is not set, so this is no build script that Cargo runs")
            }
            Error::Processor { name } => {
                write!(f, "kernels cannot be compiled for the processor {name}; for x86_64 and aarch64 they can")
            }
            Error::File { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

/// As text: it is what Cargo shows of the error of a build script's `main`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Compile(error) => Some(error),
            Error::File { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl Kernels {
    /// No kernels yet, for any CPU of the kind that the crate is built for.
    pub fn new() -> Kernels {
        Kernels::default()
    }

    /// Adds a kernel: `kernels::saxpy`, and of a generic one each instance that the program launches,
    /// `kernels::scale.of::<f32>()`.
    pub fn kernel(mut self, kernel: impl Into<AnyKernel>) -> Kernels {
        self.kernels.push(kernel.into());
        self
    }

    /// Adds a target: `x86-64-v2`, `x86-64-v3`, `x86-64-v4`, `aarch64`, `native` (the CPU that the crate is built on),
    /// `compute_75` (PTX for GPUs of this compute capability and newer), `sm_90` (machine code for GPUs of this one).
    ///
    /// A program takes the best that it can run. Without any target there is code for x86-64-v2 and x86-64-v3, or for
    /// aarch64, by what the crate is built for; [`usual_targets`](Kernels::usual_targets) adds that to targets that are named.
    pub fn target(mut self, name: impl Into<String>) -> Kernels {
        self.targets.push(name.into());
        self
    }

    /// Adds the targets that there are without any: all CPUs of the kind that the crate is built for. For crates that add GPUs to them.
    pub fn usual_targets(mut self) -> Kernels {
        self.usual = true;
        self
    }

    /// Compiles the kernels into Cargo's folder for the output of the build script, where
    /// [`include_kernels!`](inkle::include_kernels) finds them.
    ///
    /// # Errors
    /// [`Error::Compile`] with the mistakes in a kernel and where they are; unknown targets; where this is no build script.
    pub fn build(self) -> Result<(), Error> {
        let folder = variable("OUT_DIR")?;
        // Cargo builds the script anew, and then runs it, when a file of its modules changes.
        println!("cargo:rerun-if-changed=build.rs");
        let bytes = self.compile(&variable("CARGO_CFG_TARGET_ARCH")?)?;
        let path = PathBuf::from(folder).join("kernels.inkle");
        fs::write(&path, bytes).map_err(|error| Error::File { path, error })
    }

    fn compile(&self, processor: &str) -> Result<Vec<u8>, Error> {
        if self.kernels.is_empty() {
            return Err(Error::NoKernels);
        }
        inkle::compile_ahead(&self.kernels, &self.code_targets(processor)?).map_err(Error::Compile)
    }

    /// What there is code for, each once.
    fn code_targets(&self, processor: &str) -> Result<Vec<CodeTarget>, Error> {
        let usual: &[&str] = match processor {
            "x86_64" => &["x86-64-v2", "x86-64-v3"],
            "aarch64" => &["aarch64"],
            _ => &[],
        };
        let mut names: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        if self.usual || names.is_empty() {
            if usual.is_empty() {
                return Err(Error::Processor { name: processor.to_owned() });
            }
            names.splice(0..0, usual.iter().copied());
        }
        let mut targets: Vec<CodeTarget> = Vec::new();
        for name in names {
            let target = name.parse().map_err(|_| Error::Target { name: name.to_owned() })?;
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        Ok(targets)
    }
}

fn variable(name: &'static str) -> Result<String, Error> {
    env::var(name).map_err(|_| Error::NoBuildScript { variable: name })
}

#[cfg(test)]
mod tests {
    use inkle::prelude::*;

    use super::{Error, Kernels};

    #[inkle::kernel]
    fn double(x: &mut Array<f32>) {
        x[tid()] *= 2.0;
    }

    #[inkle::kernel]
    fn scale<T: Number>(x: &mut Array<T>, by: T) {
        x[tid()] *= by;
    }

    /// What rustc lets pass and the checker does not: functions that call each other.
    #[inkle::kernel]
    fn unlimited(x: &mut Array<f32>) {
        x[tid()] = there(1.0);
    }

    #[inkle::func]
    fn there(x: f32) -> f32 {
        back(x + 1.0)
    }

    #[inkle::func]
    fn back(x: f32) -> f32 {
        there(x)
    }

    #[test]
    fn a_compiled_kernel_is_found_again_and_runs() -> inkle::Result<()> {
        let kernels =
            Kernels::new().kernel(double).kernel(scale.of::<f64>()).target("native").target("compute_75");
        let bytes = kernels.compile("x86_64").unwrap();
        inkle::add_kernels(bytes.leak())?;
        let (mut x, mut y) = (Array::full(5, 1.5f32)?, Array::full(5, 1.5f64)?);
        double.launch(5, (&mut x,))?;
        scale.launch(5, (&mut y, 3.0))?;
        assert_eq!((x.to_vec()?, y.to_vec()?), (vec![3.0; 5], vec![4.5; 5]));
        Ok(())
    }

    /// Machine code takes a library of NVIDIA's, which says so where it is not.
    #[test]
    fn code_for_gpus_is_made_without_one() {
        let of = |target| Kernels::new().kernel(double).target(target).compile("x86_64");
        let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        let ptx = of("compute_75").unwrap();
        assert!(holds(&ptx, b".target sm_75") && holds(&ptx, b".entry"));
        match of("sm_90") {
            Ok(cubin) => assert!(holds(&cubin, b"\x7fELF") && !holds(&cubin, b".target sm_90\n")),
            Err(error) => assert!(error.to_string().contains("nvJitLink"), "{error}"),
        }
    }

    #[test]
    fn gpus_come_to_the_usual_targets() {
        let targets = |kernels: Kernels| {
            let targets = kernels.code_targets("x86_64").unwrap();
            targets.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let usual = ["x86-64-v2", "x86-64-v3"].map(str::to_owned);
        assert_eq!(targets(Kernels::new()), usual);
        assert_eq!(targets(Kernels::new().target("sm_90")), ["sm_90"]);
        let both = Kernels::new().target("x86-64-v3").target("sm_90").usual_targets();
        assert_eq!(targets(both), ["x86-64-v2", "x86-64-v3", "sm_90"]);
        let none = Kernels::new().usual_targets().target("sm_90").code_targets("riscv64");
        assert!(matches!(none, Err(Error::Processor { .. })));
    }

    #[test]
    fn mistakes_say_what_to_do() {
        let text = |kernels: Kernels, processor: &str| kernels.compile(processor).unwrap_err().to_string();
        assert!(text(Kernels::new(), "x86_64").contains(".kernel(kernels::name)"));
        assert!(
            text(Kernels::new().kernel(double).target("sparc"), "x86_64").contains("`sparc` is no target")
        );
        assert!(text(Kernels::new().kernel(double), "riscv64").contains("riscv64"));
        let wrong = text(Kernels::new().kernel(unlimited), "x86_64");
        assert!(wrong.contains("there") && wrong.contains("lib.rs:"), "{wrong}");
        let outside = Kernels::new().kernel(double).build();
        assert!(matches!(outside, Err(Error::NoBuildScript { variable: "OUT_DIR" })), "{outside:?}");
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let whole = Kernels::new().kernel(double).target("x86-64-v2").compile("x86_64").unwrap();
        for place in [0, 9, 20, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[place] ^= 1;
            assert!(inkle::add_kernels(bytes.leak()).is_err(), "byte {place}");
        }
        for length in [0, 7, 30, 60, whole.len() - 1] {
            assert!(inkle::add_kernels(whole[..length].to_vec().leak()).is_err(), "{length} bytes");
        }
    }
}
