//! Extents of launches and shapes of arrays.

use inkle_ir::MAX_DIMS;

/// The extents of a launch: a number, or up to four in a tuple or array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the extents of a launch",
    label = "a launch has one to four extents: `n`, `(rows, columns)` or `[a, b, c, d]`"
)]
pub trait Dim {
    /// The extents, ones after the last.
    fn extents(self) -> [i64; MAX_DIMS];
}

macro_rules! numbers {
    ($($ty:ident),*) => { $(
        impl Dim for $ty {
            #[inline]
            fn extents(self) -> [i64; MAX_DIMS] {
                [i64::try_from(self).unwrap_or(i64::MAX), 1, 1, 1]
            }
        }

        impl Dim for ($ty, $ty) {
            #[inline]
            fn extents(self) -> [i64; MAX_DIMS] {
                [self.0.extents()[0], self.1.extents()[0], 1, 1]
            }
        }

        impl Dim for ($ty, $ty, $ty) {
            #[inline]
            fn extents(self) -> [i64; MAX_DIMS] {
                [self.0.extents()[0], self.1.extents()[0], self.2.extents()[0], 1]
            }
        }

        impl Dim for ($ty, $ty, $ty, $ty) {
            #[inline]
            fn extents(self) -> [i64; MAX_DIMS] {
                [self.0.extents()[0], self.1.extents()[0], self.2.extents()[0], self.3.extents()[0]]
            }
        }

        impl<const D: usize> Dim for [$ty; D] {
            #[inline]
            fn extents(self) -> [i64; MAX_DIMS] {
                const { assert!(D >= 1 && D <= MAX_DIMS, "a launch has one to four extents") };
                let mut extents = [1; MAX_DIMS];
                for (extent, given) in extents.iter_mut().zip(self) {
                    *extent = given.extents()[0];
                }
                extents
            }
        }
    )* };
}

numbers!(i32, i64, u32, u64, usize);

/// The shape of an array of `D` dimensions: for one a number will do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shape of an array with {D} dimensions",
    label = "an array of {D} dimensions has as many extents, such as `[rows, columns]`"
)]
pub trait Shape<const D: usize> {
    /// The extents.
    fn shape(self) -> [usize; D];
}

impl Shape<1> for usize {
    fn shape(self) -> [usize; 1] {
        [self]
    }
}

impl<const D: usize> Shape<D> for [usize; D] {
    fn shape(self) -> [usize; D] {
        self
    }
}
