//! Bytes as a graph file.
#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code, reason = "the other target uses the rest")]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::bundle(bytes);
});
