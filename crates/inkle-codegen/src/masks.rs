//! Masks on processors that have no registers for them.
//!
//! There a comparison gives a vector as wide as what it compares, and that is what selects and masked accesses take. Within
//! a block LLVM sees to it that masks are such vectors; from one block to another it passes vectors of one bit a lane as
//! vectors of few bits, and makes one from the other at every border. So masks that cross borders are made integers of 32
//! bits here, whose sign says which lanes are active. Done last: LLVM's passes would turn it back.

use std::collections::HashMap;

use inkwell::llvm_sys::core as c;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// Makes all masks that cross the borders of blocks vectors of integers.
pub(crate) fn keep_in_vectors(module: &Module<'_>) {
    // SAFETY: the module lives, and with it its functions and context. The builder is freed.
    unsafe {
        let builder = c::LLVMCreateBuilderInContext(c::LLVMGetModuleContext(module.as_mut_ptr()));
        let mut function = c::LLVMGetFirstFunction(module.as_mut_ptr());
        while !function.is_null() {
            let mut borders = Borders {
                builder,
                wide: HashMap::new(),
                widened: Vec::new(),
                narrow: HashMap::new(),
                replaced: Vec::new(),
            };
            borders.of_function(function);
            function = c::LLVMGetNextFunction(function);
        }
        c::LLVMDisposeBuilder(builder);
    }
}

/// The masks of one function that cross borders, and what they are made of.
///
/// *Invariant:* all values are of one function that lives, as the builder does, and no instruction among them was removed.
struct Borders {
    builder: LLVMBuilderRef,
    /// The integers of a mask.
    wide: HashMap<LLVMValueRef, LLVMValueRef>,
    /// The masks that have some, in the order in which they got them.
    widened: Vec<LLVMValueRef>,
    /// The mask again, in a block.
    narrow: HashMap<(LLVMValueRef, LLVMBasicBlockRef), LLVMValueRef>,
    /// Instructions of which nothing is to be left.
    replaced: Vec<LLVMValueRef>,
}

impl Borders {
    /// # Safety
    /// See the invariant.
    unsafe fn of_function(&mut self, function: LLVMValueRef) {
        // SAFETY: the invariant.
        unsafe {
            let (mut phis, mut others) = (Vec::new(), Vec::new());
            let mut block = c::LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let mut v = c::LLVMGetFirstInstruction(block);
                while !v.is_null() {
                    if is_mask(c::LLVMTypeOf(v)) {
                        if is_phi(v) {
                            phis.push(v);
                        } else if users(v).any(|user| leaves(v, user)) {
                            others.push(v);
                        }
                    }
                    v = c::LLVMGetNextInstruction(v);
                }
                block = c::LLVMGetNextBasicBlock(block);
            }
            for &phi in &phis {
                c::LLVMPositionBuilderBefore(self.builder, phi);
                let wide = c::LLVMBuildPhi(self.builder, wide_type(c::LLVMTypeOf(phi)), NO_NAME);
                self.note(phi, wide);
                self.replaced.push(phi);
            }
            for &mask in &others {
                self.widen(mask);
            }
            for &phi in &phis {
                self.pass_on(phi);
            }
            for mask in self.widened.clone() {
                self.take_narrow(mask);
            }
            for &mask in &self.replaced {
                // What is left takes it for another of these.
                c::LLVMReplaceAllUsesWith(mask, c::LLVMGetPoison(c::LLVMTypeOf(mask)));
                c::LLVMInstructionEraseFromParent(mask);
            }
        }
    }

    /// The integers of a mask: what is made of masks by logic is made of their integers.
    ///
    /// # Safety
    /// See the invariant; for a constant or a parameter the builder is where they are needed.
    unsafe fn widen(&mut self, mask: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: the invariant.
        unsafe {
            if let Some(&wide) = self.wide.get(&mask) {
                return wide;
            }
            let ty = wide_type(c::LLVMTypeOf(mask));
            if c::LLVMIsAInstruction(mask).is_null() {
                return c::LLVMBuildSExt(self.builder, mask, ty, NO_NAME);
            }
            let opcode = c::LLVMGetInstructionOpcode(mask);
            let wide = if matches!(opcode, LLVMOpcode::LLVMAnd | LLVMOpcode::LLVMOr | LLVMOpcode::LLVMXor) {
                let [a, b] = [0, 1].map(|i| {
                    c::LLVMPositionBuilderBefore(self.builder, mask);
                    self.widen(c::LLVMGetOperand(mask, i))
                });
                self.replaced.push(mask);
                c::LLVMPositionBuilderBefore(self.builder, mask);
                c::LLVMBuildBinOp(self.builder, opcode, a, b, NO_NAME)
            } else {
                c::LLVMPositionBuilderBefore(self.builder, c::LLVMGetNextInstruction(mask));
                c::LLVMBuildSExt(self.builder, mask, ty, NO_NAME)
            };
            self.note(mask, wide);
            wide
        }
    }

    fn note(&mut self, mask: LLVMValueRef, wide: LLVMValueRef) {
        self.wide.insert(mask, wide);
        self.widened.push(mask);
    }

    /// Gives the integers of a phi what comes in.
    ///
    /// # Safety
    /// See the invariant; the phi has an entry in `wide`.
    unsafe fn pass_on(&mut self, phi: LLVMValueRef) {
        // SAFETY: the invariant.
        unsafe {
            let to = self.wide[&phi];
            for k in 0..c::LLVMCountIncoming(phi) {
                let mut from = c::LLVMGetIncomingBlock(phi, k);
                c::LLVMPositionBuilderBefore(self.builder, c::LLVMGetBasicBlockTerminator(from));
                let mut value = self.widen(c::LLVMGetIncomingValue(phi, k));
                c::LLVMAddIncoming(to, &mut value, &mut from, 1);
            }
        }
    }

    /// Makes what takes a mask from beyond a border, or one that is replaced, take one that is made from its integers.
    ///
    /// # Safety
    /// See the invariant; the mask has an entry in `wide`.
    unsafe fn take_narrow(&mut self, mask: LLVMValueRef) {
        // SAFETY: the invariant.
        unsafe {
            let wide = self.wide[&mask];
            let all = self.replaced.contains(&mask);
            let takers: Vec<LLVMValueRef> = users(mask).collect();
            for user in takers {
                if self.replaced.contains(&user) || !all && !leaves(mask, user) {
                    continue;
                }
                let block = c::LLVMGetInstructionParent(user);
                let narrow = *self.narrow.entry((mask, block)).or_insert_with(|| {
                    let mut at = c::LLVMGetFirstInstruction(block);
                    if block == c::LLVMGetInstructionParent(mask) && !is_phi(mask) {
                        at = mask;
                    }
                    while is_phi(at) {
                        at = c::LLVMGetNextInstruction(at);
                    }
                    c::LLVMPositionBuilderBefore(self.builder, at);
                    let zero = c::LLVMConstNull(c::LLVMTypeOf(wide));
                    c::LLVMBuildICmp(self.builder, LLVMIntPredicate::LLVMIntSLT, wide, zero, NO_NAME)
                });
                for i in 0..c::LLVMGetNumOperands(user) as u32 {
                    if c::LLVMGetOperand(user, i) == mask {
                        c::LLVMSetOperand(user, i, narrow);
                    }
                }
            }
        }
    }
}

/// # Safety
/// The value is an instruction that lives.
unsafe fn is_phi(v: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise.
    unsafe { !c::LLVMIsAPHINode(v).is_null() }
}

/// Whether a user of a mask is in another block, or takes it when that block is left.
///
/// # Safety
/// Both are instructions that live.
unsafe fn leaves(mask: LLVMValueRef, user: LLVMValueRef) -> bool {
    // SAFETY: the caller's promise.
    unsafe { is_phi(user) || c::LLVMGetInstructionParent(user) != c::LLVMGetInstructionParent(mask) }
}

/// The instructions that take a value.
///
/// # Safety
/// The value is an instruction that lives, and its users do not change meanwhile.
unsafe fn users(v: LLVMValueRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: the caller's promise.
    let mut at = unsafe { c::LLVMGetFirstUse(v) };
    std::iter::from_fn(move || {
        if at.is_null() {
            return None;
        }
        // SAFETY: as above.
        unsafe {
            let user = c::LLVMGetUser(at);
            at = c::LLVMGetNextUse(at);
            Some(user)
        }
    })
}

/// # Safety
/// The type is of a context that lives.
unsafe fn is_mask(ty: LLVMTypeRef) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        c::LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMVectorTypeKind && {
            let lane = c::LLVMGetElementType(ty);
            c::LLVMGetTypeKind(lane) == LLVMTypeKind::LLVMIntegerTypeKind && c::LLVMGetIntTypeWidth(lane) == 1
        }
    }
}

/// The type of a mask's integers.
///
/// # Safety
/// The type is that of a mask, of a context that lives.
unsafe fn wide_type(mask: LLVMTypeRef) -> LLVMTypeRef {
    // SAFETY: the caller's promise.
    unsafe {
        c::LLVMVectorType(c::LLVMInt32TypeInContext(c::LLVMGetTypeContext(mask)), c::LLVMGetVectorSize(mask))
    }
}
