//! Pages of the process's own: those that hold a loaded object, and arenas of arrays.

use std::ops::Range;
use std::ptr::{self, NonNull};

use super::LoadError;

/// How finished pages may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Protection {
    Read,
    Execute,
}

/// The boundary at which protections may change, bytes: the system's page, and at least 16 KiB so that a
/// placement is the same on kernels with larger pages.
pub(super) fn page_bytes() -> usize {
    // SAFETY: sysconf reads a constant of the system and touches no memory of ours.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(4096).max(16 * 1024)
}

/// An anonymous private mapping, writable until its parts are protected.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: after loading the mapping is only read (through `address`) or unmapped (in `drop`, which needs
// ownership); writing needs `&mut self`.
unsafe impl Send for Mapping {}
// SAFETY: as above; `&Mapping` gives out addresses and nothing else.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// A zeroed mapping of `len` bytes, a positive multiple of the page size.
    pub(super) fn new(len: usize) -> Result<Mapping, LoadError> {
        Mapping::aligned(len, page_bytes())
    }

    /// The same that begins at a multiple of `align`, which is one of the page size.
    pub(crate) fn aligned(len: usize, align: usize) -> Result<Mapping, LoadError> {
        // Room to start on such a boundary: the surplus is returned at once.
        let want = len + align;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice aliases nothing.
        let raw = unsafe {
            libc::mmap(
                ptr::null_mut(),
                want,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if raw == libc::MAP_FAILED {
            return Err(system_error("mmap"));
        }
        let raw = raw.cast::<u8>();
        let lead = raw.addr().next_multiple_of(align) - raw.addr();
        let tail = want - lead - len;
        // SAFETY: `lead + len <= want`, so all three addresses lie within (or at the end of) the mapping just
        // made; the two pieces given back are whole system pages that nobody uses.
        unsafe {
            let base = raw.add(lead);
            if lead > 0 {
                libc::munmap(raw.cast(), lead);
            }
            if tail > 0 {
                libc::munmap(base.add(len).cast(), tail);
            }
            Ok(Mapping { base: NonNull::new_unchecked(base), len })
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The address of a byte of the mapping.
    pub(crate) fn address(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.len);
        self.base.as_ptr().wrapping_add(offset)
    }

    /// All bytes, before any protection.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `base` is `len` mapped, initialised (zeroed) bytes owned by `self`; the loader calls this
        // before it protects any part.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }

    /// Takes write permission from a range of whole pages.
    pub(super) fn protect(&mut self, range: Range<usize>, protection: Protection) -> Result<(), LoadError> {
        if range.is_empty() {
            return Ok(());
        }
        assert!(range.end <= self.len, "the range lies in the mapping");
        let flags = match protection {
            Protection::Read => libc::PROT_READ,
            Protection::Execute => libc::PROT_READ | libc::PROT_EXEC,
        };
        if protection == Protection::Execute {
            self.clear_instruction_cache(&range);
        }
        // SAFETY: the range was checked to lie in this mapping, which `self` owns; `&mut self` shows that no
        // slice of its bytes is alive.
        let status = unsafe { libc::mprotect(self.address(range.start).cast(), range.len(), flags) };
        if status == 0 { Ok(()) } else { Err(system_error("mprotect")) }
    }

    #[cfg(target_arch = "aarch64")]
    fn clear_instruction_cache(&self, range: &Range<usize>) {
        unsafe extern "C" {
            fn __clear_cache(start: *mut libc::c_char, end: *mut libc::c_char);
        }
        // SAFETY: both ends lie in the mapping; the call makes written bytes visible to instruction fetch.
        unsafe { __clear_cache(self.address(range.start).cast(), self.address(range.end).cast()) }
    }

    #[cfg(not(target_arch = "aarch64"))]
    fn clear_instruction_cache(&self, _: &Range<usize>) {}
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `len` describe exactly the mapping that `new` kept, and it is unmapped once.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.len) };
    }
}

fn system_error(call: &'static str) -> LoadError {
    LoadError::System { call, errno: std::io::Error::last_os_error().raw_os_error().unwrap_or(0) }
}
