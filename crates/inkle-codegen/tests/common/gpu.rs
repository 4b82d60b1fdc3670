//! GPU code on the CPU: its LLVM IR with the GPU's registers made arguments.

use inkle_codegen::{
    Artifact, ArtifactKind, CpuTarget, CudaOutput, CudaTarget, Emit, Options, Target, emit_text,
};
use inkle_ir::Module;
use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetTriple,
};

use super::Code;

pub fn target() -> Target {
    Target::Cuda(CudaTarget { arch: 90, output: CudaOutput::Ptx })
}

/// The kernel as a function of its parameter block, `tid`, `ctaid`, `ntid` and `nctaid`, and what `more` says.
pub fn kernel_text(module: &Module, options: &Options, more: &str) -> String {
    let text = emit_text(module, &target(), options, Emit::Llvm).unwrap_or_else(|e| panic!("{e}"));
    let registers = ["tid", "ctaid", "ntid", "nctaid"];
    let mut text = text
        .replace(" addrspace(1)", "")
        .replace(" addrspace(3)", "")
        .replace(".p1", ".p0")
        .replace("define ptx_kernel", "define internal")
        .replace("@__nv_", "@inkle_")
        .replace("@inkle_kernel_few_blocks(", "@inkle_kernel(");
    for register in registers {
        let call = format!("call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()");
        text = text.replace(&call, &format!("add i32 %gpu.{register}, 0"));
    }
    let start = text.find("byval(").expect("the block is passed by value");
    let end = start + text[start..].find("])").expect("the block is an array") + 2;
    text.replace_range(start..end, "");
    let head = text[start..].find("%0)").expect("the only parameter") + start;
    let params = format!("%0, i32 %gpu.tid, i32 %gpu.ctaid, i32 %gpu.ntid, i32 %gpu.nctaid{more})");
    text.replace_range(head..head + 3, &params);
    text
}

/// Code for this machine of a text that defines `entry`.
pub fn load(module: &Module, mut text: String, entry: &str) -> Code {
    LlvmTarget::initialize_native(&InitializationConfig::default()).expect("the host is a target");
    let host = CpuTarget::host();
    let triple = TargetTriple::create(&host.triple);
    let machine = LlvmTarget::from_triple(&triple)
        .expect("the host is a target")
        .create_target_machine(
            &triple,
            &host.cpu,
            &host.features,
            OptimizationLevel::None,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .expect("the host is a machine");
    let context = Context::create();
    text.push('\0');
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "gpu");
    let llvm = context.create_module_from_ir(buffer).unwrap_or_else(|e| panic!("{e}\n{text}"));
    llvm.set_triple(&triple);
    llvm.set_data_layout(&machine.get_target_data().get_data_layout());
    let code = machine.write_to_memory_buffer(&llvm, FileType::Object).unwrap_or_else(|e| panic!("{e}"));
    let artifact = Artifact {
        code: code.as_slice().to_vec(),
        kind: ArtifactKind::ElfObject,
        entry: entry.into(),
        lanes: 1,
        scalar_reason: None,
        lane_by_lane: Vec::new(),
    };
    Code::load(module, artifact)
}
