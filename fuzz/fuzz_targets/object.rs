//! Bytes as a relocatable object: the code for CPUs in graph files and in the kernel cache.
#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code, reason = "the other target uses the rest")]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::object(bytes);
});
