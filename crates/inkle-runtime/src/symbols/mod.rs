//! The functions that compiled CPU code may call, by name.
//!
//! The table is fixed when inkle is built: names are never looked up in the process or the system's
//! libraries, so a kernel computes the same everywhere. Math functions are `inkle_<name>f` for f32 and
//! `inkle_<name>` for f64, with `_lanes` added for all lanes of a vector and `_kept` where all registers stay as they are.

mod erf;
mod half;
mod int128;
mod kept;
mod lanes;
mod math;
mod print;
mod report;

use std::sync::OnceLock;

pub(crate) use print::format_record;
pub use print::{PrintSink, set_print_sink};
pub(crate) use report::{FailureScope, tell_omitted};

/// One entry: the name in compiled code and the function's address.
type Entry = (&'static str, usize);

macro_rules! entries {
    ($($name:literal => $function:expr, $ty:ty;)*) => {
        [$(($name, ($function as $ty) as usize)),*]
    };
}
use entries;

fn table() -> &'static [Entry] {
    static TABLE: OnceLock<Vec<Entry>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table: Vec<Entry> = Vec::new();
        table.extend(math::entries());
        table.extend(erf::entries());
        table.extend(lanes::entries());
        table.extend(kept::entries());
        table.extend(half::entries());
        table.extend(int128::entries());
        table.extend(print::entries());
        table.extend(report::entries());
        table.extend(memory_entries());
        table.sort_unstable();
        table
    })
}

/// The address of the function of that name, or `None` when compiled code must not call it.
pub fn resolve(name: &str) -> Option<usize> {
    let table = table();
    table.binary_search_by_key(&name, |entry| entry.0).ok().map(|i| table[i].1)
}

/// Every name that [`resolve`] knows, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    table().iter().map(|entry| entry.0)
}

fn memory_entries() -> impl IntoIterator<Item = Entry> {
    type Copy = unsafe extern "C" fn(*mut libc::c_void, *const libc::c_void, usize) -> *mut libc::c_void;
    entries! {
        "memcpy" => libc::memcpy, Copy;
        "memmove" => libc::memmove, Copy;
        "memset" => libc::memset, unsafe extern "C" fn(*mut libc::c_void, i32, usize) -> *mut libc::c_void;
        "memcmp" => libc::memcmp, unsafe extern "C" fn(*const libc::c_void, *const libc::c_void, usize) -> i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let all: Vec<_> = names().collect();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(all.len() > 80);
    }

    #[test]
    fn unknown_names_are_refused() {
        assert_eq!(resolve("system"), None);
        assert_eq!(resolve(""), None);
        assert!(resolve("inkle_sinf").is_some() && resolve("memcpy").is_some());
    }
}
