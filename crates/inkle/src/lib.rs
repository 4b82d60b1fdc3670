//! Kernels written in Rust: compiled when they are launched, run on CPUs and NVIDIA GPUs, differentiated, captured.
//!
//! A kernel is a function that runs once for every index of a launch, on all cores of the CPU or on an NVIDIA GPU. It is
//! compiled when it is launched first, in milliseconds, and kept in a cache on disk.
//!
//! ```
//! use inkle::prelude::*;
//!
//! #[inkle::kernel]
//! fn saxpy(x: &Array<f32>, y: &mut Array<f32>, a: f32) {
//!     let i = tid();
//!     y[i] = a * x[i] + y[i];
//! }
//!
//! let x = Array::from_slice(&[1.0f32, 2.0, 3.0])?;
//! let mut y = Array::full(3, 10.0f32)?;
//! saxpy.launch(3, (&x, &mut y, 2.0))?;
//! assert_eq!(y.to_vec()?, [12.0, 14.0, 16.0]);
//! # Ok::<(), inkle::Error>(())
//! ```
//!
//! # A tour
//!
//! **The body is Rust and means what it means in Rust.** rustc checks it where it stands: names, types, mutability and borrows.
//! [`kernel`](macro@kernel) says what it can have; [`builtins`] are the functions it can call, besides your own with
//! [`#[inkle::func]`](macro@func). Structs become values of kernels by [`#[derive(inkle::Struct)]`](macro@Struct); vectors,
//! matrices, quaternions and transforms are there ([`Vec3`], [`Mat33`], [`Quat`], [`Transformf`]).
//!
//! **A launch is typed.** The arguments of `launch` are a tuple with the parameters' types, so a wrong count, type, dimension
//! or mutability does not compile, and neither does one array passed twice, once to be written. A launch that is repeated is
//! [prepared](Prepared) once; many launches, copies and sorts are captured in a [`Graph`] and run as one.
//!
//! ```
//! # use inkle::prelude::*;
//! # #[inkle::kernel]
//! # fn saxpy(x: &Array<f32>, y: &mut Array<f32>, a: f32) {
//! #     let i = tid();
//! #     y[i] = a * x[i] + y[i];
//! # }
//! # let (x, mut y) = (Array::from_slice(&[1.0f32])?, Array::full(1, 10.0f32)?);
//! let step = saxpy.prepare(1, (&x, &mut y, 2.0))?;
//! for _ in 0..3 {
//!     step.run()?;
//! }
//! drop(step);
//! let graph = Graph::capture(Device::cpu(), || {
//!     saxpy.launch(1, (&x, &mut y, 1.0))?;
//!     saxpy.launch(1, (&x, &mut y, -3.0))
//! })?;
//! graph.launch()?;
//! assert_eq!(y.to_vec()?, [14.0]);
//! # Ok::<(), inkle::Error>(())
//! ```
//!
//! **Arrays are on a [`Device`].** An [`Array<T, D>`](Array) has one to four dimensions; [views](ArrayView) of it are parts,
//! transposes and other shapes. [`Array::from_vec`] takes over a vector, [`Array::host`] gives the elements of a CPU array as a
//! slice, both without a copy. Work on a GPU is ordered by [streams](Stream); [`with_device`] and [`with_stream`] choose for a
//! piece of program.
//!
//! **Gradients** of what kernels compute come from a [`Tape`]; [`optim`] steps down them, [`autograd`] checks them.
//!
//! ```
//! # use inkle::prelude::*;
//! #[inkle::kernel]
//! fn energy(x: &Array<f32>, e: &mut Array<f32>) {
//!     let i = tid();
//!     atomic_add(e, 0, 0.5 * x[i] * x[i]);
//! }
//!
//! let x = Array::from_slice(&[3.0f32, -4.0])?.with_grad()?;
//! let mut e = Array::<f32>::zeros(1)?.with_grad()?;
//! let tape = Tape::record(|| energy.launch(2, (&x, &mut e)))?;
//! tape.backward_from(&mut e)?;
//! assert_eq!((e.to_vec()?, x.grad().unwrap().to_vec()?), (vec![12.5], vec![3.0, -4.0]));
//! # Ok::<(), inkle::Error>(())
//! ```
//!
//! **Graphs travel.** [`Graph::save`] writes one into a file with code for the CPUs and GPUs it may run on;
//! [`Graph::load`] runs files that came from Rust or from Python.
//!
//! **Mistakes that only the launch can see**, such as functions that call each other for ever, are an [`Error`]. A `main` that
//! returns a [`Report`] shows them with the lines of the source. An index out of bounds stops a kernel with
//! [checks](macro@kernel#options), which are on where debug assertions are, and is not looked at without them.
//!
//! **A function of one line** over arrays is a [`map!`].
//!
//! **Who knows inkle from Python** finds each of its names in [`from_python`].
//!
//! **Around the kernels**: algorithms over whole arrays are in [`utils`], the cache of compiled kernels in [`cache`]. The `tracing`
//! target `inkle` has a span for each step of compilation, at level debug, and for each launch, at level trace.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `ndarray` | arrays from and to those of `ndarray`, and as its views: [`Array`]`::from_ndarray`, `ndarray`, `TryFrom` |
//! | `glam`, `nalgebra` | `From` between vectors, matrices, quaternions, transforms and those of these crates |
//! | `miette` | [`Report`] as a `miette::Diagnostic`, and `?` from [`Error`] to `miette::Report` |
//! | `dynamic-llvm` | the shared library of LLVM; on by default, and quick to build |
//! | `static-llvm` | LLVM within the program, for programs that are given to others; with `default-features = false` |
//!
//! `half`'s types are the scalars [`f16`](struct@f16) and [`bf16`], and all values of kernels but `bool` are `bytemuck::Pod`.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

// The macros name this crate by its name, in its own tests and documentation too.
extern crate self as inkle;

mod array;
pub mod autograd;
pub mod builtins;
#[cfg(feature = "llvm")]
pub mod cache;
mod dim;
mod error;
#[doc = include_str!("from_python.md")]
pub mod from_python {}
mod graph;
mod kernel;
mod log;
pub mod optim;
mod report;
mod scope;
mod tape;
pub mod utils;

pub use array::{
    Array, ArrayView, ArrayViewMut, Host, HostMut, IndexLists, IndexedArray, IndexedView, IndexedViewMut,
    Select, Slice, Span,
};
#[cfg(feature = "ndarray")]
pub use array::{NdHost, NdHostMut};
pub use dim::{Dim, Shape};
pub use error::{Error, Result};
pub use graph::{Graph, Saving, capture_if, capture_paused, capture_while, is_capturing};
pub use inkle_graph::GraphError;
pub use inkle_graph::bundle::{Param, PublicKey, SecretKey};
pub use inkle_ir::Access;
/// Lets kernels use a struct with named fields, or an enumeration of variants without fields.
///
/// A struct of values is a [`Value`]: it can be passed to kernels and functions and be an element of an array. It has to be
/// `Copy`. A struct with a lifetime can hold arrays too, as `&'a Array<T>` and `&'a mut Array<T>`, and is passed to kernels
/// only. An enumeration is a number in kernels: the one of its `repr`, else an `i32`.
///
/// ```
/// use inkle::prelude::*;
///
/// #[derive(Clone, Copy, inkle::Struct)]
/// struct Ball {
///     position: Vec3,
///     radius: f32,
/// }
///
/// #[inkle::kernel]
/// fn grow(balls: &mut Array<Ball>, by: f32) {
///     balls[tid()].radius += by;
/// }
///
/// let mut balls = Array::from_slice(&[Ball { position: Vec3::zero(), radius: 1.0 }])?;
/// grow.launch(1, (&mut balls, 0.5))?;
/// assert_eq!(balls.to_vec()?[0].radius, 1.5);
/// # Ok::<(), inkle::Error>(())
/// ```
pub use inkle_macros::Struct;
/// Makes a function that kernels, and other such functions, can call.
///
/// It takes values, arrays by reference, and `&mut` of a variable, an element or a field, which it changes. It gives a value, a
/// tuple of values, or nothing. It can be generic, as [kernels](macro@kernel) can, over what its parameters tell.
///
/// A call of a function without the attribute is reported as `expected type, found function`.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::func]
/// fn wrap<T: Number>(x: T, length: T, turns: &mut i32) -> T {
///     if x >= length {
///         *turns += 1;
///         return x - length;
///     }
///     x
/// }
///
/// #[inkle::kernel]
/// fn advance(x: &mut Array<f32>, turns: &mut Array<i32>) {
///     let i = tid();
///     x[i] = wrap(x[i] + 0.75, 1.0, &mut turns[i]);
/// }
///
/// let (mut x, mut turns) = (Array::from_slice(&[0.5f32])?, Array::zeros(1)?);
/// advance.launch(1, (&mut x, &mut turns))?;
/// assert_eq!((x.to_vec()?, turns.to_vec()?), (vec![0.25], vec![1]));
///
/// // The host can call it too.
/// let mut turns = 0;
/// assert_eq!((wrap(7.5, 6.0, &mut turns), turns), (1.5, 1));
/// # Ok::<(), inkle::Error>(())
/// ```
///
/// # On the host
///
/// It is a function of Rust like any other there, compiled by rustc: methods of numbers (`x.sqrt()`), operators, components of
/// vectors and matrices, loops, `assert!` and `println!` do what they do in any program, and [built-ins](builtins) compute what they
/// compute in kernels. Three things differ. Elements of arrays are for kernels only, and a function that uses one panics when the
/// host calls it, as one with `tid` or an atomic update does. Sums of integers that overflow wrap in kernels and panic where overflow
/// checks are. Kernels may fuse a product and a sum, so that floats can differ in their last bit.
///
/// # Gradients
///
/// `#[inkle::func(gradient = path)]` names the function that a backward pass calls for the gradients of this one's parameters, in
/// place of what follows from the body. It takes the parameters; then the gradient of each result; then, for each parameter, a
/// `&mut` to what it adds the parameter's gradient to, of an array the array of gradients.
///
/// `#[inkle::func(replay = path)]` names a function of the same parameters and results that a backward pass calls in place of this
/// one when it needs the results again: for functions that change something, and must not do so a second time.
///
/// ```
/// use inkle::prelude::*;
///
/// /// The derivative of the root is infinite at zero; here it is at most 100.
/// #[inkle::func(gradient = root_gradient)]
/// fn root(x: f32) -> f32 {
///     x.sqrt()
/// }
///
/// #[inkle::func]
/// fn root_gradient(x: f32, of_root: f32, of_x: &mut f32) {
///     *of_x += of_root * (0.5 / x.sqrt()).min(100.0);
/// }
///
/// #[inkle::kernel]
/// fn roots(x: &Array<f32>, y: &mut Array<f32>) {
///     let i = tid();
///     y[i] = root(x[i]);
/// }
///
/// let x = Array::from_slice(&[0.0f32, 4.0])?.with_grad()?;
/// let mut y = Array::<f32>::zeros(2)?.with_grad()?;
/// let tape = Tape::record(|| roots.launch(2, (&x, &mut y)))?;
/// y.grad_mut().unwrap().fill(1.0)?;
/// tape.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec()?, [100.0, 0.25]);
/// # Ok::<(), inkle::Error>(())
/// ```
pub use inkle_macros::func;
/// Makes a kernel of a function: a unit struct of its name with these methods, where `args` is a tuple with one argument for
/// each parameter.
///
/// | method | does |
/// |---|---|
/// | `launch(dim, args)` | runs it on every index of `dim`, on the device of its arrays |
/// | `launch_with(&options, dim, args)` | the same with [`LaunchOptions`]: a stream, the shape of the grid |
/// | `prepare(dim, args)` | gives a [`Prepared`] launch, which runs again and again |
/// | `load(device)` | compiles it, or finds it in the cache, so that the first launch need not |
/// | `ir()` | gives its typed, simplified form as text |
///
/// # Parameters
///
/// Values ([`Value`]), `&Array<T, D>` and `&mut Array<T, D>`, and structs with
/// [`#[derive(inkle::Struct)]`](macro@Struct). Kernels can be generic over types bounded by [`Scalar`], [`Number`],
/// [`Float`] or [`Int`], and over `const N: usize`. A number of such a type is written `T::ONE` or `T::from_f64(0.5)`, a vector of them
/// `Vector::<N, T>::splat(x)`.
///
/// # The body
///
/// It is Rust and means what it means in Rust: `let` with shadowing, `if`, `match`, `loop`, `while`, `for` over ranges
/// (with `step_by` and `rev`) and over `[f32; 3]` and the like, labels, `break` with values, `return`, structs, tuples and arrays. Integers wrap. Elements are
/// `x[i]` and `x[(i, j)]`, with indices that are `i32` or `usize`. It calls the functions of [`builtins`], functions
/// with [`#[inkle::func]`](macro@func) and methods of numbers (`sqrt`, `clamp`, `powi`, `sin_cos`, `to_bits` ...). `as` gives the number
/// nearest to a float, as it does in Rust. `assert!`, `assert_eq!` and `println!` work, the latter with `{}` and `{:.3}`, where vectors show
/// as their numbers.
/// A `let` can name a place, `let body = &mut bodies[i];`, which is then written through the name. Closures, `?` and calls of other
/// functions are refused by rustc, at their place.
///
/// # Its name
///
/// The kernel is a value, as a constant is. So in its module, and where it is imported, no variable or parameter can have its name; rustc
/// says of one that does that it cannot shadow a unit struct. Names that are verbs (`integrate`, `apply_forces`) do not get in the way.
///
/// # Options
///
/// `#[inkle::kernel(checks = true, block_dim = 128)]`:
///
/// - `checks`: stops the kernel with an error at an index out of bounds and at a failed `assert!`. On where debug assertions
///   are. *Without it nothing looks at indices:* one that is out of bounds reads or writes other memory.
/// - `verify_fp`: floats that the kernel writes and that are not finite are printed, with `checks` an error, off.
/// - `fast_math`, `fuse_fp`: approximate arithmetic, off; multiplications and additions in one operation, on.
/// - `precise_math`: on the CPU `sin`, `exp` and the like of `f32` are as good as rounded results of `f64` are, off.
/// - `deterministic`: on the CPU the order of atomic updates is that of the threads, whatever the machine, off.
/// - `max_unroll`: loops over constant ranges of at most this many turns are unrolled, 16.
/// - `optimization_level`: 0 to 3. `lineinfo`: source lines for profilers.
/// - `block_dim`, `max_registers`: threads per block on a GPU, 256; the most registers per thread, 0 for no limit.
/// - `launch_bounds`: the most threads per block that a launch on a GPU will have, `launch_bounds = 128`, or also how many blocks a
///   multiprocessor is to hold at once, `launch_bounds = (128, 4)`: how many registers a thread may have follows from it.
/// - `enable_backward`: whether a [`Tape`] may run it backwards, on.
///
/// [`#[inkle::options(..)]`](macro@options) before a module chooses for all kernels in it, [`set_defaults`] for all of a program
/// that say nothing themselves.
pub use inkle_macros::kernel;
/// Chooses options for all kernels of a module, those of modules inside included: what the attribute of a kernel, or of a
/// module inside, says itself wins.
///
/// They are those of [`kernel`](macro@kernel#options). The module's body has to follow it: an attribute cannot see into a module
/// that is in another file. Kernels that macros make do not get the options.
///
/// ```
/// #[inkle::options(fast_math = true, block_dim = 128)]
/// mod kernels {
///     use inkle::prelude::*;
///
///     #[inkle::kernel]
///     pub fn wave(x: &mut Array<f32>) {
///         let i = tid();
///         x[i] = sin(x[i]);
///     }
///
///     #[inkle::kernel(fast_math = false)]
///     pub fn exact(x: &mut Array<f32>) {
///         let i = tid();
///         x[i] = sin(x[i]);
///     }
/// }
///
/// let mut x = inkle::Array::from_slice(&[0.0f32])?;
/// kernels::wave.launch(1, (&mut x,))?;
/// kernels::exact.launch(1, (&mut x,))?;
/// assert_eq!(x.to_vec()?, [0.0]);
/// # Ok::<(), inkle::Error>(())
/// ```
pub use inkle_macros::options;
pub use inkle_module::CompileError;
pub use inkle_runtime::{
    Device, Event, RuntimeError, Stream, cpu_threads, cuda_device_count, cuda_driver_version, cuda_status,
    default_device, device, devices, set_cpu_threads, set_default_device,
};
pub use inkle_value::{
    Float, Int, Mat22, Mat22d, Mat33, Mat33d, Mat44, Mat44d, Matrix, Number, Numbers, Quat, Quatd,
    Quaternion, Scalar, SpatialMatrix, SpatialVector, Transform, Transformd, Transformf, Value, Vec2, Vec2d,
    Vec2h, Vec2i, Vec2u, Vec2ub, Vec3, Vec3d, Vec3h, Vec3i, Vec3u, Vec3ub, Vec4, Vec4d, Vec4h, Vec4i, Vec4u,
    Vec4ub, Vector, bf16, f16,
};
#[cfg(feature = "llvm")]
pub use kernel::compile_ahead;
pub use kernel::{
    AnyKernel, Defaults, LaunchOptions, Prepared, add_kernels, load_kernels, set_defaults, set_verify_cuda,
};
pub use report::Report;
pub use scope::{synchronize, with_device, with_stream};
pub use tape::{AnyArray, Overwrite, Tape, TapeDrawing, on_backward, on_backward_of, tape_scope};

/// Adds the kernels that the build script compiled, so that they run without a compiler and at once; at the start of a program.
///
/// The build script does it with the crate `inkle-build`; without one this does not compile. Gives a [`Result`]:
/// [`Error::Ahead`] when the build script's inkle is another one.
///
/// ```text
/// mod kernels;
///
/// fn main() -> inkle::Result<()> {
///     inkle::include_kernels!()?;
///     // ...
/// }
/// ```
#[macro_export]
macro_rules! include_kernels {
    () => {
        $crate::add_kernels(::core::include_bytes!(::core::concat!(
            ::core::env!("OUT_DIR"),
            "/kernels.inkle"
        )))
    };
}

/// The first of two things where there is a compiler, which is what a kernel's source is for, else the second.
#[doc(hidden)]
#[cfg(feature = "llvm")]
#[macro_export]
macro_rules! __compiled_from {
    ($source:expr, $nothing:expr) => {
        $source
    };
}

/// The first of two things where there is a compiler, which is what a kernel's source is for, else the second.
#[doc(hidden)]
#[cfg(not(feature = "llvm"))]
#[macro_export]
macro_rules! __compiled_from {
    ($source:expr, $nothing:expr) => {
        $nothing
    };
}

/// What kernels and the programs around them use: `use inkle::prelude::*`.
pub mod prelude {
    pub use crate::builtins::*;
    pub use crate::{
        Array, Device, Float, Graph, IndexedArray, Int, Mat22, Mat33, Mat44, Matrix, Number, Quat,
        Quaternion, Scalar, Tape, Transform, Transformf, Value, Vec2, Vec2i, Vec3, Vec3i, Vec4, Vec4i,
        Vector,
    };
}

/// What the macros make use of; not for programs.
#[doc(hidden)]
pub mod __private {
    pub use inkle_frontend::env::ParamSpec;
    pub use inkle_frontend::pattern::{Constraint, Pattern, ScalarPattern, SizePattern};
    pub use inkle_ir::{ArrayKind, Type};
    pub use inkle_value::{Typed, ix1, ix2, ix3, ix4, only_in_kernels};

    pub use crate::kernel::{
        Argument, Callable, Definition, Family, FieldOffsets, Instance, Name, Packer, Role, Settings, Site,
        Text, any, exact, launch, launch_with, param, pass, prepare, scalar, structure,
    };
}
