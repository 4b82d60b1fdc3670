//! The operation stream as bytes. `docs/bundle-format.md` describes them.

use std::sync::Arc;

use inkle_ir::{ArrayKind, Field, MAX_DIMS, Scalar, Type};
use inkle_runtime::algorithms::{Algorithm, Reduction};

use super::BundleError;
use super::wire::{Reader, Writer};
use crate::ops::{
    Abi, Condition, Kernel, KernelParam, Launch, Node, Op, OpStream, Pointer, Region, RegionKind, Space, View,
};

/// How deep bodies, and types, may be nested.
pub(crate) const MAX_DEPTH: u32 = 64;
/// The largest value, bytes: nobody passes or stores more by value.
const MAX_TYPE_BYTES: u64 = 1 << 24;

/// The size of a type whose parts are known to be small enough for [`Type::size`].
fn sized(reader: &Reader<'_>, ty: Type, bytes: u64) -> Result<Type, BundleError> {
    if bytes == 0 || bytes > MAX_TYPE_BYTES {
        return Err(reader.bad(format!("a type of {bytes} bytes")));
    }
    Ok(ty)
}

fn put_scalar(writer: &mut Writer, scalar: Scalar) {
    let index = Scalar::ALL.iter().position(|s| *s == scalar).unwrap_or(0);
    writer.u8(index as u8);
}

fn scalar(reader: &mut Reader<'_>) -> Result<Scalar, BundleError> {
    let index = reader.u8()?;
    Scalar::ALL.get(usize::from(index)).copied().ok_or_else(|| reader.bad(format!("no scalar type {index}")))
}

pub(super) fn put_type(writer: &mut Writer, ty: Type) {
    match ty {
        Type::Scalar(s) => {
            writer.u8(0);
            put_scalar(writer, s);
        }
        Type::Vec { len, elem } => {
            writer.u8(1);
            put_scalar(writer, elem);
            writer.u32(len);
        }
        Type::Mat { rows, cols, elem } => {
            writer.u8(2);
            put_scalar(writer, elem);
            writer.u32(rows);
            writer.u32(cols);
        }
        Type::Quat(s) => {
            writer.u8(3);
            put_scalar(writer, s);
        }
        Type::Transform(s) => {
            writer.u8(4);
            put_scalar(writer, s);
        }
        Type::Struct(s) => {
            writer.u8(5);
            writer.text(&s.name);
            writer.list(&s.fields, |writer, field| {
                writer.text(&field.name);
                put_type(writer, field.ty);
            });
        }
        Type::Array(a) => {
            writer.u8(6);
            writer.u8(u8::from(a.kind == ArrayKind::Indexed));
            writer.u8(a.ndim as u8);
            put_type(writer, a.elem);
        }
        Type::Ref(target) => {
            writer.u8(7);
            put_type(writer, *target);
        }
    }
}

pub(super) fn read_type(reader: &mut Reader<'_>, depth: u32) -> Result<Type, BundleError> {
    if depth > MAX_DEPTH {
        return Err(reader.bad("types are nested too deeply"));
    }
    let tag = reader.u8()?;
    match tag {
        0 => Ok(Type::Scalar(scalar(reader)?)),
        1 => {
            let (elem, len) = (scalar(reader)?, reader.u32()?);
            sized(reader, Type::Vec { len, elem }, u64::from(len) * u64::from(elem.size()))
        }
        2 => {
            let (elem, rows, cols) = (scalar(reader)?, reader.u32()?, reader.u32()?);
            let bytes = u64::from(rows).saturating_mul(cols.into()).saturating_mul(elem.size().into());
            sized(reader, Type::Mat { rows, cols, elem }, bytes)
        }
        3 => Ok(Type::Quat(scalar(reader)?)),
        4 => Ok(Type::Transform(scalar(reader)?)),
        5 => {
            let name = reader.text()?;
            let mut bytes = 0u64;
            let fields = reader.list(6, |reader| {
                let (name, ty) = (reader.text()?, read_type(reader, depth + 1)?);
                // With the most that alignment can add.
                bytes = bytes.saturating_add(u64::from(ty.size()) + 8);
                sized(reader, ty, bytes)?;
                Ok(Field { name, ty })
            })?;
            sized(reader, Type::structure(name, fields), bytes.max(1))
        }
        6 => {
            let indexed = reader.flag()?;
            let ndim = u32::from(reader.u8()?);
            if !(1..=MAX_DIMS as u32).contains(&ndim) {
                return Err(reader.bad(format!("an array of {ndim} dimensions")));
            }
            let elem = read_type(reader, depth + 1)?;
            if matches!(elem, Type::Array(_) | Type::Ref(_)) {
                return Err(reader.bad("an array of arrays"));
            }
            let kind = if indexed { ArrayKind::Indexed } else { ArrayKind::Strided };
            Ok(Type::array_of_kind(elem, ndim, kind))
        }
        7 => Ok(Type::reference(read_type(reader, depth + 1)?)),
        other => Err(reader.bad(format!("no type has the tag {other}"))),
    }
}

pub(super) fn put_view(writer: &mut Writer, view: &View) {
    writer.u32(view.region);
    writer.u64(view.offset);
    put_type(writer, view.dtype);
    writer.u8(view.shape.len() as u8);
    for (extent, stride) in view.shape.iter().zip(&view.strides) {
        writer.u32(*extent as u32);
        writer.i64(*stride);
    }
}

pub(super) fn read_view(reader: &mut Reader<'_>) -> Result<View, BundleError> {
    let (region, offset, dtype) = (reader.u32()?, reader.u64()?, read_type(reader, 0)?);
    let ndim = usize::from(reader.u8()?);
    if ndim > MAX_DIMS {
        return Err(reader.bad(format!("a view of {ndim} dimensions")));
    }
    let (mut shape, mut strides) = (Vec::new(), Vec::new());
    for _ in 0..ndim {
        shape.push(reader.i32()?);
        strides.push(reader.i64()?);
    }
    Ok(View { region, offset, dtype, shape, strides })
}

fn put_condition(writer: &mut Writer, condition: &Condition) {
    writer.u32(condition.region);
    writer.u64(condition.offset);
}

fn read_condition(reader: &mut Reader<'_>) -> Result<Condition, BundleError> {
    Ok(Condition { region: reader.u32()?, offset: reader.u64()? })
}

fn put_launch(writer: &mut Writer, launch: &Launch) {
    writer.u32(launch.kernel);
    writer.u32(launch.block_dim);
    writer.u32(launch.max_blocks);
    writer.u32(launch.shared_bytes);
    writer.list(&launch.params, |writer, word| writer.u64(*word));
    writer.list(&launch.pointers, |writer, pointer| {
        writer.u32(pointer.word);
        writer.u32(pointer.region);
        writer.u64(pointer.offset);
        writer.u64(pointer.span.start);
        writer.u64(pointer.span.end);
        writer.u8(u8::from(pointer.reads) | u8::from(pointer.writes) << 1);
    });
}

fn read_launch(reader: &mut Reader<'_>) -> Result<Launch, BundleError> {
    let (kernel, block_dim, max_blocks, shared_bytes) =
        (reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?);
    let params = reader.words()?;
    let pointers = reader.list(33, |reader| {
        let (word, region, offset) = (reader.u32()?, reader.u32()?, reader.u64()?);
        let span = reader.u64()?..reader.u64()?;
        let access = reader.u8()?;
        if access > 3 {
            return Err(reader.bad(format!("no access {access}")));
        }
        Ok(Pointer { word, region, offset, span, reads: access & 1 != 0, writes: access & 2 != 0 })
    })?;
    let pointers = pointers.into_boxed_slice();
    Ok(Launch { kernel, params, pointers, block_dim, max_blocks, shared_bytes })
}

fn put_optional(writer: &mut Writer, value: Option<u64>) {
    writer.u8(u8::from(value.is_some()));
    writer.u64(value.unwrap_or(0));
}

fn read_optional(reader: &mut Reader<'_>) -> Result<Option<u64>, BundleError> {
    let (present, value) = (reader.flag()?, reader.u64()?);
    Ok(present.then_some(value))
}

fn put_reduction(writer: &mut Writer, reduction: &Reduction) {
    put_optional(writer, reduction.axis.map(|axis| axis as u64));
    put_optional(writer, reduction.count.map(|count| count as u64));
}

fn read_reduction(reader: &mut Reader<'_>) -> Result<Reduction, BundleError> {
    let axis = read_optional(reader)?.map(|axis| axis as i64);
    let count = read_optional(reader)?.map(|count| usize::try_from(count).unwrap_or(usize::MAX));
    Ok(Reduction { axis, count })
}

fn put_algorithm(writer: &mut Writer, algorithm: &Algorithm<View>) {
    writer.u8(match algorithm {
        Algorithm::Scan { .. } => 0,
        Algorithm::SortPairs { .. } => 1,
        Algorithm::SegmentedSortPairs { ends: None, .. } => 2,
        Algorithm::SegmentedSortPairs { ends: Some(_), .. } => 7,
        Algorithm::RunLengths { .. } => 3,
        Algorithm::Sum { .. } => 4,
        Algorithm::Inner { .. } => 5,
        Algorithm::Cast { .. } => 6,
    });
    algorithm.each(|view, _| put_view(writer, view));
    match algorithm {
        Algorithm::Scan { inclusive, .. } => writer.u8(u8::from(*inclusive)),
        Algorithm::SortPairs { count, begin_bit, end_bit, .. } => {
            writer.u64(*count);
            writer.i64(*begin_bit);
            writer.i64(*end_bit);
        }
        Algorithm::SegmentedSortPairs { count, .. } | Algorithm::RunLengths { count, .. } => {
            writer.u64(*count);
        }
        Algorithm::Sum { reduction, .. } | Algorithm::Inner { reduction, .. } => {
            put_reduction(writer, reduction)
        }
        Algorithm::Cast { count, .. } => put_optional(writer, *count),
    }
}

fn read_algorithm(reader: &mut Reader<'_>) -> Result<Algorithm<View>, BundleError> {
    let tag = reader.u8()?;
    Ok(match tag {
        0 => Algorithm::Scan {
            input: read_view(reader)?,
            output: read_view(reader)?,
            inclusive: reader.flag()?,
        },
        1 => Algorithm::SortPairs {
            keys: read_view(reader)?,
            values: read_view(reader)?,
            count: reader.u64()?,
            begin_bit: reader.i64()?,
            end_bit: reader.i64()?,
        },
        2 | 7 => Algorithm::SegmentedSortPairs {
            keys: read_view(reader)?,
            values: read_view(reader)?,
            starts: read_view(reader)?,
            ends: if tag == 7 { Some(read_view(reader)?) } else { None },
            count: reader.u64()?,
        },
        3 => Algorithm::RunLengths {
            values: read_view(reader)?,
            run_values: read_view(reader)?,
            run_lengths: read_view(reader)?,
            run_count: read_view(reader)?,
            count: reader.u64()?,
        },
        4 => Algorithm::Sum {
            values: read_view(reader)?,
            output: read_view(reader)?,
            reduction: read_reduction(reader)?,
        },
        5 => Algorithm::Inner {
            a: read_view(reader)?,
            b: read_view(reader)?,
            output: read_view(reader)?,
            reduction: read_reduction(reader)?,
        },
        6 => Algorithm::Cast {
            input: read_view(reader)?,
            output: read_view(reader)?,
            count: read_optional(reader)?,
        },
        other => return Err(reader.bad(format!("no algorithm has the tag {other}"))),
    })
}

fn put_nodes(writer: &mut Writer, nodes: &[Node]) {
    writer.list(nodes, |writer, node| {
        writer.u32(node.queue);
        match &node.op {
            Op::Launch(launch) => {
                writer.u8(0);
                put_launch(writer, launch);
            }
            Op::Copy { dst, src } => {
                writer.u8(1);
                put_view(writer, dst);
                put_view(writer, src);
            }
            Op::Fill { dst, pattern } => {
                writer.u8(2);
                put_view(writer, dst);
                writer.blob(pattern);
            }
            Op::Algorithm(algorithm) => {
                writer.u8(3);
                put_algorithm(writer, algorithm);
            }
            Op::If { condition, on_true, on_false } => {
                writer.u8(4);
                put_condition(writer, condition);
                put_nodes(writer, on_true);
                put_nodes(writer, on_false);
            }
            Op::While { condition, body } => {
                writer.u8(5);
                put_condition(writer, condition);
                put_nodes(writer, body);
            }
            Op::Record { event } => {
                writer.u8(6);
                writer.u32(*event);
            }
            Op::Wait { event } => {
                writer.u8(7);
                writer.u32(*event);
            }
        }
    });
}

fn read_nodes(reader: &mut Reader<'_>, depth: u32) -> Result<Vec<Node>, BundleError> {
    if depth > MAX_DEPTH {
        return Err(reader.bad("conditions and loops are nested too deeply"));
    }
    reader.list(9, |reader| {
        let queue = reader.u32()?;
        let op = match reader.u8()? {
            0 => Op::Launch(read_launch(reader)?),
            1 => Op::Copy { dst: read_view(reader)?, src: read_view(reader)? },
            2 => Op::Fill { dst: read_view(reader)?, pattern: reader.blob()?.into() },
            3 => Op::Algorithm(Box::new(read_algorithm(reader)?)),
            4 => Op::If {
                condition: read_condition(reader)?,
                on_true: read_nodes(reader, depth + 1)?,
                on_false: read_nodes(reader, depth + 1)?,
            },
            5 => Op::While { condition: read_condition(reader)?, body: read_nodes(reader, depth + 1)? },
            6 => Op::Record { event: reader.u32()? },
            7 => Op::Wait { event: reader.u32()? },
            other => return Err(reader.bad(format!("no operation has the tag {other}"))),
        };
        Ok(Node { queue, op })
    })
}

/// The stream as bytes.
pub(super) fn encode(stream: &OpStream) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.list(&stream.regions, |writer, region| {
        writer.u64(region.bytes);
        writer.u8(u8::from(region.space == Space::Device));
        writer.u8(match region.kind {
            RegionKind::Given => 0,
            RegionKind::Constant => 1,
            RegionKind::Internal => 2,
        });
    });
    writer.list(&stream.kernels, |writer, kernel| {
        writer.text(&kernel.name);
        writer.bytes.extend(kernel.digest);
        writer.text(&kernel.options);
        writer.u8(u8::from(kernel.abi == Abi::Cuda));
        writer.u32(kernel.params_bytes);
        writer.list(&kernel.params, |writer, param| {
            writer.text(&param.name);
            put_type(writer, param.ty);
            writer.u32(param.offset);
        });
    });
    writer.u32(stream.events);
    put_nodes(&mut writer, &stream.body);
    writer.bytes
}

/// The stream that bytes describe; whether it makes sense is for [`validate`](crate::validate) to say.
pub(super) fn decode(bytes: &[u8]) -> Result<OpStream, BundleError> {
    let mut reader = Reader::new("operation stream", bytes);
    let regions = reader.list(10, |reader| {
        let bytes = reader.u64()?;
        let space = if reader.flag()? { Space::Device } else { Space::Host };
        let kind = match reader.u8()? {
            0 => RegionKind::Given,
            1 => RegionKind::Constant,
            2 => RegionKind::Internal,
            other => return Err(reader.bad(format!("no kind of memory has the tag {other}"))),
        };
        Ok(Region { bytes, space, kind })
    })?;
    let kernels = reader.list(45, |reader| {
        let (name, digest, options) = (reader.text()?, reader.digest()?, reader.text()?);
        let abi = if reader.flag()? { Abi::Cuda } else { Abi::Inkle };
        let params_bytes = reader.u32()?;
        let params = reader.list(10, |reader| {
            Ok(KernelParam { name: reader.text()?, ty: read_type(reader, 0)?, offset: reader.u32()? })
        })?;
        Ok(Arc::new(Kernel { name, digest, options, abi, params_bytes, params }))
    })?;
    let events = reader.u32()?;
    let body = read_nodes(&mut reader, 0)?;
    reader.end()?;
    Ok(OpStream { regions, kernels, events, body })
}
