//! Algorithms over arrays as launches of kernels, which is how graphs on GPUs do them.
//!
//! The kernels are not here: whoever has a compiler records what an algorithm does, on arrays of the CPU that lie as the
//! graph's do, and the recorded operations take the algorithm's place.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use inkle_runtime::algorithms::Algorithm;
use inkle_runtime::{Allocation, Array, Device};

use super::chain::adopt;
use super::load::{contents, may_be_read_first};
use super::{Bundle, BundleError, CodeTarget};
use crate::error::GraphError;
use crate::graph::Graph;
use crate::ops::{Node, Op, Region, RegionKind, View};
use crate::replay::Bound;
use crate::validate::validate;

/// Records what an algorithm does to arrays of the CPU, as launches, copies and fills; nothing of it runs. Else it says why
/// there is no such graph.
pub type RecordAlgorithm<'a> = &'a dyn Fn(&Algorithm<Array>) -> Result<Graph, String>;

/// Arrays start in memory as they do in a region, modulo this many bytes.
const REGION_ALIGN: u64 = 64;

impl Bundle {
    /// How many operations are algorithms.
    pub fn algorithm_count(&self) -> usize {
        let mut count = 0;
        self.stream.each(|op| count += usize::from(matches!(op, Op::Algorithm(_))));
        count
    }

    /// Puts launches in the place of algorithms. The bundle gets the IR of their kernels, and unless `code_for` is `None` code
    /// for [`CodeTarget::FLOOR`] and for what it names.
    ///
    /// # Errors
    /// [`GraphError::NotCapturable`] for an algorithm of which `record` makes no graph; [`BundleError::Compile`].
    pub fn lower_algorithms(
        &mut self,
        record: RecordAlgorithm<'_>,
        code_for: Option<&[CodeTarget]>,
    ) -> Result<(), GraphError> {
        let body = std::mem::take(&mut self.stream.body);
        self.stream.body = Lowering { whole: self, record, code_for }.list(body)?;
        let why = |why| BundleError::Damaged { part: "algorithms", why };
        Ok(validate(&self.stream).map_err(why)?)
    }
}

struct Lowering<'a> {
    whole: &'a mut Bundle,
    record: RecordAlgorithm<'a>,
    code_for: Option<&'a [CodeTarget]>,
}

/// Memory that stands for a part of a region.
struct Stand {
    memory: Arc<Allocation>,
    /// Where it starts in the region.
    start: u64,
}

impl Lowering<'_> {
    fn list(&mut self, nodes: Vec<Node>) -> Result<Vec<Node>, GraphError> {
        let mut lowered = Vec::with_capacity(nodes.len());
        for Node { queue, op } in nodes {
            let op = match op {
                Op::Algorithm(algorithm) => {
                    let launches = self.algorithm(&algorithm)?;
                    lowered.extend(launches.into_iter().map(|node| Node { queue, ..node }));
                    continue;
                }
                Op::If { condition, on_true, on_false } => {
                    Op::If { condition, on_true: self.list(on_true)?, on_false: self.list(on_false)? }
                }
                Op::While { condition, body } => Op::While { condition, body: self.list(body)? },
                other => other,
            };
            lowered.push(Node { queue, op });
        }
        Ok(lowered)
    }

    /// What an algorithm does, as operations of the bundle.
    fn algorithm(&mut self, algorithm: &Algorithm<View>) -> Result<Vec<Node>, GraphError> {
        let stands = stands(algorithm)?;
        let arrays = algorithm.try_map(|view| {
            let Stand { memory, start } = &stands[&view.region];
            let base = memory.address().wrapping_sub(*start);
            Bound { memory: memory.clone(), base }.array(view)
        })?;
        let graph = (self.record)(&arrays).map_err(|why| GraphError::NotCapturable {
            what: format!("{}() as kernels ({why})", algorithm.name()),
        })?;
        let mut space = None;
        algorithm.each(|view, _| {
            space = space.or(self.whole.stream.regions.get(view.region as usize).map(|region| region.space));
        });
        // Per region of the recorded graph the place of the bundle that it is.
        let mut places = Vec::new();
        for (index, (bound, region)) in graph.memory().iter().zip(&graph.ops().regions).enumerate() {
            let stand = stands.iter().find(|(_, stand)| {
                let (first, bytes) = (stand.memory.address(), stand.memory.bytes() as u64);
                (first..first + bytes).contains(&bound.base)
            });
            places.push(match stand {
                Some((region, stand)) => (*region, stand.start + (bound.base - stand.memory.address())),
                None => {
                    let needed =
                        region.kind != RegionKind::Internal || may_be_read_first(graph.ops(), index as u32);
                    let kept = if needed { contents(bound, region.bytes)? } else { None };
                    let space = space.unwrap_or(region.space);
                    self.whole.stream.regions.push(Region { space, ..*region });
                    self.whole.memory.push(kept);
                    (self.whole.stream.regions.len() as u32 - 1, 0)
                }
            });
        }
        let recorded = graph.without_memory(self.code_for)?;
        Ok(adopt(self.whole, recorded, &|region, offset| {
            let (region, start) = places[region as usize];
            (region, start.wrapping_add(offset))
        }))
    }
}

/// Per region that an algorithm uses, memory of the CPU that stands for what it uses of it.
fn stands(algorithm: &Algorithm<View>) -> Result<BTreeMap<u32, Stand>, GraphError> {
    let mut spans: BTreeMap<u32, Range<u64>> = BTreeMap::new();
    algorithm.each(|view, _| {
        let span = view.span().unwrap_or(view.offset..view.offset);
        let known = spans.entry(view.region).or_insert(span.clone());
        *known = known.start.min(span.start)..known.end.max(span.end);
    });
    let mut stands = BTreeMap::new();
    for (region, span) in spans {
        let start = span.start / REGION_ALIGN * REGION_ALIGN;
        let bytes = usize::try_from(span.end - start).unwrap_or(usize::MAX);
        stands.insert(region, Stand { memory: Allocation::new(Device::cpu(), bytes)?, start });
    }
    Ok(stands)
}
