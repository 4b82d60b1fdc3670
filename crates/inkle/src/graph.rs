//! Graphs: launches and copies that are captured once and run again and again, and the files they are kept in.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use inkle_graph::arguments::addresses;
#[cfg(feature = "llvm")]
use inkle_graph::bundle::{Anew, Compiler};
use inkle_graph::bundle::{Bundle, BundleError, CodeTarget, Param, PublicKey, SaveOptions, SecretKey};
use inkle_graph::capture::{self, Body, CudaOptions, Launched};
use inkle_graph::{GraphError, View};
use inkle_ir::ParamLayout;
use inkle_runtime::record::Verdict;
use inkle_runtime::{self as rt, Device, Stream};
use inkle_value::Value;

use crate::array::Array;
use crate::error::{Error, Result};
use crate::kernel::Ready;

/// Operations that run again and again on one device, without a look at their arguments.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::kernel]
/// fn double(x: &mut Array<f32>) {
///     x[tid()] *= 2.0;
/// }
///
/// let mut x = Array::from_slice(&[1.0f32, 2.0])?;
/// let graph = Graph::capture(Device::cpu(), || double.launch(2, (&mut x,)))?;
/// for _ in 0..3 {
///     graph.launch()?;
/// }
/// assert_eq!(x.to_vec()?, [8.0, 16.0]);
/// # Ok::<(), inkle::Error>(())
/// ```
#[derive(Clone)]
pub struct Graph {
    inner: Arc<inkle_graph::Graph>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Ends a capture that did not come to its end.
struct Abandon(Device);

impl Drop for Abandon {
    fn drop(&mut self) {
        capture::abandon(self.0);
    }
}

impl Graph {
    /// Records what `run` does on a device: launches, copies and fills of this thread. On the CPU they do not run now.
    ///
    /// # Errors
    /// That of `run`; when something in it cannot be captured.
    pub fn capture(device: Device, run: impl FnOnce() -> Result<()>) -> Result<Graph> {
        if device.is_cpu() {
            capture::begin(device)?;
        } else {
            capture::begin_cuda(device, CudaOptions::default())?;
        }
        let abandon = Abandon(device);
        run()?;
        std::mem::forget(abandon);
        Ok(Graph { inner: Arc::new(capture::end(device)?) })
    }

    /// Records what `run` does on a stream.
    ///
    /// # Errors
    /// As [`capture`](Graph::capture).
    pub fn capture_on(stream: &Stream, run: impl FnOnce() -> Result<()>) -> Result<Graph> {
        let device = stream.device();
        capture::begin_cuda(device, CudaOptions { stream: Some(stream.clone()), ..CudaOptions::default() })?;
        let abandon = Abandon(device);
        run()?;
        std::mem::forget(abandon);
        Ok(Graph { inner: Arc::new(capture::end(device)?) })
    }

    /// Runs the operations: on the CPU they are done when this returns, on a GPU they are queued on the device's current
    /// stream. While another graph is captured, they become part of it.
    ///
    /// # Errors
    /// The first failure of an operation.
    pub fn launch(&self) -> Result<()> {
        if capture::is_capturing(self.inner.device()) {
            return Ok(capture::insert(&self.inner)?);
        }
        Ok(self.inner.launch(None)?)
    }

    /// Queues the operations on a stream.
    ///
    /// # Errors
    /// As [`launch`](Graph::launch).
    pub fn launch_on(&self, stream: &Stream) -> Result<()> {
        Ok(self.inner.launch(Some(stream))?)
    }

    /// The device the graph runs on.
    pub fn device(&self) -> Device {
        self.inner.device()
    }

    /// The number of operations, those inside conditions and loops too.
    pub fn op_count(&self) -> usize {
        self.inner.ops().op_count()
    }

    /// The operations in the language of GraphViz; `verbose` adds what each works on.
    pub fn to_dot(&self, verbose: bool) -> String {
        inkle_graph::dot(self.inner.ops(), verbose)
    }

    /// The operations as a picture; `verbose` adds what each works on.
    pub fn to_svg(&self, verbose: bool) -> String {
        inkle_graph::svg(self.inner.ops(), verbose)
    }

    /// The graph of the crate below, with its operations.
    pub fn inner(&self) -> &Arc<inkle_graph::Graph> {
        &self.inner
    }

    /// The named parameters of a graph that was loaded.
    pub fn params(&self) -> &[Param] {
        self.inner.params()
    }

    /// Sets a parameter of a graph that was loaded: all its numbers, in the order of memory.
    ///
    /// # Errors
    /// When there is no such parameter; when it has other elements or another number of them.
    pub fn set<T: Value>(&self, name: &str, values: &[T]) -> Result<()> {
        let view = &self.inner.param(name)?.view;
        let array =
            rt::Array::from_bytes(Device::cpu(), T::ty(), &[values.len() as i64], &T::bytes_of(values))?;
        self.write(name, view, &array)
    }

    /// The numbers of a parameter of a graph that was loaded, in the order of memory.
    ///
    /// # Errors
    /// When there is no such parameter, or it has other elements.
    pub fn get<T: Value>(&self, name: &str) -> Result<Vec<T>> {
        let view = &self.inner.param(name)?.view;
        let own = self.inner.array(view)?;
        if own.dtype() != T::ty() && own.dtype().scalar() != T::ty().scalar() {
            let found = T::ty().to_string();
            return Err(GraphError::ParamMismatch {
                name: name.into(),
                expected: own.dtype().to_string(),
                found,
            }
            .into());
        }
        Ok(T::read(own.len(), |bytes| own.read_bytes(bytes))?)
    }

    /// Copies an array into a parameter of a graph that was loaded.
    ///
    /// # Errors
    /// As [`set`](Graph::set).
    pub fn set_array<T: Value, const D: usize>(&self, name: &str, array: &Array<T, D>) -> Result<()> {
        let view = &self.inner.param(name)?.view;
        self.write(name, view, array.runtime())
    }

    /// Copies a parameter of a graph that was loaded into an array.
    ///
    /// # Errors
    /// As [`set`](Graph::set).
    pub fn get_array<T: Value, const D: usize>(&self, name: &str, array: &mut Array<T, D>) -> Result<()> {
        let view = &self.inner.param(name)?.view;
        Ok(self.inner.read(name, view, array.runtime(), None)?)
    }

    fn write(&self, name: &str, view: &View, array: &rt::Array) -> Result<()> {
        Ok(self.inner.write(name, view, array, None)?)
    }

    /// Lets the graph use `new` where it used `old`, an array of its capture.
    ///
    /// # Errors
    /// When the graph does not use `old`, and when `new` is not laid out like it.
    pub fn rebind<T: Value, const D: usize>(&self, old: &Array<T, D>, new: &mut Array<T, D>) -> Result<()> {
        let Some(view) = self.inner.find(old.runtime()) else {
            return Err(GraphError::UnknownMemory { what: "the array to be replaced".into() }.into());
        };
        Ok(self.inner.rebind("array", &view, new.runtime())?)
    }

    /// What [`save`](Graph::save) makes the file of.
    pub fn saving(&self) -> Saving<'_> {
        Saving { graph: self, options: SaveOptions::default(), key: None }
    }

    /// Writes the graph into a file, with code for every CPU and GPU it runs on and its memory as it is now.
    ///
    /// # Errors
    /// When code cannot be made, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.saving().write(path)
    }

    /// Reads a graph from a file, for a device.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged, or has no code for the device and none can be made.
    pub fn load(path: impl AsRef<Path>, device: Device) -> Result<Graph> {
        Graph::from_bytes(read(path.as_ref())?, device)
    }

    /// Reads a graph from the bytes of a file, for a device.
    ///
    /// # Errors
    /// As [`load`](Graph::load).
    pub fn from_bytes(bytes: Vec<u8>, device: Device) -> Result<Graph> {
        Graph::of_bundle(Bundle::from_bytes(bytes).map_err(GraphError::from)?, device)
    }

    /// Reads a graph from a file that has to be signed with a key ([`Saving::signed_with`], `inkle sign`), for a device. Nothing in
    /// another file is looked at.
    ///
    /// ```
    /// use inkle::prelude::*;
    /// use inkle::SecretKey;
    ///
    /// # #[inkle::kernel]
    /// # fn double(x: &mut Array<f32>) {
    /// #     x[tid()] *= 2.0;
    /// # }
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("double.inkle");
    /// let key = SecretKey::from_seed(&[7; 32]);
    /// let mut x = Array::from_slice(&[1.0f32, 2.0])?;
    /// let graph = Graph::capture(Device::cpu(), || double.launch(2, (&mut x,)))?;
    /// graph.saving().input("x", &x).signed_with(&key).write(&path)?;
    /// assert!(Graph::load_signed(&path, Device::cpu(), &key.public()).is_ok());
    /// let other = SecretKey::from_seed(&[8; 32]).public();
    /// assert!(Graph::load_signed(&path, Device::cpu(), &other).is_err());
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`load`](Graph::load); when the file is not signed, or with another key.
    pub fn load_signed(path: impl AsRef<Path>, device: Device, key: &PublicKey) -> Result<Graph> {
        let bundle = Bundle::from_bytes(read(path.as_ref())?).map_err(GraphError::from)?;
        bundle.require_signer(key).map_err(GraphError::from)?;
        Graph::of_bundle(bundle, device)
    }

    fn of_bundle(bundle: Bundle, device: Device) -> Result<Graph> {
        #[cfg(feature = "llvm")]
        let compiler = Some(Compiler { recompile: &inkle_module::recompile, when: Anew::WhenBetter });
        #[cfg(not(feature = "llvm"))]
        let compiler = None;
        Ok(Graph { inner: Arc::new(bundle.load(device, compiler)?) })
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let read = inkle_graph::bundle::read_file(path);
    read.map_err(|error| Error::File { path: path.to_owned(), error: Arc::new(error) })
}

/// A graph about to be saved.
#[derive(Debug)]
pub struct Saving<'g> {
    graph: &'g Graph,
    options: SaveOptions,
    key: Option<&'g SecretKey>,
}

impl<'g> Saving<'g> {
    /// Names an array that is set before the graph runs.
    pub fn input<T, const D: usize>(mut self, name: &str, array: &Array<T, D>) -> Self {
        self.options.inputs.push((name.to_owned(), array.runtime().clone()));
        self
    }

    /// Names an array that is read after the graph ran.
    pub fn output<T, const D: usize>(mut self, name: &str, array: &Array<T, D>) -> Self {
        self.options.outputs.push((name.to_owned(), array.runtime().clone()));
        self
    }

    /// Adds code for a target: `sm_90`, `x86-64-v3` ...
    ///
    /// # Errors
    /// When there is no such target.
    pub fn target(mut self, name: &str) -> Result<Self> {
        self.options.targets.push(name.parse::<CodeTarget>()?);
        Ok(self)
    }

    /// Leaves out what others could read or recompile the kernels from.
    pub fn without_ir(mut self) -> Self {
        self.options.without_ir = true;
        self
    }

    /// Signs the file, so that programs can open only what comes from here ([`Graph::load_signed`]).
    pub fn signed_with(mut self, key: &'g SecretKey) -> Self {
        self.key = Some(key);
        self
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// As [`Graph::save`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bundle = self.graph.inner.save(&self.options)?;
        Ok(match self.key {
            Some(key) => bundle.to_signed_bytes(key),
            None => bundle.to_bytes(),
        })
    }

    /// Writes the file.
    ///
    /// # Errors
    /// As [`Graph::save`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, bytes) = (path.as_ref(), self.to_bytes()?);
        let written = inkle_graph::bundle::write_file(path, &bytes);
        written.map_err(|error| Error::File { path: path.to_owned(), error: Arc::new(error) })
    }
}

/// Whether a graph of the device is being captured on this thread.
pub fn is_capturing(device: Device) -> bool {
    capture::is_capturing(device)
}

/// Runs a piece of program in the midst of a capture as if there were none: what it launches runs now, and is no part of the graph.
///
/// # Errors
/// That of `run`; when the device captures nothing, or inside of a condition or loop.
pub fn capture_paused<R>(device: Device, run: impl FnOnce() -> Result<R>) -> Result<R> {
    let paused = capture::pause(device)?;
    let outcome = run();
    capture::resume(paused)?;
    outcome
}

/// Runs `on_true` or `on_false` in a graph, by the one value of `condition`; outside of a capture, at once.
///
/// # Errors
/// That of the piece that runs; when the condition is not one `i32` on the device of the capture.
pub fn capture_if(
    condition: &Array<i32>,
    on_true: impl FnOnce() -> Result<()>,
    on_false: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let device = condition.device();
    if !capture::is_capturing(device) {
        return if holds(condition)? { on_true() } else { on_false() };
    }
    let on_true = body(device, on_true)?;
    let on_false = body(device, on_false)?;
    Ok(capture::push_if(condition.runtime(), on_true, on_false)?)
}

/// Runs `run` in a graph for as long as the one value of `condition` is not zero; outside of a capture, at once.
///
/// # Errors
/// As [`capture_if`].
pub fn capture_while(condition: &Array<i32>, mut run: impl FnMut() -> Result<()>) -> Result<()> {
    let device = condition.device();
    if !capture::is_capturing(device) {
        while holds(condition)? {
            run()?;
        }
        return Ok(());
    }
    let body = body(device, run)?;
    Ok(capture::push_while(condition.runtime(), body)?)
}

fn body(device: Device, run: impl FnOnce() -> Result<()>) -> Result<Body> {
    capture::begin_body(device)?;
    let outcome = run();
    let body = capture::end_body(device)?;
    outcome.map(|()| body)
}

fn holds(condition: &Array<i32>) -> Result<bool> {
    capture::check_condition(condition.runtime())?;
    Ok(condition.to_vec()?.first().is_some_and(|value| *value != 0))
}

/// Shows a launch to the capture or observer on its device; the result says whether it has to run now too.
#[cold]
pub(crate) fn show<'a>(ready: &Ready<'_>, arrays: impl Iterator<Item = &'a rt::Array>) -> Result<Verdict> {
    let arrays: Vec<rt::Array> = arrays.cloned().collect();
    let grads = arrays.iter().filter_map(rt::Array::grad);
    let known: Vec<_> = arrays.iter().chain(grads).map(|array| array.memory().clone()).collect();
    let types = ready.instance.types();
    let places = ParamLayout::new(types.iter().copied()).args;
    let params = types.iter().copied().zip(places.iter().map(|place| place.offset as usize));
    let pointers = addresses(params, ready.words, &known, ready.code.access()).map_err(|param| {
        let (param, kernel) = (ready.instance.param_name(param), ready.instance.name());
        Error::from(GraphError::UnknownMemory { what: format!("argument `{param}` of kernel `{kernel}`") })
    })?;
    let kernel = || ready.instance.graph_kernel(ready.loaded);
    let launched = Launched {
        name: ready.instance.name(),
        code: ready.loaded.clone(),
        kernel: &kernel,
        params: ready.words.to_vec(),
        pointers,
        block_dim: ready.block_dim,
        max_blocks: ready.max_blocks,
        shared_bytes: 0,
    };
    let verdict = capture::launch(ready.device, ready.stream, launched)?;
    capture::hold(ready.device, Box::new(arrays));
    Ok(verdict)
}

impl From<BundleError> for Error {
    fn from(error: BundleError) -> Error {
        Error::Graph(error.into())
    }
}
