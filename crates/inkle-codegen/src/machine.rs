//! LLVM's target machines and pass pipelines.
//!
//! LLVM objects are not shared between threads: each thread keeps its own target machines, and every compilation
//! has a context of its own, so nothing grows with the number of kernels compiled.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::rc::Rc;
use std::sync::Once;

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

thread_local! {
    static MACHINES: RefCell<HashMap<(String, bool), Rc<TargetMachine>>> = RefCell::new(HashMap::new());
}

/// This thread's machine for a target.
pub(crate) fn machine(target: &Target, optimize: bool) -> Result<Rc<TargetMachine>, CodegenError> {
    initialize();
    let key = (target.key(), optimize);
    if let Some(known) = MACHINES.with_borrow(|m| m.get(&key).cloned()) {
        return Ok(known);
    }
    let fail = |message: String| CodegenError::Target { target: target.key(), message };
    let (triple, cpu, features, reloc) = match target {
        Target::Cpu(t) => (t.triple.as_str(), t.cpu.clone(), t.features.clone(), RelocMode::PIC),
        Target::Cuda(t) => (NVPTX, t.cpu(), t.ptx_features().to_owned(), RelocMode::Default),
    };
    let triple = TargetTriple::create(triple);
    let llvm = LlvmTarget::from_triple(&triple).map_err(|e| fail(e.to_string()))?;
    let level = if optimize { OptimizationLevel::Aggressive } else { OptimizationLevel::None };
    let machine = llvm
        .create_target_machine(&triple, &cpu, &features, level, reloc, CodeModel::Default)
        .ok_or_else(|| fail(format!("LLVM has no machine for the CPU {cpu}")))?;
    let machine = Rc::new(machine);
    MACHINES.with_borrow_mut(|m| m.insert(key, machine.clone()));
    Ok(machine)
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
const NOT_FOR_LANES: [&CStr; 10] = [
    c"Canonicalize Freeze Instructions in Loops",
    c"Loop Strength Reduction",
    c"CodeGen Prepare",
    c"Merge contiguous icmps into a memcmp",
    c"Expand memcmp() to load/stores",
    c"Partially inline calls to library functions",
    c"Replace intrinsics with calls to vector library",
    c"Early Tail Duplication",
    c"Live DEBUG_VALUE analysis",
    c"Post RA top-down list latency scheduler",
];

/// Moves constants out of loops before registers are allocated. As operands in memory they cost next to nothing, while each that
/// is moved is a register less, and allocating those takes up to a fifth of the time: so this is for loops that are
/// short and have many. What can be moved once registers are allocated always is.
const HOISTING: &CStr = c"Early Machine Loop Invariant Code Motion";

/// Which passes code is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passes {
    /// Those that code in lanes needs, not all.
    pub for_lanes: bool,
    /// Constants are moved out of loops.
    pub hoist: bool,
}

unsafe extern "C" {
    fn inkle_emit(
        machine: LLVMTargetMachineRef,
        module: LLVMModuleRef,
        kind: LLVMCodeGenFileType,
        without: *const *const c_char,
        count: usize,
        taker: *mut c_void,
        take: unsafe extern "C" fn(taker: *mut c_void, bytes: *const c_char, length: usize),
    ) -> c_int;
}

/// Emits machine code or assembly.
pub(crate) fn emit(
    module: &Module<'_>,
    machine: &TargetMachine,
    kind: FileType,
    passes: Passes,
) -> Result<Vec<u8>, CodegenError> {
    unsafe extern "C" fn take(taker: *mut c_void, bytes: *const c_char, length: usize) {
        // SAFETY: `taker` is the vector below, and so many bytes lie there.
        unsafe {
            (*taker.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(bytes.cast(), length))
        };
    }
    let kind = match kind {
        FileType::Assembly => LLVMCodeGenFileType::LLVMAssemblyFile,
        FileType::Object => LLVMCodeGenFileType::LLVMObjectFile,
    };
    let mut code: Vec<u8> = Vec::new();
    let lanes = NOT_FOR_LANES.iter().filter(|_| passes.for_lanes);
    let names: Vec<*const c_char> =
        lanes.chain((!passes.hoist).then_some(&HOISTING)).map(|name| name.as_ptr()).collect();
    // SAFETY: module and machine are alive, there are so many names, and `take` gets the vector as its first argument.
    let left_out = unsafe {
        let taker = (&raw mut code).cast();
        inkle_emit(machine.as_mut_ptr(), module.as_mut_ptr(), kind, names.as_ptr(), names.len(), taker, take)
    };
    if left_out < 0 {
        let message = "the target makes no such files".to_owned();
        return Err(CodegenError::Broken { stage: "emitting code", message });
    }
    debug_assert!(!passes.for_lanes || left_out as usize == names.len(), "LLVM has passes of other names");
    Ok(code)
}
