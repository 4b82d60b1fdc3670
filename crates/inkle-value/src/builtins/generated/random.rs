//! Made from the registry by the test `builtins` of the crate `inkle`: random.

use super::*;

builtin! {
    /// Smooth noise without divergence in the plane: the flow around the hills of `noise`.
    ///
    /// It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    /// as much.
    curlnoise = "curlnoise" (state: A_, xy: B_);
    [] (u32, Vector<2, f32>) -> Vector<2, f32>;
    [] (u32, Vector<3, f32>) -> Vector<3, f32>;
    [] (u32, Vector<4, f32>) -> Vector<3, f32>;
}

builtin! {
    /// Smooth noise without divergence in the plane: the flow around the hills of `noise`.
    ///
    /// It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    /// as much.
    curlnoise_octaves = "curlnoise" (state: A_, xy: B_, octaves: C_);
    [] (u32, Vector<2, f32>, u32) -> Vector<2, f32>;
    [] (u32, Vector<3, f32>, u32) -> Vector<3, f32>;
    [] (u32, Vector<4, f32>, u32) -> Vector<3, f32>;
}

builtin! {
    /// Smooth noise without divergence in the plane: the flow around the hills of `noise`.
    ///
    /// It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    /// as much.
    curlnoise_octaves_lacunarity = "curlnoise" (state: A_, xy: B_, octaves: C_, lacunarity: D_);
    [] (u32, Vector<2, f32>, u32, f32) -> Vector<2, f32>;
    [] (u32, Vector<3, f32>, u32, f32) -> Vector<3, f32>;
    [] (u32, Vector<4, f32>, u32, f32) -> Vector<3, f32>;
}

builtin! {
    /// Smooth noise without divergence in the plane: the flow around the hills of `noise`.
    ///
    /// It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    /// as much.
    curlnoise_octaves_lacunarity_gain = "curlnoise" (state: A_, xy: B_, octaves: C_, lacunarity: D_, gain: E_);
    [] (u32, Vector<2, f32>, u32, f32, f32) -> Vector<2, f32>;
    [] (u32, Vector<3, f32>, u32, f32, f32) -> Vector<3, f32>;
    [] (u32, Vector<4, f32>, u32, f32, f32) -> Vector<3, f32>;
}

builtin! {
    /// Smooth noise along a line, of mean zero, that is zero at whole numbers.
    ///
    /// `state` chooses the noise, the same for all points; see `rand_init`. It is not advanced.
    noise = "noise" (state: A_, x: B_);
    [] (u32, f32) -> f32;
    [] (u32, Vector<2, f32>) -> f32;
    [] (u32, Vector<3, f32>) -> f32;
    [] (u32, Vector<4, f32>) -> f32;
}

builtin! {
    /// Like `noise`, repeated with period `px`, for coordinates that are not negative.
    pnoise = "pnoise" (state: A_, x: B_, px: C_);
    [] (u32, f32, i32) -> f32;
}

builtin! {
    /// Like `noise`, repeated with period `px`, for coordinates that are not negative.
    pnoise_xy_py = "pnoise" (state: A_, xy: B_, px: C_, py: D_);
    [] (u32, Vector<2, f32>, i32, i32) -> f32;
}

builtin! {
    /// Like `noise`, repeated with period `px`, for coordinates that are not negative.
    pnoise_xyz_py_pz = "pnoise" (state: A_, xyz: B_, px: C_, py: D_, pz: E_);
    [] (u32, Vector<3, f32>, i32, i32, i32) -> f32;
}

builtin! {
    /// Like `noise`, repeated with period `px`, for coordinates that are not negative.
    pnoise_xyzt_py_pz_pt = "pnoise" (state: A_, xyzt: B_, px: C_, py: D_, pz: E_, pt: F_);
    [] (u32, Vector<4, f32>, i32, i32, i32, i32) -> f32;
}

builtin! {
    /// A count of the Poisson distribution of mean `lam`; advances `state` as often as needed.
    poisson = "poisson" (state: &mut A_, lam: B_);
    [] (u32, f32) -> u32;
}

builtin! {
    /// The state of a sequence of random numbers.
    rand_init = "rand_init" (seed: A_);
    [] (i32) -> u32;
}

builtin! {
    /// The state of a sequence of random numbers.
    rand_init_offset = "rand_init" (seed: A_, offset: B_);
    [] (i32, i32) -> u32;
}

builtin! {
    /// A number from 0 to before 1, a multiple of 2**-24; advances `state`.
    randf = "randf" (state: &mut A_);
    [] (u32) -> f32;
}

builtin! {
    /// A number from 0 to before 1, a multiple of 2**-24; advances `state`.
    randf_low_high = "randf" (state: &mut A_, low: B_, high: C_);
    [] (u32, f32, f32) -> f32;
}

builtin! {
    /// A whole number, all of `int32` equally likely; advances `state`.
    randi = "randi" (state: &mut A_);
    [] (u32) -> i32;
}

builtin! {
    /// A whole number, all of `int32` equally likely; advances `state`.
    randi_low_high = "randi" (state: &mut A_, low: B_, high: C_);
    [] (u32, i32, i32) -> i32;
}

builtin! {
    /// A number of the normal distribution of mean 0 and variance 1; advances `state` twice.
    randn = "randn" (state: &mut A_);
    [] (u32) -> f32;
}

builtin! {
    /// A whole number, all of `uint32` equally likely; advances `state`.
    randu = "randu" (state: &mut A_);
    [] (u32) -> u32;
}

builtin! {
    /// A whole number, all of `uint32` equally likely; advances `state`.
    randu_low_high = "randu" (state: &mut A_, low: B_, high: C_);
    [] (u32, u32, u32) -> u32;
}

builtin! {
    /// Two barycentric coordinates of a point drawn evenly from a triangle; advances `state` twice.
    sample_triangle = "sample_triangle" (state: &mut A_);
    [] (u32) -> Vector<2, f32>;
}

builtin! {
    /// A point drawn evenly from the cube of side 1 around the origin; advances `state` three times.
    sample_unit_cube = "sample_unit_cube" (state: &mut A_);
    [] (u32) -> Vector<3, f32>;
}

builtin! {
    /// A point drawn evenly from the disk of radius 1; advances `state` twice.
    sample_unit_disk = "sample_unit_disk" (state: &mut A_);
    [] (u32) -> Vector<2, f32>;
}

builtin! {
    /// A point drawn evenly from the half ball of radius 1 above z = 0; advances `state` three times.
    sample_unit_hemisphere = "sample_unit_hemisphere" (state: &mut A_);
    [] (u32) -> Vector<3, f32>;
}

builtin! {
    /// A unit vector with z not negative, all directions equally likely; advances `state` twice.
    sample_unit_hemisphere_surface = "sample_unit_hemisphere_surface" (state: &mut A_);
    [] (u32) -> Vector<3, f32>;
}

builtin! {
    /// A point drawn evenly from the circle of radius 1; advances `state`.
    sample_unit_ring = "sample_unit_ring" (state: &mut A_);
    [] (u32) -> Vector<2, f32>;
}

builtin! {
    /// A point drawn evenly from the ball of radius 1; advances `state` three times.
    sample_unit_sphere = "sample_unit_sphere" (state: &mut A_);
    [] (u32) -> Vector<3, f32>;
}

builtin! {
    /// A unit vector, all directions equally likely; advances `state` twice.
    sample_unit_sphere_surface = "sample_unit_sphere_surface" (state: &mut A_);
    [] (u32) -> Vector<3, f32>;
}

builtin! {
    /// A point drawn evenly from the square of side 1 around the origin; advances `state` twice.
    sample_unit_square = "sample_unit_square" (state: &mut A_);
    [] (u32) -> Vector<2, f32>;
}
