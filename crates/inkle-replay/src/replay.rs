//! A graph from a file, ready to run.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use inkle_graph::Graph;
use inkle_graph::bundle::{Bundle, FindCode, Param, PublicKey, code_beside, read_file};
use inkle_runtime::{Array, Device, Stream};

use crate::error::ReplayError;
use crate::number::Number;

/// Where memory lies that the caller owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the memory of the CPU.
    Host,
    /// On the device that the graph runs on.
    Device,
}

/// A graph from a file on one device, with memory of its own.
///
/// Every method may be called from any thread. On the CPU, calls on one replay wait for each other, so each sees the
/// graph's memory whole; different replays run at the same time. On a GPU, work is queued on the stream that the caller
/// names, and streams are ordered by the caller.
pub struct Replay {
    graph: Graph,
    /// Held while the CPU works on the graph's memory.
    busy: Mutex<()>,
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Replay").field(&self.graph).finish()
    }
}

impl Replay {
    /// The graph in a file, on a device. The file is one of inkle's, or one that Warp 1.17 to 1.19 saved of a graph of a
    /// GPU, with its folder of code beside it.
    ///
    /// # Errors
    /// [`ReplayError::File`]; else as [`from_bytes`](Replay::from_bytes).
    pub fn open(path: impl AsRef<Path>, device: Device) -> Result<Replay, ReplayError> {
        let path = path.as_ref();
        Replay::of(Bundle::from_bytes_and_code(read(path)?, &code_beside(path))?, device)
    }

    /// As [`open`](Replay::open), for a file that has to be signed with the secret part of `key`.
    ///
    /// # Errors
    /// [`Signer`](inkle_graph::bundle::BundleError::Signer) if it is not; else as [`open`](Replay::open).
    pub fn open_signed(
        path: impl AsRef<Path>,
        device: Device,
        key: &PublicKey,
    ) -> Result<Replay, ReplayError> {
        Replay::from_signed_bytes(read(path.as_ref())?, device, key)
    }

    /// The graph in the bytes of a file, on a device.
    ///
    /// # Errors
    /// [`ReplayError::Graph`]: what is wrong with the file, what it has no code for, or what the device lacks.
    pub fn from_bytes(bytes: Vec<u8>, device: Device) -> Result<Replay, ReplayError> {
        Replay::of(Bundle::from_bytes(bytes)?, device)
    }

    /// As [`from_bytes`](Replay::from_bytes), for a file that has to be signed with the secret part of `key`.
    ///
    /// # Errors
    /// As [`open_signed`](Replay::open_signed).
    pub fn from_signed_bytes(bytes: Vec<u8>, device: Device, key: &PublicKey) -> Result<Replay, ReplayError> {
        let bundle = Bundle::from_bytes(bytes)?;
        bundle.require_signer(key)?;
        Replay::of(bundle, device)
    }

    /// As [`from_bytes`](Replay::from_bytes), for a file of Warp's: `find` gives files of code by their names.
    ///
    /// # Errors
    /// As [`from_bytes`](Replay::from_bytes).
    pub fn from_bytes_and_code(
        bytes: Vec<u8>,
        find: FindCode<'_>,
        device: Device,
    ) -> Result<Replay, ReplayError> {
        Replay::of(Bundle::from_bytes_and_code(bytes, find)?, device)
    }

    fn of(bundle: Bundle, device: Device) -> Result<Replay, ReplayError> {
        let graph = bundle.load(device, None)?;
        // Programs that replay open their files before what must be quick begins.
        graph.prepare()?;
        Ok(Replay { graph, busy: Mutex::new(()) })
    }

    /// The device it runs on.
    pub fn device(&self) -> Device {
        self.graph.device()
    }

    /// The graph, for what this type does not offer.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The named parts of its memory, inputs and outputs.
    pub fn params(&self) -> &[Param] {
        self.graph.params()
    }

    /// The parameter of a name.
    ///
    /// # Errors
    /// [`NoSuchParam`](inkle_graph::GraphError::NoSuchParam), which names those there are.
    pub fn param(&self, name: &str) -> Result<&Param, ReplayError> {
        Ok(self.graph.param(name)?)
    }

    /// Runs the graph: on the CPU it is done when this returns; on a GPU it is queued on `stream`, or on the device's
    /// current stream. A stream that is being captured gets the graph's operations as part of its capture.
    ///
    /// # Errors
    /// [`ReplayError::StreamOnCpu`]; the first failure of an operation, after which later ones have not run.
    pub fn launch(&self, stream: Option<&Stream>) -> Result<(), ReplayError> {
        let _busy = self.lock(stream)?;
        Ok(self.graph.launch(stream)?)
    }

    /// Copies numbers into a parameter: all of its elements, packed in row-major order.
    ///
    /// # Errors
    /// [`ReplayError::NumberType`], [`ReplayError::ByteCount`] if they are not of its type or not as many; as
    /// [`param`](Replay::param); the runtime's.
    pub fn set<T: Number>(&self, name: &str, values: &[T]) -> Result<(), ReplayError> {
        self.check_number::<T>(name)?;
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|value| value.put(&mut bytes));
        self.set_bytes(name, &bytes, None)
    }

    /// All numbers of a parameter, packed in row-major order.
    ///
    /// # Errors
    /// As [`set`](Replay::set).
    pub fn get<T: Number>(&self, name: &str) -> Result<Vec<T>, ReplayError> {
        self.check_number::<T>(name)?;
        let bytes = self.get_bytes(name, None)?;
        Ok(bytes.chunks_exact(size_of::<T>()).map(T::take).collect())
    }

    /// As [`set`](Replay::set), for elements of any type. The bytes are copied before this returns.
    ///
    /// # Errors
    /// As [`set`](Replay::set).
    pub fn set_bytes(&self, name: &str, bytes: &[u8], stream: Option<&Stream>) -> Result<(), ReplayError> {
        let param = self.param(name)?;
        check_bytes(param, bytes.len())?;
        let array = Array::from_bytes(Device::cpu(), param.view.dtype, &extents(param), bytes)?;
        let _busy = self.lock(stream)?;
        Ok(self.graph.write(name, &param.view, &array, stream)?)
    }

    /// As [`get`](Replay::get), for elements of any type. Waits for what `stream` has to do before.
    ///
    /// # Errors
    /// As [`get`](Replay::get).
    pub fn get_bytes(&self, name: &str, stream: Option<&Stream>) -> Result<Vec<u8>, ReplayError> {
        let param = self.param(name)?;
        let array = Array::zeros(Device::cpu(), param.view.dtype, &extents(param))?;
        let _busy = self.lock(stream)?;
        self.graph.read(name, &param.view, &array, stream)?;
        Ok(array.to_bytes()?)
    }

    /// Copies the elements of `array` into a parameter; on a GPU the copy is queued on `stream`.
    ///
    /// # Errors
    /// [`ParamMismatch`](inkle_graph::GraphError::ParamMismatch); as [`param`](Replay::param); the runtime's.
    pub fn set_from(&self, name: &str, array: &Array, stream: Option<&Stream>) -> Result<(), ReplayError> {
        let param = self.param(name)?;
        let _busy = self.lock(stream)?;
        Ok(self.graph.write(name, &param.view, array, stream)?)
    }

    /// Copies the elements of a parameter to `array`; on a GPU the copy is queued on `stream`.
    ///
    /// # Errors
    /// As [`set_from`](Replay::set_from).
    pub fn get_into(&self, name: &str, array: &Array, stream: Option<&Stream>) -> Result<(), ReplayError> {
        let param = self.param(name)?;
        let _busy = self.lock(stream)?;
        Ok(self.graph.read(name, &param.view, array, stream)?)
    }

    /// Lets the graph use `array` in place of the memory of a parameter from the next launch on; nothing is copied.
    ///
    /// # Errors
    /// As [`Graph::rebind`]; as [`param`](Replay::param).
    pub fn bind(&self, name: &str, array: &Array) -> Result<(), ReplayError> {
        let param = self.param(name)?;
        let _busy = self.lock(None)?;
        self.graph.rebind(name, &param.view, array)?;
        Ok(self.graph.prepare()?)
    }

    /// The caller's memory as an array with the elements of a parameter: packed in row-major order, or, for
    /// [`bind`](Replay::bind), with the strides of the parameter, where `address` is the lowest address of an element.
    ///
    /// # Errors
    /// [`ReplayError::ByteCount`] unless `bytes` is [`param_bytes`], or [`param_span`] with strides; the runtime's for an
    /// address that does not fit the elements' alignment.
    ///
    /// # Safety
    /// The memory lies where `place` says, has that many bytes, and may be read and written while the array, a
    /// copy of it, or a replay that it is bound to lives.
    pub unsafe fn adopt(
        &self,
        name: &str,
        address: u64,
        bytes: usize,
        place: Place,
        packed: bool,
    ) -> Result<Array, ReplayError> {
        let param = self.param(name)?;
        let view = &param.view;
        let (expected, offset) = match view.span() {
            _ if packed => (param_bytes(param), 0),
            Some(span) => (param_span(param), view.offset - span.start),
            None => (0, 0),
        };
        if bytes != expected {
            return Err(ReplayError::ByteCount { name: name.to_owned(), expected, found: bytes });
        }
        let device = if place == Place::Host { Device::cpu() } else { self.device() };
        let strides = (!packed).then_some(view.strides.as_slice());
        // SAFETY: the caller's contract.
        Ok(unsafe {
            let first = address.wrapping_add(offset);
            Array::foreign(device, view.dtype, first, &extents(param), strides, Box::new(()))
        }?)
    }

    /// A stream that the caller owns, by its `CUstream` or `cudaStream_t`; zero is the legacy default stream.
    ///
    /// # Errors
    /// [`ReplayError::StreamOnCpu`]; the driver's.
    ///
    /// # Safety
    /// The stream belongs to the primary context of the replay's device, and lives as long as the replay.
    pub unsafe fn stream(&self, handle: u64) -> Result<Stream, ReplayError> {
        if self.device().is_cpu() {
            return Err(ReplayError::StreamOnCpu);
        }
        // SAFETY: the caller's contract.
        Ok(unsafe { Stream::from_handle(self.device(), handle) }?)
    }

    /// Waits until `stream`, or the device's current one, has done all its work. Returns at once on the CPU.
    ///
    /// # Errors
    /// The driver's, and failures of kernels that ran before.
    pub fn synchronize(&self, stream: Option<&Stream>) -> Result<(), ReplayError> {
        match stream {
            Some(stream) => Ok(stream.synchronize()?),
            None if self.device().is_cpu() => Ok(()),
            None => Ok(self.device().stream()?.synchronize()?),
        }
    }

    /// Keeps other calls away from the graph's memory on the CPU.
    fn lock(&self, stream: Option<&Stream>) -> Result<Option<MutexGuard<'_, ()>>, ReplayError> {
        match (self.device().is_cpu(), stream) {
            (true, Some(_)) => Err(ReplayError::StreamOnCpu),
            (true, None) => Ok(Some(self.busy.lock().unwrap_or_else(PoisonError::into_inner))),
            (false, _) => Ok(None),
        }
    }

    fn check_number<T: Number>(&self, name: &str) -> Result<(), ReplayError> {
        let dtype = self.param(name)?.view.dtype;
        if dtype.scalar() == Some(T::SCALAR) {
            return Ok(());
        }
        let (expected, found) = (dtype.python_name(), T::SCALAR.python_name());
        Err(ReplayError::NumberType { name: name.to_owned(), expected, found })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ReplayError> {
    read_file(path).map_err(|error| ReplayError::File { path: path.to_owned(), error })
}

/// The size of all elements of a parameter, packed, bytes.
pub fn param_bytes(param: &Param) -> usize {
    let elements = param.view.shape.iter().map(|&n| n.unsigned_abs() as usize).product::<usize>();
    elements * param.view.dtype.size() as usize
}

/// How many bytes lie between the lowest address of an element of a parameter and the end of the last one.
pub fn param_span(param: &Param) -> usize {
    param.view.span().map_or(0, |span| usize::try_from(span.end - span.start).unwrap_or(usize::MAX))
}

fn extents(param: &Param) -> Vec<i64> {
    param.view.shape.iter().map(|&n| n.into()).collect()
}

fn check_bytes(param: &Param, found: usize) -> Result<(), ReplayError> {
    let expected = param_bytes(param);
    if found == expected {
        return Ok(());
    }
    Err(ReplayError::ByteCount { name: param.name.clone(), expected, found })
}
