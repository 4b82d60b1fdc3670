//! Elements that are changed while the backward pass of an earlier step needs what they were.

use std::fmt;

use inkle_diag::{SourceFile, Span};
use inkle_ir::{Scalar, array_names};
use inkle_runtime as rt;

use super::{Recorded, Step, Tape, gradients, overlap};
use crate::error::Result;

/// A step of a tape that writes elements which the backward pass of an earlier step reads again: gradients are wrong. The later
/// step has to write to another array, or the earlier one be given a copy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overwrite {
    /// What read the elements: ``argument `x` of kernel `square` ``, or a line of a kernel.
    pub reader: String,
    /// What wrote them: an argument of a kernel, a copy or fill, or a line of the kernel that read them.
    pub writer: String,
    /// Whether they certainly were written. Of the lines of one kernel that may not be known; if they were not, gradients are
    /// right.
    pub is_certain: bool,
}

impl fmt::Display for Overwrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overwrite { reader, writer, is_certain } = self;
        let (writes, so) = if *is_certain {
            ("writes", "so gradients are")
        } else {
            ("may write", "and if so, gradients are")
        };
        write!(
            f,
            "{writer} {writes} elements that {reader} has read; the backward pass of that needs what they were, {so} wrong: \
             write to another array, or let the reader have a copy"
        )
    }
}

/// What a launch does with an array.
struct Touched<'a> {
    what: String,
    array: &'a rt::Array,
    writes: bool,
    /// Whether the backward pass reads the elements again.
    is_needed: bool,
}

/// An array of a launch by its name.
pub(crate) type Named<'a> = (String, &'a rt::Array);

impl Tape {
    /// What was written on the tape although the backward pass of an earlier step needs what was there before. Empty is good.
    ///
    /// The backward passes of the launches are made for this, as [`backward`](Tape::backward) needs them too.
    ///
    /// ```
    /// use inkle::prelude::*;
    ///
    /// #[inkle::kernel]
    /// fn square(x: &Array<f32>, y: &mut Array<f32>) {
    ///     let i = tid();
    ///     y[i] = x[i] * x[i];
    /// }
    ///
    /// let mut x = Array::from_slice(&[1.0f32, 2.0])?.with_grad()?;
    /// let mut y = Array::<f32>::zeros(2)?.with_grad()?;
    /// let tape = Tape::record(|| {
    ///     square.launch(2, (&x, &mut y))?;
    ///     x.fill(0.0)
    /// })?;
    /// let found = tape.overwrites()?;
    /// assert_eq!(found.len(), 1);
    /// assert_eq!(found[0].reader, "argument `x` of kernel `square`");
    /// assert_eq!(found[0].writer, "a copy or fill");
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the backward pass of a launch cannot be made.
    pub fn overwrites(&self) -> Result<Vec<Overwrite>> {
        let (mut found, mut doubtful) = (Vec::new(), Vec::new());
        let mut needed = Vec::<(String, &rt::Array)>::new();
        let mut writes = self.writes.iter().peekable();
        let mut check = |needed: &[(String, &rt::Array)], array: &rt::Array, writer: &str| {
            if let Some((reader, _)) = needed.iter().find(|(_, read)| overlap(read, array)) {
                found.push(Overwrite { reader: reader.clone(), writer: writer.to_owned(), is_certain: true });
            }
        };
        for (index, step) in self.steps.iter().enumerate() {
            while let Some((_, array)) = writes.next_if(|(place, _)| *place <= index) {
                check(&needed, array, "a copy or fill");
            }
            let Step::Launch(launch) = step else { continue };
            let (touched, doubt) = launch.touched()?;
            doubtful.extend(doubt.filter(|doubt| !doubtful.contains(doubt)));
            // A kernel that writes an element before it reads it overwrites what others read, not what it reads itself.
            for Touched { what, array, .. } in touched.iter().filter(|touched| touched.writes) {
                check(&needed, array, what);
            }
            let read = touched.into_iter().filter(|touched| touched.is_needed);
            needed.extend(read.map(|touched| (touched.what, touched.array)));
        }
        writes.for_each(|(_, array)| check(&needed, array, "a copy or fill"));
        found.append(&mut doubtful);
        Ok(found)
    }
}

impl Recorded {
    /// What the launch does with the arrays of its arguments, and what it may overwrite although it needs it itself.
    fn touched(&self) -> Result<(Vec<Touched<'_>>, Option<Overwrite>)> {
        let forward = self.instance.forward()?.access();
        let backward = match self.instance.settings().enable_backward {
            true => Some(self.instance.backward(&gradients(self.instance.types(), &self.words))?),
            false => None,
        };
        let doubt = backward.as_ref().and_then(|code| code.doubt()).map(|doubt| {
            let line = |span| match place(span) {
                Some(place) => format!("kernel `{}` at {place}", self.instance.name()),
                None => format!("kernel `{}`", self.instance.name()),
            };
            let writer = doubt.secondary.first().map_or(Span::NONE, |label| label.span);
            Overwrite { reader: line(doubt.span), writer: line(writer), is_certain: false }
        });
        let names = self.names();
        let touched = self.arrays.iter().zip(names).enumerate().map(|(index, (array, name))| {
            let needs = backward.as_ref().and_then(|code| code.access().arrays.get(index).copied());
            let does = forward.arrays.get(index).copied().unwrap_or_default();
            Touched {
                what: format!("argument `{name}` of kernel `{}`", self.instance.name()),
                array,
                writes: does.elements.writes,
                is_needed: needs.is_some_and(|needs| needs.elements.reads),
            }
        });
        Ok((touched.collect(), doubt))
    }

    /// The arrays.
    pub(crate) fn arrays(&self) -> Vec<&rt::Array> {
        self.arrays.iter().collect()
    }

    /// The arrays of floats with gradients that the kernel reads, and those that it writes, with their names.
    pub(crate) fn differentiated(&self) -> Result<(Vec<Named<'_>>, Vec<Named<'_>>)> {
        let access = self.instance.forward()?.access();
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for (index, (array, name)) in self.arrays.iter().zip(self.names()).enumerate() {
            let is_float = array.dtype().scalar().is_some_and(Scalar::is_float);
            if array.grad().is_none() || !is_float {
                continue;
            }
            let does = access.arrays.get(index).copied().unwrap_or_default().elements;
            read.extend(does.reads.then(|| (name.clone(), array)));
            written.extend(does.writes.then(|| (name.clone(), array)));
        }
        Ok((read, written))
    }

    /// The names of the arrays: `x`, or `state.position` for a field.
    pub(super) fn names(&self) -> Vec<String> {
        let types = self.instance.types().iter().enumerate();
        types.flat_map(|(index, ty)| array_names(&self.instance.param_name(index), *ty)).collect()
    }
}

/// `file:line`, of code that is known.
fn place(span: Span) -> Option<String> {
    let file = SourceFile::get(span.file)?;
    Some(format!("{}:{}", file.name(), file.line_column(span.start).0))
}
