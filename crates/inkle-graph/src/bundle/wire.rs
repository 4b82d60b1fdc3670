//! Numbers and strings as bytes, little-endian, and the way back from bytes that nobody vouches for.

use super::BundleError;

/// Collects bytes.
#[derive(Default)]
pub(super) struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub fn i64(&mut self, value: i64) {
        self.u64(value as u64);
    }

    pub fn count(&mut self, count: usize) {
        self.u32(u32::try_from(count).unwrap_or(u32::MAX));
    }

    pub fn blob(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.bytes.extend(bytes);
    }

    pub fn text(&mut self, text: &str) {
        self.blob(text.as_bytes());
    }

    pub fn list<T>(&mut self, items: &[T], mut put: impl FnMut(&mut Writer, &T)) {
        self.count(items.len());
        items.iter().for_each(|item| put(self, item));
    }
}

/// Reads bytes; every length is checked against what is left before anything is allocated.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// What is being read, for messages.
    part: &'static str,
}

impl<'a> Reader<'a> {
    pub fn new(part: &'static str, bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, part }
    }

    /// An error about the part that is being read.
    pub fn bad(&self, why: impl Into<String>) -> BundleError {
        BundleError::Damaged { part: self.part, why: why.into() }
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], BundleError> {
        match self.bytes.split_at_checked(count) {
            Some((taken, rest)) => {
                self.bytes = rest;
                Ok(taken)
            }
            None => Err(self.missing(count)),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], BundleError> {
        match self.bytes.split_first_chunk() {
            Some((array, rest)) => {
                self.bytes = rest;
                Ok(*array)
            }
            None => Err(self.missing(N)),
        }
    }

    #[cold]
    fn missing(&self, count: usize) -> BundleError {
        self.bad(format!("{count} bytes are missing; {} are left", self.bytes.len()))
    }

    #[inline]
    pub fn u8(&mut self) -> Result<u8, BundleError> {
        Ok(self.array::<1>()?[0])
    }

    pub fn flag(&mut self) -> Result<bool, BundleError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.bad(format!("{other} is neither 0 nor 1"))),
        }
    }

    #[inline]
    pub fn u32(&mut self) -> Result<u32, BundleError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn i32(&mut self) -> Result<i32, BundleError> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    #[inline]
    pub fn u64(&mut self) -> Result<u64, BundleError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn i64(&mut self) -> Result<i64, BundleError> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub fn digest(&mut self) -> Result<[u8; 32], BundleError> {
        self.array()
    }

    /// A number of items that take at least `least_bytes` each.
    pub fn count(&mut self, least_bytes: usize) -> Result<usize, BundleError> {
        let count = self.u32()? as usize;
        if count.saturating_mul(least_bytes.max(1)) > self.bytes.len() {
            return Err(self.bad(format!("{count} items do not fit into {} bytes", self.bytes.len())));
        }
        Ok(count)
    }

    pub fn blob(&mut self) -> Result<&'a [u8], BundleError> {
        let count = self.count(1)?;
        self.take(count)
    }

    pub fn text(&mut self) -> Result<String, BundleError> {
        let bytes = self.blob()?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(self.bad("a text is not UTF-8")),
        }
    }

    /// A list of `u64`.
    pub fn words(&mut self) -> Result<Box<[u64]>, BundleError> {
        let count = self.count(8)?;
        let (words, _) = self.take(8 * count)?.as_chunks();
        Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }

    pub fn list<T>(
        &mut self,
        least_bytes: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, BundleError>,
    ) -> Result<Vec<T>, BundleError> {
        let count = self.count(least_bytes)?;
        // Not collected: a sum of results does not know how many there will be.
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Fails if anything is left.
    pub fn end(&self) -> Result<(), BundleError> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        Err(self.bad(format!("{} bytes too many", self.bytes.len())))
    }
}
