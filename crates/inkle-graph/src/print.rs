//! A stream as text, for people and tests.
//!
//! ```text
//! r0: 64 bytes, host, given
//! k0: scale(x: array<f32>, y: array<f32>, s: f32)
//! launch k0 [16] x=r0+0 y=r1+0 s=2
//! copy r1+0 f32 [16] from r0+0
//! fill r1+8 f32 [2] strides [8] with 0000803f
//! while r2+0 {
//!     launch k1 [1] n=r2+0
//! }
//! ```

use std::fmt;

use inkle_ir::{Scalar, Type};
use inkle_runtime::algorithms::{Algorithm, Reduction};

use crate::ops::{Condition, Launch, Node, Op, OpStream, RegionKind, Space, View};

impl fmt::Display for OpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, region) in self.regions.iter().enumerate() {
            let space = match region.space {
                Space::Host => "host",
                Space::Device => "device",
            };
            let kind = match region.kind {
                RegionKind::Given => "given",
                RegionKind::Constant => "constant",
                RegionKind::Internal => "internal",
            };
            writeln!(f, "r{index}: {} bytes, {space}, {kind}", region.bytes)?;
        }
        for (index, kernel) in self.kernels.iter().enumerate() {
            let params: Vec<String> = kernel.params.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect();
            writeln!(f, "k{index}: {}({})", kernel.name, params.join(", "))?;
        }
        write_nodes(self, f, &self.body, 0)
    }
}

/// The first line of an operation.
pub(crate) fn line(stream: &OpStream, op: &Op) -> String {
    struct Alone<'a>(&'a OpStream, &'a Op);
    impl fmt::Display for Alone<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_op(self.0, f, self.1, 0)
        }
    }
    let text = Alone(stream, op).to_string();
    text.lines().next().unwrap_or_default().trim_end_matches(" {").to_owned()
}

fn write_nodes(stream: &OpStream, f: &mut fmt::Formatter<'_>, nodes: &[Node], depth: usize) -> fmt::Result {
    let indent = "    ".repeat(depth);
    for node in nodes {
        f.write_str(&indent)?;
        if node.queue != 0 {
            write!(f, "queue {}: ", node.queue)?;
        }
        write_op(stream, f, &node.op, depth)?;
    }
    Ok(())
}

fn write_op(stream: &OpStream, f: &mut fmt::Formatter<'_>, op: &Op, depth: usize) -> fmt::Result {
    let indent = "    ".repeat(depth);
    match op {
        Op::Launch(launch) => write_launch(stream, f, launch)?,
        Op::Copy { dst, src } => {
            write!(f, "copy ")?;
            write_view(f, dst)?;
            write!(f, " from r{}+{}", src.region, src.offset)?;
            if src.strides != dst.strides {
                write!(f, " strides {:?}", src.strides)?;
            }
            writeln!(f)?;
        }
        Op::Fill { dst, pattern } => {
            write!(f, "fill ")?;
            write_view(f, dst)?;
            write!(f, " with ")?;
            pattern.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            writeln!(f)?;
        }
        Op::Algorithm(algorithm) => write_algorithm(f, algorithm)?,
        Op::If { condition, on_true, on_false } => {
            writeln!(f, "if {} {{", place(condition))?;
            write_nodes(stream, f, on_true, depth + 1)?;
            if !on_false.is_empty() {
                writeln!(f, "{indent}}} else {{")?;
                write_nodes(stream, f, on_false, depth + 1)?;
            }
            writeln!(f, "{indent}}}")?;
        }
        Op::While { condition, body } => {
            writeln!(f, "while {} {{", place(condition))?;
            write_nodes(stream, f, body, depth + 1)?;
            writeln!(f, "{indent}}}")?;
        }
        Op::Record { event } => writeln!(f, "record e{event}")?,
        Op::Wait { event } => writeln!(f, "wait e{event}")?,
    }
    Ok(())
}

fn write_algorithm(f: &mut fmt::Formatter<'_>, algorithm: &Algorithm<View>) -> fmt::Result {
    let reduction = |r: &Reduction| {
        let axis = r.axis.map_or(String::new(), |axis| format!(" axis={axis}"));
        axis + &r.count.map_or(String::new(), |count| format!(" count={count}"))
    };
    let details = match algorithm {
        Algorithm::Scan { inclusive: true, .. } => " inclusive".to_owned(),
        Algorithm::Scan { .. } => " exclusive".to_owned(),
        Algorithm::SortPairs { count, begin_bit, end_bit, .. } => {
            format!(" count={count} bits={begin_bit}..{end_bit}")
        }
        Algorithm::SegmentedSortPairs { count, .. } | Algorithm::RunLengths { count, .. } => {
            format!(" count={count}")
        }
        Algorithm::Sum { reduction: r, .. } | Algorithm::Inner { reduction: r, .. } => reduction(r),
        Algorithm::Cast { count, .. } => count.map_or(String::new(), |count| format!(" count={count}")),
    };
    f.write_str(algorithm.name())?;
    let mut outcome = Ok(());
    algorithm.each(|view, writes| {
        outcome = outcome
            .and_then(|()| f.write_str(if writes { " to " } else { " " }))
            .and_then(|()| write_view(f, view));
    });
    outcome?;
    writeln!(f, "{details}")
}

fn place(condition: &Condition) -> String {
    format!("r{}+{}", condition.region, condition.offset)
}

fn write_view(f: &mut fmt::Formatter<'_>, view: &View) -> fmt::Result {
    write!(f, "r{}+{} {} {:?}", view.region, view.offset, view.dtype, view.shape)?;
    let mut packed = i64::from(view.dtype.size());
    let mut contiguous = true;
    for (&extent, &stride) in view.shape.iter().zip(&view.strides).rev() {
        contiguous &= extent == 1 || stride == packed;
        packed *= i64::from(extent);
    }
    if contiguous { Ok(()) } else { write!(f, " strides {:?}", view.strides) }
}

fn write_launch(stream: &OpStream, f: &mut fmt::Formatter<'_>, launch: &Launch) -> fmt::Result {
    let dims = launch.dims();
    let used = 4 - dims.iter().rev().take_while(|&&n| n == 1).count();
    write!(f, "launch k{} {:?}", launch.kernel, &dims[..used.max(1)])?;
    let Some(kernel) = stream.kernels.get(launch.kernel as usize) else { return writeln!(f) };
    let bytes: Vec<u8> = launch.params.iter().flat_map(|word| word.to_le_bytes()).collect();
    for param in &kernel.params {
        let range = param.offset as usize..param.offset as usize + param.ty.size() as usize;
        let mut pointers =
            launch.pointers.iter().filter(|p| range.contains(&(p.word as usize * 8))).peekable();
        write!(f, " {}=", param.name)?;
        match (param.ty, bytes.get(range.clone())) {
            _ if pointers.peek().is_some() => {
                for (i, pointer) in pointers.enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    write!(f, "{comma}r{}+{}", pointer.region, pointer.offset)?;
                }
            }
            (Type::Array(_), _) => f.write_str("none")?,
            (Type::Scalar(scalar), Some(bytes)) => write_scalar(f, scalar, bytes)?,
            (_, Some(bytes)) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?,
            (_, None) => f.write_str("?")?,
        }
    }
    writeln!(f)
}

fn write_scalar(f: &mut fmt::Formatter<'_>, scalar: Scalar, bytes: &[u8]) -> fmt::Result {
    let mut wide = [0u8; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    let unused = 64 - 8 * bytes.len() as u32;
    match scalar {
        Scalar::F32 => write!(f, "{}", f32::from_bits(bits as u32)),
        Scalar::F64 => write!(f, "{}", f64::from_bits(bits)),
        Scalar::F16 | Scalar::BF16 => write!(f, "{bits:#06x}"),
        signed if signed.is_signed() => write!(f, "{}", (bits << unused) as i64 >> unused),
        _ => write!(f, "{bits}"),
    }
}
