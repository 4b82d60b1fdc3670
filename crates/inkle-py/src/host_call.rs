//! Calling built-ins from Python: each call runs as a kernel of one thread on the CPU, made for the built-in and the
//! types of its arguments at the first such call. So a built-in gives the same result outside kernels as inside.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use inkle_diag::{Diagnostics, FileId, Span};
use inkle_frontend::env::{
    Binding, ConstValue, Environment, FunctionKey, FunctionSource, LibraryFunction, ObjectKey, ParamSpec,
};
use inkle_frontend::pattern::Pattern;
use inkle_frontend::tree::{Expr, ExprKind, FunctionDef, ParamDef, ParamKind, Stmt, StmtKind};
use inkle_frontend::{CheckOptions, check_kernel};
use inkle_ir::{ArrayDesc, LaunchBounds, Type};
use inkle_module::{CompileError, Kernel, KernelIr, Loaded, Options};
use inkle_runtime::Device;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyTuple};
use smallvec::SmallVec;

use crate::arguments::natural_type;
use crate::composite::{Value, make_from_bytes};
use crate::dtype::pattern_of;
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::interface::write_desc;
use crate::kernel::exception;
use crate::number;
use crate::pack::{Block, Facts, Packer};

/// The kernel that runs the call, and the function whose results tell what the call gives.
const KERNEL: FunctionKey = FunctionKey(0);
const TARGET: FunctionKey = FunctionKey(1);
const TARGET_NAME: &str = "host_call_target";

/// An argument: a value of a type, a value that the built-in changes, one of which it changes a copy, since numbers of Python
/// stay what they are, or a type.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Slot {
    Value(Type),
    Changed(Type),
    Copied(Type),
    Type(Type),
}

/// What a call looks like apart from the values: built-in, arguments by place and by name.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    builtin: String,
    args: Vec<Slot>,
    names: Vec<String>,
}

/// A call made ready.
struct Ready {
    kernel: Kernel,
    packers: Vec<Packer>,
    results: Vec<Type>,
    /// Offsets of the result arrays in the parameter block.
    outputs: Vec<usize>,
    code: Arc<Loaded>,
}

type Calls = HashMap<Shape, Result<Arc<Ready>, CompileError>>;

static CALLS: Mutex<Option<Calls>> = Mutex::new(None);

/// The world of one call: two functions, the built-in and the types among the arguments.
struct CallEnvironment<'a> {
    shape: &'a Shape,
    /// The results once known; the kernel then stores them.
    results: Option<Vec<Type>>,
    /// Whether the built-in gives nothing back.
    for_effect: bool,
}

fn expr(kind: ExprKind) -> Expr {
    Expr::new(kind, Span::NONE)
}

fn name(name: impl Into<String>) -> Expr {
    expr(ExprKind::Name(name.into()))
}

fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::NONE }
}

impl CallEnvironment<'_> {
    fn values(&self) -> impl Iterator<Item = (String, Type)> {
        let slots = self.shape.args.iter().enumerate();
        slots.filter_map(|(i, slot)| match slot {
            Slot::Value(ty) | Slot::Copied(ty) => Some((format!("a{i}"), *ty)),
            // In the one element of an array, where the built-in can change it.
            Slot::Changed(ty) => Some((format!("a{i}"), Type::array(*ty, 1))),
            Slot::Type(_) => None,
        })
    }

    fn source(
        &self,
        key: FunctionKey,
        function: &str,
        params: Vec<(String, Type)>,
        body: Vec<Stmt>,
    ) -> Arc<FunctionSource> {
        let def = FunctionDef {
            name: function.to_owned(),
            name_span: Span::NONE,
            params: params
                .iter()
                .map(|(name, _)| ParamDef {
                    name: name.clone(),
                    annotation: None,
                    default: None,
                    kind: ParamKind::Normal,
                    span: Span::NONE,
                })
                .collect(),
            returns: None,
            doc: None,
            decorators: Vec::new(),
            body,
            span: Span::NONE,
        };
        let params = params
            .into_iter()
            .map(|(_, ty)| ParamSpec {
                pattern: Some(Pattern::Exact(ty)),
                default: None,
                by_reference: false,
            })
            .collect();
        Arc::new(FunctionSource {
            key,
            name: function.to_owned(),
            def: Arc::new(def),
            params,
            returns: None,
            native: None,
        })
    }

    /// `return builtin(a0, t1, name=a2)`, after `c3 = a3` for what it changes a copy of.
    fn target(&self) -> Arc<FunctionSource> {
        // A span of its own, by which the checker knows an argument that is changed.
        let changed = |i: usize, kind| Expr::new(kind, Span::new(FileId::NONE, i as u32 + 1, i as u32 + 2));
        let argument = |(i, slot): (usize, &Slot)| match slot {
            Slot::Value(_) => name(format!("a{i}")),
            Slot::Copied(_) => changed(i, ExprKind::Name(format!("c{i}"))),
            Slot::Changed(_) => {
                let first = vec![expr(ExprKind::Int(0))];
                changed(i, ExprKind::Subscript { value: name(format!("a{i}")), indices: first })
            }
            Slot::Type(_) => name(format!("t{i}")),
        };
        let positional = self.shape.args.len() - self.shape.names.len();
        let mut slots = self.shape.args.iter().enumerate().map(argument);
        let args = slots.by_ref().take(positional).collect();
        let keywords = self.shape.names.iter().cloned().map(Some).zip(slots).collect();
        let call = expr(ExprKind::Call { func: name(&self.shape.builtin), args, keywords });
        let copies = self.shape.args.iter().enumerate().filter(|(_, slot)| matches!(slot, Slot::Copied(_)));
        let mut body: Vec<Stmt> = copies
            .map(|(i, _)| {
                let targets = vec![name(format!("c{i}"))];
                stmt(StmtKind::Assign { targets, value: name(format!("a{i}")) })
            })
            .collect();
        body.push(stmt(if self.for_effect { StmtKind::Expr(call) } else { StmtKind::Return(Some(call)) }));
        self.source(TARGET, TARGET_NAME, self.values().collect(), body)
    }

    /// `r0, r1 = target(...)`, then `out0[0] = r0` and so on once the results are known.
    fn kernel(&self) -> Arc<FunctionSource> {
        let args = self.values().map(|(n, _)| name(n)).collect();
        let call = expr(ExprKind::Call { func: name(TARGET_NAME), args, keywords: Vec::new() });
        let mut params: Vec<_> = self.values().collect();
        let body = match self.results.as_deref() {
            None | Some([]) => vec![stmt(StmtKind::Expr(call))],
            Some(results) => {
                let targets: Vec<_> = (0..results.len()).map(|i| name(format!("r{i}"))).collect();
                let target = match targets.as_slice() {
                    [single] => single.clone(),
                    _ => expr(ExprKind::Tuple(targets.clone())),
                };
                let mut body = vec![stmt(StmtKind::Assign { targets: vec![target], value: call })];
                for (i, ty) in results.iter().enumerate() {
                    params.push((format!("out{i}"), Type::array(*ty, 1)));
                    let place = ExprKind::Subscript {
                        value: name(format!("out{i}")),
                        indices: vec![expr(ExprKind::Int(0))],
                    };
                    body.push(stmt(StmtKind::Assign {
                        targets: vec![expr(place)],
                        value: name(format!("r{i}")),
                    }));
                }
                body
            }
        };
        self.source(KERNEL, "host_call", params, body)
    }
}

impl Environment for CallEnvironment<'_> {
    fn function(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        Ok(vec![if key == KERNEL { self.kernel() } else { self.target() }])
    }

    fn resolve(&self, _function: FunctionKey, name: &str) -> Option<Binding> {
        if name == TARGET_NAME {
            return Some(Binding::Function(TARGET));
        }
        if name == self.shape.builtin {
            return Some(Binding::Builtin(name.to_owned()));
        }
        let index: usize = name.strip_prefix('t')?.parse().ok()?;
        match self.shape.args.get(index)? {
            Slot::Type(ty) => Some(Binding::Type(*ty)),
            Slot::Value(_) | Slot::Changed(_) | Slot::Copied(_) => None,
        }
    }

    fn attribute(&self, _object: ObjectKey, _name: &str) -> Option<Binding> {
        None
    }

    fn describe(&self, _object: ObjectKey) -> String {
        "an object".to_owned()
    }

    fn static_value(&self, _: FunctionKey, _: &Expr, _: &[(String, ConstValue)]) -> Result<Binding, String> {
        Err("there is no Python scope here".to_owned())
    }

    fn library(&self, name: &str) -> Vec<LibraryFunction> {
        inkle_module::library_function(name)
    }

    fn library_names(&self) -> Vec<String> {
        inkle_module::library_names()
    }
}

fn prepare(shape: &Shape) -> Result<Ready, CompileError> {
    let mut environment = CallEnvironment { shape, results: None, for_effect: false };
    let types: Vec<Type> = environment.values().map(|(_, ty)| ty).collect();
    let module = match check_kernel(&environment, KERNEL, &types, CheckOptions::default()) {
        Err(problems) if problems.0.iter().any(|d| d.code == inkle_frontend::codes::NOT_A_VALUE) => {
            environment.for_effect = true;
            check_kernel(&environment, KERNEL, &types, CheckOptions::default())?
        }
        checked => checked?,
    };
    let target = module.functions.iter().find(|f| f.name.starts_with(TARGET_NAME));
    let results = target.map(|f| f.results.clone()).unwrap_or_default();
    environment.results = Some(results.clone());
    let types: Vec<Type> = types.into_iter().chain(results.iter().map(|ty| Type::array(*ty, 1))).collect();
    let ir = KernelIr::build(&environment, KERNEL, &types, CheckOptions::default())?;
    let inputs = types.len() - results.len();
    let packers = ir.params()[..inputs]
        .iter()
        .zip(&ir.layout().args)
        .enumerate()
        .map(|(index, (param, layout))| Packer {
            name: param.name.clone(),
            ty: param.ty,
            offset: layout.offset as usize,
            index,
        })
        .collect();
    let outputs = ir.layout().args[inputs..].iter().map(|layout| layout.offset as usize).collect();
    let kernel = Kernel::new(ir);
    let (code, _) = kernel.load(Device::cpu(), &Options { optimization_level: 1, ..Options::default() })?;
    Ok(Ready { kernel, packers, results, outputs, code })
}

fn ready(py: Python<'_>, shape: Shape) -> Result<Arc<Ready>, CompileError> {
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
            Slot::Value(ty) if changes(builtin, index, named) => match value.is_instance_of::<Value>() {
                true => Slot::Changed(ty),
                false => Slot::Copied(ty),
            },
            other => other,
        });
    }
    let shape = Shape { builtin: builtin.to_owned(), args: slots, names };
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

fn slot(py: Python<'_>, builtin: &str, value: &Bound<'_, PyAny>) -> PyResult<Slot> {
    if let Some(ty) = natural_type(value) {
        return Ok(Slot::Value(ty));
    }
    match pattern_of(value)? {
        Some(Pattern::Exact(ty)) => Ok(Slot::Type(ty)),
        _ => Err(argument_error(py, format!("`{builtin}` cannot be called with {}", class_name(value)))),
    }
}

/// Whether some overload of a built-in changes the argument at a place, or of a name.
fn changes(builtin: &str, index: usize, named: Option<&str>) -> bool {
    inkle_module::library_function(builtin).iter().any(|overload| {
        let mut params = overload.def.params.iter();
        let param = match named {
            Some(name) => params.find(|p| p.name == name),
            None => params.nth(index),
        };
        let annotation = param.and_then(|p| p.annotation.as_ref());
        annotation.and_then(Pattern::of_param).is_some_and(|(_, by_reference)| by_reference)
    })
}

fn is_plain_number(value: &Bound<'_, PyAny>) -> bool {
    (value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>())
        && !value.is_instance_of::<PyBool>()
}

/// The shape with plain numbers in the scalar type of the first argument that has one, else `float32`.
fn adapted(shape: &Shape, values: &[Bound<'_, PyAny>]) -> Option<Shape> {
    let typed = shape.args.iter().zip(values).find_map(|(slot, value)| match slot {
        Slot::Value(ty) if !is_plain_number(value) => ty.scalar(),
        Slot::Type(ty) | Slot::Changed(ty) | Slot::Copied(ty) => ty.scalar(),
        Slot::Value(_) => None,
    });
    let scalar = Type::Scalar(typed.unwrap_or(inkle_ir::Scalar::F32));
    let mut out = shape.clone();
    for (slot, value) in out.args.iter_mut().zip(values) {
        if is_plain_number(value) {
            *slot = match slot {
                Slot::Copied(_) => Slot::Copied(scalar),
                _ => Slot::Value(scalar),
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
    let size = ready.kernel.ir().layout().size as usize;
    let mut words = vec![0u64; size.div_ceil(8)];
    let mut results: Vec<Vec<u64>> =
        ready.results.iter().map(|ty| vec![0; (ty.size() as usize).div_ceil(8)]).collect();
    let mut bytes = vec![0u8; words.len() * 8];
    let bounds = LaunchBounds { dims: [1; 4], size: 1 };
    for (place, extent) in bytes.chunks_exact_mut(4).zip(bounds.dims) {
        place.copy_from_slice(&extent.to_ne_bytes());
    }
    bytes[16..24].copy_from_slice(&bounds.size.to_ne_bytes());
    let mut block = Block {
        bytes: &mut bytes,
        device: Device::cpu(),
        facts: Facts::default(),
        temporaries: SmallVec::new(),
    };
    let given = values.iter().filter(|v| natural_type(v).is_some());
    let mut changed: Vec<(&Bound<'py, Value>, Vec<u64>)> = Vec::new();
    for (packer, value) in ready.packers.iter().zip(given) {
        match (value.cast::<Value>(), packer.ty) {
            (Ok(object), Type::Array(array)) => {
                let mut copy = vec![0u64; (array.elem.size() as usize).div_ceil(8)];
                let mut bytes = vec![0; copy.len() * 8];
                object.get().copy_bytes(py, &mut bytes);
                read_words(&bytes, &mut copy);
                write_desc(&one_element(&mut copy, array.elem), &mut block.bytes[packer.offset..]);
                changed.push((object, copy));
            }
            _ => packer.pack(value, builtin, &mut block)?,
        }
    }
    for ((result, ty), offset) in results.iter_mut().zip(&ready.results).zip(&ready.outputs) {
        write_desc(&one_element(result, *ty), &mut block.bytes[*offset..]);
    }
    read_words(&bytes, &mut words);
    if let Loaded::Cpu(function) = &*ready.code {
        function.launch(&words, 1).into_py(py)?;
    }
    for (object, copy) in changed {
        let bytes: Vec<u8> = copy.iter().flat_map(|word| word.to_ne_bytes()).collect();
        object.get().set_bytes(py, &bytes);
    }
    let mut objects = Vec::new();
    for (result, ty) in results.iter().zip(&ready.results) {
        let bytes: Vec<u8> = result.iter().flat_map(|word| word.to_ne_bytes()).collect();
        objects.push(match ty {
            Type::Scalar(scalar) => number::to_component(py, *scalar, number::read(*scalar, &bytes))?,
            other => make_from_bytes(py, *other, &bytes[..other.size() as usize])?,
        });
    }
    match objects.len() {
        0 => Ok(py.None().into_bound(py)),
        1 => Ok(objects.remove(0)),
        _ => Ok(PyTuple::new(py, objects)?.into_any()),
    }
}

/// The descriptor of an array of the one value that `words` hold.
fn one_element(words: &mut [u64], ty: Type) -> ArrayDesc {
    let mut desc = ArrayDesc { data: words.as_mut_ptr().expose_provenance() as u64, ..ArrayDesc::default() };
    desc.shape[0] = 1;
    desc.strides[0] = ty.size().into();
    desc
}

fn read_words(bytes: &[u8], words: &mut [u64]) {
    for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_ne_bytes(bytes.try_into().expect("chunks of eight"));
    }
}
