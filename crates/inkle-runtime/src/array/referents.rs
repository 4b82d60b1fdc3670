//! Elements that are structs may refer to other arrays; memory keeps what its elements refer to.

use std::any::Any;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Array;

/// Something that elements refer to, such as the owner of another array: it lives as long as the memory they lie in, or until
/// they are overwritten from the host. What kernels write into elements is not followed.
pub type Referent = Arc<dyn Any + Send + Sync>;

/// What the elements in an allocation refer to.
#[derive(Default)]
pub(crate) struct Referents(OnceLock<Mutex<Places>>);

#[derive(Default)]
struct Places {
    /// By an element's address.
    by_element: HashMap<u64, Vec<Referent>>,
    /// Of elements that are not told apart.
    anywhere: Vec<Referent>,
}

impl Places {
    fn add(&mut self, referents: Vec<Referent>) {
        for referent in referents {
            if !self.anywhere.iter().any(|known| Arc::ptr_eq(known, &referent)) {
                self.anywhere.push(referent);
            }
        }
    }
}

impl Referents {
    fn places(&self) -> Option<MutexGuard<'_, Places>> {
        Some(self.0.get()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What elements in a range of addresses may refer to.
    fn within(&self, range: &Range<u64>) -> Vec<Referent> {
        let Some(places) = self.places() else { return Vec::new() };
        let elements = places.by_element.iter().filter(|(address, _)| range.contains(address));
        elements.flat_map(|(_, referents)| referents).chain(&places.anywhere).cloned().collect()
    }
}

impl Array {
    /// Says what the elements now refer to, all of them written anew; it is kept with the memory they lie in.
    pub fn set_referents(&self, referents: Vec<Referent>) {
        let end = self.address() + self.size_bytes() as u64;
        self.set_referents_of(self.address()..end, self.is_contiguous(), referents);
    }

    /// As [`set_referents`](Array::set_referents), for elements from `range` on.
    fn set_referents_of(&self, range: Range<u64>, filled: bool, referents: Vec<Referent>) {
        let known = &self.memory().referents.0;
        if referents.is_empty() && known.get().is_none() {
            return;
        }
        let bytes = (range.end - range.start) as usize;
        let mut places = known.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        // Whatever is let go of here goes after the lock: its end may be a program's code.
        let gone = if filled && bytes == self.memory().bytes() {
            std::mem::replace(&mut *places, Places { anywhere: referents, ..Places::default() })
        } else if bytes == self.elem_bytes() {
            let gone = places.by_element.insert(range.start, referents);
            Places { anywhere: gone.unwrap_or_default(), ..Places::default() }
        } else {
            places.add(referents);
            Places::default()
        };
        drop(places);
        drop(gone);
    }

    /// Has elements that were copied refer to what their originals refer to: `count` elements from places in memory order,
    /// or all.
    pub(super) fn copy_referents(&self, src: &Array, places: Option<[usize; 3]>) {
        if src.memory().referents.0.get().is_none() && self.memory().referents.0.get().is_none() {
            return;
        }
        let part = |array: &Array, run: Option<(usize, usize)>| {
            let (first, bytes) = match run {
                Some((place, count)) => (place * array.elem_bytes(), count * array.elem_bytes()),
                None => (0, array.size_bytes()),
            };
            array.address() + first as u64..array.address() + (first + bytes) as u64
        };
        let (to, from) = match places {
            Some([to, from, count]) => (part(self, Some((to, count))), part(src, Some((from, count)))),
            None => (part(self, None), part(src, None)),
        };
        let everything = || src.memory().address()..src.memory().address() + src.memory().bytes() as u64;
        let from = if src.is_contiguous() { from } else { everything() };
        self.set_referents_of(to, self.is_contiguous(), src.memory().referents.within(&from));
    }
}

#[cfg(test)]
mod tests {
    use inkle_ir::Type;

    use super::*;
    use crate::{Device, Slice};

    fn array(len: i64) -> Array {
        Array::zeros(Device::cpu(), Type::F32, &[len]).unwrap()
    }

    fn referent() -> (Referent, impl Fn() -> bool) {
        let referent: Referent = Arc::new(7);
        let weak = Arc::downgrade(&referent);
        (referent, move || weak.strong_count() > 0)
    }

    #[test]
    fn referents_live_until_all_elements_are_written_anew() {
        let elements = array(3);
        let (first, first_lives) = referent();
        let (second, second_lives) = referent();
        elements.set_referents(vec![first]);
        assert!(first_lives());
        elements.set_referents(vec![second]);
        assert!(!first_lives() && second_lives());
        drop(elements);
        assert!(!second_lives());
    }

    #[test]
    fn an_element_that_is_written_again_lets_go_of_what_it_referred_to() {
        let elements = array(3);
        let (first, first_lives) = referent();
        let (second, second_lives) = referent();
        elements.index(0, 1).unwrap().set_referents(vec![first]);
        elements.index(0, 2).unwrap().set_referents(vec![second]);
        elements.index(0, 1).unwrap().set_referents(Vec::new());
        assert!(!first_lives() && second_lives());
    }

    #[test]
    fn parts_add_to_what_the_rest_refers_to() {
        let elements = array(4);
        let (first, first_lives) = referent();
        let (second, second_lives) = referent();
        elements.set_referents(vec![first]);
        let every_other = elements.slice(0, Slice { step: 2, ..Slice::ALL }).unwrap();
        every_other.set_referents(vec![second]);
        assert!(first_lives() && second_lives());
    }

    #[test]
    fn copies_refer_to_what_their_originals_refer_to() {
        let (elements, copy, part, nothing) = (array(3), array(3), array(2), array(1));
        let (first, first_lives) = referent();
        elements.index(0, 1).unwrap().set_referents(vec![first]);
        nothing.copy_range_from(0, &elements, 2, 1, None).unwrap();
        copy.copy_from(&elements, None).unwrap();
        drop(elements);
        assert!(first_lives());
        part.copy_range_from(0, &copy, 0, 2, None).unwrap();
        drop(copy);
        assert!(first_lives());
        drop(part);
        assert!(!first_lives());
        drop(nothing);
    }
}
