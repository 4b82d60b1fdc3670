//! The functions for C, from which `include/inkle_replay.h` is made: each checks its arguments, calls [`Replay`], and
//! turns failures into a status with a message.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use inkle_graph::bundle::{Direction, Param, PublicKey};
use inkle_ir::Scalar;
use inkle_runtime::{Array, Stream, device as find_device, set_cpu_threads};

use crate::error::{ErrorKind, ReplayError};
use crate::replay::{Place, Replay, param_bytes, param_span};

/// What a function says of its outcome. All but OK are failures; `inkle_replay_last_error` has a sentence about it.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InkleStatus {
    /// All went well.
    Ok = 0,
    /// An argument is wrong.
    InvalidArgument = 1,
    /// The graph has no parameter of that name.
    NoSuchParam = 2,
    /// The memory or the device does not fit the parameter.
    Mismatch = 3,
    /// The file cannot be read.
    File = 4,
    /// The file is no graph file, or is damaged.
    BadBundle = 5,
    /// The file is of another version of the format.
    Version = 6,
    /// The file has no code for this machine.
    NoCode = 7,
    /// The machine lacks a driver, a device or a feature.
    Unavailable = 8,
    /// Memory could not be had.
    OutOfMemory = 9,
    /// The CUDA driver reported a failure, which may be one of earlier work.
    Driver = 10,
    /// A kernel reported a failure while it ran.
    Kernel = 11,
    /// A mistake of this library.
    Internal = 12,
    /// The file is not signed with the key that it has to be signed with.
    Signer = 13,
}

impl From<ErrorKind> for InkleStatus {
    fn from(kind: ErrorKind) -> InkleStatus {
        match kind {
            ErrorKind::InvalidArgument => InkleStatus::InvalidArgument,
            ErrorKind::NoSuchParam => InkleStatus::NoSuchParam,
            ErrorKind::Mismatch => InkleStatus::Mismatch,
            ErrorKind::File => InkleStatus::File,
            ErrorKind::BadBundle => InkleStatus::BadBundle,
            ErrorKind::Version => InkleStatus::Version,
            ErrorKind::NoCode => InkleStatus::NoCode,
            ErrorKind::Signer => InkleStatus::Signer,
            ErrorKind::Unavailable => InkleStatus::Unavailable,
            ErrorKind::OutOfMemory => InkleStatus::OutOfMemory,
            ErrorKind::Driver => InkleStatus::Driver,
            ErrorKind::Kernel => InkleStatus::Kernel,
        }
    }
}

/// Where memory lies: an argument of type `uint32_t`.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InkleMemory {
    /// In the memory of the CPU.
    Host = 0,
    /// On the GPU that the graph runs on.
    Device = 1,
}

/// What a parameter is for.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InkleDirection {
    /// Set before a launch.
    Input = 0,
    /// Read after a launch.
    Output = 1,
}

/// The numbers that an element is made of.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum InkleScalar {
    /// One byte, 0 or 1.
    Bool = 0,
    Int8 = 1,
    Int16 = 2,
    Int32 = 3,
    Int64 = 4,
    Uint8 = 5,
    Uint16 = 6,
    Uint32 = 7,
    Uint64 = 8,
    Float16 = 9,
    Bfloat16 = 10,
    Float32 = 11,
    Float64 = 12,
    /// Elements are structs of several kinds of numbers, laid out as in C.
    Struct = 13,
}

/// A graph from a file, ready to run.
pub struct InkleReplay {
    replay: Replay,
    /// Per parameter its name and that of its element type.
    texts: Vec<(CString, CString)>,
}

/// A named part of a graph's memory: an array of one to four dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct InkleParam {
    /// Its name; valid until the replay is closed.
    pub name: *const c_char,
    /// The element type as Python has it, such as `float32` or `vec3f`; valid until the replay is closed.
    pub dtype: *const c_char,
    /// What it is for.
    pub direction: InkleDirection,
    /// The numbers that an element is made of.
    pub scalar: InkleScalar,
    /// How many numbers an element has: 1 for a number, 3 for a vec3, 9 for a mat33; 0 for a struct.
    pub scalars_per_element: u32,
    /// The size of an element, bytes.
    pub element_bytes: u32,
    /// The number of dimensions.
    pub ndim: u32,
    /// The extents; 1 beyond `ndim`.
    pub shape: [i32; 4],
    /// The distances between neighbours where `inkle_replay_bind` is used, bytes; 0 beyond `ndim`.
    pub strides: [i64; 4],
    /// The size of all elements, packed, bytes: what `inkle_replay_set_param` and `inkle_replay_get_param` take.
    pub bytes: usize,
    /// The bytes from the lowest address of an element to the end of the last: what `inkle_replay_bind` takes.
    pub span_bytes: usize,
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// The text without the bytes that would end it early.
fn text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Does the work of a C function: its failure is kept for `inkle_replay_last_error`, and no panic leaves it.
fn outcome(work: impl FnOnce() -> Result<(), ReplayError>) -> InkleStatus {
    let (status, message) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return InkleStatus::Ok,
        Ok(Err(error)) => (error.kind().into(), error.to_string()),
        Err(panic) => {
            let said = panic_text(&*panic);
            (InkleStatus::Internal, format!("a mistake in inkle, please report it: {said}"))
        }
    };
    LAST_ERROR.with(|last| *last.borrow_mut() = text(&message));
    status
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let plain = panic.downcast_ref::<&str>().map(|said| (*said).to_owned());
    plain.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

fn wrong(what: impl Into<String>) -> ReplayError {
    ReplayError::Argument { what: what.into() }
}

/// The text of an argument.
///
/// # Safety
/// A pointer that is not null points to a string that ends with a zero byte and lives as long as the result.
unsafe fn string<'a>(what: &str, given: *const c_char) -> Result<&'a str, ReplayError> {
    if given.is_null() {
        return Err(wrong(format!("{what} is a null pointer")));
    }
    // SAFETY: the caller's contract.
    let bytes = unsafe { CStr::from_ptr(given) };
    bytes.to_str().map_err(|_| wrong(format!("{what} is not UTF-8")))
}

/// The replay of an argument.
///
/// # Safety
/// A pointer that is not null came from one of the functions that open a replay and is not closed while the result
/// lives.
unsafe fn opened<'a>(replay: *const InkleReplay) -> Result<&'a InkleReplay, ReplayError> {
    // SAFETY: the caller's contract.
    unsafe { replay.as_ref() }.ok_or_else(|| wrong("the replay is a null pointer"))
}

/// The stream of an argument: none on the CPU, where it has to be null.
///
/// # Safety
/// As [`Replay::stream`].
unsafe fn stream_of(replay: &Replay, handle: *mut c_void) -> Result<Option<Stream>, ReplayError> {
    if replay.device().is_cpu() && handle.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's contract.
    unsafe { replay.stream(handle.expose_provenance() as u64) }.map(Some)
}

/// A parameter of a replay, and the caller's memory for it.
struct Named<'a> {
    replay: &'a Replay,
    name: &'a str,
    array: Array,
}

impl<'a> Named<'a> {
    /// What the arguments of a function are about; `packed` as for [`Replay::adopt`].
    ///
    /// # Safety
    /// As [`opened`] and [`string`]; for the memory as [`Replay::adopt`].
    unsafe fn of(
        replay: *const InkleReplay,
        name: *const c_char,
        data: *mut c_void,
        bytes: usize,
        memory: u32,
        packed: bool,
    ) -> Result<Named<'a>, ReplayError> {
        // SAFETY: the caller's contract.
        let (replay, name) = unsafe { (&opened(replay)?.replay, string("the name", name)?) };
        let (address, place) = (data.expose_provenance() as u64, place(memory)?);
        // SAFETY: the caller's contract.
        let array = unsafe { replay.adopt(name, address, bytes, place, packed) }?;
        Ok(Named { replay, name, array })
    }
}

fn place(memory: u32) -> Result<Place, ReplayError> {
    match memory {
        m if m == InkleMemory::Host as u32 => Ok(Place::Host),
        m if m == InkleMemory::Device as u32 => Ok(Place::Device),
        other => {
            Err(wrong(format!("{other} is no place for memory: INKLE_MEMORY_HOST or INKLE_MEMORY_DEVICE")))
        }
    }
}

/// Puts a replay on the heap for C.
///
/// # Safety
/// `out` is null or a place for a pointer.
unsafe fn give(
    out: *mut *mut InkleReplay,
    open: impl FnOnce() -> Result<Replay, ReplayError>,
) -> Result<(), ReplayError> {
    if out.is_null() {
        return Err(wrong("the place for the replay is a null pointer"));
    }
    // SAFETY: the caller's contract.
    unsafe { *out = ptr::null_mut() };
    let replay = open()?;
    let texts = replay.params().iter().map(|p| (text(&p.name), text(&p.view.dtype.python_name()))).collect();
    // SAFETY: the caller's contract.
    unsafe { *out = Box::into_raw(Box::new(InkleReplay { replay, texts })) };
    Ok(())
}

/// The version of this library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn inkle_replay_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// What went wrong in the last call of this thread that failed, in a sentence; empty if none has. Valid until the next
/// call of this thread that fails.
#[unsafe(no_mangle)]
pub extern "C" fn inkle_replay_last_error() -> *const c_char {
    LAST_ERROR.with(|last| last.borrow().as_ptr())
}

/// Sets how many threads run graphs on the CPU in this process, the calling one included: 1 or more. By default one for
/// each core; they are started when there is enough work for them. Results do not depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn inkle_replay_set_cpu_threads(threads: usize) -> InkleStatus {
    outcome(|| Ok(set_cpu_threads(threads)?))
}

/// Opens the graph in the file at `path`.
///
/// `device` is "cpu", or "cuda:0" and so on for a GPU, "cuda" for the first. The CUDA driver is loaded when a GPU is
/// first asked for. `*out` becomes the replay, or NULL after a failure.
///
/// # Safety
/// The pointers are null or point to strings that end with a zero byte, and to a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_open(
    path: *const c_char,
    device: *const c_char,
    out: *mut *mut InkleReplay,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        unsafe {
            give(out, || Replay::open(string("the path", path)?, find_device(string("the device", device)?)?))
        }
    })
}

/// As `inkle_replay_open`, for a file that is in memory: `bytes` bytes at `data`, which are copied.
///
/// # Safety
/// As `inkle_replay_open`; there are that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_open_memory(
    data: *const c_void,
    bytes: usize,
    device: *const c_char,
    out: *mut *mut InkleReplay,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        unsafe {
            give(out, || {
                Replay::from_bytes(file_of(data, bytes)?, find_device(string("the device", device)?)?)
            })
        }
    })
}

/// As `inkle_replay_open`, for a file that has to be signed (`inkle sign`): `public_key` are the 32 bytes of the key that
/// its signature is checked with, before anything of the file is used. A file without a signature, or with one of another
/// key, is refused with INKLE_STATUS_SIGNER; one that was changed after it was signed with INKLE_STATUS_BAD_BUNDLE.
///
/// # Safety
/// As `inkle_replay_open`; `public_key` is null or has 32 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_open_signed(
    path: *const c_char,
    device: *const c_char,
    public_key: *const u8,
    out: *mut *mut InkleReplay,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        unsafe {
            give(out, || {
                let (path, key) = (string("the path", path)?, key_of(public_key)?);
                Replay::open_signed(path, find_device(string("the device", device)?)?, &key)
            })
        }
    })
}

/// As `inkle_replay_open_signed`, for a file that is in memory: `bytes` bytes at `data`, which are copied.
///
/// # Safety
/// As `inkle_replay_open_signed`; there are that many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_open_memory_signed(
    data: *const c_void,
    bytes: usize,
    device: *const c_char,
    public_key: *const u8,
    out: *mut *mut InkleReplay,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        unsafe {
            give(out, || {
                let (file, key) = (file_of(data, bytes)?, key_of(public_key)?);
                Replay::from_signed_bytes(file, find_device(string("the device", device)?)?, &key)
            })
        }
    })
}

/// The file in the caller's memory.
///
/// # Safety
/// The address is null or has that many bytes.
unsafe fn file_of(data: *const c_void, bytes: usize) -> Result<Vec<u8>, ReplayError> {
    if data.is_null() {
        return Err(wrong("the file's bytes are a null pointer"));
    }
    // SAFETY: the caller's contract.
    Ok(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), bytes) }.to_vec())
}

/// The key of an argument.
///
/// # Safety
/// The address is null or has 32 bytes.
unsafe fn key_of(bytes: *const u8) -> Result<PublicKey, ReplayError> {
    // SAFETY: the caller's contract; bytes have no alignment.
    let bytes = unsafe { bytes.cast::<[u8; 32]>().as_ref() };
    Ok(PublicKey::from_bytes(bytes.ok_or_else(|| wrong("the public key is a null pointer"))?)?)
}

/// Closes a replay; NULL is left alone. No other call may use it during or after this. Work that is queued on GPU streams
/// is not waited for: the graph's own memory stays until it is done.
///
/// # Safety
/// The replay came from one of the functions that open one and was not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_close(replay: *mut InkleReplay) {
    outcome(|| {
        if !replay.is_null() {
            // SAFETY: the caller's contract.
            drop(unsafe { Box::from_raw(replay) });
        }
        Ok(())
    });
}

/// The number of parameters; 0 for NULL.
///
/// # Safety
/// The replay is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_param_count(replay: *const InkleReplay) -> usize {
    // SAFETY: the caller's contract.
    unsafe { replay.as_ref() }.map_or(0, |replay| replay.texts.len())
}

/// Describes the parameter of an index below `inkle_replay_param_count`.
///
/// # Safety
/// The replay is null or open; `out` is null or a place for a description.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_param(
    replay: *const InkleReplay,
    index: usize,
    out: *mut InkleParam,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        let replay = unsafe { opened(replay) }?;
        let described = replay.param(index)?;
        // SAFETY: the caller's contract.
        unsafe { put(out, described) }
    })
}

/// Describes the parameter of a name.
///
/// # Safety
/// As `inkle_replay_param`; `name` is null or a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_find_param(
    replay: *const InkleReplay,
    name: *const c_char,
    out: *mut InkleParam,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        let (replay, name) = unsafe { (opened(replay)?, string("the name", name)?) };
        let wanted = replay.replay.param(name)?;
        let index = replay.replay.params().iter().position(|param| param.name == wanted.name);
        let described = replay.param(index.unwrap_or(usize::MAX))?;
        // SAFETY: the caller's contract.
        unsafe { put(out, described) }
    })
}

/// Copies the caller's memory into a parameter: all elements, packed in row-major order, `bytes` as the description
/// says, at an address that is a multiple of the size of a number.
///
/// `memory` is INKLE_MEMORY_HOST or INKLE_MEMORY_DEVICE. On a GPU the copy is queued on `stream`, a cudaStream_t or
/// CUstream; NULL is the legacy default stream. From the memory of the CPU it is done when this returns. On the CPU
/// `stream` is NULL.
///
/// # Safety
/// As `inkle_replay_find_param`; `data` has that many bytes; the stream belongs to the primary context of the GPU and
/// lives until the replay is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_set_param(
    replay: *mut InkleReplay,
    name: *const c_char,
    data: *const c_void,
    bytes: usize,
    memory: u32,
    stream: *mut c_void,
) -> InkleStatus {
    // SAFETY: the caller's contract; the memory is only read.
    unsafe { transfer(Replay::set_from, replay, name, data.cast_mut(), bytes, memory, stream) }
}

/// Copies a parameter to the caller's memory. Arguments are as for `inkle_replay_set_param`. To the memory of the CPU the
/// copy is done when this returns, after all that the stream had to do before.
///
/// # Safety
/// As `inkle_replay_set_param`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_get_param(
    replay: *mut InkleReplay,
    name: *const c_char,
    data: *mut c_void,
    bytes: usize,
    memory: u32,
    stream: *mut c_void,
) -> InkleStatus {
    // SAFETY: the caller's contract.
    unsafe { transfer(Replay::get_into, replay, name, data, bytes, memory, stream) }
}

/// Copies between the caller's memory and a parameter.
///
/// # Safety
/// As `inkle_replay_set_param`; `copy` writes the memory only if it may be written.
unsafe fn transfer(
    copy: fn(&Replay, &str, &Array, Option<&Stream>) -> Result<(), ReplayError>,
    replay: *const InkleReplay,
    name: *const c_char,
    data: *mut c_void,
    bytes: usize,
    memory: u32,
    stream: *mut c_void,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        let named = unsafe { Named::of(replay, name, data, bytes, memory, true) }?;
        // SAFETY: the caller's contract.
        let stream = unsafe { stream_of(named.replay, stream) }?;
        copy(named.replay, named.name, &named.array, stream.as_ref())
    })
}

/// Lets the graph use the caller's memory in place of a parameter's own from the next launch on. Nothing is copied.
///
/// `data` is the lowest address of an element, at a multiple of 64 bytes to be safe for every graph; elements lie as the
/// description's `strides` say, and `bytes` is its `span_bytes`. The memory lies where the graph's does: a graph on a GPU
/// takes INKLE_MEMORY_DEVICE. It stays the caller's, and valid until the parameter is bound again or the replay is
/// closed, and what is queued is done. Launches that are under way keep the old memory. Fails with
/// INKLE_STATUS_MISMATCH for a parameter that shares its memory with other data of the graph: copy its values instead.
///
/// # Safety
/// As the text says; else as `inkle_replay_set_param`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_bind(
    replay: *mut InkleReplay,
    name: *const c_char,
    data: *mut c_void,
    bytes: usize,
    memory: u32,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        let named = unsafe { Named::of(replay, name, data, bytes, memory, false) }?;
        named.replay.bind(named.name, &named.array)
    })
}

/// Runs the graph. On the CPU it is done when this returns. On a GPU it is queued on `stream`, a cudaStream_t or CUstream,
/// NULL for the legacy default stream; a stream that is being captured gets the graph as part of the capture.
///
/// # Safety
/// As `inkle_replay_set_param`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_launch(replay: *mut InkleReplay, stream: *mut c_void) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        unsafe {
            let replay = &opened(replay)?.replay;
            replay.launch(stream_of(replay, stream)?.as_ref())
        }
    })
}

/// Waits until a stream has done all its work, and tells of failures in it. Returns at once on the CPU.
///
/// # Safety
/// As `inkle_replay_set_param`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn inkle_replay_synchronize(
    replay: *mut InkleReplay,
    stream: *mut c_void,
) -> InkleStatus {
    outcome(|| {
        // SAFETY: the caller's contract.
        unsafe {
            let replay = &opened(replay)?.replay;
            replay.synchronize(stream_of(replay, stream)?.as_ref())
        }
    })
}

/// Writes a description where C wants it.
///
/// # Safety
/// `out` is null or a place for a description.
unsafe fn put(out: *mut InkleParam, described: InkleParam) -> Result<(), ReplayError> {
    if out.is_null() {
        return Err(wrong("the place for the description is a null pointer"));
    }
    // SAFETY: the caller's contract.
    unsafe { *out = described };
    Ok(())
}

impl InkleReplay {
    fn param(&self, index: usize) -> Result<InkleParam, ReplayError> {
        let (Some(param), Some((name, dtype))) = (self.replay.params().get(index), self.texts.get(index))
        else {
            return Err(wrong(format!("there is no parameter {index}; there are {}", self.texts.len())));
        };
        Ok(describe(param, name, dtype))
    }
}

fn describe(param: &Param, name: &CStr, dtype: &CStr) -> InkleParam {
    let view = &param.view;
    let mut described = InkleParam {
        name: name.as_ptr(),
        dtype: dtype.as_ptr(),
        direction: match param.direction {
            Direction::Input => InkleDirection::Input,
            Direction::Output => InkleDirection::Output,
        },
        scalar: view.dtype.scalar().map_or(InkleScalar::Struct, c_scalar),
        scalars_per_element: view.dtype.component_count().unwrap_or(0),
        element_bytes: view.dtype.size(),
        ndim: view.shape.len() as u32,
        shape: [1; 4],
        strides: [0; 4],
        bytes: param_bytes(param),
        span_bytes: param_span(param),
    };
    described.shape.iter_mut().zip(&view.shape).for_each(|(to, from)| *to = *from);
    described.strides.iter_mut().zip(&view.strides).for_each(|(to, from)| *to = *from);
    described
}

fn c_scalar(scalar: Scalar) -> InkleScalar {
    match scalar {
        Scalar::Bool => InkleScalar::Bool,
        Scalar::I8 => InkleScalar::Int8,
        Scalar::I16 => InkleScalar::Int16,
        Scalar::I32 => InkleScalar::Int32,
        Scalar::I64 => InkleScalar::Int64,
        Scalar::U8 => InkleScalar::Uint8,
        Scalar::U16 => InkleScalar::Uint16,
        Scalar::U32 => InkleScalar::Uint32,
        Scalar::U64 => InkleScalar::Uint64,
        Scalar::F16 => InkleScalar::Float16,
        Scalar::BF16 => InkleScalar::Bfloat16,
        Scalar::F32 => InkleScalar::Float32,
        Scalar::F64 => InkleScalar::Float64,
    }
}
