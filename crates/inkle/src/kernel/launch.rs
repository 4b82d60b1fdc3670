//! Launches.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use inkle_graph::capture;
use inkle_ir::{LaunchBounds, MAX_DIMS, array_names};
use inkle_module::Loaded;
use inkle_runtime::record::Verdict;
use inkle_runtime::{self as rt, Device, LaunchConfig, Stream};

use super::code::Code;
use super::instance::{Facts, Instance};
use super::packer::{Argument, Held, Packer};
use crate::dim::Dim;
use crate::error::{Error, Result};

/// Parameter blocks up to this many words live on the stack.
const STACK_WORDS: usize = 64;

/// Where a launch runs, and on a GPU in what grid.
#[derive(Clone, Debug, Default)]
pub struct LaunchOptions {
    device: Option<Device>,
    stream: Option<Stream>,
    block_dim: u32,
    max_blocks: u32,
}

impl LaunchOptions {
    /// On the device of the arrays and its current stream; the default device for kernels without arrays.
    pub fn new() -> LaunchOptions {
        LaunchOptions::default()
    }

    /// On a device, on its current stream.
    pub fn device(mut self, device: Device) -> LaunchOptions {
        self.device = Some(device);
        self
    }

    /// On a stream and its device.
    pub fn stream(mut self, stream: &Stream) -> LaunchOptions {
        self.device = Some(stream.device());
        self.stream = Some(stream.clone());
        self
    }

    /// Threads per block on a GPU.
    pub fn block_dim(mut self, threads: u32) -> LaunchOptions {
        self.block_dim = threads;
        self
    }

    /// The most blocks on a GPU; each thread then handles several indices. Zero is no limit.
    pub fn max_blocks(mut self, blocks: u32) -> LaunchOptions {
        self.max_blocks = blocks;
        self
    }
}

/// Whether each launch on a GPU is waited for.
static VERIFY_CUDA: AtomicBool = AtomicBool::new(false);

/// From now on each launch on a GPU is waited for, so that a fault is reported with the kernel that it is of, and not by a later
/// call; or no longer. Launches that are recorded into a graph are not waited for.
pub fn set_verify_cuda(verify: bool) {
    VERIFY_CUDA.store(verify, Ordering::Relaxed);
}

/// A launch whose parameter block is finished.
pub(crate) struct Ready<'a> {
    pub instance: &'static Instance,
    pub code: &'a Code,
    pub loaded: &'a Arc<Loaded>,
    pub words: &'a [u64],
    pub size: u64,
    pub device: Device,
    pub stream: Option<&'a Stream>,
    pub block_dim: u32,
    pub max_blocks: u32,
}

/// Runs a kernel on the device of its arrays.
///
/// # Errors
/// As the `launch` of a kernel.
#[inline]
pub fn launch<'a>(
    instance: &'static Instance,
    extents: [i64; MAX_DIMS],
    pack: impl FnOnce(&mut Packer<'_, 'a>) -> Result<()>,
) -> Result<()> {
    launch_with(
        instance,
        &LaunchOptions { device: None, stream: None, block_dim: 0, max_blocks: 0 },
        extents,
        pack,
    )
}

/// Runs a kernel.
///
/// # Errors
/// As the `launch` of a kernel.
#[inline]
pub fn launch_with<'a>(
    instance: &'static Instance,
    options: &LaunchOptions,
    extents: [i64; MAX_DIMS],
    pack: impl FnOnce(&mut Packer<'_, 'a>) -> Result<()>,
) -> Result<()> {
    with_words(instance.words, |words| {
        let bounds = bounds(instance, extents)?;
        let mut packer = Packer::new(words, &bounds);
        pack(&mut packer)?;
        let (words, facts, arrays) = packer.finish();
        let device = device(instance, options, &arrays)?;
        let _span = crate::log::launch(instance.name(), bounds.size);
        crate::tape::record(instance, words, facts, &arrays, device, options);
        if bounds.size == 0 {
            return Ok(());
        }
        let code = instance.forward()?;
        let loaded = instance.load(code, device, facts, options.max_blocks > 0)?;
        run_on(
            instance,
            (code, &loaded),
            words,
            bounds.size,
            device,
            options,
            arrays.iter().map(|held| held.array),
        )
    })
}

/// A buffer of zeros for as long as `run` needs it.
#[inline]
fn with_words<R>(count: usize, run: impl FnOnce(&mut [u64]) -> R) -> R {
    if count <= STACK_WORDS { run(&mut [0; STACK_WORDS][..count]) } else { run(&mut vec![0; count]) }
}

/// Runs loaded code, or shows it to a capture.
pub(crate) fn run_on<'a>(
    instance: &'static Instance,
    (code, loaded): (&Code, &Arc<Loaded>),
    words: &[u64],
    size: u64,
    device: Device,
    options: &LaunchOptions,
    arrays: impl Iterator<Item = &'a rt::Array> + Clone,
) -> Result<()> {
    let current;
    let stream = match (&options.stream, device.is_cuda()) {
        (Some(stream), _) => Some(stream),
        (None, true) => {
            current = device.stream()?;
            Some(&current)
        }
        (None, false) => None,
    };
    let block_dim = if options.block_dim == 0 { instance.settings().block_dim } else { options.block_dim };
    let max_blocks = options.max_blocks;
    let ready = Ready { instance, code, loaded, words, size, device, stream, block_dim, max_blocks };
    if capture::watches(device) && crate::graph::show(&ready, arrays.clone())? == Verdict::Keep {
        return Ok(());
    }
    if let Some(stream) = stream {
        arrays.for_each(|array| array.memory().record_use(stream));
    }
    ready.run()
}

impl Ready<'_> {
    #[inline]
    fn run(&self) -> Result<()> {
        match &**self.loaded {
            Loaded::Cpu(function) => function.launch(self.words, self.size)?,
            Loaded::Cuda { function, lanes } => {
                let config = LaunchConfig {
                    block_dim: self.block_dim,
                    max_blocks: self.max_blocks,
                    threads_per_lane: *lanes,
                    ..LaunchConfig::new(self.size)
                };
                let current;
                let stream = match self.stream {
                    Some(stream) => stream,
                    None => {
                        current = self.device.stream()?;
                        &current
                    }
                };
                function.launch(stream, self.words, &config)?;
                if VERIFY_CUDA.load(Ordering::Relaxed) && !stream.is_capturing()? {
                    stream.synchronize().map_err(|error| Error::failed(self.instance.name(), error))?;
                }
            }
        }
        Ok(())
    }
}

/// The extents as a kernel reads them.
#[inline]
fn bounds(instance: &'static Instance, extents: [i64; MAX_DIMS]) -> Result<LaunchBounds> {
    let wrong = || Error::Extents { kernel: instance.name(), extents };
    if extents.iter().any(|&n| n < 0) {
        return Err(wrong());
    }
    let product = extents.iter().try_fold(1u64, |size, &n| size.checked_mul(n as u64));
    let size = if extents.contains(&0) { Some(0) } else { product };
    let size = size.filter(|size| i64::try_from(*size).is_ok()).ok_or_else(wrong)?;
    let mut dims = [0; MAX_DIMS];
    for (axis, (dim, &extent)) in dims.iter_mut().zip(&extents).enumerate() {
        *dim = match i32::try_from(extent) {
            Ok(extent) => extent as u32,
            Err(_) => {
                let limit = instance.extent_limits()[axis].filter(|_| size != 0);
                if limit.is_some_and(|limit| extent > i64::from(limit)) {
                    return Err(wrong());
                }
                u32::try_from(extent).unwrap_or(u32::MAX)
            }
        };
    }
    Ok(LaunchBounds { dims, size })
}

/// Where a launch runs: where it is told to, or where its arrays are.
#[inline]
fn device(instance: &Instance, options: &LaunchOptions, arrays: &[Held<'_>]) -> Result<Device> {
    let of_arrays =
        || arrays.iter().find(|held| !held.array.is_pinned()).or(arrays.first()).map(|h| h.array.device());
    let device = options.device.or_else(of_arrays).unwrap_or_else(rt::default_device);
    for held in arrays {
        let found = held.array.device();
        if found != device && !(held.array.is_pinned() && device.is_cuda()) {
            let param = instance.param_name(held.param);
            return Err(Error::Devices { kernel: instance.name(), param, found, expected: device });
        }
    }
    Ok(device)
}

/// A launch that is ready to run again and again: what a loop does that has no time to lose.
///
/// Code, device and parameter block are settled when it is made, and it holds the borrows of its arguments, so only
/// [`set`](Prepared::set) and [`set_dim`](Prepared::set_dim) change what it does. On the CPU [`run`](Prepared::run) then is little more than the call of the compiled code: it takes no
/// memory and no lock (but for kernels that update memory atomically, which mind each other), and small launches stay on the
/// calling thread.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::kernel]
/// fn step(x: &mut Array<f32>, v: &Array<f32>, dt: f32) {
///     let i = tid();
///     x[i] += dt * v[i];
/// }
///
/// let (mut x, v) = (Array::<f32>::zeros(4)?, Array::full(4, 2.0f32)?);
/// let prepared = step.prepare(4, (&mut x, &v, 0.5))?;
/// for _ in 0..10 {
///     prepared.run()?;
/// }
/// drop(prepared);
/// assert_eq!(x.to_vec()?, [10.0; 4]);
/// # Ok::<(), inkle::Error>(())
/// ```
#[derive(Debug)]
pub struct Prepared<'a> {
    instance: &'static Instance,
    code: &'static Code,
    loaded: Arc<Loaded>,
    words: Box<[u64]>,
    size: u64,
    device: Device,
    facts: Facts,
    arrays: Vec<Kept>,
    of: PhantomData<&'a mut ()>,
}

/// An array of a prepared launch.
#[derive(Debug)]
struct Kept {
    param: usize,
    array: rt::Array,
    is_list: bool,
    is_mut: bool,
}

impl Kept {
    fn new(held: &Held<'_>) -> Kept {
        Kept { param: held.param, array: held.array.clone(), is_list: held.is_list, is_mut: held.is_mut }
    }

    fn held(&self) -> Held<'_> {
        Held { param: self.param, array: &self.array, is_list: self.is_list, is_mut: self.is_mut }
    }
}

/// Makes a launch ready.
///
/// # Errors
/// As the `launch` of a kernel.
pub fn prepare<'a, 'args>(
    instance: &'static Instance,
    extents: [i64; MAX_DIMS],
    pack: impl FnOnce(&mut Packer<'_, 'a>) -> Result<()>,
) -> Result<Prepared<'args>> {
    with_words(instance.words, |words| {
        let bounds = bounds(instance, extents)?;
        let mut packer = Packer::new(words, &bounds);
        pack(&mut packer)?;
        let (words, facts, arrays) = packer.finish();
        let device = device(instance, &LaunchOptions::default(), &arrays)?;
        let code = instance.forward()?;
        let loaded = instance.load(code, device, facts, false)?;
        let arrays = arrays.iter().map(Kept::new).collect();
        let (words, size) = (Box::from(&*words), bounds.size);
        Ok(Prepared { instance, code, loaded, words, size, device, facts, arrays, of: PhantomData })
    })
}

impl<'a> Prepared<'a> {
    /// Changes an argument, named by its parameter: to a value, a `&Array` or a `&mut Array` of the parameter's type.
    ///
    /// The launch holds the borrow of the new argument too, and goes on holding that of the one before.
    ///
    /// ```
    /// use inkle::prelude::*;
    ///
    /// #[inkle::kernel]
    /// fn step(x: &mut Array<f32>, v: &Array<f32>, dt: f32) {
    ///     let i = tid();
    ///     x[i] += dt * v[i];
    /// }
    ///
    /// let (mut x, v, w) = (Array::<f32>::zeros(4)?, Array::full(4, 2.0f32)?, Array::full(4, -1.0f32)?);
    /// let mut prepared = step.prepare(4, (&mut x, &v, 0.5))?;
    /// prepared.run()?;
    /// prepared.set("dt", 0.25f32)?;
    /// prepared.set("v", &w)?;
    /// prepared.set_dim(2)?;
    /// prepared.run()?;
    /// drop(prepared);
    /// assert_eq!(x.to_vec()?, [0.75, 0.75, 1.0, 1.0]);
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Argument`] when there is no such parameter, or it has another type; [`Error::Shared`] when the kernel writes to
    /// an array given as `&`; [`Error::Devices`] when an array is on another device than the launch. The launch is then as before.
    pub fn set<A: Argument + 'a>(&mut self, param: &str, argument: A) -> Result<()> {
        let instance = self.instance;
        let index = instance.param_index(param);
        let (expected, found) = (index.map(|index| instance.types()[index]), A::param_type());
        let Some(index) = index.filter(|_| expected == Some(found)) else {
            return Err(Error::Argument {
                kernel: instance.name(),
                param: param.to_owned(),
                expected,
                found,
            });
        };
        with_words(self.words.len(), |words| {
            words.copy_from_slice(&self.words);
            let mut packer = Packer::again(words, index, instance.offset(index));
            argument.pack(&mut packer)?;
            let (words, facts, arrays) = packer.finish();
            self.check_writes(index, &arrays)?;
            device(instance, &LaunchOptions::default().device(self.device), &arrays)?;
            let facts = self.facts.with(index, facts);
            if facts != self.facts {
                self.loaded = instance.load(self.code, self.device, facts, false)?;
                self.facts = facts;
            }
            let start = self.arrays.partition_point(|kept| kept.param < index);
            let end = self.arrays.partition_point(|kept| kept.param <= index);
            self.arrays.splice(start..end, arrays.iter().map(Kept::new));
            self.words.copy_from_slice(words);
            Ok(())
        })
    }

    /// Fails if the kernel writes to one of the arrays of a parameter that are given as `&`.
    fn check_writes(&self, index: usize, arrays: &[Held<'_>]) -> Result<()> {
        if arrays.is_empty() {
            return Ok(());
        }
        let types = self.instance.types();
        let names = |index: usize| array_names(&self.instance.param_name(index), types[index]);
        let before: usize = (0..index).map(|index| names(index).len()).sum();
        let access = self.code.access().arrays.iter().skip(before);
        for ((held, access), param) in
            arrays.iter().filter(|held| !held.is_list).zip(access).zip(names(index))
        {
            if access.elements.writes && !held.is_mut {
                return Err(Error::Shared { kernel: self.instance.name(), param });
            }
        }
        Ok(())
    }

    /// Changes the extents.
    ///
    /// # Errors
    /// [`Error::Extents`] for negative or too large ones; the launch is then as before.
    pub fn set_dim(&mut self, dim: impl Dim) -> Result<()> {
        let bounds = bounds(self.instance, dim.extents())?;
        self.words[..3].copy_from_slice(&bounds.words());
        self.size = bounds.size;
        Ok(())
    }

    /// Runs the kernel.
    ///
    /// # Errors
    /// What the device or a failed check reports.
    #[inline]
    pub fn run(&self) -> Result<()> {
        let _span = crate::log::launch(self.instance.name(), self.size);
        if let Loaded::Cpu(function) = &*self.loaded
            && !capture::watches(self.device)
            && !crate::tape::is_recording()
        {
            return Ok(function.launch(&self.words, self.size)?);
        }
        self.run_general(&LaunchOptions::default())
    }

    /// Runs the kernel on a stream of the device of its arrays.
    ///
    /// # Errors
    /// What the device or a failed check reports.
    pub fn run_on(&self, stream: &Stream) -> Result<()> {
        self.run_general(&LaunchOptions::default().stream(stream))
    }

    fn run_general(&self, options: &LaunchOptions) -> Result<()> {
        let held: Vec<Held<'_>> = self.arrays.iter().map(Kept::held).collect();
        crate::tape::record(self.instance, &self.words, self.facts, &held, self.device, options);
        if self.size == 0 {
            return Ok(());
        }
        let arrays = self.arrays.iter().map(|kept| &kept.array);
        run_on(self.instance, (self.code, &self.loaded), &self.words, self.size, self.device, options, arrays)
    }
}

/// Runs a launch that ran before, or its backward pass, by the code that is given.
pub(crate) fn run_again<'a>(
    instance: &'static Instance,
    code: &Code,
    words: &[u64],
    facts: Facts,
    device: Device,
    options: &LaunchOptions,
    arrays: impl Iterator<Item = &'a rt::Array> + Clone,
) -> Result<()> {
    let size = words[2];
    if size == 0 {
        return Ok(());
    }
    let loaded = instance.load(code, device, facts, options.max_blocks > 0)?;
    run_on(instance, (code, &loaded), words, size, device, options, arrays)
}
