//! Operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use inkle_ir::{Scalar, Type};
use sha2::{Digest, Sha256};

use super::super::codec::MAX_DEPTH;
use super::super::wire::Reader;
use super::super::{Blob, BundleError, CodeEntry, CodeTarget};
use super::algorithms::after_sort;
use super::file::{File, KernelInfo, Module};
use super::{FindCode, damaged, unread};
use crate::ops::{
    Abi, BOUNDS_WORDS, Condition, Kernel, Launch, Node, Op, OpStream, Pointer, Region, RegionKind, Space,
    View,
};

const LAUNCH: u32 = 1;
const COPY_IN: u32 = 2;
const COPY: u32 = 4;
const SET_BYTES: u32 = 5;
const ALLOCATE: u32 = 6;
const IF: u32 = 7;
const WHILE: u32 = 8;
const FILL: u32 = 10;

/// Operations that are not read, by number.
const UNREAD: [(u32, &str); 7] = [
    (3, "a copy to the CPU"),
    (14, "the building of a sparse matrix"),
    (15, "the transposition of a sparse matrix"),
    (17, "the refitting of a BVH"),
    (18, "the rebuilding of a BVH"),
    (19, "the update of a hash grid"),
    (20, "an operation of a newer Warp"),
];

/// Kinds of addresses in arguments.
const ADDRESS: u8 = 1;
const HANDLE: u8 = 2;
const NULL: u8 = 3;

/// What Warp launches without a number of threads per block.
const DEFAULT_BLOCK_DIM: u32 = 256;
/// Kernels without a loop over the grid count threads along the first dimension of the grid up to this.
const LEAN_THREADS_X: u64 = 1 << 24;
/// The most blocks along the second and third dimension of a grid.
const MAX_GRID_YZ: u64 = 65535;

/// The oldest compute capability that there is code for, times ten.
const OLDEST_ARCH: u32 = 75;

/// The most bytes that one view of bytes spans.
const PIECE: u64 = 1 << 30;

/// Turns operations into those of a stream.
pub struct Converter<'a> {
    file: &'a File<'a>,
    regions: &'a BTreeMap<u32, u32>,
    pub stream: OpStream,
    pub memory: Vec<Option<Blob>>,
    /// Per kernel of the stream: the module it is in and its symbol.
    symbols: Vec<(&'a Module, &'a str)>,
}

impl<'a> Converter<'a> {
    pub fn new(
        file: &'a File<'a>,
        regions: &'a BTreeMap<u32, u32>,
        stream: OpStream,
        memory: Vec<Option<Blob>>,
    ) -> Converter<'a> {
        Converter { file, regions, stream, memory, symbols: Vec::new() }
    }

    /// The code of the stream's kernels.
    pub fn code(&self, find: FindCode<'_>) -> Result<Vec<CodeEntry>, BundleError> {
        let mut found: BTreeMap<&str, Blob> = BTreeMap::new();
        let mut code = Vec::new();
        for (kernel, (module, symbol)) in self.symbols.iter().enumerate() {
            let image = match found.get(module.file.as_str()) {
                Some(image) => image.clone(),
                None => {
                    let bad = |why: String| BundleError::WarpCode { file: module.file.clone(), why };
                    let bytes = find(&module.file).map_err(bad)?;
                    if let Some(digest) = &module.digest
                        && hexadecimal(&Sha256::digest(&bytes)) != digest.to_ascii_lowercase()
                    {
                        return Err(bad("its digest is another than the one in the graph file".into()));
                    }
                    let image = Blob::from(bytes);
                    found.insert(&module.file, image.clone());
                    image
                }
            };
            let target = target(module)?;
            code.push(CodeEntry {
                kernel: kernel as u32,
                target,
                symbol: (*symbol).to_owned(),
                lanes: 1,
                image,
            });
        }
        Ok(code)
    }

    /// The operations in `bytes`.
    pub fn operations(&mut self, bytes: &'a [u8], count: u32, depth: u32) -> Result<Vec<Node>, BundleError> {
        if depth >= MAX_DEPTH {
            return Err(damaged(
                "operations",
                format!("conditions and loops nest more than {MAX_DEPTH} deep"),
            ));
        }
        let mut reader = Reader::new("operations", bytes);
        let mut nodes = Vec::new();
        for _ in 0..count {
            let (kind, size) = (reader.u32()?, reader.u32()? as usize);
            let Some(rest) = size.checked_sub(8) else {
                return Err(reader.bad(format!("an operation of {size} bytes")));
            };
            let mut record = Reader::new("operations", reader.take(rest)?);
            self.operation(kind, &mut record, depth, &mut nodes)?;
            record.end()?;
        }
        reader.end()?;
        Ok(nodes)
    }

    fn operation(
        &mut self,
        kind: u32,
        reader: &mut Reader<'a>,
        depth: u32,
        nodes: &mut Vec<Node>,
    ) -> Result<(), BundleError> {
        let mut push = |op| nodes.push(Node { queue: 0, op });
        match kind {
            LAUNCH => {
                if let Some(launch) = self.launch(reader)? {
                    push(Op::Launch(launch));
                }
            }
            COPY_IN => {
                let (to, _pad, offset, bytes) = (reader.i32()?, reader.u32()?, reader.u64()?, reader.u64()?);
                let contents = reader.take(usize::try_from(bytes).unwrap_or(usize::MAX))?;
                let from = self.stream.regions.len() as u32;
                let described = Region { bytes, space: Space::Device, kind: RegionKind::Constant };
                self.stream.regions.push(described);
                self.memory.push(Some(contents.to_vec().into()));
                for_pieces(bytes, |at, bytes| {
                    let (dst, src) = (self.bytes(to, offset, at, bytes)?, View::of_bytes(from, at, bytes));
                    src.into_iter().for_each(|src| push(Op::Copy { dst: dst.clone(), src }));
                    Ok(())
                })?;
            }
            COPY => {
                let (to, from) = (reader.i32()?, reader.i32()?);
                let (to_offset, from_offset, bytes) = (reader.u64()?, reader.u64()?, reader.u64()?);
                for_pieces(bytes, |at, bytes| {
                    let dst = self.bytes(to, to_offset, at, bytes)?;
                    let src = self.bytes(from, from_offset, at, bytes)?;
                    push(Op::Copy { dst, src });
                    Ok(())
                })?;
            }
            SET_BYTES => {
                let (region, value, offset, bytes) =
                    (reader.i32()?, reader.i32()?, reader.u64()?, reader.u64()?);
                for_pieces(bytes, |at, bytes| {
                    let dst = self.bytes(region, offset, at, bytes)?;
                    push(Op::Fill { dst, pattern: Box::new([value as u8]) });
                    Ok(())
                })?;
            }
            FILL => {
                let (region, element, offset, count) =
                    (reader.i32()?, reader.u32()?, reader.u64()?, reader.u64()?);
                let pattern: Box<[u8]> = reader.take(element as usize)?.into();
                let Ok(extent) = i32::try_from(count) else {
                    return Err(unread(format!("a fill of {count} elements")));
                };
                let dtype = Type::Vec { len: element, elem: Scalar::U8 };
                let (shape, strides) = (vec![extent], vec![i64::from(element)]);
                push(Op::Fill {
                    dst: View { region: self.region(region)?, offset, dtype, shape, strides },
                    pattern,
                });
            }
            // The memory section has the region.
            ALLOCATE => {
                reader.take(16)?;
            }
            IF | WHILE => {
                let (region, _pad, offset) = (reader.i32()?, reader.u32()?, reader.u64()?);
                let condition = Condition { region: self.region(region)?, offset };
                let (first_bytes, first_count) = (reader.u32()?, reader.u32()?);
                let (second_bytes, second_count) = (reader.u32()?, reader.u32()?);
                let first = reader.take(first_bytes as usize)?;
                let second = reader.take(second_bytes as usize)?;
                let first = self.operations(first, first_count, depth + 1)?;
                let second = self.operations(second, second_count, depth + 1)?;
                push(match kind {
                    IF => Op::If { condition, on_true: first, on_false: second },
                    _ if second.is_empty() => Op::While { condition, body: first },
                    _ => return Err(reader.bad("a loop with two bodies")),
                });
            }
            _ => match self.algorithm(kind, reader)? {
                Some(algorithm) => {
                    let copies = after_sort(&algorithm);
                    push(Op::Algorithm(Box::new(algorithm)));
                    copies.into_iter().for_each(push);
                }
                None => {
                    let (_, what) = UNREAD.iter().find(|(number, _)| *number == kind).unwrap_or(&UNREAD[6]);
                    return Err(unread(*what));
                }
            },
        }
        Ok(())
    }

    /// The version of the format.
    pub fn version(&self) -> u32 {
        self.file.version
    }

    pub fn region(&self, id: i32) -> Result<u32, BundleError> {
        let known = u32::try_from(id).ok().and_then(|id| self.regions.get(&id));
        known.copied().ok_or_else(|| damaged("operations", format!("there is no region {id}")))
    }

    /// A piece of some bytes of a region: `bytes` from `at` on.
    fn bytes(&self, region: i32, offset: u64, at: u64, bytes: u64) -> Result<View, BundleError> {
        let region = self.region(region)?;
        // Here and not only when the stream is validated: a wrong size would make many pieces.
        let first = offset.checked_add(at);
        let end = first.and_then(|first| first.checked_add(bytes));
        let inside = end.filter(|end| *end <= self.stream.regions[region as usize].bytes);
        let view = inside.and(first).and_then(|offset| View::of_bytes(region, offset, bytes));
        view.ok_or_else(|| {
            damaged("operations", format!("bytes from {offset} on reach out of region {region}"))
        })
    }

    fn launch(&mut self, reader: &mut Reader<'a>) -> Result<Option<Launch>, BundleError> {
        let shape = [reader.u32()?, reader.u32()?, reader.u32()?, reader.u32()?];
        let (rank, size, threads) = (reader.i32()?, reader.u64()?, reader.u64()?);
        let (max_blocks, block_dim) = (reader.i32()?, reader.i32()?);
        let (shared_bytes, loops) = (reader.i32()?, reader.i32()?);
        let (is_forward, cluster) = (reader.u8()?, reader.u8()?);
        reader.take(2)?;
        let (key_bytes, hash_bytes) = (short(reader)?, short(reader)?);
        let (param_count, _pad) = (short(reader)?, short(reader)?);
        let (address_count, value_bytes) = (reader.u32()?, reader.u32()? as usize);
        let key = text(reader, key_bytes)?;
        let hash = text(reader, hash_bytes)?;
        if cluster > 1 {
            return Err(unread(format!("a launch of `{key}` in clusters of blocks")));
        }
        // A kernel that runs backwards has its adjoint arguments after the others.
        let count = if is_forward == 0 { 2 * param_count } else { param_count };
        let mut params = Vec::new();
        for _ in 0..count {
            let (_index, addresses) = (short(reader)?, short(reader)?);
            let (at, bytes, align) = (reader.u32()? as usize, reader.u32()? as usize, reader.u32()? as usize);
            params.push((addresses, at, bytes, align));
        }
        let mut addresses = Vec::new();
        for _ in 0..address_count {
            let (at, region, offset, kind) =
                (reader.u32()? as usize, reader.i32()?, reader.u64()?, reader.u8()?);
            reader.take(7)?;
            addresses.push((at, region, offset, kind));
        }
        let values = reader.take(value_bytes)?;
        if threads == 0 {
            return Ok(None);
        }
        let block_dim = u32::try_from(block_dim).ok().filter(|n| *n > 0).unwrap_or(DEFAULT_BLOCK_DIM);
        let blocks = threads.div_ceil(block_dim.into());
        let limit = u64::try_from(max_blocks).ok().filter(|n| *n > 0);
        let grid = if loops != 0 { looping_grid(blocks, limit) } else { lean_grid(blocks, block_dim) };
        let Some(grid) = grid else {
            return Err(unread(format!("a launch of `{key}` with {threads} threads")));
        };
        let mut block = Block::default();
        block.words(&[
            u64::from(grid[0]) | u64::from(grid[1]) << 32,
            u64::from(grid[2]) | 1 << 32,
            grid.iter().map(|&n| u64::from(n)).product(),
        ]);
        block.bounds(&shape, rank, size);
        let mut rest = addresses.iter();
        let mut pointers = Vec::new();
        for (address_count, at, bytes, align) in params {
            let end = at.checked_add(bytes);
            let Some(value) = end.and_then(|end| values.get(at..end)) else {
                return Err(reader.bad(format!("an argument of `{key}` outside of its values")));
            };
            let start = block.argument(value, align).ok_or_else(|| {
                damaged("operations", format!("an argument of `{key}` at a multiple of {align}"))
            })?;
            for &(at, region, offset, kind) in rest.by_ref().take(address_count) {
                let place = start.saturating_add(at);
                if !place.is_multiple_of(8) || at.checked_add(8).is_none_or(|end| end > bytes) {
                    return Err(reader.bad(format!("an address in an argument of `{key}` at byte {at}")));
                }
                block.bytes[place..place + 8].fill(0);
                match kind {
                    NULL => {}
                    ADDRESS => {
                        let region = self.region(region)?;
                        let span = 0..self.stream.regions[region as usize].bytes;
                        let word = (place / 8) as u32;
                        pointers.push(Pointer { word, region, offset, span, reads: true, writes: true });
                    }
                    HANDLE => {
                        return Err(unread(format!(
                            "a handle (of a mesh, BVH or grid) as an argument of `{key}`"
                        )));
                    }
                    other => return Err(reader.bad(format!("an address of kind {other}"))),
                }
            }
        }
        if rest.next().is_some() {
            return Err(reader.bad(format!("addresses of no argument of `{key}`")));
        }
        // The driver refuses a block that is longer than what the code takes.
        let params_bytes = block.bytes.len() as u32;
        let params = block.finish();
        let kernel = self.kernel(&key, &hash, is_forward != 0, params_bytes)?;
        let shared_bytes = u32::try_from(shared_bytes).unwrap_or(0);
        Ok(Some(Launch { kernel, params, pointers: pointers.into(), block_dim, max_blocks: 0, shared_bytes }))
    }

    /// The index of a kernel of the stream.
    fn kernel(
        &mut self,
        key: &str,
        hash: &str,
        is_forward: bool,
        params_bytes: u32,
    ) -> Result<u32, BundleError> {
        let file = self.file;
        let info = file.kernels.iter().find(|info| info.key == key && info.module == hash);
        let module = file.modules.iter().find(|module| module.hash == hash);
        let (Some(KernelInfo { forward, backward, .. }), Some(module)) = (info, module) else {
            return Err(damaged("metadata", format!("kernel `{key}` is missing")));
        };
        let symbol = if is_forward { forward } else { backward };
        let digest = *blake3::hash(format!("{hash} {symbol}").as_bytes()).as_bytes();
        let known = self.stream.kernels.iter();
        if let Some(index) = known.clone().position(|k| k.digest == digest && k.params_bytes == params_bytes)
        {
            return Ok(index as u32);
        }
        let (name, options) = (key.to_owned(), String::new());
        let kernel = Kernel { name, digest, options, abi: Abi::Cuda, params_bytes, params: Vec::new() };
        self.stream.kernels.push(Arc::new(kernel));
        self.symbols.push((module, symbol));
        Ok(self.symbols.len() as u32 - 1)
    }
}

/// What the code of a module is for. Text for GPUs that are older than the oldest ones here runs on those too.
fn target(module: &Module) -> Result<CodeTarget, BundleError> {
    let arch = module.arch;
    let target = match module.is_ptx {
        true => CodeTarget::Ptx { arch: arch.max(OLDEST_ARCH) },
        false => CodeTarget::Cubin { arch },
    };
    // A bundle names only targets that there are.
    target.to_string().parse().map_err(|_| unread(format!("code for {target}")))
}

/// A parameter block that grows.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
}

impl Block {
    fn words(&mut self, words: &[u64]) {
        self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    /// The bounds that Warp's kernels get as their first parameter: extents, threads, and how often the extents fit into
    /// them.
    fn bounds(&mut self, shape: &[u32; 4], rank: i32, size: u64) {
        let rank = rank.clamp(1, 4) as usize;
        let fits = shape[..rank].iter().try_fold(1u64, |product, &n| product.checked_mul(n.into()));
        self.bytes.extend(shape[..rank].iter().flat_map(|extent| extent.to_le_bytes()));
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.words(&[size, fits.filter(|n| *n > 0).map_or(1, |n| size / n).max(1)]);
    }

    /// Puts an argument where CUDA expects it, and says where that is.
    fn argument(&mut self, value: &[u8], align: usize) -> Option<usize> {
        let align = if align == 0 { 8 } else { align };
        if !align.is_power_of_two() || align > 256 {
            return None;
        }
        // What the code gets starts after the bounds that are only the launch's.
        let head = 8 * BOUNDS_WORDS;
        let start = head + (self.bytes.len() - head).next_multiple_of(align);
        self.bytes.resize(start, 0);
        self.bytes.extend(value);
        Some(start)
    }

    fn finish(self) -> Box<[u64]> {
        let word = |chunk: &[u8]| {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(bytes)
        };
        self.bytes.chunks(8).map(word).collect()
    }
}

/// The grid of a kernel whose threads step over what one grid does not cover.
fn looping_grid(blocks: u64, limit: Option<u64>) -> Option<[u32; 3]> {
    let most = limit.unwrap_or(i32::MAX as u64).min(i32::MAX as u64);
    Some([blocks.min(most) as u32, 1, 1])
}

/// The grid of a kernel that has a thread for each item.
fn lean_grid(blocks: u64, block_dim: u32) -> Option<[u32; 3]> {
    let x = blocks.min((LEAN_THREADS_X / u64::from(block_dim)).max(1));
    let rest = blocks.div_ceil(x);
    let y = rest.min(MAX_GRID_YZ);
    let z = rest.div_ceil(y);
    (z <= MAX_GRID_YZ).then_some([x as u32, y as u32, z as u32])
}

fn for_pieces(
    bytes: u64,
    mut each: impl FnMut(u64, u64) -> Result<(), BundleError>,
) -> Result<(), BundleError> {
    let mut at = 0;
    while at < bytes {
        let piece = (bytes - at).min(PIECE);
        each(at, piece)?;
        at += piece;
    }
    Ok(())
}

fn short(reader: &mut Reader<'_>) -> Result<usize, BundleError> {
    let bytes = reader.take(2)?;
    Ok(usize::from(bytes[0]) | usize::from(bytes[1]) << 8)
}

fn text<'a>(reader: &mut Reader<'a>, bytes: usize) -> Result<String, BundleError> {
    let bytes = reader.take(bytes)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(reader.bad("a text is not UTF-8")),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
