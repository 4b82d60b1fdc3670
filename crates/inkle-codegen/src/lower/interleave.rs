//! Vectors of elements of a few parts, as memory has them, and vectors of parts.

use smallvec::SmallVec;

use super::Lower;
use crate::emitter::V;

impl Lower<'_, '_> {
    /// The parts of lanes' elements that lie one after the other in `n` vectors, two to four; a vector per part. All
    /// shuffles are of two vectors to one as long, which is what the hardware does.
    pub fn taken_apart(&self, vectors: &[V]) -> SmallVec<[V; 4]> {
        let (lanes, n) = (self.lanes, vectors.len() as u32);
        if let &[a, b, c, d] = vectors {
            // Two parts of half of the lanes, then one part of all.
            let halves = |a, b, parts: [u32; 2]| {
                let order = parts.iter().flat_map(|part| (0..lanes / 2).map(move |lane| lane * 4 + part));
                self.e.shuffle(a, b, &order.collect::<Vec<_>>())
            };
            let joined = |a, b, upper: bool| {
                let first = if upper { lanes / 2 } else { 0 };
                let order = (first..first + lanes / 2).chain(lanes + first..lanes + first + lanes / 2);
                self.e.shuffle(a, b, &order.collect::<Vec<_>>())
            };
            let [low, high] = [[0, 1], [2, 3]].map(|parts| [halves(a, b, parts), halves(c, d, parts)]);
            return [low, high]
                .into_iter()
                .flat_map(|[a, b]| [false, true].map(|upper| joined(a, b, upper)))
                .collect();
        }
        if let &[a, b, c] = vectors {
            return (0..3).map(|part| self.every_third([a, b, c], part)).collect();
        }
        (0..n).map(|part| self.picked_from(vectors, |lane| lane * n + part)).collect()
    }

    /// What [`Self::taken_apart`] takes, from what it gives.
    pub fn put_together(&self, parts: &[V]) -> SmallVec<[V; 4]> {
        let (lanes, n) = (self.lanes, parts.len() as u32);
        if let &[a, b, c, d] = parts {
            let joined = |a, b, upper: bool| {
                let first = if upper { lanes / 2 } else { 0 };
                let order = (first..first + lanes / 2).chain(lanes + first..lanes + first + lanes / 2);
                self.e.shuffle(a, b, &order.collect::<Vec<_>>())
            };
            let mixed = |a, b, upper: bool| {
                let first = if upper { lanes / 4 } else { 0 };
                let place = |at: u32| {
                    let (lane, part) = (first + at / 4, at % 4);
                    if part < 2 { part * (lanes / 2) + lane } else { lanes + (part - 2) * (lanes / 2) + lane }
                };
                self.e.shuffle(a, b, &(0..lanes).map(place).collect::<Vec<_>>())
            };
            return [false, true]
                .into_iter()
                .flat_map(|upper| {
                    let (ab, cd) = (joined(a, b, upper), joined(c, d, upper));
                    [false, true].map(|upper| mixed(ab, cd, upper))
                })
                .collect();
        }
        if let &[a, b, c] = parts {
            return self.as_thirds([a, b, c]);
        }
        (0..n)
            .map(|k| {
                self.picked_from(parts, |at| {
                    let at = k * lanes + at;
                    at % n * lanes + at / n
                })
            })
            .collect()
    }

    /// Every third element of three vectors, from that of this number on. Those of the first two have different places, since
    /// the lanes are no multiple of three: a choice between them is quicker than a shuffle.
    fn every_third(&self, [a, b, c]: [V; 3], part: u32) -> V {
        let lanes = self.lanes;
        let two = self.chosen(a, b, |at| (lanes + at) % 3 == part);
        let place = |lane| match lane * 3 + part {
            at if at < 2 * lanes => at % lanes,
            at => at - lanes,
        };
        self.e.shuffle(two, c, &(0..lanes).map(place).collect::<Vec<_>>())
    }

    /// Three vectors of which every third element is one part's: each part's elements are put where they are in one of them,
    /// and chosen.
    fn as_thirds(&self, parts: [V; 3]) -> SmallVec<[V; 4]> {
        let lanes = self.lanes;
        let spread = |part: usize| {
            let mut order = vec![0; lanes as usize];
            (0..lanes).for_each(|lane| order[((lane * 3 + part as u32) % lanes) as usize] = lane);
            self.e.shuffle(parts[part], parts[part], &order)
        };
        let [a, b, c] = [0, 1, 2].map(spread);
        let joined = |k: u32| {
            let two = self.chosen(a, b, |at| (k * lanes + at) % 3 == 1);
            self.chosen(two, c, |at| (k * lanes + at) % 3 == 2)
        };
        (0..3).map(joined).collect()
    }

    /// The elements of `b` at some places and those of `a` at the others.
    fn chosen(&self, a: V, b: V, is_b: impl Fn(u32) -> bool) -> V {
        let order = (0..self.lanes).map(|at| if is_b(at) { self.lanes + at } else { at });
        self.e.shuffle(a, b, &order.collect::<Vec<_>>())
    }

    /// A vector of elements of two or three others, which are counted through.
    pub fn picked_from(&self, vectors: &[V], element: impl Fn(u32) -> u32) -> V {
        let lanes = self.lanes;
        // Elements of a third vector are put in their places by a second shuffle.
        let first = (0..lanes).map(|at| Some(element(at)).filter(|&i| i < 2 * lanes).unwrap_or(at));
        let v = self.e.shuffle(vectors[0], vectors[1], &first.collect::<Vec<_>>());
        let Some(&third) = vectors.get(2) else { return v };
        let second = (0..lanes).map(|at| if element(at) < 2 * lanes { at } else { element(at) - lanes });
        self.e.shuffle(v, third, &second.collect::<Vec<_>>())
    }
}
