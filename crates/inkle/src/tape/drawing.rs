//! Drawing a tape: its steps and the arrays between them, in GraphViz's language.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use inkle_runtime as rt;

use super::{AnyArray, Scope, Step, Tape};

/// How a tape is drawn.
#[derive(Debug)]
pub struct TapeDrawing<'t> {
    tape: &'t Tape,
    labels: Vec<(Key, String)>,
    hides_read_only: bool,
    folds: bool,
}

/// What tells arrays apart: address, shape and type of elements.
type Key = (u64, Vec<i32>, String);

fn key(array: &rt::Array) -> Key {
    (array.address(), array.shape().to_vec(), array.dtype().to_string())
}

/// What is known of a drawn array.
struct Seen {
    number: usize,
    name: String,
    is_written: bool,
    has_gradient: bool,
}

/// An edge from an array to a step, or the other way round.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    step: usize,
    array: Key,
    is_read: bool,
}

impl Tape {
    /// A drawing of the tape: launches, copies and other steps, and the arrays between them. Those with gradients are green.
    ///
    /// ```
    /// use inkle::prelude::*;
    /// use inkle::tape_scope;
    ///
    /// #[inkle::kernel]
    /// fn square(x: &Array<f32>, y: &mut Array<f32>) {
    ///     let i = tid();
    ///     y[i] = x[i] * x[i];
    /// }
    ///
    /// let x = Array::from_slice(&[1.0f32, 2.0])?.with_grad()?;
    /// let mut y = Array::<f32>::zeros(2)?.with_grad()?;
    /// let tape = Tape::record(|| tape_scope("forces", || square.launch(2, (&x, &mut y))))?;
    /// let dot = tape.drawing().label(&x, "positions").to_dot();
    /// assert!(dot.starts_with("digraph tape") && dot.contains("forces") && dot.contains("positions"));
    /// # Ok::<(), inkle::Error>(())
    /// ```
    pub fn drawing(&self) -> TapeDrawing<'_> {
        TapeDrawing { tape: self, labels: Vec::new(), hides_read_only: false, folds: true }
    }
}

impl TapeDrawing<'_> {
    /// Names an array; without this it has the name of a parameter.
    pub fn label(mut self, array: &dyn AnyArray, name: impl Into<String>) -> Self {
        self.labels.push((key(array.of_runtime()), name.into()));
        self
    }

    /// Leaves out arrays that nothing on the tape writes.
    pub fn without_read_only(mut self) -> Self {
        self.hides_read_only = true;
        self
    }

    /// Draws steps that repeat as often as they are there, and not once in a box that says how often.
    pub fn unfolded(mut self) -> Self {
        self.folds = false;
        self
    }

    /// The drawing in GraphViz's language.
    pub fn to_dot(&self) -> String {
        let mut out = String::from("digraph tape {\n  graph [rankdir=LR];\n  node [fontname=sans];\n");
        let (mut at, mut depth) = (0, 1);
        let mut drawn = Vec::new();
        let kinds = if self.folds { kinds(&self.tape.steps) } else { Vec::new() };
        for (number, scope) in self.tape.scopes.iter().enumerate() {
            let (Scope::Begin(place, _) | Scope::End(place)) = scope;
            self.part(at..*place, &kinds, depth, &mut out, &mut drawn);
            at = *place;
            if let Scope::Begin(_, name) = scope {
                line(&mut out, depth, &format!("subgraph cluster_scope{number} {{"));
                depth += 1;
                line(&mut out, depth, &format!("label={};", quoted(name)));
            } else {
                depth -= 1;
                line(&mut out, depth, "}");
            }
        }
        self.part(at..self.tape.steps.len(), &kinds, depth, &mut out, &mut drawn);
        self.arrays(&drawn, &mut out);
        out + "}\n"
    }

    /// The steps of a range; what repeats in a box of its own.
    fn part(
        &self,
        range: Range<usize>,
        kinds: &[usize],
        depth: usize,
        out: &mut String,
        drawn: &mut Vec<usize>,
    ) {
        let steps = &self.tape.steps;
        let mut at = range.start;
        while at < range.end {
            let (length, times) = if self.folds { repeated(&kinds[at..range.end]) } else { (1, 1) };
            let mut inner = depth;
            if times > 1 {
                line(out, depth, &format!("subgraph cluster_repeat{at} {{"));
                inner += 1;
                line(out, inner, &format!("label=\"{times} times\";"));
            }
            for (index, step) in steps.iter().enumerate().skip(at).take(length) {
                let (label, style) = match step {
                    Step::Launch(launch) => (launch.instance.name(), "style=filled, fillcolor=lightblue"),
                    Step::Copy(..) => ("copy", "style=filled, fillcolor=lightgrey"),
                    Step::Overwrite(_) => ("overwrite", "style=filled, fillcolor=lightgrey"),
                    Step::Custom(..) => ("function", "style=dashed"),
                };
                line(out, inner, &format!("op{index} [shape=box, {style}, label={}];", quoted(label)));
                drawn.push(index);
            }
            if times > 1 {
                line(out, depth, "}");
            }
            at += length * times;
        }
    }

    /// The arrays of the steps that were drawn, and the edges.
    fn arrays(&self, drawn: &[usize], out: &mut String) {
        let (mut seen, mut edges) = (BTreeMap::<Key, Seen>::new(), Vec::new());
        for &step in drawn {
            for (name, array, reads, writes) in uses(&self.tape.steps[step]) {
                let (array_key, number) = (key(array), seen.len());
                let entry = seen.entry(array_key.clone()).or_insert_with(|| Seen {
                    number,
                    name: name.clone(),
                    is_written: false,
                    has_gradient: array.grad().is_some(),
                });
                entry.is_written |= writes;
                if name.len() > entry.name.len() {
                    entry.name = name;
                }
                let edge = |is_read| Edge { step, array: array_key.clone(), is_read };
                edges.extend(reads.then(|| edge(true)));
                edges.extend(writes.then(|| edge(false)));
            }
        }
        let is_shown = |key: &Key, seen: &Seen| {
            !self.hides_read_only || seen.is_written || self.labels.iter().any(|(of, _)| of == key)
        };
        seen.retain(|key, seen| is_shown(key, seen));
        for (key, Seen { number, name, has_gradient, .. }) in &seen {
            let label = self.labels.iter().rev().find(|(of, _)| of == key).map_or(name, |(_, label)| label);
            let fill = if *has_gradient { "lightgreen" } else { "white" };
            let tooltip = quoted(&format!("{} {:?}", key.2, key.1));
            let label = quoted(label);
            line(
                out,
                1,
                &format!("array{number} [style=filled, fillcolor={fill}, label={label}, tooltip={tooltip}];"),
            );
        }
        edges.dedup();
        for Edge { step, array, is_read } in edges {
            let Some(Seen { number, .. }) = seen.get(&array) else { continue };
            let text = match is_read {
                true => format!("array{number} -> op{step};"),
                false => format!("op{step} -> array{number};"),
            };
            line(out, 1, &text);
        }
    }
}

/// The name of each array that a step uses, whether it reads it, and whether it writes it.
fn uses(step: &Step) -> Vec<(String, &rt::Array, bool, bool)> {
    match step {
        Step::Launch(launch) => {
            let access = launch.instance.forward().ok().map(|code| code.access());
            let uses = launch.arrays.iter().zip(launch.names()).enumerate().map(|(index, (array, name))| {
                let known = access.and_then(|access| access.arrays.get(index)).map(|array| array.elements);
                let (reads, writes) = known.map_or((true, true), |known| (known.reads, known.writes));
                (name, array, reads, writes)
            });
            uses.collect()
        }
        Step::Copy(to, from) => vec![("copied".into(), from, true, false), ("copy".into(), to, false, true)],
        Step::Overwrite(array) => vec![("overwritten".into(), array, false, true)],
        // Which way is not known.
        Step::Custom(_, arrays) => arrays.iter().map(|array| ("array".into(), array, true, true)).collect(),
    }
}

/// How many of the first are done how many times in a row.
fn repeated(kinds: &[usize]) -> (usize, usize) {
    for length in 1..=kinds.len() / 2 {
        let unit = &kinds[..length];
        let times = kinds.chunks_exact(length).take_while(|chunk| *chunk == unit).count();
        if times > 1 {
            return (length, times);
        }
    }
    (1, 1)
}

/// A number for each step, the same for those that do the same with the same arrays.
fn kinds(steps: &[Step]) -> Vec<usize> {
    let mut known = BTreeMap::new();
    let number = |(index, step): (usize, &Step)| {
        let what = match step {
            Step::Launch(launch) => std::ptr::from_ref(launch.instance).addr(),
            Step::Copy(..) => 0,
            Step::Overwrite(_) => 1,
            // What a function does nobody knows.
            Step::Custom(..) => return usize::MAX - index,
        };
        let arrays: Vec<Key> = uses(step).into_iter().map(|(_, array, ..)| key(array)).collect();
        let next = known.len();
        *known.entry((what, arrays)).or_insert(next)
    };
    steps.iter().enumerate().map(number).collect()
}

fn line(out: &mut String, depth: usize, text: &str) {
    let _ = writeln!(out, "{:1$}{text}", "", 2 * depth);
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
