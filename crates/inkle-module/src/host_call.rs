//! Calls of built-ins outside kernels: each runs as a kernel of one thread on the CPU, made for the built-in and the types of
//! its arguments. So a built-in gives the same result outside kernels as inside.

use std::sync::Arc;

use inkle_diag::{Diagnostics, FileId, Span};
use inkle_frontend::check_kernel;
use inkle_frontend::env::{
    Binding, ConstValue, Environment, FunctionKey, FunctionSource, LibraryFunction, ObjectKey, ParamSpec,
    Rules,
};
use inkle_frontend::pattern::Pattern;
use inkle_frontend::tree::{Expr, ExprKind, FunctionDef, ParamDef, ParamKind, Stmt, StmtKind};
use inkle_ir::{ArrayDesc, LaunchBounds, Type};
use inkle_runtime::{Device, RuntimeError};

use crate::kernel::{Kernel, KernelIr};
use crate::{CheckOptions, CompileError, Loaded, Options, library_function, library_names};

/// The kernel that runs the call, and the function whose results tell what the call gives.
const KERNEL: FunctionKey = FunctionKey(0);
const TARGET: FunctionKey = FunctionKey(1);
const TARGET_NAME: &str = "host_call_target";

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HostArgument {
    /// A value of a type.
    Value(Type),
    /// A value that the built-in changes.
    Changed(Type),
    /// A value of which the built-in changes a copy.
    Copied(Type),
    /// A type.
    Type(Type),
}

/// What a call looks like apart from the values: built-in, arguments by place and by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct HostShape {
    /// The built-in's name.
    pub builtin: String,
    /// Its arguments, those with a name last.
    pub args: Vec<HostArgument>,
    /// The names of the last ones.
    pub names: Vec<String>,
}

impl HostShape {
    /// Whether some overload of a built-in changes the argument at a place, or of a name.
    pub fn changes(builtin: &str, index: usize, named: Option<&str>) -> bool {
        library_function(builtin).iter().any(|overload| {
            let mut params = overload.def.params.iter();
            let param = match named {
                Some(name) => params.find(|p| p.name == name),
                None => params.nth(index),
            };
            let annotation = param.and_then(|p| p.annotation.as_ref());
            annotation.and_then(Pattern::of_param).is_some_and(|(_, by_reference)| by_reference)
        })
    }
}

/// A call made ready: code, and where its values lie in the words that [`HostCall::run`] takes.
#[derive(Debug)]
pub struct HostCall {
    kernel: Kernel,
    code: Arc<Loaded>,
    inputs: Vec<HostPlace>,
    results: Vec<HostPlace>,
    /// One element outside the parameter block, and where in the block the array that has it is described.
    elements: Vec<(usize, usize, Type)>,
    words: usize,
}

/// Where a value lies.
#[derive(Clone, Copy, Debug)]
pub struct HostPlace {
    /// Its type.
    pub ty: Type,
    /// Its first byte among the words of the call.
    pub offset: usize,
    /// Whether it is an argument that the built-in changes.
    pub is_changed: bool,
}

impl HostCall {
    /// Makes a call ready.
    ///
    /// # Errors
    /// [`CompileError::Rejected`] when no overload takes arguments of these types; when code cannot be made.
    pub fn new(shape: &HostShape) -> Result<HostCall, CompileError> {
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
        let types: Vec<Type> =
            types.into_iter().chain(results.iter().map(|ty| Type::array(*ty, 1))).collect();
        let ir = KernelIr::build(&environment, KERNEL, &types, CheckOptions::default())?;

        let mut words = (ir.layout().size as usize).div_ceil(8);
        let mut elements = Vec::new();
        let mut outside = |ty: Type, described: usize, is_changed| {
            let offset = words * 8;
            words += (ty.size() as usize).div_ceil(8);
            elements.push((offset, described, ty));
            HostPlace { ty, offset, is_changed }
        };
        let mut blocks = ir.layout().args.iter().map(|layout| layout.offset as usize);
        let given = shape.args.iter().filter(|arg| !matches!(arg, HostArgument::Type(_)));
        let inputs = given.zip(&mut blocks).map(|(arg, offset)| match arg {
            HostArgument::Changed(ty) => outside(*ty, offset, true),
            HostArgument::Value(ty) | HostArgument::Copied(ty) | HostArgument::Type(ty) => {
                HostPlace { ty: *ty, offset, is_changed: false }
            }
        });
        let inputs = inputs.collect();
        let results = results.iter().zip(blocks).map(|(ty, offset)| outside(*ty, offset, false)).collect();
        let kernel = Kernel::new(ir);
        let options = Options { optimization_level: 1, ..Options::default() };
        let (code, _) = kernel.load(Device::cpu(), &options)?;
        Ok(HostCall { kernel, code, inputs, results, elements, words })
    }

    /// How many words a call takes.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Where the values of arguments go, types left out; what the built-in changes is there afterwards.
    pub fn inputs(&self) -> &[HostPlace] {
        &self.inputs
    }

    /// Where the results are.
    pub fn results(&self) -> &[HostPlace] {
        &self.results
    }

    /// Calls the built-in with the values that are in `words`.
    ///
    /// # Errors
    /// [`RuntimeError::CheckFailed`], and [`RuntimeError::ParamBytes`] when there are not as many words as a call takes.
    pub fn run(&self, words: &mut [u64]) -> Result<(), RuntimeError> {
        if words.len() != self.words {
            let (expected, found) = (self.words * 8, words.len() * 8);
            return Err(RuntimeError::ParamBytes { expected, found });
        }
        let bounds = LaunchBounds { dims: [1; 4], size: 1 };
        let (block, outside) = words.split_at_mut((self.kernel.ir().layout().size as usize).div_ceil(8));
        let start = outside.as_mut_ptr().expose_provenance();
        block[..3].copy_from_slice(&bounds.words());
        for (offset, described, ty) in &self.elements {
            let desc = ArrayDesc::of_elements((start + offset - block.len() * 8) as u64, 1, ty.size());
            block[described / 8..described / 8 + 8].copy_from_slice(&desc.words());
        }
        let Loaded::Cpu(function) = &*self.code else { unreachable!("the code was loaded for the CPU") };
        function.launch(block, bounds.size)
    }
}

/// The world of one call: two functions, the built-in and the types among the arguments.
struct CallEnvironment<'a> {
    shape: &'a HostShape,
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
            HostArgument::Value(ty) | HostArgument::Copied(ty) => Some((format!("a{i}"), *ty)),
            // In the one element of an array, where the built-in can change it.
            HostArgument::Changed(ty) => Some((format!("a{i}"), Type::array(*ty, 1))),
            HostArgument::Type(_) => None,
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
        let argument = |(i, slot): (usize, &HostArgument)| match slot {
            HostArgument::Value(_) => name(format!("a{i}")),
            HostArgument::Copied(_) => changed(i, ExprKind::Name(format!("c{i}"))),
            HostArgument::Changed(_) => {
                let first = vec![expr(ExprKind::Int(0))];
                changed(i, ExprKind::Subscript { value: name(format!("a{i}")), indices: first })
            }
            HostArgument::Type(_) => name(format!("t{i}")),
        };
        let positional = self.shape.args.len() - self.shape.names.len();
        let mut slots = self.shape.args.iter().enumerate().map(argument);
        let args = slots.by_ref().take(positional).collect();
        let keywords = self.shape.names.iter().cloned().map(Some).zip(slots).collect();
        let call = expr(ExprKind::Call { func: name(&self.shape.builtin), args, keywords });
        let copies =
            self.shape.args.iter().enumerate().filter(|(_, slot)| matches!(slot, HostArgument::Copied(_)));
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
            HostArgument::Type(ty) => Some(Binding::Type(*ty)),
            HostArgument::Value(_) | HostArgument::Changed(_) | HostArgument::Copied(_) => None,
        }
    }

    fn attribute(&self, _object: ObjectKey, _name: &str) -> Option<Binding> {
        None
    }

    fn describe(&self, _object: ObjectKey) -> String {
        "an object".to_owned()
    }

    fn static_value(&self, _: FunctionKey, _: &Expr, _: &[(String, ConstValue)]) -> Result<Binding, String> {
        Err("there is no scope around the call of a built-in".to_owned())
    }

    fn library(&self, name: &str) -> Vec<LibraryFunction> {
        library_function(name)
    }

    fn library_names(&self) -> Vec<String> {
        library_names()
    }

    /// Elements are changed in Rust only: there also the state of random numbers may be one.
    fn rules(&self) -> Rules {
        let is_changed = |slot: &HostArgument| matches!(slot, HostArgument::Changed(_));
        if self.shape.args.iter().any(is_changed) { Rules::Rust } else { Rules::Python }
    }
}
