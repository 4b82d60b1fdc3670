//! Arrays and other crates' types: what goes in comes out, and memory stays where it is.

use inkle::prelude::*;
use inkle::{Error, Result, RuntimeError, Slice, Struct};

#[inkle::kernel]
fn add_one(x: &mut Array<f32>) {
    x[tid()] += 1.0;
}

#[inkle::kernel]
fn square(x: &Array<f32>, y: &mut Array<f32>) {
    let i = tid();
    y[i] = x[i] * x[i];
}

#[test]
fn a_vector_becomes_an_array_that_kernels_write() -> Result<()> {
    let values = vec![1.0f32, 2.0, 3.0];
    let address = values.as_ptr().addr() as u64;
    let mut x = Array::from_vec(3, values)?;
    assert_eq!(x.runtime().address(), address);
    add_one.launch(3, (&mut x,))?;
    assert_eq!(*x.host()?, [2.0, 3.0, 4.0]);
    x.host_mut()?[1] = 9.0;
    assert_eq!(x.to_vec()?, [2.0, 9.0, 4.0]);
    let wrong = Array::from_vec([2, 2], vec![0i32; 3]).unwrap_err();
    assert!(matches!(wrong, Error::Length { expected: 4, found: 3 }), "{wrong}");
    Ok(())
}

#[test]
fn half_precision_and_vectors_lie_in_place() -> Result<()> {
    let halves = [inkle::f16::from_f32(1.5), inkle::f16::from_f32(-2.0)];
    assert_eq!(*Array::from_vec(2, halves.to_vec())?.host()?, halves);
    let brains = Array::from_slice(&[inkle::bf16::from_f32(3.0)])?;
    assert_eq!(brains.host()?[0].to_f32(), 3.0);
    let points = Array::from_vec(2, vec![Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0)])?;
    assert_eq!(points.numbers()?.to_vec()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let plain: &[[f32; 3]] = &[[7.0, 8.0, 9.0]];
    let cast = Array::from_slice(bytemuck::cast_slice::<[f32; 3], Vec3>(plain))?;
    assert_eq!(cast.to_vec()?, [Vec3::new(7.0, 8.0, 9.0)]);
    let turns = Array::from_vec(1, vec![inkle::Transformd::identity()])?;
    assert_eq!(turns.host()?[0], inkle::Transformd::identity());
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Struct, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Sample {
    position: Vec3,
    index: u32,
}

#[derive(Clone, Copy, Struct, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(8))]
struct Aligned {
    kind: u32,
    index: u32,
}

#[test]
fn structs_lie_in_place_unless_they_are_aligned_otherwise() -> Result<()> {
    let sample = Sample { position: Vec3::new(1.0, 2.0, 3.0), index: 7 };
    let samples = Array::from_vec(1, vec![sample])?;
    assert_eq!((samples.host()?[0], samples.to_vec()?[0]), (sample, sample));
    let error = Array::from_vec(1, vec![Aligned { kind: 1, index: 2 }]).unwrap_err();
    assert!(matches!(error, Error::Layout { .. }), "{error}");
    Ok(())
}

#[test]
fn what_the_host_holds_nobody_else_writes() -> Result<()> {
    let mut x = Array::from_slice(&[1.0f32, 2.0])?;
    let graph = Graph::capture(Device::cpu(), || add_one.launch(2, (&mut x,)))?;
    let lent = x.host()?;
    let error = graph.launch().unwrap_err();
    assert!(error.to_string().contains("while the host holds its memory"), "{error}");
    assert_eq!(*lent, [1.0, 2.0]);
    drop(lent);
    graph.launch()?;
    assert_eq!(*x.host()?, [2.0, 3.0]);

    let x = x.with_grad()?;
    let mut y = Array::<f32>::zeros(2)?.with_grad()?;
    let tape = Tape::record(|| square.launch(2, (&x, &mut y)))?;
    y.grad_mut().unwrap().fill(1.0)?;
    let grad = x.grad().unwrap();
    let lent = grad.host()?;
    assert!(matches!(tape.backward(), Err(Error::Runtime(RuntimeError::Lent { writing: true }))));
    drop(lent);
    tape.backward()?;
    assert_eq!(*grad.host()?, [4.0, 6.0]);
    Ok(())
}

#[test]
fn parts_are_selected_by_places_and_spans() -> Result<()> {
    let mut x = Array::from_shape([2, 3, 4], &(0..24).collect::<Vec<i32>>())?;
    assert_eq!(x.select((1, 2, ..))?.to_vec()?, [20, 21, 22, 23]);
    assert_eq!(x.select((.., 1, 3))?.to_vec()?, [7, 19]);
    assert_eq!(x.select((0, 1..=2, ..2))?.shape(), [2, 2]);
    let backwards = Slice { step: -1, ..Slice::ALL };
    assert_eq!(x.select((backwards, 0, 0))?.to_vec()?, [12, 0]);
    let error = x.select((0, 3.., 5..6)).unwrap_err();
    assert!(
        matches!(error, Error::Runtime(RuntimeError::IndexOutOfRange { dim: 2, index: 6, extent: 4 })),
        "{error}"
    );
    x.select_mut((1, .., 0))?.fill(-1)?;
    assert_eq!(x.select((1, .., ..1))?.to_vec()?, [-1, -1, -1]);
    let (mut head, tail) = x.split_at_mut(1)?;
    head.copy_from(&tail)?;
    assert_eq!(x.get([0, 1, 1])?, 17);
    assert_eq!(x.permuted([2, 0, 1])?.shape(), [4, 2, 3]);
    assert_eq!(x.flatten()?.len(), 24);
    assert_eq!(Array::from_slice(&[5, 6])?.expand([3, 2])?.to_vec()?, [5, 6, 5, 6, 5, 6]);
    assert_eq!(Array::from_slice(&[1.0f32])?.view_as::<u32>()?.to_vec()?, [1.0f32.to_bits()]);
    Ok(())
}

#[cfg(feature = "ndarray")]
mod ndarray {
    use ::ndarray::{Array2, ArrayView2, Axis, arr2, s};

    use super::*;

    #[test]
    fn arrays_go_and_come_back() -> Result<()> {
        let theirs = arr2(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        assert_eq!(Array::from_ndarray(&theirs)?.to_ndarray()?, theirs);
        let part = theirs.slice(s![.., ..;-2]);
        let ours = Array::from_ndarray(&part)?;
        assert_eq!((ours.shape(), ours.to_vec()?), ([2, 2], vec![3.0, 1.0, 6.0, 4.0]));
        assert_eq!(Array::from_ndarray(&theirs.t())?.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        Ok(())
    }

    #[test]
    fn memory_is_taken_over_and_viewed() -> Result<()> {
        let theirs = Array2::from_shape_fn((2, 3), |(r, c)| (3 * r + c) as f32);
        let address = theirs.as_ptr().addr() as u64;
        let mut ours = Array::try_from(theirs)?;
        assert_eq!(ours.runtime().address(), address);
        add_one.launch(6, (&mut *ours.flatten_mut()?,))?;
        ours.ndarray_mut()?.view_mut().index_axis_mut(Axis(1), 2).fill(0.0);
        assert_eq!(ours.ndarray()?.view(), arr2(&[[1.0, 2.0, 0.0], [4.0, 5.0, 0.0]]));
        // Columns first, a part whose first elements are cut off, a single one repeated.
        let columns = Array::try_from(arr2(&[[1, 2], [3, 4]]).reversed_axes())?;
        assert_eq!(columns.to_vec()?, [1, 3, 2, 4]);
        let part = arr2(&[[1, 2], [3, 4]]).slice_move(s![1.., ..]);
        assert_eq!(Array::try_from(part)?.to_vec()?, [3, 4]);
        let one = Array::from_slice(&[7])?;
        assert_eq!(one.expand([2, 2])?.ndarray()?.view(), arr2(&[[7, 7], [7, 7]]));
        Ok(())
    }

    #[test]
    fn views_have_the_strides_of_the_array() -> Result<()> {
        let mut x = Array::from_shape([3, 4], &(0..12).collect::<Vec<i32>>())?;
        let expected = Array2::from_shape_vec((3, 4), (0..12).collect()).unwrap();
        let backwards = Slice { step: -2, ..Slice::ALL };
        {
            let part = x.select((backwards, 1..3))?;
            let host = part.ndarray()?;
            let view: ArrayView2<'_, i32> = host.view();
            assert_eq!(view, expected.slice(s![..;-2, 1..3]));
            assert_eq!(x.transposed()?.ndarray()?.view(), expected.t());
        }
        let mut part = x.select_mut((backwards, 1..3))?;
        part.ndarray_mut()?.view_mut()[[0, 0]] = 100;
        assert_eq!(x.get([2, 1])?, 100);
        let mut column = Array::from_slice(&[1])?;
        let repeated = Array::<i32, 2>::from_runtime(column.runtime().expand(&[2, 1]).unwrap());
        let error = repeated?.ndarray_mut().unwrap_err();
        assert!(error.to_string().contains("lie apart"), "{error}");
        column.set([0], 2)
    }
}

#[cfg(feature = "glam")]
#[inkle::kernel]
fn turn(points: &mut Array<Vec3>, by: Quat) {
    let i = tid();
    points[i] = quat_rotate(by, points[i]);
}

#[cfg(feature = "glam")]
#[test]
fn kernels_turn_as_glam_does() -> Result<()> {
    let by = glam::Quat::from_euler(glam::EulerRot::XYZ, 0.3, -1.0, 0.5);
    let theirs = [glam::Vec3::new(1.0, 2.0, 3.0), glam::Vec3::X];
    let mut points = Array::from_slice(&theirs.map(Vec3::from))?;
    turn.launch(2, (&mut points, by.into()))?;
    for (ours, theirs) in points.host()?.iter().zip(theirs) {
        assert!((glam::Vec3::from(*ours) - by * theirs).length() < 1e-5);
    }
    Ok(())
}

#[cfg(feature = "nalgebra")]
#[test]
fn points_of_nalgebra_go_and_come_back() -> Result<()> {
    let theirs = [nalgebra::Point3::new(1.0, 2.0, 3.0), nalgebra::Point3::origin()];
    let points = Array::from_slice(&theirs.map(inkle::Vec3d::from))?;
    assert_eq!(points.to_vec()?.into_iter().map(nalgebra::Point3::from).collect::<Vec<_>>(), theirs);
    Ok(())
}
