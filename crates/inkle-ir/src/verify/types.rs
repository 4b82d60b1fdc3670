//! V006: the types of values.

use std::collections::{HashMap, HashSet};

use super::Checker;
use crate::layout::MAX_DIMS;
use crate::types::{ArrayKind, StructType, Type};
use crate::{ArrayDesc, FabricArrayDesc, IndexedArrayDesc};

const MAX_COMPONENTS: u64 = 1 << 16;
const MAX_SIZE: u64 = 1 << 30;

/// What is known of the types met so far.
#[derive(Default)]
pub(super) struct TypeChecker {
    /// Size and alignment of each struct, or what is wrong with it. Keyed by address: structs are interned.
    structs: HashMap<*const StructType, Result<(u64, u64), String>>,
    names: HashMap<&'static str, &'static StructType>,
    /// Structs that share a name.
    pub(super) clashes: Vec<(&'static StructType, &'static StructType)>,
}

impl TypeChecker {
    /// Size and alignment in memory, bytes.
    fn check(&mut self, ty: Type) -> Result<(u64, u64), String> {
        let (size, align) = match ty {
            Type::Scalar(_) | Type::Quat(_) | Type::Transform(_) => {
                (u64::from(ty.size()), u64::from(ty.align()))
            }
            Type::Vec { len, elem } => components(ty, u64::from(len), elem.size())?,
            Type::Mat { rows, cols, elem } => components(ty, u64::from(rows) * u64::from(cols), elem.size())?,
            Type::Struct(s) => match self.structs.get(&std::ptr::from_ref(s)) {
                Some(known) => known.clone()?,
                None => {
                    let checked = self.check_struct(s);
                    self.structs.insert(std::ptr::from_ref(s), checked.clone());
                    checked?
                }
            },
            Type::Array(a) => {
                if !(1..=MAX_DIMS as u32).contains(&a.ndim) {
                    return Err(format!("{ty} has {} dimensions, not 1 to {MAX_DIMS}", a.ndim));
                }
                if let Type::Array(_) | Type::Ref(_) = a.elem {
                    return Err(format!("{ty} is an array of {}", a.elem));
                }
                self.check(a.elem)?;
                match a.kind {
                    ArrayKind::Strided => (size_of::<ArrayDesc>() as u64, 8),
                    ArrayKind::Indexed => (size_of::<IndexedArrayDesc>() as u64, 8),
                    ArrayKind::Fabric | ArrayKind::IndexedFabric => {
                        if a.ndim > 2 {
                            return Err(format!("{ty} has {} dimensions, not 1 or 2", a.ndim));
                        }
                        (size_of::<FabricArrayDesc>() as u64, 8)
                    }
                }
            }
            Type::Ref(target) => {
                if let Type::Ref(_) = target {
                    return Err(format!("{ty} is a ref to a ref"));
                }
                self.check(*target)?;
                (8, 8)
            }
        };
        if size > MAX_SIZE {
            return Err(format!("{ty} takes {size} bytes, more than {MAX_SIZE}"));
        }
        Ok((size, align))
    }

    fn check_struct(&mut self, s: &'static StructType) -> Result<(u64, u64), String> {
        if let Some(other) = self.names.insert(&s.name, s) {
            self.clashes.push((other, s));
        }
        let (mut end, mut largest) = (0u64, 1u64);
        for field in &s.fields {
            if let Type::Ref(_) = field.ty {
                return Err(format!("field `{}` of struct {} is a {}", field.name, s.name, field.ty));
            }
            let (size, align) = self.check(field.ty)?;
            end = end.div_ceil(align) * align + size;
            if end > MAX_SIZE {
                return Err(format!("struct {} takes more than {MAX_SIZE} bytes", s.name));
            }
            largest = largest.max(align);
        }
        Ok((end.div_ceil(largest) * largest, largest))
    }
}

fn components(ty: Type, count: u64, size: u32) -> Result<(u64, u64), String> {
    if !(1..=MAX_COMPONENTS).contains(&count) {
        return Err(format!("{ty} has {count} components, not 1 to {MAX_COMPONENTS}"));
    }
    Ok((count * u64::from(size), u64::from(size)))
}

impl Checker<'_> {
    /// Whether the types of all values that blocks hold are sound. References hold already.
    pub(super) fn types(&mut self, types: &mut TypeChecker) -> bool {
        let function = self.function;
        let mut reported: HashSet<String> = HashSet::new();
        let mut check = |checker: &mut Self, ty: Type, op| {
            if !matches!(ty, Type::Scalar(_))
                && let Err(message) = types.check(ty)
                && reported.insert(message.clone())
            {
                checker.report("V006", op, message);
            }
        };
        for ty in function.params.iter().map(|p| p.ty).chain(function.results.iter().copied()) {
            check(self, ty, None);
        }
        let mut stack = vec![function.body];
        while let Some(block) = stack.pop() {
            let data = function.block(block);
            for &param in &data.params {
                check(self, function.ty(param), None);
            }
            for &op in &data.ops {
                for &result in &function.op(op).results {
                    check(self, function.ty(result), Some(op));
                }
                stack.extend(function.op(op).blocks.iter().rev());
            }
        }
        reported.is_empty()
    }
}
