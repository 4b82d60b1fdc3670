//! What the cache holds, and its bytes.

use inkle_codegen::{Artifact, ArtifactKind};
use inkle_ir::KernelAccess;

use crate::entry::{Entry, Origin};

const MAGIC: &[u8; 8] = b"inkle-kc";
const FORMAT: u32 = 5;
const HEADER_BYTES: usize = 8 + 4 + 8 + 32;

impl Entry {
    /// An entry for what the compiler made.
    pub fn new(artifact: Artifact, access: KernelAccess, origin: Origin) -> Entry {
        Entry {
            kind: artifact.kind,
            lanes: artifact.lanes,
            symbol: artifact.entry,
            access,
            origin,
            code: artifact.code,
        }
    }

    /// The bytes of the cache file of `key`.
    pub(crate) fn encode(&self, key: &blake3::Hash) -> Vec<u8> {
        seal(MAGIC, FORMAT, key, &self.payload())
    }

    /// The entry of the cache file of `key`; `None` when the file is damaged, of another format or another entry's.
    pub(crate) fn decode(key: &blake3::Hash, bytes: &[u8]) -> Option<Entry> {
        Entry::from_payload(unseal(MAGIC, FORMAT, key, bytes)?)
    }

    fn payload(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.code.len());
        out.push(kind_byte(self.kind));
        out.extend(self.lanes.to_le_bytes());
        out.extend(self.origin.micros.to_le_bytes());
        for text in [&self.symbol, &self.origin.kernel, &self.origin.target, &self.origin.options] {
            out.extend((text.len() as u32).to_le_bytes());
            out.extend(text.as_bytes());
        }
        let access = self.access.to_bytes();
        out.extend((access.len() as u32).to_le_bytes());
        out.extend(access);
        out.extend(&self.code);
        out
    }

    fn from_payload(payload: &[u8]) -> Option<Entry> {
        let (kind, rest) = payload.split_first()?;
        let (lanes, rest) = rest.split_first_chunk::<4>()?;
        let (micros, mut rest) = rest.split_first_chunk::<4>()?;
        let mut blob = || {
            let (length, tail) = rest.split_first_chunk::<4>()?;
            let (blob, tail) = tail.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = tail;
            Some(blob)
        };
        let mut text = || String::from_utf8(blob()?.to_vec()).ok();
        let (symbol, kernel, target, options) = (text()?, text()?, text()?, text()?);
        let access = KernelAccess::from_bytes(blob()?)?;
        Some(Entry {
            kind: kind_of(*kind)?,
            lanes: u32::from_le_bytes(*lanes),
            symbol,
            access,
            origin: Origin { kernel, target, options, micros: u32::from_le_bytes(*micros) },
            code: rest.to_vec(),
        })
    }
}

/// The bytes of a file of `key` that holds `payload`.
pub(crate) fn seal(magic: &[u8; 8], format: u32, key: &blake3::Hash, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEADER_BYTES + payload.len());
    out.extend(magic);
    out.extend(format.to_le_bytes());
    out.extend((payload.len() as u64).to_le_bytes());
    out.extend(digest(key, payload).as_bytes());
    out.extend(payload);
    out
}

/// What the file of `key` holds; `None` when it is damaged, of another kind or format or another key's.
pub(crate) fn unseal<'b>(
    magic: &[u8; 8],
    format: u32,
    key: &blake3::Hash,
    bytes: &'b [u8],
) -> Option<&'b [u8]> {
    let (found, rest) = bytes.split_first_chunk::<8>()?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (stored, payload) = rest.split_first_chunk::<32>()?;
    let intact = found == magic
        && u32::from_le_bytes(*version) == format
        && u64::from_le_bytes(*length) == payload.len() as u64
        && digest(key, payload) == *stored;
    intact.then_some(payload)
}

/// The key takes part, so that a file under another entry's name is as good as damaged.
fn digest(key: &blake3::Hash, payload: &[u8]) -> blake3::Hash {
    blake3::Hasher::new().update(key.as_bytes()).update(payload).finalize()
}

fn kind_byte(kind: ArtifactKind) -> u8 {
    match kind {
        ArtifactKind::ElfObject => 0,
        ArtifactKind::Ptx => 1,
        ArtifactKind::Cubin => 2,
    }
}

fn kind_of(byte: u8) -> Option<ArtifactKind> {
    match byte {
        0 => Some(ArtifactKind::ElfObject),
        1 => Some(ArtifactKind::Ptx),
        2 => Some(ArtifactKind::Cubin),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) fn sample() -> Entry {
    Entry {
        kind: ArtifactKind::ElfObject,
        lanes: 16,
        symbol: "inkle_kernel".into(),
        access: KernelAccess { arrays: vec![Default::default(); 2], ..Default::default() },
        origin: Origin {
            kernel: "saxpy".into(),
            target: "x86_64-unknown-linux-gnu:x86-64-v2:".into(),
            options: "o2".into(),
            micros: 1234,
        },
        code: (0..200).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_give_back_the_entry() {
        let key = blake3::hash(b"k");
        assert_eq!(Entry::decode(&key, &sample().encode(&key)), Some(sample()));
    }

    #[test]
    fn any_change_of_the_bytes_is_noticed() {
        let key = blake3::hash(b"k");
        let whole = sample().encode(&key);
        for length in 0..whole.len() {
            assert_eq!(Entry::decode(&key, &whole[..length]), None, "first {length} bytes");
        }
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Entry::decode(&key, &flipped), None, "bit {bit}");
        }
        assert_eq!(Entry::decode(&key, &[whole.as_slice(), &[0]].concat()), None);
    }

    #[test]
    fn lengths_that_lie_are_refused() {
        // The digest is right and the text is longer than the payload: only an inkle with a bug writes that.
        let key = blake3::hash(b"k");
        let mut payload = sample().payload();
        payload[9..13].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut file = Vec::new();
        file.extend(MAGIC);
        file.extend(FORMAT.to_le_bytes());
        file.extend((payload.len() as u64).to_le_bytes());
        file.extend(digest(&key, &payload).as_bytes());
        file.extend(payload);
        assert_eq!(Entry::decode(&key, &file), None);
    }
}
