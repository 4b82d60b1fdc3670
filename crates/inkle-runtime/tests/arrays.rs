//! Views, copies and fills on the CPU against an oracle that works index by index.

use std::collections::HashMap;

use inkle_ir::{Field, Scalar, Type};
use inkle_runtime::{Allocation, Array, Device, Index, RuntimeError, Slice};
use proptest::prelude::*;

const CPU: fn() -> Device = Device::cpu;

/// An i32 array holding 0, 1, 2 ... in row-major order.
fn iota(shape: &[i64]) -> Array {
    let count: i64 = shape.iter().product();
    let bytes: Vec<u8> = (0..count as i32).flat_map(i32::to_le_bytes).collect();
    Array::from_bytes(CPU(), Type::I32, shape, &bytes).unwrap()
}

fn values(array: &Array) -> Vec<i32> {
    array.to_bytes().unwrap().chunks_exact(4).map(|c| i32::from_le_bytes(c.try_into().unwrap())).collect()
}

/// The oracle: a shape and the values in row-major order, without strides.
#[derive(Clone, Debug, PartialEq)]
struct Oracle {
    shape: Vec<i64>,
    values: Vec<i32>,
}

impl Oracle {
    fn iota(shape: &[i64]) -> Oracle {
        Oracle { shape: shape.to_vec(), values: (0..shape.iter().product::<i64>() as i32).collect() }
    }

    fn get(&self, index: &[i64]) -> i32 {
        let flat = index.iter().zip(&self.shape).fold(0, |flat, (i, n)| flat * n + i);
        self.values[flat as usize]
    }

    /// The oracle of a view of `shape` whose element at an index is this one's at `from(index)`.
    fn view(&self, shape: &[i64], from: impl Fn(&[i64]) -> Vec<i64>) -> Oracle {
        let mut values = Vec::new();
        let count: i64 = shape.iter().product();
        for flat in 0..count {
            let mut rest = flat;
            let mut index = vec![0; shape.len()];
            for d in (0..shape.len()).rev() {
                index[d] = rest % shape[d];
                rest /= shape[d];
            }
            values.push(self.get(&from(&index)));
        }
        Oracle { shape: shape.to_vec(), values }
    }

    /// Python's `range(*slice.indices(n))`, element by element.
    fn places(slice: Slice, n: i64) -> Vec<i64> {
        let fix = |end: Option<i64>, default: i64| match end {
            None => default,
            Some(e) => {
                let e = if e < 0 { e + n } else { e };
                if slice.step > 0 { e.clamp(0, n) } else { e.clamp(-1, n - 1) }
            }
        };
        let (start, stop) = if slice.step > 0 {
            (fix(slice.start, 0), fix(slice.stop, n))
        } else {
            (fix(slice.start, n - 1), fix(slice.stop, -1))
        };
        let mut places = Vec::new();
        let mut i = start;
        while if slice.step > 0 { i < stop } else { i > stop } {
            places.push(i);
            i += slice.step;
        }
        places
    }
}

fn assert_same(array: &Array, oracle: &Oracle) {
    let shape: Vec<i64> = array.shape().iter().map(|&e| e.into()).collect();
    assert_eq!(shape, oracle.shape);
    assert_eq!(values(array), oracle.values, "shape {shape:?}, strides {:?}", array.strides());
}

#[derive(Clone, Debug)]
enum Step {
    Slice(prop::sample::Index, Slice),
    At(prop::sample::Index, prop::sample::Index),
    Transpose(Vec<prop::sample::Index>),
    Reshape(usize),
    Expand(i64),
}

fn any_slice() -> impl Strategy<Value = Slice> {
    let end = || prop::option::of(-8i64..8);
    (end(), end(), prop_oneof![-3i64..=-1, 1i64..=3]).prop_map(|(start, stop, step)| Slice {
        start,
        stop,
        step,
    })
}

fn any_step() -> impl Strategy<Value = Step> {
    use prop::sample::Index;
    prop_oneof![
        4 => (any::<Index>(), any_slice()).prop_map(|(d, s)| Step::Slice(d, s)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(d, i)| Step::At(d, i)),
        2 => prop::collection::vec(any::<Index>(), 4).prop_map(Step::Transpose),
        1 => (0usize..3).prop_map(Step::Reshape),
        1 => (1i64..3).prop_map(Step::Expand),
    ]
}

/// Applies a step to both; `None` if it does not apply to this shape.
fn apply(step: &Step, array: &Array, oracle: &Oracle) -> Option<(Array, Oracle)> {
    let n = oracle.shape.len();
    match step {
        Step::Slice(dim, slice) => {
            let d = if n == 0 { return None } else { dim.index(n) };
            let places = Oracle::places(*slice, oracle.shape[d]);
            let mut shape = oracle.shape.clone();
            shape[d] = places.len() as i64;
            let expected = oracle.view(&shape, |i| {
                let mut from = i.to_vec();
                from[d] = places[i[d] as usize];
                from
            });
            Some((array.slice(d, *slice).unwrap(), expected))
        }
        Step::At(dim, index) => {
            let d = if n == 0 { return None } else { dim.index(n) };
            if oracle.shape[d] == 0 {
                return None;
            }
            let at = index.index(oracle.shape[d] as usize) as i64;
            let mut shape = oracle.shape.clone();
            shape.remove(d);
            let expected = oracle.view(&shape, |i| {
                let mut from = i.to_vec();
                from.insert(d, at);
                from
            });
            // Both ways of naming the place.
            let view = array.index(d, at - oracle.shape[d]).unwrap();
            assert_eq!(view.address(), array.index(d, at).unwrap().address());
            Some((view, expected))
        }
        Step::Transpose(order) => {
            let mut left: Vec<usize> = (0..n).collect();
            let axes: Vec<i64> = order[..n].iter().map(|i| left.remove(i.index(left.len())) as i64).collect();
            let shape: Vec<i64> = axes.iter().map(|&a| oracle.shape[a as usize]).collect();
            let expected = oracle.view(&shape, |i| {
                let mut from = vec![0; n];
                for (to, &axis) in axes.iter().enumerate() {
                    from[axis as usize] = i[to];
                }
                from
            });
            Some((array.transpose(Some(&axes)).unwrap(), expected))
        }
        Step::Reshape(kind) => {
            let total: i64 = oracle.shape.iter().product();
            let shape = match kind {
                0 => vec![-1],
                1 if total % 2 == 0 => vec![2, -1],
                _ => vec![1, -1, 1],
            };
            match array.reshape(&shape) {
                Err(error) => {
                    assert!(!array.is_contiguous(), "{error}");
                    None
                }
                Ok(view) => {
                    let shape = shape.iter().map(|&e| {
                        if e == -1 { total / shape.iter().filter(|&&e| e > 0).product::<i64>() } else { e }
                    });
                    Some((view, Oracle { shape: shape.collect(), values: oracle.values.clone() }))
                }
            }
        }
        Step::Expand(count) => {
            if n == 4 {
                return None;
            }
            let mut shape = vec![*count];
            shape.extend_from_slice(&oracle.shape);
            let expected = oracle.view(&shape, |i| i[1..].to_vec());
            Some((array.expand(&shape).unwrap(), expected))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chains_of_views(shape in prop::collection::vec(0i64..6, 1..=4), steps in prop::collection::vec(any_step(), 1..6)) {
        let (mut array, mut oracle) = (iota(&shape), Oracle::iota(&shape));
        for step in &steps {
            if let Some(next) = apply(step, &array, &oracle) {
                (array, oracle) = next;
                assert_same(&array, &oracle);
                let contiguous = array.to_contiguous(None).unwrap();
                prop_assert!(contiguous.is_contiguous());
                assert_same(&contiguous, &oracle);
            }
        }
    }

    /// Copying into a view writes its elements, in order, and nothing else.
    #[test]
    fn copies_into_views(shape in prop::collection::vec(1i64..6, 1..=4), steps in prop::collection::vec(any_step(), 1..4)) {
        let base = iota(&shape);
        let (mut view, mut oracle) = (base.clone(), Oracle::iota(&shape));
        for step in steps.iter().filter(|s| !matches!(s, Step::Expand(_))) {
            if let Some(next) = apply(step, &view, &oracle) {
                (view, oracle) = next;
            }
        }
        // The oracle's values are places of the base, since the base counts from zero.
        let places = oracle.values.clone();
        let fresh: Vec<i32> = (0..places.len() as i32).map(|i| 1000 + i).collect();
        let bytes: Vec<u8> = fresh.iter().flat_map(|v| v.to_le_bytes()).collect();
        view.write_bytes(&bytes).unwrap();
        let written: HashMap<i32, i32> = places.into_iter().zip(fresh).collect();
        let expected: Vec<i32> =
            (0..base.len() as i32).map(|i| written.get(&i).copied().unwrap_or(i)).collect();
        prop_assert_eq!(values(&base), expected);
    }

    /// A fill reaches the view's elements and nothing else.
    #[test]
    fn fills_of_views(shape in prop::collection::vec(1i64..6, 1..=4), steps in prop::collection::vec(any_step(), 1..4), value in any::<i32>()) {
        let base = iota(&shape);
        let (mut view, mut oracle) = (base.clone(), Oracle::iota(&shape));
        for step in &steps {
            if let Some(next) = apply(step, &view, &oracle) {
                (view, oracle) = next;
            }
        }
        view.fill(&value.to_le_bytes(), None).unwrap();
        let expected: Vec<i32> =
            (0..base.len() as i32).map(|i| if oracle.values.contains(&i) { value } else { i }).collect();
        prop_assert_eq!(values(&base), expected);
    }
}

#[test]
fn overlapping_copies_read_before_they_write() {
    let a = iota(&[10]);
    a.slice(0, Slice::range(1, 10))
        .unwrap()
        .copy_from(&a.slice(0, Slice::range(0, 9)).unwrap(), None)
        .unwrap();
    assert_eq!(values(&a), [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let a = iota(&[6]);
    let reversed = a.slice(0, Slice { step: -1, ..Slice::ALL }).unwrap();
    a.copy_from(&reversed, None).unwrap();
    assert_eq!(values(&a), [5, 4, 3, 2, 1, 0]);
    let a = iota(&[3, 3]);
    a.copy_from(&a.transpose(None).unwrap(), None).unwrap();
    assert_eq!(values(&a), [0, 3, 6, 1, 4, 7, 2, 5, 8]);
}

#[test]
fn large_copies_and_fills_are_shared_without_a_seam() {
    let n = 3_000_001i64;
    let big = iota(&[n]);
    let expected = values(&big);
    let copy = big.to_contiguous(None).unwrap();
    assert_eq!(values(&copy), expected);
    let every_other = big.slice(0, Slice { step: -2, ..Slice::ALL }).unwrap().to_contiguous(None).unwrap();
    let want: Vec<i32> = expected.iter().rev().step_by(2).copied().collect();
    assert_eq!(values(&every_other), want);
    let square = iota(&[1500, 1501]);
    let turned = square.transpose(None).unwrap().to_contiguous(None).unwrap();
    let got = values(&turned);
    assert!((0..1501).all(|i| (0..1500).all(|j| got[i * 1500 + j] == (j * 1501 + i) as i32)));
    // Twelve bytes do not divide a power of two, so pieces must be cut on whole patterns.
    let vectors = Array::empty(CPU(), Type::vec(3, Scalar::F32), &[700_000]).unwrap();
    let pattern: Vec<u8> = (1..=12).collect();
    vectors.fill(&pattern, None).unwrap();
    assert!(vectors.to_bytes().unwrap().chunks_exact(12).all(|c| c == pattern));
}

#[test]
fn partial_copies() {
    let (a, b) = (iota(&[2, 5]), iota(&[20]));
    a.copy_range_from(2, &b, 10, 3, None).unwrap();
    assert_eq!(values(&a), [0, 1, 10, 11, 12, 5, 6, 7, 8, 9]);
    a.copy_range_from(10, &b, 20, 0, None).unwrap();
    assert_eq!(
        a.copy_range_from(8, &b, 0, 3, None),
        Err(RuntimeError::RangeOutOfBounds { array: "destination", offset: 8, count: 3, len: 10 })
    );
    assert_eq!(
        a.copy_range_from(0, &b, 19, 2, None),
        Err(RuntimeError::RangeOutOfBounds { array: "source", offset: 19, count: 2, len: 20 })
    );
    assert!(a.copy_range_from(usize::MAX, &b, 0, 2, None).is_err());
    let strided = b.slice(0, Slice { step: 2, ..Slice::ALL }).unwrap();
    assert!(matches!(a.copy_range_from(0, &strided, 0, 2, None), Err(RuntimeError::NotContiguous { .. })));
}

#[test]
fn copies_need_equal_shapes_and_sizes() {
    let (a, b) = (iota(&[2, 3]), iota(&[3, 2]));
    let error = a.copy_from(&b, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "arrays of different shapes cannot be copied: destination shape=(2, 3), source shape=(3, 2)"
    );
    let wide = Array::zeros(CPU(), Type::F64, &[2, 3]).unwrap();
    let error = a.copy_from(&wide, None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "elements of different sizes cannot be copied: destination dtype=int32, source dtype=float64"
    );
    let floats = Array::zeros(CPU(), Type::F32, &[2, 3]).unwrap();
    a.copy_from(&floats, None).unwrap();
    assert_eq!(values(&a), [0; 6]);
}

#[test]
fn descriptions_are_checked() {
    let empty = |shape: &[i64]| Array::empty(CPU(), Type::F32, shape).unwrap_err();
    assert_eq!(empty(&[1; 5]), RuntimeError::TooManyDims { ndim: 5 });
    assert_eq!(empty(&[2, -1]), RuntimeError::BadExtent { dim: 1, extent: -1 });
    assert_eq!(empty(&[1 << 31]), RuntimeError::BadExtent { dim: 0, extent: 1 << 31 });
    let big = i64::from(i32::MAX);
    assert!(matches!(empty(&[big, big, big]), RuntimeError::TooLarge { .. }));
    assert!(matches!(empty(&[0, big, big, big]), RuntimeError::TooLarge { .. }));
    let nested = Type::array(Type::F32, 1);
    assert!(matches!(Array::empty(CPU(), nested, &[1]), Err(RuntimeError::BadElementType { .. })));
}

#[test]
fn parts_must_fit_their_memory() {
    let memory = Allocation::new(CPU(), 40).unwrap();
    let make = |offset, shape: &[i64], strides: Option<&[i64]>| {
        Array::from_parts(memory.clone(), offset, Type::F32, shape, strides)
    };
    assert!(
        make(0, &[10], None).is_ok() && make(36, &[1], None).is_ok() && make(36, &[10], Some(&[-4])).is_ok()
    );
    assert!(make(1000, &[0], None).is_ok());
    for (offset, shape, strides) in
        [(0, [11], [4]), (4, [10], [4]), (0, [2], [-4]), (36, [2], [i64::MAX & !3])]
    {
        let error = make(offset, &shape, Some(&strides)).unwrap_err();
        assert!(matches!(error, RuntimeError::OutsideAllocation { allocation_bytes: 40, .. }), "{error}");
    }
    assert_eq!(
        make(2, &[1], None).unwrap_err(),
        RuntimeError::Misaligned { what: "address", value: memory.address() as i64 + 2, align: 4 }
    );
    assert_eq!(
        make(0, &[2], Some(&[6])).unwrap_err(),
        RuntimeError::Misaligned { what: "stride", value: 6, align: 4 }
    );
    assert_eq!(make(0, &[2], Some(&[4, 4])).unwrap_err(), RuntimeError::StrideCount { ndim: 1, strides: 2 });
}

#[test]
fn mistakes_in_views_name_their_values() {
    let a = iota(&[3, 4]);
    let message = |result: Result<Array, RuntimeError>| result.unwrap_err().to_string();
    assert_eq!(message(a.index(1, 4)), "index 4 is out of range for dimension 1 of extent 4");
    assert_eq!(message(a.index(0, -4)), "index -4 is out of range for dimension 0 of extent 3");
    assert_eq!(message(a.index(2, 0)), "there is no dimension 2: the array has 2");
    assert_eq!(
        message(a.slice(0, Slice { step: 0, ..Slice::ALL })),
        "slice step cannot be zero (dimension 0)"
    );
    assert_eq!(message(a.select(&[Index::At(0); 3])), "3 indices for an array of 2 dimensions");
    assert_eq!(
        message(a.reshape(&[5, -1])),
        "cannot reshape array of shape (3, 4) (size 12) into shape (5, -1) (size any)"
    );
    assert_eq!(
        message(a.reshape(&[-1, -1])),
        "cannot reshape to (-1, -1): only one extent may be -1, none below"
    );
    assert_eq!(message(a.transpose(Some(&[0, 0]))), "axes (0, 0) are not a permutation of 2 dimensions");
    assert_eq!(message(a.expand(&[2, 3])), "expand needs equal shapes: got (3, 4) and (2, 3)");
    let turned = a.transpose(None).unwrap();
    assert_eq!(
        message(turned.flatten()),
        "flatten needs a contiguous array; this one has shape (4, 3) and byte strides (4, 16)"
    );
    assert_eq!(
        message(a.view_as(Type::F64)),
        "view cannot combine element types int32 (4 bytes) and float64 (8 bytes)"
    );
}

#[test]
fn extreme_slices_do_no_harm() {
    let a = iota(&[5]);
    let slice = |start, stop, step| values(&a.slice(0, Slice { start, stop, step }).unwrap());
    assert_eq!(slice(Some(i64::MIN), Some(i64::MAX), 1), [0, 1, 2, 3, 4]);
    assert_eq!(slice(None, None, i64::MAX), [0]);
    assert_eq!(slice(None, None, i64::MIN), [4]);
    assert_eq!(slice(Some(i64::MAX), Some(i64::MIN), -2), [4, 2, 0]);
    assert_eq!(slice(Some(3), Some(1), 1), [0; 0]);
}

#[test]
fn types_of_one_size_share_bytes() {
    let a =
        Array::from_bytes(CPU(), Type::F32, &[2], &[1.0f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat())
            .unwrap();
    let bits = a.view_as(Type::Scalar(Scalar::U32)).unwrap();
    assert_eq!(values(&bits), [0x3f80_0000, 0xc000_0000u32 as i32]);
    let pairs = Array::zeros(CPU(), Type::vec(2, Scalar::F32), &[3]).unwrap();
    assert!(pairs.view_as(Type::F64).is_ok());
    assert!(matches!(pairs.view_as(Type::reference(Type::F32)), Err(RuntimeError::BadElementType { .. })));
}

#[test]
fn structs_are_elements() {
    let field = |name: &str, ty| Field { name: name.into(), ty };
    let particle =
        Type::structure("Particle", vec![field("x", Type::vec(3, Scalar::F32)), field("id", Type::I64)]);
    let a = Array::zeros(CPU(), particle, &[4]).unwrap();
    assert_eq!((a.elem_bytes(), a.size_bytes(), a.strides()), (24, 96, &[24i64][..]));
    let pattern: Vec<u8> = (0..24).collect();
    a.slice(0, Slice { step: 2, ..Slice::ALL }).unwrap().fill(&pattern, None).unwrap();
    let bytes = a.to_bytes().unwrap();
    assert_eq!((&bytes[..24], &bytes[24..48], &bytes[48..72]), (&pattern[..], &[0; 24][..], &pattern[..]));
}

#[test]
fn gradients_follow_views() {
    let mut a = iota(&[4, 6]);
    a.require_grad().unwrap();
    let grad = a.grad().unwrap().clone();
    assert_eq!(values(&grad), [0; 24]);
    assert_eq!((a.desc().grad, grad.desc().grad), (grad.address(), 0));
    let view = a.select(&[Index::At(1), Index::Slice(Slice { step: -2, ..Slice::ALL })]).unwrap();
    view.grad().unwrap().fill(&7i32.to_le_bytes(), None).unwrap();
    assert_eq!(values(&grad)[6..12], [0, 7, 0, 7, 0, 7]);
    assert_eq!(view.desc().grad, view.grad().unwrap().address());
    for view in [a.transpose(None), a.reshape(&[-1]), a.view_as(Type::F32), a.expand(&[2, 4, 6])] {
        let view = view.unwrap();
        let grad = view.grad().unwrap();
        assert_eq!(
            (grad.shape(), grad.strides(), grad.dtype()),
            (view.shape(), view.strides(), view.dtype())
        );
    }
    // The gradient of a strided array has the same strides, so that kernels reach it through one index.
    let mut column = iota(&[3, 4]).slice(1, Slice { step: -2, ..Slice::ALL }).unwrap();
    column.require_grad().unwrap();
    assert_eq!(column.grad().unwrap().strides(), column.strides());
    assert!(matches!(a.set_grad(Some(iota(&[6, 4]))), Err(RuntimeError::ShapeMismatch { .. })));
    assert!(matches!(
        a.set_grad(Some(iota(&[6, 4]).transpose(None).unwrap())),
        Err(RuntimeError::StrideMismatch { .. })
    ));
    a.set_grad(None).unwrap();
    assert_eq!(a.desc().grad, 0);
}

#[test]
fn foreign_memory_is_a_view_of_its_owner() {
    let data: Box<[i32]> = (0..6).collect();
    let last = data.as_ptr().wrapping_add(5).expose_provenance() as u64;
    // SAFETY: the six elements lie in the box, which the array keeps.
    let reversed =
        unsafe { Array::foreign(CPU(), Type::I32, last, &[6], Some(&[-4]), Box::new(data)) }.unwrap();
    assert_eq!(values(&reversed), [5, 4, 3, 2, 1, 0]);
    assert_eq!(reversed.memory().address(), last - 20);
    let bad = |address, shape: &[i64], strides: &[i64]| {
        // SAFETY: nothing is accessed: the description is refused.
        unsafe { Array::foreign(CPU(), Type::I32, address, shape, Some(strides), Box::new(())) }.unwrap_err()
    };
    assert!(matches!(bad(0, &[1], &[4]), RuntimeError::OutsideAllocation { .. }));
    assert!(matches!(bad(64, &[100], &[-4]), RuntimeError::OutsideAllocation { .. }));
    assert!(matches!(bad(66, &[1], &[4]), RuntimeError::Misaligned { .. }));
    assert!(matches!(bad(64, &[3], &[i64::MAX - 3]), RuntimeError::OutsideAllocation { .. }));
    // SAFETY: there are no elements.
    let nothing = unsafe { Array::foreign(CPU(), Type::I32, 0, &[0], None, Box::new(())) }.unwrap();
    assert!(nothing.is_empty() && nothing.to_bytes().unwrap().is_empty());
}

#[test]
fn bytes_may_lie_anywhere() {
    let array = Array::empty(Device::cpu(), Type::F64, &[5]).unwrap();
    for offset in 0..8 {
        let mut bytes: Vec<u8> = (0..40 + offset as u8).collect();
        let wanted = bytes[offset..].to_vec();
        array.write_bytes(&bytes[offset..]).unwrap();
        bytes.fill(0);
        array.read_bytes(&mut bytes[offset..]).unwrap();
        assert_eq!(bytes[offset..], wanted, "from {offset}");
        assert_eq!(array.to_bytes().unwrap(), wanted);
    }
    let short = array.read_bytes(&mut [0; 39]);
    assert!(matches!(short, Err(RuntimeError::ByteCount { expected: 40, found: 39, .. })), "{short:?}");
}

#[test]
fn empty_arrays_go_through_everything() {
    let a = Array::zeros(CPU(), Type::F32, &[0, 3]).unwrap();
    assert_eq!((a.len(), a.address(), a.is_contiguous()), (0, 0, true));
    a.fill(&[1, 2, 3, 4], None).unwrap();
    a.copy_from(&Array::zeros(CPU(), Type::F32, &[0, 3]).unwrap(), None).unwrap();
    assert_eq!(a.transpose(None).unwrap().shape(), [3, 0]);
    assert_eq!(a.reshape(&[3, 0]).unwrap().shape(), [3, 0]);
    assert_eq!(a.flatten().unwrap().shape(), [0]);
    assert!(a.slice(1, Slice::range(1, 2)).unwrap().is_empty());
    assert!(a.index(0, 0).is_err());
}
