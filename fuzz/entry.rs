//! What is done with bytes that nobody vouches for; also run by the tests of inkle-graph on the files in `fuzz/corpus`.

use inkle_graph::bundle::{Bundle, read_file};
use inkle_graph::{Op, OpStream, View, dot, svg, validate};
use inkle_runtime::Device;

/// More memory than this is not asked for, bytes, though a file may.
const MOST_MEMORY: u64 = 1 << 24;
/// Graphs that touch more elements than this are not run.
const MOST_ELEMENTS: u64 = 1 << 16;

/// What files of Warp's find beside them.
const CODE: &[u8] = b"// PTX";

/// How far a file came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reached {
    /// It is refused as it is.
    Refused,
    /// It is read and shown.
    Read,
    /// It is made ready to run.
    Loaded,
    /// It was run.
    Run,
}

/// Reads bytes as a graph file, as they are and with their digests made right; whatever that gives is shown, made ready,
/// and run if it has no code of its own.
pub fn bundle(bytes: &[u8]) -> Reached {
    let mut sealed = bytes.to_vec();
    seal(&mut sealed);
    let as_it_is = open(bytes.to_vec());
    if sealed == bytes { as_it_is } else { as_it_is.max(open(sealed)) }
}

fn open(bytes: Vec<u8>) -> Reached {
    // A file of Warp's gets any code that it asks for.
    let Ok(bundle) = Bundle::from_bytes_and_code(bytes, &|_| Ok(CODE.to_vec())) else {
        return Reached::Refused;
    };
    let again = Bundle::from_bytes(bundle.to_bytes()).expect("what was read can be written and read");
    assert_eq!((&again.stream, &again.code), (&bundle.stream, &bundle.code));
    assert_eq!(validate(&bundle.stream), Ok(()));
    let stream = bundle.stream.clone();
    let stream = &stream;
    let _ = (stream.to_string(), dot(stream, true), svg(stream, true));
    for text in &bundle.ir {
        if let Ok(module) = inkle_ir::parse(text) {
            let _ = inkle_ir::verify(&module);
        }
    }
    let memory = stream.regions.iter().fold(0u64, |sum, region| sum.saturating_add(region.bytes));
    if memory > MOST_MEMORY {
        return Reached::Read;
    }
    let Ok(graph) = bundle.load(Device::cpu(), None) else { return Reached::Read };
    if !is_harmless(stream) {
        return Reached::Loaded;
    }
    // An algorithm may refuse what it is given.
    let _ = graph.launch(None);
    Reached::Run
}

/// Whether a graph ends soon and has no code from the file.
fn is_harmless(stream: &OpStream) -> bool {
    let (mut harmless, mut elements) = (true, 0u64);
    stream.each(|op| {
        let mut count = |view: &View| {
            let product = view.shape.iter().map(|&n| u64::from(n.unsigned_abs()));
            elements = elements.saturating_add(product.fold(1, u64::saturating_mul));
        };
        match op {
            Op::Launch(_) | Op::While { .. } => harmless = false,
            Op::Copy { dst, .. } | Op::Fill { dst, .. } => count(dst),
            Op::Algorithm(algorithm) => algorithm.each(|view, _| count(view)),
            Op::If { .. } | Op::Record { .. } | Op::Wait { .. } => {}
        }
    });
    harmless && elements <= MOST_ELEMENTS
}

/// Loads bytes as an object; none of its code is run.
pub fn object(bytes: &[u8]) -> bool {
    inkle_runtime::elf::LoadedObject::load(bytes).is_ok()
}

/// Makes the digests of a file right again, as far as its table can be followed: whoever can write a file can do that.
pub fn seal(bytes: &mut [u8]) {
    let number = |bytes: &[u8], at: usize, size: usize| {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(&bytes[at..at + size]);
        u64::from_le_bytes(wide) as usize
    };
    let Some(after_header) = bytes.len().checked_sub(64) else { return };
    let count = number(bytes, 24, 4).min(after_header / 64);
    for entry in 0..count {
        let at = 64 + 64 * entry;
        let (start, length) = (number(bytes, at + 8, 8), number(bytes, at + 16, 8));
        let Some(section) = start.checked_add(length).and_then(|end| bytes.get(start..end)) else { continue };
        let digest = *blake3::hash(section).as_bytes();
        bytes[at + 32..at + 64].copy_from_slice(&digest);
    }
    let digest = *blake3::hash(&bytes[64..64 + 64 * count]).as_bytes();
    bytes[32..64].copy_from_slice(&digest);
}

/// The files of a folder, in the order of their names.
///
/// # Panics
/// When it cannot be read.
pub fn corpus(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries
        .map(|entry| {
            let path = entry.expect("a folder can be read").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, read_file(&path).expect("a file can be read"))
        })
        .collect();
    files.sort();
    files
}
