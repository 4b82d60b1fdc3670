//! LLVM's target machines and pass pipelines.
//!
//! LLVM objects are not shared between compilations that run at once: each has a target machine for itself while it runs, and a
//! context of its own, so nothing grows with the number of kernels compiled.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use inkwell::OptimizationLevel;
use inkwell::llvm_sys::prelude::LLVMModuleRef;
use inkwell::llvm_sys::support::LLVMParseCommandLineOptions;
use inkwell::llvm_sys::target_machine::{LLVMCodeGenFileType, LLVMTargetMachineRef};
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine, TargetTriple,
};

use crate::error::CodegenError;
use crate::target::{NVPTX, Target};

fn initialize() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let config = InitializationConfig::default();
        LlvmTarget::initialize_x86(&config);
        LlvmTarget::initialize_aarch64(&config);
        // There is no assembler or disassembler for PTX.
        let config = InitializationConfig { asm_parser: false, disassembler: false, ..config };
        LlvmTarget::initialize_nvptx(&config);
        set_flags();
    });
}

/// What LLVM does otherwise than it would. Of making machine code it leaves something out: kernels are in lanes, registers are few
/// for what their loops compute, and all of these take time to fill them.
///
/// - Instructions are not scheduled once more after their selection: these processors do that themselves.
/// - Vectors of one constant are that constant, not all their elements.
///
/// Arrays of a launch may overlap, so what a loop keeps in an element, such as a sum, would be read and written in every round. Such
/// loops are there twice: in one form it is in a register, and that one runs when the addresses show that it may.
///
/// - The pipelines for GPUs make such loops.
/// - They may be as deep in others as ours are, which has the threads of a launch around them.
const FLAGS: [&CStr; 6] = [
    c"inkle",
    c"-enable-loop-versioning-licm",
    c"-licm-versioning-max-depth-threshold=8",
    c"-enable-misched=0",
    c"-use-constant-fp-for-fixed-length-splat",
    c"-use-constant-int-for-fixed-length-splat",
];

/// Sets [`FLAGS`] for this process's LLVM.
fn set_flags() {
    let flags = FLAGS.map(CStr::as_ptr);
    // SAFETY: as many C strings as it says, which live for ever. Flags are read when machines and constants are made;
    // the caller runs this once, before any is.
    unsafe { LLVMParseCommandLineOptions(flags.len() as i32, flags.as_ptr(), c"".as_ptr()) };
}

/// A target machine and what makes code for it, for one compilation at a time. Making them takes longer than making the code of
/// a short kernel, so they are used again, by whichever thread is next.
pub(crate) struct Machine {
    /// `None` once it was given back.
    parts: Option<MachineParts>,
}

struct MachineParts {
    key: (String, bool),
    /// Those of object files. They are dropped before the machine that they use.
    emitters: Vec<(Passes, Emitter)>,
    llvm: TargetMachine,
}

// SAFETY: LLVM's target machines and passes belong to no thread, and one thread at a time has them.
unsafe impl Send for MachineParts {}

/// Machines that nobody uses: never more of a kind than were in use at once.
static IDLE: Mutex<Vec<MachineParts>> = Mutex::new(Vec::new());

fn idle() -> MutexGuard<'static, Vec<MachineParts>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Machine {
    fn drop(&mut self) {
        // After a panic nothing is known of them.
        if let Some(parts) = self.parts.take().filter(|_| !std::thread::panicking()) {
            idle().push(parts);
        }
    }
}

impl Deref for Machine {
    type Target = TargetMachine;

    fn deref(&self) -> &TargetMachine {
        &self.parts.as_ref().expect("it is given back when it is dropped").llvm
    }
}

/// A machine for a target.
pub(crate) fn machine(target: &Target, optimize: bool) -> Result<Machine, CodegenError> {
    initialize();
    let key = (target.key(), optimize);
    let known = {
        let mut idle = idle();
        let last = idle.iter().rposition(|parts| parts.key == key);
        last.map(|index| idle.swap_remove(index))
    };
    if known.is_some() {
        return Ok(Machine { parts: known });
    }
    let fail = |message: String| CodegenError::Target { target: target.key(), message };
    let (triple, cpu, features, reloc) = match target {
        Target::Cpu(t) => (t.triple.as_str(), t.cpu.clone(), t.features.clone(), RelocMode::PIC),
        Target::Cuda(t) => (NVPTX, t.cpu(), t.ptx_features().to_owned(), RelocMode::Default),
    };
    let triple = TargetTriple::create(triple);
    let llvm = LlvmTarget::from_triple(&triple).map_err(|e| fail(e.to_string()))?;
    let level = if optimize { OptimizationLevel::Aggressive } else { OptimizationLevel::None };
    let llvm = llvm
        .create_target_machine(&triple, &cpu, &features, level, reloc, CodeModel::Default)
        .ok_or_else(|| fail(format!("LLVM has no machine for the CPU {cpu}")))?;
    Ok(Machine { parts: Some(MachineParts { key, emitters: Vec::new(), llvm }) })
}

/// Loops that keep something in an element, in both forms; see [`FLAGS`].
const VERSIONS: &str = "loop(loop-versioning-licm),loop-mssa(licm),";

/// What a widened kernel needs. Its code is already in lanes and in SSA form, inlined and unrolled as far as it pays, so
/// most of LLVM's default pipeline finds nothing: these passes make code as fast in a third of the time (measured with
/// `examples/measure.rs`, and by counting instructions of the compiler with `examples/cost.rs`). Of what global value numbering
/// finds, the second early-cse finds nearly all, in half the time. The `versions` of loops are for kernels that have some.
fn widened(versions: &str) -> String {
    format!(
        "function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(loop-rotate,licm,simple-loop-unswitch),{versions}\
         instcombine<no-verify-fixpoint>,early-cse<memssa>,simplifycfg,adce)"
    )
}

/// What a CPU kernel of one lane needs: the same, and what makes loops fast. LLVM's default pipeline would join scalars of
/// straight code to vectors too, which takes most of the time with kernels that have thousands of stores and makes
/// few of them faster.
fn one_lane(versions: &str) -> String {
    format!(
        "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,\
         loop-mssa(loop-rotate,licm,simple-loop-unswitch),loop(loop-idiom,indvars,loop-deletion),{versions}\
         gvn,sccp,instcombine<no-verify-fixpoint>,dse,adce,simplifycfg,loop-vectorize,loop-unroll,\
         instcombine<no-verify-fixpoint>,loop-mssa(licm),simplifycfg,adce)"
    )
}

/// Runs the optimisation pipeline for a kernel that has `lanes` on the CPU; `None` for GPUs.
pub(crate) fn optimize(
    module: &Module<'_>,
    machine: &TargetMachine,
    level: u8,
    lanes: Option<u32>,
    has_loops: bool,
) -> Result<(), CodegenError> {
    let versions = if has_loops { VERSIONS } else { "" };
    let pipeline = match (level, lanes) {
        (1 | 2, Some(1)) => one_lane(versions),
        (1 | 2, Some(_)) => widened(versions),
        _ => format!("default<O{}>", level.min(3)),
    };
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(true);
    options.set_loop_slp_vectorization(true);
    options.set_loop_interleaving(true);
    options.set_loop_unrolling(true);
    module
        .run_passes(&pipeline, machine, options)
        .map_err(|e| CodegenError::Broken { stage: "optimising", message: e.to_string() })
}

/// Inlines the functions that are marked to be inlined always.
pub(crate) fn inline_marked(module: &Module<'_>, machine: &TargetMachine) -> Result<(), CodegenError> {
    module
        .run_passes("always-inline", machine, PassBuilderOptions::create())
        .map_err(|e| CodegenError::Broken { stage: "inlining", message: e.to_string() })
}

/// Passes that code in lanes is made without, by their names in LLVM. They leave its loops as fast, measured with
/// `benches/kernels.py`, and its code shorter.
///
/// - Loops step through memory with the index that they have: the processor adds it to an address for nothing.
/// - The code is prepared for instruction selection by us.
/// - There is nothing to do for the others: no comparisons of memory, no calls of C's mathematics, no variables for debuggers, no
///   blocks that end in many places.
const NOT_FOR_LANES: [&CStr; 9] = [
    c"Canonicalize Freeze Instructions in Loops",
    c"Loop Strength Reduction",
    c"CodeGen Prepare",
    c"Merge contiguous icmps into a memcmp",
    c"Expand memcmp() to load/stores",
    c"Partially inline calls to library functions",
    c"Replace intrinsics with calls to vector library",
    c"Early Tail Duplication",
    c"Live DEBUG_VALUE analysis",
];

/// Moves constants out of loops before registers are allocated. As operands in memory they cost next to nothing, while each that
/// is moved is a register less, and allocating those takes up to a fifth of the time: so this is for loops that are
/// short and have many. What can be moved once registers are allocated always is.
const HOISTING: &CStr = c"Early Machine Loop Invariant Code Motion";

/// Orders x86's instructions once more when registers are allocated: 3 % of the time of a short loop (`fast_math` n-body), and
/// up to a tenth of that of making code.
const SCHEDULING: &CStr = c"Post RA top-down list latency scheduler";

/// Which passes code is made with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Passes {
    /// Those that code in lanes needs, not all.
    pub for_lanes: bool,
    /// The kernel is short, and loops of its own or of the math library take its time: see [`HOISTING`] and [`SCHEDULING`].
    pub tight: bool,
}

/// LLVM's passes from a module to machine code; a C++ object of `emit.cpp`.
///
/// *Invariant:* the machine that it was made for lives.
struct Emitter(NonNull<c_void>);

unsafe extern "C" {
    fn inkle_emitter(
        machine: LLVMTargetMachineRef,
        kind: LLVMCodeGenFileType,
        without: *const *const c_char,
        count: usize,
        left_out: *mut c_int,
    ) -> *mut c_void;

    fn inkle_emit(
        emitter: *mut c_void,
        machine: LLVMTargetMachineRef,
        module: LLVMModuleRef,
        taker: *mut c_void,
        take: unsafe extern "C" fn(taker: *mut c_void, bytes: *const c_char, length: usize),
    );

    fn inkle_emitter_drop(emitter: *mut c_void);
}

impl Emitter {
    fn new(machine: &TargetMachine, kind: FileType, passes: Passes) -> Result<Emitter, CodegenError> {
        let kind = match kind {
            FileType::Assembly => LLVMCodeGenFileType::LLVMAssemblyFile,
            FileType::Object => LLVMCodeGenFileType::LLVMObjectFile,
        };
        let is_x86 = machine.get_triple().as_str().to_bytes().starts_with(b"x86");
        let scheduling = is_x86 && passes.for_lanes && !passes.tight;
        let others = [(!passes.tight).then_some(HOISTING), scheduling.then_some(SCHEDULING)];
        let lanes = NOT_FOR_LANES.into_iter().filter(|_| passes.for_lanes);
        let names: Vec<*const c_char> = lanes.chain(others.into_iter().flatten()).map(CStr::as_ptr).collect();
        let mut left_out = 0;
        // SAFETY: the machine is alive, and there are so many names.
        let emitter = unsafe {
            inkle_emitter(machine.as_mut_ptr(), kind, names.as_ptr(), names.len(), &raw mut left_out)
        };
        let Some(emitter) = NonNull::new(emitter) else {
            let message = "the target makes no such files".to_owned();
            return Err(CodegenError::Broken { stage: "emitting code", message });
        };
        debug_assert!(
            !passes.for_lanes || left_out as usize == names.len(),
            "LLVM has passes of other names"
        );
        Ok(Emitter(emitter))
    }

    fn emit(&mut self, machine: &TargetMachine, module: &Module<'_>) -> Vec<u8> {
        unsafe extern "C" fn take(taker: *mut c_void, bytes: *const c_char, length: usize) {
            // SAFETY: `taker` is the vector below, and so many bytes lie there.
            unsafe {
                (*taker.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes.cast(), length))
            };
        }
        let mut code: Vec<u8> = Vec::new();
        // SAFETY: the invariant; the module is alive, and `take` gets the vector as its first argument.
        unsafe {
            let taker = (&raw mut code).cast();
            inkle_emit(self.0.as_ptr(), machine.as_mut_ptr(), module.as_mut_ptr(), taker, take);
        }
        code
    }
}

impl Drop for Emitter {
    fn drop(&mut self) {
        // SAFETY: it was made by `inkle_emitter`, and nothing else has it.
        unsafe { inkle_emitter_drop(self.0.as_ptr()) };
    }
}

/// Emits machine code or assembly.
pub(crate) fn emit(
    module: &Module<'_>,
    machine: &mut Machine,
    kind: FileType,
    passes: Passes,
) -> Result<Vec<u8>, CodegenError> {
    let MachineParts { emitters, llvm, .. } =
        machine.parts.as_mut().expect("it is given back when it is dropped");
    if kind == FileType::Assembly {
        return Ok(Emitter::new(llvm, kind, passes)?.emit(llvm, module));
    }
    let known = emitters.iter().position(|(others, _)| *others == passes);
    let index = match known {
        Some(index) => index,
        None => {
            emitters.push((passes, Emitter::new(llvm, kind, passes)?));
            emitters.len() - 1
        }
    };
    Ok(emitters[index].1.emit(llvm, module))
}
