//! The archives in models of LEAPP's: a graph in Warp's format, `segment.wrp`, and the modules of its kernels.

use std::collections::BTreeMap;
use std::fmt;

use inkle_graph::bundle::{Bundle, BundleError};

/// How an archive starts.
const MAGIC: &[u8] = b"WRPB";
/// The version of archives that is read.
const VERSION: u32 = 1;
/// The graph in an archive, and the folder of its code.
const GRAPH_FILE: &str = "segment.wrp";
const CODE_FOLDER: &str = "segment_modules";

/// What is wrong with an archive.
#[derive(Clone, PartialEq, Debug)]
pub enum ArchiveError {
    /// The bytes are not an archive's.
    NotAnArchive,
    /// The archive is of another version.
    Version {
        /// Its version.
        found: u32,
    },
    /// The archive is not what its writer wrote.
    Damaged {
        /// In which way.
        why: String,
    },
    /// A file is not in the archive.
    NoFile {
        /// Where it would be.
        path: String,
    },
    /// The graph inside.
    Graph(BundleError),
}

impl fmt::Display for ArchiveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArchiveError::NotAnArchive => {
                f.write_str("not an archive of a Warp graph (it does not start with WRPB)")
            }
            ArchiveError::Version { found } => {
                write!(f, "archive of a Warp graph: version {found}, this inkle reads {VERSION}")
            }
            ArchiveError::Damaged { why } => write!(f, "archive of a Warp graph: damaged: {why}"),
            ArchiveError::NoFile { path } => write!(f, "archive of a Warp graph: there is no {path} in it"),
            ArchiveError::Graph(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ArchiveError {}

/// The files in an archive, by path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Archive<'a> {
    files: BTreeMap<&'a str, &'a [u8]>,
}

impl<'a> Archive<'a> {
    /// Takes the bytes of an archive apart: the magic, a version, the number of files, and for each the length of its path,
    /// the path, the length of its contents (64 bits; other numbers have 32) and the contents. Numbers are little-endian.
    ///
    /// # Errors
    /// [`ArchiveError::NotAnArchive`], [`ArchiveError::Version`], [`ArchiveError::Damaged`].
    pub fn parse(bytes: &'a [u8]) -> Result<Archive<'a>, ArchiveError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else { return Err(ArchiveError::NotAnArchive) };
        let mut reader = Reader { rest };
        let version = reader.u32()?;
        if version != VERSION {
            return Err(ArchiveError::Version { found: version });
        }
        let mut files = BTreeMap::new();
        for _ in 0..reader.u32()? {
            let length = reader.u32()?;
            let path = std::str::from_utf8(reader.bytes(length.into())?);
            let path = path.map_err(|_| damaged("a path is not UTF-8"))?;
            let length = reader.u64()?;
            let contents = reader.bytes(length)?;
            if path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..") {
                return Err(damaged(format!("`{path}` is no path inside it")));
            }
            if files.insert(path, contents).is_some() {
                return Err(damaged(format!("`{path}` is in it twice")));
            }
        }
        if !reader.rest.is_empty() {
            return Err(damaged(format!("{} bytes follow its end", reader.rest.len())));
        }
        Ok(Archive { files })
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// [`ArchiveError::NoFile`].
    pub fn file(&self, path: &str) -> Result<&'a [u8], ArchiveError> {
        self.files.get(path).copied().ok_or_else(|| ArchiveError::NoFile { path: path.to_owned() })
    }

    /// The graph in the archive, with the parameters that it names.
    ///
    /// # Errors
    /// [`ArchiveError::NoFile`], [`ArchiveError::Graph`].
    pub fn graph(&self) -> Result<Bundle, ArchiveError> {
        let code = |name: &str| {
            let found = self.file(&format!("{CODE_FOLDER}/{name}"));
            found.map(<[u8]>::to_vec).map_err(|error| error.to_string())
        };
        Bundle::from_bytes_and_code(self.file(GRAPH_FILE)?.to_vec(), &code).map_err(ArchiveError::Graph)
    }
}

fn damaged(why: impl Into<String>) -> ArchiveError {
    ArchiveError::Damaged { why: why.into() }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: u64) -> Result<&'a [u8], ArchiveError> {
        let taken = usize::try_from(count).ok().and_then(|count| self.rest.split_at_checked(count));
        let Some((taken, rest)) = taken else {
            return Err(damaged(format!("it ends {} bytes into a part of {count}", self.rest.len())));
        };
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, ArchiveError> {
        Ok(u32::from_le_bytes(*self.bytes(4)?.first_chunk().unwrap_or(&[0; 4])))
    }

    fn u64(&mut self) -> Result<u64, ArchiveError> {
        Ok(u64::from_le_bytes(*self.bytes(8)?.first_chunk().unwrap_or(&[0; 8])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = b"WRPB\x01\0\0\0".to_vec();
        bytes.extend((files.len() as u32).to_le_bytes());
        for (path, contents) in files {
            bytes.extend((path.len() as u32).to_le_bytes());
            bytes.extend(path.as_bytes());
            bytes.extend((contents.len() as u64).to_le_bytes());
            bytes.extend(*contents);
        }
        bytes
    }

    #[test]
    fn files_come_out_as_they_went_in() {
        let bytes = archive(&[("segment.wrp", b"graph"), ("segment_modules/a.ptx", b"")]);
        let parsed = Archive::parse(&bytes).unwrap();
        assert_eq!(parsed.file("segment.wrp"), Ok(b"graph".as_slice()));
        assert_eq!(parsed.file("segment_modules/a.ptx"), Ok(b"".as_slice()));
        assert_eq!(parsed.file("x"), Err(ArchiveError::NoFile { path: "x".into() }));
        assert!(matches!(parsed.graph(), Err(ArchiveError::Graph(BundleError::NotABundle { .. }))));
        let none = archive(&[]);
        let missing = ArchiveError::NoFile { path: GRAPH_FILE.into() };
        assert_eq!(Archive::parse(&none).unwrap().graph(), Err(missing));
    }

    #[test]
    fn damage_is_an_error() {
        let good = archive(&[("segment.wrp", b"graph"), ("a/b", b"12")]);
        for length in 0..good.len() {
            assert!(Archive::parse(&good[..length]).is_err(), "cut to {length}");
        }
        let more = [good.as_slice(), b"!"].concat();
        let twice = archive(&[("a", b"1"), ("a", b"2")]);
        let out = archive(&[("a/../../b", b"")]);
        let root = archive(&[("/etc/passwd", b"")]);
        let huge = [&good[..8], &u32::MAX.to_le_bytes(), &u32::MAX.to_le_bytes()].concat();
        for bytes in [&more, &twice, &out, &root, &huge] {
            assert!(matches!(Archive::parse(bytes), Err(ArchiveError::Damaged { .. })));
        }
        let other = [b"WRPB\x02\0\0\0".as_slice(), &good[8..]].concat();
        assert_eq!(Archive::parse(&other), Err(ArchiveError::Version { found: 2 }));
        assert_eq!(Archive::parse(b"nothing"), Err(ArchiveError::NotAnArchive));
    }
}
