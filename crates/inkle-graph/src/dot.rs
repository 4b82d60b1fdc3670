//! A stream as a drawing for Graphviz: a box an operation, an arrow where one has to wait for another.

use std::fmt::Write;

use crate::access::{Access, accesses};
use crate::ops::{Node, Op, OpStream};

/// The stream in Graphviz's language. `verbose` puts the whole line of each operation into its box.
pub fn dot(stream: &OpStream, verbose: bool) -> String {
    let mut text = String::from("digraph graph_of_operations {\n    node [shape=box, fontname=monospace];\n");
    let mut next = 0;
    nodes(stream, &stream.body, verbose, 1, &mut next, &mut text);
    text.push_str("}\n");
    text
}

/// The lists of operations that an operation owns, by name.
pub fn bodies(op: &Op) -> Vec<(&'static str, &[Node])> {
    match op {
        Op::If { on_true, on_false, .. } => vec![("true", on_true), ("false", on_false)],
        Op::While { body, .. } => vec![("body", body)],
        _ => Vec::new(),
    }
}

/// Which earlier operations each one has to wait for, without those that they wait for themselves.
pub(crate) fn dependencies(list: &[Node]) -> Vec<Vec<usize>> {
    let touched: Vec<Vec<Access>> = list.iter().map(|node| accesses(&node.op)).collect();
    let mut reached: Vec<Vec<bool>> = Vec::with_capacity(list.len());
    let mut direct = Vec::with_capacity(list.len());
    for (later, mine) in touched.iter().enumerate() {
        let mut waits = vec![false; later];
        let mut found = Vec::new();
        for earlier in (0..later).rev() {
            if waits[earlier] || !mine.iter().any(|a| touched[earlier].iter().any(|b| a.conflicts(b))) {
                continue;
            }
            found.push(earlier);
            waits[earlier] = true;
            reached[earlier].iter().zip(&mut waits).for_each(|(known, mine)| *mine |= known);
        }
        reached.push(waits);
        direct.push(found);
    }
    direct
}

/// What an operation does, in a word, or in a line if `verbose`.
pub fn label(stream: &OpStream, op: &Op, verbose: bool) -> String {
    let name = |kernel: u32| stream.kernels.get(kernel as usize).map_or("?", |k| k.name.as_str()).to_owned();
    if !verbose {
        return match op {
            Op::Launch(launch) => name(launch.kernel),
            Op::Copy { .. } => "copy".into(),
            Op::Fill { .. } => "fill".into(),
            Op::Algorithm(algorithm) => algorithm.name().into(),
            Op::If { .. } => "if".into(),
            Op::While { .. } => "while".into(),
            Op::Record { event } => format!("record e{event}"),
            Op::Wait { event } => format!("wait e{event}"),
        };
    }
    let line = crate::print::line(stream, op);
    match op {
        Op::Launch(launch) => line.replacen(&format!("k{}", launch.kernel), &name(launch.kernel), 1),
        _ => line,
    }
}

fn nodes(
    stream: &OpStream,
    list: &[Node],
    verbose: bool,
    depth: usize,
    next: &mut usize,
    text: &mut String,
) -> Vec<usize> {
    let indent = "    ".repeat(depth);
    let mut numbers = Vec::with_capacity(list.len());
    for node in list {
        let number = *next;
        *next += 1;
        numbers.push(number);
        let label = label(stream, &node.op, verbose).replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "{indent}n{number} [label=\"{label}\"];");
        for (name, body) in bodies(&node.op).into_iter().filter(|(_, body)| !body.is_empty()) {
            let _ = writeln!(text, "{indent}subgraph cluster_{number}_{name} {{");
            let _ = writeln!(text, "{indent}    label=\"{name}\";");
            let inside = nodes(stream, body, verbose, depth + 1, next, text);
            let _ = writeln!(text, "{indent}}}");
            if let Some(first) = inside.first() {
                let _ = writeln!(text, "{indent}n{number} -> n{first} [style=dashed];");
            }
        }
    }
    for (later, waits) in dependencies(list).into_iter().enumerate() {
        for earlier in waits.into_iter().rev() {
            let _ = writeln!(text, "{indent}n{} -> n{};", numbers[earlier], numbers[later]);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Condition, View};
    use inkle_ir::Type;

    #[test]
    fn arrows_are_the_dependencies_that_others_do_not_imply() {
        let view = |region| View { region, offset: 0, dtype: Type::F32, shape: vec![1], strides: vec![4] };
        let fill = |region| Node { queue: 0, op: Op::Fill { dst: view(region), pattern: Box::new([0; 4]) } };
        let copy = |to, from| Node { queue: 0, op: Op::Copy { dst: view(to), src: view(from) } };
        let condition = Condition { region: 2, offset: 0 };
        let looped = Node { queue: 0, op: Op::While { condition, body: vec![fill(3)] } };
        let stream =
            OpStream { body: vec![fill(0), copy(1, 0), copy(2, 1), fill(4), looped], ..OpStream::default() };
        let drawn = dot(&stream, false);
        let arrows: Vec<&str> = drawn.lines().map(str::trim).filter(|line| line.contains("->")).collect();
        assert_eq!(arrows, ["n4 -> n5 [style=dashed];", "n0 -> n1;", "n1 -> n2;", "n2 -> n4;"]);
        assert!(drawn.contains("label=\"while\"") && dot(&stream, true).contains("while r2+0"));
    }
}
