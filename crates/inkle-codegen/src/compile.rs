//! The whole way from a module to code.

use inkle_diag::Span;
use inkle_diag::trace::{self, Stage};
use inkle_ir::{Block, Function, IN_ORDER, MAX_LOCAL_SIZE, Module, Updates, Value};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module as LlvmModule;
use inkwell::targets::FileType;

use crate::artifact::{Artifact, ArtifactKind};
use crate::error::CodegenError;
use crate::lower::entry::{ENTRY, ENTRY_ALONE, Tail, UPDATES};
use crate::lower::{Lower, Machine, expanded_size, local_bytes};
use crate::machine::{self, Passes};
use crate::options::{Forms, Options};
use crate::plan::{Plan, gpu_lanes, has_loops, has_many_constants, has_narrow_values, plan};
use crate::target::{CudaOutput, Target};
use crate::value::part_count;

/// Raised whenever the same input gives other code, so that caches forget what an older inkle made.
const REVISION: u32 = 39;

/// Values of more parts than this are refused: every part is a register.
const MAX_PARTS: usize = 1 << 16;

/// Blocks nested deeper than this are lowered on a thread with a larger stack.
const DEEP: usize = 100;

/// A text to look at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// LLVM IR as lowered.
    Llvm,
    /// LLVM IR after optimisation.
    LlvmOptimized,
    /// The target's assembly; PTX for GPUs.
    Asm,
}

/// What identifies the compiler in cache keys: equal versions make equal code.
pub fn compiler_version() -> &'static str {
    static VERSION: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    VERSION.get_or_init(|| {
        format!("inkle {} llvm {} codegen {REVISION}", env!("CARGO_PKG_VERSION"), llvm_version())
    })
}

/// The version of LLVM that makes the code.
pub fn llvm_version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}

/// Makes code for a verified module.
///
/// # Errors
/// [`CodegenError::NoKernel`] for what the module is; [`CodegenError::Target`] and
/// [`CodegenError::Unsupported`] for what the target is not; [`CodegenError::MissingLibrary`] and
/// [`CodegenError::Library`] for NVIDIA's libraries; [`CodegenError::Broken`] for bugs of inkle's.
pub fn compile(module: &Module, target: &Target, options: &Options) -> Result<Artifact, CodegenError> {
    let (text, plan) = with_stack(module, || {
        let kind = match target {
            Target::Cpu(_) => FileType::Object,
            Target::Cuda(_) => FileType::Assembly,
        };
        generate(module, target, options, Want::Code(kind))
    })?;
    let (code, kind) = match target {
        Target::Cpu(_) => (text, ArtifactKind::ElfObject),
        Target::Cuda(cuda) => match cuda.output {
            CudaOutput::Ptx => (text, ArtifactKind::Ptx),
            CudaOutput::Cubin => {
                let _span = trace::part(Stage::Cubin);
                (crate::nvidia::nvjitlink::link(&text, cuda.arch, options)?, ArtifactKind::Cubin)
            }
        },
    };
    Ok(Artifact {
        code,
        kind,
        entry: plan.entry.to_owned(),
        lanes: plan.lanes,
        scalar_reason: plan.reason,
        lane_by_lane: plan.lane_by_lane,
    })
}

/// Gives what the compiler made on the way, as text.
///
/// # Errors
/// As [`compile`].
pub fn emit_text(
    module: &Module,
    target: &Target,
    options: &Options,
    emit: Emit,
) -> Result<String, CodegenError> {
    let want = match emit {
        Emit::Llvm => Want::Llvm { optimized: false },
        Emit::LlvmOptimized => Want::Llvm { optimized: true },
        Emit::Asm => Want::Code(FileType::Assembly),
    };
    let (text, _) = with_stack(module, || generate(module, target, options, want))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[derive(Clone, Copy)]
enum Want {
    Llvm { optimized: bool },
    Code(FileType),
}

fn generate(
    module: &Module,
    target: &Target,
    options: &Options,
    want: Want,
) -> Result<(Vec<u8>, Plan), CodegenError> {
    if module.kernel().is_none() {
        return Err(CodegenError::NoKernel);
    }
    check_order(module)?;
    check_sizes(module)?;
    check_local(module)?;
    let size = expanded_size(module);
    let mut llvm_machine = machine::machine(target, options.optimization_level > 0)?;
    let mut plan = match target {
        Target::Cpu(cpu) => plan(module, size, cpu, options),
        Target::Cuda(_) => {
            let lanes = gpu_lanes(module, size, options);
            Plan {
                lanes,
                tail: Tail::Scalar,
                alone: None,
                reason: None,
                lane_by_lane: Vec::new(),
                entry: ENTRY,
            }
        }
    };
    let lowering = trace::part(Stage::Lower);
    let context = Context::create();
    let start = || {
        let lower = Lower::new(&context, module, options, Machine::of(target, module));
        lower.e.module.set_triple(&llvm_machine.get_triple());
        lower.e.module.set_data_layout(&llvm_machine.get_target_data().get_data_layout());
        lower
    };
    let mut lower = start();
    match target {
        Target::Cpu(cpu) => {
            let features = |lanes: u32| {
                let several =
                    lanes > cpu.natural_lanes() && cpu.has("avx512bw") && !has_narrow_values(module);
                several.then(|| cpu.features_of_several_vectors())
            };
            lower.features = features(plan.lanes);
            let mut updates = plan.alone.and_then(|_| Updates::of(module));
            // Where plain updates are always possible, atomic ones are for what runs beside others that update.
            let is_rare = updates.is_some();
            let has = |forms| !is_rare || options.forms == Forms::All || options.forms == forms;
            if has(Forms::Beside) {
                lower.rare = is_rare;
                let tail = if is_rare && plan.tail == Tail::Masked { Tail::Shared } else { plan.tail };
                lower.cpu_entry(ENTRY, plan.lanes, tail, None)?;
                lower.rare = false;
                plan.lane_by_lane = std::mem::take(&mut lower.lane_by_lane);
            }
            if options.deterministic && crate::order::depends_on_order(module) {
                lower.e.constant_words(IN_ORDER, &[1]);
            }
            if let Some(lanes) = plan.alone.filter(|_| has(Forms::Alone)) {
                lower.alone = true;
                lower.features = features(lanes);
                lower.cpu_entry(ENTRY_ALONE, lanes, plan.tail, updates.as_ref())?;
                if let Some(updates) = &mut updates {
                    lower.note_ranges(updates);
                    lower.e.constant_words(UPDATES, &updates.to_words());
                }
            }
        }
        Target::Cuda(_) => {
            plan.entry = lower.gpu_entry(plan.lanes)?;
            if plan.lanes > 1 && !lower.accesses.pay() {
                plan.lanes = 1;
                lower = start();
                plan.entry = lower.gpu_entry(1)?;
            }
        }
    }
    let llvm = lower.finish();
    drop(lowering);
    if cfg!(debug_assertions)
        && let Err(message) = llvm.verify()
    {
        let message = format!("{message}\n{}", llvm.print_to_string());
        return Err(CodegenError::Broken { stage: "lowering", message });
    }
    if let Want::Llvm { optimized: false } = want {
        return Ok((llvm.print_to_string().to_bytes().to_vec(), plan));
    }
    if module.has_native() {
        crate::native::link(&context, &llvm, module, target, options)?;
        machine::inline_marked(&llvm, &llvm_machine)?;
    }
    let optimising = trace::part(Stage::Llvm);
    if matches!(target, Target::Cuda(_)) {
        crate::nvidia::report::link(&context, &llvm)?;
        crate::nvidia::libdevice::link(&context, &llvm, options, plan.lanes > 1)?;
    }
    let llvm = if options.lineinfo && matches!(target, Target::Cuda(_)) {
        line_directives_only(&context, llvm)?
    } else {
        llvm
    };
    let lanes = matches!(target, Target::Cpu(_)).then_some(plan.lanes);
    machine::optimize(&llvm, &llvm_machine, options.optimization_level, lanes, has_loops(module))?;
    if let Target::Cpu(cpu) = target {
        if cpu.has_fma() {
            crate::fuse::fuse(&llvm);
        }
        if plan.lanes > 1 && !cpu.has_mask_registers() {
            crate::masks::keep_in_vectors(&llvm);
        }
    }
    drop(optimising);
    let _emitting = trace::part(if matches!(target, Target::Cpu(_)) { Stage::Object } else { Stage::Ptx });
    match want {
        Want::Llvm { .. } => Ok((llvm.print_to_string().to_bytes().to_vec(), plan)),
        Want::Code(kind) => {
            let for_lanes = lanes.is_some_and(|n| n > 1) && matches!(options.optimization_level, 1 | 2);
            let passes = Passes { for_lanes, tight: for_lanes && has_many_constants(module, size) };
            Ok((machine::emit(&llvm, &mut llvm_machine, kind, passes)?, plan))
        }
    }
}

/// Refuses values that no machine could hold in registers.
fn check_sizes(module: &Module) -> Result<(), CodegenError> {
    for function in &module.functions {
        for index in 0..function.value_count() {
            let value = Value::new(index);
            if part_count(function.ty(value)) > MAX_PARTS {
                let span = function.defining_op(value).map_or(function.span, |op| op.span);
                let what = format!("values of more than {MAX_PARTS} components outside memory");
                return Err(CodegenError::Unsupported { span, what });
            }
        }
    }
    Ok(())
}

/// Refuses more thread-local memory than a thread can have.
fn check_local(module: &Module) -> Result<(), CodegenError> {
    let size = local_bytes(module);
    if size <= MAX_LOCAL_SIZE {
        return Ok(());
    }
    let span = module.kernel().map_or(Span::NONE, |k| k.span);
    let what = format!("{size} bytes of arrays local to a thread; at most {MAX_LOCAL_SIZE} are possible");
    Err(CodegenError::Unsupported { span, what })
}

/// Makes PTX carry line directives without debug sections, which would make the driver compile for debugging.
/// LLVM has that kind of debug information but its C interface does not, so it is set in the text form.
fn line_directives_only<'c>(
    context: &'c Context,
    module: LlvmModule<'c>,
) -> Result<LlvmModule<'c>, CodegenError> {
    let text = module.print_to_string().to_string_lossy().into_owned();
    let text = text.replace("emissionKind: LineTablesOnly", "emissionKind: DebugDirectivesOnly");
    let mut bytes = text.into_bytes();
    bytes.push(0);
    let buffer = MemoryBuffer::create_from_memory_range_copy(&bytes, "inkle");
    context
        .create_module_from_ir(buffer)
        .map_err(|e| CodegenError::Broken { stage: "adding source lines", message: e.to_string() })
}

/// Calls must go to earlier functions, or expanding them would not end.
fn check_order(module: &Module) -> Result<(), CodegenError> {
    for (index, function) in module.functions.iter().enumerate() {
        for block in 0..function.block_count() {
            for &op in &function.block(Block::new(block)).ops {
                if let inkle_ir::OpKind::Call(callee) = function.op(op).kind
                    && callee.index() >= index
                {
                    return Err(CodegenError::broken(format!("{} calls a later function", function.name)));
                }
            }
        }
    }
    Ok(())
}

/// Runs `work`, on a thread with a large stack when blocks nest so deep that lowering them would need one.
fn with_stack<T: Send>(
    module: &Module,
    work: impl FnOnce() -> Result<T, CodegenError> + Send,
) -> Result<T, CodegenError> {
    let depth: usize = module.functions.iter().map(nesting).fold(0, usize::saturating_add);
    if depth <= DEEP {
        return work();
    }
    let stack = depth.saturating_mul(32 << 10).clamp(16 << 20, 1 << 30);
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(stack)
            .spawn_scoped(scope, work)
            .map_err(|e| CodegenError::Broken { stage: "starting a thread", message: e.to_string() })?
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// How deep blocks nest in a function.
fn nesting(function: &Function) -> usize {
    let mut deepest = 0;
    let mut stack = vec![(function.body, 1usize)];
    while let Some((block, depth)) = stack.pop() {
        deepest = deepest.max(depth);
        for &op in &function.block(block).ops {
            stack.extend(function.op(op).blocks.iter().map(|&b| (b, depth + 1)));
        }
    }
    deepest
}
