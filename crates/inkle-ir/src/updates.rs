//! How the threads of a kernel that updates memory could do without atomic operations: each worker with plain updates of
//! copies of its own, where all that is done to an array is that something is added.

use crate::access::{Summary, leaf_count};
use crate::ir::Module;
use crate::layout::{MAX_DIMS, ParamLayout};
use crate::types::{ArrayKind, ArrayType, Scalar, Type};

/// What is done with the elements of an array or of its gradient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// They are read, or written by a thread that nobody else is to interfere with.
    Plain,
    /// Numbers are added to them or taken from them, and nothing else.
    Sums(Scalar),
    /// They are updated, and each thread touches one only: that of its indices in the launch dimensions of this mask.
    Own(u8),
    /// Both: something is added to one only, and nothing else is done.
    OwnSums(u8, Scalar),
}

/// The elements of an array, or its gradient's, that a kernel touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TouchedArray {
    /// Where the array's descriptor lies in the parameter block, bytes.
    pub descriptor: u32,
    /// Whether these are the elements of its gradient.
    pub gradient: bool,
    /// Whether they are written.
    pub written: bool,
    /// The number of dimensions.
    pub ndim: u8,
    /// The size of an element, bytes.
    pub size: u32,
    /// What is done with them.
    pub used: Use,
    /// Whether the code tells a worker's own range of them from the rest: see [`OwnRange`]. That is up to whoever compiles it.
    pub has_range: bool,
}

/// A worker's own range of an array that several add to. What is added to elements there, the code adds in the array; what is
/// added to others, in the worker's copy, of which it notes what it touches. It may do so with any element.
///
/// Code with such ranges gets as many as it has arrays that are [`Use::Sums`], in their order.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnRange {
    /// Where it begins, bytes from the array's first element.
    pub begin: i64,
    /// Where it ends.
    pub end: i64,
    /// The index of its first element.
    pub first: i32,
    /// One more than that of its last element.
    pub last: i32,
    /// From an element of the array to that of the copy, bytes.
    pub to_copy: u64,
    /// Code lowers this to the first byte of the copy that it may have touched; below zero, where an index is negative and counts from
    /// the end, it may have touched any.
    pub low: i64,
    /// Code raises this to the last byte that it may have touched.
    pub high: i64,
}

impl OwnRange {
    /// The most arrays with ranges.
    pub const MOST: usize = 8;

    /// The range of a worker that is alone.
    pub const EVERYTHING: OwnRange = OwnRange {
        begin: i64::MIN,
        end: i64::MAX,
        first: i32::MIN,
        last: i32::MAX,
        to_copy: 0,
        low: i64::MAX,
        high: i64::MIN,
    };
}

/// All memory that a kernel touches, where no atomic operation of it needs to be one if each worker adds to copies of the
/// arrays that are [`Use::Sums`] and no two threads have the same place in those that are [`Use::Own`]; of one that is
/// [`Use::OwnSums`] either will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Updates {
    /// What is touched; nothing else is.
    pub arrays: Vec<TouchedArray>,
}

/// Words per array in the form that compiled code carries.
const WORDS: usize = 3;
/// Where a mask lies among eight bits that also have a number's type.
const MASK_SHIFT: u32 = 4;
const _: () = assert!(MAX_DIMS <= 4 && SUMMED.len() < 1 << MASK_SHIFT);

impl Updates {
    /// Of the kernel of a verified module; `None` when its updates must be atomic.
    pub fn of(module: &Module) -> Option<Updates> {
        let kernel = module.kernel()?;
        let summary = Summary::of_last(module)?;
        if !summary.is_of_arrays() {
            return None;
        }
        let layout = ParamLayout::new(kernel.params.iter().map(|p| p.ty));
        let mut leaves = Vec::new();
        for (param, place) in kernel.params.iter().zip(&layout.args) {
            push_leaves(param.ty, place.offset, &mut leaves);
        }
        let mut arrays = Vec::new();
        for (leaf, array) in leaves.into_iter().enumerate() {
            for gradient in [false, true] {
                let touched = summary.touched(leaf, gradient);
                if !touched.is_touched {
                    continue;
                }
                let (descriptor, ty) = array?;
                if ty.kind != ArrayKind::Strided {
                    return None;
                }
                let sums = ty.elem.scalar().filter(|s| is_summed(*s) && !touched.is_plain);
                let used = match (touched.is_updated, touched.own, sums) {
                    (false, ..) => Use::Plain,
                    (true, Some(place), sums) => {
                        let mask = place.iter().fold(0, |mask, dim| mask | 1 << dim);
                        sums.map_or(Use::Own(mask), |scalar| Use::OwnSums(mask, scalar))
                    }
                    (true, None, Some(scalar)) => Use::Sums(scalar),
                    (true, None, None) => return None,
                };
                arrays.push(TouchedArray {
                    descriptor,
                    gradient,
                    written: touched.is_written,
                    ndim: ty.ndim as u8,
                    size: ty.elem.size(),
                    used,
                    has_range: false,
                });
            }
        }
        Some(Updates { arrays })
    }

    /// The form that compiled code carries: a count, and some words for each array.
    pub fn to_words(&self) -> Vec<u32> {
        let mut words = vec![self.arrays.len() as u32];
        for array in &self.arrays {
            let of_scalar = |scalar| SUMMED.iter().position(|&s| s == scalar).unwrap_or(0) as u32;
            let (kind, detail) = match array.used {
                Use::Plain => (0, 0),
                Use::Sums(scalar) => (1, of_scalar(scalar)),
                Use::Own(mask) => (2, mask.into()),
                Use::OwnSums(mask, scalar) => (3, u32::from(mask) << MASK_SHIFT | of_scalar(scalar)),
            };
            let flags =
                u32::from(array.gradient) | u32::from(array.written) << 1 | u32::from(array.has_range) << 2;
            words.push(array.descriptor);
            words.push(array.size);
            words.push(flags | u32::from(array.ndim) << 8 | kind << 16 | detail << 24);
        }
        words
    }

    /// What [`Updates::to_words`] made, taken from words that begin with it; `None` for other words.
    pub fn from_words(mut next: impl FnMut() -> Option<u32>) -> Option<Updates> {
        let count = next()?;
        let mut arrays = Vec::new();
        for _ in 0..count {
            let mut words = [0; WORDS];
            for word in &mut words {
                *word = next()?;
            }
            let [descriptor, size, packed] = words;
            let [flags, ndim, kind, detail] = packed.to_le_bytes();
            let used = match kind {
                0 => Use::Plain,
                1 => Use::Sums(*SUMMED.get(detail as usize)?),
                2 => Use::Own(detail),
                3 => Use::OwnSums(
                    detail >> MASK_SHIFT,
                    *SUMMED.get(usize::from(detail & ((1 << MASK_SHIFT) - 1)))?,
                ),
                _ => return None,
            };
            let [gradient, written, has_range] = [1, 2, 4].map(|flag| flags & flag != 0);
            arrays.push(TouchedArray { descriptor, gradient, written, ndim, size, used, has_range });
        }
        Some(Updates { arrays })
    }
}

/// Numbers of which sums can be made apart and then added up.
const SUMMED: [Scalar; 6] = [Scalar::F32, Scalar::F64, Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64];

fn is_summed(scalar: Scalar) -> bool {
    SUMMED.contains(&scalar)
}

/// The parts of a parameter that an address may be in, as [`crate::access`] counts them: where the arrays lie.
fn push_leaves(ty: Type, offset: u32, leaves: &mut Vec<Option<(u32, &'static ArrayType)>>) {
    match (ty, ty.fields()) {
        // What is made of several parts has no descriptor of the plain kind.
        (Type::Array(_), Some(_)) => leaves.extend(std::iter::repeat_n(None, leaf_count(ty))),
        (_, Some(s)) => {
            for (field, place) in s.fields.iter().zip(s.layout().0) {
                push_leaves(field.ty, offset + place.offset, leaves);
            }
        }
        (_, None) if leaf_count(ty) == 1 => leaves.push(ty.as_array().map(|array| (offset, array))),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn updates(body: &str) -> Option<Updates> {
        let text = format!(
            "kernel @k(%0 to: array<i32, 1>, %1 y: array<f32, 1>, %2 z: array<f32, 2>) {{\n  %i = tid 0 : i32\n  \
             %j = tid 1 : i32\n  %one = const 1.0 : f32\n{body}\n  return\n}}"
        );
        Updates::of(&parse(&text).expect("a module"))
    }

    fn uses(body: &str) -> Option<Vec<(u32, Use)>> {
        let index = |array: &TouchedArray| (array.descriptor - 24) / size_of::<crate::ArrayDesc>() as u32;
        Some(updates(body)?.arrays.iter().map(|a| (index(a), a.used)).collect())
    }

    const ANYWHERE: &str = "  %a = elem %0, %i : ref<i32>\n  %at = load %a : i32\n  %p = elem %1, %at : ref<f32>\n  \
        %old = atomic_add %p, %one : f32\n";

    #[test]
    fn sums_at_any_place_can_be_made_apart() {
        assert_eq!(uses(ANYWHERE), Some(vec![(0, Use::Plain), (1, Use::Sums(Scalar::F32))]));
    }

    #[test]
    fn what_is_asked_for_or_read_cannot() {
        assert_eq!(uses(&format!("{ANYWHERE}  store %p, %old\n")), None);
        assert_eq!(uses(&format!("{ANYWHERE}  %q = elem %1, %i : ref<f32>\n  %now = load %q : f32\n")), None);
        assert_eq!(uses(&ANYWHERE.replace("atomic_add", "atomic_max")), None);
    }

    #[test]
    fn elements_of_the_thread_are_nobody_elses() {
        let own =
            "  %p = elem %2, %j, %i : ref<f32>\n  %x = load %p : f32\n  %old = atomic_max %p, %x : f32\n";
        assert_eq!(uses(own), Some(vec![(2, Use::Own(3))]));
        let both = format!("{own}  %q = elem %2, %i, %j : ref<f32>\n  store %q, %x\n");
        assert_eq!(uses(&both), None);
        let sums = "  %p = elem %1, %i : ref<f32>\n  %old = atomic_add %p, %one : f32\n";
        assert_eq!(uses(sums), Some(vec![(1, Use::OwnSums(1, Scalar::F32))]));
        assert_eq!(uses(&format!("{sums}  store %p, %old\n")), Some(vec![(1, Use::Own(1))]));
        let row = "  %r = view %2, %i, 0 : array<f32, 1>\n  %p = elem %r, %i : ref<f32>\n  \
            %old = atomic_add %p, %one : f32\n";
        assert_eq!(uses(row), Some(vec![(2, Use::Sums(Scalar::F32))]));
    }

    #[test]
    fn compiled_code_carries_all_of_it() {
        let own =
            "  %q = elem %2, %j, %i : ref<f32>\n  store %q, %one\n  %most = atomic_max %q, %one : f32\n";
        let mut updates = updates(&format!("{ANYWHERE}{own}")).expect("no obstacle");
        assert_eq!(updates.arrays.len(), 3);
        updates.arrays[0].used = Use::OwnSums(0b1111, SUMMED[SUMMED.len() - 1]);
        updates.arrays[1].has_range = true;
        let mut words = updates.to_words().into_iter();
        assert_eq!(Updates::from_words(|| words.next()), Some(updates));
    }
}
