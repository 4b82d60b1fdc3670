//! A stream as a picture: a box an operation, operations that wait for others below them, bodies inside their condition.

use std::fmt::Write;

use crate::dot::{bodies, dependencies, label};
use crate::ops::{Node, OpStream};

/// The width of a character and the height of a line of the monospaced font, pixels.
const CHARACTER: f64 = 7.3;
const LINE: f64 = 28.0;
/// The space between boxes, and between rows, which the arrows cross, pixels.
const GAP: f64 = 16.0;
const ROW_GAP: f64 = 28.0;

const HEAD: &str = r##"<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>
<style>rect{fill:#fff;stroke:#333}rect.body{fill:#f3f5f8;stroke:#99a}path.wait{fill:none;stroke:#555;marker-end:url(#tip)}text{font:12px monospace;fill:#111}</style>
"##;

/// A part of the picture, drawn from its upper left corner.
struct Block {
    width: f64,
    height: f64,
    drawn: String,
}

/// The stream as SVG. `verbose` puts the whole line of each operation into its box.
pub fn svg(stream: &OpStream, verbose: bool) -> String {
    let block = list(stream, &stream.body, verbose);
    let (width, height) = (block.width + 2.0 * GAP, block.height + 2.0 * GAP);
    let size = format!("width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\"");
    let mut text = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" {size}>\n{HEAD}");
    put(&mut text, GAP, GAP, &block);
    text.push_str("</svg>\n");
    text
}

/// Operations, each in the first row below all that it waits for.
fn list(stream: &OpStream, nodes: &[Node], verbose: bool) -> Block {
    let waits = dependencies(nodes);
    let blocks: Vec<Block> = nodes.iter().map(|node| operation(stream, node, verbose)).collect();
    let mut rows: Vec<Vec<usize>> = Vec::new();
    let mut row_of: Vec<usize> = Vec::with_capacity(nodes.len());
    for (index, earlier) in waits.iter().enumerate() {
        let row = earlier.iter().map(|&e| row_of[e] + 1).max().unwrap_or(0);
        row_of.push(row);
        if rows.len() <= row {
            rows.resize_with(row + 1, Vec::new);
        }
        rows[row].push(index);
    }
    let row_width = |row: &Vec<usize>| {
        row.iter().map(|&i| blocks[i].width).sum::<f64>() + GAP * row.len().saturating_sub(1) as f64
    };
    let width = rows.iter().map(row_width).fold(0.0, f64::max);
    let mut places = vec![(0.0, 0.0); nodes.len()];
    let mut y = 0.0;
    for row in &rows {
        let mut x = (width - row_width(row)) / 2.0;
        for &index in row {
            places[index] = (x, y);
            x += blocks[index].width + GAP;
        }
        y += row.iter().map(|&i| blocks[i].height).fold(0.0, f64::max) + ROW_GAP;
    }
    let mut drawn = String::new();
    for (block, (x, y)) in blocks.iter().zip(&places) {
        put(&mut drawn, *x, *y, block);
    }
    for (later, earlier) in waits.iter().enumerate() {
        for &earlier in earlier {
            let (from_x, from_y) =
                (places[earlier].0 + blocks[earlier].width / 2.0, places[earlier].1 + blocks[earlier].height);
            let (to_x, to_y) = (places[later].0 + blocks[later].width / 2.0, places[later].1);
            let middle = (from_y + to_y) / 2.0;
            let _ = writeln!(
                drawn,
                "<path class=\"wait\" d=\"M{from_x:.1} {from_y:.1}C{from_x:.1} {middle:.1} {to_x:.1} {middle:.1} {to_x:.1} {to_y:.1}\"/>"
            );
        }
    }
    Block { width, height: (y - ROW_GAP).max(0.0), drawn }
}

fn operation(stream: &OpStream, node: &Node, verbose: bool) -> Block {
    let label = label(stream, &node.op, verbose);
    let inside: Vec<(&str, Block)> = bodies(&node.op)
        .into_iter()
        .filter(|(_, body)| !body.is_empty())
        .map(|(name, body)| (name, list(stream, body, verbose)))
        .collect();
    let mut drawn = String::new();
    let (mut x, mut height) = (GAP, LINE);
    for (name, block) in &inside {
        let wide = block.width.max(text_width(name)) + 2.0 * GAP;
        let high = block.height + LINE + GAP;
        rectangle(&mut drawn, "body", x, LINE, wide, high);
        words(&mut drawn, x + 8.0, LINE + 18.0, name);
        put(&mut drawn, x + (wide - block.width) / 2.0, 2.0 * LINE, block);
        x += wide + GAP;
        height = f64::max(height, LINE + high + GAP);
    }
    let width = text_width(&label).max(if inside.is_empty() { 0.0 } else { x });
    let mut around = String::new();
    rectangle(&mut around, "operation", 0.0, 0.0, width, height);
    words(&mut around, 8.0, 18.0, &label);
    Block { width, height, drawn: around + &drawn }
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER + 16.0
}

fn put(text: &mut String, x: f64, y: f64, block: &Block) {
    let _ = writeln!(text, "<g transform=\"translate({x:.1} {y:.1})\">\n{}</g>", block.drawn);
}

fn rectangle(text: &mut String, class: &str, x: f64, y: f64, width: f64, height: f64) {
    let _ = writeln!(
        text,
        "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\"/>"
    );
}

fn words(text: &mut String, x: f64, y: f64, words: &str) {
    let safe = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\">{safe}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Abi, Condition, Kernel, Launch, Op, View};
    use inkle_ir::Type;

    fn fill(region: u32) -> Node {
        let dst = View { region, offset: 0, dtype: Type::F32, shape: vec![1], strides: vec![4] };
        Node { queue: 0, op: Op::Fill { dst, pattern: Box::new([0; 4]) } }
    }

    #[test]
    fn what_waits_stands_below_and_bodies_stand_inside() {
        let condition = Condition { region: 0, offset: 0 };
        let looped = Node { queue: 0, op: Op::While { condition, body: vec![fill(1), fill(2)] } };
        let stream = OpStream { body: vec![fill(0), fill(3), looped], ..OpStream::default() };
        let drawn = svg(&stream, false);
        let count = |what: &str| drawn.matches(what).count();
        assert_eq!(
            (count("class=\"operation\""), count("class=\"body\""), count("class=\"wait\"")),
            (5, 1, 1)
        );
        let rows: Vec<f64> = stream_rows(&drawn);
        assert_eq!((rows[0], rows[1]), (0.0, 0.0));
        assert!(rows[2] > 0.0);
    }

    /// How far down the outermost operations stand.
    fn stream_rows(drawn: &str) -> Vec<f64> {
        let places = drawn.split("translate(").skip(2).map(|rest| rest.split([' ', ')']).nth(1).unwrap());
        places.take(3).map(|y| y.parse().unwrap()).collect()
    }

    #[test]
    fn names_are_text_and_never_markup() {
        let kernel = Kernel {
            name: "a<b>&c".into(),
            digest: [0; 32],
            options: String::new(),
            abi: Abi::Inkle,
            params_bytes: 24,
            params: Vec::new(),
        };
        let launch = Launch {
            kernel: 0,
            block_dim: 256,
            max_blocks: 0,
            shared_bytes: 0,
            params: vec![1, 1, 1].into(),
            pointers: Box::default(),
        };
        let body = vec![Node { queue: 0, op: Op::Launch(launch) }];
        let stream = OpStream { kernels: vec![kernel.into()], body, ..OpStream::default() };
        assert!(svg(&stream, false).contains(">a&lt;b&gt;&amp;c<"));
    }
}
