//! Memory layout that generated code, the runtime and exported bundles share: defined here, once.
//!
//! Values in memory: scalars have their size and alignment; vectors, matrices (row-major), quaternions and
//! transforms are packed scalars with the scalar's alignment; structs follow C's rules; an array held in a
//! struct or a parameter block is an [`ArrayDesc`].
//!
//! A kernel has one parameter block: the [`LaunchBounds`], then each argument at its natural alignment.

use crate::types::{ArrayKind, StructType, Type};

/// The most dimensions a launch or an array can have.
pub const MAX_DIMS: usize = 4;

/// The most bytes an array of one thread's own can take: what GPUs allow.
pub const MAX_LOCAL_SIZE: u64 = 512 << 10;

/// An array as generated code sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayDesc {
    /// Address of the first element; zero when no array was passed.
    pub data: u64,
    /// Address of the first element's gradient; zero when there is none.
    pub grad: u64,
    /// Extents, elements; unused dimensions are zero.
    pub shape: [i32; MAX_DIMS],
    /// Distance between neighbours, bytes; may be negative.
    pub strides: [i64; MAX_DIMS],
}

impl ArrayDesc {
    /// A row of elements that lie one after the other.
    pub fn of_elements(data: u64, count: i32, elem_bytes: u32) -> ArrayDesc {
        let mut desc = ArrayDesc { data, ..ArrayDesc::default() };
        (desc.shape[0], desc.strides[0]) = (count, elem_bytes.into());
        desc
    }

    /// Its memory.
    #[inline]
    pub fn words(&self) -> [u64; 8] {
        let ArrayDesc { data, grad, shape: [a, b, c, d], strides } = *self;
        let [s0, s1, s2, s3] = strides.map(|stride| stride as u64);
        [data, grad, pair(a as u32, b as u32), pair(c as u32, d as u32), s0, s1, s2, s3]
    }
}

/// An indexed array as generated code sees it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexedArrayDesc {
    /// The array that holds the elements.
    pub array: ArrayDesc,
    /// Per dimension the address of an i32 index list, or zero for the identity.
    pub indices: [u64; MAX_DIMS],
    /// Extents as seen through the lists.
    pub shape: [i32; MAX_DIMS],
}

/// A Fabric array as generated code sees it: the fields of [`ArrayType::fabric_fields`](crate::ArrayType::fabric_fields).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FabricArrayDesc {
    /// The table of buckets, a row of [`FABRIC_COLUMNS`] u64 for each: the index of its first element, the address of
    /// its elements and, when these are arrays, that of their lengths (then the elements are addresses).
    pub buckets: ArrayDesc,
    /// The list of i32 indices; empty without one.
    pub indices: ArrayDesc,
    /// The number of elements, as seen through the list.
    pub size: i32,
}

/// How many numbers describe a bucket.
pub const FABRIC_COLUMNS: usize = 3;

/// The variable in a CPU kernel's code that says that its threads must run in order.
pub const IN_ORDER: &str = "inkle_kernel_in_order";

/// The entry of GPU code whose threads loop over the launch, so that any grid does it, and that gains by few blocks: each
/// has something to do once, however many threads of the launch it does.
pub const FEW_BLOCKS_ENTRY: &str = "inkle_kernel_few_blocks";

/// The head of every parameter block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// Extents of the launch; unused trailing dimensions are one. At most [`LaunchBounds::MAX_EXTENT`] where the kernel
    /// asks for the index; where it does not, one that does not fit is `u32::MAX`.
    pub dims: [u32; MAX_DIMS],
    /// The product of the extents.
    pub size: u64,
}

impl LaunchBounds {
    /// The largest extent whose indices are `i32`.
    pub const MAX_EXTENT: u32 = 1 << 31;

    /// Its memory.
    #[inline]
    pub fn words(&self) -> [u64; 3] {
        let [a, b, c, d] = self.dims;
        [pair(a, b), pair(c, d), self.size]
    }
}

/// Two numbers that lie one after the other, as one word.
#[inline]
fn pair(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

/// What a kernel built with checks tells the host of a GPU: page-locked memory of the host, whose address the loader
/// stores in the module's variable [`CheckRecord::SYMBOL`].
///
/// The first thread that fails claims the record by setting `state` from 0 to 1, fills it in, sets `state` to 2 and
/// ends. The host reads it when it waits for the device, and sets `state` to 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CheckRecord {
    /// 0: nothing; 1: being written; 2: written.
    pub state: u32,
    /// How often something was reported that does not end the thread.
    pub warnings: u32,
    /// The number of arguments.
    pub count: u32,
    /// Zero.
    pub reserved: u32,
    /// The arguments' bits.
    pub args: [u64; CheckRecord::MAX_ARGS],
    /// What the arguments are: 0 signed, 1 unsigned, 2 f64.
    pub kinds: [u8; CheckRecord::MAX_ARGS],
    /// A printf format, ended by a zero.
    pub format: [u8; CheckRecord::FORMAT_BYTES],
}

impl CheckRecord {
    /// The most arguments of a report.
    pub const MAX_ARGS: usize = 16;
    /// Room for the format, bytes.
    pub const FORMAT_BYTES: usize = 1024;
    /// How many warnings are printed; of more only the number is told.
    pub const MAX_WARNINGS: u32 = 16;
    /// The variable in GPU code that holds the record's address, a u64; zero when there is none.
    pub const SYMBOL: &'static str = "inkle_check_record";
}

// Generated code reads these offsets.
const _: () = {
    assert!(size_of::<ArrayDesc>() == 64);
    assert!(std::mem::offset_of!(ArrayDesc, grad) == 8);
    assert!(std::mem::offset_of!(ArrayDesc, shape) == 16);
    assert!(std::mem::offset_of!(ArrayDesc, strides) == 32);
    assert!(size_of::<IndexedArrayDesc>() == 112);
    assert!(std::mem::offset_of!(IndexedArrayDesc, indices) == 64);
    assert!(std::mem::offset_of!(IndexedArrayDesc, shape) == 96);
    assert!(size_of::<FabricArrayDesc>() == 136);
    assert!(std::mem::offset_of!(FabricArrayDesc, indices) == 64);
    assert!(std::mem::offset_of!(FabricArrayDesc, size) == 128);
    assert!(size_of::<LaunchBounds>() == 24);
    assert!(std::mem::offset_of!(LaunchBounds, size) == 16);
    assert!(std::mem::offset_of!(CheckRecord, args) == 16);
};

/// Offset, size and alignment of one field or argument, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldLayout {
    /// From the start of the struct or block.
    pub offset: u32,
    /// Bytes it takes.
    pub size: u32,
    /// Its alignment.
    pub align: u32,
}

fn round_up(offset: u32, align: u32) -> u32 {
    offset.div_ceil(align) * align
}

impl Type {
    /// Size in memory, bytes; a multiple of the alignment.
    pub fn size(self) -> u32 {
        match self {
            Type::Struct(s) => s.layout().1,
            Type::Array(a) => match a.kind {
                ArrayKind::Strided => size_of::<ArrayDesc>() as u32,
                ArrayKind::Indexed => size_of::<IndexedArrayDesc>() as u32,
                ArrayKind::Fabric | ArrayKind::IndexedFabric => size_of::<FabricArrayDesc>() as u32,
            },
            Type::Ref(_) => 8,
            other => {
                let scalar = other.scalar().expect("only structs, arrays and refs have no scalar");
                other.component_count().expect("as above") * scalar.size()
            }
        }
    }

    /// Alignment in memory, bytes.
    pub fn align(self) -> u32 {
        match self {
            Type::Struct(s) => s.fields.iter().map(|f| f.ty.align()).max().unwrap_or(1),
            Type::Array(_) | Type::Ref(_) => 8,
            other => other.scalar().expect("only structs, arrays and refs have no scalar").size(),
        }
    }
}

impl StructType {
    /// The layout of every field, and the size of the whole, bytes.
    pub fn layout(&self) -> (Vec<FieldLayout>, u32) {
        let (fields, end) = place(self.fields.iter().map(|f| f.ty), 0);
        let align = self.fields.iter().map(|f| f.ty.align()).max().unwrap_or(1);
        (fields, round_up(end, align))
    }
}

fn place(types: impl Iterator<Item = Type>, start: u32) -> (Vec<FieldLayout>, u32) {
    let mut offset = start;
    let fields = types
        .map(|ty| {
            let (size, align) = (ty.size(), ty.align());
            offset = round_up(offset, align);
            let field = FieldLayout { offset, size, align };
            offset += size;
            field
        })
        .collect();
    (fields, offset)
}

/// Where each argument of a kernel lies in its parameter block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParamLayout {
    /// One entry per parameter.
    pub args: Vec<FieldLayout>,
    /// The size of the block, bytes; a multiple of 8.
    pub size: u32,
}

impl ParamLayout {
    /// The layout for parameters of these types.
    pub fn new(types: impl IntoIterator<Item = Type>) -> ParamLayout {
        let (args, end) = place(types.into_iter(), size_of::<LaunchBounds>() as u32);
        ParamLayout { args, size: round_up(end, 8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Field, Scalar};

    #[test]
    fn structs_follow_c() {
        let field = |name: &str, ty| Field { name: name.into(), ty };
        let s = Type::structure(
            "S",
            vec![field("a", Type::BOOL), field("b", Type::vec(3, Scalar::F32)), field("c", Type::F64)],
        );
        let (fields, size) = s.as_struct().unwrap().layout();
        assert_eq!(fields.iter().map(|f| f.offset).collect::<Vec<_>>(), [0, 4, 16]);
        assert_eq!((size, s.align()), (24, 8));
    }

    #[test]
    fn arguments_come_after_the_bounds() {
        let layout = ParamLayout::new([Type::F32, Type::array(Type::F32, 1), Type::BOOL]);
        assert_eq!(layout.args.iter().map(|f| f.offset).collect::<Vec<_>>(), [24, 32, 96]);
        assert_eq!(layout.size, 104);
    }
}
