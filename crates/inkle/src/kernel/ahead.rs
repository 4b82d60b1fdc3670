//! Kernels that were compiled when the program was built.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use inkle_graph::KernelSource;
use inkle_ir::KernelAccess;
use inkle_module::{AotCode, AotMember, AotSet, AotSource, Options};
use inkle_runtime::Device;

use super::instance::Instance;
#[cfg(not(feature = "llvm"))]
use crate::error::Error;
use crate::error::Result;

/// The sets that were added, the newest last.
static SETS: RwLock<Vec<Arc<AotSet>>> = RwLock::new(Vec::new());

/// Adds kernels that were compiled when the program was built: what [`include_kernels!`](crate::include_kernels) does with the
/// file of the build script.
///
/// # Errors
/// [`Error::Ahead`](crate::Error::Ahead) when the bytes are no such kernels, are damaged, or are those of another inkle.
pub fn add_kernels(bytes: &'static [u8]) -> Result<()> {
    let set = Arc::new(AotSet::decode(bytes)?);
    SETS.write().unwrap_or_else(PoisonError::into_inner).push(set);
    Ok(())
}

/// A kernel of a set.
#[derive(Debug)]
pub struct Ahead {
    set: Arc<AotSet>,
    member: usize,
    /// Its code on the devices that asked for it; `None` where there is none.
    codes: Mutex<Vec<(Device, Option<Arc<AotCode>>)>>,
    access: OnceLock<KernelAccess>,
}

impl Ahead {
    /// What the program has of a kernel.
    pub fn find(instance: &'static Instance) -> Option<Ahead> {
        let sets = SETS.read().unwrap_or_else(PoisonError::into_inner);
        if sets.is_empty() {
            return None;
        }
        let wanted = instance.as_member();
        sets.iter().rev().find_map(|set| {
            let member = set
                .members()
                .iter()
                .position(|m| (&m.source, &m.options) == (&wanted.source, &wanted.options))?;
            let (codes, access) = Default::default();
            Some(Ahead { set: set.clone(), member, codes, access })
        })
    }

    /// The kernel as the set knows it.
    pub fn as_member(&self) -> &AotMember {
        &self.set.members()[self.member]
    }

    /// The code for a device, if there is any.
    pub fn code(&self, device: Device) -> Result<Option<Arc<AotCode>>> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = codes.iter().find(|(of, _)| *of == device) {
            return Ok(code.clone());
        }
        let code = self.set.code(self.member, device)?.map(Arc::new);
        if let Some(code) = &code {
            self.access.get_or_init(|| code.access());
        }
        codes.push((device, code.clone()));
        Ok(code)
    }

    /// Which arrays the kernel reads and writes, once it has code.
    pub fn access(&self) -> Option<&KernelAccess> {
        self.access.get()
    }

    /// The digest of the IR that was compiled, once there is code.
    pub fn digest(&self) -> Option<[u8; 32]> {
        let codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        codes.iter().find_map(|(_, code)| Some(*code.as_ref()?.digest().as_bytes()))
    }

    /// Where a graph has code for other machines from.
    pub fn graph_source(&self, options: Options) -> Arc<dyn KernelSource> {
        Arc::new(AotSource::new(self.set.clone(), self.member, options))
    }

    /// Why the kernel does not run on a device although it was compiled.
    #[cfg(not(feature = "llvm"))]
    pub fn lacks(&self, instance: &Instance, device: Device) -> Error {
        let targets: Vec<String> = self.set.targets().map(|target| target.to_string()).collect();
        let (here, wanted) = if device.is_cuda() {
            (
                format!("{device} is a GPU of compute capability sm_{}", device.arch()),
                format!("sm_{}", device.arch()),
            )
        } else {
            let native = inkle_graph::bundle::CodeTarget::native().to_string();
            (format!("this machine's CPU is of {native}"), native)
        };
        Error::NotCompiled {
            kernel: instance.shown(),
            reason: format!(
                "there is code for {}, and {here}. `.target(\"{wanted}\")` in build.rs adds code for it",
                targets.join(", ")
            ),
        }
    }
}

/// Why the program has no code of a kernel.
#[cfg(not(feature = "llvm"))]
pub fn absent(instance: &'static Instance) -> Error {
    let sets = SETS.read().unwrap_or_else(PoisonError::into_inner);
    let members: Vec<&AotMember> = sets.iter().flat_map(|set| set.members()).collect();
    let (wanted, name) = (instance.as_member(), instance.name());
    let same: Vec<&&AotMember> = members.iter().filter(|m| m.name == name).collect();
    let list = |members: &[&AotMember]| {
        members.iter().map(|m| format!("`{}{}`", m.name, m.signature)).collect::<Vec<_>>().join(", ")
    };
    let add =
        format!("`.kernel({name})`, of a generic kernel `.kernel({name}.of::<..>())`, in build.rs adds it");
    let reason = if sets.is_empty() {
        format!(
            "no compiled kernels were added. `inkle::include_kernels!()?` at the program's start adds those that build.rs compiles \
             with the crate inkle-build; {add}"
        )
    } else if let Some(member) = same.iter().find(|m| m.source == wanted.source) {
        format!(
            "it was compiled with other options: `{}` instead of `{}`. `checks` is on where debug assertions are, of which the \
             build script may have others than the program; name it: `#[inkle::kernel(checks = false)]`",
            member.options, wanted.options
        )
    } else if same.iter().any(|m| m.signature == wanted.signature) {
        "what was compiled under this name has another source. Is it in another module, or does its source differ in the build \
         script by a `cfg`?"
            .to_owned()
    } else if same.is_empty() {
        format!("there is code of {}; {add}", list(&members))
    } else {
        let same: Vec<&AotMember> = same.iter().map(|m| **m).collect();
        format!("there is code for other types: {}; {add}", list(&same))
    };
    Error::NotCompiled { kernel: instance.shown(), reason }
}
