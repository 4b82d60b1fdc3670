//! Products and sums that become one fused operation.
//!
//! LLVM fuses a product and a sum that it finds in one block. The same expression is in one block in one form of a kernel and
//! in two in another, where lanes' elements are read between them, and then an element's last bit would depend on which
//! threads are its neighbours. So all are fused here, wherever they are: a product that a single sum takes.

use inkwell::llvm_sys::core as c;
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMFastMathAllowContract, LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();
const FMA: &str = "llvm.fma";

/// Fuses what may be fused in all functions; for processors that have such an operation.
pub(crate) fn fuse(module: &Module<'_>) {
    // SAFETY: the module lives, and with it its functions and context. The builder is freed. What is erased has no users,
    // and is not visited again.
    unsafe {
        let builder = c::LLVMCreateBuilderInContext(c::LLVMGetModuleContext(module.as_mut_ptr()));
        let mut function = c::LLVMGetFirstFunction(module.as_mut_ptr());
        while !function.is_null() {
            let mut block = c::LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut v = c::LLVMGetFirstInstruction(block);
                while !v.is_null() {
                    let next = c::LLVMGetNextInstruction(v);
                    fuse_sum(module, builder, v);
                    v = next;
                }
                block = c::LLVMGetNextBasicBlock(block);
            }
            function = c::LLVMGetNextFunction(function);
        }
        c::LLVMDisposeBuilder(builder);
    }
}

/// Fuses a sum or difference with a product that it alone takes, if it is one.
///
/// # Safety
/// The value is an instruction of the module, and the builder is of its context.
unsafe fn fuse_sum(module: &Module<'_>, builder: LLVMBuilderRef, v: LLVMValueRef) {
    // SAFETY: the caller's promise; operands live as long as what takes them.
    unsafe {
        let opcode = c::LLVMGetInstructionOpcode(v);
        if !matches!(opcode, LLVMOpcode::LLVMFAdd | LLVMOpcode::LLVMFSub) || !may_fuse(v) {
            return;
        }
        let operands = [0, 1].map(|i| c::LLVMGetOperand(v, i));
        let Some(at) = operands.iter().position(|&operand| is_product_for_one(operand)) else { return };
        let (product, other) = (operands[at], operands[1 - at]);
        c::LLVMPositionBuilderBefore(builder, v);
        let negative = |x| {
            let negative = c::LLVMBuildFNeg(builder, x, NO_NAME);
            copy_flags(v, negative);
            negative
        };
        let (mut a, b, mut sum) = (c::LLVMGetOperand(product, 0), c::LLVMGetOperand(product, 1), other);
        if opcode == LLVMOpcode::LLVMFSub {
            match at {
                0 => sum = negative(sum),
                _ => a = negative(a),
            }
        }
        let id = c::LLVMLookupIntrinsicID(FMA.as_ptr().cast(), FMA.len());
        let mut ty = c::LLVMTypeOf(v);
        let f = c::LLVMGetIntrinsicDeclaration(module.as_mut_ptr(), id, &mut ty, 1);
        let mut args = [a, b, sum];
        let call = c::LLVMBuildCall2(builder, c::LLVMGlobalGetValueType(f), f, args.as_mut_ptr(), 3, NO_NAME);
        copy_flags(v, call);
        c::LLVMReplaceAllUsesWith(v, call);
        c::LLVMInstructionEraseFromParent(v);
        c::LLVMInstructionEraseFromParent(product);
    }
}

/// # Safety
/// Both are operations on floats that live.
unsafe fn copy_flags(from: LLVMValueRef, to: LLVMValueRef) {
    // SAFETY: the caller's promise. A negation of a constant is one.
    unsafe {
        if c::LLVMCanValueUseFastMathFlags(to) != 0 {
            c::LLVMSetFastMathFlags(to, c::LLVMGetFastMathFlags(from));
        }
    }
}

/// Whether a float operation may be fused with others, of 32 or 64 bits: shorter floats have no such operation.
///
/// # Safety
/// The value is an operation on floats that lives.
unsafe fn may_fuse(v: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise; of vectors the lane's type counts.
    unsafe {
        let mut ty = c::LLVMTypeOf(v);
        if c::LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind {
            ty = c::LLVMGetElementType(ty);
        }
        matches!(c::LLVMGetTypeKind(ty), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind)
            && c::LLVMGetFastMathFlags(v) & LLVMFastMathAllowContract != 0
    }
}

/// Whether a value is a product that may be fused, and that one operation takes, once.
///
/// # Safety
/// The value lives.
unsafe fn is_product_for_one(v: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        !c::LLVMIsAInstruction(v).is_null()
            && c::LLVMGetInstructionOpcode(v) == LLVMOpcode::LLVMFMul
            && may_fuse(v)
            && {
                let first = c::LLVMGetFirstUse(v);
                !first.is_null() && c::LLVMGetNextUse(first).is_null()
            }
    }
}
