//! Writes files as Warp does, for tests of their reader.

use sha2::{Digest, Sha256};

/// The name of the module of every file made here, and of its file of code.
pub const MODULE: &str = "0123abcd";
pub const CODE_FILE: &str = "wp_module_0123abc.sm75.ptx";

/// A file in the making.
pub struct WarpFile {
    pub version: u32,
    /// Keys of kernels; the symbol of each is the same.
    pub kernels: Vec<&'static str>,
    /// Names and regions.
    pub params: Vec<(&'static str, u32)>,
    /// Numbers and contents.
    pub regions: Vec<(u32, Vec<u8>)>,
    pub operations: Vec<Vec<u8>>,
    pub code: Vec<u8>,
    pub meshes: u32,
    pub device: u8,
    /// What the code is for, a compute capability times ten.
    pub arch: u32,
}

impl WarpFile {
    pub fn new(version: u32) -> WarpFile {
        WarpFile {
            version,
            kernels: Vec::new(),
            params: Vec::new(),
            regions: Vec::new(),
            operations: Vec::new(),
            code: b"// PTX".to_vec(),
            meshes: 0,
            device: 0,
            arch: 75,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let sections = [self.metadata(), self.memory(), list(&self.operations)];
        let mut file = b"WRP1".to_vec();
        words(&mut file, &[self.version, 0, 3, 64, 0]);
        file.extend([self.device, 0, 0, 0]);
        words(&mut file, &[75, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(file.len(), 64);
        let mut at = 64 + 3 * 32u64;
        for (kind, section) in (1u32..).zip(&sections) {
            words(&mut file, &[kind, 0]);
            for long in [at, section.len() as u64, section.len() as u64] {
                file.extend(long.to_le_bytes());
            }
            at += section.len() as u64;
        }
        sections.iter().for_each(|section| file.extend(section));
        file
    }

    fn metadata(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let with_digests = self.version >= 18;
        words(&mut out, &[self.version]);
        if with_digests {
            text(&mut out, "1.19.0");
        }
        words(&mut out, &[75, 1, self.kernels.len() as u32, self.params.len() as u32, self.meshes, 0]);
        [MODULE, "module", CODE_FILE].iter().for_each(|s| text(&mut out, s));
        words(&mut out, &[self.arch]);
        if with_digests {
            let digest: String = Sha256::digest(&self.code).iter().map(|b| format!("{b:02x}")).collect();
            text(&mut out, &digest);
            text(&mut out, "");
            text(&mut out, "");
            // Without source, nothing is said of what the code is.
            out.extend([0, 1]);
            out.extend([0; 16]);
        }
        for kernel in &self.kernels {
            [*kernel, MODULE, *kernel, "backward"].iter().for_each(|s| text(&mut out, s));
            words(&mut out, &[0, 0, 256]);
        }
        for (name, region) in &self.params {
            text(&mut out, name);
            words(&mut out, &[*region]);
        }
        out
    }

    fn memory(&self) -> Vec<u8> {
        let mut out = Vec::new();
        words(&mut out, &[self.regions.len() as u32]);
        for (id, contents) in &self.regions {
            words(&mut out, &[*id, 4]);
            out.extend((contents.len() as u64).to_le_bytes());
            out.extend([1, 0, 0, 0, 0, 0, 0, 0]);
            out.extend(contents);
        }
        out
    }
}

/// An argument: its bytes, its alignment, and where it has an address of which region and offset.
pub struct Argument {
    pub value: Vec<u8>,
    pub align: u32,
    pub address: Option<(u32, i32, u64)>,
}

impl Argument {
    /// A number.
    pub fn f32(value: f32) -> Argument {
        Argument { value: value.to_le_bytes().to_vec(), align: 4, address: None }
    }

    /// An array of one dimension.
    pub fn array(region: i32, offset: u64, extent: i32) -> Argument {
        // An address that was the writer's, and no gradient.
        let mut value = vec![0xAB; 8];
        value.extend([0; 8]);
        for n in [extent, 0, 0, 0, 4, 0, 0, 0] {
            value.extend(n.to_le_bytes());
        }
        value.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        Argument { value, align: 8, address: Some((0, region, offset)) }
    }
}

/// How a launch is spread.
#[derive(Clone, Copy)]
pub struct Spread {
    pub threads: u32,
    pub block_dim: u32,
    pub max_blocks: u32,
    pub loops: bool,
    pub cluster: u8,
}

impl Spread {
    pub fn over(threads: u32) -> Spread {
        Spread { threads, block_dim: 256, max_blocks: 0, loops: false, cluster: 1 }
    }
}

pub fn launch(key: &str, spread: Spread, arguments: &[Argument]) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[spread.threads, 0, 0, 0, 1]);
    out.extend(u64::from(spread.threads).to_le_bytes());
    out.extend(u64::from(spread.threads).to_le_bytes());
    words(&mut out, &[spread.max_blocks, spread.block_dim, 0, spread.loops.into()]);
    out.extend([1, spread.cluster, 0, 0]);
    for short in [key.len(), MODULE.len(), arguments.len(), 0] {
        out.extend((short as u16).to_le_bytes());
    }
    let values: usize = arguments.iter().map(|a| a.value.len()).sum();
    let addresses: Vec<_> = arguments.iter().filter_map(|a| a.address).collect();
    words(&mut out, &[addresses.len() as u32, values as u32]);
    out.extend(key.as_bytes());
    out.extend(MODULE.as_bytes());
    let mut at = 0;
    for (index, argument) in arguments.iter().enumerate() {
        out.extend((index as u16 + 1).to_le_bytes());
        out.extend(u16::from(argument.address.is_some()).to_le_bytes());
        words(&mut out, &[at, argument.value.len() as u32, argument.align]);
        at += argument.value.len() as u32;
    }
    for (place, region, offset) in addresses {
        words(&mut out, &[place]);
        out.extend(region.to_le_bytes());
        out.extend(offset.to_le_bytes());
        out.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    }
    arguments.iter().for_each(|argument| out.extend(&argument.value));
    operation(1, &out)
}

pub fn copy(to: (i32, u64), from: (i32, u64), bytes: u64) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(to.0.to_le_bytes());
    out.extend(from.0.to_le_bytes());
    [to.1, from.1, bytes].iter().for_each(|long| out.extend(long.to_le_bytes()));
    operation(4, &out)
}

pub fn copy_in(to: i32, offset: u64, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[to as u32, 0]);
    [offset, bytes.len() as u64].iter().for_each(|long| out.extend(long.to_le_bytes()));
    out.extend(bytes);
    operation(2, &out)
}

pub fn set_bytes(region: i32, offset: u64, bytes: u64, value: u8) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[region as u32, value.into()]);
    [offset, bytes].iter().for_each(|long| out.extend(long.to_le_bytes()));
    operation(5, &out)
}

pub fn fill(region: i32, offset: u64, count: u64, element: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[region as u32, element.len() as u32]);
    [offset, count].iter().for_each(|long| out.extend(long.to_le_bytes()));
    out.extend(element);
    operation(10, &out)
}

pub fn condition(is_loop: bool, region: i32, first: &[Vec<u8>], second: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[region as u32, 0, 0, 0]);
    for body in [first, second] {
        words(&mut out, &[body.concat().len() as u32, body.len() as u32]);
    }
    out.extend(first.concat());
    out.extend(second.concat());
    operation(if is_loop { 8 } else { 7 }, &out)
}

/// Running sums of `count` elements of `lanes` numbers of a type, `strides` bytes apart.
pub fn scan(to: (i32, u64), from: (i32, u64), count: u32, strides: [u32; 2], lanes: u32, ty: u8) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[to.0 as u32, from.0 as u32]);
    longs(&mut out, &[to.1, from.1]);
    words(&mut out, &[count, strides[0], strides[1], lanes]);
    out.extend([ty, 1, 0, 0]);
    operation(9, &out)
}

/// A sort of `count` pairs, of values of `value_bytes` bytes.
pub fn sort(keys: (i32, u64), values: (i32, u64), count: u32, value_bytes: u32, ty: u8) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[keys.0 as u32, values.0 as u32]);
    longs(&mut out, &[keys.1, values.1]);
    words(&mut out, &[count, 0, 32, value_bytes]);
    out.extend([ty, 0, 0, 0]);
    operation(12, &out)
}

/// A sort of the segments of `count` pairs; places of keys, values, starts and ends.
pub fn sort_segments(places: [(i32, u64); 4], count: u32, segments: u32) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &places.map(|place| place.0 as u32));
    longs(&mut out, &places.map(|place| place.1));
    words(&mut out, &[count, segments]);
    out.extend([1, 0, 0, 0]);
    operation(11, &out)
}

/// Runs of `count` values; places of the values, then of the runs' values, lengths and number.
pub fn run_lengths(places: [(i32, u64); 4], count: u32) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &places.map(|place| place.0 as u32));
    longs(&mut out, &places.map(|place| place.1));
    words(&mut out, &[count, 0]);
    operation(13, &out)
}

/// A sum of `a`, or an inner product of `a` and `b`, packed elements of `lanes` numbers.
pub fn reduction(
    a: (i32, u64),
    b: Option<(i32, u64)>,
    to: (i32, u64),
    count: u32,
    lanes: u32,
    ty: u8,
) -> Vec<u8> {
    let mut out = Vec::new();
    let other = b.unwrap_or((-1, 0));
    let stride = lanes * if ty == 6 { 8 } else { 4 };
    words(&mut out, &[a.0 as u32, other.0 as u32, to.0 as u32, count]);
    longs(&mut out, &[a.1, other.1, to.1]);
    words(&mut out, &[stride, if b.is_some() { stride } else { 0 }, lanes]);
    out.extend([if b.is_some() { 2 } else { 1 }, ty, 0, 0]);
    operation(16, &out)
}

/// An operation of any number.
pub fn operation(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[kind, 8 + body.len() as u32]);
    out.extend(body);
    out
}

fn list(operations: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    words(&mut out, &[operations.len() as u32]);
    operations.iter().for_each(|operation| out.extend(operation));
    out
}

fn words(out: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| out.extend(word.to_le_bytes()));
}

fn longs(out: &mut Vec<u8>, longs: &[u64]) {
    longs.iter().for_each(|long| out.extend(long.to_le_bytes()));
}

fn text(out: &mut Vec<u8>, text: &str) {
    words(out, &[text.len() as u32]);
    out.extend(text.as_bytes());
}
