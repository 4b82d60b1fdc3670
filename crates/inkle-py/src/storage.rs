//! The bytes of vectors, matrices and structs that live on the Python side.

use std::cell::UnsafeCell;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

/// Zeroed bytes at the strictest alignment of any scalar, shared by a value and the views of its parts.
///
/// Arrays held in a struct are kept beside the bytes, keyed by where their descriptor lies.
pub struct Storage {
    /// *Invariant:* only touched by [`Storage::with`] and [`Storage::with_mut`], whose closures cannot run
    /// Python code because they get no token.
    words: UnsafeCell<Box<[u64]>>,
    objects: Mutex<Vec<(u32, Py<PyAny>)>>,
}

// SAFETY: every access to `words` goes through `with` and `with_mut`, which take a `Python` token. The stable ABI of
// CPython 3.10 only exists in interpreters with a global lock, so at most one thread holds a token at a time, and it
// is not given up inside those calls.
unsafe impl Sync for Storage {}

impl Storage {
    /// `size` zero bytes.
    pub fn new(size: u32) -> Arc<Storage> {
        let words = vec![0; (size as usize).div_ceil(8)].into_boxed_slice();
        Arc::new(Storage { words: UnsafeCell::new(words), objects: Mutex::new(Vec::new()) })
    }

    /// Gives the bytes from `offset` to `read`.
    pub fn with<R>(&self, _py: Python<'_>, offset: u32, read: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: the token serialises all access (see `Sync` above) and the closure cannot reach `with_mut` of
        // the same storage except by capturing it, which no caller in this crate does.
        let words = unsafe { &*self.words.get() };
        // SAFETY: initialised `u64`s are valid as bytes; the length is theirs and the borrow keeps them alive.
        let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), words.len() * 8) };
        read(&bytes[offset as usize..])
    }

    /// Gives the bytes from `offset` to `write`.
    pub fn with_mut<R>(&self, _py: Python<'_>, offset: u32, write: impl FnOnce(&mut [u8]) -> R) -> R {
        // SAFETY: as in `with`.
        let words = unsafe { &mut *self.words.get() };
        // SAFETY: as in `with`; any bytes are valid `u64`s.
        let bytes =
            unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), words.len() * 8) };
        write(&mut bytes[offset as usize..])
    }

    /// The address of the first byte; stable while the storage lives.
    pub fn address(&self) -> usize {
        // SAFETY: the box is never replaced, so reading its pointer races with nothing.
        unsafe { (*self.words.get()).as_ptr() as usize }
    }

    /// The object kept for the descriptor at `offset`.
    pub fn object<'py>(&self, py: Python<'py>, offset: u32) -> Option<Bound<'py, PyAny>> {
        let objects = self.objects.lock().unwrap_or_else(|e| e.into_inner());
        objects.iter().find(|(at, _)| *at == offset).map(|(_, object)| object.bind(py).clone())
    }

    /// Keeps an object for the descriptor at `offset`, or forgets the one there.
    pub fn set_object(&self, offset: u32, object: Option<Py<PyAny>>) {
        let mut objects = self.objects.lock().unwrap_or_else(|e| e.into_inner());
        let old = objects.iter().position(|(at, _)| *at == offset).map(|i| objects.swap_remove(i));
        if let Some(object) = object {
            objects.push((offset, object));
        }
        drop(objects);
        // Dropped last: it may run Python code that comes back here.
        drop(old);
    }

    /// The objects kept in `size` bytes from `offset`, with their offsets from there.
    pub fn objects(&self, py: Python<'_>, offset: u32, size: u32) -> Vec<(u32, Py<PyAny>)> {
        let objects = self.objects.lock().unwrap_or_else(|e| e.into_inner());
        let inside = objects.iter().filter(|(at, _)| (offset..offset + size).contains(at));
        inside.map(|(at, object)| (at - offset, object.clone_ref(py))).collect()
    }

    /// Whether any object is kept.
    pub fn has_objects(&self) -> bool {
        !self.objects.lock().unwrap_or_else(|e| e.into_inner()).is_empty()
    }
}
