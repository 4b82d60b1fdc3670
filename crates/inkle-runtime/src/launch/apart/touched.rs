//! What a worker touched of a copy.

use std::ops::Range;
use std::sync::OnceLock;

use inkle_ir::OwnRange;
use smallvec::SmallVec;

use super::LINE;

/// Pieces that are as near to each other are one.
const NEAR: usize = 16 * LINE;
/// As many pieces are told apart.
const MOST: usize = 8;

/// The bytes of a copy that were touched: pieces of whole lines or up to its end, which may overlap. Where a worker has chunks of
/// other workers' shares these lie far apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched(SmallVec<[Range<usize>; 2]>);

impl Touched {
    /// Notes what code says that it touched of a copy that is so long, and that this is noted.
    pub fn note(&mut self, range: &mut OwnRange, bytes: usize) {
        let (low, high) = (range.low, range.high);
        (range.low, range.high) = (OwnRange::EVERYTHING.low, OwnRange::EVERYTHING.high);
        if high < low {
            return;
        }
        if low < 0 {
            return self.note_all(bytes);
        }
        let from = (low as usize / LINE * LINE).min(bytes);
        let end = (high as usize).saturating_add(1).min(bytes).next_multiple_of(LINE).min(bytes);
        let is_near = |piece: &&mut Range<usize>| {
            from <= piece.end.saturating_add(NEAR) && piece.start <= end.saturating_add(NEAR)
        };
        let is_full = self.0.len() == MOST;
        let known = match self.0.iter_mut().find(is_near) {
            Some(piece) => Some(piece),
            None if is_full => self.0.last_mut(),
            None => None,
        };
        match known {
            Some(piece) => *piece = piece.start.min(from)..piece.end.max(end),
            None => self.0.push(from..end),
        }
    }

    /// Notes that all of a copy was touched, which is so long.
    pub fn note_all(&mut self, bytes: usize) {
        self.0.clear();
        self.0.push(0..bytes);
    }

    /// Those of them between two lines.
    fn within(&self, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let pieces = self.0.iter();
        let pieces = pieces.map(move |piece| piece.start.max(part.start)..piece.end.min(part.end));
        pieces.filter(|piece| !piece.is_empty())
    }
}

/// What each worker touched of its copies, once it has run its chunks.
pub(super) struct AllTouched(SmallVec<[OnceLock<Workers>; 8]>);

/// Of each array.
type Workers = SmallVec<[Touched; 4]>;

impl AllTouched {
    pub fn new(workers: usize) -> AllTouched {
        AllTouched((0..workers).map(|_| OnceLock::new()).collect())
    }

    /// Notes what a worker touched of each array.
    pub fn set(&self, worker: usize, touched: Workers) {
        // Each worker runs its chunks once.
        let _ = self.0[worker].set(touched);
    }

    /// What each worker touched of a part of an array, with the worker.
    pub fn within(&self, array: usize, part: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
        let known = self.0.iter().enumerate().filter_map(|(worker, touched)| Some((worker, touched.get()?)));
        known.flat_map(move |(worker, touched)| {
            touched[array].within(part.clone()).map(move |piece| (worker, piece))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES: usize = 100_000;

    fn touched(pieces: &[(i64, i64)]) -> Vec<(usize, usize)> {
        let mut touched = Touched::default();
        for &(low, high) in pieces {
            let mut range = OwnRange { low, high, ..OwnRange::EVERYTHING };
            touched.note(&mut range, BYTES);
            assert_eq!(range, OwnRange::EVERYTHING, "the next chunk begins anew");
        }
        touched.0.iter().map(|piece| (piece.start, piece.end)).collect()
    }

    #[test]
    fn pieces_are_whole_lines_and_near_ones_are_one() {
        assert!(touched(&[(i64::MAX, i64::MIN)]).is_empty(), "nothing was touched");
        assert_eq!(touched(&[(70, 70), (130, 200)]), [(64, 256)]);
        assert_eq!(touched(&[(50_000, 50_100), (70, 70)]), [(49_984, 50_112), (64, 128)]);
        assert_eq!(touched(&[(99_990, 200_000)]), [(99_968, BYTES)]);
    }

    #[test]
    fn an_index_from_the_end_may_be_any() {
        assert_eq!(touched(&[(70, 70), (-12, 5)]), [(0, BYTES)]);
    }

    #[test]
    fn of_many_pieces_all_are_kept() {
        let pieces: Vec<(i64, i64)> = (0..20).map(|k| (k * 5000, k * 5000 + 3)).collect();
        let found = touched(&pieces);
        assert_eq!(found.len(), MOST);
        let is_in = |at: i64| found.iter().any(|&(from, end)| (from..end).contains(&(at as usize)));
        assert!(pieces.iter().all(|&(low, _)| is_in(low)));
    }

    #[test]
    fn each_part_gets_its_share_of_every_worker() {
        let all = AllTouched::new(3);
        let of = |low, high| {
            let mut touched = Touched::default();
            touched.note(&mut OwnRange { low, high, ..OwnRange::EVERYTHING }, BYTES);
            touched
        };
        all.set(0, [Touched::default(), of(0, 127)].into_iter().collect());
        all.set(2, [of(640, 700), of(64, 6400)].into_iter().collect());
        let within = |array, part| all.within(array, part).collect::<Vec<_>>();
        assert_eq!(within(0, 0..BYTES), [(2, 640..704)]);
        assert_eq!(within(1, 64..128), [(0, 64..128), (2, 64..128)]);
        assert!(within(1, 6464..BYTES).is_empty());
    }
}
