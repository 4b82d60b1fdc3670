//! `print`, and the calls of functions that take what it takes.

use inkle_ir::{OpData, Scalar, ScalarKind};

use super::{Frame, Lower, Result};
use crate::emitter::V;
use crate::value::Val;

/// What `inkle_print` is told about an argument.
mod kind {
    pub const SIGNED: u8 = 0;
    pub const UNSIGNED: u8 = 1;
    pub const FLOAT: u8 = 2;
}

impl<'m> Lower<'_, 'm> {
    pub fn print(&mut self, frame: &Frame<'m>, format: &str, data: &OpData) -> Result<()> {
        let mut scalars = Vec::new();
        let mut vals = Vec::new();
        for &operand in &data.operands {
            for (&(part, _), &v) in
                crate::value::parts(frame.function.ty(operand)).iter().zip(frame.get(operand)?)
            {
                scalars.push(match part {
                    crate::value::Part::Scalar(s) => s,
                    crate::value::Part::Pointer => Scalar::U64,
                });
                vals.push(v);
            }
        }
        if self.lanes == 1 {
            let values = vals.iter().map(|&v| self.uniform(v)).collect::<Result<Vec<_>>>()?;
            self.call_print("inkle_print", format, &scalars, &values);
            return Ok(());
        }
        self.note_lane_by_lane("something is printed");
        // All values go through one loop over the lanes, so that a lane's values are printed together.
        let wide: Vec<V> = vals.iter().map(|&v| self.wide(v)).collect();
        let ids = self.ramp(self.e.int(32), 1);
        self.per_lane([Val::Varying(ids)], |l, [lane]| {
            let values: Vec<V> = wide.iter().map(|&v| l.e.extract_element(v, lane)).collect();
            l.call_print("inkle_print", format, &scalars, &values);
            Ok(lane)
        })?;
        Ok(())
    }

    /// A value as 64 bits, and what they are.
    fn print_argument(&mut self, scalar: Scalar, v: V) -> (V, u8) {
        let wide = self.e.int(64);
        let is_pointer = self.e.type_of(v) == self.pointer_type();
        if is_pointer {
            return (self.e.ptr_to_int(v, wide), kind::UNSIGNED);
        }
        match scalar.kind() {
            ScalarKind::Float => {
                let single = self.half_to_f32(v, scalar);
                let double = self.e.fp_ext(single, self.e.double());
                (self.e.bitcast(double, wide), kind::FLOAT)
            }
            ScalarKind::Signed => (self.e.sext(v, wide), kind::SIGNED),
            ScalarKind::Unsigned | ScalarKind::Bool => (self.e.zext(v, wide), kind::UNSIGNED),
        }
    }

    /// Calls `function`, a `void f(const char* format, const uint64_t* args, uint32_t n_args, const uint8_t* kinds)`.
    pub fn call_print(&mut self, function: &str, format: &str, scalars: &[Scalar], values: &[V]) {
        let arguments: Vec<(V, u8)> =
            scalars.iter().zip(values).map(|(&s, &v)| self.print_argument(s, v)).collect();
        let (wide, byte, int) = (self.e.int(64), self.e.int(8), self.e.int(32));
        let generic = self.e.ptr(0);
        let count = arguments.len();
        let slot = self.e.alloca(self.e.array(wide, count.max(1) as u64));
        for (i, &(v, _)) in arguments.iter().enumerate() {
            let at = self.e.gep(wide, slot, self.e.i64(i as i64));
            self.e.store(v, at, 8);
        }
        if self.machine.gpu && function == "inkle_print" {
            // vprintf takes what C's calling convention would pass; every argument here has 64 bits, and the
            // conversions are told so.
            let text = self.e.c_string(&widen_conversions(format));
            let vprintf = self.e.declare("vprintf", self.e.function_type(int, &[generic, generic]));
            self.e.call(vprintf, &[text, slot]);
            return;
        }
        let format = if self.machine.gpu { &widen_conversions(format) } else { format };
        let text = self.e.c_string(format);
        let kinds: Vec<V> = arguments.iter().map(|&(_, k)| self.e.const_int(byte, k.into())).collect();
        let kinds = if kinds.is_empty() {
            self.e.null(generic)
        } else {
            let init = self.e.const_array(byte, &kinds);
            self.e.constant_global(init, 1)
        };
        let ty = self.e.function_type(self.e.void(), &[generic, generic, int, generic]);
        let print = self.e.declare(function, ty);
        self.e.call(print, &[text, slot, self.e.i32(count as i32), kinds]);
    }
}

/// Gives every integer conversion of a printf format the length of 64 bits.
fn widen_conversions(format: &str) -> String {
    let mut out = String::with_capacity(format.len() + 8);
    let mut rest = format.chars().peekable();
    while let Some(c) = rest.next() {
        out.push(c);
        if c != '%' {
            continue;
        }
        if rest.peek() == Some(&'%') {
            out.extend(rest.next());
            continue;
        }
        while let Some(&c) = rest.peek() {
            rest.next();
            match c {
                'h' | 'l' | 'j' | 'z' | 't' | 'L' | 'q' => {}
                'd' | 'i' | 'u' | 'x' | 'X' | 'o' => {
                    out.push_str("ll");
                    out.push(c);
                    break;
                }
                c => {
                    out.push(c);
                    if c.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::widen_conversions;

    #[test]
    fn integer_conversions_become_64_bits_wide() {
        assert_eq!(widen_conversions("%d %5u %-3hx %lld %%d %g\n"), "%lld %5llu %-3llx %lld %%d %g\n");
        assert_eq!(widen_conversions("100%"), "100%");
    }
}
