//! Calling built-ins from Python, as [`HostCall`]s that are kept for the next call with arguments of the same types.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use inkle_diag::Diagnostics;
use inkle_frontend::pattern::Pattern;
use inkle_ir::Type;
use inkle_module::{CompileError, HostArgument, HostCall, HostShape};
use inkle_runtime::Device;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyTuple};
use smallvec::SmallVec;

use crate::arguments::natural_type;
use crate::composite::{Value, make_from_bytes};
use crate::dtype::pattern_of;
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::kernel::exception;
use crate::launch::as_bytes;
use crate::number;
use crate::pack::{Block, Facts, Packer};

/// A call made ready.
struct Ready {
    call: HostCall,
    packers: Vec<Packer>,
}

type Calls = HashMap<HostShape, Result<Arc<Ready>, CompileError>>;

static CALLS: Mutex<Option<Calls>> = Mutex::new(None);

fn prepare(shape: &HostShape) -> Result<Ready, CompileError> {
    let call = HostCall::new(shape)?;
    let packers = call.inputs().iter().enumerate();
    let packers = packers.map(|(index, place)| Packer {
        name: format!("a{index}"),
        ty: place.ty,
        offset: place.offset,
        index,
    });
    Ok(Ready { packers: packers.collect(), call })
}

fn ready(py: Python<'_>, shape: HostShape) -> Result<Arc<Ready>, CompileError> {
    if let Some(known) = CALLS.lock().unwrap_or_else(|e| e.into_inner()).as_ref().and_then(|c| c.get(&shape))
    {
        return known.clone();
    }
    let made = py.detach(|| prepare(&shape)).map(Arc::new);
    let mut calls = CALLS.lock().unwrap_or_else(|e| e.into_inner());
    calls.get_or_insert_with(HashMap::new).entry(shape).or_insert(made).clone()
}

/// Calls a built-in with Python values.
///
/// # Errors
/// When no overload takes arguments of these types.
pub fn call<'py>(
    py: Python<'py>,
    builtin: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut values: Vec<Bound<'py, PyAny>> = args.iter().collect();
    let mut names = Vec::new();
    for (name, value) in kwargs.into_iter().flat_map(|k| k.iter()) {
        names.push(name.extract::<String>()?);
        values.push(value);
    }
    let mut slots = Vec::new();
    let first_named = values.len() - names.len();
    for (index, value) in values.iter().enumerate() {
        let slot = slot(py, builtin, value)?;
        let named = index.checked_sub(first_named).map(|i| names[i].as_str());
        slots.push(match slot {
            HostArgument::Value(ty) if HostShape::changes(builtin, index, named) => {
                match value.is_instance_of::<Value>() {
                    true => HostArgument::Changed(ty),
                    false => HostArgument::Copied(ty),
                }
            }
            other => other,
        });
    }
    let shape = HostShape { builtin: builtin.to_owned(), args: slots, names };
    let prepared = match ready(py, shape.clone()) {
        Err(CompileError::Rejected(first)) => match adapted(&shape, &values) {
            // Plain numbers have no type of their own, so they may take that of the other arguments.
            Some(adapted) => match ready(py, adapted) {
                Err(CompileError::Rejected(_)) => return Err(rejected(py, builtin, &values, &first)),
                other => other,
            },
            None => return Err(rejected(py, builtin, &values, &first)),
        },
        other => other,
    };
    let prepared = prepared.map_err(|error| exception(py, &error))?;
    run(py, builtin, &prepared, &values)
}

fn slot(py: Python<'_>, builtin: &str, value: &Bound<'_, PyAny>) -> PyResult<HostArgument> {
    if let Some(ty) = natural_type(value) {
        return Ok(HostArgument::Value(ty));
    }
    match pattern_of(value)? {
        Some(Pattern::Exact(ty)) => Ok(HostArgument::Type(ty)),
        _ => Err(argument_error(py, format!("`{builtin}` cannot be called with {}", class_name(value)))),
    }
}

fn is_plain_number(value: &Bound<'_, PyAny>) -> bool {
    (value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>())
        && !value.is_instance_of::<PyBool>()
}

/// The shape with plain numbers in the scalar type of the first argument that has one, else `float32`.
fn adapted(shape: &HostShape, values: &[Bound<'_, PyAny>]) -> Option<HostShape> {
    let typed = shape.args.iter().zip(values).find_map(|(slot, value)| match slot {
        HostArgument::Value(ty) if !is_plain_number(value) => ty.scalar(),
        HostArgument::Type(ty) | HostArgument::Changed(ty) | HostArgument::Copied(ty) => ty.scalar(),
        HostArgument::Value(_) => None,
    });
    let scalar = Type::Scalar(typed.unwrap_or(inkle_ir::Scalar::F32));
    let mut out = shape.clone();
    for (slot, value) in out.args.iter_mut().zip(values) {
        if is_plain_number(value) {
            *slot = match slot {
                HostArgument::Copied(_) => HostArgument::Copied(scalar),
                _ => HostArgument::Value(scalar),
            };
        }
    }
    (out != *shape).then_some(out)
}

fn rejected(py: Python<'_>, builtin: &str, values: &[Bound<'_, PyAny>], problems: &Diagnostics) -> PyErr {
    let lines = problems.0.iter().map(|d| match &d.help {
        Some(help) => format!("{} ({help})", d.message),
        None => d.message.clone(),
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    if !problems.0.iter().all(|d| d.code == inkle_frontend::codes::NO_OVERLOAD) {
        return argument_error(py, lines);
    }
    let types = values.iter().map(|value| match natural_type(value) {
        Some(ty) if !is_plain_number(value) => ty.python_name(),
        _ => class_name(value),
    });
    let types = types.collect::<Vec<_>>().join(", ");
    let error = argument_error(
        py,
        format!("Couldn't find a function '{builtin}' compatible with the arguments '{types}'"),
    );
    // What forms there are, below the message where Python shows notes.
    let notes = PyList::new(py, [lines]).and_then(|notes| error.value(py).setattr("__notes__", notes));
    notes.map_or_else(|failed| failed, |()| error)
}

fn run<'py>(
    py: Python<'py>,
    builtin: &str,
    ready: &Ready,
    values: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let call = &ready.call;
    let mut words = vec![0u64; call.words()];
    let mut block = Block {
        bytes: as_bytes(&mut words),
        device: Device::cpu(),
        facts: Facts::default(),
        temporaries: SmallVec::new(),
    };
    let given: Vec<_> = values.iter().filter(|v| natural_type(v).is_some()).collect();
    for (packer, value) in ready.packers.iter().zip(&given) {
        packer.pack(value, builtin, &mut block)?;
    }
    let temporaries = block.temporaries;
    call.run(&mut words).into_py(py)?;
    drop(temporaries);
    let bytes = as_bytes(&mut words);
    for (place, value) in call.inputs().iter().zip(given) {
        if let (true, Ok(value)) = (place.is_changed, value.cast::<Value>()) {
            value.get().set_bytes(py, &bytes[place.offset..]);
        }
    }
    let mut objects = Vec::new();
    for place in call.results() {
        let bytes = &bytes[place.offset..place.offset + place.ty.size() as usize];
        objects.push(match place.ty {
            Type::Scalar(scalar) => number::to_component(py, scalar, number::read(scalar, bytes))?,
            other => make_from_bytes(py, other, bytes)?,
        });
    }
    match objects.len() {
        0 => Ok(py.None().into_bound(py)),
        1 => Ok(objects.remove(0)),
        _ => Ok(PyTuple::new(py, objects)?.into_any()),
    }
}
