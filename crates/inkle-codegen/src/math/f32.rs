//! Math functions of f32 as inline code for the CPU, the same bits at every lane width.

use crate::emitter::V;
use crate::lower::Lower;

impl Lower<'_, '_> {
    /// Inline code for a function, where there is some.
    pub(super) fn f32_inline(&mut self, _name: &str, _args: &[V]) -> Option<V> {
        None
    }
}
