//! Whether ranges of arrays pay for a kernel.

use super::chunks::Dealt;

/// What came of a launch.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// How many lines of copies workers added to.
    pub moved: u64,
    /// How many were looked at to find them.
    pub looked_at: u64,
    /// Who ran what.
    pub dealt: Dealt,
    /// The copies' memory was new.
    pub is_fresh: bool,
}

/// Whether workers have ranges of what launches of a kernel add to, and how many times launches go through the arrays: twice where
/// the edges of a grid lie in one array, those of each direction one after the other. Each worker has the same share of
/// each part as of the arrays: then it mostly adds to what is its own. It is found by trying.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// How many of [`TRIED`] were tried.
    tried: u8,
    /// The one that is good.
    good: Option<u8>,
    /// How often one was no good any more.
    given_up: u8,
    /// How many launches in a row told nothing.
    uneven: u8,
    /// How many there were since nothing is tried any more.
    calm: u8,
}

/// The numbers of parts that are tried. Each divides the number of chunks of each worker.
const TRIED: [u8; 5] = [1, 2, 3, 4, 6];
/// Ranges are good if at most one in so many lines is added to in copies.
const GOOD: u64 = 8;
/// They are no good any more if it is one in so many.
const BAD: u64 = 2;
/// After so many disappointments there are copies only.
const PATIENCE: u8 = 3;
/// So many launches in a row that tell nothing are enough of a number of parts.
const MOST_UNEVEN: u8 = 16;
/// How many times the lines that it has on average a chunk may touch in copies.
const STRAY_SHARE: u64 = 3;
/// So many lines without sums are looked at in the time in which one with sums is added.
const LOOKS: u64 = 4;

impl Sharing {
    /// The number of parts for the next launch; `None` is copies only.
    pub fn next(&self) -> Option<usize> {
        self.good.or_else(|| TRIED.get(usize::from(self.tried)).copied()).map(usize::from)
    }

    /// Whether nothing is being tried any more, and memory that is used now has been used before.
    pub fn is_settled(&self) -> bool {
        self.calm > 1
    }

    /// Tries again from now on, unless something good was found.
    pub fn forget(&mut self) {
        if self.good.is_none() {
            *self = Sharing::default();
        }
        self.given_up = 0;
    }

    /// Notes what came of a launch with so many parts, whose arrays have so many lines.
    pub fn note(&mut self, parts: Option<usize>, outcome: &Outcome, lines: u64) {
        self.calm = if parts.is_none() || self.good.is_some() { self.calm.saturating_add(1) } else { 0 };
        let Some(parts) = parts else { return };
        // A chunk that another worker ran is out of that one's range, and touches what it would at each index.
        let by_strays = outcome.dealt.of_strays(STRAY_SHARE * lines);
        // Where there are many workers a few always run chunks of others, which are out of their ranges.
        let by_few = Some(outcome.dealt.of_strays(lines)).filter(|&few| few <= lines / GOOD).unwrap_or(0);
        let in_copies = outcome.moved.max(outcome.looked_at / LOOKS);
        match self.good {
            None if in_copies > lines / GOOD + by_strays => self.next_is_tried(),
            None if in_copies <= lines / GOOD + by_few && outcome.dealt.were_most_there() => {
                self.good = u8::try_from(parts).ok();
            }
            None if self.uneven >= MOST_UNEVEN => self.next_is_tried(),
            None => self.uneven += 1,
            Some(_) if in_copies >= lines / BAD + by_strays => {
                self.given_up += 1;
                let tried = if self.given_up < PATIENCE { 0 } else { TRIED.len() as u8 };
                *self = Sharing { tried, given_up: self.given_up, ..Sharing::default() };
            }
            Some(_) => {}
        }
    }

    fn next_is_tried(&mut self) {
        (self.tried, self.uneven) = (self.tried + 1, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: u64 = 100;
    const EVEN: Dealt = Dealt { chunks: 24, workers: 2, strays: 0, late: 0 };

    /// What `sharing` tries one after the other if launches with so many parts leave so much in copies.
    fn tried(sharing: &mut Sharing, launches: usize, moved: impl Fn(usize) -> u64) -> Vec<Option<usize>> {
        let launch = |_| {
            let parts = sharing.next();
            let moved = parts.map_or(0, &moved);
            sharing.note(parts, &Outcome { moved, dealt: EVEN, ..Outcome::default() }, LINES);
            parts
        };
        (0..launches).map(launch).collect()
    }

    #[test]
    fn the_first_number_of_parts_that_leaves_little_in_copies_stays() {
        let mut sharing = Sharing::default();
        let found = tried(&mut sharing, 5, |parts| if parts == 3 { 2 } else { 60 });
        assert_eq!(found, [Some(1), Some(2), Some(3), Some(3), Some(3)]);
        assert!(sharing.is_settled());
        sharing.forget();
        assert_eq!(sharing.next(), Some(3), "what is good is not looked for again");
    }

    #[test]
    fn where_none_is_good_there_are_copies_until_it_is_forgotten() {
        let mut sharing = Sharing::default();
        let found = tried(&mut sharing, 7, |_| 60);
        assert_eq!(found, [Some(1), Some(2), Some(3), Some(4), Some(6), None, None]);
        assert!(sharing.is_settled());
        sharing.forget();
        assert_eq!(sharing.next(), Some(1));
    }

    #[test]
    fn what_is_no_good_any_more_is_looked_for_again_but_not_for_ever() {
        let mut sharing = Sharing::default();
        for _ in 0..PATIENCE {
            assert_eq!(tried(&mut sharing, 2, |_| 0), [Some(1), Some(1)]);
            tried(&mut sharing, 1, |_| 80);
        }
        assert_eq!(tried(&mut sharing, 2, |_| 0), [None, None]);
    }

    #[test]
    fn strays_and_late_workers_are_allowed_for() {
        let outcome = |moved, dealt| Outcome { moved, looked_at: 0, dealt, is_fresh: false };
        let strays = Dealt { strays: 2, ..EVEN };
        let mut sharing = Sharing::default();
        sharing.note(Some(1), &outcome(30, strays), LINES);
        assert_eq!(sharing.next(), Some(1), "the strays may be why");
        sharing.note(Some(1), &outcome(60, strays), LINES);
        assert_eq!(sharing.next(), Some(2));
        sharing.note(Some(2), &outcome(20, strays), LINES);
        sharing.note(Some(2), &outcome(40, strays), LINES);
        assert_eq!(sharing.next(), Some(2), "it is good: without the strays less was in copies");
        let many = Dealt { strays: 8, ..EVEN };
        let mut sharing = Sharing::default();
        sharing.note(Some(1), &outcome(30, many), LINES);
        assert_eq!(tried(&mut sharing, 2, |_| 60), [Some(1), Some(2)], "that one was not good");
        let mut sharing = Sharing::default();
        sharing.note(Some(1), &Outcome { looked_at: 100, dealt: EVEN, ..Outcome::default() }, LINES);
        assert_eq!(sharing.next(), Some(2), "sums that cancel out are looked for, too");
        let mut sharing = Sharing::default();
        sharing.note(Some(1), &outcome(0, Dealt { workers: 16, late: 3, ..EVEN }), LINES);
        assert_eq!(tried(&mut sharing, 2, |_| 30), [Some(1), Some(1)]);
    }

    #[test]
    fn a_launch_that_one_worker_ran_tells_nothing_but_many_in_a_row_do() {
        let mut sharing = Sharing::default();
        let uneven = Outcome { dealt: Dealt { late: 1, ..EVEN }, ..Outcome::default() };
        for _ in 0..MOST_UNEVEN {
            sharing.note(Some(1), &uneven, LINES);
            assert_eq!(sharing.next(), Some(1));
        }
        sharing.note(Some(1), &uneven, LINES);
        assert_eq!(sharing.next(), Some(2));
        assert!(!sharing.is_settled());
    }
}
