//! Copies and fills of GPU arrays that are not one run of bytes.
//!
//! The kernels are PTX written here, so that this works without the compiler: one text, made for the width of
//! the accesses, in which every thread moves one aligned unit of 1 to 16 bytes. Where a unit lies follows from
//! the thread's number by division by the extents; extents and strides are parameters.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use inkle_ir::MAX_DIMS;

use super::plan::Plan;
use crate::device::Device;
use crate::error::RuntimeError;
use crate::launch::{CudaFunction, CudaModule, LaunchConfig};
use crate::memory::Allocation;
use crate::stream::Stream;

/// What a launch does with each unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operation {
    /// Reads it from the source.
    Copy,
    /// Reads it from the parameter block.
    Fill,
}

/// The longest pattern that travels in the parameter block, bytes.
const PATTERN_BYTES: usize = 1024;
/// The most threads of one launch: thread numbers are 32-bit, and so is what is added to them.
const MAX_THREADS: u64 = 1 << 31;

/// The head of the parameter block of both kernels; the PTX reads these offsets.
#[repr(C)]
#[derive(Clone, Copy)]
struct Head {
    dst: u64,
    src: u64,
    /// Threads of the launch, and units of one point.
    threads: u32,
    units: u32,
    extents: [u32; MAX_DIMS],
    dst_strides: [i64; MAX_DIMS],
    src_strides: [i64; MAX_DIMS],
}

const _: () = {
    assert!(size_of::<Head>() == HEAD_BYTES);
    assert!(std::mem::offset_of!(Head, src) == 8);
    assert!(std::mem::offset_of!(Head, threads) == 16);
    assert!(std::mem::offset_of!(Head, units) == 20);
    assert!(std::mem::offset_of!(Head, extents) == 24);
    assert!(std::mem::offset_of!(Head, dst_strides) == 40);
    assert!(std::mem::offset_of!(Head, src_strides) == 72);
};

const HEAD_BYTES: usize = 104;

impl Operation {
    fn name(self) -> &'static str {
        match self {
            Operation::Copy => "inkle_strided_copy",
            Operation::Fill => "inkle_strided_fill",
        }
    }

    fn params_bytes(self) -> usize {
        match self {
            Operation::Copy => HEAD_BYTES,
            Operation::Fill => HEAD_BYTES + PATTERN_BYTES,
        }
    }

    /// The kernel for units of `unit` bytes: a power of two up to 16.
    fn ptx(self, unit: usize) -> String {
        let (ty, value) = match unit {
            1 => ("u8", "%v0"),
            2 => ("u16", "%v0"),
            4 => ("u32", "%v0"),
            8 => ("u64", "%w0"),
            _ => ("v2.u64", "{%w0, %w1}"),
        };
        let mut text = format!(
            ".version 6.4\n.target sm_75\n.address_size 64\n\
             .visible .entry {name}(.param .align 16 .b8 p[{bytes}])\n{{\n\
             .reg .pred %q; .reg .b32 %r<8>; .reg .b32 %i<4>; .reg .b32 %v<1>;\n\
             .reg .b64 %d<8>; .reg .b64 %w<2>;\n\
             mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n\
             mad.lo.u32 %r0, %r0, %r1, %r2;\n\
             ld.param.u32 %r1, [p+16]; setp.ge.u32 %q, %r0, %r1; @%q bra DONE;\n\
             ld.param.u32 %r1, [p+20]; div.u32 %r2, %r0, %r1; rem.u32 %r3, %r0, %r1;\n\
             mul.wide.u32 %d2, %r3, {unit};\n",
            name = self.name(),
            bytes = self.params_bytes(),
        );
        for d in (1..MAX_DIMS).rev() {
            let at = 24 + 4 * d;
            let _ =
                writeln!(text, "ld.param.u32 %r1, [p+{at}]; rem.u32 %i{d}, %r2, %r1; div.u32 %r2, %r2, %r1;");
        }
        text.push_str("mov.u32 %i0, %r2;\nld.param.u64 %d0, [p]; add.u64 %d0, %d0, %d2;\n");
        let offset = |text: &mut String, address: &str, strides: usize| {
            for d in 0..MAX_DIMS {
                let at = strides + 8 * d;
                let _ = writeln!(
                    text,
                    "ld.param.u64 %d3, [p+{at}]; cvt.u64.u32 %d4, %i{d}; mad.lo.s64 {address}, %d3, %d4, {address};"
                );
            }
        };
        offset(&mut text, "%d0", 40);
        text.push_str("cvta.to.global.u64 %d0, %d0;\n");
        match self {
            Operation::Copy => {
                text.push_str("ld.param.u64 %d1, [p+8]; add.u64 %d1, %d1, %d2;\n");
                offset(&mut text, "%d1", 72);
                let _ = writeln!(text, "cvta.to.global.u64 %d1, %d1;\nld.global.{ty} {value}, [%d1];");
            }
            Operation::Fill => {
                let _ = writeln!(
                    text,
                    "mov.b64 %d1, p; add.u64 %d1, %d1, %d2;\nld.param.{ty} {value}, [%d1+{HEAD_BYTES}];"
                );
            }
        }
        let _ = write!(text, "st.global.{ty} [%d0], {value};\nDONE: ret;\n}}\n");
        text
    }

    /// The kernel, loaded on the device at its first use.
    fn function(self, device: Device, unit: usize) -> Result<Arc<CudaFunction>, RuntimeError> {
        type Loaded = (Device, Operation, usize, Arc<CudaFunction>);
        static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let found = loaded.iter().find(|(d, o, u, _)| (*d, *o, *u) == (device, self, unit));
        if let Some((.., function)) = found {
            return Ok(function.clone());
        }
        let module = CudaModule::load(device, self.ptx(unit).as_bytes())?;
        let function = Arc::new(CudaFunction::new(module, self.name(), self.params_bytes())?);
        loaded.push((device, self, unit, function.clone()));
        Ok(function)
    }
}

/// The widest access that every address of the values is a multiple of.
fn unit_of(values: impl IntoIterator<Item = u64>) -> usize {
    let bits = values.into_iter().fold(16, |bits, value| bits | value);
    1 << bits.trailing_zeros()
}

/// Queues a copy of what the plan describes, on the stream's GPU.
pub(super) fn copy(stream: &Stream, plan: &Plan<2>, dst: u64, src: u64) -> Result<(), RuntimeError> {
    let (extents, [dst_strides, src_strides]) = plan.dims();
    let strides = dst_strides.iter().chain(&src_strides).map(|&s| s as u64);
    let unit = unit_of(strides.chain([dst, src, plan.run_bytes as u64]));
    let function = Operation::Copy.function(stream.device(), unit)?;
    in_launches(extents, (plan.run_bytes / unit) as u64, &mut |first, extents, threads, units| {
        let at = |base: u64, strides: &[i64; MAX_DIMS]| {
            (0..MAX_DIMS).fold(base, |a, d| a.wrapping_add_signed(first[d] as i64 * strides[d]))
        };
        let offset = first[MAX_DIMS] * unit as u64;
        let head = Head {
            dst: at(dst, &dst_strides) + offset,
            src: at(src, &src_strides) + offset,
            threads,
            units,
            extents,
            dst_strides,
            src_strides,
        };
        function.launch(stream, &words(&head), &LaunchConfig::new(threads.into()))
    })
}

/// Queues writing `pattern`, one element's bytes, to every point of the plan, on the stream's GPU.
pub(super) fn fill(stream: &Stream, plan: &Plan<1>, dst: u64, pattern: &[u8]) -> Result<(), RuntimeError> {
    let plan = plan.split_run(pattern.len());
    if pattern.len() > PATTERN_BYTES {
        let source = Allocation::on_stream(stream, pattern.len())?;
        super::copy::upload_pattern(stream, source.address(), pattern)?;
        return copy(stream, &plan.with_source_at_rest(), dst, source.address());
    }
    let (extents, [dst_strides]) = plan.dims();
    let unit = unit_of(dst_strides.iter().map(|&s| s as u64).chain([dst, pattern.len() as u64]));
    let function = Operation::Fill.function(stream.device(), unit)?;
    let mut params = [0u64; (HEAD_BYTES + PATTERN_BYTES) / 8];
    for (word, chunk) in params[HEAD_BYTES / 8..].iter_mut().zip(pattern.chunks(8)) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        *word = u64::from_le_bytes(bytes);
    }
    in_launches(extents, (pattern.len() / unit) as u64, &mut |first, extents, threads, units| {
        let dst = (0..MAX_DIMS).fold(dst, |a, d| a.wrapping_add_signed(first[d] as i64 * dst_strides[d]));
        let head = Head { dst, src: 0, threads, units, extents, dst_strides, src_strides: [0; MAX_DIMS] };
        params[..HEAD_BYTES / 8].copy_from_slice(&words(&head));
        function.launch(stream, &params, &LaunchConfig::new(threads.into()))
    })
}

fn words(head: &Head) -> [u64; HEAD_BYTES / 8] {
    let mut words = [0; HEAD_BYTES / 8];
    words[..2].copy_from_slice(&[head.dst, head.src]);
    words[2] = u64::from(head.threads) | u64::from(head.units) << 32;
    words[3] = u64::from(head.extents[0]) | u64::from(head.extents[1]) << 32;
    words[4] = u64::from(head.extents[2]) | u64::from(head.extents[3]) << 32;
    for d in 0..MAX_DIMS {
        words[5 + d] = head.dst_strides[d] as u64;
        words[9 + d] = head.src_strides[d] as u64;
    }
    words
}

/// The first point of a launch, and its first unit; extents; threads; units.
type Launch<'f> = dyn FnMut([u64; MAX_DIMS + 1], [u32; MAX_DIMS], u32, u32) -> Result<(), RuntimeError> + 'f;

/// Cuts the points into launches of at most [`MAX_THREADS`] units. A cut halves the first extent that can be
/// halved, or the units of the points.
fn in_launches(extents: [usize; MAX_DIMS], units: u64, launch: &mut Launch) -> Result<(), RuntimeError> {
    let mut counts = [units; MAX_DIMS + 1];
    for d in 0..MAX_DIMS {
        counts[d] = extents[d] as u64;
    }
    let mut parts = vec![([0; MAX_DIMS + 1], counts)];
    while let Some((first, counts)) = parts.pop() {
        let threads = counts.iter().try_fold(1u64, |n, &c| n.checked_mul(c)).filter(|&n| n <= MAX_THREADS);
        if let Some(threads) = threads {
            // Every count divides the number of threads, so all of them fit too.
            let extents = std::array::from_fn(|d| counts[d] as u32);
            launch(first, extents, threads as u32, counts[MAX_DIMS] as u32)?;
            continue;
        }
        let d = counts.iter().position(|&c| c > 1).unwrap_or(MAX_DIMS);
        let half = counts[d] / 2;
        let (mut low, mut high, mut start) = (counts, counts, first);
        (low[d], high[d], start[d]) = (half, counts[d] - half, first[d] + half);
        parts.push((start, high));
        parts.push((first, low));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_as_wide_as_all_addresses_allow() {
        assert_eq!(unit_of([0, 32, 64]), 16);
        assert_eq!(unit_of([0, 12, 64]), 4);
        assert_eq!(unit_of([8, (-24i64) as u64]), 8);
        assert_eq!(unit_of([3]), 1);
    }

    #[test]
    fn launches_cover_every_unit_once_and_stay_small() {
        for (extents, units) in
            [([3usize, 1, 1, 5], 2u64), ([1 << 17, 1, 1 << 16, 3], 1), ([1, 1, 1, 2], 1 << 33)]
        {
            let mut covered = 0u128;
            in_launches(extents, units, &mut |first, part, threads, part_units| {
                assert!(u64::from(threads) <= MAX_THREADS);
                let product = part.iter().map(|&e| u64::from(e)).product::<u64>() * u64::from(part_units);
                assert_eq!(product, threads.into());
                for d in 0..MAX_DIMS {
                    assert!(first[d] + u64::from(part[d]) <= extents[d] as u64);
                }
                covered += u128::from(threads);
                Ok(())
            })
            .unwrap();
            assert_eq!(covered, extents.iter().map(|&e| e as u128).product::<u128>() * u128::from(units));
        }
    }

    #[test]
    fn the_text_names_its_accesses() {
        assert!(Operation::Copy.ptx(16).contains("st.global.v2.u64 [%d0], {%w0, %w1};"));
        assert!(Operation::Fill.ptx(2).contains("ld.param.u16 %v0, [%d1+104];"));
    }
}
