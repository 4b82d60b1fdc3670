//! Recorded launches.

use std::sync::{Arc, Mutex, MutexGuard};

use inkle_graph::capture;
use inkle_ir::{LaunchBounds, Type};
use inkle_module::Loaded;
use inkle_runtime::record::Verdict;
use inkle_runtime::{self as rt, Device, Stream};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::SmallVec;

use super::recorded::{self, Shown};
use super::{DETACH_THREADS, Place, as_bytes, grid_arguments, run, stream_argument, verify_cuda};
use crate::adjoint::gradients;
use crate::bounds::{Bounds, Extents, write_bounds};
use crate::device::{PyDevice, device_object};
use crate::error::{IntoPyResult, argument_error, range_error_class};
use crate::kernel::{Arguments, Instance, Kernel, Pass};
use crate::pack::{Block, Facts, Packer};
use crate::structs::StructInstance;
use crate::tape::RecordedLaunch;

/// A recorded launch: runs again and again without looking at its arguments.
#[pyclass(frozen, module = "inkle")]
pub struct Launch {
    pub(super) kernel: Py<Kernel>,
    pub(super) instance: Arc<Instance>,
    pub(super) device: Device,
    pub(super) stream: Option<Stream>,
    pub(super) block_dim: u32,
    pub(super) max_blocks: u32,
    pub(super) state: Mutex<Recorded>,
}

pub(super) struct Recorded {
    pub(super) words: Vec<u64>,
    pub(super) extents: Extents,
    pub(super) bounds: LaunchBounds,
    pub(super) facts: Facts,
    pub(super) pass: Pass,
    /// The code that fits `facts`, with the block size; `None` when it must be looked up.
    pub(super) code: Option<(Arc<Loaded>, u32)>,
    /// The arguments, so that their memory lives as long as the launch may run.
    pub(super) held: Vec<Py<PyAny>>,
    /// The gradients given for them, if it runs backwards.
    pub(super) adjoints: Vec<Py<PyAny>>,
    pub(super) temporaries: Vec<rt::Array>,
    /// The stream that the memory of all of them knows to be used by.
    pub(super) used_on: Option<Stream>,
}

impl Recorded {
    /// A launch that was not run yet, of arguments without gradients.
    pub(super) fn new(
        words: Vec<u64>,
        extents: Extents,
        bounds: LaunchBounds,
        facts: Facts,
        pass: Pass,
        held: Vec<Py<PyAny>>,
    ) -> Recorded {
        let (adjoints, temporaries) = (Vec::new(), Vec::new());
        Recorded {
            words,
            extents,
            bounds,
            facts,
            pass,
            code: None,
            held,
            adjoints,
            temporaries,
            used_on: None,
        }
    }

    /// Notes that work on `stream` uses the arguments' memory, which may be given back before the launch is.
    fn record_uses(&mut self, py: Python<'_>, stream: &Stream) {
        if self.used_on.as_ref() == Some(stream) {
            return;
        }
        for argument in self.held.iter().chain(&self.adjoints) {
            recorded::each_memory(py, argument.bind(py), &mut |memory| memory.record_use(stream));
        }
        self.temporaries.iter().for_each(|array| array.memory().record_use(stream));
        self.used_on = Some(stream.clone());
    }

    /// Structs are passed as they are when the launch runs, as their fields can change meanwhile.
    fn refresh_structs(&mut self, py: Python<'_>, instance: &Instance) {
        for (packer, held) in instance.packers.iter().zip(&self.held) {
            if let Type::Struct(_) = packer.ty
                && let Ok(object) = held.bind(py).cast::<StructInstance>()
                && object.get().ty() == packer.ty
            {
                object.get().copy_bytes(py, &mut as_bytes(&mut self.words)[packer.offset..]);
                self.used_on = None;
            }
        }
    }
}

/// What changes of a launch that runs backwards.
enum Replaced<'a, 'py> {
    Argument(usize, &'a Bound<'py, PyAny>),
    Gradient(usize, &'a Bound<'py, PyAny>),
    /// What structs hold may have.
    Nothing,
}

impl Launch {
    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The parameter of a number.
    fn packer(&self, py: Python<'_>, index: usize) -> PyResult<&Packer> {
        match self.instance.packers.get(index) {
            Some(packer) => Ok(packer),
            None => {
                let message = format!(
                    "kernel `{}` has {} parameters; there is no number {index}",
                    self.instance.name,
                    self.instance.packers.len()
                );
                Err(PyErr::from_type(range_error_class(py)?.clone(), (message,)))
            }
        }
    }

    /// Packs all arguments of a launch that runs backwards again, one of them or its gradient replaced: what gradients there
    /// are decides on the code.
    fn replace(&self, py: Python<'_>, replaced: Replaced<'_, '_>) -> PyResult<()> {
        let state = self.lock();
        let mut held: Vec<_> = state.held.iter().map(|a| a.clone_ref(py)).collect();
        let mut adjoints: Vec<_> = state.adjoints.iter().map(|a| a.clone_ref(py)).collect();
        let bounds = state.bounds;
        drop(state);
        match replaced {
            Replaced::Argument(index, value) => held[index] = value.clone().unbind(),
            Replaced::Gradient(index, value) => {
                adjoints.resize_with(held.len().max(adjoints.len()), || py.None());
                adjoints[index] = value.clone().unbind();
            }
            Replaced::Nothing => {}
        }
        let mut words = vec![0; self.instance.words];
        write_bounds(&bounds, as_bytes(&mut words));
        let mut block = Block {
            bytes: as_bytes(&mut words),
            device: self.device,
            facts: Facts::default(),
            temporaries: SmallVec::new(),
        };
        for (packer, argument) in self.instance.packers.iter().zip(&held) {
            packer.pack(argument.bind(py), &self.instance.name, &mut block)?;
        }
        let (arguments, given) = (PyList::new(py, &held)?, adjoints.iter().map(|a| a.bind(py).clone()));
        let arguments = Arguments::new(Some(arguments.as_any()), None);
        let given: Vec<_> = given.collect();
        let pass = Pass::Backward(gradients(py, &self.instance, &arguments, &given, &mut block)?);
        let Block { facts, temporaries, .. } = block;
        let mut state = self.lock();
        if (state.facts, &state.pass) != (facts, &pass) {
            (state.facts, state.pass, state.code) = (facts, pass, None);
        }
        state.words = words;
        state.used_on = None;
        state.temporaries = temporaries.into_vec();
        let old =
            (std::mem::replace(&mut state.held, held), std::mem::replace(&mut state.adjoints, adjoints));
        drop(state);
        drop(old);
        Ok(())
    }

    fn set(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let packer = self.packer(py, index)?;
        let is_backward = !matches!(self.lock().pass, Pass::Forward);
        if is_backward {
            return self.replace(py, Replaced::Argument(index, value));
        }
        // Packed aside first, so that a value that does not fit changes nothing.
        let mut words = self.lock().words.clone();
        let facts = self.lock().facts;
        let mut block =
            Block { bytes: as_bytes(&mut words), device: self.device, facts, temporaries: SmallVec::new() };
        packer.pack(value, &self.instance.name, &mut block)?;
        let (facts, temporaries) = (block.facts, block.temporaries);
        let mut state = self.lock();
        state.words = words;
        if state.facts != facts {
            state.facts = facts;
            state.code = None;
        }
        state.temporaries.extend(temporaries);
        state.used_on = None;
        let old = std::mem::replace(&mut state.held[index], value.clone().unbind());
        drop(state);
        drop(old);
        Ok(())
    }
}

#[pymethods]
impl Launch {
    /// A launch of a kernel whose parameters and extents are still to be set; numbers are zero until then.
    #[new]
    #[pyo3(signature = (kernel, device = None, *, dim = None, max_blocks = 0, block_dim = None))]
    fn new(
        kernel: &Bound<'_, Kernel>,
        device: Option<&Bound<'_, PyAny>>,
        dim: Option<&Bound<'_, PyAny>>,
        max_blocks: i64,
        block_dim: Option<i64>,
    ) -> PyResult<Launch> {
        let py = kernel.py();
        let place = Place::new(py, device, None)?;
        let (max_blocks, block_dim) = grid_arguments(max_blocks, block_dim)?;
        let Some(types) = kernel.get().exact_types(py)? else {
            let message = format!(
                "kernel `{}` is generic: make its overload for definite types first",
                kernel.get().key()
            );
            return Err(argument_error(py, message));
        };
        let instance = kernel.get().instance_of_types(py, types)?;
        instance.check(py)?;
        let extents = dim.map_or_else(|| Ok(Extents::none()), Extents::read)?;
        let bounds = extents.bounds(py, &instance)?;
        let mut words = vec![0; instance.words];
        write_bounds(&bounds, as_bytes(&mut words));
        let mut block = Block {
            bytes: as_bytes(&mut words),
            device: place.device,
            facts: Facts::default(),
            temporaries: SmallVec::new(),
        };
        let none = py.None();
        for packer in instance.packers.iter().filter(|p| p.ty.as_array().is_some()) {
            packer.pack(none.bind(py), &instance.name, &mut block)?;
        }
        let facts = block.facts;
        let held = instance.packers.iter().map(|_| py.None()).collect();
        let state = Recorded::new(words, extents, bounds, facts, Pass::Forward, held);
        Ok(Launch {
            kernel: kernel.clone().unbind(),
            instance,
            device: place.device,
            stream: None,
            block_dim,
            max_blocks,
            state: Mutex::new(state),
        })
    }

    /// Runs the launch on `stream`, or on the one it was recorded for. A tape records it, with the arguments of that time.
    #[pyo3(signature = (stream = None))]
    fn launch(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let given;
        let stream = match stream {
            None => self.stream.as_ref(),
            Some(stream) => {
                given = stream_argument(stream)?.get().stream().clone();
                Some(&given)
            }
        };
        let mut state = self.lock();
        if matches!(state.pass, Pass::Forward)
            && let Some(tape) = crate::tape::active(py)
        {
            let inputs = PyList::new(py, &state.held)?;
            let dim = PyTuple::new(py, state.extents.given())?;
            // What the tape does may launch this again.
            drop(state);
            let device = device_object(py, self.device)?;
            let recorded = RecordedLaunch {
                kernel: self.kernel.bind(py),
                dim: &dim,
                max_blocks: self.max_blocks,
                inputs: Some(&inputs),
                outputs: None,
                device,
                block_dim: self.block_dim,
            };
            recorded.tell(tape.bind(py))?;
            state = self.lock();
        }
        if state.bounds.size == 0 {
            return Ok(());
        }
        match state.pass {
            Pass::Forward => state.refresh_structs(py, &self.instance),
            Pass::Backward(_) if self.instance.packers.iter().any(|p| p.ty.as_struct().is_some()) => {
                drop(state);
                self.replace(py, Replaced::Nothing)?;
                state = self.lock();
            }
            Pass::Backward(_) => {}
        }
        if state.code.is_none() {
            let (facts, pass) = (state.facts, state.pass.clone());
            drop(state);
            // Without the lock: compiling lets other threads run.
            let code =
                self.instance.load(py, self.device, facts, self.block_dim, self.max_blocks > 0, &pass)?;
            state = self.lock();
            state.code = Some(code);
        }
        let current;
        let used = match stream {
            None if self.device.is_cuda() => {
                current = self.device.stream().into_py(py)?;
                Some(&current)
            }
            given => given,
        };
        if let Some(used) = used {
            state.record_uses(py, used);
        }
        let Some((code, block_dim)) = &state.code else { return Ok(()) };
        if capture::watches(self.device) {
            let shown = Shown {
                instance: &self.instance,
                pass: &state.pass,
                code,
                words: &state.words,
                arguments: state
                    .held
                    .iter()
                    .chain(&state.adjoints)
                    .map(|held| held.bind(py).clone())
                    .collect(),
                temporaries: &state.temporaries,
                block_dim: *block_dim,
                max_blocks: self.max_blocks,
                stream,
            };
            if recorded::show(py, self.device, shown)? == Verdict::Keep {
                return Ok(());
            }
        }
        if let Loaded::Cpu(_) = &**code
            && state.bounds.size >= DETACH_THREADS
        {
            // A long run must not hold the lock: another thread that wants it would wait with the interpreter.
            let (code, words, size) = (code.clone(), state.words.clone(), state.bounds.size);
            drop(state);
            return run(py, &code, &words, size, None, 0, 0);
        }
        run(py, code, &state.words, state.bounds.size, used, *block_dim, self.max_blocks)?;
        drop(state);
        verify_cuda(py, &self.instance.name, self.device, used)
    }

    /// Sets the argument at a place; with `adjoint`, of a launch that runs backwards, the gradient to use in place of the
    /// array's own, or `None` for that one.
    #[pyo3(signature = (index, value, adjoint = false))]
    fn set_param_at_index(&self, index: usize, value: &Bound<'_, PyAny>, adjoint: bool) -> PyResult<()> {
        if !adjoint {
            return self.set(index, value);
        }
        let packer = self.packer(value.py(), index)?;
        if matches!(self.lock().pass, Pass::Forward) {
            let message = format!(
                "kernel `{}`: the gradient of `{}` is for a launch recorded with `adjoint=True`",
                self.instance.name, packer.name
            );
            return Err(argument_error(value.py(), message));
        }
        self.replace(value.py(), Replaced::Gradient(index, value))
    }

    /// Sets the argument of a name, or its gradient; see `set_param_at_index`.
    #[pyo3(signature = (name, value, adjoint = false))]
    fn set_param_by_name(&self, name: &str, value: &Bound<'_, PyAny>, adjoint: bool) -> PyResult<()> {
        match self.instance.packers.iter().position(|p| p.name == name) {
            Some(index) => self.set_param_at_index(index, value, adjoint),
            None => {
                let names: Vec<_> = self.instance.packers.iter().map(|p| p.name.as_str()).collect();
                let message = format!(
                    "kernel `{}` has no parameter `{name}`; it has {}",
                    self.instance.name,
                    names.join(", ")
                );
                Err(argument_error(value.py(), message))
            }
        }
    }

    /// Sets the first arguments, as many as are given.
    fn set_params(&self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        for (index, value) in values.try_iter()?.enumerate() {
            self.set(index, &value?)?;
        }
        Ok(())
    }

    /// As `set_param_at_index`; what `__ctype__()` of arrays and structs gives is taken too.
    fn set_param_at_index_from_ctype(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(index, value)
    }

    /// As `set_param_by_name`; what `__ctype__()` of arrays and structs gives is taken too.
    fn set_param_by_name_from_ctype(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_param_by_name(name, value, false)
    }

    /// As `set_params`; what `__ctype__()` of arrays and structs gives is taken too.
    fn set_params_from_ctypes(&self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_params(values)
    }

    /// The extents of the range: `shape`, and their product, `size`.
    #[getter]
    fn bounds(&self) -> Bounds {
        let state = self.lock();
        Bounds::new(state.extents, state.bounds.size)
    }

    /// Sets the extents of the range.
    fn set_dim(&self, dim: &Bound<'_, PyAny>) -> PyResult<()> {
        let extents = Extents::read(dim)?;
        let bounds = extents.bounds(dim.py(), &self.instance)?;
        let mut state = self.lock();
        (state.extents, state.bounds) = (extents, bounds);
        write_bounds(&bounds, as_bytes(&mut state.words));
        Ok(())
    }

    /// The kernel.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> Py<Kernel> {
        self.kernel.clone_ref(py)
    }

    /// Where it runs.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Py<PyDevice>> {
        device_object(py, self.device)
    }

    /// The most blocks on a GPU; 0 for no limit.
    #[getter]
    fn max_blocks(&self) -> u32 {
        self.max_blocks
    }

    /// Threads per block on a GPU.
    #[getter]
    fn block_dim(&self) -> u32 {
        self.block_dim
    }

    fn __repr__(&self) -> String {
        let state = self.lock();
        format!("<launch of {} over {:?} on {}>", self.instance.name, state.extents.given(), self.device)
    }
}
