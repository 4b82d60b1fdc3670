//! A thin layer over LLVM's instruction builder that does not care whether a value is a scalar or a lane vector.
//!
//! inkwell owns context, module and target machine; its typed values would force every arithmetic helper to
//! be written twice, so instructions are built here on LLVM's own handles.
//!
//! *Invariant:* a handle ([`V`], [`Ty`], [`Bb`]) never leaves the compilation whose [`Emitter`] made it, and the
//! emitter borrows the context for its whole life. That is what every call below relies on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString};

use inkwell::builder::Builder;
use inkwell::context::{AsContextRef, Context};
use inkwell::llvm_sys::core as c;
use inkwell::llvm_sys::debuginfo::LLVMDIBuilderCreateDebugLocation;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMMetadataRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMRealPredicate,
    LLVMTypeKind,
};
use inkwell::module::Module;

/// A value.
pub(crate) type V = LLVMValueRef;
/// A type.
pub(crate) type Ty = LLVMTypeRef;
/// A basic block.
pub(crate) type Bb = LLVMBasicBlockRef;

/// Integer comparison.
pub(crate) use inkwell::llvm_sys::LLVMIntPredicate as Int;
/// Floating-point comparison.
pub(crate) use inkwell::llvm_sys::LLVMRealPredicate as Real;

const NO_NAME: &CStr = c"";

macro_rules! llvm {
    ($call:expr) => {{
        // SAFETY: the arguments are handles of this emitter's context (see the module's invariant), pointers
        // to them that outlive the call, and C strings; operand types agree by the callers' construction,
        // which LLVM's verifier checks in debug builds.
        unsafe { $call }
    }};
}

mod address;
mod asm;
mod branches;
mod effects;
mod globals;

pub(crate) use address::AddressRoot;

/// Builds instructions of one module.
pub(crate) struct Emitter<'c> {
    /// Owns types and constants.
    pub context: &'c Context,
    /// Receives functions and globals.
    pub module: Module<'c>,
    builder: Builder<'c>,
    /// Flags put on every floating-point instruction made from now on.
    pub fast_math: u32,
    /// Scalars that were put into all lanes in a block: most are used many times there.
    splats: RefCell<HashMap<(V, u32, Bb), V>>,
}

/// The value as a length for LLVM.
fn len<T>(slice: &[T]) -> u32 {
    slice.len() as u32
}

macro_rules! binary_builders {
    ($($name:ident = $build:ident;)*) => {
        $(pub fn $name(&self, a: V, b: V) -> V {
            llvm!(c::$build(self.b(), a, b, NO_NAME.as_ptr()))
        })*
    };
}

macro_rules! float_builders {
    ($($name:ident = $build:ident;)*) => {
        $(pub fn $name(&self, a: V, b: V) -> V {
            self.flagged(llvm!(c::$build(self.b(), a, b, NO_NAME.as_ptr())))
        })*
    };
}

impl<'c> Emitter<'c> {
    pub fn new(context: &'c Context, name: &str) -> Emitter<'c> {
        Emitter {
            context,
            module: context.create_module(name),
            builder: context.create_builder(),
            fast_math: 0,
            splats: RefCell::default(),
        }
    }

    fn b(&self) -> inkwell::llvm_sys::prelude::LLVMBuilderRef {
        self.builder.as_mut_ptr()
    }

    fn cx(&self) -> inkwell::llvm_sys::prelude::LLVMContextRef {
        self.context.as_ctx_ref()
    }

    // Types.

    pub fn int(&self, bits: u32) -> Ty {
        llvm!(c::LLVMIntTypeInContext(self.cx(), bits))
    }

    pub fn half(&self) -> Ty {
        llvm!(c::LLVMHalfTypeInContext(self.cx()))
    }

    pub fn bfloat(&self) -> Ty {
        llvm!(c::LLVMBFloatTypeInContext(self.cx()))
    }

    pub fn float(&self) -> Ty {
        llvm!(c::LLVMFloatTypeInContext(self.cx()))
    }

    pub fn double(&self) -> Ty {
        llvm!(c::LLVMDoubleTypeInContext(self.cx()))
    }

    pub fn void(&self) -> Ty {
        llvm!(c::LLVMVoidTypeInContext(self.cx()))
    }

    pub fn ptr(&self, address_space: u32) -> Ty {
        llvm!(c::LLVMPointerTypeInContext(self.cx(), address_space))
    }

    pub fn vector(&self, elem: Ty, lanes: u32) -> Ty {
        llvm!(c::LLVMVectorType(elem, lanes))
    }

    pub fn array(&self, elem: Ty, len: u64) -> Ty {
        llvm!(c::LLVMArrayType2(elem, len))
    }

    pub fn structure(&self, fields: &[Ty]) -> Ty {
        llvm!(c::LLVMStructTypeInContext(self.cx(), fields.as_ptr().cast_mut(), len(fields), 0))
    }

    pub fn function_type(&self, result: Ty, params: &[Ty]) -> Ty {
        llvm!(c::LLVMFunctionType(result, params.as_ptr().cast_mut(), len(params), 0))
    }

    pub fn type_of(&self, v: V) -> Ty {
        llvm!(c::LLVMTypeOf(v))
    }

    pub fn is_vector(&self, v: V) -> bool {
        llvm!(c::LLVMGetTypeKind(c::LLVMTypeOf(v))) == LLVMTypeKind::LLVMVectorTypeKind
    }

    /// The element type of a vector type; a scalar type itself.
    pub fn scalar_type(&self, ty: Ty) -> Ty {
        if llvm!(c::LLVMGetTypeKind(ty)) == LLVMTypeKind::LLVMVectorTypeKind {
            llvm!(c::LLVMGetElementType(ty))
        } else {
            ty
        }
    }

    /// `elem` with the lanes of `like`.
    pub fn type_like(&self, elem: Ty, like: V) -> Ty {
        match self.lanes(like) {
            Some(n) => self.vector(elem, n),
            None => elem,
        }
    }

    /// The number of elements of a vector value.
    pub fn lanes(&self, v: V) -> Option<u32> {
        self.is_vector(v).then(|| llvm!(c::LLVMGetVectorSize(c::LLVMTypeOf(v))))
    }

    // Constants.

    /// An integer constant, splat when `ty` is a vector.
    pub fn const_int(&self, ty: Ty, value: i64) -> V {
        self.splat_constant(ty, |s| llvm!(c::LLVMConstInt(s, value as u64, 1)))
    }

    /// A float constant, splat when `ty` is a vector.
    pub fn const_real(&self, ty: Ty, value: f64) -> V {
        self.splat_constant(ty, |s| llvm!(c::LLVMConstReal(s, value)))
    }

    fn splat_constant(&self, ty: Ty, make: impl Fn(Ty) -> V) -> V {
        let scalar = self.scalar_type(ty);
        let value = make(scalar);
        if scalar == ty {
            return value;
        }
        let n = llvm!(c::LLVMGetVectorSize(ty));
        self.const_vector(&vec![value; n as usize])
    }

    pub fn const_vector(&self, elems: &[V]) -> V {
        llvm!(c::LLVMConstVector(elems.as_ptr().cast_mut(), len(elems)))
    }

    pub fn i1(&self, value: bool) -> V {
        self.const_int(self.int(1), i64::from(value))
    }

    pub fn i32(&self, value: i32) -> V {
        self.const_int(self.int(32), value.into())
    }

    pub fn i64(&self, value: i64) -> V {
        self.const_int(self.int(64), value)
    }

    /// Zero, null or all-zero vector.
    pub fn null(&self, ty: Ty) -> V {
        llvm!(c::LLVMConstNull(ty))
    }

    pub fn all_ones(&self, ty: Ty) -> V {
        llvm!(c::LLVMConstAllOnes(ty))
    }

    pub fn poison(&self, ty: Ty) -> V {
        llvm!(c::LLVMGetPoison(ty))
    }

    /// The value of an integer constant of at most 64 bits.
    pub fn as_const_int(&self, v: V) -> Option<i64> {
        let constant = llvm!(c::LLVMIsAConstantInt(v));
        (!constant.is_null()).then(|| llvm!(c::LLVMConstIntGetSExtValue(constant)))
    }

    /// The value of an integer constant that is the same in all lanes.
    pub fn as_const_splat(&self, v: V) -> Option<i64> {
        if !self.is_vector(v) {
            return self.as_const_int(v);
        }
        if llvm!(c::LLVMIsConstant(v)) == 0 {
            return None;
        }
        let mut elems = (0..self.lanes(v)?).map(|lane| {
            let elem = llvm!(c::LLVMGetAggregateElement(v, lane));
            if elem.is_null() { None } else { self.as_const_int(elem) }
        });
        let first = elems.next()??;
        elems.all(|e| e == Some(first)).then_some(first)
    }

    /// The operation that makes a value; `None` for constants and parameters.
    pub fn opcode(&self, v: V) -> Option<LLVMOpcode> {
        let instruction = llvm!(c::LLVMIsAInstruction(v));
        (!instruction.is_null()).then(|| llvm!(c::LLVMGetInstructionOpcode(instruction)))
    }

    pub fn is_constant(&self, v: V) -> bool {
        llvm!(c::LLVMIsConstant(v)) != 0
    }

    pub fn operand_count(&self, instruction: V) -> u32 {
        llvm!(c::LLVMGetNumOperands(instruction)) as u32
    }

    /// An operand of an instruction.
    pub fn operand(&self, instruction: V, index: u32) -> V {
        llvm!(c::LLVMGetOperand(instruction, index))
    }

    /// The bytes that one step of the index of an address computation (see [`Self::gep`]) covers, when the unit
    /// is a byte or an array of bytes.
    pub fn gep_unit(&self, gep: V) -> Option<u64> {
        let ty = llvm!(c::LLVMGetGEPSourceElementType(gep));
        match llvm!(c::LLVMGetTypeKind(ty)) {
            LLVMTypeKind::LLVMArrayTypeKind => Some(llvm!(c::LLVMGetArrayLength2(ty))),
            LLVMTypeKind::LLVMIntegerTypeKind if llvm!(c::LLVMGetIntTypeWidth(ty)) == 8 => Some(1),
            _ => None,
        }
    }

    // Functions, blocks.

    /// Declares or finds a function.
    pub fn declare(&self, name: &str, ty: Ty) -> V {
        let name = c_string(name);
        let found = llvm!(c::LLVMGetNamedFunction(self.module.as_mut_ptr(), name.as_ptr()));
        if found.is_null() {
            llvm!(c::LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty))
        } else {
            found
        }
    }

    /// Adds a function that only this module sees.
    pub fn internal_function(&self, name: &str, ty: Ty) -> V {
        let name = c_string(name);
        let f = llvm!(c::LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty));
        llvm!(c::LLVMSetLinkage(f, LLVMLinkage::LLVMInternalLinkage));
        f
    }

    pub fn find_function(&self, name: &str) -> Option<V> {
        let name = c_string(name);
        let found = llvm!(c::LLVMGetNamedFunction(self.module.as_mut_ptr(), name.as_ptr()));
        (!found.is_null()).then_some(found)
    }

    pub fn function_value_type(&self, f: V) -> Ty {
        llvm!(c::LLVMGlobalGetValueType(f))
    }

    /// Gives a function another name.
    pub fn set_name(&self, f: V, name: &str) {
        llvm!(c::LLVMSetValueName2(f, name.as_ptr().cast(), name.len()));
    }

    pub fn set_calling_convention(&self, f: V, convention: u32) {
        llvm!(c::LLVMSetFunctionCallConv(f, convention));
    }

    /// Adds a string attribute to a function.
    pub fn string_attribute(&self, f: V, key: &str, value: &str) {
        let attribute = llvm!(c::LLVMCreateStringAttribute(
            self.cx(),
            key.as_ptr().cast(),
            key.len() as u32,
            value.as_ptr().cast(),
            value.len() as u32
        ));
        llvm!(c::LLVMAddAttributeAtIndex(f, u32::MAX, attribute));
    }

    /// Adds an enum attribute; index 0 is the result, 1 the first parameter, `u32::MAX` the function.
    pub fn attribute(&self, f: V, index: u32, name: &str, value: u64) {
        let kind = llvm!(c::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
        debug_assert_ne!(kind, 0, "LLVM has no attribute {name}");
        llvm!(c::LLVMAddAttributeAtIndex(f, index, c::LLVMCreateEnumAttribute(self.cx(), kind, value)));
    }

    /// Adds a type attribute such as `byval`.
    pub fn type_attribute(&self, f: V, index: u32, name: &str, ty: Ty) {
        let kind = llvm!(c::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
        debug_assert_ne!(kind, 0, "LLVM has no attribute {name}");
        llvm!(c::LLVMAddAttributeAtIndex(f, index, c::LLVMCreateTypeAttribute(self.cx(), kind, ty)));
    }

    pub fn param(&self, f: V, index: u32) -> V {
        llvm!(c::LLVMGetParam(f, index))
    }

    pub fn append_block(&self, f: V, name: &str) -> Bb {
        let name = c_string(name);
        llvm!(c::LLVMAppendBasicBlockInContext(self.cx(), f, name.as_ptr()))
    }

    /// Adds a block to the function that is being built.
    pub fn new_block(&self, name: &str) -> Bb {
        self.append_block(self.current_function(), name)
    }

    pub fn current_block(&self) -> Bb {
        llvm!(c::LLVMGetInsertBlock(self.b()))
    }

    pub fn current_function(&self) -> V {
        llvm!(c::LLVMGetBasicBlockParent(self.current_block()))
    }

    /// Moves to the end of a block.
    pub fn at_end(&self, block: Bb) {
        llvm!(c::LLVMPositionBuilderAtEnd(self.b(), block));
    }

    /// The source line of the instructions made from now on.
    pub fn set_place(&self, place: Option<crate::lines::Place>) {
        let location = place.map_or(std::ptr::null_mut(), |p| {
            llvm!(LLVMDIBuilderCreateDebugLocation(
                self.cx(),
                p.line,
                p.column,
                p.scope,
                std::ptr::null_mut()
            ))
        });
        llvm!(c::LLVMSetCurrentDebugLocation2(self.b(), location));
    }

    /// The current source line, to return to.
    pub fn place(&self) -> LLVMMetadataRef {
        llvm!(c::LLVMGetCurrentDebugLocation2(self.b()))
    }

    pub fn restore_place(&self, place: LLVMMetadataRef) {
        llvm!(c::LLVMSetCurrentDebugLocation2(self.b(), place));
    }

    // Control flow.

    pub fn br(&self, to: Bb) -> V {
        llvm!(c::LLVMBuildBr(self.b(), to))
    }

    pub fn cond_br(&self, cond: V, then: Bb, otherwise: Bb) -> V {
        llvm!(c::LLVMBuildCondBr(self.b(), cond, then, otherwise))
    }

    pub fn ret_void(&self) {
        llvm!(c::LLVMBuildRetVoid(self.b()));
    }

    pub fn ret(&self, v: V) {
        llvm!(c::LLVMBuildRet(self.b(), v));
    }

    pub fn unreachable(&self) {
        llvm!(c::LLVMBuildUnreachable(self.b()));
    }

    /// An empty phi.
    pub fn phi(&self, ty: Ty) -> V {
        llvm!(c::LLVMBuildPhi(self.b(), ty, NO_NAME.as_ptr()))
    }

    /// An empty phi at the start of a block that already has instructions.
    pub fn phi_at_start(&self, block: Bb, ty: Ty) -> V {
        let here = self.current_block();
        let place = self.place();
        llvm!(c::LLVMPositionBuilderBefore(self.b(), c::LLVMGetFirstInstruction(block)));
        let phi = self.phi(ty);
        self.at_end(here);
        self.restore_place(place);
        phi
    }

    pub fn add_incoming(&self, phi: V, value: V, from: Bb) {
        let (mut value, mut from) = (value, from);
        llvm!(c::LLVMAddIncoming(phi, &mut value, &mut from, 1));
    }

    // Arithmetic.

    binary_builders! {
        add = LLVMBuildAdd;
        add_nsw = LLVMBuildNSWAdd;
        sub = LLVMBuildSub;
        mul = LLVMBuildMul;
        mul_nsw = LLVMBuildNSWMul;
        sdiv = LLVMBuildSDiv;
        udiv = LLVMBuildUDiv;
        srem = LLVMBuildSRem;
        urem = LLVMBuildURem;
        and = LLVMBuildAnd;
        or = LLVMBuildOr;
        xor = LLVMBuildXor;
        shl = LLVMBuildShl;
        lshr = LLVMBuildLShr;
        ashr = LLVMBuildAShr;
    }

    float_builders! {
        fadd = LLVMBuildFAdd;
        fsub = LLVMBuildFSub;
        fmul = LLVMBuildFMul;
        fdiv = LLVMBuildFDiv;
    }

    fn flagged(&self, v: V) -> V {
        if self.fast_math != 0
            && !llvm!(c::LLVMIsAInstruction(v)).is_null()
            && llvm!(c::LLVMCanValueUseFastMathFlags(v)) != 0
        {
            llvm!(c::LLVMSetFastMathFlags(v, self.fast_math));
        }
        v
    }

    pub fn neg(&self, a: V) -> V {
        llvm!(c::LLVMBuildNeg(self.b(), a, NO_NAME.as_ptr()))
    }

    pub fn not(&self, a: V) -> V {
        llvm!(c::LLVMBuildNot(self.b(), a, NO_NAME.as_ptr()))
    }

    pub fn fneg(&self, a: V) -> V {
        self.flagged(llvm!(c::LLVMBuildFNeg(self.b(), a, NO_NAME.as_ptr())))
    }

    pub fn icmp(&self, predicate: LLVMIntPredicate, a: V, b: V) -> V {
        llvm!(c::LLVMBuildICmp(self.b(), predicate, a, b, NO_NAME.as_ptr()))
    }

    pub fn fcmp(&self, predicate: LLVMRealPredicate, a: V, b: V) -> V {
        llvm!(c::LLVMBuildFCmp(self.b(), predicate, a, b, NO_NAME.as_ptr()))
    }

    pub fn select(&self, cond: V, a: V, b: V) -> V {
        llvm!(c::LLVMBuildSelect(self.b(), cond, a, b, NO_NAME.as_ptr()))
    }

    fn cast(&self, opcode: LLVMOpcode, v: V, to: Ty) -> V {
        if self.type_of(v) == to {
            v
        } else {
            llvm!(c::LLVMBuildCast(self.b(), opcode, v, to, NO_NAME.as_ptr()))
        }
    }

    pub fn trunc(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMTrunc, v, to)
    }

    pub fn sext(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMSExt, v, to)
    }

    pub fn zext(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMZExt, v, to)
    }

    pub fn bitcast(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMBitCast, v, to)
    }

    pub fn ptr_to_int(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMPtrToInt, v, to)
    }

    pub fn int_to_ptr(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMIntToPtr, v, to)
    }

    /// The same address in another address space.
    pub fn address_space_cast(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMAddrSpaceCast, v, to)
    }

    pub fn si_to_fp(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMSIToFP, v, to)
    }

    pub fn ui_to_fp(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMUIToFP, v, to)
    }

    pub fn fp_to_si(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMFPToSI, v, to)
    }

    pub fn fp_to_ui(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMFPToUI, v, to)
    }

    pub fn fp_trunc(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMFPTrunc, v, to)
    }

    pub fn fp_ext(&self, v: V, to: Ty) -> V {
        self.cast(LLVMOpcode::LLVMFPExt, v, to)
    }

    // Vectors and aggregates.

    pub fn extract_element(&self, v: V, index: V) -> V {
        llvm!(c::LLVMBuildExtractElement(self.b(), v, index, NO_NAME.as_ptr()))
    }

    pub fn insert_element(&self, v: V, elem: V, index: V) -> V {
        llvm!(c::LLVMBuildInsertElement(self.b(), v, elem, index, NO_NAME.as_ptr()))
    }

    /// The value, which LLVM's passes make nothing else of.
    pub fn freeze(&self, v: V) -> V {
        llvm!(c::LLVMBuildFreeze(self.b(), v, NO_NAME.as_ptr()))
    }

    /// A shuffle of `a` and `b` by constant element indices.
    pub fn shuffle(&self, a: V, b: V, indices: &[u32]) -> V {
        let mask: Vec<V> = indices.iter().map(|&i| self.i32(i as i32)).collect();
        let mask = self.const_vector(&mask);
        llvm!(c::LLVMBuildShuffleVector(self.b(), a, b, mask, NO_NAME.as_ptr()))
    }

    /// The first or second half of a vector.
    pub fn half_of(&self, v: V, half: u32) -> V {
        let lanes = self.lanes(v).unwrap_or(1) / 2;
        self.shuffle(v, v, &(half * lanes..(half + 1) * lanes).collect::<Vec<_>>())
    }

    /// `v` in each of `lanes` lanes.
    pub fn splat(&self, v: V, lanes: u32) -> V {
        let ty = self.vector(self.type_of(v), lanes);
        if llvm!(c::LLVMIsConstant(v)) != 0 {
            return self.const_vector(&vec![v; lanes as usize]);
        }
        let key = (v, lanes, self.current_block());
        if let Some(&known) = self.splats.borrow().get(&key) {
            return known;
        }
        let first = self.insert_element(self.poison(ty), v, self.i32(0));
        let all = self.shuffle(first, self.poison(ty), &vec![0; lanes as usize]);
        self.splats.borrow_mut().insert(key, all);
        all
    }

    pub fn extract_value(&self, v: V, index: u32) -> V {
        llvm!(c::LLVMBuildExtractValue(self.b(), v, index, NO_NAME.as_ptr()))
    }

    pub fn insert_value(&self, v: V, field: V, index: u32) -> V {
        llvm!(c::LLVMBuildInsertValue(self.b(), v, field, index, NO_NAME.as_ptr()))
    }

    // Memory.

    /// A stack slot in the entry block, so that loops do not grow the stack.
    pub fn alloca(&self, ty: Ty) -> V {
        let (here, place) = (self.current_block(), self.place());
        let entry = llvm!(c::LLVMGetEntryBasicBlock(self.current_function()));
        let first = llvm!(c::LLVMGetFirstInstruction(entry));
        if first.is_null() {
            self.at_end(entry);
        } else {
            llvm!(c::LLVMPositionBuilderBefore(self.b(), first));
        }
        let slot = llvm!(c::LLVMBuildAlloca(self.b(), ty, NO_NAME.as_ptr()));
        self.at_end(here);
        self.restore_place(place);
        slot
    }

    /// Aligns a stack slot.
    pub fn set_slot_align(&self, slot: V, align: u32) {
        llvm!(c::LLVMSetAlignment(slot, align));
    }

    pub fn load(&self, ty: Ty, from: V, align: u32) -> V {
        let v = llvm!(c::LLVMBuildLoad2(self.b(), ty, from, NO_NAME.as_ptr()));
        llvm!(c::LLVMSetAlignment(v, align));
        v
    }

    /// Says that a load is to be made where it is.
    pub fn set_volatile(&self, load: V) {
        llvm!(c::LLVMSetVolatile(load, 1));
    }

    /// A relaxed atomic load.
    pub fn load_relaxed(&self, ty: Ty, from: V, align: u32) -> V {
        let v = self.load(ty, from, align);
        llvm!(c::LLVMSetOrdering(v, LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic));
        v
    }

    pub fn store(&self, v: V, to: V, align: u32) {
        let store = llvm!(c::LLVMBuildStore(self.b(), v, to));
        llvm!(c::LLVMSetAlignment(store, align));
    }

    /// A store that leaves nothing in the caches. The processor has one for vectors that are aligned as a whole.
    pub fn store_past_caches(&self, v: V, to: V, align: u32) {
        let store = llvm!(c::LLVMBuildStore(self.b(), v, to));
        llvm!(c::LLVMSetAlignment(store, align));
        let name = "nontemporal";
        let kind = llvm!(c::LLVMGetMDKindIDInContext(self.cx(), name.as_ptr().cast(), name.len() as u32));
        let mut one = llvm!(c::LLVMValueAsMetadata(self.i32(1)));
        let node = llvm!(c::LLVMMDNodeInContext2(self.cx(), &mut one, 1));
        llvm!(c::LLVMSetMetadata(store, kind, c::LLVMMetadataAsValue(self.cx(), node)));
    }

    /// Marks a load as reading memory that never changes while the kernel runs.
    pub fn set_invariant(&self, load: V) {
        let name = "invariant.load";
        let kind = llvm!(c::LLVMGetMDKindIDInContext(self.cx(), name.as_ptr().cast(), name.len() as u32));
        let node = llvm!(c::LLVMMDNodeInContext2(self.cx(), std::ptr::null_mut(), 0));
        llvm!(c::LLVMSetMetadata(load, kind, c::LLVMMetadataAsValue(self.cx(), node)));
    }

    /// Whether a load was marked so.
    pub fn is_invariant(&self, load: V) -> bool {
        let name = "invariant.load";
        let kind = llvm!(c::LLVMGetMDKindIDInContext(self.cx(), name.as_ptr().cast(), name.len() as u32));
        !llvm!(c::LLVMGetMetadata(load, kind)).is_null()
    }

    /// Says that the address a load gives is a multiple of `align` bytes.
    pub fn set_loaded_align(&self, load: V, align: u64) {
        let name = "align";
        let kind = llvm!(c::LLVMGetMDKindIDInContext(self.cx(), name.as_ptr().cast(), name.len() as u32));
        let mut bytes = llvm!(c::LLVMValueAsMetadata(self.i64(align as i64)));
        let node = llvm!(c::LLVMMDNodeInContext2(self.cx(), &mut bytes, 1));
        llvm!(c::LLVMSetMetadata(load, kind, c::LLVMMetadataAsValue(self.cx(), node)));
    }

    /// `base + index * size_of(elem)`, in bounds of the object.
    pub fn gep(&self, elem: Ty, base: V, index: V) -> V {
        let mut index = index;
        llvm!(c::LLVMBuildInBoundsGEP2(self.b(), elem, base, &mut index, 1, NO_NAME.as_ptr()))
    }

    /// `base + bytes`, which may be anywhere.
    pub fn far_offset(&self, base: V, bytes: V) -> V {
        let mut bytes = bytes;
        llvm!(c::LLVMBuildGEP2(self.b(), self.int(8), base, &mut bytes, 1, NO_NAME.as_ptr()))
    }

    /// `base + bytes`, in bounds of the object.
    pub fn byte_offset(&self, base: V, bytes: u32) -> V {
        if bytes == 0 { base } else { self.gep(self.int(8), base, self.i64(bytes.into())) }
    }

    pub fn atomic_rmw(&self, op: LLVMAtomicRMWBinOp, ptr: V, v: V, scope: Option<&str>, align: u32) -> V {
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        let scope = self.sync_scope(scope);
        let rmw = llvm!(c::LLVMBuildAtomicRMWSyncScope(self.b(), op, ptr, v, order, scope));
        llvm!(c::LLVMSetAlignment(rmw, align));
        rmw
    }

    /// The old value and whether the exchange happened, as a struct.
    pub fn cmpxchg(&self, ptr: V, compare: V, new: V, scope: Option<&str>, align: u32) -> V {
        let order = LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic;
        let scope = self.sync_scope(scope);
        let pair =
            llvm!(c::LLVMBuildAtomicCmpXchgSyncScope(self.b(), ptr, compare, new, order, order, scope));
        llvm!(c::LLVMSetAlignment(pair, align));
        pair
    }

    fn sync_scope(&self, name: Option<&str>) -> u32 {
        let name = name.unwrap_or("");
        llvm!(c::LLVMGetSyncScopeID(self.cx(), name.as_ptr().cast(), name.len()))
    }

    // Calls.

    pub fn call(&self, f: V, args: &[V]) -> V {
        let ty = self.function_value_type(f);
        self.flagged(llvm!(c::LLVMBuildCall2(
            self.b(),
            ty,
            f,
            args.as_ptr().cast_mut(),
            len(args),
            NO_NAME.as_ptr()
        )))
    }

    /// Says that a pointer argument of a call (0 is the first) is aligned.
    pub fn set_argument_align(&self, call: V, argument: u32, align: u32) {
        let name = "align";
        let kind = llvm!(c::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()));
        let attribute = llvm!(c::LLVMCreateEnumAttribute(self.cx(), kind, align.into()));
        llvm!(c::LLVMAddCallSiteAttribute(call, argument + 1, attribute));
    }

    /// A call of an LLVM intrinsic; `overloads` are the types in its mangled name.
    pub fn intrinsic(&self, name: &str, overloads: &[Ty], args: &[V]) -> V {
        let id = llvm!(c::LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len()));
        assert_ne!(id, 0, "LLVM has no intrinsic {name}");
        let f = llvm!(c::LLVMGetIntrinsicDeclaration(
            self.module.as_mut_ptr(),
            id,
            overloads.as_ptr().cast_mut(),
            overloads.len()
        ));
        self.call(f, args)
    }
}

/// Text for LLVM; what follows a NUL is cut off, as C would.
fn c_string(text: &str) -> CString {
    let end = text.find('\0').unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}
