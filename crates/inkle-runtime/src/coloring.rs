//! Colouring of graphs: a colour for every node, so that no edge joins two nodes of one colour.
//!
//! Solvers update all nodes of one colour at once. The functions work on lists in host memory; nodes are numbered
//! from zero, an edge is a pair of them in either direction, edges may be repeated, and an edge from a node to itself
//! is none.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// In which order the nodes get their colours; each takes the smallest that no neighbour has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// By maximum cardinality search (Tarjan and Yannakakis 1984): next is a node with the most coloured neighbours.
    /// Needs the fewest colours possible on chordal graphs.
    MaximumCardinality,
    /// By degree, the largest first (Welsh and Powell 1967).
    LargestFirst,
}

/// Why a graph cannot be coloured.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ColoringError {
    /// An edge ends at no node.
    Edge {
        /// Which edge.
        edge: usize,
        /// Its ends.
        ends: [i32; 2],
        /// How many nodes there are.
        nodes: usize,
    },
    /// A node has a colour that is none.
    Color {
        /// Which node.
        node: usize,
        /// Its colour.
        color: i32,
        /// How many colours there are.
        colors: usize,
    },
}

impl std::fmt::Display for ColoringError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ColoringError::Edge { edge, ends: [a, b], nodes } => write!(
                f,
                "Graph edge {edge} has endpoints ({a}, {b}), but valid node indices are in the range [0, {nodes})."
            ),
            ColoringError::Color { node, color, colors } => {
                write!(f, "Node {node} has color {color}, but valid colors are in the range [0, {colors}).")
            }
        }
    }
}

impl std::error::Error for ColoringError {}

/// The neighbours of every node.
struct Graph {
    /// Where each node's neighbours start in `neighbours`; one more entry for the end.
    starts: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    fn new(nodes: usize, edges: &[[i32; 2]]) -> Result<Graph, ColoringError> {
        let mut starts = vec![0; nodes + 1];
        for (edge, &ends) in edges.iter().enumerate() {
            if ends.iter().any(|&n| usize::try_from(n).map_or(true, |n| n >= nodes)) {
                return Err(ColoringError::Edge { edge, ends, nodes });
            }
            if ends[0] != ends[1] {
                for node in ends {
                    starts[node as usize + 1] += 1;
                }
            }
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0; starts[nodes]];
        for &[a, b] in edges.iter().filter(|[a, b]| a != b) {
            for (from, to) in [(a, b), (b, a)] {
                neighbours[next[from as usize]] = to as u32;
                next[from as usize] += 1;
            }
        }
        Ok(Graph { starts, neighbours })
    }

    fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    fn neighbours(&self, node: usize) -> impl Iterator<Item = usize> {
        self.neighbours[self.starts[node]..self.starts[node + 1]].iter().map(|&n| n as usize)
    }

    fn largest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.nodes()).collect();
        order.sort_by_key(|&node| Reverse(self.starts[node + 1] - self.starts[node]));
        order
    }

    fn maximum_cardinality(&self) -> Vec<usize> {
        let mut weights = vec![0u32; self.nodes()];
        let mut chosen = vec![false; self.nodes()];
        // Entries of nodes whose weight has grown since are passed over.
        let mut queue: BinaryHeap<_> = (0..self.nodes()).map(|node| (0, Reverse(node))).collect();
        let mut order = Vec::with_capacity(self.nodes());
        while let Some((weight, Reverse(node))) = queue.pop() {
            if chosen[node] || weights[node] != weight {
                continue;
            }
            chosen[node] = true;
            order.push(node);
            for other in self.neighbours(node) {
                if !chosen[other] {
                    weights[other] += 1;
                    queue.push((weights[other], Reverse(other)));
                }
            }
        }
        order
    }
}

/// A colour for each of `nodes` nodes, and how many colours there are.
///
/// # Errors
/// [`ColoringError::Edge`].
pub fn assign(nodes: usize, edges: &[[i32; 2]], order: Order) -> Result<(Vec<i32>, usize), ColoringError> {
    let graph = Graph::new(nodes, edges)?;
    let order = match order {
        Order::MaximumCardinality => graph.maximum_cardinality(),
        Order::LargestFirst => graph.largest_first(),
    };
    let mut colors = vec![-1; nodes];
    let mut used = 0;
    // The node that last saw a neighbour of each colour.
    let mut seen = vec![usize::MAX; nodes + 1];
    for node in order {
        for other in graph.neighbours(node) {
            if let Ok(color) = usize::try_from(colors[other]) {
                seen[color] = node;
            }
        }
        let color = seen.iter().position(|&by| by != node).unwrap_or(0);
        colors[node] = color as i32;
        used = used.max(color + 1);
    }
    Ok((colors, used))
}

/// What [`balance`] reached.
#[derive(Clone, PartialEq, Debug)]
pub struct Balanced {
    /// The colour of each node.
    pub colors: Vec<i32>,
    /// The number of nodes of the most frequent colour over that of the rarest one.
    pub ratio: f32,
    /// Whether more steps could have been made than were allowed.
    pub is_stopped: bool,
}

/// Colors with their nodes, while nodes change between them.
struct Groups<'a> {
    graph: &'a Graph,
    colors: Vec<i32>,
    members: Vec<BTreeSet<usize>>,
}

impl Groups<'_> {
    fn ratio(&self) -> f32 {
        let sizes = || self.members.iter().map(BTreeSet::len);
        match (sizes().max(), sizes().min()) {
            (Some(most), Some(least)) if most > 0 => most as f32 / least as f32,
            _ => 1.0,
        }
    }

    /// The first node that can take the rarest colour, of the most frequent colour that has one, with that colour.
    fn step(&self) -> Option<(usize, usize)> {
        let size = |color: usize| self.members[color].len();
        let to = (0..self.members.len()).min_by_key(|&color| size(color))?;
        let mut from: Vec<usize> =
            (0..self.members.len()).filter(|&c| c != to && size(c) >= size(to)).collect();
        from.sort_by_key(|&color| Reverse(size(color)));
        let is_free = |node: usize| self.graph.neighbours(node).all(|other| self.colors[other] != to as i32);
        from.into_iter()
            .flat_map(|color| &self.members[color])
            .copied()
            .find(|&n| is_free(n))
            .map(|n| (n, to))
    }

    fn recolor(&mut self, node: usize, to: usize) {
        let from = std::mem::replace(&mut self.colors[node], to as i32);
        self.members[from as usize].remove(&node);
        self.members[to].insert(node);
    }
}

/// Makes the colours of a valid colouring more equally frequent, by giving nodes the rarest colour one at a time, until
/// the ratio is `target`, no step is left, or steps make it worse; at most `limit` steps. The best colouring on the way
/// is the result.
///
/// # Errors
/// [`ColoringError`] for an edge or a colour that is none.
pub fn balance(
    edges: &[[i32; 2]],
    colors: &[i32],
    count: usize,
    target: f32,
    limit: Option<usize>,
) -> Result<Balanced, ColoringError> {
    let graph = Graph::new(colors.len(), edges)?;
    let mut members = vec![BTreeSet::new(); count];
    for (node, &color) in colors.iter().enumerate() {
        let group = usize::try_from(color).ok().and_then(|color| members.get_mut(color));
        let Some(group) = group else { return Err(ColoringError::Color { node, color, colors: count }) };
        group.insert(node);
    }
    let mut groups = Groups { graph: &graph, colors: colors.to_vec(), members };
    let mut best = Balanced { colors: colors.to_vec(), ratio: groups.ratio(), is_stopped: false };
    let mut steps = 0;
    // Steps that only keep the ratio can go round in circles.
    let mut idle = 0;
    while best.ratio > target && idle <= colors.len() {
        let Some((node, to)) = groups.step() else { break };
        if limit.is_some_and(|limit| steps >= limit) {
            best.is_stopped = true;
            break;
        }
        groups.recolor(node, to);
        steps += 1;
        let ratio = groups.ratio();
        if ratio < best.ratio {
            best.ratio = ratio;
            best.colors.copy_from_slice(&groups.colors);
            idle = 0;
        } else if ratio > best.ratio {
            break;
        } else {
            idle += 1;
        }
    }
    Ok(best)
}

/// The nodes of each of `count` colours, in order. Nodes of other colours are left out.
pub fn groups(colors: &[i32], count: usize) -> Vec<Vec<i32>> {
    let mut groups = vec![Vec::new(); count];
    for (node, &color) in colors.iter().enumerate() {
        if let Some(group) = usize::try_from(color).ok().and_then(|color| groups.get_mut(color)) {
            group.push(node as i32);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_edges(nodes: u64, count: usize) -> Vec<[i32; 2]> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % nodes) as i32
        };
        (0..count).map(|_| [next(), next()]).collect()
    }

    fn is_valid(edges: &[[i32; 2]], colors: &[i32]) -> bool {
        edges.iter().all(|[a, b]| a == b || colors[*a as usize] != colors[*b as usize])
    }

    #[test]
    fn colorings_are_valid_and_use_all_their_colors() {
        let edges = random_edges(300, 1500);
        for order in [Order::MaximumCardinality, Order::LargestFirst] {
            let (colors, count) = assign(300, &edges, order).unwrap();
            assert!(is_valid(&edges, &colors));
            assert!(groups(&colors, count).iter().all(|group| !group.is_empty()));
            assert_eq!(groups(&colors, count).iter().map(Vec::len).sum::<usize>(), 300);
        }
    }

    #[test]
    fn chordal_graphs_get_as_few_colors_as_possible() {
        // A strip of triangles: node i is joined to i + 1 and i + 2.
        let edges: Vec<[i32; 2]> = (0..40).flat_map(|i| [[i, i + 1], [i, i + 2]]).collect();
        assert_eq!(assign(42, &edges, Order::MaximumCardinality).unwrap().1, 3);
    }

    #[test]
    fn balancing_keeps_colorings_valid() {
        let edges = random_edges(300, 900);
        let (colors, count) = assign(300, &edges, Order::MaximumCardinality).unwrap();
        let balanced = balance(&edges, &colors, count, 1.05, None).unwrap();
        assert!(is_valid(&edges, &balanced.colors));
        assert!(balanced.ratio < 1.2, "{}", balanced.ratio);
        let sizes: Vec<usize> = groups(&balanced.colors, count).iter().map(Vec::len).collect();
        let (most, least) = (sizes.iter().max().unwrap(), sizes.iter().min().unwrap());
        assert_eq!(balanced.ratio, *most as f32 / *least as f32);
    }

    #[test]
    fn what_is_outside_is_refused() {
        let edge = ColoringError::Edge { edge: 1, ends: [0, 2], nodes: 2 };
        assert_eq!(assign(2, &[[0, 1], [0, 2]], Order::LargestFirst), Err(edge));
        let color = ColoringError::Color { node: 0, color: -1, colors: 2 };
        assert_eq!(balance(&[[0, 1]], &[-1, 0], 2, 1.1, None), Err(color));
    }
}
