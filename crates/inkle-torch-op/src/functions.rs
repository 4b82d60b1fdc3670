//! The functions of the bundles that were seen, so that a bundle is read once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use inkle_graph::function::Function;
use inkle_ir::Scalar;

use crate::owned::Tensor;
use crate::sys::Torch;

/// How many are kept.
const MAX_FUNCTIONS: usize = 256;
/// The head of a bundle, which has the digest of the table of the digests of all its parts: bundles that differ have
/// different heads.
const HEAD_BYTES: usize = 64;
/// Where the head has the length of the file.
const LENGTH_AT: usize = 16;

/// What a bundle is found by.
enum Key {
    /// Its head.
    Head([u8; HEAD_BYTES]),
    /// Its tensor, which is kept, so that its address stays its own; and for LEAPP's archives what goes in and out.
    Tensor { address: usize, bytes: i64, metadata: Option<String>, _tensor: Tensor },
}

impl Key {
    fn is_tensor(&self, at: usize, length: i64, wanted: Option<&str>) -> bool {
        matches!(self, Key::Tensor { address, bytes, metadata, .. }
            if (*address, *bytes, metadata.as_deref()) == (at, length, wanted))
    }
}

static FUNCTIONS: Mutex<VecDeque<(Key, Arc<Function>)>> = Mutex::new(VecDeque::new());

/// The function of a bundle.
///
/// # Errors
/// What is wrong with the bundle, or with the tensor that should hold one.
pub fn find(torch: &'static Torch, bundle: Tensor) -> Result<Arc<Function>, String> {
    let bytes = size(&bundle)?;
    if bundle.device()?.0 == torch.cpu {
        let data = bundle.data()?.cast::<u8>();
        if bytes == 0 {
            return Err("`bundle` is empty".into());
        }
        // SAFETY: the tensor is contiguous memory of the CPU with that many bytes, alive until this returns; nobody
        // changes a bundle.
        let bytes = unsafe { std::slice::from_raw_parts(data, bytes as usize) };
        // What is too short for a head, or not as long as the head says, is no bundle; reading it says so.
        let head = bytes.first_chunk::<HEAD_BYTES>().copied().unwrap_or([0; HEAD_BYTES]);
        let whole = head[LENGTH_AT..].first_chunk().map(|length| u64::from_le_bytes(*length));
        let whole = whole == Some(bytes.len() as u64);
        return recall(
            |key| whole && matches!(key, Key::Head(known) if *known == head),
            || Ok((Key::Head(head), from_bytes(bytes.to_vec())?)),
        );
    }
    let address = bundle.data()?.addr();
    recall(
        |key| key.is_tensor(address, bytes, None),
        || {
            let function = from_bytes(read(torch, &bundle, bytes)?)?;
            Ok((Key::Tensor { address, bytes, metadata: None, _tensor: bundle }, function))
        },
    )
}

/// The function of an archive of LEAPP's. Each tensor with one has memory of its own, as each has in LEAPP's runtime.
///
/// # Errors
/// What is wrong with the archive, the metadata, or the tensor.
pub fn find_leapps(torch: &'static Torch, bundle: Tensor, metadata: &str) -> Result<Arc<Function>, String> {
    let (bytes, address) = (size(&bundle)?, bundle.data()?.addr());
    recall(
        |key| key.is_tensor(address, bytes, Some(metadata)),
        || {
            let function = inkle_leapp::function(&read(torch, &bundle, bytes)?, metadata)?;
            Ok((
                Key::Tensor { address, bytes, metadata: Some(metadata.to_owned()), _tensor: bundle },
                function,
            ))
        },
    )
}

fn from_bytes(bytes: Vec<u8>) -> Result<Function, String> {
    Function::from_bytes(bytes).map_err(|error| error.to_string())
}

/// How many bytes there are in a tensor that should hold a bundle.
fn size(bundle: &Tensor) -> Result<i64, String> {
    let shape = bundle.shape()?;
    let &[bytes] = shape else {
        return Err(format!("`bundle` has to be a tensor of one dimension, it has {}", shape.len()));
    };
    let scalar = bundle.scalar()?;
    if scalar != Some(Scalar::U8) || !bundle.is_strided()? || !bundle.is_contiguous()? {
        let found = scalar.map_or("another type", Scalar::python_name);
        return Err(format!("`bundle` has to be a contiguous tensor of uint8, it is of {found}"));
    }
    Ok(bytes)
}

/// The bytes of a tensor, wherever it is.
fn read(torch: &'static Torch, bundle: &Tensor, bytes: i64) -> Result<Vec<u8>, String> {
    let copy = Tensor::empty(torch, Scalar::U8, &[bytes], (torch.cpu, -1))?;
    copy.copy_from(bundle)?;
    let mut read = vec![0u8; bytes as usize];
    if !read.is_empty() {
        // SAFETY: the copy is contiguous memory of the CPU with that many bytes, and the copying is done.
        unsafe { std::ptr::copy_nonoverlapping(copy.data()?.cast(), read.as_mut_ptr(), read.len()) };
    }
    Ok(read)
}

/// The function whose key is the one, or a new one.
fn recall(
    is_it: impl Fn(&Key) -> bool,
    read: impl FnOnce() -> Result<(Key, Function), String>,
) -> Result<Arc<Function>, String> {
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    // The latest are last.
    if let Some(at) = functions.iter().rposition(|(key, _)| is_it(key)) {
        if at + 1 < functions.len()
            && let Some(found) = functions.remove(at)
        {
            functions.push_back(found);
        }
        if let Some((_, function)) = functions.back() {
            return Ok(function.clone());
        }
    }
    let (key, function) = read()?;
    let function = Arc::new(function);
    let dropped = if functions.len() >= MAX_FUNCTIONS { functions.pop_front() } else { None };
    functions.push_back((key, function.clone()));
    drop(functions);
    drop(dropped);
    Ok(function)
}
