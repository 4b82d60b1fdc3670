//! What code looks for when it is built with checks: indices, asserted conditions, divisors and values that are
//! written.
//!
//! A report is a printf format with the values that only the running thread knows. It names what is wrong, the
//! kernel, the thread, and the line. On the CPU the runtime keeps the first report of a launch; on a GPU it goes into
//! the device's [`CheckRecord`], see `nvidia/report.rs`. Code with checks has one lane, so the thread is known.

use std::fmt::Write;

use inkle_diag::{SourceFile, Span};
use inkle_ir::{
    AtomicOp, BinaryOp, CheckRecord, CmpOp, OpData, OpKind, Scalar, Type, UnaryOp, Value, ValueDef,
};
use inkwell::llvm_sys::{LLVMFastMathNoInfs, LLVMFastMathNoNaNs};

use super::{Frame, Lower, Result};
use crate::emitter::{Int, V};
use crate::value::{Part, Parts, Val, parts};

/// How many bytes of a condition, and of a path, a report shows at most. Both fit a [`CheckRecord`].
const MAX_TEXT: usize = 400;
const MAX_PATH: usize = 200;
const _: () = assert!(MAX_TEXT + MAX_PATH + 250 < CheckRecord::FORMAT_BYTES);

/// What a report calls an array, or what holds it.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    /// An argument of the kernel, or of `function` where that is not known, with the fields that lead on from it,
    /// and the dimensions that views of it have taken away, in order.
    Argument { path: String, function: Option<String>, removed: Vec<u32> },
    /// An array of the thread's own.
    Local,
    /// Anything else.
    Unknown,
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subject::Argument { path, function: None, .. } => write!(f, "argument `{path}`"),
            Subject::Argument { path, function: Some(function), .. } => {
                write!(f, "argument `{path}` of function `{function}`")
            }
            Subject::Local => f.write_str("an array of the thread's own"),
            Subject::Unknown => f.write_str("an array"),
        }
    }
}

impl Subject {
    /// The dimension of the argument that a dimension of what is left of it is.
    fn dim(&self, dim: usize) -> usize {
        let Subject::Argument { removed, .. } = self else { return dim };
        removed.iter().rev().fold(dim, |dim, &removed| dim + usize::from(dim >= removed as usize))
    }
}

/// A text for a running thread to fill in.
struct Report {
    format: String,
    scalars: Vec<Scalar>,
    values: Vec<V>,
}

impl Report {
    fn new(text: &str) -> Report {
        Report { format: text.replace('%', "%%"), scalars: Vec::new(), values: Vec::new() }
    }

    fn text(mut self, text: impl std::fmt::Display) -> Report {
        self.format.push_str(&text.to_string().replace('%', "%%"));
        self
    }

    fn value(mut self, scalar: Scalar, value: V) -> Report {
        self.format.push_str(match scalar {
            s if s.is_float() => "%g",
            s if s.is_signed() => "%d",
            _ => "%u",
        });
        self.scalars.push(scalar);
        self.values.push(value);
        self
    }
}

/// The first or the last bytes of a text, at most `limit`, with a sign where something is left out.
fn shortened(text: &str, limit: usize, keep_end: bool) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    if keep_end {
        let from = (text.len() - limit..text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        format!("...{}", &text[from..])
    } else {
        let to = (0..=limit).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
        format!("{}...", &text[..to])
    }
}

impl<'m> Lower<'_, 'm> {
    /// Removes from floating-point flags what lets LLVM assume that there is nothing to report.
    pub fn checked_math(&self, flags: u32) -> u32 {
        if self.options.verify_fp { flags & !(LLVMFastMathNoNaNs | LLVMFastMathNoInfs) } else { flags }
    }

    /// What a value of a function stands for.
    pub fn subject(&self, frame: &Frame<'m>, value: Value) -> Subject {
        let function = frame.function;
        match function.value(value).def {
            ValueDef::Param { block, index } if block == function.body => {
                frame.subjects.get(index as usize).cloned().unwrap_or(Subject::Unknown)
            }
            ValueDef::Param { .. } => Subject::Unknown,
            ValueDef::Result { op, .. } => {
                let data = function.op(op);
                let Some(&inner) = data.operands.first() else {
                    return if matches!(data.kind, OpKind::Local(_)) {
                        Subject::Local
                    } else {
                        Subject::Unknown
                    };
                };
                let mut subject = match data.kind {
                    OpKind::View(_)
                    | OpKind::Window(_)
                    | OpKind::GradArray
                    | OpKind::Elem
                    | OpKind::Field(_)
                    | OpKind::Comp
                    | OpKind::Load
                    | OpKind::Extract(_) => self.subject(frame, inner),
                    _ => Subject::Unknown,
                };
                if let Subject::Argument { path, removed, .. } = &mut subject {
                    let inner = function.ty(inner);
                    let fields = |ty: Type| ty.as_struct().map(|s| &s.fields);
                    match data.kind {
                        OpKind::View(dim) => removed.push(dim),
                        OpKind::GradArray => path.push_str(".grad"),
                        OpKind::Field(index) | OpKind::Extract(index) => {
                            removed.clear();
                            let of = inner.as_ref_target().unwrap_or(inner);
                            if let Some(field) = fields(of).and_then(|f| f.get(index as usize)) {
                                let _ = write!(path, ".{}", field.name);
                            }
                        }
                        _ => {}
                    }
                }
                subject
            }
        }
    }

    /// The index that the program wrote, where negative ones count from the end.
    fn written_index(frame: &Frame<'m>, index: Value) -> Value {
        let Some(select) = frame.function.defining_op(index).filter(|d| d.kind == OpKind::Select) else {
            return index;
        };
        let [condition, _, plain] = *select.operands.as_slice() else { return index };
        match frame.function.defining_op(condition) {
            Some(test) if test.kind == OpKind::Cmp(CmpOp::Lt) && test.operands.first() == Some(&plain) => {
                plain
            }
            _ => index,
        }
    }

    /// With checks, stops the kernel when an index of a dimension of an array is not in `0..extent`.
    pub fn check_index(
        &mut self,
        frame: &Frame<'m>,
        array: Value,
        dim: usize,
        index: Value,
        extent: Val,
    ) -> Result<()> {
        if !self.options.checks {
            return Ok(());
        }
        let extent = self.uniform(extent)?;
        let (ok, written) = self.in_range(frame, index, extent)?;
        self.check(ok, |l| {
            let subject = l.subject(frame, array);
            Report::new("index ")
                .value(Scalar::I64, written)
                .text(format_args!(" is out of bounds for dimension {} of extent ", subject.dim(dim)))
                .value(Scalar::I32, extent)
                .text(" of ")
                .text(subject)
        })
    }

    /// With checks, stops the kernel when the index of a component is not in `0..count`.
    pub fn check_component(&mut self, frame: &Frame<'m>, composite: Type, index: Value) -> Result<()> {
        let Some(count) = composite.component_count().filter(|_| self.options.checks) else { return Ok(()) };
        let extent = self.e.i32(count as i32);
        let (ok, written) = self.in_range(frame, index, extent)?;
        self.check(ok, |_| {
            Report::new("index ")
                .value(Scalar::I64, written)
                .text(format_args!(" is out of bounds for {}", composite.python_name()))
        })
    }

    /// Whether an index is in `0..extent`, and the index as the program wrote it, as i64.
    fn in_range(&mut self, frame: &Frame<'m>, index: Value, extent: V) -> Result<(V, V)> {
        let wide = self.e.int(64);
        let written = self.uniform(frame.get1(Self::written_index(frame, index))?)?;
        let written = self.e.sext(written, wide);
        let index = self.uniform(frame.get1(index)?)?;
        let index = self.e.sext(index, wide);
        let extent = self.e.sext(extent, wide);
        // As unsigned numbers negative indices are too large as well.
        Ok((self.e.icmp(Int::LLVMIntULT, index, extent), written))
    }

    /// With checks, stops the kernel when a component of an integer divisor is zero.
    pub fn check_divisor(&mut self, op: BinaryOp, scalar: Scalar, divisor: &Parts) -> Result<()> {
        let divides = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem);
        if !self.options.checks || !divides || scalar.is_float() {
            return Ok(());
        }
        for &part in divisor {
            let part = self.uniform(part)?;
            let ok = self.e.icmp(Int::LLVMIntNE, part, self.e.null(self.e.type_of(part)));
            self.check(ok, |_| Report::new("integer division by zero"))?;
        }
        Ok(())
    }

    /// With checks, stops the kernel when the step of a loop is zero.
    pub fn check_step(&mut self, step: Val) -> Result<()> {
        if !self.options.checks {
            return Ok(());
        }
        let step = self.uniform(step)?;
        let ok = self.e.icmp(Int::LLVMIntNE, step, self.e.null(self.e.type_of(step)));
        self.check(ok, |_| Report::new("the step of a range is zero"))
    }

    /// With checks, stops the kernel unless an asserted condition holds.
    pub fn check_assert(&mut self, condition: Val, message: &str) -> Result<()> {
        if !self.options.checks {
            return Ok(());
        }
        let ok = self.uniform(condition)?;
        self.check(ok, |_| Report::new(&shortened(message, MAX_TEXT, false)))
    }

    /// With `verify_fp`, reports a value that is about to be written and is not finite.
    pub fn verify_written(&mut self, frame: &Frame<'m>, at: Value, ty: Type, value: &Parts) -> Result<()> {
        if !self.options.verify_fp {
            return Ok(());
        }
        for (&(part, _), &v) in parts(ty).iter().zip(value) {
            let Part::Scalar(scalar) = part else { continue };
            if !scalar.is_float() {
                continue;
            }
            let finite = self.strict(|l| l.unary(UnaryOp::IsFinite, scalar, v))?;
            let (finite, v) = (self.uniform(finite)?, self.uniform(v)?);
            let report = |l: &Self| {
                Report::new("").value(scalar, v).text(" is written to ").text(l.subject(frame, at))
            };
            if self.options.checks {
                self.check(finite, report)?;
            } else {
                self.warn_unless(finite, report)?;
            }
        }
        Ok(())
    }

    /// With `verify_fp`, reports what an atomic operation leaves in memory if it is not finite.
    pub fn verify_atomic(
        &mut self,
        frame: &Frame<'m>,
        op: AtomicOp,
        data: &OpData,
        before: &Parts,
    ) -> Result<()> {
        let [at, value] = *data.operands.as_slice() else { return Ok(()) };
        let ty = frame.function.ty(value);
        let Some(scalar) = ty.scalar().filter(|s| self.options.verify_fp && s.is_float()) else {
            return Ok(());
        };
        let value = frame.get(value)?.clone();
        let pairs = before.iter().zip(&value);
        let after = pairs.map(|(&old, &v)| self.updated(op, scalar, old, v)).collect::<Result<Parts>>()?;
        self.verify_written(frame, at, ty, &after)
    }

    /// Stops the kernel with a report unless `ok`.
    fn check(&mut self, ok: V, report: impl FnOnce(&Self) -> Report) -> Result<()> {
        if self.e.as_const_int(ok).is_some_and(|ok| ok != 0) {
            return Ok(());
        }
        let pass = self.unless(ok, "inkle_fail", report)?;
        if self.machine.gpu {
            self.e.unreachable();
        } else {
            self.leave_failed();
        }
        self.e.at_end(pass);
        Ok(())
    }

    /// Prints a report unless `ok`.
    fn warn_unless(&mut self, ok: V, report: impl FnOnce(&Self) -> Report) -> Result<()> {
        let pass = self.unless(ok, "inkle_warn", report)?;
        self.e.br(pass);
        self.e.at_end(pass);
        Ok(())
    }

    /// Calls `function` with a report unless `ok`; leaves the builder after the call, and gives where to go on.
    fn unless(
        &mut self,
        ok: V,
        function: &str,
        report: impl FnOnce(&Self) -> Report,
    ) -> Result<crate::emitter::Bb> {
        let fail = self.e.new_block("fail");
        let pass = self.e.new_block("pass");
        let branch = self.e.cond_br(ok, pass, fail);
        self.e.set_branch_weights(branch, 1 << 20, 1);
        self.e.at_end(fail);
        let report = self.placed(report(self))?;
        self.call_print(function, &report.format, &report.scalars, &report.values);
        Ok(pass)
    }

    /// A report with the kernel, the thread and the line that it is about.
    fn placed(&self, mut report: Report) -> Result<Report> {
        if let Some(kernel) = self.ir.kernel() {
            report = report.text(format_args!(", in kernel `{}`", shortened(&kernel.name, MAX_PATH, false)));
        }
        let tid = self.thread.tid.clone();
        report = report.text(if tid.len() == 1 { ", thread " } else { ", thread (" });
        for (dim, &index) in tid.iter().enumerate() {
            if dim > 0 {
                report = report.text(", ");
            }
            report = report.value(Scalar::I32, self.uniform(index)?);
        }
        if tid.len() > 1 {
            report = report.text(")");
        }
        Ok(match place(self.span) {
            Some(place) => report.text(format_args!(", at {place}\n")),
            None => report.text("\n"),
        })
    }

    /// Returns from the LLVM function after a failed check.
    pub fn leave_failed(&mut self) {
        match &self.in_outlined {
            None => self.e.ret_void(),
            Some(context) => {
                let ty = context.result_type;
                let failed = context.failed_flag;
                let result = self.e.insert_value(self.e.null(ty), self.e.i1(true), failed);
                self.e.ret(result);
            }
        }
    }

    /// What the parameters of a function are called in reports, for a call with `args` from `caller`.
    pub fn subjects_of_call(&self, caller: &Frame<'m>, args: &[Value]) -> Vec<Subject> {
        if !self.reports() {
            return Vec::new();
        }
        args.iter().map(|&v| self.subject(caller, v)).collect()
    }

    /// What the parameters of function `index` are called in reports where its caller is not known.
    pub fn own_subjects(&self, index: usize) -> Vec<Subject> {
        if !self.reports() {
            return Vec::new();
        }
        let function = &self.ir.functions[index];
        let is_kernel = index + 1 == self.ir.functions.len();
        let of = (!is_kernel).then(|| function.name.clone());
        let subject = |p: &inkle_ir::Param| Subject::Argument {
            path: p.name.clone(),
            function: of.clone(),
            removed: Vec::new(),
        };
        function.params.iter().map(subject).collect()
    }

    /// Whether this code may report anything.
    fn reports(&self) -> bool {
        self.options.checks || self.options.verify_fp
    }
}

/// `file.py:12`.
fn place(span: Span) -> Option<String> {
    let file = SourceFile::get(span.file)?;
    Some(format!("{}:{}", shortened(file.name(), MAX_PATH, true), file.line_column(span.start).0))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shortened("short", 5, false), "short");
        assert_eq!(shortened("éééé", 5, false), "éé...");
        assert_eq!(shortened("éééé", 5, true), "...éé");
    }
}
