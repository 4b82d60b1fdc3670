//! Options of all kernels of a program that choose none themselves.

use std::sync::{PoisonError, RwLock};

use super::instance::Settings;

macro_rules! defaults {
    ($($(#[$doc:meta])* $name:ident: $ty:ty;)*) => {
        /// Options for [`set_defaults`]. What each does is said at [`kernel`](macro@crate::kernel#options).
        #[derive(Clone, Debug, Default)]
        pub struct Defaults {
            $($name: Option<$ty>,)*
        }

        impl Defaults {
            /// None is chosen.
            pub const fn new() -> Defaults {
                Defaults { $($name: None,)* }
            }

            $(
                $(#[$doc])*
                pub const fn $name(mut self, value: $ty) -> Defaults {
                    self.$name = Some(value);
                    self
                }
            )*

            fn choose(&self, settings: &mut Settings) {
                $(
                    if let Some(value) = self.$name {
                        settings.$name = value;
                    }
                )*
            }
        }
    };
}

defaults! {
    /// Whether an index out of bounds, or a failed `assert!`, stops a kernel with an error.
    checks: bool;
    /// Whether floats that kernels write and that are not finite are reported.
    verify_fp: bool;
    /// Whether arithmetic may be approximate.
    fast_math: bool;
    /// Whether a product and a sum may be one operation.
    fuse_fp: bool;
    /// Whether functions of `f32` are rounded once on the CPU.
    precise_math: bool;
    /// Whether results on the CPU do not depend on the order of atomic updates.
    deterministic: bool;
    /// The most turns of loops that are unrolled.
    max_unroll: u32;
    /// 0 to 3; what is larger is 3.
    optimization_level: u8;
    /// Whether code has source lines for profilers.
    lineinfo: bool;
    /// Threads per block on a GPU.
    block_dim: u32;
    /// The most registers per thread on a GPU; zero for no limit.
    max_registers: u32;
    /// Whether tapes may run kernels backwards.
    enable_backward: bool;
}

static DEFAULTS: RwLock<Defaults> = RwLock::new(Defaults::new());

/// Chooses options for all kernels of the program: what the attribute of a kernel or of a module says wins. Call it first: a
/// kernel keeps the options that it was first used with.
///
/// Build scripts that compile kernels call it too, with the same options; code that was compiled with others is not used.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::kernel]
/// fn third(x: &mut Array<f32>) {
///     x[3] = 1.0;
/// }
///
/// inkle::set_defaults(inkle::Defaults::new().checks(true));
/// let mut x = Array::<f32>::zeros(2)?;
/// assert!(third.launch(1, (&mut x,)).is_err());
/// # Ok::<(), inkle::Error>(())
/// ```
pub fn set_defaults(defaults: Defaults) {
    *DEFAULTS.write().unwrap_or_else(PoisonError::into_inner) = defaults;
}

/// The settings of a kernel before its attribute changes them.
pub(super) fn choose(mut settings: Settings) -> Settings {
    DEFAULTS.read().unwrap_or_else(PoisonError::into_inner).choose(&mut settings);
    settings
}
